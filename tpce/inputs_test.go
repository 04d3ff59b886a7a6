package tpce

import (
	"math"
	"testing"

	"moka/tpce/gen"
)

// TestInputRanges holds the drawn inputs against the shares that the specification demands of a run.
func TestInputRanges(t *testing.T) {
	u, err := gen.New(gen.Params{Customers: 1000, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := gen.NewRand(3, 1)
	const draws = 40_000
	seen := map[string]float64{}
	for range draws {
		o := drawTradeOrder(u, r)
		detail, watch, lookup, update := drawSecurityDetail(u, r), drawMarketWatch(u, r),
			drawTradeLookup(u, r), drawTradeUpdate(u, r)
		for name, is := range map[string]bool{
			"articles": detail.articles, "watch list": watch.customer != 0,
			"watch account": watch.account != 0, "watch industry": watch.industry != "",
			"lookup 1": lookup.frame == 1, "lookup 2": lookup.frame == 2, "lookup 3": lookup.frame == 3,
			"lookup 4": lookup.frame == 4,
			"update 1": update.frame == 1, "update 2": update.frame == 2, "update 3": update.frame == 3,
			"third party": o.executor != u.Customer(o.customer), "by name": o.byName, "margin": o.margin,
			"LIFO": o.lifo, "rolled back": o.rollBack,
			"quantity 400": o.quantity == 400, string(o.kind): true, "margin sale": o.margin && o.kind.Sell(),
			"limit out of range": o.limit < 2000 || o.limit > 3000,
		} {
			if is {
				seen[name]++
			}
		}
		p := drawCustomerPosition(u, r)
		if p.taxID != "" {
			seen["by tax id"]++
		}
		if p.history >= 0 {
			seen["history"]++
		}
	}
	for name, percent := range map[string]float64{
		"third party": 10, "by name": 40, "margin": 8, "LIFO": 35, "rolled back": 0.99, "quantity 400": 25,
		"margin sale": 0, "limit out of range": 0,
		"TMB": 30, "TMS": 30, "TLB": 20, "TLS": 10, "TSL": 10, "by tax id": 50, "history": 50,
		"articles": 1, "watch list": 60, "watch account": 35, "watch industry": 5, "lookup 1": 30,
		"lookup 2": 30, "lookup 3": 30, "lookup 4": 10,
		"update 1": 33, "update 2": 33, "update 3": 34,
	} {
		if got := 100 * seen[name] / draws; math.Abs(got-percent) > 1 {
			t.Errorf("%s: %.2f %% instead of %.2f", name, got, percent)
		}
	}
}
