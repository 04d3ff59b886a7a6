package gc

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/mem"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

func TestReportBytes(t *testing.T) {
	r := Report{Oldest: 0x0102030405060708, Open: 300, Name: "127.0.0.1:3306", Note: "connection 7"}
	const want = "01" + "0102030405060708" + "ac02" + "0e3132372e302e302e313a33333036" + "0c636f6e6e656374696f6e2037"
	b := r.encode()
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Session = 42
	if got, err := decodeReport(reports+"42", b); err != nil || got != r {
		t.Errorf("%+v, %v", got, err)
	}
	long := Report{Name: strings.Repeat("x", 1000)}
	if got, err := decodeReport(reports+"1", long.encode()); err != nil || len(got.Name) != maxText {
		t.Errorf("%d bytes, %v", len(got.Name), err)
	}
}

func FuzzReport(f *testing.F) {
	f.Add("gc/snapshots/1", Report{Oldest: 9, Open: 1, Name: "a", Note: "b"}.encode())
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		if r, err := decodeReport(key, b); err == nil && len(r.Name) <= maxText && len(r.Note) <= maxText {
			again, err := decodeReport(key, r.encode())
			if err != nil || again != r {
				t.Errorf("%+v, then %+v, %v", r, again, err)
			}
		}
	})
}

// world is a store, a coordination service and an oracle's safe point in fake time.
type world struct {
	t     *testing.T
	svc   coord.Service
	store *kvtest.Mem
	clock *txntest.Clock

	mu        sync.Mutex
	safePoint kv.Timestamp
	waiting   kv.Timestamp
}

func bubble(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		svc := mem.New(mem.Options{})
		w := &world{t: t, svc: svc, clock: &txntest.Clock{}, store: kvtest.NewMem(kvtest.Options{
			Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
		})}
		defer w.store.Close()
		defer svc.Close()
		f(t, w)
	})
}

// process is a SQL node, or a node with storage if it collects.
type process struct {
	*txn.Client
	session   coord.Session
	reporter  *Reporter
	collector *Collector
	stop      func()
}

