package gen

import (
	"fmt"
	"strings"
	"time"
)

// Row has the columns of a table in the order of its definition: int64, Cents, TaxFraction, string,
// time.Time, Date or nil.
type Row []any

// Static is a table whose rows do not depend on the history of trades. Unit i may be generated alone, by any
// goroutine; a unit is one customer's rows, one company's, one security's, or the whole of a small table.
type Static struct {
	Table string
	Units int
	Unit  func(i int, emit func(Row))
}

const (
	active    = "ACTV"
	submitted = "SBMT"
	pending   = "PNDG"
	completed = "CMPT"
	canceled  = "CNCL"
)

func row(values ...any) Row { return values }

// Static lists the 25 tables that are not grown by trades. BROKER is among them: its totals come from Totals.
func (u *Universe) Static() []Static {
	customers := func(f func(n int, emit func(Row))) func(int, func(Row)) {
		return func(i int, emit func(Row)) { f(i+1, emit) }
	}
	return []Static{
		{"status_type", 1, u.statusTypes},
		{"trade_type", 1, u.tradeTypeRows},
		{"zip_code", 1, u.zipRows},
		{"sector", 1, u.sectorRows},
		{"taxrate", 1, u.taxRows},
		{"industry", 1, u.industryRows},
		{"address", len(exchanges) + u.companies() + u.Customers, u.addressRow},
		{"exchange", 1, u.exchangeRows},
		{"charge", 1, u.chargeRows},
		{"commission_rate", 1, u.commissionRows},
		{"company", u.companies(), u.companyRow},
		{"company_competitor", u.companies(), u.competitorRows},
		{"security", len(u.securities), u.securityRow},
		{"daily_market", len(u.securities), u.dailyMarketRows},
		{"financial", u.companies(), u.financialRows},
		{"last_trade", len(u.securities), u.lastTradeRow},
		{"news_item", 2 * u.companies(), u.newsRow},
		{"news_xref", 2 * u.companies(), u.newsXrefRow},
		{"broker", u.brokers(), u.brokerRow},
		{"customer", u.Customers, customers(u.customerRow)},
		{"customer_account", u.Customers, customers(u.accountRows)},
		{"customer_taxrate", u.Customers, customers(u.customerTaxRows)},
		{"account_permission", u.Customers, customers(u.permissionRows)},
		{"watch_list", u.Customers, customers(u.watchListRow)},
		{"watch_item", u.Customers, customers(u.watchItemRows)},
	}
}

func (u *Universe) statusTypes(_ int, emit func(Row)) {
	for _, s := range [][2]string{{active, "Active"}, {submitted, "Submitted"}, {pending, "Pending"},
		{completed, "Completed"}, {canceled, "Canceled"}} {
		emit(row(s[0], s[1]))
	}
}

