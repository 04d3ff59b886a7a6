package tpce

import (
	"container/heap"
	"context"
	"time"

	"moka/tpce/gen"
)

// exchange is the market: outside the database, and part of the driver. An order that Trade-Order has
// committed comes in; some time later a job goes out that runs a transaction for it.
//
//	market order -----------------------------------------> ~1 s --> job: Trade-Result --> report ---.
//	limit order --> the curve reaches it --> trigger, one for each completed Trade-Result --> report --+-> ticker
//	                                                       or, for want of one, a made-up report ----'
//	ticker, 20 reports --> feed: Market-Feed --> released limit orders --> ~1 s --> job: Trade-Result
//
// So ten Trade-Results make one Market-Feed, as the specification has it. A trigger names a price only; the
// feed releases every order that its prices reach.
//
// One goroutine owns the state, and never blocks on a worker, so a worker may send an order back while the
// exchange waits for a free worker. Time is the machine's; the curve's period may be compressed, because a
// limit order waits for half a period on average and a short run would otherwise see few of them through.
type exchange struct {
	start       time.Time
	delay       time.Duration // mean delay of the market
	curvePeriod time.Duration
	rand        *gen.Rand
	securities  int

	orders chan marketOrder
	done   chan finishedJob // one for each job and each feed that a worker has finished
	jobs   chan marketJob
	feeds  chan feedJob
	drain  chan struct{} // closed when no customer will send anything more

	timers   timerHeap
	ready    []marketJob
	full     []feedJob
	ticker   []tickerEntry
	triggers []tickerEntry
	inFlight int
}

type marketOrder struct {
	trade    int64
	security int
	kind     gen.TradeType
	quote    gen.Cents
	quantity int64
	// released is set for a market order, and for a limit order once a Market-Feed has submitted it.
	released bool
}

type marketJob struct {
	marketOrder
	due time.Time
}

// feedJob is a full ticker.
type feedJob struct {
	entries []tickerEntry
	due     time.Time
}

// finishedJob is what a worker says of a job; a completed Trade-Result leaves its mark on the ticker.
type finishedJob struct {
	completed bool
	entry     tickerEntry
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

func newExchange(delay, curvePeriod time.Duration, securities int, r *gen.Rand) *exchange {
	return &exchange{
		start: time.Now(), delay: delay, curvePeriod: curvePeriod, securities: securities, rand: r,
		orders: make(chan marketOrder), done: make(chan finishedJob), jobs: make(chan marketJob),
		feeds: make(chan feedJob), drain: make(chan struct{}),
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

// run serves until the drain is complete: every released order has been worked on, every full ticker
// fed. Limit orders that were not reached by then are dropped; they stay pending in the database. It
// closes jobs and feeds.
func (x *exchange) run(ctx context.Context) {
	defer close(x.jobs)
	defer close(x.feeds)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	drain := x.drain
	draining := false
	for {
		if draining && len(x.timers) == 0 && len(x.ready) == 0 && len(x.full) == 0 && x.inFlight == 0 {
			return
		}
		x.expire(time.Now())
		if len(x.timers) > 0 {
			timer.Reset(time.Until(x.timers[0].due))
		}
		var jobs chan marketJob
		var job marketJob
		if len(x.ready) > 0 {
			jobs, job = x.jobs, x.ready[0]
		}
		var feeds chan feedJob
		var feed feedJob
		if len(x.full) > 0 {
			feeds, feed = x.feeds, x.full[0]
		}
		select {
		case o := <-x.orders:
			if o.released || !draining {
				x.accept(o, time.Now())
			}
		case jobs <- job:
			x.ready = x.ready[1:]
			x.inFlight++
		case feeds <- feed:
			x.full = x.full[1:]
			x.inFlight++
		case f := <-x.done:
			x.inFlight--
			if f.completed && !draining {
				x.report(f.entry, time.Now())
			}
		case <-timer.C:
		case <-drain:
			draining, drain = true, nil
			x.dropLimits()
		case <-ctx.Done():
			return
		}
	}
}

// triggerQuantity and artificialQuantities are what the specification puts on reports that are no trades.
const triggerQuantity = 375

var artificialQuantities = [2]int64{325, 425}

func (x *exchange) accept(o marketOrder, now time.Time) {
	var wait time.Duration
	if o.released {
		// The cut at five means keeps a lone slow order from holding up the end of a run.
		wait = time.Duration(x.rand.Exponential(float64(x.delay), 5*float64(x.delay)))
	} else {
		ms := gen.WaitFor(o.kind, o.security, o.quote, x.curveTime(now))
		if ms == 0 {
			x.triggers = append(x.triggers,
				tickerEntry{o.security, x.price(o.security, now), triggerQuantity})
			return
		}
		wait = time.Duration(ms) * x.curvePeriod / curvePeriodMillis
	}
	heap.Push(&x.timers, marketJob{marketOrder: o, due: now.Add(wait)})
}

func (x *exchange) expire(now time.Time) {
	for len(x.timers) > 0 && !x.timers[0].due.After(now) {
		j := heap.Pop(&x.timers).(marketJob)
		if j.released {
			x.ready = append(x.ready, j)
		} else {
			x.triggers = append(x.triggers, tickerEntry{j.security, j.quote, triggerQuantity})
		}
	}
}

// report puts a completed trade on the ticker, and one entry more: the oldest trigger, or a made-up report.
func (x *exchange) report(e tickerEntry, now time.Time) {
	second := tickerEntry{security: int(x.rand.Int(0, int64(x.securities-1))),
		quantity: artificialQuantities[x.rand.Int(0, 1)]}
	second.price = x.price(second.security, now)
	if len(x.triggers) > 0 {
		second, x.triggers = x.triggers[0], x.triggers[1:]
	}
	x.ticker = append(x.ticker, e, second)
	if len(x.ticker) >= feedSize {
		x.full, x.ticker = append(x.full, feedJob{x.ticker, now}), nil
	}
}

func (x *exchange) dropLimits() {
	kept := x.timers[:0]
	for _, j := range x.timers {
		if j.released {
			kept = append(kept, j)
		}
	}
	x.timers, x.triggers = kept, nil
	heap.Init(&x.timers)
}
