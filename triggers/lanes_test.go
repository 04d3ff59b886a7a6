package triggers

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv/kvtest"
	"moka/txn"
)

// elapse lets time go by; it runs in a bubble.
func elapse(d time.Duration) { time.Sleep(d) }

// TestSleepingObserversStarveNobody: runs of one owner's observers that never end held all runners, a minute
// at a time and for ever, and nobody else's observers ran. Nor does one observer hold up its owner's others.
func TestSleepingObserversStarveNobody(t *testing.T) {
	for _, runners := range []int{2, 16} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, kvtest.Options{})
			asleep := func(ctx context.Context, _ *txn.Txn, _ Event) error {
				<-ctx.Done()
				return ctx.Err()
			}
			ran := func(row string) func(context.Context, *txn.Txn, Event) error {
				return func(ctx context.Context, tx *txn.Txn, _ Event) error {
					return count(ctx, tx, row, 1)
				}
			}
			x := w.worker("w1", Options{Runners: runners},
				Observer{ID: 1, Owner: "greedy", Attempts: 1_000_000, Backoff: 1, Run: asleep},
				Observer{ID: 2, Owner: "greedy", Attempts: 1_000_000, Backoff: 1, Run: asleep},
				Observer{ID: 3, Owner: "other", Run: ran("others")}, Observer{ID: 4, Owner: "greedy",
					Run: ran("own")})
			for i := range 40 {
				w.put(fmt.Sprint("a", i), "1", 1)
			}
			if runners > 2 {
				w.put("own change", "1", 4)
				w.until("the owner's other observer has run", time.Second,
					func() bool { return w.get("own") == "1" })
			}
			for i := range 40 {
				w.put(fmt.Sprint("b", i), "1", 2)
			}
			for i := range 20 {
				elapse(7 * time.Second) // a second run of those that sleep, and a third
				w.put(fmt.Sprint("c", i), "1", 3)
				w.until("another's observer has run", time.Second,
					func() bool { return w.get("others") == fmt.Sprint(i+1) })
			}
			x.Unregister(1)
			x.Unregister(2)
			w.until("the runs are ended", time.Second, func() bool {
				x.lanes.mu.Lock()
				defer x.lanes.mu.Unlock()
				return x.lanes.free == runners && len(x.lanes.waiting) == 0
			})
			for i := range 2 {
				if err := Drop(t.Context(), w.mem, ObserverID(1+i)); err != nil {
					t.Fatal(err)
				}
			}
			w.atRest()
		})
	}
}

// TestUnregisterEndsRuns: an observer that is dropped or disabled held its runner for the rest of its
// minute.
func TestUnregisterEndsRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var begun, ended atomic.Int64
		run := func(ctx context.Context, _ *txn.Txn, _ Event) error {
			begun.Add(1)
			<-ctx.Done()
			ended.Add(1)
			return ctx.Err()
		}
		x := w.worker("w1", Options{}, Observer{ID: 1, Run: run})
		w.put("a", "1", 1)
		w.until("it runs", time.Second, func() bool { return begun.Load() == 1 })
		x.Unregister(1)
		w.until("it has ended", time.Second, func() bool { return ended.Load() == 1 })
		x.Register(Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, _ Event) error {
			return count(ctx, tx, "runs", 1)
		}})
		w.drained(time.Minute)
		if m := x.Metrics(); m.Failures != 0 || w.get("runs") != "1" {
			t.Errorf("%s runs, metrics %+v", w.get("runs"), m)
		}
		w.atRest()
	})
}

// TestLongRunsThatConflictRest: a long run that lost its race each time was run again without a pause, for
// ever.
func TestLongRunsThatConflictRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var runs, running atomic.Int64
		w.worker("w1", Options{}, Observer{ID: 1, Backoff: 1,
			Run: func(ctx context.Context, tx *txn.Txn, _ Event) error {
				began := time.Now()
				defer func() { running.Add(int64(time.Since(began))) }()
				if runs.Add(1) > 20 {
					return count(ctx, tx, "done", 1)
				}
				elapse(3 * time.Second)
				return txn.ErrConflict
			}})
		began := time.Now()
		w.put("a", "1", 1)
		w.until("it is done", time.Hour, func() bool { return w.get("done") == "1" })
		if all := time.Since(began); running.Load() > int64(all)*6/10 {
			t.Errorf("it ran for %v of %v", time.Duration(running.Load()), all)
		}
		w.atRest()
	})
}
