package tpce

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/tpce/gen"
)

// The exchange runs in a bubble of fake time. Workers do nothing but note what they are given: every job
// completes, and a feed releases the pending orders that its prices reach, as the database would.

const testSecurities = 685

type seenJob struct {
	marketJob
	at time.Duration
}

type testMarket struct {
	x       *exchange
	mu      sync.Mutex
	pending map[int64]marketOrder // what the database would hold
	jobs    []seenJob
	feeds   [][]tickerEntry
}

// place is a committed Trade-Order.
func (m *testMarket) place(ctx context.Context, t *testing.T, o marketOrder) {
	t.Helper()
	if !o.released {
		m.mu.Lock()
		m.pending[o.trade] = o
		m.mu.Unlock()
	}
	if err := m.x.send(ctx, o); err != nil {
		t.Fatal(err)
	}
}

func (m *testMarket) work(ctx context.Context) {
	for j := range m.x.jobs {
		m.mu.Lock()
		m.jobs = append(m.jobs, seenJob{j, time.Since(m.x.start)})
		m.mu.Unlock()
		m.x.done <- finishedJob{completed: true,
			entry: tickerEntry{j.security, m.x.price(j.security, time.Now()), j.quantity}}
	}
}

func (m *testMarket) feed(ctx context.Context, t *testing.T) {
	for f := range m.x.feeds {
		var released []marketOrder
		m.mu.Lock()
		m.feeds = append(m.feeds, f.entries)
		for _, e := range f.entries {
			for id, o := range m.pending {
				if o.security == e.security && gen.InTheMoney(o.kind, o.quote, e.price) {
					delete(m.pending, id)
					o.released = true
					released = append(released, o)
				}
			}
		}
		m.mu.Unlock()
		for _, o := range released {
			if err := m.x.send(ctx, o); err != nil {
				t.Error(err)
			}
		}
		m.x.done <- finishedJob{}
	}
}

func runExchange(t *testing.T, curvePeriod time.Duration,
	play func(ctx context.Context, m *testMarket)) *testMarket {
	t.Helper()
	ctx := t.Context()
	m := &testMarket{x: newExchange(time.Second, curvePeriod, testSecurities, gen.NewRand(5, 0)),
		pending: map[int64]marketOrder{}}
	var wg sync.WaitGroup
	wg.Go(func() { m.x.run(ctx) })
	for range 3 {
		wg.Go(func() { m.work(ctx) })
	}
	wg.Go(func() { m.feed(ctx, t) })
	play(ctx, m)
	close(m.x.drain)
	wg.Wait()
	return m
}

func TestMarketOrdersComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const orders = 500
		m := runExchange(t, 15*time.Minute, func(ctx context.Context, m *testMarket) {
			for i := range int64(orders) {
				m.place(ctx, t, marketOrder{trade: i, kind: gen.MarketBuy, quantity: 100, released: true})
			}
			<-time.After(10 * time.Second)
		})
		sum := time.Duration(0)
		for i, s := range m.jobs {
			sum += s.at
			if s.at > 5*time.Second || i > 0 && s.due.Before(m.jobs[i-1].due) {
				t.Errorf("job %d after %v", i, s.at)
			}
		}
		if mean := sum / orders; len(m.jobs) != orders || mean < 850*time.Millisecond ||
			mean > 1150*time.Millisecond {
			t.Errorf("%d jobs, %v on average", len(m.jobs), mean)
		}
		// Ten results make one feed; half of a feed's reports are made up when no limit order is there.
		if len(m.feeds) != orders/10 {
			t.Errorf("%d feeds of %d results", len(m.feeds), orders)
		}
		seen := map[int64]int{}
		for _, f := range m.feeds {
			if len(f) != feedSize {
				t.Fatalf("a feed of %d reports", len(f))
			}
			for _, e := range f {
				seen[e.quantity]++
				if e.security < 0 || e.security >= testSecurities || e.price < 2000 || e.price > 3000 {
					t.Errorf("a report of %+v", e)
				}
			}
		}
		if seen[100] != orders || seen[325]+seen[425] != orders || seen[325] < orders/3 ||
			seen[425] < orders/3 {
			t.Errorf("reports by quantity: %v", seen)
		}
	})
}

// TestLimitOrdersWaitForThePrice uses a curve compressed to a minute: an order is released when
// the price touches its limit and the ticker says so, and then completed; those that the drain
// finds waiting are dropped.
func TestLimitOrdersWaitForThePrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const security, period = 17, time.Minute
		placed := map[int64]marketOrder{}
		m := runExchange(t, period, func(ctx context.Context, m *testMarket) {
			for i, kind := range []gen.TradeType{gen.LimitBuy, gen.LimitSell, gen.StopLoss, gen.LimitBuy} {
				placed[int64(i)] = marketOrder{trade: int64(i), security: security, kind: kind,
					quote: []gen.Cents{2300, 2700, 2100, 3000}[i]}
				m.place(ctx, t, placed[int64(i)])
			}
			// Market orders of another security keep the ticker going.
			for i := range int64(2000) {
				m.place(ctx, t, marketOrder{trade: 1000 + i, security: 3, kind: gen.MarketSell, quantity: 200,
					released: true})
				<-time.After(40 * time.Millisecond)
			}
			// The price is at its farthest from the limit somewhere in the period: this one waits.
			now := m.x.price(security, time.Now())
			m.place(ctx, t, marketOrder{trade: 99, security: security, kind: gen.LimitBuy, quote: now - 50})
		})
		completed := map[int64]time.Duration{}
		for _, s := range m.jobs {
			if s.trade < 1000 {
				if _, twice := completed[s.trade]; twice {
					t.Errorf("order %d is completed twice", s.trade)
				}
				completed[s.trade] = s.at
			}
		}
		for i := range int64(4) {
			at, ok := completed[i]
			if !ok {
				t.Errorf("order %d is not completed", i)
				continue
			}
			// Up to ten results (0.4 s) fill the batch, and the market takes up to five seconds.
			reached := time.Duration(gen.WaitFor(placed[i].kind, security, placed[i].quote,
				0)) * period / curvePeriodMillis
			if at < reached || at > reached+7*time.Second {
				t.Errorf("order %d, reached after %v, is completed after %v", i, reached, at)
			}
		}
		if _, ok := completed[99]; ok {
			t.Error("the drain waited for a price")
		}
	})
}
