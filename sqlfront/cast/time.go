package cast

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// Time is CAST(x AS TIME(n)). The library has one TIME, with six digits.
type Time struct {
	expression.UnaryExpressionStub
	digits int
}

// NewTime is CAST(e AS TIME(digits)).
func NewTime(e sql.Expression, digits int) *Time {
	return &Time{expression.UnaryExpressionStub{Child: e}, digits}
}

var (
	_ sql.Expression         = (*Time)(nil)
	_ sql.CollationCoercible = (*Time)(nil)
)

func (c *Time) String() string               { return "cast(" + c.Child.String() + " as time)" }
func (c *Time) IsNullable(*sql.Context) bool { return true }

// Type implements sql.Expression.
func (c *Time) Type(*sql.Context) sql.Type {
	return moment.TimeType{Digits: c.digits}
}

// WithChildren implements sql.Expression.
func (c *Time) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &Time{expression.UnaryExpressionStub{Child: ch[0]}, c.digits}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*Time) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (c *Time) Eval(ctx *sql.Context, row sql.Row) (any, error) {
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
		number, _, ok := strings.Cut(v.(string), "-")
		if ok && number != "" && strings.Trim(number, "0123456789") == "" {
			ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect time value: '%s'", s)
			v = number // of a date alone, the number that it begins with
		}
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
	return RoundTime(t, c.digits), nil
}

// RoundTime is a time with so many digits behind the seconds.
func RoundTime(v types.Timespan, digits int) types.Timespan {
	unit := types.Timespan(math.Pow10(6 - digits))
	if v < 0 {
		return -((-v + unit/2) / unit * unit)
	}
	return (v + unit/2) / unit * unit
}
