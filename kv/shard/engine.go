package shard

import (
	"moka/kv"
	"moka/kv/engine"
)

// Engine is what a shard needs of the store below it. *engine.Engine is the one that servers run on; package shardtest has one
// in memory, which lives inside a bubble of fake time, where Pebble does not, and whose crashes a simulator chooses.
type Engine interface {
	// Failed is the error with which the engine died, nil while it lives. Admit refuses writes while it is behind.
	// Room is kv.ErrDiskFull while the disk is too full for writes of that kind. Enter counts the bytes of
	// batches that are going to be applied, and of what follows later, or refuses them in the same way; Leave
	// says that they have been.
	Failed() error
	Admit() error
	Room(g kv.Growth, bytes int) error
	Enter(g kv.Growth, bytes, later int) error
	Leave(bytes int)

	NewBatch() engine.Batch
	// Apply makes a batch visible, SyncWait waits until one that was applied with sync is durable, with
	// everything before it; Commit does both.
	Apply(b engine.Batch, sync bool)
	SyncWait(b engine.Batch)
	Commit(b engine.Batch)

	Get(key []byte) (value []byte, ok bool, err error)
	GetVersion(shard kv.ShardID, a kv.Address, ts kv.Timestamp) (value []byte, ok bool, err error)
	Latest(shard kv.ShardID, a kv.Address, max kv.Timestamp) (v kv.Version, ok bool, err error)
	LatestOf(shard kv.ShardID, columns []kv.Address, max kv.Timestamp, found []kv.Version) error
	Versions(shard kv.ShardID, o kv.IterOptions) (kv.Iterator, error)

	// NewIter and Scan go over raw keys.
	NewIter(lower, upper []byte) (engine.Keys, error)
	Scan(lower, upper []byte, f func(key, value []byte) error) error
	Size(lower, upper []byte) (uint64, error)
}

var _ Engine = (*engine.Engine)(nil)
