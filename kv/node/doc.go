// Package node is one process's part of the store: one Pebble (package engine), a few shards on it (package shard), the
// tablet map with its splits, merges and moves, and the balancer that decides on them.
//
//	Open ─► identity, shards, in-memory groups, METADATA repaired from what the shards say
//	Handle ─► the shard's command; what a transport calls, and a client in the same process
//
// A split or merge is one batch of the shard's metadata, a move between shards of the node one batch that copies and drops;
// METADATA follows, and is corrected at open if a crash came between. The shard decides what it serves, METADATA only tells
// where to ask first.
package node
