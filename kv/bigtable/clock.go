package bigtable

import (
	"sync"
	"time"

	"moka/kv"
)

// clock gives timestamps to writes that bring none, above everything that is stored, without a look at what is stored: a random write would otherwise
// pay for a random read (measured: 120 µs against 30 µs where the block is not in the cache).
//
//	stored, unless ahead            given out next
//	|■■■■■■■■■■■■■■■■■■■■■■■| last ·········| ceiling        … ahead (rare)
//
// Each shard has one: its ceiling is part of the shard's state, so the next leader begins above what this one
// gave, on whatever machine. A tablet that moves here raises it to that of the shard from which it comes.
//
// C1: every timestamp in the shard's raw tables is at most last, or at most ahead.
// C2: ceiling and ahead are durable before anything in the tables relies on them, so that a restart, even one at which the machine's
// clock has gone back, begins above everything.
//
// A timestamp that a caller brings from further than clockWindow in the future does not pull the clock along: that would let one mistaken
// caller take all others into the future. It raises ahead instead, and as long as the clock has not come there, writes look first.
type clock struct {
	store ClockStore // nil: nothing is known, every write looks

	mu     sync.Mutex
	loaded bool
	clockState
	last kv.Timestamp
}

// clockState is what of the clock is durable.
type clockState struct{ ceiling, ahead kv.Timestamp }

// ClockStore keeps the clock's state in the shard: kv.ShardHandle of a shard that can is one. Saving returns
// when it is durable.
type ClockStore interface {
	LoadClock() (ceiling, ahead kv.Timestamp, err error)
	SaveClock(ceiling, ahead kv.Timestamp) error
}

// clockWindow is how far the durable ceiling is ahead, hence how far timestamps lead the machine's clock at most after a restart.
const clockWindow = time.Second

var windowTicks = kv.NewTimestamp(clockWindow.Milliseconds(), 0)

// next returns a timestamp that is newer than every stored one; ok is false if it would have to look.
func (c *clock) next(now kv.Timestamp) (ts kv.Timestamp, ok bool, err error) {
	if c.store == nil {
		return 0, false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return 0, false, err
	}
	ts = max(now, c.last+1)
	if ts <= c.ahead {
		return 0, false, nil
	}
	return ts, true, c.advance(ts)
}

// note takes a timestamp into account that was not given by next.
func (c *clock) note(now, ts kv.Timestamp) error {
	if c.store == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	switch {
	case ts <= c.last, ts <= c.ahead:
		return nil
	case ts <= now+windowTicks:
		return c.advance(ts)
	}
	s := clockState{ceiling: c.ceiling, ahead: min(ts+windowTicks, kv.MaxTimestamp)} // with room: the next may be just above
	return c.save(s)
}

func (c *clock) advance(ts kv.Timestamp) error {
	if ts > c.ceiling {
		if err := c.save(clockState{ceiling: ts + windowTicks, ahead: c.ahead}); err != nil {
			return err
		}
	}
	c.last = max(c.last, ts)
	return nil
}

func (c *clock) save(s clockState) error {
	err := c.store.SaveClock(s.ceiling, s.ahead)
	if err == nil {
		c.clockState = s
	}
	return err
}

func (c *clock) load() (err error) {
	if c.loaded {
		return nil
	}
	if c.ceiling, c.ahead, err = c.store.LoadClock(); err != nil {
		return err
	}
	c.last, c.loaded = max(c.last, c.ceiling), true
	return nil
}

// reload has the next timestamp look at what is durable again: another shard's clock has been added to it.
func (c *clock) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded = false
}
