package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// lsm is a tree whose compactions all fail, or do not, at once.
type lsm struct {
	p     *pace
	err   error
	begun []time.Duration // since start
	start time.Time
}

func (l *lsm) GetAllowedWithoutPermission() int { return 1 }

func (l *lsm) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	return true, pebble.WaitingCompaction{}
}

func (l *lsm) Schedule(h pebble.CompactionGrantHandle) bool {
	l.begun = append(l.begun, time.Since(l.start))
	go func() {
		time.Sleep(time.Millisecond) // the compaction, in the bubble's time
		l.p.ended(l.err)
		h.Done()
	}()
	return true
}

// Compactions that fail come ever more rarely, those that do not as soon as they may; and whoever waits hears of the failure.
func TestPaceOfCompactions(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		from, to int // compactions in ten minutes
	}{
		{"well", nil, 500_000, 600_001},
		{"full disk", errors.New("no space"), 100, 140},
		{"damaged", &corruption{path: "000007.sst"}, 15, 25},
		{"cancelled", pebble.ErrCancelledCompaction, 500_000, 600_001},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPace()
				l := &lsm{p: p, err: c.err, start: time.Now()}
				ctx, done := p.wait(t.Context())
				p.Register(2, l)
				time.Sleep(10 * time.Minute)
				p.Unregister()
				time.Sleep(time.Second) // the last one ends
				if n := len(l.begun); n < c.from || n > c.to {
					t.Errorf("%d compactions in ten minutes: %v", n, l.begun[:min(n, 30)])
				}
				if failed := c.from < 1000; failed != (context.Cause(ctx) != nil) || failed && !errors.Is(context.Cause(ctx), c.err) {
					t.Errorf("who waits heard %v", context.Cause(ctx))
				}
				if ok, _ := p.TrySchedule(); ok {
					t.Error("a compaction begins in a closed store")
				}
				done()
			})
		})
	}
}
