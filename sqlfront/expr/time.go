package expr

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// CastTime is CAST(x AS TIME(n)). The library has one TIME, with six digits.
type CastTime struct {
	expression.UnaryExpressionStub
	digits int
}

var (
	_ sql.Expression         = (*CastTime)(nil)
	_ sql.CollationCoercible = (*CastTime)(nil)
)

func (c *CastTime) String() string               { return "cast(" + c.Child.String() + " as time)" }
func (c *CastTime) IsNullable(*sql.Context) bool { return true }

// Type implements sql.Expression.
func (c *CastTime) Type(*sql.Context) sql.Type {
	return moment.TimeType{Digits: c.digits}
}

// WithChildren implements sql.Expression.
func (c *CastTime) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &CastTime{expression.UnaryExpressionStub{Child: ch[0]}, c.digits}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*CastTime) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (c *CastTime) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	if s, ok := v.(string); ok {
		// Of a date with a time, the time.
		if date, clock, ok := strings.Cut(strings.TrimSpace(s), " "); ok && strings.Count(date, "-") == 2 &&
			strings.Contains(clock, ":") {
			v = clock
		}
		v = moment.Time(v.(string))
	}
	t, err := types.Time.ConvertToTimespan(v)
	if err != nil {
		ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect time value: '%v'", v)
		s, _ := v.(string)
		if s = s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]; s == "" { // the number that it begins with
			return nil, nil
		}
		if t, err = types.Time.ConvertToTimespan(s); err != nil {
			return nil, nil
		}
	}
	return roundTime(t, c.digits), nil
}

// RoundDigits is a value of the column of that name as TIME(n), FLOAT(precision, n) and DOUBLE(precision, n)
// have it.
func RoundDigits(ctx *sql.Context, precision, n int, name string, v any) (any, error) {
	switch v := v.(type) {
	case types.Timespan:
		return roundTime(v, n), nil
	case float32:
		f, err := roundFloat(ctx, precision, n, name, float64(v))
		return float32(f), err
	case float64:
		return roundFloat(ctx, precision, n, name, v)
	}
	return v, nil
}

func roundTime(v types.Timespan, digits int) types.Timespan {
	unit := types.Timespan(math.Pow10(6 - digits))
	if v < 0 {
		return -((-v + unit/2) / unit * unit)
	}
	return (v + unit/2) / unit * unit
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
