package triggers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// bubble runs a test in fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// recorder is an observer that counts its runs in the store, by row, and remembers the events of all
// attempts.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) observer(id ObserverID) Observer {
	return Observer{ID: id, Name: fmt.Sprint("observer", id),
		Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			r.mu.Lock()
			r.events = append(r.events, e)
			r.mu.Unlock()
			return count(ctx, tx, "runs/"+string(e.Column.Row.Row()), 1)
		}}
}

func (r *recorder) all() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func TestDelivered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var r recorder
		x := w.worker("w1", Options{}, r.observer(1))
		began := time.Now()
		ts := w.put("a", "1", 1)
		w.drained(time.Second)
		if took := time.Since(began); took > 10*time.Millisecond {
			t.Errorf("delivered after %v; the push did not work", took)
		}
		es := r.all()
		if len(es) != 1 || es[0].CommitTS != ts || es[0].Observer != 1 ||
			string(es[0].Column.Row.Row()) != "a" {
			t.Errorf("events %+v, want one of commit %v", es, ts)
		}
		if got := w.get("runs/a"); got != "1" {
			t.Errorf("%s runs committed, want 1", got)
		}
		w.atRest()
		if m := x.Metrics(); m.Runs != 1 || m.Failures != 0 || m.Swept != 0 {
			t.Errorf("metrics %+v", m)
		}
	})
}

// T1. Two workers hold the same delivery and have both read that nothing is acknowledged yet.
func TestAtMostOneCommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		ts := w.put("a", "1", 1)
		var both sync.WaitGroup
		both.Add(2)
		observer := func() Observer {
			var once sync.Once
			return Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				once.Do(func() { both.Done(); both.Wait() })
				return count(ctx, tx, "runs", 1)
			}}
		}
		x, y := w.idleWorker("x", Options{}, observer()), w.idleWorker("y", Options{}, observer())
		d := delivery{Observer: 1, Column: col("a"), CommitTS: ts, OldestTS: ts}
		var wg sync.WaitGroup
		for _, worker := range []*Worker{x, y} {
			wg.Go(func() {
				if ack := worker.work(t.Context(), d)[0]; ack < ts {
					t.Errorf("acknowledged up to %v, want at least %v", ack, ts)
				}
			})
		}
		wg.Wait()
		mx, my := x.Metrics(), y.Metrics()
		if mx.Runs+my.Runs != 1 || mx.Conflicts+my.Conflicts != 1 || mx.Collapsed+my.Collapsed != 1 {
			t.Errorf("metrics %+v and %+v, want one run, one conflict, one that saw the other's "+
				"acknowledgement", mx, my)
		}
		if got := w.get("runs"); got != "1" {
			t.Errorf("%s runs committed, want 1", got)
		}
		w.atRest()
	})
}

// A delivery that comes twice, one after the other, runs once.
func TestDuplicateDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		ts := w.put("a", "1", 1)
		var r recorder
		x := w.idleWorker("x", Options{}, r.observer(1))
		d := delivery{Observer: 1, Column: col("a"), CommitTS: ts, OldestTS: ts}
		x.work(t.Context(), d)
		x.work(t.Context(), d)
		if n := len(r.all()); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
}

// T2. The writer dies between its commit and the commit of its secondaries: nobody ever reads them, and
// still the change is observed. The lock is the durable intent; the sweep of orphaned locks turns it
// into the notification.
func TestNothingLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{Shards: 2, Splits: []kv.RowKey{col("m").Row}})
		var r recorder
		w.worker("w1", Options{}, r.observer(1))
		writer := w.newClient(kvtest.NewFaulty(w.mem,
			kvtest.Faults{Hook: func(_ kv.ShardID, _ kv.CommandID, req kv.Message) kvtest.Fault {
				if fmt.Sprintf("%T", req) == "*txn.resolveRequest" {
					return kvtest.DropRequest // it is dead by then
				}
				return kvtest.Pass
			}}))
		tx := writer.Begin(txn.TxnOptions{})
		tx.Put(col("a"), []byte("1"), txn.WriteOptions{})
		tx.Put(col("b"), []byte("1"), txn.WriteOptions{}) // so that the primary is in the first shard
		tx.Put(col("z"), []byte("1"), txn.WriteOptions{Observers: []ObserverID{1}})
		ts, err := tx.Commit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n, _ := w.backlog(); n != 0 || len(r.all()) != 0 {
			t.Fatalf("%d notifications and %d runs before the lock was resolved; the test does not test", n,
				len(r.all()))
		}
		time.Sleep(time.Minute)
		if n, err := w.client.ResolveOrphans(t.Context(), time.Second); n == 0 || err != nil {
			t.Fatalf("%d orphans resolved, %v", n, err)
		}
		w.until("the run", time.Second, func() bool { return w.get("runs/z") == "1" })
		if es := r.all(); len(es) != 1 || es[0].CommitTS != ts {
			t.Errorf("events %+v, want one of commit %v", es, ts)
		}
		w.atRest()
	})
}

