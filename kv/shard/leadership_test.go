package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

// relay is a replicator behind a log that others decide about: what it takes waits for its fate.
type relay struct {
	local
	term uint64
	mu   sync.Mutex
	fate func(p *Proposal) error // nil: applied
	seen []Proposal
}

func (r *relay) Term() uint64  { return r.term }
func (r *relay) Durable() bool { return true }
func (r *relay) Propose(ctx context.Context, p *Proposal) error {
	r.mu.Lock()
	kept := *p
	kept.Tablets = slices.Clone(p.Tablets)
	r.seen = append(r.seen, kept)
	fate := r.fate
	r.mu.Unlock()
	if fate != nil {
		if err := fate(p); err != nil {
			return err
		}
	}
	return r.local.Propose(ctx, p)
}

// counted is a coprocessor of which each leadership has a state of its own, a number; its hook says in which
// a set was heard of.
type counted struct {
	change
	opened int
	closed []int
	heard  []string
}

type countedState struct {
	c *counted
	n int
}

func (s *countedState) Close() error { s.c.closed = append(s.c.closed, s.n); return nil }

func (c *counted) OpenShard(s kv.ShardHandle) (any, error) {
	c.opened++
	n := c.opened
	s.InMemory(testGroup).OnSet(func(a kv.Address, _ kv.Version) {
		c.heard = append(c.heard, fmt.Sprintf("%d:%s", n, a.Row.Row()))
	})
	return &countedState{c, n}, nil
}

