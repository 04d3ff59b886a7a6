package tpce

import (
	"context"
	"sync"
	"time"

	"moka/tpce/gen"
)

// pacer hands out the moments at which customers' transactions should start. In a closed loop that is at
// once. In an open loop they arrive at a given rate whatever the server does, exponentially spaced; a
// customer who is late starts at once, and the response time counts from the moment it should have started: a
// server that stalls cannot hide the requests that waited meanwhile (coordinated omission).
type pacer struct {
	mu   sync.Mutex
	rand *gen.Rand
	gap  time.Duration // mean; 0 is a closed loop
	next time.Time
}

// customersPerResult is how many customers' transactions the mix has for each Trade-Result.
const customersPerResult = 8.9

func newPacer(rate float64, start time.Time, r *gen.Rand) *pacer {
	p := &pacer{rand: r, next: start}
	if rate > 0 {
		p.gap = time.Duration(float64(time.Second) / (rate * customersPerResult))
	}
	return p
}

// wait returns the moment at which the caller's transaction should start, when that has come;
// false if ctx ends first.
func (p *pacer) wait(ctx context.Context) (time.Time, bool) {
	if p.gap == 0 {
		return time.Now(), ctx.Err() == nil
	}
	p.mu.Lock()
	// The cut keeps a lone long gap from emptying a short run.
	p.next = p.next.Add(time.Duration(p.rand.Exponential(float64(p.gap), 20*float64(p.gap))))
	at := p.next
	p.mu.Unlock()
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return at, ctx.Err() == nil
	case <-ctx.Done():
		return at, false
	}
}
