// Package triggers runs observers: code that is called after a watched cell has changed, in a transaction of
// its own (Percolator §2.4). It knows nothing of SQL: an observer is a Go function with an id; a SQL
// observer is one kind of them.
//
//	writer's commit ──► write record + notification, one batch         (txn: the lock carried the intent)
//	                         │ applied and durable
//	                         ▼
//	   shard:  ready queue (oldest first, one for each observer) ──Fetch──► worker: begin → run → ack → commit
//	                         ▲                                                │ the commit's batch clears the notification
//	   backstop: random scan of the notifications ────────────────────────────┘ unless something newer came
//
// # The notification
//
// A notification is an entry of the in-memory locality group kv.GroupNotify: run = observer, column = the
// observed cell, timestamp = commit_ts of the change. It is born in the batch that writes the commit record,
// so no crash can lose it, and it lives in the tablet of the cell, so it moves with it. Several changes of a
// cell are entries of one column, of which the oldest and the newest are kept; a worker takes them together:
// messages collapse. Its depth counts the runs that led to the change, one set off by the other; what is
// deeper than its observer allows is parked. A failed attempt leaves its count and its error beside it, in
// kv.GroupNotifyMeta.
//
// # The acknowledgement
//
// The cell (same row, family 0xFF, qualifier = observer | family | qualifier) holds the start_ts of the
// last run that committed. A run reads it, and writes it, in its own transaction. Two runs for one
// change therefore either see each other's acknowledgement or write the same cell at the same time, and
// then the first committer wins:
//
//	T1  at most one run commits for each change (TestAtMostOneCommit).
//	T2  a change that committed is acknowledged by some run with a start_ts at or above its commit_ts, eventually, or is
//	    parked where an operator sees it (TestNothingLost).
//	T3  the newest notification of a cell is removed only by a batch that holds an acknowledgement at or above its
//	    timestamp, or after one is visible (TestClearLeavesNewer).
//	T4  a lost reply, a lost push, a lost lease cost time, never a run: the entry is the truth (TestBackstop, TestLostLease).
//
// TestSimulation looks for histories that break any of them.
//
// Not promised: an order between changes of different cells; that each of several quick changes
// gets a run of its own.
//
// # Reading order
//
// observer.go (what a user of the package sees), worker.go (a run, from top to bottom), ready.go
// (the queue at the shard), coprocessor.go (the shard's commands), move.go (cells that get another
// key), codec.go (bytes).
package triggers
