package host

import (
	"sync/atomic"
	"time"

	"moka/kv/boottime"
	"moka/kv/raft"
)

// clock counts the time since the host began, including what the machine slept through. The clock that does
// is a system call, and each read of a leader asks; so it is asked only when Go's two have run apart, as they
// do in suspend, or when somebody sets the wall clock.
type clock struct {
	base   time.Time
	boot   time.Duration
	apart  time.Duration // by which the wall clock may run ahead or behind before it is looked into
	skew   atomic.Int64  // wall minus monotonic clock, when it was looked into last
	asleep atomic.Int64  // so much more than the monotonic clock
}

func newClock(apart time.Duration) *clock {
	return &clock{base: time.Now(), boot: boottime.Now(), apart: apart}
}

func (c *clock) now() raft.Instant {
	t := time.Now()
	mono := t.Sub(c.base)
	skew := t.Round(0).Sub(c.base.Round(0)) - mono
	if d := skew - time.Duration(c.skew.Load()); d > c.apart || d < -c.apart {
		c.look(mono, skew)
	}
	return raft.Instant(mono) + raft.Instant(c.asleep.Load())
}

func (c *clock) look(mono, skew time.Duration) {
	asleep := int64(boottime.Now() - c.boot - mono)
	for was := c.asleep.Load(); asleep > was && !c.asleep.CompareAndSwap(was, asleep); was = c.asleep.Load() {
	}
	c.skew.Store(int64(skew))
}
