package tpce

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/tpce/gen"
)

// The exchange runs in a bubble of fake time; workers do nothing but note what they are given.

type seenJob struct {
	marketJob
	at time.Duration
}

func runExchange(t *testing.T, curvePeriod time.Duration, feed func(ctx context.Context, x *exchange)) (*exchange, []seenJob) {
	t.Helper()
	x := newExchange(time.Second, curvePeriod, gen.NewRand(5, 0))
	ctx := t.Context()
	var mu sync.Mutex
	var seen []seenJob
	var wg sync.WaitGroup
	wg.Go(func() { x.run(ctx) })
	for range 3 {
		wg.Go(func() {
			for j := range x.jobs {
				mu.Lock()
				seen = append(seen, seenJob{j, time.Since(x.start)})
				mu.Unlock()
				if !j.released {
					j.released = true
					if err := x.send(ctx, j.marketOrder); err != nil {
						t.Error(err)
					}
				}
				x.done <- struct{}{}
			}
		})
	}
	feed(ctx, x)
	close(x.drain)
	wg.Wait()
	return x, seen
}

func TestMarketOrdersComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const orders = 500
		_, seen := runExchange(t, 15*time.Minute, func(ctx context.Context, x *exchange) {
			for i := range int64(orders) {
				if err := x.send(ctx, marketOrder{trade: i, kind: gen.MarketBuy, released: true}); err != nil {
					t.Fatal(err)
				}
			}
		})
		sum := time.Duration(0)
		for i, s := range seen {
			sum += s.at
			if s.at > 5*time.Second || i > 0 && s.due.Before(seen[i-1].due) {
				t.Errorf("job %d after %v", i, s.at)
			}
			if s.at != s.due.Sub(s.due.Add(-s.at)) {
				t.Errorf("job %d is late", i)
			}
		}
		if mean := sum / orders; len(seen) != orders || mean < 850*time.Millisecond || mean > 1150*time.Millisecond {
			t.Errorf("%d jobs, %v on average", len(seen), mean)
		}
	})
}

// TestLimitOrdersWaitForThePrice uses a curve compressed to a minute: an order is triggered when the price touches its
// limit, and then completed; those that the drain finds waiting are dropped.
func TestLimitOrdersWaitForThePrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const security, period = 17, time.Minute
		var x *exchange
		x, seen := runExchange(t, period, func(ctx context.Context, x *exchange) {
			for i, kind := range []gen.TradeType{gen.LimitBuy, gen.LimitSell, gen.StopLoss, gen.LimitBuy} {
				o := marketOrder{trade: int64(i), security: security, kind: kind, quote: []gen.Cents{2300, 2700, 2100, 3000}[i]}
				if err := x.send(ctx, o); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(period + 10*time.Second)
			// The price is at its farthest from the limit somewhere in the period: this one waits.
			now := x.price(security, time.Now())
			if err := x.send(ctx, marketOrder{trade: 99, security: security, kind: gen.LimitBuy, quote: now - 50}); err != nil {
				t.Fatal(err)
			}
		})
		triggered, completed := map[int64]int{}, map[int64]int{}
		for _, s := range seen {
			if s.released {
				completed[s.trade]++
				continue
			}
			triggered[s.trade]++
			p := x.price(security, s.due)
			if off := p - s.quote; !gen.InTheMoney(s.kind, s.quote, p) && (off > 2 || off < -2) {
				t.Errorf("order %d (%s at %v) is triggered at %v", s.trade, s.kind, s.quote, p)
			}
			if s.trade == 3 && s.at != 0 {
				t.Errorf("an order in the money waits %v", s.at)
			}
		}
		for i := range int64(4) {
			if triggered[i] != 1 || completed[i] != 1 {
				t.Errorf("order %d: triggered %d times, completed %d times", i, triggered[i], completed[i])
			}
		}
		if triggered[99]+completed[99] != 0 {
			t.Error("the drain waited for a price")
		}
	})
}
