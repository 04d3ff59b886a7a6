package txn

import (
	"fmt"
	"sync/atomic"
)

// Metrics counts what a Client did since it was made.
type Metrics struct {
	Commits          uint64 // transactions with writes that committed
	CommitsOnePhase  uint64 // of these, in one phase
	CommitsAsync     uint64 // of these, acknowledged when all locks were durable
	CommitsReadOnly  uint64 // transactions that had nothing to commit
	Conflicts        uint64 // commits refused because somebody was first
	Constraints      uint64 // commits refused by MustNotExist or Require
	OutcomesUnknown  uint64 // commits whose fate could not be found out
	Rollbacks        uint64 // transactions given up after their prewrite began
	Reads            uint64 // columns read by Get and BatchGet, own writes aside
	ReadsLatest      uint64 // of these, read by Latest without a timestamp
	LatestFallbacks  uint64 // calls of Latest that needed a snapshot after all
	ScanRequests     uint64 // requests of scans
	LocksMet         uint64 // foreign locks that were in the way
	FatesKnown       uint64 // of these, of transactions whose fate was in the cache
	Pushes           uint64 // live transactions that were made to commit above a reader
	AsyncDecided     uint64 // asynchronous commits of others that were decided from their locks
	RollForwards     uint64 // foreign transactions found committed whose locks were turned into versions
	RollBacks        uint64 // foreign transactions found dead whose locks were removed
	LocksForgotten   uint64 // locks of transactions that were settled before the safe point, which were removed: there should be none
	LockWaits        uint64 // times a reader or writer had to wait for a live transaction
	Moved            uint64 // requests that were refused by a stale tablet location
	Retries          uint64 // requests repeated because the store was busy or silent
	Heartbeats       uint64
	Seeds            uint64
	RowLockWaits     uint64 // times a row lock was waited for
	RowLockTimeouts  uint64
	Deadlocks        uint64 // of which this client's transactions were the victims
	PendingSecondary int64  // transactions whose secondaries are being committed in the background, now
}

// String is the metrics as people read them.
func (m Metrics) String() string {
	return fmt.Sprintf("commits %d (one-phase %d, asynchronous %d, read-only %d), conflicts %d, constraints %d, unknown %d, rollbacks %d; "+
		"reads %d (latest %d, fallbacks %d), scan requests %d; locks met %d: known %d, pushed %d, rolled forward %d, rolled back %d, decided %d, forgotten %d, waited %d; moved %d, retries %d, heartbeats %d, seeds %d, pending %d; "+
		"row locks: waited %d, timed out %d, deadlocks %d",
		m.Commits, m.CommitsOnePhase, m.CommitsAsync, m.CommitsReadOnly, m.Conflicts, m.Constraints, m.OutcomesUnknown, m.Rollbacks,
		m.Reads, m.ReadsLatest, m.LatestFallbacks, m.ScanRequests, m.LocksMet, m.FatesKnown, m.Pushes, m.RollForwards, m.RollBacks, m.AsyncDecided, m.LocksForgotten, m.LockWaits, m.Moved, m.Retries, m.Heartbeats, m.Seeds, m.PendingSecondary,
		m.RowLockWaits, m.RowLockTimeouts, m.Deadlocks)
}

type metrics struct {
	fatesKnown, latest, latestFallbacks, async, asyncDecided                atomic.Uint64
	commits, onePhase, readOnly, conflicts, constraints, unknown, rollbacks atomic.Uint64
	reads, scans, locksMet, pushes, forwards, backs, waits, forgotten       atomic.Uint64
	moved, retries, heartbeats, seeds                                       atomic.Uint64
	rowWaits, lockTimeouts, deadlocks                                       atomic.Uint64
	pending                                                                 atomic.Int64
}

// Metrics returns the counters.
func (c *Client) Metrics() Metrics {
	m := &c.metrics
	return Metrics{
		Commits: m.commits.Load(), CommitsOnePhase: m.onePhase.Load(), CommitsReadOnly: m.readOnly.Load(), CommitsAsync: m.async.Load(), AsyncDecided: m.asyncDecided.Load(),
		Conflicts: m.conflicts.Load(), Constraints: m.constraints.Load(), OutcomesUnknown: m.unknown.Load(), Rollbacks: m.rollbacks.Load(),
		Reads: m.reads.Load(), ReadsLatest: m.latest.Load(), LatestFallbacks: m.latestFallbacks.Load(), ScanRequests: m.scans.Load(), LocksMet: m.locksMet.Load(), FatesKnown: m.fatesKnown.Load(), Pushes: m.pushes.Load(),
		RollForwards: m.forwards.Load(), RollBacks: m.backs.Load(), LocksForgotten: m.forgotten.Load(), LockWaits: m.waits.Load(), Moved: m.moved.Load(),
		RowLockWaits: m.rowWaits.Load(), RowLockTimeouts: m.lockTimeouts.Load(), Deadlocks: m.deadlocks.Load(),
		Retries: m.retries.Load(), Heartbeats: m.heartbeats.Load(), Seeds: m.seeds.Load(), PendingSecondary: m.pending.Load(),
	}
}
