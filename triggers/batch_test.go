package triggers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// backlogOf starts a worker whose observer 1 has shown that its runs are short, and then has a backlog of
// rows. The observer keeps a sum in one row, notes the start_ts of each run, and fails for rows that begin
// with bad.
func backlogOf(t *testing.T, w *world, rows func(i int) string, n int) (transactions map[kv.Timestamp]int,
	x *Worker) {
	t.Helper()
	var mu sync.Mutex
	transactions = map[kv.Timestamp]int{}
	x = w.idleWorker("w", Options{Runners: 4}, Observer{ID: 1, Attempts: 2,
		Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			if strings.HasPrefix(string(e.Column.Row.Row()), "bad") {
				return errors.New("a bad row")
			}
			start, err := tx.StartTS(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			transactions[start]++
			mu.Unlock()
			return count(ctx, tx, "sum", 1)
		}})
	x.learnPace(1, time.Millisecond)
	for i := range n {
		w.put(rows(i), "1", 1)
	}
	x.Start()
	return transactions, x
}

// TestBacklogRunsInBatches: runs of a backlog share transactions, each has its effect once, and those that
// write the same row do not lose to each other.
func TestBacklogRunsInBatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 1000
		w := newWorld(t, kvtest.Options{})
		transactions, x := backlogOf(t, w, func(i int) string { return fmt.Sprintf("row%04d", i) }, n)
		w.drained(time.Minute)
		if got := w.get("sum"); got != fmt.Sprint(n) {
			t.Errorf("the sum is %s, want %d", got, n)
		}
		m := x.Metrics()
		if m.Runs != n || m.Failures != 0 {
			t.Errorf("metrics %+v, want %d runs", m, n)
		}
		if len(transactions) > n/8 {
			t.Errorf("%d transactions for %d runs", len(transactions), n)
		}
		w.atRest()
	})
}

// TestBadRowIsAlone: what fails in a batch is found and parked, and takes no other run with it.
func TestBadRowIsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 300
		w := newWorld(t, kvtest.Options{})
		_, x := backlogOf(t, w, func(i int) string {
			if i%100 == 50 {
				return fmt.Sprintf("bad%04d", i)
			}
			return fmt.Sprintf("row%04d", i)
		}, n)
		w.until("all but the bad rows are acknowledged", time.Minute, func() bool {
			waiting, parked := w.backlog()
			return waiting == 0 && parked == 3
		})
		if got := w.get("sum"); got != "297" {
			t.Errorf("the sum is %s, want 297", got)
		}
		if m := x.Metrics(); m.Runs != 297 || m.Parked != 3 || m.Failures != 6 {
			t.Errorf("metrics %+v, want 297 runs, and 3 parked behind 2 attempts each", m)
		}
	})
}

// TestLongRunsAreAlone: an observer whose runs are long is not put into batches, and no more is fetched for
// it than there are runners: other workers can have the rest.
func TestLongRunsAreAlone(t *testing.T) {
	w := newWorld(t, kvtest.Options{})
	x := w.idleWorker("w", Options{}, Observer{ID: 1}, Observer{ID: 2})
	x.learnPace(1, time.Millisecond)
	x.learnPace(2, time.Second)
	var ds []delivery
	for i := range 100 {
		for id := ObserverID(1); id <= 2; id++ {
			ds = append(ds, delivery{Observer: id, Column: col(fmt.Sprint(i)), CommitTS: 9, OldestTS: 9,
				Depth: uint32(i % 2)})
		}
	}
	batches, surplus := x.batches(ds, 4)
	runs := map[ObserverID]int{}
	for _, b := range batches {
		runs[b[0].Observer] += len(b)
		if b[0].Observer == 2 && len(b) > 1 {
			t.Errorf("a batch of %d long runs", len(b))
		}
		for _, d := range b {
			if d.Observer != b[0].Observer || d.Depth != b[0].Depth {
				t.Errorf("a batch of several observers or depths: %+v", b)
			}
		}
	}
	if runs[1] != 100 || runs[2] != 8 || len(surplus) != 92 {
		t.Errorf("%v runs and %d given back, want all of observer 1, and 4 for each depth of observer 2",
			runs, len(surplus))
	}
	if most := x.credits([]ObserverID{2}, 4); most != 4 {
		t.Errorf("%d are fetched for long runs on 4 runners", most)
	}
}
