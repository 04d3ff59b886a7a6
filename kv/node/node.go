package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/engine"
	"moka/kv/raft/host"
	"moka/kv/shard"
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
	// CacheBytes is the memory for blocks and memtables; zero means 256 MiB. See LimitMemory for that of the process.
	CacheBytes int64
	// MemoryLimit is what LimitMemory returned, for the node to add what its in-memory groups hold; zero means that the process's memory is
	// not the node's business.
	MemoryLimit int64
	// MaxMemory is as far as the limit may be raised, zero for as far as it takes. Held is what others in the process hold on top, nil for
	// nothing.
	MaxMemory int64
	Held      func() int64
	// MemTableBytes is the size of one of Pebble's memtables; zero means an eighth of the cache. Small ones make tests flush.
	MemTableBytes uint64
	// SeparateValues is the size from which on values lie in files of their own; zero means none. See engine.Options.
	SeparateValues int
	// OpenTables is how many files the store keeps open; zero means 512.
	OpenTables int
	// Ballast is the room that is kept for a disk that is full; zero is none. See engine.Options.
	Ballast int64
	// AcceptDataLoss opens a store that has lost acknowledged changes. See engine.Options.
	AcceptDataLoss bool
	// Coprocessors are the layers that run code next to the data. The store's own row operations are always there.
	Coprocessors []kv.Coprocessor
	// SplitBytes is the size on disk above which a tablet is split; zero means 96 MiB.
	SplitBytes uint64
	// SplitRate is how many commands a second make a tablet hot; one that has been hot for a while is split where half of them are on
	// either side. Zero means 20,000, negative never.
	SplitRate int
	// BalanceEvery is how often the balancer looks; zero means every 10 s, negative never.
	BalanceEvery time.Duration
	// Cluster makes the node a member of one; nil is a node of its own. Then Replicate has to be called.
	Cluster *Cluster
	// Logger gets what an operator wants to know; nil discards it.
	Logger *slog.Logger
	// Fatal is called when the node must die: the disk failed, or is full without a ballast, and what it acknowledges could be lost if it
	// went on. Nil prints the message and exits with status 1. If Fatal returns, the node stays frozen: the goroutine that
	// met the failure never goes on, and all further commands fail with kv.ErrDisk.
	Fatal func(err error)
}