func (u *Universe) tradeTypeRows(_ int, emit func(Row)) {
	for _, t := range tradeTypes {
		emit(row(string(t), t.Name(), bit(t.Sell()), bit(t.Market())))
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (u *Universe) zipRows(_ int, emit func(Row)) {
	for _, z := range u.zips {
		emit(row(z.code, z.town, z.division))
	}
}

func (u *Universe) sectorRows(_ int, emit func(Row)) {
	for i, name := range sectorNames {
		emit(row(sectorID(i), name))
	}
}

func (u *Universe) industryRows(_ int, emit func(Row)) {
	for i := range industries {
		emit(row(industryID(i), industryName(i), sectorID(i%len(sectorNames))))
	}
}

func (u *Universe) taxRows(_ int, emit func(Row)) {
	for _, list := range append([][]tax{u.taxes.us, u.taxes.cn}, u.taxes.divisions...) {
		for _, t := range list {
			emit(row(t.id, t.name, t.rate))
		}
	}
}

func (u *Universe) addressRow(i int, emit func(Row)) {
	r := newRand(u.Seed, topicAddress, int64(i))
	line1 := fmt.Sprintf("%d %s %s", r.Int(100, 25_000), streetName(r.Int(0, streets-1)),
		pick(suffixes, r.Int(0, int64(len(suffixes)-1))))
	var line2 any
	z := u.zips[r.skewed(zipCodes)]
	if n := i - len(exchanges) - u.companies() + 1; n >= 1 { // a customer's
		z = u.zips[u.zipOf(n)]
		switch {
		case r.Percent(60):
		case r.Percent(75):
			line2 = fmt.Sprintf("Apt. %d", r.Int(1, 1000))
		default:
			line2 = fmt.Sprintf("Suite %d", r.Int(1, 500))
		}
	}
	country := "CANADA"
	if z.us {
		country = "USA"
	}
	emit(row(addressID(i), line1, line2, z.code, country))
}

func addressID(i int) int64 { return identShift + int64(i) + 1 }

func (u *Universe) exchangeRows(_ int, emit func(Row)) {
	listed := make([]int64, len(exchanges))
	for _, s := range u.securities {
		listed[s.exchange]++
	}
	for i, x := range exchanges {
		emit(row(x.id, x.name, listed[i], int64(930), int64(1600),
			"A place where "+x.name+" members trade securities", addressID(i)))
	}
}

func (u *Universe) chargeRows(_ int, emit func(Row)) {
	for _, t := range tradeTypes {
		for tier := 1; tier <= 3; tier++ {
			emit(row(string(t), int64(tier), ChargeFor(t, tier)))
		}
	}
}

func (u *Universe) commissionRows(_ int, emit func(Row)) {
	for tier := 1; tier <= 3; tier++ {
		for _, t := range tradeTypes {
			for x := range exchanges {
				for b := range len(quantityBands) - 1 {
					emit(row(int64(tier), string(t), exchanges[x].id, quantityBands[b], quantityBands[b+1]-1,
						commissionRate(tier, x, b)))
				}
			}
		}
	}
}

func (u *Universe) companyRow(c int, emit func(Row)) {
	r := newRand(u.Seed, topicCompany, int64(c)+1<<40)
	in := u.industryOf(c)
	opened := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(r.Int(0, 73_050)))
	p := u.person(-companyID(c) - 1<<40)
	emit(row(companyID(c), active, companyName(c), industryID(in), rating(r.Int(0, 38)), p.Name(),
		addressID(len(exchanges)+c),
		clip(companyName(c)+" is in "+industryName(in)+" since "+opened.Format("2006"), 150), dateOf(opened)))
}

func (u *Universe) competitorRows(c int, emit func(Row)) {
	for _, other := range u.competitors(c) {
		emit(row(companyID(c), companyID(other), industryID(u.industryOf(other))))
	}
}

func (u *Universe) securityRow(i int, emit func(Row)) {
	s := u.securities[i]
	r := newRand(u.Seed, topicSecurity, int64(i)+1<<40)
	start := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(r.Int(0, 36_526)))
	listed := start.AddDate(0, 0, int(
		r.Int(0, 36_526-int64(start.Sub(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)).Hours())/24)))
	high := Cents(r.Int(2500, 3000))
	low := Cents(r.Int(2000, int64(high)))
	yearAgo := func() Date {
		return dateOf(firstDay.Truncate(24*time.Hour).AddDate(0, 0, -int(r.Int(0, 364))))
	}
	var dividend, yield Cents
	highDate, lowDate := yearAgo(), yearAgo()
	if r.Percent(60) {
		yield = Cents(r.Int(1, 12_000))
		dividend = Cents(divRound(int64(yield)*r.Int(20, 30), 100))
	}
	emit(row(s.symbol, s.issue, active, clip(s.name, 70), exchanges[s.exchange].id, companyID(s.company),
		r.Int(4_000_000, 9_500_000_000),
		dateOf(start), dateOf(listed), Cents(r.Int(100, 12_000)), high, highDate, low, lowDate,
		dividend, yield))
}

func (u *Universe) dailyMarketRows(i int, emit func(Row)) {
	for week := marketWeeks - u.DailyMarketWeeks; week < marketWeeks; week++ {
		for day := range 5 {
			r := newRand(u.Seed, topicDaily, int64(i)<<16|int64(week*5+day))
			price := r.Int(lowPrice, highPrice)
			date := marketStart.AddDate(0, 0, 7*week+day)
			emit(row(dateOf(date), u.securities[i].symbol, Cents(price), Cents(divRound(price*105, 100)),
				Cents(divRound(price*92, 100)), r.Int(1_000, 10_000)))
		}
	}
}

func (u *Universe) financialRows(c int, emit func(Row)) {
	r := newRand(u.Seed, topicFinancial, int64(c))
	revenue := r.Int(100_000_00, 16_000_000_000_00)
	earned := r.Int(-300_000_000_00, min(revenue, 3_000_000_000_00))
	shares := r.Int(400_000, 9_500_000_000)
	inventory, assets, liability := r.Int(0, 2_000_000_000_00), r.Int(100_000_00, 65_000_000_000_00),
		r.Int(100_000_00, 35_000_000_000_00)
	step := func(v *int64) { *v = divRound(*v*r.Int(900, 1150), 1000) }
	for q := range 20 {
		if q > 0 {
			for _, v := range []*int64{&revenue, &shares, &inventory, &assets, &liability} {
				step(v)
			}
			step(&earned)
			earned = min(earned, revenue)
		}
		year, quarter := 2000+q/4, q%4
		diluted := divRound(shares*11, 10)
		emit(row(companyID(c), int64(year), int64(quarter+1),
			dateOf(time.Date(year, time.Month(1+3*quarter), 1, 0, 0, 0, 0, time.UTC)),
			Cents(revenue), Cents(earned), Cents(divRound(earned, shares)), Cents(divRound(earned, diluted)),
			Cents(divRound(earned*100, revenue)),
			Cents(inventory), Cents(assets), Cents(liability), shares, diluted))
	}
}

