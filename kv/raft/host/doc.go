// Package host runs the replicas of a node: one goroutine, one raft.Driver, one write and at most one fsync
// of the node's log a turn for all shards.
//
//	commands ─► shard.Leadership ─► replicator ─┐                          ┌─► replies, hooks
//	                                            ├─► turn ─► one batch ─────┼─► in-memory groups
//	other nodes ─► Deliver ─────────────────────┘      │    (engine)       └─► leaderships begin and end
//	                                                   └─► Transport.Send
//
// A turn's batch holds the entries that this node promises to keep, what was committed, and how far each
// state has come with that; so a crash takes both or neither, and what it takes of the state the log gives
// back.
//
// A replica that was away for longer than the leader keeps the log fetches the state whole, in chunks
// beside the turns; one turn puts it in place (snapshot.go).
//
// Leaderships open and close beside the turns: opening reads the shard, closing waits for commands, and ticks
// must not wait for either.
package host