func (o Options) withDefaults() Options {
	if o.SplitBytes == 0 {
		o.SplitBytes = defaultSplitBytes
	}
	if o.SplitRate == 0 {
		o.SplitRate = defaultSplitRate
	}
	if o.BalanceEvery == 0 {
		o.BalanceEvery = defaultBalance
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// DefaultCacheBytes is what a zero CacheBytes means.
const DefaultCacheBytes = engine.DefaultCacheBytes

// AutoBallast as Options.Ballast leaves the choice to the engine.
const AutoBallast = engine.AutoBallast

// Node is one process's part of the store: one Pebble, a few shards, and the commands that run on them.
type Node struct {
	o        Options
	logger   *slog.Logger
	engine   *engine.Engine
	registry *shard.Registry
	store    *bigtable.Coprocessor
	record   record
	lives    lives // of a cluster's members
	book     book
	slots    []atomic.Pointer[shard.Replica] // slots[i] is shard i+1; nil is elsewhere
	handing  sync.WaitGroup                  // shards that are handed over because somebody asked
	host     *host.Host                      // drives them, in a cluster
	reach    atomic.Pointer[kv.Store]
	room     atomic.Pointer[map[kv.NodeID]bool] // see LearnRoom

	structure  sync.Mutex // one structural change at a time; guards what follows
	closed     bool
	nextTablet uint64
	metaStale  bool                  // METADATA has not heard of the last change
	repaired   map[kv.ShardID]uint64 // the terms in which METADATA was compared with the shards led here
	sweepFrom  kv.RowKey             // where the search for garbage goes on
	hot        hotTablets

	stop       func() // ends the background work
	background sync.WaitGroup
}

// ID is the node's number, given at its first start.
func (n *Node) ID() kv.NodeID { return n.record.node }

// Room is kv.ErrDiskFull while the node takes nothing that adds to it, nil otherwise.
func (n *Node) Room() error { return n.engine.Room(kv.Adds, 0) }

// Short reports whether its disk is full, or is about to be.
func (n *Node) Short() bool { return n.engine.Short() }

// Shards lists the shards that are on the node, ascending.
func (n *Node) Shards() []kv.ShardID {
	rs := n.here()
	ids := make([]kv.ShardID, len(rs))
	for i, s := range rs {
		ids[i] = s.ID()
	}
	return ids
}

func (n *Node) shard(id kv.ShardID) *shard.Replica {
	if id < 1 || int(id) > len(n.slots) {
		return nil
	}
	return n.slots[id-1].Load()
}

// Shard returns the handle of a shard, for layers that work in the node's process.
func (n *Node) Shard(id kv.ShardID) (kv.ShardHandle, bool) {
	s := n.shard(id)
	return s, s != nil
}

// Command finds a command by its number, so that a transport can make and decode its messages.
func (n *Node) Command(id kv.CommandID) (kv.Command, bool) {
	c, ok := n.registry.Command(id)
	if !ok {
		return kv.Command{}, false
	}
	return c.Command, true
}

// Commands lists all commands by number.
func (n *Node) Commands() []kv.Command { return n.registry.Commands() }

// Tablets lists the tablets that the node's shards serve, by start.
func (n *Node) Tablets() []kv.Tablet {
	var all []kv.Tablet
	for _, s := range n.here() {
		all = append(all, s.Tablets()...)
	}
	slices.SortFunc(all, func(a, b kv.Tablet) int { return bytes.Compare(a.Span.Start, b.Span.Start) })
	return all
}

// Handle runs a command on one of the node's shards: it is what a transport calls for a decoded request, and what a
// client in the same process calls directly. req must not be changed after the call; the response is the caller's.
//
// tablets names every tablet that the request touches, by the generation under which it was routed. If one of them is not
// (or no longer) on the shard in that form, nothing is done and the error is kv.ErrMoved; its Tablets are the present
// descriptions, as far as the node knows them, of the tablets named and of the rows that a write command would latch.
// A caller that caches locations forgets what it had for the tablets it named, then adds those. Without tablets the command
// is for the shard as a whole.
//
// ctx may be cancelled: a command that has not been proposed then does nothing (the error wraps ctx.Err()), one that has
// is waited for.
func (n *Node) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, id kv.CommandID, req kv.Message) (kv.Message, error) {
	s := n.shard(shard)
	switch {
	case id == CommandChecked && n.o.Cluster != nil:
		return n.checked(shard) // of this node's replica, whoever leads
	case s != nil:
	case shard == 0:
		return nil, kv.Errorf(kv.CodeNotFound, "node.Handle", "shards are numbered from 1")
	default: // whether there is one elsewhere is for the cluster to know, not for this node
		return nil, kv.NotLeader("node.Handle", kv.Lead{Shard: shard})
	}
	c, ok := n.registry.Command(id)
	if !ok {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "node.Handle", "there is no command %d here: the two ends run different releases or roles", id)
	}
	return s.Run(ctx, c, tablets, req)
}

// describe finds tablets and rows on all shards.
func (n *Node) describe(refs []kv.TabletRef, rows []kv.RowKey) []kv.Tablet {
	var found []kv.Tablet
	add := func(t kv.Tablet, ok bool) {
		if ok && !slices.ContainsFunc(found, func(x kv.Tablet) bool { return x.ID == t.ID }) {
			found = append(found, t)
		}
	}
	for _, s := range n.here() {
		for _, r := range refs {
			add(s.Tablet(r.ID))
		}
		for _, r := range rows {
			add(s.Find(r))
		}
	}
	return found
}

// Close waits for the commands that run, then closes the shards and the store. Commands that begin later fail with
// kv.ErrClosed. Whoever uses CoordStore stops before. Closing twice is no error.
func (n *Node) Close() error {
	n.stop()
	n.background.Wait()
	n.handing.Wait()
	n.structure.Lock()
	closed := n.closed
	n.closed = true
	n.structure.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for _, s := range n.here() {
		errs = append(errs, s.Close())
	}
	if n.host != nil {
		n.host.Close()
	}
	return errors.Join(append(errs, n.engine.Close())...)
}