func (u *Universe) lastTradeRow(i int, emit func(Row)) {
	end := int64(u.Days) * dayMillis
	p := PriceAt(i, end)
	emit(row(u.securities[i].symbol, wall(end), p, p, int64(0)))
}

func (u *Universe) newsRow(i int, emit func(Row)) {
	r := newRand(u.Seed, topicNews, int64(i))
	var text strings.Builder
	text.Grow(u.NewsBytes + 32)
	for text.Len() < u.NewsBytes {
		text.WriteString(lastName(r.skewed(lastNames)))
		text.WriteByte(' ')
	}
	body := text.String()[:u.NewsBytes]
	at := wall(int64(u.Days)*dayMillis).AddDate(0, 0,
		-int(r.Int(0, 50))).Add(-time.Duration(r.Int(0, 86_399_999)) * time.Millisecond)
	emit(row(int64(i)+1, clip(body, 80), clip(body, 255), body, at, lastName(r.skewed(lastNames)),
		lastName(r.skewed(lastNames))))
}

func (u *Universe) newsXrefRow(i int, emit func(Row)) { emit(row(int64(i)+1, companyID(i/2))) }

func (u *Universe) brokerRow(i int, emit func(Row)) {
	t := u.Totals().Brokers[i]
	emit(row(u.brokerID(i+1), active, u.brokerName(i+1), t.Trades, t.Commission))
}

// ageBands are shares of customers by age on the first trade day.
var ageBands = [][3]int64{{5, 10, 18}, {16, 19, 24}, {17, 25, 34}, {19, 35, 44}, {16, 45, 54}, {11, 55, 64},
	{8, 65, 74}, {7, 75, 84}, {1, 85, 99}}

func (u *Universe) customerRow(n int, emit func(Row)) {
	p := u.Customer(n)
	r := newRand(u.Seed, topicCustomer, int64(n))
	born := firstDay
	pct := r.Int(1, 100)
	for _, b := range ageBands {
		if pct -= b[0]; pct <= 0 {
			born = firstDay.AddDate(-int(r.Int(b[1], b[2])), 0, -int(r.Int(0, 364)))
			break
		}
	}
	gender := "F"
	if p.male {
		gender = "M"
	}
	out := row(CustomerID(n), p.TaxID, active, p.Last, p.First, p.middle, gender, int64(u.Tier(n)),
		dateOf(born), addressID(len(exchanges)+u.companies()+n-1))
	for _, extension := range []float64{25, 15, 5} {
		ext := ""
		if r.Percent(extension) {
			ext = fmt.Sprintf("%03d", r.Int(0, 999))
		}
		out = append(out, "011", fmt.Sprintf("%03d", 200+r.skewed(areaCodes)*2),
			fmt.Sprintf("%07d", r.Int(0, 9_999_999)), ext)
	}
	first, second := emails(p, r)
	emit(append(out, first, second))
}

func (u *Universe) accountRows(n int, emit func(Row)) {
	for k := range u.Accounts(n) {
		a := u.Account(n, k)
		emit(row(a.ID, a.BrokerID, CustomerID(n), clip(a.name, 50), int64(a.TaxStatus), a.Balance))
	}
}

func (u *Universe) customerTaxRows(n int, emit func(Row)) {
	country, division := u.taxesOf(n)
	emit(row(country.id, CustomerID(n)))
	emit(row(division.id, CustomerID(n)))
}

func (u *Universe) permissionRows(n int, emit func(Row)) {
	owner := u.Customer(n)
	for k := range u.Accounts(n) {
		emit(row(AccountID(n, k), "0000", owner.TaxID, owner.Last, owner.First))
		for i, p := range u.executors(n, k) {
			emit(row(AccountID(n, k), []string{"0001", "0011"}[i], p.TaxID, p.Last, p.First))
		}
	}
}

func (u *Universe) watchListRow(n int, emit func(Row)) { emit(row(u.watchListID(n), CustomerID(n))) }

func (u *Universe) watchItemRows(n int, emit func(Row)) {
	for _, s := range u.watchItems(n) {
		emit(row(u.watchListID(n), u.securities[s].symbol))
	}
}