// A transaction that is rolled back notifies nobody.
func TestRolledBackNotifiesNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{Shards: 2, Splits: []kv.RowKey{col("m").Row}})
		var r recorder
		w.worker("w1", Options{}, r.observer(1))
		tx := w.client.Begin(txn.TxnOptions{})
		if _, _, err := tx.Get(t.Context(), col("a")); err != nil {
			t.Fatal(err)
		}
		w.put("a", "0") // first committer
		tx.Put(col("a"), []byte("1"), txn.WriteOptions{Observers: []ObserverID{1}})
		tx.Put(col("z"), []byte("1"), txn.WriteOptions{Observers: []ObserverID{1}})
		if _, err := tx.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Fatalf("got %v, want a conflict", err)
		}
		time.Sleep(time.Minute)
		if n := len(r.all()); n != 0 {
			t.Errorf("%d runs for a change that did not happen", n)
		}
		w.atRest()
	})
}

// T3. A change that commits while a run for an older one is under way is not cleared with it.
func TestClearLeavesNewer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		first := w.put("a", "1", 1)
		var second atomic.Uint64
		var events []Event
		w.worker("w1", Options{}, Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			events = append(events, e)
			if second.Load() == 0 {
				second.Store(uint64(w.put("a", "2", 1)))
			}
			return count(ctx, tx, "runs", 1)
		}})
		w.drained(time.Second)
		if len(events) != 2 || events[0].CommitTS != first ||
			events[1].CommitTS != kv.Timestamp(second.Load()) {
			t.Fatalf("events %+v, want one of %v and one of %v", events, first, kv.Timestamp(second.Load()))
		}
		if p := events[1].PreviousTS; p < first || p >= events[1].CommitTS {
			t.Errorf("the second run compares with %v, want the first run's snapshot", p)
		}
		v, ok, err := events[1].Previous(t.Context())
		if string(v) != "1" || !ok || err != nil {
			t.Errorf("the cell before was %q, %v, %v; want what the first run saw", v, ok, err)
		}
		if got := w.get("runs"); got != "2" {
			t.Errorf("%s runs committed, want 2", got)
		}
		w.atRest()
	})
}

// T4, first half: the push is lost, the backstop finds the entry.
func TestBackstop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{Coprocessors: []kv.Coprocessor{deaf{NewCoprocessor(nil)}}, Shards: 3,
			Splits: []kv.RowKey{col("h").Row, col("p").Row}})
		var r recorder
		x := w.worker("w1", Options{}, r.observer(1))
		y := w.worker("w2", Options{}, r.observer(1))
		synctest.Wait()
		const rows = 30
		for i := range rows {
			w.put(fmt.Sprintf("%c%d", 'a'+i%26, i), "1", 1)
		}
		if n := len(r.all()); n != 0 {
			t.Fatalf("%d runs without a push; the test does not test", n)
		}
		w.drained(time.Minute)
		if n := len(r.all()); n != rows {
			t.Errorf("%d runs, want %d", n, rows)
		}
		if n := x.Metrics().Swept + y.Metrics().Swept; n != rows {
			t.Errorf("the backstop found %d, want %d", n, rows)
		}
	})
}

