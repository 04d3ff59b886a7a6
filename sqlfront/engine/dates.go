package engine

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// arrivingDate is a value for a column of dates, in a form that the library understands: it knows no numbers that are dates. NO_ZERO_DATE has its say here,
// NO_ZERO_IN_DATE need not: a date with a month and no day, or the other way round, is none in any mode.
func arrivingDate(ctx *sql.Context, col *sql.Column, v any, at rowNumber, lenient bool) (any, error) {
	v = expr.MomentText(eval.DateOfNumber(v))
	out, in, err := col.Type.Convert(ctx, v)
	if err != nil || in != sql.InRange {
		if lenient {
			return v, nil // made to fit by who knows how
		}
		if word, known := unfit(col, v, in, err, uint64(at)); known {
			return nil, word
		}
		return v, nil
	}
	if t, ok := out.(time.Time); !ok || !t.Equal(types.ZeroTime) || !sql.LoadSqlMode(ctx).ModeEnabled("NO_ZERO_DATE") {
		return v, nil
	}
	if !lenient {
		return nil, sqlerr.New(sqlerr.TruncatedWrongValue, "Incorrect %s value: '%v' for column '%s' at row %d", timeWord(col.Type), v, col.Name, at)
	}
	ctx.Warn(sqlerr.OutOfRange, "Out of range value for column '%s' at row %d", col.Name, at)
	return v, nil
}
