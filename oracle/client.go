package oracle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
)

// ClientOptions of a Client; zero values mean the defaults.
type ClientOptions struct {
	// MaxWait bounds how long one request is repeated while there is no leader; default 10s. A caller's own
	// context bounds its waiting as well.
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
// A Server in the same process is called directly: one short lock and a look at the clock. Through any other
// source there is at most one request under way; callers that come meanwhile board the next one together.
// They must not be served by the one under way: it may have been answered before they asked, with a timestamp
// that is lower than one somebody else has received since.
//
//	callers ── one atomic add each ──► flight (boarding) ── sealed ──► one request ──► landed: caller i has first+i
//
// Nothing else is shared between callers, so that a timestamp costs them tens of nanoseconds and the
// request's cost is divided among all that came while the last one was away.
type Client struct {
	src    Source
	direct Local // in this process, if there is one
	opts   ClientOptions

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	start  sync.Once
	kick   chan struct{} // capacity 1: the boarding flight has its first passengers

	down bool // the last request has found nobody; the pilot's

	boarding  atomic.Pointer[flight] // never nil
	safePoint atomic.Uint64
	stats     clientCounters
}

// flight is one request and the callers that share it. Caller i receives first+i.
//
// A flight is sealed by a bit in the count, so that to board and to close the doors exclude each other: who
// finds the bit came too late and boards the next one, which is in place before the bit is set.
type flight struct {
	n      atomic.Uint64 // passengers, and sealed
	landed atomic.Bool   // first and err are valid; set before done is closed, and cheaper to look at
	done   chan struct{}
	first  kv.Timestamp
	err    error
}

const sealed = 1 << 63

func newFlight() *flight { return &flight{done: make(chan struct{})} }

// board returns the caller's seat; false if the doors are closed.
func (f *flight) board(n int) (seat uint64, ok bool) {
	after := f.n.Add(uint64(n))
	return after - uint64(n), after&sealed == 0
}

// seal closes the doors and returns how many are on board, which may be more than one request may ask for.
func (f *flight) seal() uint64 { return f.n.Or(sealed) &^ sealed }

func (f *flight) land(first kv.Timestamp, err error) {
	f.first, f.err = first, err
	f.landed.Store(true)
	close(f.done)
}

// NewClient makes a client of src.
func NewClient(src Source, o ClientOptions) *Client {
	c := &Client{src: src, opts: o.withDefaults(), kick: make(chan struct{}, 1)}
	switch src := src.(type) {
	case Local:
		c.direct = src
	case *Remote:
		c.direct = src.opts.Local
	}
	c.boarding.Store(newFlight())
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends all waiting with ErrUnavailable. The source stays open.
func (c *Client) Close() {
	c.cancel()
	c.start.Do(func() {}) // a pilot starts before this, or never
	c.wg.Wait()
	// A flight that nobody will fly: late callers learn it from its error.
	f := c.boarding.Load()
	if f.n.Or(sealed)&sealed == 0 {
		f.land(0, &Error{Code: CodeUnavailable, Err: errClientClosed})
	}
}

// Next returns a timestamp greater than every one that any client of the oracle had received before the call.
func (c *Client) Next(ctx context.Context) (kv.Timestamp, error) {
	if ts, ok := c.nextDirect(1); ok {
		return ts, nil
	}
	return c.join(1).Wait(ctx)
}

// Range returns n consecutive timestamps, each as good as one from Next: first, first+1, … For a caller that
// begins several transactions at once. n is 1 to MaxRange.
func (c *Client) Range(ctx context.Context, n int) (first kv.Timestamp, err error) {
	if n < 1 || n > MaxRange {
		return 0, &Error{Code: CodeInvalid,
			Err: fmt.Errorf("asked for a range of %d timestamps; one call may ask for 1 to %d", n, MaxRange)}
	}
	if ts, ok := c.nextDirect(n); ok {
		return ts, nil
	}
	return c.join(n).Wait(ctx)
}

// MaxRange bounds what one call of Range may ask for: many callers share a request, which has a bound of its
// own.
const MaxRange = 1 << 10

// Async asks for a timestamp without waiting for it, so that the request travels while the statement is
// parsed. The timestamp is greater than every one received before the call of Async.
func (c *Client) Async() Future {
	if ts, ok := c.nextDirect(1); ok {
		return Future{ts: ts}
	}
	return c.join(1)
}

func (c *Client) nextDirect(n int) (kv.Timestamp, bool) {
	if c.direct == nil {
		return 0, false
	}
	b, ok := c.direct.tryNext(n)
	if ok {
		c.saw(b.SafePoint)
	}
	return b.First, ok
}

// Future is a timestamp that is under way. An abandoned one costs a number.
type Future struct {
	ts     kv.Timestamp // the answer if flight is nil, else the seat
	err    error
	flight *flight
}

// Wait returns the timestamp; it may be called again, and by several goroutines.
func (f Future) Wait(ctx context.Context) (kv.Timestamp, error) {
	if f.flight == nil {
		return f.ts, f.err
	}
	if !f.flight.landed.Load() {
		select {
		case <-f.flight.done:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if f.flight.err != nil {
		return 0, f.flight.err
	}
	return f.flight.first + f.ts, nil
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

// join adds a caller who wants n timestamps to the next request.
func (c *Client) join(n int) Future {
	for {
		f := c.boarding.Load()
		seat, ok := f.board(n)
		switch {
		case !ok && c.ctx.Err() != nil:
			return Future{err: &Error{Code: CodeUnavailable, Err: errClientClosed}}
		case !ok:
			continue // the next one is boarding already
		case seat+uint64(n) > MaxBatch:
			// The seats stay empty. Whoever boards behind is turned away as well, which ends with
			// this flight's departure.
			return Future{err: &Error{Code: CodeUnavailable,
				Err: fmt.Errorf("%d timestamps are waited for already", seat)}}
		case seat == 0:
			c.start.Do(func() { c.wg.Go(c.fly) })
			select {
			case c.kick <- struct{}{}:
			default: // the pilot has yet to look for the last one; it will find this flight
			}
		}
		return Future{ts: kv.Timestamp(seat), flight: f}
	}
}

// fly makes one request after another as long as somebody waits.
func (c *Client) fly() {
	for {
		select {
		case <-c.kick:
		case <-c.ctx.Done():
			return
		}
		// Let those who have just been served board again: one request for all instead of two of halves.
		// Nobody who is ready means no delay.
		runtime.Gosched()
		f := c.boarding.Load()
		c.boarding.Store(newFlight())
		n := min(f.seal(), MaxBatch)
		if n == 0 {
			continue
		}
		b, err := c.fetch(int(n))
		c.stats.requests.Add(1)
		c.stats.timestamps.Add(n)
		f.land(b.First, err)
	}
}

// fetch repeats a request until it is answered or MaxWait is over. Repeating is safe: an answer that was lost
// has cost numbers and nothing else. Who comes when nobody has answered for that long waits for a moment
// only: a statement asks more than once.
func (c *Client) fetch(n int) (Batch, error) {
	wait := c.opts.MaxWait
	if c.down {
		wait = min(wait, downWait)
	}
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	var last error // what a server said, which explains more than that time is up
	for w := (backoff{}); ; w.wait(ctx) {
		try, done := context.WithTimeout(ctx, tryTime)
		b, err := c.src.Next(try, n)
		done()
		if last == nil || !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		switch {
		case err == nil:
			c.down = false
			c.saw(b.SafePoint)
			return b, nil
		case errors.Is(err, ErrInvalid):
			return Batch{}, err
		case c.ctx.Err() != nil:
			return Batch{}, &Error{Code: CodeUnavailable, Err: errClientClosed}
		case ctx.Err() != nil:
			c.down = true
			err := fmt.Errorf("no answer within %v; see that the process that has it, or most of a "+
				"cluster's nodes, run, and try again: %w", wait, last)
			return Batch{}, &Error{Code: CodeUnavailable, Err: err}
		}
		c.stats.retries.Add(1)
	}
}

// downWait is how long a request waits when the last one has waited in vain.
const downWait = time.Second

// tryTime bounds one request: a server that is silent for so long hangs, and there may be another one.
const tryTime = 3 * time.Second

var errClientClosed = errors.New("the client was closed")

type clientCounters struct{ requests, timestamps, retries atomic.Uint64 }

// ClientMetrics is a snapshot of one Client. Calls served directly by a server of the same process count
// there.
type ClientMetrics struct {
	Requests   uint64 // sent, each for all callers that waited
	Timestamps uint64 // asked for in them; Timestamps/Requests is the batching
	Retries    uint64
}

// Metrics returns a snapshot.
func (c *Client) Metrics() ClientMetrics {
	return ClientMetrics{c.stats.requests.Load(), c.stats.timestamps.Load(), c.stats.retries.Load()}
}