// T4, second half: a worker takes a notification and is never heard of again.
func TestLostLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.put("a", "1", 1)
		m, err := w.mem.Call(t.Context(), 1, nil, commandFetch,
			&fetchRequest{Worker: "dead", Observers: []ObserverID{1}, Credits: 1, LeaseMillis: 10_000})
		if err != nil || len(m.(*fetchResponse).Deliveries) != 1 {
			t.Fatalf("%+v, %v", m, err)
		}
		taken := time.Now()
		var r recorder
		w.worker("w1", Options{SweepEvery: time.Hour}, r.observer(1))
		w.drained(time.Minute)
		if took := time.Since(taken); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("delivered again after %v, want when the lease of 10 s ends", took)
		}
		w.atRest()
	})
}

// TestLongRunsAreNotDoubled: a run that is longer than its lease was begun again each time that the lease
// ended, beside itself.
func TestLongRunsAreNotDoubled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var runs atomic.Int32
		w.worker("w1", Options{Lease: 10 * time.Second}, Observer{ID: 1, Timeout: time.Hour,
			Run: func(ctx context.Context, tx *txn.Txn, _ Event) error {
				if runs.Add(1) == 1 && !pause(ctx, 35*time.Second) {
					return ctx.Err()
				}
				return nil
			}})
		for i := range 3 {
			w.put("a", fmt.Sprint(i), 1)
			elapse(8 * time.Second) // into the run: what changes meanwhile needs another one
		}
		w.drained(time.Minute)
		if n := runs.Load(); n != 2 {
			t.Errorf("%d runs, want a long one for the first change, and one for the others", n)
		}
		began := time.Now()
		w.put("a", "last", 1)
		w.drained(time.Second)
		if took, n := time.Since(began), runs.Load(); took > 100*time.Millisecond || n != 3 {
			t.Errorf("the next change is acknowledged after %v, by run %d", took, n)
		}
		w.atRest()
	})
}

// A worker that closes gives back what it has not finished.
func TestCloseGivesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		running := make(chan struct{})
		x := w.worker("w1", Options{Runners: 1},
			Observer{ID: 1, Run: func(ctx context.Context, _ *txn.Txn, _ Event) error {
				close(running)
				<-ctx.Done()
				return ctx.Err()
			}})
		w.put("a", "1", 1)
		w.put("b", "1", 1)
		<-running
		x.Close()
		began := time.Now()
		var r recorder
		w.worker("w2", Options{SweepEvery: time.Hour}, r.observer(1))
		w.drained(time.Minute)
		if took := time.Since(began); took > time.Second {
			t.Errorf("delivered to the next worker after %v", took)
		}
		if m := x.Metrics(); m.Failures != 0 {
			t.Errorf("a run that was cancelled by Close counts as failed: %+v", m)
		}
	})
}

// Several changes become one run, which compares with what was before the first; and they do not pile up.
func TestCollapse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.put("a", "before")
		var ts kv.Timestamp
		const changes = 100
		for i := range changes {
			ts = w.put("a", fmt.Sprint(i), 1)
		}
		if n := strings.Count(w.cells(), "notify"); n > 2 {
			t.Errorf("%d notifications of one cell are stored, want the oldest and the newest", n)
		}
		var r recorder
		w.worker("w1", Options{}, r.observer(1))
		w.drained(time.Second)
		es := r.all()
		if len(es) != 1 || es[0].CommitTS != ts {
			t.Fatalf("events %+v, want one of commit %v", es, ts)
		}
		if v, ok, err := es[0].Previous(t.Context()); string(v) != "before" || !ok || err != nil {
			t.Errorf("the cell before was %q, %v, %v", v, ok, err)
		}
		w.atRest()
	})
}

