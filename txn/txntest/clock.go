package txntest

import (
	"context"
	"sync"
	"time"

	"moka/kv"
)

// Clock is an oracle for one process: strictly increasing, wall clock in the upper bits. In a synctest bubble it follows the
// bubble's time. The zero value is ready.
type Clock struct {
	mu   sync.Mutex
	last kv.Timestamp
}

// Next returns the next timestamp.
func (c *Clock) Next(ctx context.Context) (kv.Timestamp, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last+1, kv.TimestampAt(time.Now()))
	return c.last, nil
}

// Manual is an oracle that hands out what it is told to, for scripts whose timestamps people read: 1, 2, 3 … unless Set.
type Manual struct {
	mu   sync.Mutex
	last kv.Timestamp
}

// NewManual returns a clock whose first timestamp follows last.
func NewManual(last kv.Timestamp) *Manual { return &Manual{last: last} }

// Next returns the next timestamp.
func (m *Manual) Next(ctx context.Context) (kv.Timestamp, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	return m.last, nil
}

// Set makes ts the next timestamp, if that is forward.
func (m *Manual) Set(ts kv.Timestamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = max(m.last, ts-1)
}

// Advance moves the wall clock part forward: that is how locks expire.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last += kv.NewTimestamp(d.Milliseconds(), 0)
}