func openReplica(t *testing.T, cs ...kv.Coprocessor) (*Replica, *Registry) {
	t.Helper()
	e, err := engine.Open("data", engine.Options{FS: vfs.NewMem(), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	r, err := NewRegistry(cs)
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	defer b.Close()
	if err := PutTablet(b, kv.Tablet{ID: 1, Generation: 1, Shard: 1, Node: 9}); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
	s, err := Open(Options{ID: 1, Node: 3, Engine: e, Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, r
}

func rowOf(name string) kv.RowKey { return kv.MakeRowKey(kv.TableTxn, []byte(name)) }

var firstTablet = []kv.TabletRef{{ID: 1, Generation: 1}}

// Without a leadership a replica refuses everything, and says who leads. A leadership's end ends what only
// waits with that answer as well, and waits for what runs; nothing of it is left for the next.
func TestLeadershipsComeAndGo(t *testing.T) {
	c := &counted{}
	s, r := openReplica(t, c)
	set, _ := r.Command(1)
	look, _ := r.Command(2)
	lead := func(term uint64) (*Leadership, *relay) {
		t.Helper()
		repl := &relay{local: local{e: s.e}, term: term}
		l, err := s.Lead(repl)
		if err != nil {
			t.Fatal(err)
		}
		return l, repl
	}
	wantNotLeader := func(what string, err error, node kv.NodeID) {
		t.Helper()
		var e *kv.Error
		if !errors.Is(err, kv.ErrNotLeader) || !errors.As(err, &e) || e.Lead.Node != node || e.Lead.Shard != 1 {
			t.Errorf("%s: %v, want node %d for the leader", what, err, node)
		}
	}
	run := func(cmd *Registered, m *change) error {
		_, err := s.Run(t.Context(), cmd, firstTablet, m)
		return err
	}
	wantNotLeader("nobody has led", run(set, &change{row: rowOf("a")}), 0)
	if _, _, err := s.Split(t.Context(), 1, rowOf("m"), 2); !errors.Is(err, kv.ErrNotLeader) {
		t.Errorf("split: %v", err)
	}
	s.Hear(kv.Lead{Node: 7, Term: 4})
	wantNotLeader("node 7 leads", run(set, &change{row: rowOf("a")}), 7)

	first, repl := lead(5)
	if _, err := s.Lead(&relay{local: local{e: s.e}, term: 5}); err == nil {
		t.Error("two leaderships at a time")
	}
	if err := run(set, &change{row: rowOf("a")}); err != nil {
		t.Error(err)
	}
	if p := repl.seen[0]; p.Term != 5 || !slices.Equal(p.Tablets, firstTablet) || p.Structure {
		t.Errorf("proposed was %+v", p)
	}
	// A long poll, and a write of which the log has not decided, when the lead is lost.
	polls, proposed, decide := make(chan struct{}), make(chan struct{}), make(chan error)
	repl.fate = func(*Proposal) error { close(proposed); return <-decide }
	var wg sync.WaitGroup
	var polled, written error
	wg.Go(func() {
		_, polled = s.Run(t.Context(), look, firstTablet, &change{blocks: polls})
	})
	wg.Go(func() { written = run(set, &change{row: rowOf("b")}) })
	<-polls
	<-proposed
	s.Hear(kv.Lead{Node: 8, Term: 6})
	drained := first.Depose()
	wantNotLeader("deposed", run(set, &change{row: rowOf("c")}), 8)
	select {
	case <-drained:
		t.Error("a write is under way, and nobody runs")
	default:
	}
	decide <- kv.Errorf(kv.CodeOutcomeUnknown, "test", "the term is over")
	<-drained
	wg.Wait()
	if err := first.End(); err != nil {
		t.Error(err)
	}
	wantNotLeader("the poll", polled, 8)
	if !errors.Is(written, kv.ErrOutcomeUnknown) {
		t.Errorf("the write: %v", written)
	}
	if s.mem[testGroup].Len() != 1 {
		t.Error("what has no place in the log can be seen")
	}
	// The log has it after all, and something of the other leader. Both are seen, and nobody here hears of them.
	var batches []engine.Batch
	for _, name := range []string{"b", "d"} {
		b := s.e.NewBatch()
		a := kv.Address{Group: testGroup, Column: kv.Column{Row: rowOf(name)}}
		if err := b.Set(keys.AppendVersion(keys.AppendColumn(nil, 1, a), 1), []byte("late"), nil); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	for _, b := range batches {
		if ok, err := s.Apply(Entry{Batch: b, Tablets: firstTablet}); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		b.Close()
	}
	if d := parted(t, s); d != "" || s.mem[testGroup].Len() != 3 {
		t.Errorf("memory and disk have parted: %s", d)
	}

	second, _ := lead(7)
	if err := run(set, &change{row: rowOf("e")}); err != nil {
		t.Error(err)
	}
	if want := []string{"1:a", "2:e"}; !slices.Equal(c.heard, want) || !slices.Equal(c.closed, []int{1}) {
		t.Errorf("heard %v, want %v; closed are the states %v", c.heard, want, c.closed)
	}
	<-second.Depose()
	if err := second.End(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := run(set, &change{row: rowOf("f")}); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Tablets are state: who applies an entry that changes them reads them again, whoever has proposed it; where
// they are served is not in it. An entry that was evaluated for tablets of another form does nothing.
func TestTabletsFollowTheLog(t *testing.T) {
	leader, _ := openReplica(t, new(change))
	follower, r := openReplica(t, new(change))
	repl := &relay{local: local{e: leader.e}, term: 2, fate: func(p *Proposal) error {
		b := follower.e.NewBatch()
		defer b.Close()
		if err := b.Apply(p.Batch.Batch, nil); err != nil {
			return err
		}
		_, err := follower.Apply(Entry{Batch: b, Tablets: p.Tablets, Structure: p.Structure})
		return err
	}}
	if _, err := leader.Lead(repl); err != nil {
		t.Fatal(err)
	}
	same := func(when string, n int) {
		t.Helper()
		if a, b := leader.Tablets(), follower.Tablets(); len(a) != n || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %v and %v, want %d", when, a, b, n)
		}
	}
	if _, _, err := leader.Split(t.Context(), 1, rowOf("m"), 2); err != nil {
		t.Fatal(err)
	}
	same("split", 2)
	if p := repl.seen[0]; !p.Structure || !slices.Equal(p.Tablets, firstTablet) || p.Term != 2 {
		t.Errorf("proposed was %+v", p)
	}
	set, _ := r.Command(1)
	for name, ref := range map[string]kv.TabletRef{"a": {ID: 1, Generation: 2}, "z": {ID: 2, Generation: 2}} {
		if _, err := leader.Run(t.Context(), set, []kv.TabletRef{ref}, &change{row: rowOf(name)}); err != nil {
			t.Error(err)
		}
	}
	if got := follower.mem[testGroup].Len(); got != 2 || parted(t, follower) != "" {
		t.Errorf("the follower has %d entries; %s", got, parted(t, follower))
	}
	if _, err := leader.Merge(t.Context(), 1, 2); err != nil {
		t.Fatal(err)
	}
	same("merge", 1)
	if err := leader.Clear(t.Context(), kv.Span{}); err != nil {
		t.Fatal(err)
	}
	if a, b := leader.mem[testGroup].Len(), follower.mem[testGroup].Len(); a+b != 0 {
		t.Errorf("cleared, and %d and %d are left", a, b)
	}
	b := follower.e.NewBatch()
	defer b.Close()
	a := kv.Address{Group: testGroup, Column: kv.Column{Row: rowOf("late")}}
	if err := b.Set(keys.AppendVersion(keys.AppendColumn(nil, 1, a), 1), nil, nil); err != nil {
		t.Fatal(err)
	}
	ok, err := follower.Apply(Entry{Batch: b, Tablets: firstTablet})
	if ok || err != nil || follower.Stats().Stale != 1 || follower.mem[testGroup].Len() != 0 {
		t.Errorf("an entry for a tablet that is no more: %v, %v", ok, err)
	}
	if v, _, err := follower.e.Get(keys.AppendState(nil, 1, keys.StateTablet, 1)); err != nil {
		t.Error(err)
	} else if x, err := decodeTablet(v); err != nil || x.Node != 0 {
		t.Errorf("the state says that tablet 1 is at node %d, %v", x.Node, err)
	}
}

// Behind a replicated log what can be seen is durable: a raw read does not wait for the latch of who has made
// it so.
func TestRawReadsDoNotWaitForWhatIsDurable(t *testing.T) {
	s, r := openReplica(t, new(change))
	l, err := s.Lead(&relay{local: local{e: s.e}, term: 1})
	if err != nil {
		t.Fatal(err)
	}
	set, _ := r.Command(1)
	_, err = s.Run(t.Context(), set, firstTablet, &change{refused: func() error {
		hurried, cancel := context.WithCancel(t.Context())
		cancel()
		e := &eval{s: l, ctx: hurried} // somebody who reads while this row is latched
		return errors.Join(e.AwaitRow(rowOf("a")), e.AwaitSpan(kv.Span{}))
	}, latched: rowOf("a")})
	if err != nil {
		t.Errorf("a reader waits: %v", err)
	}
}
