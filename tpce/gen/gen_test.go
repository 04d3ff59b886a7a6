package gen

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

var small = Params{Customers: 100, Days: 1, DailyMarketWeeks: 2, NewsBytes: 1000}

func newUniverse(tb testing.TB, p Params) *Universe {
	tb.Helper()
	u, err := New(p)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func forEachRow(tb testing.TB, u *Universe, visit func(table string, r Row)) {
	tb.Helper()
	for _, s := range u.Static() {
		for i := range s.Units {
			s.Unit(i, func(r Row) { visit(s.Table, r) })
		}
	}
	for unit := range u.LoadUnits() {
		if err := u.History(unit, Grown, func(table string, r Row) error {
			visit(table, r)
			return nil
		}); err != nil {
			tb.Fatal(err)
		}
	}
}

func text(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.Format("2006-01-02 15:04:05.000")
	default:
		return fmt.Sprint(v)
	}
}

func checksums(tb testing.TB, u *Universe) (map[string]int64, map[string]uint64) {
	rows, sums := map[string]int64{}, map[string]uint64{}
	forEachRow(tb, u, func(table string, r Row) {
		h := fnv.New64a()
		for _, v := range r {
			fmt.Fprintf(h, "%s|", text(v))
		}
		rows[table]++
		sums[table] = sums[table]*31 + h.Sum64()
	})
	return rows, sums
}

// TestGolden pins every row of the smallest world: another value here means that databases loaded by
// different versions of this program differ, and the format number of the load must change.
func TestGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows, sums := checksums(t, newUniverse(t, small))
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&got, "%-20s %7d %016x\n", name, rows[name], sums[name])
	}
	if *update {
		if err := os.WriteFile("testdata/golden.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(want) {
		t.Errorf("rows differ from testdata/golden.txt (go test ./tpce/gen -update rewrites it):\n%s",
			got.String())
	}
}

// TestUnitsAreIndependent generates the units backwards and on several goroutines: same rows.
func TestUnitsAreIndependent(t *testing.T) {
	forward, backward := newUniverse(t, small), newUniverse(t, small)
	for k, s := range forward.Static() {
		b := backward.Static()[k]
		want, got := make([][]string, s.Units), make([][]string, s.Units)
		for i := range s.Units {
			s.Unit(i, func(r Row) { want[i] = append(want[i], fmt.Sprint(r...)) })
		}
		var wg sync.WaitGroup
		for part := range 4 {
			wg.Go(func() {
				for i := s.Units - 1; i >= 0; i-- {
					if i%4 == part {
						b.Unit(i, func(r Row) { got[i] = append(got[i], fmt.Sprint(r...)) })
					}
				}
			})
		}
		wg.Wait()
		for i := range want {
			if !slices.Equal(want[i], got[i]) {
				t.Fatalf("%s, unit %d: %v, backwards %v", s.Table, i, want[i], got[i])
			}
		}
	}
}

func TestTotalsCountWhatIsEmitted(t *testing.T) {
	u := newUniverse(t, Params{Customers: 200, Days: 2, DailyMarketWeeks: 1, NewsBytes: 300})
	rows := map[string]int64{"trade_request": 0}
	brokers := make([]BrokerTotal, u.brokers())
	accounts := map[int64]int64{}
	forEachRow(t, u, func(table string, r Row) {
		rows[table]++
		switch table {
		case "customer_account":
			accounts[r[0].(int64)] = r[1].(int64)
		case "trade":
			b := &brokers[accounts[r[8].(int64)]-u.brokerID(1)]
			b.Trades++
			b.Commission += r[12].(Cents)
		}
	})
	if got := u.Totals().Rows; !maps.Equal(got, rows) {
		t.Errorf("Totals counts %v\nemitted are %v", got, rows)
	}
	if got := u.Totals().Brokers; !slices.Equal(got, brokers) {
		t.Errorf("broker totals %v, from the trades %v", got, brokers)
	}
	if rows["trade"] != 2*28_800*200/500 {
		t.Errorf("%d trades", rows["trade"])
	}
}

// TestSizesOfOneLoadUnit compares with what the specification's generator gives at 5 days; positions are
// random walks, so their figures are held to 2 %.
func TestSizesOfOneLoadUnit(t *testing.T) {
	u := newUniverse(t, Params{Customers: 1000, Days: 5})
	accounts := 0
	for n := 1; n <= 1000; n++ {
		accounts += u.Accounts(n)
	}
	if accounts != 5000 || u.Securities() != 685 {
		t.Errorf("%d accounts, %d securities: want 5000 and 685", accounts, u.Securities())
	}
	for table, want := range map[string]int64{
		"trade": 288_000, "settlement": 288_000, "trade_history": 691_014, "cash_transaction": 265_017,
		"holding_history": 349_073,
		"holding":         111_527, "holding_summary": 45_971, "daily_market": 893_925, "financial": 10_000,
		"zip_code": 14_741, "taxrate": 320,
		"watch_item": 100_000, "account_permission": 7_100, "address": 1_504, "broker": 10,
	} {
		if got := u.Totals().Rows[table]; got < want*98/100 || got > want*102/100 {
			t.Errorf("%s has %d rows, want about %d", table, got, want)
		}
	}
}

