package txn

import (
	"context"

	"moka/kv"
)

// Prefetch is a timestamp on its way: a statement asks for it when it arrives, is parsed and planned meanwhile, and gives it to
// its transaction, which finds the clock's round trip made. It serves one transaction. What nobody takes costs a timestamp.
type Prefetch struct {
	done chan struct{}
	ts   kv.Timestamp
	err  error
}

// Prefetch asks the clock for a timestamp and returns at once. See TxnOptions.Prefetched.
func (c *Client) Prefetch(ctx context.Context) *Prefetch {
	p := &Prefetch{done: make(chan struct{})}
	fetch := func() {
		p.ts, p.err = c.clock.Next(ctx)
		close(p.done)
	}
	if !c.goBackground(fetch) {
		p.err = ErrClosed
		close(p.done)
	}
	return p
}

// take returns the timestamp, or zero if there is none to be had.
func (p *Prefetch) take(ctx context.Context) kv.Timestamp {
	if p == nil {
		return 0
	}
	select {
	case <-p.done:
		if p.err == nil {
			return p.ts
		}
	case <-ctx.Done():
	}
	return 0
}

// nextTS returns the transaction's first timestamp: the one that was prefetched, or else a fresh one.
func (t *Txn) nextTS(ctx context.Context) (kv.Timestamp, error) {
	t.mu.Lock()
	p := t.o.Prefetched
	t.o.Prefetched = nil
	t.mu.Unlock()
	if ts := p.take(ctx); ts != 0 {
		return ts, nil
	}
	return t.c.clock.Next(ctx)
}
