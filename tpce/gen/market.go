package gen

import (
	"fmt"
	"strings"
)

// TradeType is TT_ID.
type TradeType string

// The five trade types.
const (
	MarketBuy  TradeType = "TMB"
	MarketSell TradeType = "TMS"
	StopLoss   TradeType = "TSL"
	LimitSell  TradeType = "TLS"
	LimitBuy   TradeType = "TLB"
)

var tradeTypes = []TradeType{MarketBuy, MarketSell, StopLoss, LimitSell, LimitBuy}

// Sell tells whether the type sells.
func (t TradeType) Sell() bool { return t == MarketSell || t == StopLoss || t == LimitSell }

// Market tells whether the type executes at once, at the market's price.
func (t TradeType) Market() bool { return t == MarketBuy || t == MarketSell }

// Name is TT_NAME.
func (t TradeType) Name() string {
	return map[TradeType]string{
		MarketBuy: "Market-Buy", MarketSell: "Market-Sell", StopLoss: "Stop-Loss", LimitSell: "Limit-Sell",
		LimitBuy: "Limit-Buy",
	}[t]
}

// DrawTradeType has 60 % market orders and 50 % buys; of the limit sells, half are stop losses.
func DrawTradeType(r *Rand) TradeType {
	switch p := r.Int(1, 10); {
	case p <= 3:
		return MarketBuy
	case p <= 6:
		return MarketSell
	case p <= 8:
		return LimitBuy
	case p <= 9:
		return LimitSell
	default:
		return StopLoss
	}
}

// DrawQuantity is 100, 200, 400 or 800.
func DrawQuantity(r *Rand) int64 { return 100 << r.Int(0, 3) }

// DrawLimit is a limit price, uniform over the range of the price curve.
func DrawLimit(r *Rand) Cents { return Cents(r.Int(lowPrice, highPrice)) }

const (
	lowPrice  = 2000
	highPrice = 3000
)

// phase is the security's place on the curve after t milliseconds.
func phase(security int, t int64) int64 {
	return (int64(security)*556_237 + 253_791 + t) % curveMillis
}

// PriceAt is the price of a security t milliseconds after the start: a triangle from 20.00 up to 30.00 and
// back every 15 minutes, each security with its own phase.
func PriceAt(security int, t int64) Cents {
	const half, span = curveMillis / 2, highPrice - lowPrice
	p := phase(security, t)
	if p < half {
		return Cents(lowPrice + divRound(p*span, half))
	}
	return Cents(highPrice - divRound((p-half)*span, half))
}

// InTheMoney tells whether a limit order may execute at the price.
func InTheMoney(t TradeType, limit, price Cents) bool {
	if t == LimitSell {
		return price >= limit
	}
	return price <= limit
}

// WaitFor is how long after t the curve takes to reach the limit; 0 when the order is in the money at t.
func WaitFor(t TradeType, security int, limit Cents, at int64) int64 {
	if InTheMoney(t, limit, PriceAt(security, at)) {
		return 0
	}
	const half, span = curveMillis / 2, highPrice - lowPrice
	reached := half + (highPrice-int64(limit))*half/span // on the way down
	if t == LimitSell {
		reached = (int64(limit) - lowPrice) * half / span // on the way up
	}
	return ((reached-phase(security, at))%curveMillis + curveMillis) % curveMillis
}

// ExecutionPrice of an order that the market carries out when the price is p.
func ExecutionPrice(t TradeType, limit, p Cents) Cents {
	switch t {
	case LimitBuy:
		return min(limit, p)
	case LimitSell:
		return max(limit, p)
	default:
		return p
	}
}

// ChargeFor is CH_CHRG.
func ChargeFor(t TradeType, tier int) Cents {
	c := Cents(450 + 100*(2-tier))
	switch {
	case t.Market():
		c -= 50
	case t == StopLoss:
		c += 100
	}
	return c
}

