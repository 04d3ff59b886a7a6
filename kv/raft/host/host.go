package host

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/raft"
	"moka/kv/shard"
)

// Transport takes messages to the nodes whose replicas they are for.
type Transport interface {
	// Send never blocks: what cannot be sent is dropped, as a network does.
	Send(ms []raft.Message)
	// Fetch begins to read the state of a shard at another node: its Host.Feed.
	Fetch(ctx context.Context, from kv.NodeID, id kv.ShardID) (Feed, error)
}

// Engine is what a host needs of the store beside what its replicas do.
type Engine interface {
	shard.Engine
	// NewTables begins to write what is to take the place of a shard's state.
	NewTables() *engine.Tables
}

// Options of a Host; all but Raft must be there.
type Options struct {
	// Engine holds the logs of the replicas beside their state.
	Engine Engine
	Node   kv.NodeID
	// Replicas are those that Has says are here.
	Replicas []*shard.Replica
	// Create opens a replica that other nodes have given to this one, and whose state is empty yet; nil takes
	// none. Gone forgets one that was taken away, before its state goes; with Create it must be there. Both
	// are called between two turns.
	Create    func(kv.ShardID) (*shard.Replica, error)
	Gone      func(kv.ShardID)
	Transport Transport
	Raft      raft.Options
	Logger    *slog.Logger
	// Fatal is called when a replica cannot go on. The host then stands still: nothing is written or answered
	// any more.
	Fatal func(error)
}

// Host drives the replicas of a node.
type Host struct {
	o      Options
	clock  *clock
	driver *raft.Driver // the loop's
	groups []*group

	mu       sync.Mutex
	in       raft.Input
	inBytes  int
	entered  int // see settle
	waiting  map[*raft.Proposal]*proposal
	asking   map[*raft.Read]chan error
	over     bool // nothing is taken any more
	statuses map[kv.ShardID]raft.Status
	changes  map[*raft.Change]chan error
	checks   map[kv.ShardID]*check
	calls    []func() // to run between two turns

	wake chan struct{}
	quit chan struct{}
	loop sync.WaitGroup
	wg   sync.WaitGroup // of leaderships that open and close, and of what fetches snapshots
	fed  sync.WaitGroup // of what gives them

	exchange
}

// group is one replica. All but what it points to is the loop's.
type group struct {
	h       *Host
	replica *shard.Replica
	number  uint64
	heard   kv.Lead
	lead    *leadership
}

// queueBytes bounds the messages that wait for a turn; what comes above is dropped.
const queueBytes = 64 << 20

