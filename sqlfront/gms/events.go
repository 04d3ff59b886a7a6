package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/sqlerr"
)

// maxEvery is MySQL's bound of an event's interval, in its unit.
const maxEvery = 1_000_000_000

// CheckEvery refuses an interval that is no time at all (1542). The library panics at NULL, and keeps of
// others a text that it cannot read again, after which nobody saw any event.
func CheckEvery(ctx *sql.Context, every *expression.Interval) error {
	if every == nil {
		return nil
	}
	d, err := every.EvalDelta(ctx, nil)
	if err != nil {
		return err
	}
	if d != nil {
		some, fits := false, true
		for _, n := range []int64{d.Years, d.Months, d.Days, d.Hours, d.Minutes, d.Seconds} {
			some, fits = some || n != 0, fits && n >= 0 && n <= maxEvery
		}
		if some && fits {
			return nil
		}
	}
	return sqlerr.New(sqlerr.EventIntervalRange, "INTERVAL is either not positive or too big")
}
