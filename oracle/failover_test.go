package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/local"
)

// mapStore is a local.Store that can be copied, which is what a crash leaves.
type mapStore struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (s *mapStore) Get(key []byte) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.m[string(key)]
	return v, ok, nil
}

func (s *mapStore) Scan(prefix []byte, fn func(k, v []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(s.m)) {
		if strings.HasPrefix(k, string(prefix)) {
			if err := fn([]byte(k), s.m[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *mapStore) Apply(sets []local.KV, deletes [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kv := range sets {
		s.m[string(kv.Key)] = bytes.Clone(kv.Value)
	}
	for _, k := range deletes {
		delete(s.m, string(k))
	}
	return nil
}

func (s *mapStore) clone() *mapStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &mapStore{m: maps.Clone(s.m)}
}

// Crash after crash, with a clock that also goes backwards: nothing repeats, and a crash skips
// no more than the window.
func TestRestart(t *testing.T) {
	const window = time.Second
	rng := rand.New(rand.NewPCG(3, 4))
	store := &mapStore{m: make(map[string][]byte)}
	clock := coordtest.NewClock()
	latest := clock.Now() // that the clock has ever shown: a ceiling may have been made from it
	set := func(by time.Duration) {
		clock.Set(clock.Now().Add(by))
		if now := clock.Now(); now.After(latest) {
			latest = now
		}
	}
	var last kv.Timestamp
	var safePoint kv.Timestamp
	for life := range 30 {
		svc, err := local.Open(store, []byte("c/"), local.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		s := Start(svc, Options{Clock: clock, Window: window, SessionTTL: time.Hour})
		if err := s.WaitLeading(bounded(t)); err != nil {
			t.Fatal(err)
		}
		for i := range 1 + rng.IntN(20) {
			b := next(t, s, 1+rng.IntN(1000))
			if b.First <= last {
				t.Fatalf("life %d: %v after %v", life, b.First, last)
			}
			floor := max(last, kv.TimestampAt(latest))
			if skipped := b.First.Time().Sub(floor.Time()); i == 0 && skipped > window {
				t.Fatalf("life %d: the crash skipped %v", life, skipped)
			}
			if b.SafePoint != safePoint {
				t.Fatalf("life %d: safe point %v, want %v", life, b.SafePoint, safePoint)
			}
			last = b.First + kv.Timestamp(b.N) - 1
			set(time.Duration(rng.IntN(1500)-500) * time.Millisecond)
		}
		if safePoint, err = s.SetSafePoint(bounded(t), last-1); err != nil {
			t.Fatal(err)
		}
		crashed := store.clone()
		s.Close()
		svc.Close()
		store = crashed
		set(time.Duration(rng.IntN(4000)-2000) * time.Millisecond)
	}
}

// The old leader is stopped between taking a timestamp and giving it away, its lease runs out, a new
// leader answers. When the old one goes on, it must keep its timestamp to itself: it is unique, but lower
// than one that is out already.
func TestPausedLeader(t *testing.T) {
	svc, clock := newCoord(t)
	taken, resume := make(chan struct{}), make(chan struct{})
	var paused atomic.Bool // only the first call is paused; sync.Once would stop the others too
	old := lead(t, svc, Options{Clock: clock, Address: "old", afterTake: func() {
		if paused.CompareAndSwap(false, true) {
			taken <- struct{}{}
			<-resume
		}
	}})
	oldTerm := old.term.Load()
	answer := make(chan error, 1)
	go func() {
		_, err := old.Next(t.Context(), 1)
		answer <- err
	}()
	<-taken
	// The session's own loop cannot help it: it lives on the machine's clock, and here hours pass at once.
	clock.Advance(time.Hour)
	// Its successor. (The old server may campaign again as well, and win; then it is its own
	// successor, in a new term.)
	fresh := Start(svc, Options{Clock: clock, Address: "new"})
	t.Cleanup(fresh.Close)
	c := NewClient(eitherSource{old, fresh}, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	if _, err := c.Next(bounded(t)); err != nil {
		t.Fatal(err)
	}
	close(resume)
	if err := <-answer; !errors.Is(err, ErrFenced) {
		t.Fatalf("the paused leader answered: %v", err)
	}
	if m := old.Metrics(); m.Withheld == 0 {
		t.Error("the withheld answer was not counted")
	}
	// Nor can it reserve, by the epoch alone: this is the write that a lease on a stopped
	// clock would let through.
	before, err := svc.Get(t.Context(), "oracle/ceiling")
	if err != nil {
		t.Fatal(err)
	}
	f := fencedKey{svc: svc, lead: oldTerm.lead, key: "oracle/ceiling", rev: before.ModRev}
	if err := f.store(t.Context(),
		encodeCeiling(ceilingRecord{oldTerm.lead.Epoch(), kv.MaxTimestamp})); !errors.Is(err, ErrFenced) {
		t.Fatalf("the deposed leader wrote the ceiling: %v", err)
	}
	if after, err := svc.Get(t.Context(), "oracle/ceiling"); err != nil || after.ModRev != before.ModRev {
		t.Fatalf("the ceiling has changed: %v", err)
	}
}

type eitherSource struct{ a, b *Server }

func (e eitherSource) Next(ctx context.Context, n int) (Batch, error) {
	b, err := e.a.Next(ctx, n)
	if err != nil {
		b, err = e.b.Next(ctx, n)
	}
	return b, err
}

func TestHandOver(t *testing.T) {
	svc, clock := newCoord(t)
	a := Start(svc, Options{Clock: clock, Address: "a"})
	if err := a.WaitLeading(bounded(t)); err != nil {
		t.Fatal(err)
	}
	b := Start(svc, Options{Clock: clock, Address: "b"})
	defer b.Close()
	x := next(t, a, 5)
	if sp, err := a.SetSafePoint(t.Context(), x.First); err != nil || sp != x.First {
		t.Fatal(sp, err)
	}
	if sp, err := a.SetSafePoint(t.Context(), x.First-100); err != nil || sp != x.First {
		t.Fatalf("a lower safe point: %v, %v; want the one in force, %v", sp, err, x.First)
	}
	if _, err := a.SetSafePoint(t.Context(), x.First+5); !errors.Is(err, ErrInvalid) {
		t.Fatalf("a safe point in the future: %v", err)
	}
	a.Close() // hands over at once: the clock does not move
	if _, err := a.Next(t.Context(), 1); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("a closed server: %v", err)
	}
	if _, err := a.SetSafePoint(t.Context(), 1); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("a closed server: %v", err)
	}
	if err := b.WaitLeading(bounded(t)); err != nil {
		t.Fatal(err)
	}
	y := next(t, b, 1)
	if y.First < x.First+5 || y.SafePoint != x.First {
		t.Fatalf("after the hand-over: %+v, before: %+v", y, x)
	}
}

// flaky loses replies of transactions: half of them were executed.
type flaky struct {
	coord.Service
	mu   sync.Mutex
	rng  *rand.Rand
	lose int // in percent
}

func (f *flaky) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	f.mu.Lock()
	lost, executed := f.rng.IntN(100) < f.lose, f.rng.IntN(2) == 0
	f.mu.Unlock()
	if !lost || len(ops) == 0 {
		return f.Service.Txn(ctx, conds, ops)
	}
	if executed {
		if _, err := f.Service.Txn(ctx, conds, ops); err != nil {
			return 0, err
		}
	}
	return 0, &coord.Error{Code: coord.CodeOutcomeUnknown, Op: "txn"}
}

func TestLostReplies(t *testing.T) {
	svc, clock := newCoord(t)
	f := &flaky{Service: svc, rng: rand.New(rand.NewPCG(5, 6)), lose: 60}
	s := Start(f, Options{Clock: clock, Window: 10 * time.Millisecond, SessionTTL: time.Hour})
	t.Cleanup(s.Close)
	c := NewClient(s, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	var last kv.Timestamp
	for range 60 {
		ts, err := c.Next(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		if ts <= last {
			t.Fatalf("%v after %v", ts, last)
		}
		last = ts
		clock.Set(clock.Now().Add(20 * time.Millisecond))
	}
	m := s.Metrics()
	if m.RaiseErrors == 0 {
		t.Error("no reply was lost: the test tests nothing")
	}
	if m.Terms != 1 {
		t.Errorf("%d terms: lost replies must not cost the leadership once it is held", m.Terms)
	}
}

// A write of the same leader whose reply was lost, landing after a newer one, must not take the ceiling back.
func TestLateWriteOfSameLeader(t *testing.T) {
	svc, clock := newCoord(t)
	s := lead(t, svc, Options{Clock: clock})
	tm := s.term.Load()
	late := tm.ceiling // as prepared when the reply was lost
	if err := tm.raiseTo(t, clock); err != nil {
		t.Fatal(err)
	}
	before, err := svc.Get(t.Context(), "oracle/ceiling")
	if err != nil {
		t.Fatal(err)
	}
	err = late.store(t.Context(), encodeCeiling(ceilingRecord{tm.lead.Epoch(), 1}))
	if !errors.Is(err, coord.ErrConflict) || errors.Is(err, ErrFenced) {
		t.Fatalf("late write: %v, want a conflict that is no fence", err)
	}
	if after, err := svc.Get(t.Context(), "oracle/ceiling"); err != nil || after.ModRev != before.ModRev {
		t.Fatalf("the ceiling was taken back: %v", err)
	}
	// The store that lost looks again and goes on.
	if err := late.store(t.Context(), before.Value); err != nil {
		t.Fatal(err)
	}
}

// raiseTo has the server's own goroutine reserve a window, by a leap of the clock.
func (t *term) raiseTo(tt *testing.T, clock *coordtest.Clock) error {
	clock.Set(clock.Now().Add(time.Hour))
	_, err := t.srv.Next(tt.Context(), 1)
	return err
}

// down answers nothing while it is down.
type down struct {
	coord.Service
	mu  sync.Mutex
	off bool
}

func (d *down) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return 0, &coord.Error{Code: coord.CodeUnavailable, Op: "txn"}
	}
	return d.Service.Txn(ctx, conds, ops)
}

func (d *down) set(off bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = off
}

// Without the coordination service the reserved window is used up, and then there is a clear error, not a
// guess; when it comes back, so do the timestamps.
func TestCoordinationDown(t *testing.T) {
	svc, clock := newCoord(t)
	d := &down{Service: svc}
	s := lead(t, d, Options{Clock: clock, Window: time.Second, SessionTTL: time.Hour})
	d.set(true)
	clock.Set(clock.Now().Add(900 * time.Millisecond))
	a := next(t, s, 1)
	clock.Set(clock.Now().Add(900 * time.Millisecond))
	_, err := s.Next(bounded(t), 1)
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, coord.ErrUnavailable) {
		t.Fatalf("beyond the window: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx, 1); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrUnavailable) {
		t.Fatalf("a caller that gave up: %v", err)
	}
	d.set(false)
	c := NewClient(s, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	ts, err := c.Next(bounded(t))
	if err != nil || ts <= a.First {
		t.Fatalf("after the outage: %v, %v", ts, err)
	}
	if m := s.Metrics(); m.Terms != 1 {
		t.Errorf("%d terms; the outage was shorter than the lease", m.Terms)
	}
}

func TestExhausted(t *testing.T) {
	svc, clock := newCoord(t)
	if _, err := svc.Txn(t.Context(), nil,
		[]coord.Op{coord.Put("oracle/ceiling",
			encodeCeiling(ceilingRecord{0, kv.MaxTimestamp - 10}))}); err != nil {
		t.Fatal(err)
	}
	s := lead(t, svc, Options{Clock: clock})
	if b := next(t, s, 10); b.First != kv.MaxTimestamp-10 {
		t.Fatalf("%v", b.First)
	}
	if _, err := s.Next(bounded(t), 1); !errors.Is(err, ErrUnavailable) ||
		!strings.Contains(err.Error(), "used up") {
		t.Fatalf("after the last timestamp: %v", err)
	}
}

// What the store holds decides over what a server may do: records of a newer format or of a later
// epoch keep it from leading.
func TestBadRecords(t *testing.T) {
	for name, value := range map[string][]byte{
		"newer format": {2, 0, 0},
		"cut short":    {1, 0, 0},
		"later epoch":  encodeCeiling(ceilingRecord{1 << 40, 5}),
		"no timestamp": encodeCeiling(ceilingRecord{0, kv.MaxTimestamp + 1}),
	} {
		t.Run(name, func(t *testing.T) {
			svc, clock := newCoord(t)
			if _, err := svc.Txn(t.Context(), nil,
				[]coord.Op{coord.Put("oracle/ceiling", value)}); err != nil {
				t.Fatal(err)
			}
			s := Start(svc, Options{Clock: clock})
			defer s.Close()
			// Once the server has given up its first try, the leadership is free for somebody else.
			var last coord.Leader
			ctx, cancel := context.WithCancel(bounded(t))
			defer cancel()
			err := coord.NewElection(svc, "oracle/leader").Observe(ctx, func(l coord.Leader) {
				if last.Epoch != 0 && l.Epoch == 0 {
					cancel()
				}
				last = l
			})
			if !errors.Is(err, context.Canceled) || last.Epoch != 0 && s.term.Load() != nil {
				t.Fatalf("observe: %v", err)
			}
			if _, err := s.Next(t.Context(), 1); !errors.Is(err, ErrNotLeader) {
				t.Fatalf("next: %v", err)
			}
		})
	}
}

func TestRecordsGolden(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{fmt.Sprintf("%x", encodeCeiling(ceilingRecord{0x0102, 0x0a0b})),
			"0100000000000001020000000000000a0b"},
		{fmt.Sprintf("%x", encodeSafePoint(0x0a0b)), "010000000000000a0b"},
	} {
		if tc.got != tc.want {
			t.Errorf("record is %s, want %s", tc.got, tc.want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(encodeCeiling(ceilingRecord{7, 9}))
	f.Add(encodeSafePoint(9))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeCeiling(b); err == nil && !bytes.Equal(encodeCeiling(r), b) {
			t.Errorf("%x read as %+v", b, r)
		}
		if ts, err := decodeSafePoint(b); err == nil && !bytes.Equal(encodeSafePoint(ts), b) {
			t.Errorf("%x read as %v", b, ts)
		}
	})
}
