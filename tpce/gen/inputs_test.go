package gen

import (
	"testing"
	"time"
)

// TestChosenTradesExist holds every number that tradeID may give against the history.
func TestChosenTradesExist(t *testing.T) {
	u := newUniverse(t, Params{Customers: 100, Days: 1})
	there := map[int64]bool{}
	var last time.Time
	err := u.History(0, []string{"trade"}, func(_ string, r Row) error {
		there[r[0].(int64)] = true
		if at := r[1].(time.Time); at.After(last) {
			last = at
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(there)) != u.Trades() {
		t.Fatalf("%d trades, %d expected", len(there), u.Trades())
	}
	for i := range u.Trades() {
		if id := u.tradeID(i); !there[id] {
			t.Fatalf("trade %d, %d, is not in the history", i, id)
		}
	}
	if last.After(u.EndOfHistory()) {
		t.Errorf("the last trade completes at %v, after %v", last, u.EndOfHistory())
	}
	two := newUniverse(t, Params{Customers: 2000, Days: 1})
	if a, b := two.tradeID(two.Trades()/2), two.tradeID(0)+two.sequencePerUnit(); a != b {
		t.Errorf("the second load unit starts at %d, not %d", a, b)
	}
	r := NewRand(1, 1)
	for range 200 {
		seen := map[int64]bool{}
		for _, id := range u.ChooseTrades(r, 20) {
			if !there[id] || seen[id] {
				t.Fatalf("trade %d is chosen", id)
			}
			seen[id] = true
		}
	}
}

// TestChosenTimes draws from the shortest and from an ordinary world: every draw finds rows.
func TestChosenTimes(t *testing.T) {
	for _, p := range []Params{{Customers: 100, Days: 1, DailyMarketWeeks: 1}, {Customers: 100, Days: 10}} {
		u := newUniverse(t, p)
		r := NewRand(2, 2)
		days := map[time.Time]bool{}
		u.dailyMarketRows(0, func(r Row) { days[r[0].(Date).Time] = true })
		fridays := 0
		const draws = 5000
		for range draws {
			for _, backOff := range []time.Duration{BackOffAccount, BackOffSymbol, BackOffHolding} {
				if at := u.ChooseTradeTime(r, backOff); at.Before(firstDay) || !at.Before(u.EndOfHistory()) {
					t.Fatalf("%d days: a search starts at %v", p.Days, at)
				}
			}
			d := u.ChooseMarketDay(r)
			if !days[d.Time] {
				t.Fatalf("there is no price on %v", d)
			}
			if d.Weekday() == time.Friday {
				fridays++
			}
			from, n := u.ChooseMarketDays(r)
			found := 0
			for day := range days {
				if !day.Before(from.Time) {
					found++
				}
			}
			if found < n || n < 5 || n > 20 {
				t.Fatalf("%d days asked for from %v, %d there", n, from, found)
			}
		}
		if share := 100 * fridays / draws; share < 57 || share > 63 {
			t.Errorf("%d %% of the days are Fridays, not 60", share)
		}
	}
}

func TestNonUniformRange(t *testing.T) {
	r := NewRand(3, 3)
	low, high := 0, 0
	for range 20_000 {
		v := r.NonUniform(0, 1023, 1023, 0)
		if v < 0 || v > 1023 {
			t.Fatalf("%d is out of range", v)
		}
		if v < 256 {
			low++
		}
		if v >= 768 {
			high++
		}
	}
	if low*2 > high {
		t.Errorf("%d low and %d high values: no skew", low, high)
	}
}