// Start opens the replicas, whose logs are in the engine, and begins to take turns.
func Start(o Options) (*Host, error) {
	h := &Host{
		o: o, clock: newClock(o.Raft.Timeout() / 20), waiting: map[*raft.Proposal]*proposal{},
		asking: map[*raft.Read]chan error{}, statuses: map[kv.ShardID]raft.Status{},
		changes: map[*raft.Change]chan error{}, checks: map[kv.ShardID]*check{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	h.arrivals = map[*raft.Snapshot]*arrival{}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	now := h.clock.now()
	h.driver = raft.NewDriver(now, o.Raft)
	for _, r := range o.Replicas {
		if err := h.open(r); err != nil {
			return nil, err
		}
	}
	h.settle() // entries that this node had in its log and not in its state
	h.loop.Go(h.run)
	return h, nil
}

// Deliver takes messages that have come from other nodes. Entries and states that the disk has no room for
// are as if they had been lost: their leader sends them again, and goes on with those who have room. (A node
// that was started again on its full disk took what the others had written since until it had not a byte
// left, ended, and could not be started.)
func (h *Host) Deliver(ms []raft.Message) {
	h.mu.Lock()
	for _, m := range ms {
		n := m.Size()
		if h.inBytes+n > queueBytes {
			continue
		}
		if m.Adds() {
			if h.o.Engine.Enter(kv.Follows, written*n, 0) != nil {
				continue
			}
			h.entered += written * n
		}
		h.in.Messages = append(h.in.Messages, m)
		h.inBytes += n
	}
	h.mu.Unlock()
	h.kick()
}

// written is how many batches have what a message brings: one for the log, and one for the state.
const written = 2

// settle tells the engine how much of what others have sent has not been written yet: all of it counts until
// it is applied, or is known to be of no use. (Counted were those alone that waited for a turn, so several
// times what a full disk had room for was taken while turns were under way, and the node ended.)
func (h *Host) settle() {
	messages, entries := h.driver.Waiting()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := written*(h.inBytes+messages) + entries
	if now < h.entered {
		h.o.Engine.Leave(h.entered - now)
	} else {
		_ = h.o.Engine.Enter(kv.Ends, now-h.entered, 0) // which is never refused
	}
	h.entered = now
}

// Transfer asks the leader of a shard, if it is here, to hand it to another node.
func (h *Host) Transfer(id kv.ShardID, to kv.NodeID) {
	h.mu.Lock()
	replica := uint64(to) // a stranger's, which does not take it: then this one leads on
	if m := h.statuses[id].Members; m != nil && m.On(to) != 0 {
		replica = m.On(to)
	}
	h.in.Transfers = append(h.in.Transfers, raft.Transfer{Shard: id, To: replica})
	h.mu.Unlock()
	h.kick()
}

// Status is what the replica of a shard knew after the last turn.
func (h *Host) Status(id kv.ShardID) raft.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.statuses[id]
}

func (h *Host) kick() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Close ends the turns. The replicas are closed before: their commands have ended, or wait for this to be
// told that their outcome is unknown.
func (h *Host) Close() {
	close(h.quit)
	h.loop.Wait()
	h.cancel()
	h.mu.Lock()
	h.over = true
	for _, f := range h.feeds {
		f.ready <- fed{err: errClosed}
	}
	h.feeds = nil
	if h.stopFeed != nil {
		h.stopFeed(errClosed)
	}
	for p, w := range h.waiting {
		delete(h.waiting, p)
		w.fate <- errStopped
	}
	for r, answer := range h.asking {
		delete(h.asking, r)
		answer <- errClosed
	}
	h.mu.Unlock()
	for _, g := range h.groups {
		if g.lead != nil {
			g.lead.end(nil)
		}
	}
	h.wg.Wait()
	h.fed.Wait()
}

var (
	errStopped = kv.Errorf(kv.CodeOutcomeUnknown, "raft", "the node has stopped meanwhile")
	errClosed  = kv.Errorf(kv.CodeClosed, "raft", "the node is shutting down; nothing happened")
)

func (h *Host) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	more := true
	for {
		if !more {
			timer.Reset(max(0, time.Duration(h.driver.NextTick()-h.clock.now())))
			select {
			case <-h.quit:
				return
			case <-h.wake:
			case <-timer.C:
			}
		} else {
			select {
			case <-h.quit:
				return
			default:
			}
		}
		var err error
		if more, err = h.turn(); err != nil {
			h.o.Fatal(err)
			<-h.quit
			return
		}
	}
}

func (h *Host) take() (raft.Input, []func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := h.in
	h.in, h.inBytes = raft.Input{}, 0
	calls := h.calls
	h.calls = nil
	return in, calls
}

// turn is one of the driver's, as package raft draws it.
func (h *Host) turn() (more bool, err error) {
	b := h.o.Engine.NewBatch()
	defer b.Close()
	in, calls := h.take()
	for _, f := range calls {
		f()
	}
	if err := h.admit(in.Messages); err != nil {
		return false, err
	}
	h.startFeeds(&in)
	t, err := h.driver.Turn(h.clock.now(), &batch{b: b}, in)
	if err != nil {
		return false, err
	}
	h.o.Transport.Send(t.Early)
	for _, in := range t.Installs {
		if err := h.install(in); err != nil {
			return false, err
		}
	}
	fs, done, err := h.follow(b, t.Events)
	if err != nil {
		return false, err
	}
	for _, f := range fs {
		f.Show()
	}
	if !b.Empty() {
		h.o.Engine.Apply(b, t.Sync)
	}
	for _, f := range fs {
		f.Hide()
	}
	for _, e := range t.Events {
		if a, ok := e.(*raft.Applied); ok && a.Check {
			h.look(a)
		}
	}
	for _, w := range done {
		w.fate <- w.err
	}
	h.tell(t)
	for _, x := range t.Removed {
		h.remove(x)
	}
	if t.Sync {
		h.o.Engine.SyncWait(b)
	}
	late, more := h.driver.Wrote(t)
	h.settle()
	h.o.Transport.Send(late)
	h.hear()
	return more, nil
}

// follow adds the effects of what was committed to the turn's batch. The hooks of proposals whose leadership
// has ended are forgotten first: what of them is committed all the same is nobody's here. done have found
// their fate when the batch is applied.
func (h *Host) follow(b engine.Batch, events []raft.Event) (
	fs []*shard.Follower, done []*proposal, err error,
) {
	var f *shard.Follower
	var of kv.ShardID
	for _, e := range events {
		switch e := e.(type) {
		case *raft.Ended:
			for _, p := range e.Unknown {
				h.resolve(p, errUnknown)
			}
		case *raft.Applied:
			if f == nil || of != e.Shard {
				f, of = h.group(e.Shard).replica.Follow(b), e.Shard
				fs = append(fs, f)
			}
			settled, err := h.add(f, e)
			if err != nil {
				return nil, nil, err
			}
			done = append(done, settled...)
		}
	}
	return fs, done, nil
}