func TestCustomerSkew(t *testing.T) {
	for _, customers := range []int{100, 700, 1000, 2000} {
		u := newUniverse(t, Params{Customers: customers})
		r := NewRand(7, 0)
		var draws, members [4]float64
		for n := 1; n <= customers; n++ {
			members[u.Tier(n)]++
		}
		const total = 200_000
		for range total {
			n := u.ChooseCustomer(r)
			if n < 1 || n > customers {
				t.Fatalf("customer %d of %d", n, customers)
			}
			draws[u.Tier(n)]++
		}
		for tier, want := range map[int][2]float64{1: {.2, .1}, 2: {.6, .6}, 3: {.2, .3}} {
			if got := members[tier] / float64(customers); math.Abs(got-want[0]) > .001 {
				t.Errorf("%d customers: tier %d has %.3f of them", customers, tier, got)
			}
			if got := draws[tier] / total; math.Abs(got-want[1]) > .01 {
				t.Errorf("%d customers: tier %d gets %.3f of the draws", customers, tier, got)
			}
		}
	}
}

func TestIdsInvert(t *testing.T) {
	u := newUniverse(t, Params{Customers: 3000, Days: 1})
	taxIDs, names := map[string]bool{}, map[string]bool{}
	for n := 1; n <= 3000; n++ {
		if CustomerNumber(CustomerID(n)) != n || AccountOwner(AccountID(n, u.Accounts(n)-1)) != n ||
			AccountOwner(AccountID(n, 0)) != n {
			t.Fatalf("ids of customer %d do not invert", n)
		}
		taxIDs[u.Customer(n).TaxID] = true
	}
	symbols := map[string]bool{}
	for i := range u.Securities() {
		symbols[u.Symbol(i)] = true
	}
	for c := range 50_000 {
		names[companyName(c)] = true
	}
	if len(taxIDs) != 3000 || len(symbols) != u.Securities() || len(names) != 50_000 {
		t.Errorf("%d tax ids of 3000, %d symbols of %d, %d company names of 50000", len(taxIDs), len(symbols),
			u.Securities(), len(names))
	}
}

func TestCurveReachesTheLimit(t *testing.T) {
	r := NewRand(3, 0)
	for range 20_000 {
		security, at := int(r.Int(0, 684)), r.Int(0, 10_000_000)
		kind, limit := []TradeType{LimitBuy, LimitSell, StopLoss}[r.Int(0, 2)], DrawLimit(r)
		wait := WaitFor(kind, security, limit, at)
		if wait < 0 || wait >= curveMillis {
			t.Fatalf("%s at %v waits %d ms", kind, limit, wait)
		}
		p := PriceAt(security, at+wait)
		if wait > 0 && (p < limit-1 || p > limit+1) {
			t.Fatalf("%s at %v: price %v after %d ms", kind, limit, p, wait)
		}
		if wait == 0 && !InTheMoney(kind, limit, p) {
			t.Fatalf("%s at %v executes at %v", kind, limit, p)
		}
	}
}

// TestCloseAgainstUnits compares with a model that moves one share at a time.
func TestCloseAgainstUnits(t *testing.T) {
	r := NewRand(11, 0)
	for range 5000 {
		side := 1 - 2*r.Int(0, 1)
		var lots []Lot
		var units []Cents // the price of each open share, in order
		for i := range r.Int(0, 4) {
			l := Lot{TradeID: i + 1, Quantity: side * r.Int(1, 9), Price: DrawLimit(r)}
			lots = append(lots, l)
			for range side * l.Quantity {
				units = append(units, l.Price)
			}
		}
		signed := (1 - 2*r.Int(0, 1)) * r.Int(1, 12)
		price := DrawLimit(r)
		closed, rest, gain := Close(lots, signed, price)

		var wantGain Cents
		left := signed
		if signed*side < 0 {
			for _, p := range units {
				if left == 0 {
					break
				}
				left += side
				wantGain += Cents(side) * (price - p)
			}
		}
		moved := int64(0)
		for i, c := range closed {
			moved += c.After - c.Quantity
			if c.Lot != lots[i] {
				t.Fatalf("touched %v, want lot %v", c, lots[i])
			}
		}
		if rest != left || gain != wantGain || moved != signed-rest {
			t.Fatalf("lots %v, trade %d at %v: rest %d gain %v moved %d, want %d %v %d", lots, signed, price,
				rest, gain, moved, left, wantGain, signed-left)
		}
	}
}

func TestDecimals(t *testing.T) {
	for in, want := range map[string]Cents{"0": 0, "1": 100, "-1.5": -150, "12.345": 1235, "-12.345": -1235,
		"12.344999": 1234, ".5": 50, "-0.05": -5, "1234567890.12": 123456789012} {
		var c Cents
		if err := c.Scan([]byte(in)); err != nil || c != want {
			t.Errorf("%q reads as %d (%v), want %d", in, c, err, want)
		}
	}
	var c Cents
	for _, bad := range []any{"", "x", "1.x", "1e5", nil, true} {
		if err := c.Scan(bad); err == nil {
			t.Errorf("%v reads as %v", bad, c)
		}
	}
	for in, want := range map[Cents]string{0: "0.00", 5: "0.05", -5: "-0.05", 123456: "1234.56"} {
		if in.String() != want {
			t.Errorf("%d prints as %s", in, in)
		}
	}
	if got := Commission(12, 100, 2005); got != 241 { // 2.406
		t.Errorf("commission %v", got)
	}
	if got := Tax(105, 50_000); got != 53 { // 52.5, away from zero
		t.Errorf("tax %v", got)
	}
}

func TestImpossibleSizes(t *testing.T) {
	for _, p := range []Params{{Customers: 150}, {Customers: 1500}, {Customers: -100}, {Days: -1},
		{ScaleFactor: 7}, {DailyMarketWeeks: 262}, {NewsBytes: 10}} {
		if _, err := New(p); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}
