package node

import (
	"context"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// Options configure a node. Zero values mean defaults.
type Options struct {
	// Dir is the node's directory. Open creates it on first start. With an in-memory FS it names a place in that.
	Dir string
	// FS is the file system below; nil is the machine's. vfs.NewMem() makes a node that forgets.
	FS vfs.FS
	// Shards is how many shards the first start creates, numbered from 1; zero means one. Later starts find the shards
	// that exist, and create what is missing if Shards grew. It never shrinks.
	Shards int
	// CacheBytes is the size of the block cache; zero means 256 MiB.
	CacheBytes int64
	// Coprocessors are the layers that run code next to the data. The store's own row operations are always there.
	Coprocessors []kv.Coprocessor
	// Logger gets what an operator wants to know; nil discards it.
	Logger *slog.Logger
	// Fatal is called when the node must die: the disk failed or is full, and what it acknowledges could be lost if it
	// went on. Nil prints the message and exits with status 1. If Fatal returns, the node stays frozen: the goroutine that
	// met the failure never goes on, and all further commands fail with kv.ErrDisk.
	Fatal func(err error)
}

// Node is one process's part of the store: one Pebble, a few shards, and the commands that run on them.
type Node struct{}

// Open opens the node's directory, or creates it, and starts its shards.
// Errors: kv.ErrForeignData, kv.ErrInUse, kv.ErrCorrupt, kv.ErrDisk; each says what to do.
func Open(o Options) (*Node, error) {
	return nil, kv.Errorf(kv.CodeUnavailable, "node.Open", "not built yet")
}

// ID is the node's number, given at its first start.
func (n *Node) ID() kv.NodeID { return 0 }

// Shards lists the shards that the node leads, ascending.
func (n *Node) Shards() []kv.ShardID { return nil }

// Command finds a command by its number, so that a transport can make and decode its messages.
func (n *Node) Command(id kv.CommandID) (kv.Command, bool) { return kv.Command{}, false }

// Handle runs a command on one of the node's shards: it is what a transport calls for a decoded request, and what a
// client in the same process calls directly. req must not be changed after the call; the response is the caller's.
//
// tablets names every tablet that the request touches, by the generation under which it was routed. If one of them is not
// (or no longer) on the shard in that form, nothing is done and the error is kv.ErrMoved; its Tablets are the present
// descriptions, as far as the node knows them, of the tablets named and of the rows that a write command would latch.
// A caller that caches locations forgets what it had for the tablets it named, then adds those.
//
// ctx may be cancelled: a command that has not been proposed then does nothing (the error wraps ctx.Err()), one that has
// is waited for.
func (n *Node) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, id kv.CommandID, req kv.Message) (kv.Message, error) {
	return nil, kv.Errorf(kv.CodeUnavailable, "node.Handle", "not built yet")
}

// Close waits for the commands that run, then closes the shards and the store. Commands that begin later fail with
// kv.ErrClosed.
func (n *Node) Close() error { return nil }