// quantityBands are the lower ends of the commission's bands; a band ends below the next.
var quantityBands = []int64{1, 201, 501, 2001, 1_000_000}

func band(quantity int64) int {
	b := 0
	for b+2 < len(quantityBands) && quantity >= quantityBands[b+1] {
		b++
	}
	return b
}

// commissionRate is CR_RATE.
func commissionRate(tier, exchange, band int) Cents {
	rate := Cents(40 - 6*band - 4*(tier-1))
	if exchange == 3 {
		rate += 4
	}
	return rate
}

type exchangeInfo struct{ id, name string }

var exchanges = []exchangeInfo{
	{"NYSE", "New York Stock Exchange"}, {"NASDAQ", "Nasdaq Stock Market"},
	{"AMEX", "American Stock Exchange"}, {"PCX", "Pacific Exchange"},
}

// security is what everyone asks of a security; i is its index, from 0.
type security struct {
	symbol, issue, name string
	company             int // from 0
	exchange            int
}

var issues = []string{"COMMON", "PREF_A", "PREF_B", "PREF_C", "PREF_D"}

// issuesOf company c: of 500, 10 have 5 issues, 15 have 4, 25 have 3, 50 have 2 and 400 only
// common stock: 685 in all.
func issuesOf(c int) int {
	switch p := (c*7 + 3) % companiesPerLU; {
	case p < 10:
		return 5
	case p < 25:
		return 4
	case p < 50:
		return 3
	case p < 100:
		return 2
	default:
		return 1
	}
}

func (u *Universe) companies() int { return u.units * companiesPerLU }

func companyID(c int) int64 { return identShift + int64(c) + 1 }

// companyName is unique: it is built on a last name of its own, with a number beyond 65,000 companies.
func companyName(c int) string {
	name := lastName(int64(c)*4_111%lastNames) + " " + pick(companyKinds, int64(c/7)) + " Inc."
	if c >= lastNames {
		name += fmt.Sprintf(" #%d", c/lastNames)
	}
	return name
}

func (u *Universe) buildSecurities() []security {
	var out []security
	for c := range u.companies() {
		for i := range issuesOf(c) {
			r := newRand(u.Seed, topicSecurity, int64(c*len(issues)+i))
			out = append(out, security{
				symbol: symbol(c, i), issue: issues[i], name: issues[i] + " of " + companyName(c), company: c,
				exchange: int(r.Int(0, int64(len(exchanges)-1))),
			})
		}
	}
	return out
}

// symbol is four letters of the company, which differ for the first 456,976 companies, and the issue's tail.
func symbol(company, issue int) string {
	v := (company*151_607 + 31_337) % (26 * 26 * 26 * 26)
	b := make([]byte, 4)
	for i := range b {
		b[i] = 'A' + byte(v%26)
		v /= 26
	}
	if issue == 0 {
		return string(b)
	}
	return string(b) + "PR" + string(rune('A'+issue-1))
}

// Securities is the number of securities; an index is below it.
func (u *Universe) Securities() int { return len(u.securities) }

// Symbol of a security.
func (u *Universe) Symbol(security int) string { return u.securities[security].symbol }

// Issue and company name of a security: the other way to name it in an order.
func (u *Universe) Issue(security int) (company, issue string) {
	s := u.securities[security]
	return companyName(s.company), s.issue
}

func (u *Universe) industryOf(c int) int {
	return int(newRand(u.Seed, topicCompany, int64(c)).skewed(industries))
}

// competitors are three other companies of the load unit.
func (u *Universe) competitors(c int) []int {
	r := newRand(u.Seed, topicCompany, -int64(c)-1)
	base := c / companiesPerLU * companiesPerLU
	var out []int
	for _, d := range r.distinct(3, companiesPerLU-1) {
		out = append(out, base+(c-base+1+d)%companiesPerLU)
	}
	return out
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.TrimRight(s, " ")
}
