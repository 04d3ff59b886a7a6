package shard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/latch"
	"moka/kv/memtable"
)

// Options of a shard.
type Options struct {
	ID     kv.ShardID
	Node   kv.NodeID
	Engine Engine
	// Replicator makes proposals durable; nil: the shard has one replica, whose log is the engine's.
	Replicator Replicator
	// Registry knows the coprocessors; all shards of a node share one.
	Registry *Registry
	// Describe finds the present descriptions of tablets and rows on the whole node, for ErrMoved; nil leaves them out.
	Describe func(refs []kv.TabletRef, rows []kv.RowKey) []kv.Tablet
	Logger   *slog.Logger
}

// Shard is a state machine that serves a set of tablets.
type Shard struct {
	id       kv.ShardID
	node     kv.NodeID
	e        Engine
	registry *Registry
	describe func([]kv.TabletRef, []kv.RowKey) []kv.Tablet
	logger   *slog.Logger
	repl     Replicator

	mem    [256]*memtable.Table
	states []any // of the coprocessors, in the registry's order

	latches *latch.Manager
	tablets atomic.Pointer[tablets]
	// structure is held shared by write commands from the check of their tablets until they are durable, and alone by
	// whoever changes the tablet table.
	structure sync.RWMutex
	hooks     sync.Mutex // serializes OnSet and OnDurable
	// place counts the batches that change in-memory groups, in the order of the log; Proposal.Applying guards it.
	place   uint64
	evals   sync.Pool
	metrics metrics
	loads   loads

	closed   atomic.Bool
	running  atomic.Int64
	drained  chan struct{}
	drainOne sync.Once
	blocked  struct { // contexts of read commands, to end when the shard closes
		sync.Mutex
		next    uint64
		cancels map[uint64]context.CancelCauseFunc
	}
}

var _ kv.ShardHandle = (*Shard)(nil)

// Open loads a shard's state from the engine and opens the coprocessors on it.
func Open(o Options) (*Shard, error) {
	s := &Shard{
		id: o.ID, node: o.Node, e: o.Engine, registry: o.Registry, describe: o.Describe, logger: o.Logger,
		repl: o.Replicator, latches: latch.New(), drained: make(chan struct{}),
	}
	if s.repl == nil {
		s.repl = &local{e: o.Engine}
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.evals.New = func() any { return new(eval) }
	s.blocked.cancels = map[uint64]context.CancelCauseFunc{}
	if err := s.loadTablets(); err != nil {
		return nil, err
	}
	for _, g := range o.Registry.groups {
		if g.InMemory {
			s.mem[g.ID] = memtable.New(g.ID)
		}
	}
	if err := s.discardArrivals(); err != nil {
		return nil, err
	}
	for _, g := range o.Registry.groups {
		if g.InMemory {
			if err := s.loadGroup(g.ID); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range o.Registry.coprocessors {
		state, err := c.OpenShard(s)
		if err != nil {
			s.closeStates()
			return nil, &kv.Error{Code: kv.CodeOf(err), Op: "shard.Open", Msg: "coprocessor " + c.Name(), Err: err}
		}
		s.states = append(s.states, state)
	}
	return s, nil
}

func (s *Shard) loadTablets() error {
	var list []kv.Tablet
	lower, upper := keys.StateSpan(s.id, keys.StateTablet)
	err := s.e.Scan(lower, upper, func(_, v []byte) error {
		t, err := decodeTablet(v)
		t.Shard, t.Node = s.id, s.node
		list = append(list, t)
		return err
	})
	s.tablets.Store(newTablets(list, nil))
	return err
}

// loadGroup reads the image of an in-memory group.
func (s *Shard) loadGroup(g kv.GroupID) error {
	lower, upper := keys.GroupSpan(s.id, g)
	var buf []byte
	return s.e.Scan(lower, upper, func(key, v []byte) error {
		k, b, err := keys.Decode(key, buf)
		if err != nil {
			return err
		}
		buf = b
		s.mem[g].Set(own(k.Address, k.Timestamp, v), 0)
		return nil
	})
}

// ID implements kv.ShardHandle.
func (s *Shard) ID() kv.ShardID { return s.id }

// Tablets implements kv.ShardHandle.
func (s *Shard) Tablets() []kv.Tablet { return slices.Clone(s.tablets.Load().list) }

// Tablet returns the description of a tablet that the shard serves.
func (s *Shard) Tablet(id kv.TabletID) (kv.Tablet, bool) { return s.tablets.Load().get(id) }

// Find returns the tablet that holds a row, if the shard serves it.
func (s *Shard) Find(row kv.RowKey) (kv.Tablet, bool) { return s.tablets.Load().find(row) }

// Reader implements kv.ShardHandle.
func (s *Shard) Reader() kv.Reader { return reader{s} }

// Room implements kv.ShardHandle.
func (s *Shard) Room() error { return s.e.Room() }

// InMemory implements kv.ShardHandle.
func (s *Shard) InMemory(g kv.GroupID) kv.MemTable {
	if t := s.mem[g]; t != nil {
		return t
	}
	return nil
}

// MemoryBytes estimates what the in-memory groups take.
func (s *Shard) MemoryBytes() (n int64) {
	for _, t := range s.mem {
		if t != nil {
			n += t.Bytes()
		}
	}
	return n
}

func errClosed(id kv.ShardID) error {
	return kv.Errorf(kv.CodeClosed, "shard", "shard %d is shutting down; nothing happened", id)
}

// enter and leave count the commands that run, so that Close can wait for them.
func (s *Shard) enter() error {
	s.running.Add(1)
	if s.closed.Load() {
		s.leave()
		return errClosed(s.id)
	}
	return nil
}

func (s *Shard) leave() {
	if s.running.Add(-1) == 0 && s.closed.Load() {
		s.drainOne.Do(func() { close(s.drained) })
	}
}

// cancellable derives a context that also ends when the shard closes.
func (s *Shard) cancellable(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	b := &s.blocked
	b.Lock()
	id := b.next
	b.next++
	b.cancels[id] = cancel
	b.Unlock()
	if s.closed.Load() {
		cancel(errClosed(s.id))
	}
	return ctx, func() {
		b.Lock()
		delete(b.cancels, id)
		b.Unlock()
		cancel(nil)
	}
}

// Close refuses new commands, waits for the running ones and closes what the coprocessors opened.
func (s *Shard) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.blocked.Lock()
	for _, cancel := range s.blocked.cancels {
		cancel(errClosed(s.id))
	}
	s.blocked.Unlock()
	if s.running.Load() == 0 {
		s.drainOne.Do(func() { close(s.drained) })
	}
	<-s.drained
	return s.closeStates()
}

func (s *Shard) closeStates() error {
	var errs []error
	for _, st := range slices.Backward(s.states) {
		if c, ok := st.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
