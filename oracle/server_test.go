package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded turns a hang into a failure.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newCoord is a coordination service in memory whose clock the test moves.
func newCoord(t *testing.T) (*mem.Service, *coordtest.Clock) {
	clock := coordtest.NewClock()
	svc := mem.New(mem.Options{Clock: clock})
	t.Cleanup(func() { svc.Close() })
	return svc, clock
}

func lead(t *testing.T, svc coord.Service, o Options) *Server {
	t.Helper()
	s := Start(svc, o)
	t.Cleanup(s.Close)
	if err := s.WaitLeading(bounded(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

func next(t *testing.T, s Source, n int) Batch {
	t.Helper()
	b, err := s.Next(bounded(t), n)
	if err != nil {
		t.Fatal(err)
	}
	if b.N != n {
		t.Fatalf("asked for %d, got %d", n, b.N)
	}
	return b
}

func TestServerFollowsClock(t *testing.T) {
	svc, clock := newCoord(t)
	s := lead(t, svc, Options{Clock: clock})
	a := next(t, s, 1)
	if a.First != kv.TimestampAt(clock.Now()) {
		t.Errorf("first timestamp %v at %v", a.First, kv.TimestampAt(clock.Now()))
	}
	if b := next(t, s, 10); b.First != a.First+1 {
		t.Errorf("%v follows %v", b.First, a.First)
	}
	clock.Set(clock.Now().Add(-time.Hour))
	b := next(t, s, 1)
	if b.First != a.First+11 {
		t.Errorf("after the clock went back: %v, want %v", b.First, a.First+11)
	}
	clock.Set(clock.Now().Add(time.Hour + 5*time.Millisecond))
	if c := next(t, s, 1); c.First != kv.TimestampAt(clock.Now()) {
		t.Errorf("after the clock came back: %v, want %v", c.First, kv.TimestampAt(clock.Now()))
	}
	// A leap forward beyond the window waits for a ceiling, and for nothing else.
	clock.Set(clock.Now().Add(24 * time.Hour))
	if d := next(t, s, MaxBatch); d.First != kv.TimestampAt(clock.Now()) {
		t.Errorf("after the leap: %v, want %v", d.First, kv.TimestampAt(clock.Now()))
	}
	if m := s.Metrics(); m.Waits == 0 || !m.Leading || m.Batches != 5 || m.Issued != 13+MaxBatch {
		t.Errorf("metrics: %+v", m)
	}
	for _, n := range []int{0, -1, MaxBatch + 1} {
		if _, err := s.Next(t.Context(), n); !errors.Is(err, ErrInvalid) {
			t.Errorf("asked for %d: %v", n, err)
		}
	}
}

// More timestamps in one millisecond than the logical part counts: they run into the next
// millisecond, in order.
func TestServerLogicalOverflow(t *testing.T) {
	svc, clock := newCoord(t)
	s := lead(t, svc, Options{Clock: clock, Window: 10 * time.Millisecond})
	last := kv.Timestamp(0)
	for range 4 * (1 << kv.LogicalBits) / MaxBatch * 5 { // 20 ms worth, twice the window
		b := next(t, s, MaxBatch)
		if b.First <= last {
			t.Fatalf("%v after %v", b.First, last)
		}
		last = b.First + MaxBatch - 1
	}
	if ahead := last.Time().Sub(clock.Now()); ahead < 19*time.Millisecond || ahead > 21*time.Millisecond {
		t.Errorf("20 ms of timestamps were used up in no time, and they are ahead by %v", ahead)
	}
}

// The next window is reserved in the background at half, so that a busy caller never waits.
func TestServerReservesAhead(t *testing.T) {
	svc, clock := newCoord(t)
	ctx := bounded(t)
	s := lead(t, svc, Options{Clock: clock, Window: 2 * time.Second, SessionTTL: time.Hour})
	w, err := svc.Watch(ctx, "oracle/ceiling", svc.Stats().Revision)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 20 {
		clock.Advance(900 * time.Millisecond)
		next(t, s, 1) // less than half is left after every second turn: asks for more
		clock.Advance(200 * time.Millisecond)
		next(t, s, 1)
		select {
		case ev, ok := <-w.Events():
			if !ok {
				t.Fatal(w.Err())
			}
			r, err := decodeCeiling(ev.KV.Value)
			if err != nil || r.ceiling <= kv.TimestampAt(clock.Now()) {
				t.Fatalf("reserved %v at %v, %v", r.ceiling, clock.Now(), err)
			}
			awaitReserved(ctx, t, s)
		case <-ctx.Done():
			t.Fatal("no reservation")
		}
	}
	if m := s.Metrics(); m.Waits != 0 || m.Raises < 20 {
		t.Errorf("%d calls waited, %d reservations", m.Waits, m.Raises)
	}
}

// awaitReserved waits until the server has taken note of what is durable: its present try to reserve is over.
func awaitReserved(ctx context.Context, t *testing.T, s *Server) {
	t.Helper()
	tm := s.term.Load()
	tm.mu.Lock()
	a, low := tm.mu.attempt, tm.mu.alloc.low(s.now(), s.window)
	tm.mu.Unlock()
	if !low {
		return
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		t.Fatal("the reservation does not end")
	}
}

// orderLog records calls from many goroutines with the moments of their start and end, as counts
// of one shared counter.
type orderLog struct {
	seq atomic.Int64
	mu  sync.Mutex
	ops []op
}

type op struct {
	client    int
	call, ret int64
	first     kv.Timestamp
	n         int
}

func (l *orderLog) do(client int, f func() (Batch, error)) error {
	call := l.seq.Add(1)
	b, err := f()
	if err != nil {
		return err
	}
	ret := l.seq.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops = append(l.ops, op{client, call, ret, b.First, b.N})
	return nil
}

// check is the promise of the package: no timestamp twice, and each greater than all that were received
// before it was asked for.
func (l *orderLog) check(t *testing.T) {
	t.Helper()
	if err := l.violation(); err != nil {
		t.Fatal(err)
	}
}

func (l *orderLog) violation() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	byTS := slices.SortedFunc(slices.Values(l.ops), func(a, b op) int {
		return cmp.Compare(a.first, b.first)
	})
	for i := 1; i < len(byTS); i++ {
		if a, b := byTS[i-1], byTS[i]; b.first < a.first+kv.Timestamp(a.n) {
			return fmt.Errorf("%v+%d of client %d overlaps %v of client %d", a.first, a.n, a.client,
				b.first, b.client)
		}
	}
	// In ascending order of timestamps, nobody may have returned before somebody with a lower one began.
	minRet := int64(1 << 62)
	for i := len(byTS) - 1; i >= 0; i-- {
		if byTS[i].call > minRet {
			return fmt.Errorf("client %d asked at %d and got %v; a greater one had been received at %d",
				byTS[i].client, byTS[i].call, byTS[i].first, minRet)
		}
		minRet = min(minRet, byTS[i].ret)
	}
	return nil
}

func TestServerConcurrent(t *testing.T) {
	svc := mem.New(mem.Options{})
	t.Cleanup(func() { svc.Close() })
	s := lead(t, svc, Options{})
	c := NewClient(s, ClientOptions{})
	defer c.Close()
	callers(t, 64, 300, c)
}

// callers is the test of the promise under load, for every kind of client.
func callers(t *testing.T, n, each int, c *Client) {
	t.Helper()
	ctx := bounded(t)
	var log orderLog
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for k := range each {
				err := log.do(i, func() (Batch, error) {
					if k%3 == 0 {
						ts, err := c.Async().Wait(ctx)
						return Batch{First: ts, N: 1}, err
					}
					ts, err := c.Next(ctx)
					return Batch{First: ts, N: 1}, err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(log.ops) != n*each {
		t.Fatalf("%d calls answered, want %d", len(log.ops), n*each)
	}
	log.check(t)
}

// The check itself must be able to fail.
func TestOrderLogCatches(t *testing.T) {
	for name, ops := range map[string][]op{
		"same twice":    {{0, 1, 2, 10, 1}, {1, 3, 4, 10, 1}},
		"overlap":       {{0, 1, 2, 10, 5}, {1, 3, 4, 14, 1}},
		"went backward": {{0, 1, 2, 10, 1}, {1, 3, 4, 9, 1}},
	} {
		l := orderLog{ops: ops}
		if l.violation() == nil {
			t.Errorf("%s: not caught", name)
		}
	}
	good := orderLog{ops: []op{{0, 1, 4, 10, 1}, {1, 2, 3, 11, 5}, {0, 5, 6, 16, 1}}}
	if err := good.violation(); err != nil {
		t.Errorf("a good history is refused: %v", err)
	}
}
