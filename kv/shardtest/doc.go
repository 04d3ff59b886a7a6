// Package shardtest is a node of real shards (package shard) on a disk in memory, for simulators.
//
//	Node ── shard 1 ── Replicator ──┐
//	     ── shard 2 ── Replicator ──┴── Disk: one ordered table, one log
//
// What package kvtest imitates runs here itself: latches, the order in which locks and batches become visible, splits, moves and
// merges. What stands below is what a simulator wants to have in its hand:
//
//   - each proposal asks Options.Turn before it is logged, when it is visible and when it is durable; it can be refused, and it can
//     be lost together with its shard's lead, to be applied later or never;
//   - Crash keeps what was synced, and of the rest of the node's log as much as the simulator wants, from its beginning;
//   - Elect makes a new leadership of a shard that has lost the lead, on the same replica.
//
// It starts no goroutine and waits for nothing but channels and Options.Turn, so that it runs inside a testing/synctest bubble. Two of
// a shard's locks are mutexes, which a bubble cannot see through: whoever calls Turn, or is made to wait within a write command's
// evaluation, holds the first in shared mode, and whoever waits in an OnDurable function the second. So nobody may split, merge or move
// tablets of a shard while one of its writes is held up, nor let a write of it go on while an OnDurable function is.
package shardtest
