package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// arrivingDate is a value for a column of dates, in a form that the library understands: it knows no numbers that are dates. NO_ZERO_DATE has its say here,
// NO_ZERO_IN_DATE need not: a date with a month and no day, or the other way round, is none in any mode.
func arrivingDate(ctx *sql.Context, col *sql.Column, v any, at rowNumber, lenient bool) (any, error) {
	v = expr.MomentText(dateOfNumber(v))
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

// dateOfNumber makes a text of YYMMDD, YYYYMMDD, YYMMDDhhmmss and YYYYMMDDhhmmss; what is none of these it leaves alone.
func dateOfNumber(v any) any {
	var text string
	switch n := v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		text = fmt.Sprint(n)
	case *apd.Decimal:
		text = n.Text('f')
	case float32, float64:
		text = fmt.Sprintf("%.6f", n)
	default:
		return v
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if strings.Trim(whole, "0") == "" {
		return "0000-00-00"
	}
	if len(whole) > 14 || strings.HasPrefix(whole, "-") {
		return v
	}
	switch n := len(whole); {
	case n < 6:
		whole = strings.Repeat("0", 6-n) + whole
	case n == 7: // the year 0YYY
		whole = "0" + whole
	case n > 8 && n < 12:
		whole = strings.Repeat("0", 12-n) + whole
	case n == 13:
		whole = "0" + whole
	}
	if len(whole) == 6 || len(whole) == 12 { // years of two digits: 70 is 1970, 69 is 2069
		if whole[:2] < "70" {
			whole = "20" + whole
		} else {
			whole = "19" + whole
		}
	}
	date := whole[:4] + "-" + whole[4:6] + "-" + whole[6:8]
	if len(whole) == 8 {
		return date
	}
	date += " " + whole[8:10] + ":" + whole[10:12] + ":" + whole[12:14]
	if fraction != "" {
		date += "." + fraction
	}
	return date
}
