package latch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"moka/kv"
	"moka/kv/latch"
)

func rows(names ...string) []kv.RowKey {
	var rs []kv.RowKey
	for _, n := range names {
		rs = append(rs, kv.RowKey(n))
	}
	return rs
}

// Commands that share a row never run at once, whatever order they name their rows in, and all of them end.
func TestExclusion(t *testing.T) {
	m := latch.New()
	names := []string{"a", "b", "c", "d", "e"}
	inside := map[string]*int{}
	for _, n := range names {
		inside[n] = new(int)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 0))
			var set latch.Set
			for range 2000 {
				p := r.Perm(len(names))[:1+r.IntN(3)]
				var mine []string
				for _, i := range p {
					mine = append(mine, names[i], names[i]) // twice: a set has each row once
				}
				if err := m.Acquire(context.Background(), &set, rows(mine...)); err != nil {
					t.Error(err)
				}
				for _, i := range p {
					// Without the latch this is a race, and the count would show it.
					if *inside[names[i]]++; *inside[names[i]] != 1 {
						t.Errorf("%d commands are at row %s", *inside[names[i]], names[i])
					}
				}
				for _, i := range p {
					*inside[names[i]]--
				}
				m.Release(&set)
			}
		})
	}
	wg.Wait()
	if m.Held() != 0 {
		t.Fatalf("%d latches are left", m.Held())
	}
}

// Waiters are served in the order in which they came; one that gives up steps out of the line.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := latch.New()
		ctx := context.Background()
		var holder latch.Set
		if err := m.Acquire(ctx, &holder, rows("a")); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int
		gone, giveUp := context.WithCancel(ctx)
		for i := range 10 {
			c := ctx
			if i == 4 {
				c = gone
			}
			go func() {
				var set latch.Set
				err := m.Acquire(c, &set, rows("a", "b"))
				if i == 4 {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("waiter 4: %v", err)
					}
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				m.Release(&set)
			}()
			synctest.Wait() // it stands in line
		}
		giveUp()
		synctest.Wait()
		if len(order) != 0 {
			t.Fatalf("%v got past the holder", order)
		}
		m.Release(&holder)
		synctest.Wait()
		want := []int{0, 1, 2, 3, 5, 6, 7, 8, 9}
		if len(order) != len(want) {
			t.Fatalf("served %v", order)
		}
		// Whichever of the two rows is taken first, the line at it is the same.
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("served %v, want %v", order, want)
			}
		}
		if m.Held() != 0 {
			t.Fatalf("%d latches are left", m.Held())
		}
	})
}

// Wait waits for the holder, not for the line behind it; WaitSpan for the holders within the span.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := latch.New()
		ctx := context.Background()
		var first, second latch.Set
		if err := m.Acquire(ctx, &first, rows("b")); err != nil {
			t.Fatal(err)
		}
		got := make(chan struct{})
		go func() {
			if err := m.Acquire(ctx, &second, rows("b")); err != nil {
				t.Error(err)
			}
			close(got)
		}()
		synctest.Wait()
		var returned atomic.Int32
		for _, wait := range []func() error{
			func() error { return m.Wait(ctx, kv.RowKey("b")) },
			func() error { return m.WaitSpan(ctx, kv.Span{Start: kv.RowKey("a"), End: kv.RowKey("c")}) },
			func() error { return m.WaitSpan(ctx, kv.Span{}) },
		} {
			go func() {
				if err := wait(); err != nil {
					t.Error(err)
				}
				returned.Add(1)
			}()
			synctest.Wait()
		}
		if returned.Load() != 0 {
			t.Fatal("did not wait for the holder")
		}
		for _, free := range []error{
			m.Wait(ctx, kv.RowKey("c")),
			m.WaitSpan(ctx, kv.Span{Start: kv.RowKey("c")}),
			m.WaitSpan(ctx, kv.Span{End: kv.RowKey("b")}),
		} {
			if free != nil {
				t.Fatal(free)
			}
		}
		m.Release(&first)
		synctest.Wait()
		<-got
		if returned.Load() != 3 {
			t.Fatalf("%d of 3 returned when the holder had gone; the next one holds it now", returned.Load())
		}
		m.Release(&second)
	})
}

func BenchmarkAcquire(b *testing.B) {
	m := latch.New()
	var set latch.Set
	one := rows("some row of a table")
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Acquire(context.Background(), &set, one); err != nil {
			b.Fatal(err)
		}
		m.Release(&set)
	}
}

// A set knows which rows it holds, and none once they are released.
func TestHolds(t *testing.T) {
	m := latch.New()
	var set latch.Set
	if err := m.Acquire(t.Context(), &set, rows("a", "b", "a", "c")); err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]bool{"a": true, "b": true, "c": true, "d": false, "": false} {
		if set.Holds(kv.RowKey(row)) != want {
			t.Errorf("row %q: %v, want %v", row, !want, want)
		}
	}
	m.Release(&set)
	if set.Holds(kv.RowKey("a")) {
		t.Error("a released row is held")
	}
}
