package shard

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
)

// In-memory groups and what Pebble keeps of them for a restart must not part.

const testGroup kv.GroupID = 200

// change is a request that sets one entry of testGroup, or deletes it; seen deletes only what can be seen, as who resolves locks does. It is
// its own coprocessor. Nothing is latched. Refused changes nothing, and ends with that error, if any.
type change struct {
	refused func() error
	row     kv.RowKey
	deleted bool
	seen    bool
	noSync  bool
	blocks  chan struct{} // closed when the command waits for its context to end
	latched kv.RowKey     // unless nil
}

func (*change) AppendTo(b []byte) []byte              { return b }
func (*change) Decode([]byte) error                   { return nil }
func (*change) Name() string                          { return "changes" }
func (*change) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }
func (*change) Groups() []kv.GroupSpec                { return []kv.GroupSpec{{ID: testGroup, InMemory: true}} }
func (*change) rows(m kv.Message, rows []kv.RowKey) []kv.RowKey {
	if r := m.(*change); r.latched != nil {
		rows = append(rows, r.latched)
	}
	return rows
}
func (c *change) evaluate(e kv.Eval, m kv.Message) (kv.Message, error) {
	r := m.(*change)
	if r.blocks != nil {
		close(r.blocks)
		<-e.Context().Done()
		return nil, context.Cause(e.Context())
	}
	if r.refused != nil {
		return r, r.refused()
	}
	a := kv.Address{Group: testGroup, Column: kv.Column{Row: r.row}}
	if r.noSync {
		e.NoSync()
	}
	switch {
	case !r.deleted:
		e.Set(a, 1, []byte("set"))
	case r.seen:
		if _, ok, err := e.Get(a, 1); !ok || err != nil {
			return r, err
		}
		fallthrough
	default:
		e.Delete(a, 1)
	}
	return r, nil
}

func (c *change) Commands() []kv.Command {
	message := func() kv.Message { return new(change) }
	return []kv.Command{
		{ID: 1, Name: "change", Write: true, NewRequest: message, NewResponse: message, Rows: c.rows, Evaluate: c.evaluate},
		{ID: 2, Name: "look", NewRequest: message, NewResponse: message, Evaluate: c.evaluate},
	}
}

// openChanges opens a shard on an engine in memory. Its proposals go through wrap.
func openChanges(t *testing.T, wrap func(Replicator) Replicator) (s *Replica, run func(*change) error) {
	t.Helper()
	e, err := engine.Open("data", engine.Options{FS: vfs.NewMem(), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	r, err := NewRegistry([]kv.Coprocessor{new(change)})
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	defer b.Close()
	if err := PutTablet(b, kv.Tablet{ID: 1, Generation: 1, Shard: 1}); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
	if s, err = Open(Options{ID: 1, Engine: e, Registry: r}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lead(wrap(&local{e: e})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	command, _ := r.Command(1)
	return s, func(c *change) error {
		_, err := s.Run(t.Context(), command, []kv.TabletRef{{ID: 1, Generation: 1}}, c)
		return err
	}
}

// parted compares what a shard has in memory with what it would have after a restart.
func parted(t *testing.T, s *Replica) (difference string) {
	t.Helper()
	restarted, err := Open(Options{ID: s.id, Engine: s.e, Registry: s.registry})
	if err != nil {
		t.Fatal(err)
	}
	defer restarted.Close()
	dump := func(s *Replica) (all []string) {
		for _, it := range s.mem[testGroup].Persistent(kv.Span{}) {
			all = append(all, fmt.Sprintf("%x@%v=%s", []byte(it.Address.Row), it.Timestamp, it.Value))
		}
		return all
	}
	if is, will := dump(s), dump(restarted); !slices.Equal(is, will) {
		return fmt.Sprintf("in memory there is %s, after a restart %s", strings.Join(is, " "), strings.Join(will, " "))
	}
	return ""
}

// replicatorFunc is what a test makes of a replicator's Propose.
type replicatorFunc struct {
	Replicator
	propose func(context.Context, *Proposal) error
}

func (r replicatorFunc) Propose(ctx context.Context, p *Proposal) error { return r.propose(ctx, p) }

// TestSetSeenInItsPlace: an entry is not seen before its batch has its place in the log, or who takes no latch could delete it by a batch before
// that, and it would be gone until the next restart.
func TestSetSeenInItsPlace(t *testing.T) {
	in, hold := make(chan struct{}), make(chan struct{})
	var held atomic.Bool
	s, run := openChanges(t, func(r Replicator) Replicator {
		return replicatorFunc{r, func(ctx context.Context, p *Proposal) error {
			if held.CompareAndSwap(false, true) {
				close(in)
				<-hold
			}
			return r.Propose(ctx, p)
		}}
	})
	row := kv.MakeRowKey(5, []byte("a"))
	var setter sync.WaitGroup
	setter.Go(func() {
		if err := run(&change{row: row}); err != nil {
			t.Error(err)
		}
	})
	<-in
	if err := run(&change{row: row, deleted: true, seen: true, noSync: true}); err != nil {
		t.Error(err)
	}
	close(hold)
	setter.Wait()
	if d := parted(t, s); d != "" {
		t.Error(d)
	}
}

// TestMemoryFollowsTheLog: sets and deletes of the same few entries at once, of which each waits where it likes.
func TestMemoryFollowsTheLog(t *testing.T) {
	s, run := openChanges(t, func(r Replicator) Replicator {
		return replicatorFunc{r, func(ctx context.Context, p *Proposal) error {
			runtime.Gosched()
			if durable := p.Durable; durable != nil {
				p.Durable = func() { runtime.Gosched(); durable() }
			}
			return r.Propose(ctx, p)
		}}
	})
	for round := range 30 {
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				for range 20 {
					c := &change{row: kv.MakeRowKey(5, binary.BigEndian.AppendUint32(nil, rng.Uint32N(3)))}
					c.deleted, c.seen, c.noSync = rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
					if err := run(c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if d := parted(t, s); d != "" {
			t.Fatalf("round %d: %s", round, d)
		}
	}
}

// TestRefusedProposalIsNotSeen: of a proposal that a replicator refuses nothing is left, or a repetition of the command would find its own entry
// and answer that it is there.
func TestRefusedProposalIsNotSeen(t *testing.T) {
	refused := kv.Errorf(kv.CodeUnavailable, "test", "not the leader; nothing happened")
	refuse := false
	s, run := openChanges(t, func(r Replicator) Replicator {
		return replicatorFunc{r, func(ctx context.Context, p *Proposal) error {
			if refuse {
				return refused
			}
			return r.Propose(ctx, p)
		}}
	})
	a, b := kv.MakeRowKey(5, []byte("a")), kv.MakeRowKey(5, []byte("b"))
	if err := run(&change{row: a}); err != nil {
		t.Fatal(err)
	}
	refuse = true
	for _, c := range []*change{{row: b}, {row: a, deleted: true}} {
		if err := run(c); err != refused {
			t.Errorf("%v, want %v", err, refused)
		}
	}
	if n := s.InMemory(testGroup).Len(); n != 1 {
		t.Errorf("%d entries are seen, want 1", n)
	}
	refuse = false
	if err := run(&change{row: b}); err != nil {
		t.Error(err)
	}
	if d := parted(t, s); d != "" || s.InMemory(testGroup).Len() != 2 {
		t.Errorf("%d entries are seen, want 2; %s", s.InMemory(testGroup).Len(), d)
	}
}
