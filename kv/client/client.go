package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"moka/kv"
)

// Locator knows what the cache does not.
type Locator interface {
	// Lookup returns the tablet that holds the row, first, and some of those behind it if that costs nothing more.
	Lookup(ctx context.Context, row kv.RowKey) ([]kv.Tablet, error)
	// Shards returns all shards with where they are.
	Shards(ctx context.Context) (map[kv.ShardID]Shard, error)
}

// Handler evaluates commands in this process.
type Handler interface {
	Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error)
}

// Remote reaches other nodes; rpc.Pool is one.
type Remote interface {
	Call(ctx context.Context, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error)
}

// Commands finds a command by its number.
type Commands interface {
	Command(id kv.CommandID) (kv.Command, bool)
}

// Options of a Client; zero values mean the defaults. One of Local and Remote must be there.
type Options struct {
	// Local serves the shards of Node in this process.
	Node  kv.NodeID
	Local Handler
	// Remote serves the others.
	Remote Remote
	// RetryFor bounds how long a call is tried again that met nothing but errors by which nothing happened. Default 5 s,
	// which outlives the restart of a node; negative means not at all.
	RetryFor time.Duration
	// LookupTimeout bounds one look into METADATA. Default 5 s.
	LookupTimeout time.Duration
	// Logger gets what corrects the cache, at debug level. Default discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	switch {
	case o.RetryFor == 0:
		o.RetryFor = 5 * time.Second
	case o.RetryFor < 0:
		o.RetryFor = 0
	}
	if o.LookupTimeout <= 0 {
		o.LookupTimeout = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Pauses between tries, and between looks into a METADATA that lags behind a shard.
const (
	minPause = 2 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// maxStaleLookups is how often METADATA may answer what a shard has refused before it is believed.
	maxStaleLookups = 5
	// maxSharedLookups is how many shared lookups may miss a row before it gets one of its own.
	maxSharedLookups = 8
)

// Client is a kv.Store.
type Client struct {
	dispatcher
	locator Locator
	opts    Options
	cache   *cache
	flights singleflight.Group
	metrics metrics
}

var _ kv.Store = (*Client)(nil)

// New makes a client with an empty cache.
func New(l Locator, c Commands, o Options) (*Client, error) {
	o = o.withDefaults()
	d, err := newDispatcher(c, o.Node, o.Local, o.Remote)
	if err != nil {
		return nil, err
	}
	return &Client{dispatcher: d, locator: l, opts: o, cache: newCache()}, nil
}

// Locate returns the tablet that holds the row. Its keys are shared with the cache: do not change them.
func (c *Client) Locate(ctx context.Context, row kv.RowKey) (kv.Tablet, error) {
	if t, ok, _ := c.cache.find(row); ok {
		return t, nil
	}
	for range maxSharedLookups {
		_, _, gap := c.cache.find(row)
		// All who miss in the same gap wait for one lookup; it brings the tablets behind its row along, so most of them
		// find theirs. The others ask for themselves in the next round, when the gap has become smaller.
		found, err := c.lookup(ctx, "gap "+string(gap), row)
		if err != nil {
			return kv.Tablet{}, err
		}
		if t, ok, _ := c.cache.find(row); ok {
			return t, nil
		}
		if t, ok := holder(found, row); ok {
			return t, nil // the cache knows something later of a part of it; the shard will say
		}
	}
	found, err := c.lookup(ctx, "row "+string(row), row)
	if err != nil {
		return kv.Tablet{}, err
	}
	if t, ok := holder(found, row); ok {
		return t, nil
	}
	return kv.Tablet{}, kv.Errorf(kv.CodeNotFound, "client.Locate", "METADATA has no tablet for row %x", []byte(row))
}

func holder(tablets []kv.Tablet, row kv.RowKey) (kv.Tablet, bool) {
	for _, t := range tablets {
		if t.Span.Contains(row) {
			return t, true
		}
	}
	return kv.Tablet{}, false
}

// lookup asks the locator, once for all who ask by the same key at the same time.
func (c *Client) lookup(ctx context.Context, key string, row kv.RowKey) ([]kv.Tablet, error) {
	v, err := c.share(ctx, key, func(ctx context.Context) (any, error) { return c.ask(ctx, row) })
	if err != nil {
		return nil, err
	}
	return v.([]kv.Tablet), nil
}

// ask looks into METADATA until it answers, and with something that no shard has refused yet.
func (c *Client) ask(ctx context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	pause := minPause
	for stale := 0; ; {
		c.metrics.lookups.Add(1)
		found, err := c.locator.Lookup(ctx, row)
		if err != nil {
			if !nothingHappened(err) || c.opts.RetryFor == 0 || !sleep(ctx, &pause) {
				return nil, err
			}
			c.metrics.retries.Add(1)
			continue
		}
		// METADATA is written after the shard has split or moved a tablet: give it a moment to catch up.
		if t, ok := holder(found, row); ok && c.cache.refused(t) {
			if stale++; stale < maxStaleLookups {
				if !sleep(ctx, &pause) {
					return nil, ctx.Err()
				}
				continue
			}
			c.cache.pardon(t.ID)
		}
		c.cache.add(found, false)
		return found, nil
	}
}

func nothingHappened(err error) bool {
	return errors.Is(err, kv.ErrBusy) || errors.Is(err, kv.ErrUnavailable) || errors.Is(err, kv.ErrClosed) || errors.Is(err, kv.ErrNotLeader)
}

// share runs f once for all who ask by the same key at the same time. It does so under a context of its own, for the first
// to ask may be the first to go.
func (c *Client) share(ctx context.Context, key string, f func(context.Context) (any, error)) (any, error) {
	flight := c.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.opts.LookupTimeout)
		defer cancel()
		return f(ctx)
	})
	select {
	case r := <-flight:
		if r.Err != nil && errors.Is(r.Err, context.DeadlineExceeded) && kv.CodeOf(r.Err) == kv.CodeInternal {
			return nil, &kv.Error{Code: kv.CodeUnavailable, Op: "client.Locate", Msg: "METADATA does not answer", Err: r.Err}
		}
		return r.Val, r.Err
	case <-ctx.Done():
		return nil, &kv.Error{Code: kv.CodeUnavailable, Op: "client.Locate", Err: ctx.Err()}
	}
}

