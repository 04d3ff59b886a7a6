package gen

import "time"

// What the driver asks of the world to make up the inputs of the transactions. None of it needs a query: the
// specification's driver knows the rules of generation too.

// NonUniform is the specification's skewed integer in [p, q]: the bits of a second draw are set over the
// first's. a = 0 makes it uniform.
func (r *Rand) NonUniform(p, q, a int64, shift uint) int64 {
	return (r.Int(p, q)|r.Int(0, a)<<shift)%(q-p+1) + p
}

// Distinct draws k different values of [0, n).
func (r *Rand) Distinct(k, n int) []int { return r.distinct(k, n) }

// ChooseAccount draws a customer with the workload's skew, and evenly one of its accounts.
func (u *Universe) ChooseAccount(r *Rand) (customer, account int) {
	n := u.ChooseCustomer(r)
	return n, int(r.Int(0, int64(u.Accounts(n)-1)))
}

// Brokers is the number of brokers; BrokerName takes 1 to that.
func (u *Universe) Brokers() int { return u.brokers() }

// BrokerName is B_NAME of a broker, from 1.
func (u *Universe) BrokerName(n int) string { return u.brokerName(n) }

// Companies is the number of companies; CompanyID takes 0 to below that.
func (u *Universe) Companies() int { return u.companies() }

// CompanyID is CO_ID of a company, from 0.
func CompanyID(c int) int64 { return companyID(c) }

// SecurityOf finds a security by its symbol; -1 if there is none.
func (u *Universe) SecurityOf(symbol string) int {
	i, ok := u.bySymbol[symbol]
	if !ok {
		return -1
	}
	return i
}

// ChooseSector draws SC_NAME evenly.
func ChooseSector(r *Rand) string { return sectorNames[r.Int(0, int64(len(sectorNames)-1))] }

// ChooseIndustry draws IN_NAME evenly.
func ChooseIndustry(r *Rand) string { return industryName(int(r.Int(0, industries-1))) }

// ChooseDivisionTax draws TX_ID evenly over the divisions, then over the division's brackets.
func (u *Universe) ChooseDivisionTax(r *Rand) string {
	list := u.taxes.divisions[r.Int(0, int64(len(u.taxes.divisions)-1))]
	return list[r.Int(0, int64(len(list)-1))].id
}

// Trades is the number of initial trades.
func (u *Universe) Trades() int64 { return int64(u.units) * u.tradesPerUnit() }

// tradeID is the id of the i-th initial trade, from 0: every number but the burnt ones, load unit after load
// unit.
func (u *Universe) tradeID(i int64) int64 {
	perUnit := u.tradesPerUnit()
	unit, k := i/perUnit, i%perUnit
	seq := k/100*101 + k%100 + 1
	if k%100 >= 50 {
		seq++
	}
	return firstTrade + unit*u.sequencePerUnit() + seq
}

// ChooseTrades draws k different initial trades with the skew of Trade-Lookup.
func (u *Universe) ChooseTrades(r *Rand, k int) []int64 {
	out := make([]int64, 0, k)
	seen := make(map[int64]bool, k)
	for len(out) < k {
		id := u.tradeID(r.NonUniform(1, u.Trades(), 65_535, 7) - 1)
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Back-offs: how long before the end of the history a search of Trade-Lookup or Trade-Update starts at the
// latest, so that it finds enough.
const (
	BackOffAccount = 32 * time.Hour
	BackOffSymbol  = 200 * time.Minute
	BackOffHolding = 500 * time.Minute
)

// ChooseTradeTime draws the start of a search through the history. A short history backs off by
// half its length at most.
func (u *Universe) ChooseTradeTime(r *Rand, backOff time.Duration) time.Time {
	total := int64(u.Days) * dayMillis
	return wall(r.NonUniform(1, total-min(backOff.Milliseconds(), total/2), 4095, 16))
}

// EndOfHistory is after the last initial trade: 15 minutes of business after the last day, which is the
// longest that a limit order waits.
func (u *Universe) EndOfHistory() time.Time { return wall(int64(u.Days)*dayMillis + curveMillis) }

// ChooseMarketDay draws a day of DAILY_MARKET for Market-Watch: recent weeks and Fridays are likelier.
func (u *Universe) ChooseMarketDay(r *Rand) Date {
	skip := min(5, u.DailyMarketWeeks-1) // the specification never asks for the first five weeks
	weeks := int64(u.DailyMarketWeeks - skip)
	week := marketWeeks - u.DailyMarketWeeks + skip + int(r.NonUniform(0, weeks-1, 255, 0))
	day := 4
	switch p := r.Int(1, 100); {
	case p <= 20:
		day = 0
	case p <= 27:
		day = 1
	case p <= 33:
		day = 2
	case p <= 40:
		day = 3
	}
	return dateOf(marketStart.AddDate(0, 0, 7*week+day))
}

// ChooseMarketDays draws for Security-Detail how many days of DAILY_MARKET it wants and from which on.
func (u *Universe) ChooseMarketDays(r *Rand) (from Date, days int) {
	have := 5 * u.DailyMarketWeeks
	days = min(int(r.Int(5, 20)), have)
	first := marketStart.AddDate(0, 0, 7*(marketWeeks-u.DailyMarketWeeks))
	return dateOf(first.AddDate(0, 0, int(r.Int(0, int64(have-days))))), days
}
