// Package gc decides what garbage collection may remove, and when: it raises the safe point and runs txn.Client.CollectGarbage.
//
//	SQL node, worker:  Reporter ── every few seconds: "I read nothing older than ts" ──► gc/snapshots/<session>   ephemeral
//	                                                                                            │
//	storage node:      Collector (one is elected) ── safe point = min of ───────────────────────┤
//	                                                    now − retention                         │
//	                                                    what the nodes report  ◄────────────────┘
//	                                                    before the oldest change that an observer has yet to see
//	                     1  the oracle stores it, and says it with every timestamp
//	                     2  locks of older transactions are resolved
//	                     3  every shard stores it, and refuses older snapshots from then on
//	                     4  versions that nobody can see leave, tablet after tablet
//
// # Promises
//
//	G1  A snapshot that is read by a transaction whose process lives is not collected, for as long as Options.MaxHold.
//	G2  A read below the safe point is txn.ErrSnapshotTooOld and never a shorter answer. Nothing here is needed for that: shards refuse
//	    by the safe point that they have stored before the first version went. A process that stood still for an hour, whose
//	    session and report are gone, gets the error.
//	G3  What an observer has not seen yet keeps what the row was before, within the same bound.
//	G4  The safe point never goes back.
//
// A report that is late keeps the safe point where it is: nodes say what they will not read any more, and the collector believes the
// last word it has. The report goes with the node's session.
//
// # Cost
//
// The collection works Options.Duty of the time. It looks through a range of rows once; after that, only at what was written since
// the last time, and skips on disk what was not (txn/shard_gc.go).
//
// Read collector.go, then report.go.
package gc