// Call runs a command on a shard, wherever it is led.
func (c *Client) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error) {
	var giveUp time.Time
	pause := minPause
	for {
		node, err := c.nodeOf(ctx, shard)
		if err == nil {
			var resp kv.Message
			if resp, node, err = c.send(ctx, c.cache.leads, node, shard, tablets, command, req); err == nil {
				return resp, nil
			}
		}
		verdict := c.judge(err, node, shard, tablets)
		if verdict == final || ctx.Err() != nil {
			return nil, err
		}
		now := time.Now()
		if giveUp.IsZero() {
			giveUp = now.Add(c.opts.RetryFor)
		}
		if !now.Before(giveUp) || !sleep(ctx, &pause) {
			return nil, c.gaveUp(err, shard)
		}
		c.metrics.retries.Add(1)
		if verdict == tryElsewhere {
			// Its error is no worse than the one we have: the next try will tell.
			_, _ = c.refreshShards(ctx)
		}
	}
}

// gaveUp says in the caller's words that a shard had no leader for as long as he would wait.
func (c *Client) gaveUp(err error, shard kv.ShardID) error {
	if !errors.Is(err, kv.ErrNotLeader) {
		return err
	}
	return &kv.Error{Code: kv.CodeUnavailable, Op: "client.Call", Err: err,
		Msg: fmt.Sprintf("nobody has led shard %d for %v; nothing happened; see that most of the nodes that have it run, and try again", shard, c.opts.RetryFor)}
}

type verdict int

const (
	final verdict = iota
	tryAgain
	tryElsewhere // after asking where the shard is
)

