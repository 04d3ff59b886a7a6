package oracle

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"moka/kv"
)

// Who yields hands out nothing more, and its successor begins behind what was handed out and not a window
// later; also when callers are at it meanwhile.
func TestYield(t *testing.T) {
	svc, clock := newCoord(t)
	a := lead(t, svc, Options{Clock: clock, Address: "a"})
	last := next(t, a, 100).First + 99
	var mu sync.Mutex
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(bounded(t))
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				b, err := a.Next(ctx, 3)
				if err != nil {
					return
				}
				mu.Lock()
				last = max(last, b.First+2)
				mu.Unlock()
			}
		})
	}
	if err := a.Yield(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Next(bounded(t), 1); err == nil {
		t.Error("it hands out timestamps behind its end")
	}
	wg.Wait()
	stop()
	b := lead(t, svc, Options{Clock: clock, Address: "b"})
	first := next(t, b, 1).First
	if first <= last {
		t.Fatalf("the successor begins at %v, and %v was handed out", first, last)
	}
	// What was taken and not given away is lost: some, not a window of three seconds.
	if ahead := first.Time().Sub(kv.TimestampAt(clock.Now()).Time()); ahead > time.Second {
		t.Errorf("the successor begins %v ahead of the clock", ahead)
	}
	if err := a.Yield(bounded(t)); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// A ceiling that could not be lowered is only later than need be.
func TestYieldWithoutCoordination(t *testing.T) {
	svc, clock := newCoord(t)
	off := &down{Service: svc}
	a := lead(t, off, Options{Clock: clock})
	last := next(t, a, 1).First
	off.set(true)
	if err := a.Yield(bounded(t)); err == nil {
		t.Error("it is lowered without anybody to tell")
	}
	if _, err := a.Next(bounded(t), 1); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it hands out timestamps behind its end: %v", err)
	}
	off.set(false)
	a.Close()
	clock.Advance(time.Minute)
	b := lead(t, svc, Options{Clock: clock})
	if first := next(t, b, 1).First; first <= last {
		t.Errorf("the successor begins at %v, and %v was handed out", first, last)
	}
}