func TestBackoffAndPark(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{Shards: 2, Splits: []kv.RowKey{col("m").Row}})
		var broken atomic.Bool
		broken.Store(true)
		var at []time.Time
		x := w.worker("w1", Options{}, Observer{ID: 1, Attempts: 4, Backoff: 100 * time.Millisecond,
			Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				at = append(at, time.Now())
				if e.Attempt != len(at)-1 && broken.Load() && len(at) <= 4 {
					t.Errorf("run %d is told of %d attempts", len(at), e.Attempt)
				}
				if err := count(ctx, tx, "runs", 1); err != nil || !broken.Load() {
					return err
				}
				return errors.New("no such table")
			}})
		w.put("a", "1", 1)
		w.until("parked", time.Minute, func() bool { _, n := w.backlog(); return n == 1 })
		if len(at) != 4 {
			t.Fatalf("%d attempts, want 4", len(at))
		}
		for i, most := range []time.Duration{150, 300, 600} {
			most *= time.Millisecond
			if gap := at[i+1].Sub(at[i]); gap < most/3 || gap > most+10*time.Millisecond {
				t.Errorf("wait %d is %v, want %v to %v", i, gap, most/3, most)
			}
		}
		fs, err := ListFailed(t.Context(), w.mem, 0)
		if err != nil || len(fs) != 1 || !fs[0].Parked || fs[0].Attempts != 4 ||
			said(fs[0]) != "no such table" || string(fs[0].Column.Row.Row()) != "a" {
			t.Errorf("failed: %+v, %v", fs, err)
		}

		// Parked stays parked: over time, over a restart, over a move of its tablet.
		time.Sleep(time.Hour)
		w.mem.Restart(1)
		w.mem.Move(col("a").Row, 2)
		time.Sleep(time.Hour)
		if len(at) != 4 {
			t.Fatalf("a parked notification was delivered")
		}

		// A newer change is worth one attempt.
		w.put("a", "2", 1)
		time.Sleep(time.Hour)
		if len(at) != 5 {
			t.Fatalf("%d attempts after a newer change, want 5", len(at))
		}
		if waiting, parked := w.backlog(); waiting != 0 || parked != 1 {
			t.Errorf("%d waiting, %d parked", waiting, parked)
		}

		broken.Store(false)
		if n, err := RetryParked(t.Context(), w.mem, 1, nil); n != 1 || err != nil {
			t.Fatalf("retried %d, %v", n, err)
		}
		w.until("retried", time.Second, func() bool { a, b := w.backlog(); return a+b == 0 })
		if got := w.get("runs"); got != "1" {
			t.Errorf("%s runs committed, want 1", got)
		}
		w.atRest()
		if m := x.Metrics(); m.Failures != 5 || m.Parked != 2 || m.Runs != 1 {
			t.Errorf("metrics %+v", m)
		}
	})
}

// An observer that fails for one row goes on with the others.
func TestFailureHoldsUpNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.worker("w1", Options{Runners: 2},
			Observer{ID: 1, Attempts: 3, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				if strings.HasPrefix(string(e.Column.Row.Row()), "bad") {
					panic("a bug in the body")
				}
				return count(ctx, tx, "runs", 1)
			}})
		for i := range 20 {
			w.put(fmt.Sprint("bad", i), "1", 1)
			w.put(fmt.Sprint("good", i), "1", 1)
		}
		w.until("done", time.Minute, func() bool { a, b := w.backlog(); return a == 0 && b == 20 })
		if got := w.get("runs"); got != "20" {
			t.Errorf("%s runs committed, want 20", got)
		}
		fs, err := ListFailed(t.Context(), w.mem, 1)
		if err != nil || len(fs) != 20 || !strings.Contains(said(fs[0]), "panicked: a bug in the body") {
			t.Errorf("%d failed, %v", len(fs), err)
		}
		if err := Drop(t.Context(), w.mem, 1); err != nil {
			t.Fatal(err)
		}
		w.atRest()
	})
}

// While the store is away nothing is counted as the observer's failure.
func TestOutageParksNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var away atomic.Bool
		var runs atomic.Int64
		x := w.worker("w1", Options{},
			Observer{ID: 1, Attempts: 2, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				if runs.Add(1); away.Load() {
					return fmt.Errorf("reading: %w",
						kv.Errorf(kv.CodeUnavailable, "test", "the node is away"))
				}
				return count(ctx, tx, "runs", 1)
			}})
		away.Store(true)
		w.put("a", "1", 1)
		time.Sleep(time.Hour)
		if n := runs.Load(); n < 100 {
			t.Errorf("%d attempts in an hour", n)
		}
		away.Store(false)
		w.drained(time.Minute)
		w.atRest()
		if m := x.Metrics(); m.Parked != 0 || m.Failures != 0 || m.Runs != 1 {
			t.Errorf("metrics %+v", m)
		}
	})
}

func TestTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.worker("w1", Options{}, Observer{ID: 1, Attempts: 1, Timeout: time.Second,
			Run: func(ctx context.Context, _ *txn.Txn, _ Event) error {
				<-ctx.Done()
				return ctx.Err()
			}})
		w.put("a", "1", 1)
		w.until("parked", 2*time.Second, func() bool { _, n := w.backlog(); return n == 1 })
		if fs, err := ListFailed(t.Context(), w.mem, 1); err != nil || len(fs) != 1 ||
			!strings.Contains(said(fs[0]), "ran for more than 1s") {
			t.Errorf("%+v, %v", fs, err)
		}
	})
}

func TestSkipAcknowledges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.worker("w1", Options{}, Observer{ID: 1, Run: func(_ context.Context, tx *txn.Txn, _ Event) error {
			tx.Put(col("written"), []byte("1"), txn.WriteOptions{})
			return ErrSkip
		}})
		w.put("a", "1", 1)
		w.drained(time.Second)
		if got := w.get("written"); got != "<none>" {
			t.Errorf("what a skipped run wrote is there: %s", got)
		}
		if c := w.cells(); !strings.Contains(c, "ack    1 a") {
			t.Errorf("no acknowledgement among\n%s", c)
		}
		w.atRest()
	})
}

// Notifications follow their tablet, queued, leased or waiting; nobody loses them and nobody runs twice.
func TestTabletsMoveMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{Shards: 3})
		var failed sync.Map
		w.worker("w1", Options{Runners: 2},
			Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				time.Sleep(3 * time.Millisecond)
				row := string(e.Column.Row.Row())
				if _, again := failed.LoadOrStore(row, true); !again && len(row)%2 == 0 {
					return errors.New("the first attempt fails")
				}
				return count(ctx, tx, "runs/"+row, 1)
			}})
		const rows = 60
		for i := range rows {
			w.put(fmt.Sprint("row", i), "1", 1)
			switch i % 6 {
			case 1:
				w.mem.Split(col(fmt.Sprint("row", i)).Row)
			case 3:
				w.mem.Move(col(fmt.Sprint("row", i-1)).Row, kv.ShardID(1+i%3))
			}
			time.Sleep(time.Millisecond)
		}
		w.drained(time.Minute)
		for i := range rows {
			if got := w.get(fmt.Sprint("runs/row", i)); got != "1" {
				t.Errorf("%s runs for row %d", got, i)
			}
		}
		w.atRest()
	})
}

// More than a queue holds: the rest is found when it runs dry, also behind a stretch of parked ones.
func TestOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const bound, parked, rest = 50, 170, 130
		w := newWorld(t, kvtest.Options{
			Coprocessors: []kv.Coprocessor{&coprocessor{now: time.Now, bound: bound}}})
		tx := w.client.Begin(txn.TxnOptions{})
		for i := range parked + rest {
			tx.Put(col(fmt.Sprintf("row%06d", i)), []byte("1"), txn.WriteOptions{Observers: []ObserverID{1}})
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		x := w.worker("w1", Options{SweepEvery: 1000 * time.Hour},
			Observer{ID: 1, Attempts: 3, Run: func(_ context.Context, _ *txn.Txn, e Event) error {
				if string(e.Column.Row.Row()) < fmt.Sprintf("row%06d", parked) {
					return errors.New("no")
				}
				return nil
			}})
		w.until("done", time.Hour, func() bool { a, b := w.backlog(); return a == 0 && b == parked })
		if m := x.Metrics(); m.Runs != rest || m.Failures != 3*parked {
			t.Errorf("%d runs have committed and %d failed, want %d and %d", m.Runs, m.Failures, rest,
				3*parked)
		}
		// All that was in mind of them is gone, and the new one is behind a stretch of parked ones.
		w.mem.Restart(1)
		w.put("zzz", "1", 1)
		w.drained(time.Minute)
	})
}
