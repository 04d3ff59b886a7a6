package gen

import "time"

// Business time counts milliseconds of trading since the first day's opening; a day has 8 hours, 09:00 to
// 17:00, and weekends have none.
const (
	dayMillis   = 8 * 3600 * 1000
	curveMillis = 900_000 // one period of the price curve; divides dayMillis, so business time is price time
)

var (
	firstDay    = time.Date(2005, time.January, 3, 9, 0, 0, 0, time.UTC) // a Monday
	marketStart = time.Date(2000, time.January, 3, 0, 0, 0, 0, time.UTC) // first day of DAILY_MARKET
)

const marketWeeks = 261 // weeks from marketStart to the end of 2004

// wall is the clock time of a moment of business time.
func wall(ms int64) time.Time {
	day := ms / dayMillis
	return firstDay.AddDate(0, 0, int(day/5*7+day%5)).Add(time.Duration(ms%dayMillis) * time.Millisecond)
}

// Date is a calendar day; it prints without a time.
type Date struct{ time.Time }

func dateOf(t time.Time) Date { return Date{t} }

// SettlementDate is two days after the trade.
func SettlementDate(traded time.Time) Date { return Date{traded.AddDate(0, 0, 2)} }

func (d Date) String() string { return d.Format(time.DateOnly) }
