// Package shard is a shard: Bigtable's tablet server as a state machine with one log. It evaluates the commands of
// coprocessors for the tablets that it serves.
//
//	write: latch rows ─► check generations ─► Evaluate ─► in-memory sets ─► propose (durable) ─► in-memory deletes ─► release
//	read:  check generations ─► Evaluate; no latches, may block
//
// The order is what keeps an unsafe write invisible: Pebble shows a batch before its sync, so a lock appears before the
// batch and goes only after it is durable, and raw reads that met a batch under way wait for it and read again.
//
// What follows the log on every node that has the shard is the Replica; what one time of leading keeps in
// memory is the Leadership, which is thrown away whole when it ends. Without a leadership a replica refuses
// commands and says who leads.
//
// How a batch becomes durable is the replicator's business. There is one today, local: a synced commit to the node's
// Pebble, which shares its syncs among all shards, and one leadership for ever. A replicated one takes its
// place without the rest noticing.
package shard
