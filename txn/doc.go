// Package txn is Percolator: transactions with snapshot isolation over all rows of all tablets.
//
//	c, err := txn.NewClient(store, clock, txn.Options{})
//	t := c.Begin(txn.TxnOptions{})
//	v, ok, err := t.Get(ctx, column)       // from the snapshot, own writes first
//	t.Put(column, value, txn.WriteOptions{}) // buffered
//	commitTS, err := t.Commit(ctx)
//
// The package is two halves that meet in messages.go. The client (txn.go, commit.go) runs where the user is and coordinates his
// transactions; there is no other coordinator. The coprocessor (shard_*.go) runs in the store, beside the data: each of its verbs
// is a function of what it reads and of its request, evaluated under the latches of its rows into one batch.
//
// # The model
//
// A column of a row has versions, each at the commit_ts of the transaction that wrote it. A transaction reads the newest ones at
// or below its start_ts, and writes all of its own at its commit_ts. Of two transactions whose lives overlap and that write the
// same column, the first to commit wins and the other fails with ErrConflict.
//
// What lies in the store is the paper's, after a transfer of 7 from bob to joe (figure 4; package record has the bytes):
//
//	      write                         data           lock
//	bob   6: the version of start 5
//	joe   6: the version of start 5
//
//	prewrite at start_ts 7: every column is locked, the values ride in the locks (long ones go to data)
//	bob   6: …                                         7: put 3, primary
//	joe   6: …                                         7: put 9, the primary is bob
//
//	commit at commit_ts 8: bob's lock becomes a version, in one batch. This is the commit point
//	bob   8: start 7, "3"    6: …
//	joe   6: …                                         7: put 9, the primary is bob
//
//	later, by the owner or by whoever meets the lock and asks bob what became of it
//	joe   8: start 7, "9"    6: …
//
// # The commit
//
//	all columns in one shard        one phase: checks and versions are one batch, commit_ts is chosen there          1 round trip
//	several shards, ≤ 256 columns   asynchronous: committed when the last lock is durable (async.go)                 1 round trip
//	more, or with shared locks      two phases, as in the figure: prewrites at the same time, then the primary       2 round trips
//
// In each of them a prewrite refuses if somebody committed to the column after the snapshot, or holds its lock, and whatever a
// request does, doing it again does nothing more. Locks are durable, and live in an ordered table in memory from which readers
// learn of them; a guard is a lock that only that table knows, for as long as a batch takes to be durable.
//
// Who meets a lock deals with it: rolls forward what is committed, rolls back what is dead (the TTL in the lock, or the owner's
// session), tells what is alive to commit above the reader's snapshot and passes, and only waits where none of that can be.
//
// # Promises
//
//	P1  Snapshot isolation: a transaction sees one state, and no update is lost. TestSimulation, TestAnomaly_…
//	P2  Strong: the snapshot has every commit that was acknowledged before it was asked for. TestPaper_2_3_AcknowledgedIsVisible
//	P3  All or nothing: at one commit_ts, whoever dies when. Histories crash and async, TestBankOnPebble
//	P4  Acknowledged is durable, and nothing is visible that is not. TestBankOnPebble
//	P5  An error of Commit means that it did not happen and never will. Only ErrOutcomeUnknown leaves it open. History lost-answers
//	P6  Readers do not block writers, and wait for them only for the moment between an asynchronous commit's locks.
//	P7  A change of an observed column notifies if and only if it commits; no crash can lose it. Package triggers
//	P8  The size of a transaction is bounded, with ErrTooLarge and not with the process's memory. TestLimitsAndModes
//	P9  Old versions go, and a snapshot that may miss one is ErrSnapshotTooOld, never a shorter answer. TestGarbage…, package gc
//
// Not promised: serializability. Transactions that each read what the other writes may both commit, unless what they read was
// locked (LockForUpdate, LockShared); see TestAnomaly_G2_WriteSkewIsAllowedUnlessLocked. Fairness between optimistic writers:
// who loses tries again from the beginning; row locks (lock.go) are a line in which transactions wait instead. An order of commit
// timestamps that anybody could predict: two transactions may have the same one if they have no column in common.
//
// # Reading order
//
// Package record is what is stored and messages.go what is sent. Then txn.go and commit.go, shard_write.go and shard_commit.go: the
// way of a write. twophase.go, async.go and shard_async.go, when it crosses shards. read.go, scan.go, shard_read.go and
// latest.go: the way of a read; resolve.go and fates.go, when it meets a lock. state.go is what a shard knows beyond what is
// stored, and what happens when it forgets; hot.go, rangecache.go and rangescan.go are what it remembers of versions, for reads
// and for scans. lock.go, rowlock.go and package deadlock are the row locks. gc.go and shard_gc.go remove old versions, snapshots.go
// says which are in use.
//
// DESIGN.md has the decisions and their arguments, DIVERGENCE.md what the paper does differently.
package txn
