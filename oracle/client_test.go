package oracle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
)

// script is a Source whose answers the test gives, one by one.
type script struct {
	asked  chan int
	answer chan answerOf
}

type answerOf struct {
	b   Batch
	err error
}

func newScript() *script { return &script{make(chan int), make(chan answerOf)} }

func (s *script) Next(ctx context.Context, n int) (Batch, error) {
	select {
	case s.asked <- n:
	case <-ctx.Done():
		return Batch{}, ctx.Err()
	}
	select {
	case a := <-s.answer:
		return a.b, a.err
	case <-ctx.Done():
		return Batch{}, ctx.Err()
	}
}

// O4: who comes while a request is under way waits for the next one, together with all others who come.
func TestClientBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		c := NewClient(src, ClientOptions{})
		defer c.Close()
		first := c.Async()
		if n := <-src.asked; n != 1 {
			t.Fatalf("first request asks for %d", n)
		}
		var late []Future
		for range 10 {
			late = append(late, c.Async())
		}
		abandoned, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := late[3].Wait(abandoned); !errors.Is(err, context.Canceled) {
			t.Fatalf("a caller that gave up: %v", err)
		}
		src.answer <- answerOf{b: Batch{First: 100, N: 1, SafePoint: 7}}
		if ts, err := first.Wait(t.Context()); err != nil || ts != 100 {
			t.Fatal(ts, err)
		}
		if n := <-src.asked; n != 10 {
			t.Fatalf("second request asks for %d, 10 callers wait", n)
		}
		src.answer <- answerOf{b: Batch{First: 200, N: 10, SafePoint: 5}}
		for i, f := range late {
			if ts, err := f.Wait(t.Context()); err != nil || ts != 200+kv.Timestamp(i) {
				t.Fatalf("caller %d: %v, %v", i, ts, err)
			}
		}
		if c.SafePoint() != 7 {
			t.Errorf("safe point %v: it went down", c.SafePoint())
		}
		if m := c.Metrics(); m.Requests != 2 || m.Timestamps != 11 || m.Retries != 0 {
			t.Errorf("metrics %+v", m)
		}
	})
}

func TestClientRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		c := NewClient(src, ClientOptions{MaxWait: 2 * time.Second})
		defer c.Close()
		f := c.Async()
		for _, err := range []error{ErrNotLeader, ErrFenced, ErrUnavailable} {
			<-src.asked
			src.answer <- answerOf{err: err}
		}
		<-src.asked
		src.answer <- answerOf{b: Batch{First: 9, N: 1}}
		if ts, err := f.Wait(t.Context()); err != nil || ts != 9 {
			t.Fatal(ts, err)
		}
		// An invalid request is not repeated.
		f = c.Async()
		<-src.asked
		src.answer <- answerOf{err: ErrInvalid}
		if _, err := f.Wait(t.Context()); !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
		// Nobody leads: the bound is MaxWait, and the error says what the last server said.
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-src.asked:
				case <-stop:
					return
				}
				select { // the last request may be over before its answer
				case src.answer <- answerOf{err: &Error{Code: CodeNotLeader, Leader: "elsewhere"}}:
				case <-stop:
					return
				}
			}
		}()
		began := time.Now()
		_, err := c.Next(t.Context())
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrNotLeader) {
			t.Fatalf("after MaxWait: %v", err)
		}
		if d := time.Since(began); d < time.Second || d > 3*time.Second {
			t.Errorf("gave up after %v, MaxWait is 2s", d)
		}
	})
}

func TestClientClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		c := NewClient(src, ClientOptions{})
		under := c.Async()
		<-src.asked
		waiting := c.Async()
		c.Close()
		for _, f := range []Future{under, waiting, c.Async()} {
			if _, err := f.Wait(t.Context()); !errors.Is(err, ErrUnavailable) {
				t.Errorf("after close: %v", err)
			}
		}
	})
}

func TestClientBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		c := NewClient(src, ClientOptions{})
		defer c.Close()
		first := c.Async()
		<-src.asked
		for range MaxBatch {
			c.Async()
		}
		if _, err := c.Next(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("one caller too many: %v", err)
		}
		src.answer <- answerOf{b: Batch{First: 1, N: 1}}
		if _, err := first.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// A client of a server that does not lead yet waits for it.
func TestClientWaitsForLeader(t *testing.T) {
	svc, clock := newCoord(t)
	a := lead(t, svc, Options{Clock: clock, Address: "a"})
	b := Start(svc, Options{Clock: clock, Address: "b"})
	t.Cleanup(b.Close)
	c := NewClient(b, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	before := next(t, a, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if ts, err := c.Next(bounded(t)); err != nil || ts <= before.First {
			t.Errorf("%v, %v; before the hand-over %v", ts, err, before.First)
		}
	})
	a.Close()
	wg.Wait()
}

// silent is a source that answers as long as it is up.
type silent struct {
	up   atomic.Bool
	last kv.Timestamp
}

func (s *silent) Next(_ context.Context, n int) (Batch, error) {
	if !s.up.Load() {
		return Batch{}, &Error{Code: CodeUnavailable}
	}
	s.last += kv.Timestamp(n)
	return Batch{First: s.last, N: n}, nil
}

// A statement asks more than once, and so do those behind it: only the first of them waits for long when
// nobody answers, until somebody has answered again.
func TestClientWaitsLongOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s silent
		c := NewClient(&s, ClientOptions{MaxWait: 15 * time.Second})
		defer c.Close()
		waits := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if _, err := c.Next(t.Context()); !errors.Is(err, ErrUnavailable) {
				t.Errorf("nobody answers: %v", err)
			}
			if d := time.Since(began); d < want || d > want+time.Second {
				t.Errorf("gave up after %v, want %v", d, want)
			}
		}
		for range 2 {
			waits(15 * time.Second)
			waits(downWait)
			waits(downWait)
			s.up.Store(true)
			if _, err := c.Next(t.Context()); err != nil {
				t.Error(err)
			}
			s.up.Store(false)
		}
	})
}
