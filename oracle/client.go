package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
)

// ClientOptions of a Client; zero values mean the defaults.
type ClientOptions struct {
	// MaxWait bounds how long one request is repeated while there is no leader; default 10s. A caller's own context bounds its
	// waiting as well.
	MaxWait time.Duration
}

func (o ClientOptions) withDefaults() ClientOptions {
	if o.MaxWait <= 0 {
		o.MaxWait = 10 * time.Second
	}
	return o
}

// Client gives timestamps to many callers of one process.
//
// A Server in the same process is called directly: one short lock and a look at the clock. Through any other source there
// is at most one request under way; callers that come meanwhile wait together and are served by the next one. They must not be
// served by the one under way: it may have been answered before they asked, with a timestamp that is lower than
// one somebody else has received since.
type Client struct {
	src    Source
	direct *Server // the server in this process, if there is one
	opts   ClientOptions

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	safePoint atomic.Uint64
	stats     clientCounters

	mu struct {
		sync.Mutex
		waiting *flight // callers for the next request; nil if none
		flying  bool    // the goroutine fly runs
		closed  bool
	}
}

// flight is one request and the callers that share it. Caller i receives first+i.
type flight struct {
	n     int
	done  chan struct{}
	first kv.Timestamp
	err   error
}

// NewClient makes a client of src.
func NewClient(src Source, o ClientOptions) *Client {
	c := &Client{src: src, opts: o.withDefaults()}
	switch src := src.(type) {
	case *Server:
		c.direct = src
	case *Remote:
		c.direct = src.opts.Local
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends all waiting with ErrUnavailable. The source stays open.
func (c *Client) Close() {
	c.mu.Lock()
	c.mu.closed = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}

// Next returns a timestamp greater than every one that any client of the oracle had received before the call.
func (c *Client) Next(ctx context.Context) (kv.Timestamp, error) {
	if c.direct != nil {
		if b, ok := c.direct.tryNext(1); ok {
			c.saw(b.SafePoint)
			return b.First, nil
		}
	}
	f := c.join()
	return f.Wait(ctx)
}

// Async asks for a timestamp without waiting for it, so that the request travels while the statement is parsed. The timestamp is
// greater than every one received before the call of Async.
func (c *Client) Async() Future {
	if c.direct != nil {
		if b, ok := c.direct.tryNext(1); ok {
			c.saw(b.SafePoint)
			return Future{ts: b.First}
		}
	}
	return c.join()
}

// Future is a timestamp that is under way. An abandoned one costs a number.
type Future struct {
	ts     kv.Timestamp
	err    error
	flight *flight // nil: ts and err are the answer
	i      int
}

// Wait returns the timestamp; it may be called again, and by several goroutines.
func (f Future) Wait(ctx context.Context) (kv.Timestamp, error) {
	if f.flight == nil {
		return f.ts, f.err
	}
	select {
	case <-f.flight.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if f.flight.err != nil {
		return 0, f.flight.err
	}
	return f.flight.first + kv.Timestamp(f.i), nil
}

// SafePoint is the greatest that came with a timestamp.
func (c *Client) SafePoint() kv.Timestamp { return kv.Timestamp(c.safePoint.Load()) }

func (c *Client) saw(safePoint kv.Timestamp) {
	for {
		old := c.safePoint.Load()
		if uint64(safePoint) <= old || c.safePoint.CompareAndSwap(old, uint64(safePoint)) {
			return
		}
	}
}

// join adds a caller to the next request.
func (c *Client) join() Future {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		return Future{err: &Error{Code: CodeUnavailable, Err: errClientClosed}}
	}
	f := c.mu.waiting
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.mu.waiting = f
	}
	if f.n == MaxBatch {
		return Future{err: &Error{Code: CodeUnavailable, Err: fmt.Errorf("%d callers are waiting already", f.n)}}
	}
	f.n++
	if !c.mu.flying {
		c.mu.flying = true
		c.wg.Go(c.fly)
	}
	return Future{flight: f, i: f.n - 1}
}

// fly makes one request after another as long as somebody waits.
func (c *Client) fly() {
	for {
		c.mu.Lock()
		f := c.mu.waiting
		c.mu.waiting = nil
		if f == nil {
			c.mu.flying = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		b, err := c.fetch(f.n)
		f.first, f.err = b.First, err
		c.stats.requests.Add(1)
		c.stats.timestamps.Add(uint64(f.n))
		close(f.done)
	}
}

// fetch repeats a request until it is answered or MaxWait is over. Repeating is safe: an answer that was lost has
// cost numbers and nothing else.
func (c *Client) fetch(n int) (Batch, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.MaxWait)
	defer cancel()
	var last error // what a server said, which explains more than that time is up
	for w := (backoff{}); ; w.wait(ctx) {
		b, err := c.src.Next(ctx, n)
		if last == nil || !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		switch {
		case err == nil:
			c.saw(b.SafePoint)
			return b, nil
		case errors.Is(err, ErrInvalid):
			return Batch{}, err
		case c.ctx.Err() != nil:
			return Batch{}, &Error{Code: CodeUnavailable, Err: errClientClosed}
		case ctx.Err() != nil:
			return Batch{}, &Error{Code: CodeUnavailable, Err: fmt.Errorf("no answer within %v: %w", c.opts.MaxWait, last)}
		}
		c.stats.retries.Add(1)
	}
}

var errClientClosed = errors.New("the client was closed")

type clientCounters struct{ requests, timestamps, retries atomic.Uint64 }

// ClientMetrics is a snapshot of one Client. Calls served directly by a server of the same process count there.
type ClientMetrics struct {
	Requests   uint64 // sent, each for all callers that waited
	Timestamps uint64 // asked for in them; Timestamps/Requests is the batching
	Retries    uint64
}

// Metrics returns a snapshot.
func (c *Client) Metrics() ClientMetrics {
	return ClientMetrics{c.stats.requests.Load(), c.stats.timestamps.Load(), c.stats.retries.Load()}
}
