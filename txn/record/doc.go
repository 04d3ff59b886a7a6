// Package record has the bytes that transactions leave in the store: one record for each stored version
// of a column (Percolator figures 4 and 5: lock, write, data; the rest is ours). Packages txn and
// triggers write and read them, and Describe says in words what one is, for people who look at a row's
// cells.
//
//	group        version      record
//	TxnLock      start_ts     Lock             in memory; run 0 exclusive, run 1 shared, 2 to 4 guards
//	TxnWrite     commit_ts    Write            short values inlined
//	TxnData      start_ts     data             long values only
//	TxnRollback  start_ts     rollback         "this transaction never wrote here and never will"
//	TxnRollback  max          rollback         newest commit_ts of a lock-only write (LockForUpdate)
//	Notify       commit_ts    Notification     run = observer
//
// Rollbacks share no key range with commits: a commit_ts that one-phase commit computed may equal
// another transaction's start_ts, and one would overwrite the other.
package record
