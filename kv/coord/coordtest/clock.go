package coordtest

import (
	"slices"
	"sync"
	"time"

	"moka/kv/coord"
)

// Clock is a coord.Clock that moves only by Advance.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
}

// NewClock starts at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the wall clock anywhere, also backwards, without firing timers: what an operator does to a clock.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock and runs the timers that come due, in order, before it returns.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		next := c.dueLocked(end)
		if next == nil {
			break
		}
		if next.at.After(c.now) {
			c.now = next.at
		}
		c.mu.Unlock()
		next.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

func (c *Clock) dueLocked(end time.Time) *timer {
	var next *timer
	for _, t := range c.timers {
		if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
			next = t
		}
	}
	if next != nil {
		c.removeLocked(next)
	}
	return next
}

func (c *Clock) removeLocked(t *timer) bool {
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	return true
}

func (c *Clock) AfterFunc(d time.Duration, f func()) coord.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c: c, at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return t
}

type timer struct {
	c  *Clock
	at time.Time
	f  func()
}

func (t *timer) Stop() bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return t.c.removeLocked(t)
}
