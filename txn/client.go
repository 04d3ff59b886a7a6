package txn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/txn/delays"
	"moka/txn/recall"
	"moka/txn/record"
)

// Client begins transactions. It is safe for concurrent use; one for each process is usual.
type Client struct {
	store   kv.Store
	clock   Timestamps
	o       Options
	metrics metrics
	fates   fates
	// asking and settling are the requests about others' transactions that are under way.
	asking   recall.Flights[asked, *statusResponse]
	settling recall.Flights[settled, kv.Message]
	finish   finisher
	seeding  seeding
	lockers  lockers
	// programsRefused is when a shard last refused to run a program, in nanoseconds.
	programsRefused atomic.Int64
	session         atomic.Pointer[string] // never nil

	snapshots snapshots
	safePoint func() kv.Timestamp // what the clock's answers told; nil if they do not

	// ctx ends when Close gives up waiting; background work hangs on it.
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// NewClient makes a client of a store whose nodes serve NewCoprocessor.
func NewClient(store kv.Store, clock Timestamps, o Options) (*Client, error) {
	if store == nil || clock == nil {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "txn.NewClient", "store and clock are needed")
	}
	if o.LockTTL > record.MaxTTL {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "txn.NewClient", "lock TTL %v is over a year", o.LockTTL)
	}
	c := &Client{store: store, clock: clock, o: o.withDefaults()}
	c.SetSession(o.Session)
	if s, ok := clock.(safePointed); ok {
		c.safePoint = s.SafePoint
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.fates.Size = fatesSize
	c.finish.init(c)
	c.lockers = lockers{c: c, txns: map[*Txn]map[kv.ShardID]bool{}, stop: make(chan struct{})}
	return c, nil
}

// SetSession is for who has lost the session that Options named: locks are written with the new one from now
// on. Those with the old one others may roll back, and so may this client; their transactions notice when
// they commit.
func (c *Client) SetSession(session string) { c.session.Store(&session) }

// Close waits for commits of secondaries that go on in the background, as long as RetryTime. What it gives up on is resolved
// by whoever meets it.
func (c *Client) Close() error {
	c.mu.Lock()
	if !c.closed {
		close(c.lockers.stop)
	}
	c.closed = true
	c.mu.Unlock()
	timer := time.AfterFunc(c.o.RetryTime, c.cancel)
	c.wg.Wait()
	timer.Stop()
	c.cancel()
	return nil
}

// goBackground runs f as part of the client, unless it is closed.
func (c *Client) goBackground(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(f)
	return true
}

// Begin returns a new transaction. It costs nothing: the snapshot is taken at the first read or, failing that, at commit.
func (c *Client) Begin(o TxnOptions) *Txn {
	return &Txn{c: c, o: o}
}

// backoff spaces the attempts of one bounded undertaking. Its jitter comes from the transaction's start_ts: it spreads
// competitors, and a simulation with the same seed does the same again. Requests to several shards under way at the same time
// share one.
type backoff struct {
	deadline time.Time

	mu     sync.Mutex
	pause  time.Duration
	jitter uint64
	tried  int
}

const (
	minPause = 500 * time.Microsecond
	maxPause = 100 * time.Millisecond
)

func newBackoff(bound time.Duration, salt kv.Timestamp) *backoff {
	return new(backoff).begin(time.Now(), bound, salt)
}

// begin makes a back-off that is part of something else ready.
func (b *backoff) begin(now time.Time, bound time.Duration, salt kv.Timestamp) *backoff {
	b.deadline, b.pause, b.jitter, b.tried = now.Add(bound), minPause, uint64(salt)*0x9e3779b97f4a7c15+1, 0
	return b
}

// wait pauses before the next attempt; false means that the time is up or ctx has ended.
func (b *backoff) wait(ctx context.Context) bool {
	pause := b.next()
	if time.Now().Add(pause).After(b.deadline) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fork returns a back-off up to the same deadline for the i-th of several requests that go on at the same time. If they shared
// one, how long each waits would depend on who comes first, and no simulation would do the same again.
func (b *backoff) fork(i int) *backoff {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &backoff{deadline: b.deadline, pause: b.pause, jitter: b.jitter + uint64(i)*0x9e3779b97f4a7c15}
}

// tries counts its calls.
func (b *backoff) tries() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried++
	return b.tried
}

// begun says whether there was a pause already.
func (b *backoff) begun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pause > minPause
}

// next returns the length of the next pause.
func (b *backoff) next() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jitter ^= b.jitter << 13
	b.jitter ^= b.jitter >> 7
	b.jitter ^= b.jitter << 17
	pause := b.pause/2 + time.Duration(b.jitter%uint64(b.pause))
	b.pause = min(2*b.pause, maxPause)
	return pause
}

// nothingHappened says whether an error of the store rules out that the command had effects.
func nothingHappened(err error) bool {
	switch kv.CodeOf(err) {
	case kv.CodeMoved, kv.CodeBusy, kv.CodeUnavailable, kv.CodeInvalidArgument, kv.CodeNotFound, kv.CodeClosed, kv.CodeDiskFull,
		kv.CodeNotLeader:
		return true
	}
	return false
}

// worthRepeating says whether the same request may succeed later. All our commands may be repeated safely.
func worthRepeating(err error) bool {
	switch kv.CodeOf(err) {
	case kv.CodeBusy, kv.CodeUnavailable, kv.CodeOutcomeUnknown, kv.CodeNotLeader:
		return true
	}
	return false
}

