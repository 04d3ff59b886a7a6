package shard

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/memtable"
)

// Options of a replica.
type Options struct {
	ID     kv.ShardID
	Node   kv.NodeID
	Engine Engine
	// Registry knows the coprocessors; all shards of a node share one.
	Registry *Registry
	// Describe finds the present descriptions of tablets and rows on the whole node, for ErrMoved; nil leaves
	// them out.
	Describe func(refs []kv.TabletRef, rows []kv.RowKey) []kv.Tablet
	Logger   *slog.Logger
}

// Replica is a shard's state on this node: its data in the engine, its in-memory groups and its table of
// tablets. It follows the shard's log, whoever leads. What only a leader has is the Leadership's, if there is
// one here.
type Replica struct {
	id       kv.ShardID
	node     kv.NodeID
	e        Engine
	registry *Registry
	describe func([]kv.TabletRef, []kv.RowKey) []kv.Tablet
	logger   *slog.Logger

	mem     [256]*memtable.Table
	tablets atomic.Pointer[tablets]
	// place counts the batches that change in-memory groups, in the order of the log; Proposal.Applying, and
	// Apply, guard it.
	place   uint64
	metrics metrics
	loads   loads

	lead   atomic.Pointer[Leadership] // nil: another replica leads, or none
	heard  atomic.Pointer[kv.Lead]    // who does, if somebody has told
	closed atomic.Bool
}

