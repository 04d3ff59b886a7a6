package replicated

import (
	"sync"
	"time"

	"moka/kv/coord"
)

// tickEvery is how often leases are looked at.
const tickEvery = 100 * time.Millisecond

// ticks is a clock that counts only while its goroutine is run: a leader that stood still must not end every
// session whose keep-alives lie unread in its sockets. It never runs ahead of the machine's.
type ticks struct {
	quit chan struct{}
	over sync.WaitGroup

	mu     sync.Mutex
	now    time.Time
	last   time.Time
	timers map[*timer]struct{}
}

type timer struct {
	c  *ticks
	at time.Time
	f  func()
}

func newTicks() *ticks {
	c := &ticks{quit: make(chan struct{}), now: time.Now(), timers: map[*timer]struct{}{}}
	c.last = c.now
	c.over.Go(c.run)
	return c
}

// close ends it. No timer fires any more.
func (c *ticks) close() {
	close(c.quit)
	c.over.Wait()
}

func (c *ticks) run() {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-t.C:
		}
		for _, x := range c.due() {
			x.f()
		}
	}
}

func (c *ticks) due() (due []*timer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.advance()
	for x := range c.timers {
		if !x.at.After(now) {
			due = append(due, x)
			delete(c.timers, x)
		}
	}
	return due
}

// advance counts what has passed since it was counted last, and of a pause no more than two ticks.
func (c *ticks) advance() time.Time {
	t := time.Now()
	c.now = c.now.Add(min(t.Sub(c.last), 2*tickEvery))
	c.last = t
	return c.now
}

// Now implements coord.Clock.
func (c *ticks) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advance()
}

// AfterFunc implements coord.Clock. f is called in the clock's own goroutine.
func (c *ticks) AfterFunc(d time.Duration, f func()) coord.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &timer{c, c.advance().Add(d), f}
	c.timers[x] = struct{}{}
	return x
}

// Stop implements coord.Timer.
func (x *timer) Stop() bool {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	_, waits := x.c.timers[x]
	delete(x.c.timers, x)
	return waits
}
