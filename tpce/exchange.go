package tpce

import (
	"container/heap"
	"context"
	"time"

	"moka/tpce/gen"
)

// exchange is the market: outside the database, and part of the driver. An order that Trade-Order has committed comes
// in; some time later a job goes out that runs a transaction for it.
//
//	market order ----------------------------> ~1 s --> job: Trade-Result
//	limit order --> the curve reaches it --> job: Order-Trigger --(worker)--> ~1 s --> job: Trade-Result
//
// One goroutine owns the state, and never blocks on a worker, so a worker may send an order back while the exchange
// waits for a free worker. Time is the machine's; the curve's period may be compressed, because a limit order waits for
// half a period on average and a short run would otherwise see few of them through.
type exchange struct {
	start       time.Time
	delay       time.Duration // mean delay of the market
	curvePeriod time.Duration
	rand        *gen.Rand

	orders chan marketOrder
	done   chan struct{} // one for each job that a worker has finished
	jobs   chan marketJob
	drain  chan struct{} // closed when no customer will send anything more

	timers   timerHeap
	ready    []marketJob
	inFlight int
	limits   int // timers that wait for the curve
}

type marketOrder struct {
	trade    int64
	security int
	kind     gen.TradeType
	quote    gen.Cents
	// released is set for a market order, and for a limit order once its trigger has been committed.
	released bool
}

type marketJob struct {
	marketOrder
	due time.Time
}

type timerHeap []marketJob

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)        { *h = append(*h, x.(marketJob)) }
func (h *timerHeap) Pop() any {
	old := *h
	j := old[len(old)-1]
	*h = old[:len(old)-1]
	return j
}

func newExchange(delay, curvePeriod time.Duration, r *gen.Rand) *exchange {
	return &exchange{
		start: time.Now(), delay: delay, curvePeriod: curvePeriod, rand: r,
		orders: make(chan marketOrder), done: make(chan struct{}), jobs: make(chan marketJob), drain: make(chan struct{}),
	}
}

// curvePeriodMillis is the period of gen's price curve.
const curvePeriodMillis = 900_000

// curveTime is the moment of the price curve at clock time t.
func (x *exchange) curveTime(t time.Time) int64 {
	return int64(t.Sub(x.start)) / int64(time.Millisecond) * curvePeriodMillis / x.curvePeriod.Milliseconds()
}

// price of a security at clock time t.
func (x *exchange) price(security int, t time.Time) gen.Cents {
	return gen.PriceAt(security, x.curveTime(t))
}

// send hands an order over. It fails only when the run is being abandoned.
func (x *exchange) send(ctx context.Context, o marketOrder) error {
	select {
	case x.orders <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run serves until the drain is complete: every released order has been worked on. Limit orders that the curve has not
// reached by then are dropped; they stay pending in the database. It closes jobs.
func (x *exchange) run(ctx context.Context) {
	defer close(x.jobs)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	drain := x.drain
	draining := false
	for {
		if draining && len(x.timers) == 0 && len(x.ready) == 0 && x.inFlight == 0 {
			return
		}
		x.expire(time.Now())
		if len(x.timers) > 0 {
			timer.Reset(time.Until(x.timers[0].due))
		}
		var out chan marketJob
		var next marketJob
		if len(x.ready) > 0 {
			out, next = x.jobs, x.ready[0]
		}
		select {
		case o := <-x.orders:
			if o.released || !draining {
				x.accept(o, time.Now())
			}
		case out <- next:
			x.ready = x.ready[1:]
			x.inFlight++
		case <-x.done:
			x.inFlight--
		case <-timer.C:
		case <-drain:
			draining, drain = true, nil
			x.dropLimits()
		case <-ctx.Done():
			return
		}
	}
}

func (x *exchange) accept(o marketOrder, now time.Time) {
	var wait time.Duration
	if o.released {
		// The cut at five means keeps a lone slow order from holding up the end of a run.
		wait = time.Duration(x.rand.Exponential(float64(x.delay), 5*float64(x.delay)))
	} else {
		x.limits++
		ms := gen.WaitFor(o.kind, o.security, o.quote, x.curveTime(now))
		wait = time.Duration(ms) * x.curvePeriod / curvePeriodMillis
	}
	heap.Push(&x.timers, marketJob{marketOrder: o, due: now.Add(wait)})
}

func (x *exchange) expire(now time.Time) {
	for len(x.timers) > 0 && !x.timers[0].due.After(now) {
		j := heap.Pop(&x.timers).(marketJob)
		if !j.released {
			x.limits--
		}
		x.ready = append(x.ready, j)
	}
}

func (x *exchange) dropLimits() {
	kept := x.timers[:0]
	for _, j := range x.timers {
		if j.released {
			kept = append(kept, j)
		}
	}
	x.timers, x.limits = kept, 0
	heap.Init(&x.timers)
}