func (h *Host) add(f *shard.Follower, a *raft.Applied) (done []*proposal, err error) {
	for i, c := range a.Entry.Commands {
		var w *proposal
		if i < len(a.Proposals) {
			w = h.forget(a.Proposals[i])
		}
		ok := false
		switch {
		case a.Stale:
		case w != nil:
			ok, err = f.AddOwn(w.change)
		default:
			var x engine.Batch
			if x, err = engine.ParseBatch(c.Batch); err == nil {
				structure := a.Entry.Flags&raft.Structure != 0
				ok, err = f.Add(shard.Entry{Batch: x, Tablets: c.Tablets, Structure: structure})
			}
		}
		if err != nil {
			return nil, &kv.Error{Code: kv.CodeOf(err), Op: "raft", Err: err,
				Msg: "an entry of the log cannot be applied; this replica stops"}
		}
		if !ok {
			h.o.Logger.Error("an entry of the log has no effect: it was evaluated for what is no more. "+
				"This should never happen; please report it",
				"shard", a.Shard, "index", a.Index, "term", a.Term)
		}
		if w != nil {
			w.index = a.Index
			if !ok {
				w.err = errStale
			}
			done = append(done, w)
		}
	}
	return done, nil
}

// tell hands on what else a turn has brought.
func (h *Host) tell(t *raft.Turn) {
	for _, e := range t.Events {
		switch e := e.(type) {
		case *raft.Begun:
			h.group(e.Lead.Shard).begin(e.Lead)
		case *raft.Ended:
			h.group(e.Lead.Shard).end()
		}
	}
	for _, s := range t.Discarded {
		h.discard(s)
	}
	for _, w := range t.Wanted {
		h.want(w)
	}
	for _, c := range t.Changed {
		h.changed(c)
	}
	for _, r := range t.Refused {
		err := r.Err
		if err == raft.ErrNotLeader {
			err = h.notLeader(r.Proposal.Lead.Shard)
		}
		h.resolve(r.Proposal, err)
	}
	for _, a := range t.Answers {
		err := a.Err
		if err == raft.ErrNotLeader {
			err = h.notLeader(a.Read.Lead.Shard)
		}
		h.mu.Lock()
		answer := h.asking[a.Read]
		delete(h.asking, a.Read)
		h.mu.Unlock()
		if answer != nil {
			answer <- err
		}
	}
}

// hear tells the replicas who leads, as far as raft has heard.
func (h *Host) hear() {
	for _, g := range h.groups {
		s := h.driver.Status(g.replica.ID())
		h.mu.Lock()
		h.statuses[g.replica.ID()] = s
		h.mu.Unlock()
		l := kv.Lead{Shard: g.replica.ID(), Node: raft.Node(s.Leader), Term: s.Term}
		if l != g.heard {
			g.heard = l
			g.replica.Hear(l)
		}
	}
}

// group is nil if there is no replica of the shard here.
func (h *Host) group(id kv.ShardID) *group {
	for _, g := range h.groups {
		if g.replica.ID() == id {
			return g
		}
	}
	return nil
}

func (h *Host) notLeader(id kv.ShardID) error {
	if g := h.group(id); g != nil {
		return kv.NotLeader("raft", g.heard)
	}
	return kv.NotLeader("raft", kv.Lead{Shard: id})
}

// store is the engine as the driver reads it.
type store struct{ e Engine }

func (s store) Get(key []byte) ([]byte, bool, error) { return s.e.Get(key) }
func (s store) Scan(lower, upper []byte, f func(k, v []byte) error) error {
	return s.e.Scan(lower, upper, f)
}

// batch is the turn's batch as the driver writes it.
type batch struct{ b engine.Batch }

func (b *batch) Set(key, value []byte)           { must(b.b.Set(key, value, nil)) }
func (b *batch) DeleteRange(lower, upper []byte) { must(b.b.DeleteRange(lower, upper, nil)) }

// must is for batches in memory, which take whatever they are given.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Bootstrap writes the logs of a new node's replicas into a batch, beside the state that they begin with.
func Bootstrap(b engine.Batch, shards []kv.ShardID, members []kv.NodeID) {
	voters := make([]uint64, len(members))
	for i, m := range members {
		voters[i] = uint64(m)
	}
	for _, id := range shards {
		raft.Bootstrap(&batch{b}, id, voters)
	}
}
