package expr

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/sqlerr"
)

// RoundDigits is a value of the column of that name as TIME(n), FLOAT(precision, n) and DOUBLE(precision, n)
// have it.
func RoundDigits(ctx *sql.Context, precision, n int, name string, v any) (any, error) {
	switch v := v.(type) {
	case types.Timespan:
		return cast.RoundTime(v, n), nil
	case float32:
		f, err := roundFloat(ctx, precision, n, name, float64(v))
		return float32(f), err
	case float64:
		return roundFloat(ctx, precision, n, name, v)
	}
	return v, nil
}

func roundFloat(ctx *sql.Context, precision, n int, name string, f float64) (float64, error) {
	scale := math.Pow10(n)
	r := math.Round(f*scale) / scale
	if math.IsInf(f*scale, 0) {
		r = f
	}
	if limit := math.Pow10(precision - n); math.Abs(r) >= limit {
		if sql.LoadSqlMode(ctx).Strict() {
			return 0, sqlerr.New(sqlerr.OutOfRange, "Out of range value for column '%s' at row 1", name)
		}
		ctx.Warn(sqlerr.OutOfRange, "Out of range value for column '%s' at row 1", name)
		r = math.Copysign(limit-1/scale, f)
	}
	return r, nil
}