// call runs a command and repeats it, within the back-off's bound, when the store is busy or does not answer. unknown is set
// once an attempt may have had effects that nobody told us of. kv.ErrMoved is for the caller, who must group again.
func (c *Client) call(ctx context.Context, b *backoff, g *shardGroup, cmd kv.CommandID, req kv.Message, unknown *bool) (kv.Message, error) {
	for {
		resp, err := c.store.Call(ctx, g.shard, g.tablets, cmd, req)
		if err == nil {
			return resp, nil
		}
		if unknown != nil && !nothingHappened(err) {
			*unknown = true
		}
		if errors.Is(err, kv.ErrMoved) {
			c.metrics.moved.Add(1)
			delays.Resent(ctx)
			return nil, err
		}
		if !worthRepeating(err) || !b.wait(ctx) {
			return nil, err
		}
		c.metrics.retries.Add(1)
		delays.Resent(ctx)
	}
}

// shardGroup is the part of a request that one shard serves.
type shardGroup struct {
	shard   kv.ShardID
	tablets []kv.TabletRef
	spans   []kv.Span // of the tablets
	index   []int     // into what was grouped

	// Most groups are of one row: these are its slices' memory.
	oneTablet [1]kv.TabletRef
	oneSpan   [1]kv.Span
	oneIndex  [1]int
}

func newShardGroup(s kv.ShardID) *shardGroup {
	g := &shardGroup{shard: s}
	g.tablets, g.spans, g.index = g.oneTablet[:0], g.oneSpan[:0], g.oneIndex[:0]
	return g
}

// group deals n rows to the shards that serve them, in the order in which they come up.
func (c *Client) group(ctx context.Context, n int, row func(int) kv.RowKey) ([]*shardGroup, error) {
	var groups []*shardGroup
	var last *shardGroup
	var tablet kv.Tablet
	for i := range n {
		if last == nil || !tablet.Span.Contains(row(i)) {
			var err error
			if tablet, err = c.store.Locate(ctx, row(i)); err != nil {
				return nil, err
			}
			last = nil
			for _, g := range groups {
				if g.shard == tablet.Shard {
					last = g
				}
			}
			if last == nil {
				last = newShardGroup(tablet.Shard)
				groups = append(groups, last)
			}
			last.addTablet(tablet)
		}
		last.index = append(last.index, i)
	}
	return groups, nil
}

func (g *shardGroup) addTablet(t kv.Tablet) {
	ref := kv.TabletRef{ID: t.ID, Generation: t.Generation}
	for _, r := range g.tablets {
		if r == ref {
			return
		}
	}
	g.tablets = append(g.tablets, ref)
	g.spans = append(g.spans, t.Span)
}

// groupOne groups a single row.
func (c *Client) groupOne(ctx context.Context, row kv.RowKey) (*shardGroup, error) {
	gs, err := c.group(ctx, 1, func(int) kv.RowKey { return row })
	if err != nil {
		return nil, err
	}
	return gs[0], nil
}

// each runs f for all groups, at the same time if there are several, and returns the first error in group order. f gets a
// back-off of its own.
func each(b *backoff, groups []*shardGroup, f func(i int, b *backoff, g *shardGroup) error) error {
	if len(groups) == 1 {
		return f(0, b, groups[0])
	}
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		own := b.fork(i)
		wg.Go(func() { errs[i] = f(i, own, g) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// seeding keeps one seed request for each shard under way.
type seeding struct {
	mu   sync.Mutex
	busy map[uint64]bool // by incarnation
}

// seed gives a shard what it lost when it was opened; see state.seeded. The timestamp is fetched after the shard asked.
func (c *Client) seed(ctx context.Context, g *shardGroup, incarnation uint64) error {
	ts, err := c.clock.Next(ctx)
	if err != nil {
		return err
	}
	c.metrics.seeds.Add(1)
	_, err = c.store.Call(ctx, g.shard, g.tablets, cmdSeed, &seedRequest{incarnation: incarnation, tablets: g.tablets, ts: ts})
	if errors.Is(err, kv.ErrMoved) || err != nil && worthRepeating(err) {
		return nil // the write that needs the seed will ask again
	}
	return err
}

// seedForWrite seeds because a write waits for it. Tablets that keep moving could keep it from ever being enough.
func (c *Client) seedForWrite(ctx context.Context, b *backoff, g *shardGroup, incarnation uint64) error {
	if err := c.seed(ctx, g, incarnation); err != nil {
		return err
	}
	if time.Now().After(b.deadline) {
		return kv.Errorf(kv.CodeBusy, "txn.commit", "shard %d does not get ready for writes; nothing was committed", g.shard)
	}
	return nil
}

// seedSoon seeds in the background after a read has found that somebody will have to.
func (c *Client) seedSoon(g *shardGroup, incarnation uint64) {
	if incarnation == 0 {
		return
	}
	c.seeding.mu.Lock()
	defer c.seeding.mu.Unlock()
	if c.seeding.busy == nil {
		c.seeding.busy = map[uint64]bool{}
	}
	if c.seeding.busy[incarnation] {
		return
	}
	c.seeding.busy[incarnation] = c.goBackground(func() {
		_ = c.seed(c.ctx, g, incarnation) // a write would do it again, and report
		c.seeding.mu.Lock()
		defer c.seeding.mu.Unlock()
		delete(c.seeding.busy, incarnation)
	})
}