// judge says what an error means for the call, and corrects the cache by it.
func (c *Client) judge(err error, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef) verdict {
	switch {
	case errors.Is(err, kv.ErrMoved):
		c.metrics.moved.Add(1)
		return c.correct(err, node, shard, tablets)
	case errors.Is(err, kv.ErrBusy):
		return tryAgain
	case errors.Is(err, kv.ErrClosed) && node == c.node && c.local != nil:
		return final // this process is going down
	case nothingHappened(err):
		return tryElsewhere
	}
	return final
}

// correct takes ErrMoved to heart. If every tablet is still what the caller routed by, only the shard's node has changed, and
// the caller need not know.
func (c *Client) correct(err error, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef) verdict {
	var e *kv.Error
	if errors.As(err, &e) {
		c.cache.forget(tablets)
		c.cache.add(e.Tablets, true)
		c.opts.Logger.Debug("tablets have moved", "shard", shard, "refused", tablets, "now", e.Tablets)
	}
	if now, ok := c.cache.node(shard); !ok || now == node || len(tablets) == 0 {
		return final
	}
	for _, r := range tablets {
		if !c.cache.holds(r, shard) {
			return final
		}
	}
	return tryAgain
}

func (c *Client) nodeOf(ctx context.Context, shard kv.ShardID) (kv.NodeID, error) {
	if n, ok := c.cache.node(shard); ok {
		return n, nil
	}
	nodes, err := c.refreshShards(ctx)
	if err != nil {
		return 0, err
	}
	if _, ok := nodes[shard]; !ok {
		return 0, kv.Errorf(kv.CodeNotFound, "client.Call", "the cluster has no shard %d", shard)
	}
	if n, ok := c.cache.node(shard); ok {
		return n, nil
	}
	if n := c.cache.other(shard, nil); n != 0 {
		return n, nil // it may say who leads
	}
	return 0, kv.NotLeader("client.Call", kv.Lead{Shard: shard})
}

// Shards lists all shards, as the cluster has them now.
func (c *Client) Shards(ctx context.Context) ([]kv.ShardID, error) {
	nodes, err := c.refreshShards(ctx)
	if err != nil {
		return nil, err
	}
	return sortedShards(nodes), nil
}

func (c *Client) refreshShards(ctx context.Context) (map[kv.ShardID]Shard, error) {
	v, err := c.share(ctx, "shards", func(ctx context.Context) (any, error) {
		nodes, err := c.locator.Shards(ctx)
		if err == nil {
			c.cache.merge(nodes)
		}
		return nodes, err
	})
	if err != nil {
		return nil, err
	}
	return v.(map[kv.ShardID]Shard), nil
}

// sleep waits for about the pause and doubles it. It returns false when ctx has ended. Half of the pause is chance, so that
// callers who were refused together do not come back together.
func sleep(ctx context.Context, pause *time.Duration) bool {
	d := *pause/2 + rand.N(*pause/2)
	*pause = min(2**pause, maxPause)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Metrics counts what a Client did.
type Metrics struct {
	Local   uint64 // commands run in this process
	Remote  uint64 // commands sent to other nodes
	Lookups uint64 // looks into METADATA
	Moved   uint64 // corrections by ErrMoved
	Retries uint64 // tries after the first
	Hops    uint64 // commands sent on at once, because another node was named or is left
}

func (m Metrics) String() string {
	return fmt.Sprintf("local %d, remote %d, lookups %d, moved %d, retries %d, hops %d", m.Local, m.Remote, m.Lookups, m.Moved, m.Retries, m.Hops)
}

type metrics struct{ lookups, moved, retries atomic.Uint64 }

// Metrics returns the counters as they are now.
func (c *Client) Metrics() Metrics {
	return Metrics{
		Local: c.counts.local.Load(), Remote: c.counts.remote.Load(),
		Lookups: c.metrics.lookups.Load(), Moved: c.metrics.moved.Load(), Retries: c.metrics.retries.Load(),
		Hops: c.counts.hops.Load(),
	}
}
