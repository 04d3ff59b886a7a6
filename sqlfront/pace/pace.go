// Package pace has statements that compute for long step back for those that are short.
package pace

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The runtime has one line for whoever wants a processor, and gives each in it ten milliseconds. Behind seven
// hundred statements that only compute, a goroutine waits for seconds each time that it has something to do,
// and a login, which is a dozen such times, took longer than it may: nobody got in, root neither, and the
// oracle lost its lease. Priorities there are none. So statements that have run for long step back by
// themselves while the line is long: where they ask whether they are to end, which is every few
// milliseconds, they wait in proportion to what they have had. Who has much to compute gets about as
// much done as before; who has little finds a short line.
//
// Waiting for a permit instead, of which there are as many as may be in line, was rejected: a statement that
// holds one may wait for a lock of one that has none.
//
// A statement that has locked rows steps back like others: it would have to share the processor all the
// same, and what it locks is locked about as long. Who holds what is meant for moments does not: COMMIT looks
// at the channel of the context's end (txn), and so do the shards while they hold latches.

const (
	// shortStatement is how long a statement may run before it has to step back.
	shortStatement = 500 * time.Millisecond
	// paceSlice is how often it is looked at.
	paceSlice = 10 * time.Millisecond
	// longestPause bounds one wait.
	longestPause = 10 * time.Second
	// linePerProcessor is how many may stand in line for each processor.
	linePerProcessor = 4
)

// Pacer knows how many want a processor. A process has one for all that it runs.
type Pacer struct {
	start time.Time
	crowd atomic.Int64 // statements that have stepped back and not ended
	line  func() int64 // goroutines that wait for a processor
	most  int64        // that may
}

func New() *Pacer {
	return &Pacer{start: time.Now(), line: runnable, most: int64(linePerProcessor * runtime.GOMAXPROCS(0))}
}

// runnable takes a tenth of a microsecond.
func runnable() int64 {
	s := [1]metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	if metrics.Read(s[:]); s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// Context is the context of a statement that steps back. Asking it for its error is where that happens: all
// that computes for long asks, to hear of KILL. Asking for the channel of its end is not: who makes a context
// of it does so, under whatever lock. Contexts that are made of it do not step back.
type Context struct {
	context.Context
	*pace
}

// pace is what is known of the statement; the times are since the pacer's start.
type pace struct {
	*Pacer
	began   time.Duration
	resumed atomic.Int64 // when it was last looked at, or has come back
	counted atomic.Bool
}

// Pace makes the context of a statement step back. end is called when the statement is over.
func (p *Pacer) Pace(ctx context.Context) (_ *Context, end func()) {
	s := &pace{Pacer: p, began: time.Since(p.start)}
	s.resumed.Store(int64(s.began))
	return &Context{ctx, s}, func() {
		if s.counted.Load() {
			p.crowd.Add(-1)
		}
	}
}

// Over is the same for a context that was made of it.
func (c *Context) Over(ctx context.Context) *Context { return &Context{ctx, c.pace} }

// Err implements context.Context.
func (c *Context) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	c.stepBack()
	return c.Context.Err()
}

// stepBack waits if the statement has had much and others stand in line.
func (c *Context) stepBack() {
	now, last := time.Since(c.start), c.resumed.Load()
	ran := now - time.Duration(last)
	if ran < paceSlice || !c.resumed.CompareAndSwap(last, int64(now)) || now-c.began < shortStatement {
		return
	}
	line := c.line()
	if line <= c.most || c.Context.Err() != nil {
		return
	}
	if c.counted.CompareAndSwap(false, true) {
		c.crowd.Add(1)
	}
	// With n statements that each wait n/m times as long as they run and stand in line, m are in line.
	share := float64(max(line, c.crowd.Load())) / float64(c.most)
	pause := time.Duration(min(float64(ran)*share, float64(longestPause)))
	t := time.NewTimer(pause/2 + rand.N(pause))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.Context.Done():
	}
	c.resumed.Store(int64(time.Since(c.start)))
}