// Open loads a shard's state from the engine. Commands are refused until a leadership begins.
func Open(o Options) (*Replica, error) {
	s := &Replica{
		id: o.ID, node: o.Node, e: o.Engine, registry: o.Registry, describe: o.Describe, logger: o.Logger,
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.tablets.Store(newTablets(nil, nil))
	if err := s.loadTablets(); err != nil {
		return nil, err
	}
	for _, g := range o.Registry.groups {
		if g.InMemory {
			s.mem[g.ID] = memtable.New(g.ID)
			if g.Bound > 0 {
				s.mem[g.ID] = memtable.NewBounded(g.ID, g.Bound)
			}
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
	return s, nil
}

// loadTablets reads the table of tablets from the state: at open, and whenever an entry of the log has
// changed it. Which tablets are frozen is not state.
func (s *Replica) loadTablets() error {
	var list []kv.Tablet
	lower, upper := keys.StateSpan(s.id, keys.StateTablet)
	err := s.e.Scan(lower, upper, func(_, v []byte) error {
		t, err := decodeTablet(v)
		t.Shard, t.Node = s.id, s.node
		list = append(list, t)
		return err
	})
	if err == nil {
		s.tablets.Store(newTablets(list, s.tablets.Load().frozen))
	}
	return err
}

// loadGroup reads the image of an in-memory group.
func (s *Replica) loadGroup(g kv.GroupID) error {
	lower, upper := keys.GroupSpan(s.id, g)
	var buf []byte
	return s.e.Scan(lower, upper, func(key, v []byte) error {
		k, b, err := keys.Decode(key, buf)
		if err != nil {
			return err
		}
		buf = b
		s.mem[g].Load(own(k.Address, k.Timestamp, v))
		return nil
	})
}

// Reload reads what is in memory of a state that has been replaced in the engine, by a snapshot of
// another replica's. Nobody follows the log meanwhile, and there is no leadership.
func (s *Replica) Reload() error {
	for _, g := range s.registry.groups {
		if g.InMemory {
			s.mem[g.ID].Clear()
			if err := s.loadGroup(g.ID); err != nil {
				return err
			}
		}
	}
	return s.loadTablets()
}

// ID returns the shard's number.
func (s *Replica) ID() kv.ShardID { return s.id }

// Tablets lists the tablets of the shard, by start.
func (s *Replica) Tablets() []kv.Tablet { return slices.Clone(s.tablets.Load().list) }

// Tablet returns the description of a tablet that the shard serves.
func (s *Replica) Tablet(id kv.TabletID) (kv.Tablet, bool) { return s.tablets.Load().get(id) }

// Find returns the tablet that holds a row, if the shard serves it.
func (s *Replica) Find(row kv.RowKey) (kv.Tablet, bool) { return s.tablets.Load().find(row) }

// Reader reads the replica as it is now. Only a leadership can tell whether that is how the shard is.
func (s *Replica) Reader() kv.Reader { return reader{s} }

// InMemory returns the table behind an in-memory group.
func (s *Replica) InMemory(g kv.GroupID) kv.MemTable {
	t := s.mem[g]
	switch {
	case t == nil:
		return nil
	case t.Bounded():
		return bounded{t, s, g}
	}
	return t
}

// MemoryBytes estimates what the in-memory groups take.
func (s *Replica) MemoryBytes() (n int64) {
	for _, t := range s.mem {
		if t != nil {
			n += t.Bytes()
		}
	}
	return n
}

// Lead begins a leadership whose proposals go through repl; with nil the shard has one replica, whose log is
// the engine's, and one leadership for ever. All that any predecessor has proposed is applied, or never will
// be, and the last leadership of this replica has ended. One goroutine leads and ends.
func (s *Replica) Lead(repl Replicator) (*Leadership, error) {
	if repl == nil {
		repl = &local{e: s.e}
	}
	switch {
	case s.closed.Load():
		return nil, errClosed(s.id)
	case s.lead.Load() != nil:
		return nil, kv.Errorf(kv.CodeInternal, "shard.Lead", "shard %d has a leadership here already", s.id)
	}
	l := newLeadership(s, repl)
	for _, c := range s.registry.coprocessors {
		state, err := c.OpenShard(l)
		if err != nil {
			l.forget()
			return nil, &kv.Error{Code: kv.CodeOf(err), Op: "shard.Lead", Msg: "coprocessor " + c.Name(), Err: err}
		}
		l.states = append(l.states, state)
	}
	s.lead.Store(l)
	return l, nil
}

// Leads reports whether there is a leadership here.
func (s *Replica) Leads() bool { return s.lead.Load() != nil }

// Serves reports whether there is one here that takes commands.
func (s *Replica) Serves() bool {
	l := s.lead.Load()
	return l != nil && l.stopped.Load() == nil
}

// Retire refuses commands from now on as a replica does that does not lead, before the lead is handed on.
// The channel is closed when those that run have ended: then there is none whose outcome nobody knows.
func (s *Replica) Retire() <-chan struct{} {
	if l := s.lead.Load(); l != nil {
		return l.Depose()
	}
	none := make(chan struct{})
	close(none)
	return none
}

// Hear says who leads the shard, for those who ask here.
func (s *Replica) Hear(l kv.Lead) {
	l.Shard = s.id
	s.heard.Store(&l)
}

// leading returns the leadership, or the error of a replica without one.
func (s *Replica) leading() (*Leadership, error) {
	if l := s.lead.Load(); l != nil {
		return l, nil
	}
	if s.closed.Load() {
		return nil, errClosed(s.id)
	}
	return nil, s.notLeader()
}

func (s *Replica) notLeader() error {
	l := kv.Lead{Shard: s.id}
	if heard := s.heard.Load(); heard != nil {
		l = *heard
	}
	return kv.NotLeader("shard", l)
}

// Run runs a command if the shard is led here. See kv.Command for what the two kinds mean, and node.Handle
// for refs.
func (s *Replica) Run(
	ctx context.Context, c *Registered, refs []kv.TabletRef, req kv.Message,
) (kv.Message, error) {
	l, err := s.leading()
	if err != nil {
		return nil, err
	}
	return l.run(ctx, c, refs, req)
}

// Split cuts a tablet in front of a row. The left part keeps the id, the right one gets newID.
func (s *Replica) Split(
	ctx context.Context, id kv.TabletID, at kv.RowKey, newID kv.TabletID,
) (left, right kv.Tablet, err error) {
	l, err := s.leading()
	if err != nil {
		return left, right, err
	}
	return l.split(ctx, id, at, newID)
}

// Merge joins a tablet with the one behind it; the left id stays.
func (s *Replica) Merge(ctx context.Context, leftID, rightID kv.TabletID) (kv.Tablet, error) {
	l, err := s.leading()
	if err != nil {
		return kv.Tablet{}, err
	}
	return l.merge(ctx, leftID, rightID)
}

// Clear removes everything in a span of rows. Write commands that run are waited for; the caller has seen to
// it that no new ones touch the span.
func (s *Replica) Clear(ctx context.Context, span kv.Span) error {
	l, err := s.leading()
	if err != nil {
		return err
	}
	return l.clear(ctx, span)
}

// Close refuses new commands, waits for the running ones and closes what the coprocessors opened.
func (s *Replica) Close() error {
	s.closed.Store(true)
	if l := s.lead.Load(); l != nil {
		<-l.Stop(errClosed(s.id))
		return l.End()
	}
	return nil
}

func errClosed(id kv.ShardID) error {
	return kv.Errorf(kv.CodeClosed, "shard", "shard %d is shutting down; nothing happened", id)
}

func closeAll(states []any) (errs []error) {
	for _, st := range slices.Backward(states) {
		if c, ok := st.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errs
}
