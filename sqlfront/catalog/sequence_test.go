package catalog

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"moka/txn"
)

func newSequence(t testing.TB, n *node, start uint64) Sequence {
	t.Helper()
	seq, err := n.NewSequence(ctx, start)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func next(t testing.TB, n *node, seq Sequence, want uint64) {
	t.Helper()
	if got, err := n.NextID(ctx, seq); err != nil || got != want {
		t.Errorf("next is %d, %v; want %d", got, err, want)
	}
}

func raise(t testing.TB, n *node, seq Sequence, used uint64) {
	t.Helper()
	if err := n.Raise(ctx, seq, used); err != nil {
		t.Fatal(err)
	}
}

// Nobody gets a number that somebody else got, whatever the sizes, on several nodes at once.
func TestSequenceIsUnique(t *testing.T) {
	c := newCluster(t)
	nodes := []*node{c.node(t, Options{MinLease: 1, MaxLease: 4}), c.node(t, Options{MinLease: 3}),
		c.node(t, Options{})}
	seq := newSequence(t, nodes[0], 1)
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var wg sync.WaitGroup
	for i, n := range nodes {
		for g := range 3 {
			wg.Go(func() {
				for k := range 60 {
					size := uint64(1 + (k+g)%5)
					first, err := n.NextRange(ctx, seq, size)
					if err != nil {
						t.Errorf("node %d: %v", i, err)
						return
					}
					mu.Lock()
					for v := first; v < first+size; v++ {
						if seen[v] || v == 0 {
							t.Errorf("%d was handed out twice, or is zero", v)
						}
						seen[v] = true
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	if len(seen) != 3*3*60*3 {
		t.Errorf("%d numbers", len(seen))
	}
}

// One process hands out consecutive numbers, over the ends of its reservations too.
func TestSequenceIsDense(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{MinLease: 4, MaxLease: 16})
	seq := newSequence(t, a, 10)
	want := uint64(10)
	for i := range 100 {
		size := uint64(i%7 + 1)
		first, err := a.NextRange(ctx, seq, size)
		if err != nil || first != want {
			t.Fatalf("range %d begins at %d, %v; want %d", i, first, err, want)
		}
		want += size
	}
}

// Two processes that take turns: what one has left over does not run into what the other reserved behind it.
func TestSequenceTurns(t *testing.T) {
	c := newCluster(t)
	nodes := []*node{c.node(t, Options{MinLease: 4, MaxLease: 4}),
		c.node(t, Options{MinLease: 4, MaxLease: 4})}
	seq := newSequence(t, nodes[0], 1)
	seen := map[uint64]bool{}
	for i := range 40 {
		size := uint64(i%3 + 1)
		first, err := nodes[i%2].NextRange(ctx, seq, size)
		if err != nil {
			t.Fatal(err)
		}
		for v := first; v < first+size; v++ {
			if seen[v] {
				t.Fatalf("turn %d: %d was handed out twice", i, v)
			}
			seen[v] = true
		}
	}
}

func TestSequenceRestart(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	seq := newSequence(t, a, 1)
	next(t, a, seq, 1)
	next(t, a, seq, 2)
	// a crash: what was reserved is lost, nothing is handed out again
	b := c.node(t, Options{})
	got, err := b.NextID(ctx, seq)
	if err != nil || got <= 2 {
		t.Fatalf("after a crash: %d, %v", got, err)
	}
	// a clean stop: no gap
	if err := b.Close(ctx); err != nil {
		t.Fatal(err)
	}
	next(t, c.node(t, Options{}), seq, got+1)
	// a stop while others have reserved behind us gives nothing back, and hands out nothing twice
	d, e := c.node(t, Options{}), c.node(t, Options{})
	v, _ := d.NextID(ctx, seq)
	w, _ := e.NextID(ctx, seq)
	if err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		x, err := e.NextID(ctx, seq)
		if err != nil || x == v || x <= w {
			t.Fatalf("%d after %d, where another process had %d (%v)", x, w, v, err)
		}
		w = x
	}
}

func TestSequenceRaise(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{MinLease: 8, MaxLease: 8})
	seq := newSequence(t, a, 1)
	next(t, a, seq, 1)
	raise(t, a, seq, 1) // behind us
	next(t, a, seq, 2)
	raise(t, a, seq, 5) // within what is reserved
	next(t, a, seq, 6)
	raise(t, a, seq, 1000) // far ahead
	next(t, a, seq, 1001)
	raise(t, a, seq, 7)
	next(t, a, seq, 1002)
	b := c.node(t, Options{})
	raise(t, b, seq, 500) // below what the store has given out: nothing to do
	got, err := b.NextID(ctx, seq)
	if err != nil || got <= 1002 {
		t.Errorf("another process got %d, %v", got, err)
	}
	if p, err := b.PeekSequence(ctx, seq); err != nil || p != got+1 {
		t.Errorf("peek: %d, %v", p, err)
	}
	if p, err := c.node(t, Options{}).PeekSequence(ctx, Sequence{ID: 999, Start: 42}); err != nil || p != 42 {
		t.Errorf("peek at a fresh sequence: %d, %v", p, err)
	}
	// explicit ascending ids do not write to the store for each row
	versions := func() uint64 {
		tx := a.client.Begin(txn.TxnOptions{})
		defer tx.Rollback()
		v, err := readSequence(ctx, tx, seq)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	raise(t, a, seq, 5000)
	before := versions()
	for v := uint64(5001); v < 5008; v++ {
		raise(t, a, seq, v)
	}
	if after := versions(); after != before {
		t.Errorf("the store moved from %d to %d for ids that were reserved", before, after)
	}
}

// ALTER TABLE … AUTO_INCREMENT = n gives the table another sequence; the old one goes, and so
// it does with the table.
func TestSequenceReplaced(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "accounts")
	old := a.table(t, "bank", "accounts")
	next(t, a, old.AutoIncrement, 1)
	a.do(t, func(tx *txn.Txn) error {
		n := old.Clone()
		n.AutoIncrement = newSequence(t, a, 500)
		_, err := a.UpdateTable(ctx, tx, n)
		return err
	})
	cur := a.table(t, "bank", "accounts")
	next(t, a, cur.AutoIncrement, 500)
	cells := func(seq Sequence) bool {
		tx := a.client.Begin(txn.TxnOptions{})
		defer tx.Rollback()
		_, ok, err := tx.Get(ctx, sequenceCell(seq.ID))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if cells(old.AutoIncrement) || !cells(cur.AutoIncrement) {
		t.Error("the old sequence is still there, or the new one is not")
	}
	a.do(t, func(tx *txn.Txn) error { return a.DropTable(ctx, tx, "bank", "accounts") })
	if cells(cur.AutoIncrement) {
		t.Error("the sequence survived its table")
	}
}

func TestSequenceExhausted(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	seq := newSequence(t, a, 1)
	raise(t, a, seq, math.MaxUint64-3)
	next(t, a, seq, math.MaxUint64-2)
	next(t, a, seq, math.MaxUint64-1)
	if v, err := a.NextID(ctx, seq); !errors.Is(err, ErrExhausted) {
		t.Errorf("one more: %d, %v", v, err)
	}
	other := newSequence(t, a, 1)
	raise(t, a, other, math.MaxUint64)
	if v, err := a.NextRange(ctx, other, 1); !errors.Is(err, ErrExhausted) {
		t.Errorf("behind the last number: %d, %v", v, err)
	}
	if _, err := a.NextRange(ctx, Sequence{}, 1); err == nil {
		t.Error("the sequence 0 gave a number")
	}
}

func TestSequenceHonoursContext(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	seq := newSequence(t, a, 1)
	dead, cancel := context.WithCancel(ctx)
	cancel()
	if v, err := a.NextID(dead, seq); err == nil {
		t.Errorf("got %d from a cancelled context", v)
	}
	next(t, a, seq, 1)
}

func BenchmarkNextID(b *testing.B) {
	c := newCluster(b)
	a := c.node(b, Options{})
	seq := newSequence(b, a, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.NextID(ctx, seq); err != nil {
			b.Fatal(err)
		}
	}
}