func (w *world) process(name string, collects bool) *process {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	session, err := w.svc.NewSession(ctx, 10*time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := txn.NewClient(w.store, w.clock, txn.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{Client: c, session: session, reporter: NewReporter(w.svc, session, c, name, time.Minute, nil)}
	if err := p.reporter.Report(ctx); err != nil {
		w.t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = coord.KeepAlive(ctx, session) })
	wg.Go(func() { p.reporter.Run(ctx) })
	if collects {
		p.collector, err = NewCollector(w.svc, session, c, w.clock, Options{
			Retention: time.Minute, MaxHold: time.Hour, Raise: w.raise, Waiting: func(context.Context) (kv.Timestamp, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.waiting, nil
			},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		wg.Go(func() { p.collector.Run(ctx) })
	}
	p.stop = func() {
		cancel()
		wg.Wait()
		_ = c.Close()
		_ = session.Close(context.Background())
	}
	return p
}

func (w *world) raise(_ context.Context, ts kv.Timestamp) (kv.Timestamp, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.safePoint = max(w.safePoint, ts)
	return w.safePoint, nil
}

func (w *world) age() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.safePoint.Time())
}

func (w *world) within(what string, least, most time.Duration) {
	w.t.Helper()
	if a := w.age(); a < least || a > most {
		w.t.Errorf("%s: the safe point is %v old, want %v to %v", what, a, least, most)
	}
}

// TestSafePoint follows the retention, waits for the oldest snapshot of any process and for observers, though not for ever, and is
// raised by one process at a time.
func TestSafePoint(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		first, second, node := w.process("first", true), w.process("second", true), w.process("node", false)
		defer second.stop()
		time.Sleep(10 * time.Minute)
		w.within("nobody reads", time.Minute, 90*time.Second)
		if n := first.collector.Metrics().Leading + second.collector.Metrics().Leading; n != 1 {
			t.Errorf("%d processes collect", n)
		}

		old := node.Begin(txn.TxnOptions{Connection: 7})
		at, err := old.StartTS(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		w.within("a transaction is open", 30*time.Minute, 30*time.Minute+10*time.Second)
		m := first.collector.Metrics()
		if second.collector.Metrics().Leading == 1 {
			m = second.collector.Metrics()
		}
		if !strings.Contains(m.HeldBy, "node") || !strings.Contains(m.HeldBy, "connection 7") || m.Held < 28*time.Minute {
			t.Errorf("held by %q for %v", m.HeldBy, m.Held)
		}
		if _, _, err := old.Get(t.Context(), txntest.Column("a")); err != nil {
			t.Errorf("its reads: %v", err)
		}
		time.Sleep(45 * time.Minute)
		w.within("for too long", time.Hour, time.Hour+time.Minute)
		if _, _, err := old.Get(t.Context(), txntest.Column("a")); !errors.Is(err, txn.ErrSnapshotTooOld) {
			t.Errorf("reads at %v: %v", at, err)
		}
		old.Rollback()
		time.Sleep(2 * time.Minute)
		w.within("it has ended", time.Minute, 90*time.Second)

		// A process that dies takes its word along.
		_, _ = node.Begin(txn.TxnOptions{}).StartTS(t.Context())
		time.Sleep(5 * time.Minute)
		w.within("another one", 5*time.Minute, 5*time.Minute+10*time.Second)
		node.stop()
		time.Sleep(time.Minute)
		w.within("its process is gone", time.Minute, 90*time.Second)

		w.mu.Lock()
		w.waiting = kv.TimestampAt(time.Now())
		w.mu.Unlock()
		time.Sleep(20 * time.Minute)
		w.within("an observer waits", 20*time.Minute, 20*time.Minute+10*time.Second)
		w.mu.Lock()
		w.waiting = 0
		w.mu.Unlock()
		time.Sleep(time.Minute)
		w.within("it has seen all", time.Minute, 90*time.Second)

		first.stop()
		time.Sleep(2 * time.Minute)
		w.within("another process collects", time.Minute, 2*time.Minute)
		if second.collector.Metrics().Leading != 1 {
			t.Error("nobody has taken over")
		}
	})
}

// TestCollects: what is old goes; what the collector is asked to keep stays.
func TestCollects(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.process("one", true)
		defer p.stop()
		for range 10 {
			tx := p.Begin(txn.TxnOptions{})
			tx.Put(txntest.Column("a"), []byte("x"), txn.WriteOptions{})
			if _, err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Second)
		}
		time.Sleep(time.Minute)
		if m := p.collector.Metrics(); m.Versions < 7 || m.Versions > 9 || m.Failures != 0 || m.Rounds == 0 {
			t.Errorf("%+v", m)
		}
	})
}

// The collector goes by it: versions outlive a jump of the clock, and of timestamps, which stay ahead when the clock comes back.
func TestJumpOfTheClockKeepsVersions(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.process("node", false)
		defer p.stop()
		jump := time.Duration(0)
		c, err := NewCollector(w.svc, p.session, p.Client, &leaping{jump: &jump}, Options{
			Raise: func(_ context.Context, ts kv.Timestamp) (kv.Timestamp, error) { return ts, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		c.wall = func() time.Time { return time.Now().Add(jump) }
		lag := func() time.Duration {
			t.Helper()
			target, err := c.target(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return time.Since(target.Time())
		}
		before := lag()
		for _, jump = range []time.Duration{365 * 24 * time.Hour, 0} {
			time.Sleep(26 * time.Second)
			if now := lag(); now < before-30*time.Second {
				t.Errorf("jump of %v: versions are kept for %v, %v before", jump, now, before)
			}
		}
	})
}

// leaping are timestamps of an oracle whose clock jumps: they never go back.
type leaping struct {
	last kv.Timestamp
	jump *time.Duration
}

func (l *leaping) Next(context.Context) (kv.Timestamp, error) {
	l.last = max(l.last+1, kv.TimestampAt(time.Now().Add(*l.jump)))
	return l.last, nil
}
