// Package namedlock keeps the locks that users name: GET_LOCK('migration', 10) and its like. Tools that
// change schemas, run jobs or elect a leader rely on them, so a lock is one lock on all SQL nodes: a row of
// the store, written in a transaction, that says who has it and until when.
//
//	GET_LOCK ──▶ free, or its time is over? ── yes ──▶ write owner and time, commit ──▶ 1
//	    ▲                  │ no                                  │ conflict: somebody was faster
//	    └── wait: a release here, or a look every 10 to 250 ms ◀─┘        over the timeout ──▶ 0
//
// The time is that of the oracle's timestamps, so nodes need no clocks that agree. Each node writes a new
// time for the locks of its sessions three times before it is over (Options.Lease); a node that dies leaves
// its locks free after that. Nothing else ends a lock but its session: not a commit, not a rollback.
//
// Promises: at no timestamp have two sessions one lock; a lock of a session that lives, on a node that
// reaches the store, is not lost, whatever happens to the tablets' nodes. Not promised: order among those who
// wait, and error 3058 for sessions that wait for each other in a circle (their timeouts end it). A node that
// was cut off for longer than the lease has lost its locks and says so in its log.
//
// Rejected: a row lock of a transaction that stays open. It would wake waiters at once and see deadlocks, but
// lives in the memory of a tablet's leader, and the open transaction would hold back garbage collection for
// as long as somebody keeps a lock.
//
// Reading order: record.go (what is stored), locks.go (a node's locks), held.go (a session's),
// functions.go (what SQL sees).
package namedlock
