// Package kv is the vocabulary of the Bigtable-like store: keys, tablets, errors, and the seam between the store and the
// layers above it. The store itself is in the folders below; none of them is imported here.
//
//	kv.Store ──► client (routing) ──┬─► node.Handle, in this process
//	                                └─► rpc ──► node.Handle, in another
//	node     one process: one Pebble, a few shards, METADATA, the balancer
//	shard    a state machine: latches, evaluation of commands, in-memory groups, tablets, the replicator
//	engine   Pebble with our options; keys: how an address becomes a key
//	bigtable the store's own coprocessor: the paper's row operations and the lookup of tablets
//	coord    sessions, leases, elections, watches (Chubby's part)
//
// # The model
//
// A cell is (row, family, qualifier, timestamp) → bytes. Rows are ordered; a tablet is a range of them, assigned to exactly one
// shard at a time. Everything that one command writes on one shard is one batch, durable and visible as a whole: atomic
// within a row as in the paper, and beyond it within the shard, which is what the layers above build on.
//
//	Pebble key  | 0x03 | shard u32 | 'k' | group u8 | run u32 | row, escaped | family u8 | qualifier | 0x00 | ts 8 B | 9 |
//
// # Promises
//
// Nothing is visible before it is durable (kv.Eval says how, and names the one exception). A command that was routed under
// an old description of a tablet has no effect. Generations of tablets only grow.
//
// Not promised: atomicity across shards, or order between commands of different rows. That is package txn's business.
//
// Read kv.go, coprocessor.go and errors.go here; then shard, node and client.
package kv
