package gc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/txn"
)

// Options of a Collector. The zero value of each field means its default, but for those that have none.
type Options struct {
	// Retention is for how long versions are kept at least. Default 10 minutes, least MinRetention.
	Retention time.Duration
	// MaxHold is how old a snapshot, or a change that waits for an observer, may be and still keep versions: a forgotten session must not
	// fill the disk. Default 24 hours, least Retention.
	MaxHold time.Duration
	// Every is the pause between two collections. Default a quarter of the retention, at most a minute.
	Every time.Duration
	// Duty is the part of the time in which a collection works. Default a fifth.
	Duty float64
	// Raise makes a timestamp the safe point, durably, and returns the one in force. No default.
	Raise func(ctx context.Context, safePoint kv.Timestamp) (kv.Timestamp, error)
	// Waiting returns the commit_ts of the oldest change that some observer has not seen, zero if there is none. Default: none.
	Waiting func(ctx context.Context) (kv.Timestamp, error)
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

const (
	// DefaultRetention and DefaultMaxHold are those of Options.
	DefaultRetention = 10 * time.Minute
	DefaultMaxHold   = 24 * time.Hour
	// MinRetention is more than a report takes to arrive.
	MinRetention = time.Second
)

func (o Options) withDefaults() Options {
	if o.Retention <= 0 {
		o.Retention = DefaultRetention
	}
	o.Retention = max(o.Retention, MinRetention)
	if o.MaxHold <= 0 {
		o.MaxHold = DefaultMaxHold
	}
	o.MaxHold = max(o.MaxHold, o.Retention)
	if o.Every <= 0 {
		o.Every = min(max(o.Retention/4, 250*time.Millisecond), time.Minute)
	}
	if o.Duty <= 0 || o.Duty > 1 {
		o.Duty = 0.2
	}
	if o.Waiting == nil {
		o.Waiting = func(context.Context) (kv.Timestamp, error) { return 0, nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Metrics says what a collector has done and how far it is.
type Metrics struct {
	Leading      int // 1 on the process that collects
	SafePoint    kv.Timestamp
	Lag          time.Duration // now − safe point
	Retention    time.Duration
	Rounds       uint64 // collections that were finished
	Failures     uint64 // collections that were not
	Columns      uint64 // looked at
	Versions     uint64 // removed
	Tombstones   uint64 // removed
	LastDuration time.Duration
	// HeldBy says what keeps the safe point further back than the retention does, empty if nothing.
	HeldBy string
	// Held is how much further.
	Held time.Duration
}

// Collector collects garbage while it is elected.
type Collector struct {
	svc    coord.Service
	client *txn.Client
	clock  txn.Timestamps
	o      Options

	mu      sync.Mutex
	metrics Metrics
	session coord.Session

	collected kv.Timestamp // the safe point of the last collection that was finished
	pace      pace
	leapt     bool // the clock is ahead of the pace
	wall      func() time.Time
}

// NewCollector makes one for a process with storage. Its part in the election ends with the session; see
// SetSession.
func NewCollector(svc coord.Service, session coord.Session, c *txn.Client, clock txn.Timestamps, o Options) (*Collector, error) {
	if o.Raise == nil {
		return nil, errors.New("gc: Options.Raise is needed")
	}
	return &Collector{svc: svc, session: session, client: c, clock: clock, o: o.withDefaults(), wall: time.Now}, nil
}

// SetSession is for who has lost the session: the next campaign goes with the new one.
func (c *Collector) SetSession(session coord.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
}

// Metrics returns the counters.
func (c *Collector) Metrics() Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.metrics
	m.Retention = c.o.Retention
	if m.SafePoint == 0 { // no round yet: what was reached before the restart
		m.SafePoint, _ = c.client.SafePoint()
	}
	if m.SafePoint != 0 {
		m.Lag = time.Since(m.SafePoint.Time())
	}
	return m
}

// leaderKey elects the process that collects.
const leaderKey = "gc/leader"

// Run collects whenever this process is the elected one, until ctx ends.
func (c *Collector) Run(ctx context.Context) {
	election := coord.NewElection(c.svc, leaderKey)
	for ctx.Err() == nil {
		c.mu.Lock()
		session := c.session
		c.mu.Unlock()
		lead, err := election.Campaign(ctx, session, nil)
		if err == nil {
			c.lead(ctx, lead)
			continue
		}
		if ctx.Err() == nil {
			c.o.Logger.Warn("garbage collection: no election; trying again", "err", err)
		}
		if !c.pause(ctx) {
			return
		}
	}
}

// lead collects, round after round, until a round fails or the leadership is lost. After a failure another process may try: it may be
// this one's way to the oracle that is broken.
func (c *Collector) lead(ctx context.Context, lead *coord.Leadership) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-lead.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	c.update(func(m *Metrics) { m.Leading = 1 })
	defer c.update(func(m *Metrics) { m.Leading, m.HeldBy, m.Held = 0, "", 0 })
	for c.pause(ctx) {
		if _, err := c.Collect(ctx); err != nil {
			if ctx.Err() == nil {
				c.o.Logger.Warn("garbage collection was cut short; it goes on with the next", "err", err)
			}
			break
		}
	}
	resign, done := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer done()
	_ = lead.Resign(resign) // else it ends with the session
}

func (c *Collector) pause(ctx context.Context) bool {
	t := time.NewTimer(c.o.Every)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Collector) update(f func(m *Metrics)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.metrics)
}

// Collect raises the safe point as far as it may go, and removes what is garbage below it. One call at a time.
func (c *Collector) Collect(ctx context.Context) (stats txn.GarbageStats, err error) {
	began := time.Now()
	defer func() {
		c.update(func(m *Metrics) {
			m.LastDuration = time.Since(began)
			m.Columns += uint64(stats.Columns)
			m.Versions += uint64(stats.Versions)
			m.Tombstones += uint64(stats.Tombstones)
			if err == nil {
				m.Rounds++
			} else if ctx.Err() == nil {
				m.Failures++
			}
		})
	}()
	target, err := c.target(ctx)
	if err != nil || target == 0 {
		return stats, err
	}
	safePoint, err := c.o.Raise(ctx, target)
	if err != nil {
		return stats, fmt.Errorf("raising the safe point to %v: %w", target, err)
	}
	c.update(func(m *Metrics) { m.SafePoint = max(m.SafePoint, safePoint) })
	if safePoint == c.collected {
		return stats, nil // still held back
	}
	if stats, err = c.client.CollectGarbage(ctx, safePoint, txn.GarbageOptions{Duty: c.o.Duty}); err == nil {
		c.collected = safePoint
	}
	return stats, err
}

// target is where the safe point may be; zero if there is no such place.
func (c *Collector) target(ctx context.Context) (kv.Timestamp, error) {
	now, err := c.present(ctx)
	if err != nil {
		return 0, err
	}
	limit := before(now, c.o.Retention)
	floor := before(now, c.o.MaxHold)
	target, heldBy := limit, ""
	hold := func(ts kv.Timestamp, by string) {
		if ts = max(ts, floor); ts < target {
			target, heldBy = ts, by
		}
	}
	list, err := Reports(ctx, c.svc)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		by := fmt.Sprintf("a transaction of %s (session %d)", r.Name, r.Session)
		if r.Note != "" {
			by += ": " + r.Note
		}
		hold(r.Oldest, by)
	}
	waiting, err := c.o.Waiting(ctx)
	if err != nil {
		return 0, err
	}
	if waiting != 0 {
		hold(waiting-1, "a change that an observer has not seen")
	}
	c.update(func(m *Metrics) { m.HeldBy, m.Held = heldBy, limit.Time().Sub(target.Time()) })
	return target, nil
}

// present is now, as timestamps and the machine's clock say, at the pace of a clock that cannot be set.
func (c *Collector) present(ctx context.Context) (kv.Timestamp, error) {
	ts, err := c.clock.Next(ctx)
	if err != nil {
		return 0, err
	}
	now, ahead := c.pace.reach(min(ts.Physical(), c.wall().UnixMilli()), time.Now())
	if ahead > 0 && !c.leapt {
		c.o.Logger.Warn("the clock has jumped ahead; old versions are kept until as much time has passed",
			"jump", time.Duration(ahead)*time.Millisecond, "next step", "set the clock right; versions are kept by what passes on a clock that cannot be set")
	}
	c.leapt = ahead > 0
	return min(ts, kv.NewTimestamp(now, 0)), nil
}

func before(ts kv.Timestamp, d time.Duration) kv.Timestamp {
	return kv.NewTimestamp(max(0, ts.Physical()-d.Milliseconds()), 0)
}
