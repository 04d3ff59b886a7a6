package builtin

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/sqlerr"
)

// castInteger is CAST(e AS SIGNED) or CAST(e AS UNSIGNED) of what is no integer already, as MySQL makes it:
//
//	-3.0                     as UNSIGNED  0, with a warning      a DECIMAL has no complement
//	-3                       as UNSIGNED  18446744073709551613   an integer or a text has one
//	2.5                      as SIGNED    3                      a DECIMAL is rounded away from zero
//	2.5e0                    as SIGNED    2                      a DOUBLE to the even neighbour
//	'12abc'                  as SIGNED    12, with a warning
//	'99999999999999999999'   as SIGNED    -1, with a warning     64 bits are full
//
// The library took the complement of a rounded-off DECIMAL, rounded DOUBLEs away from zero, and made 0 of
// texts that are too large.
type castInteger struct {
	expression.UnaryExpressionStub
	unsigned bool
}

var (
	_ sql.Expression         = (*castInteger)(nil)
	_ sql.CollationCoercible = (*castInteger)(nil)
)

// CastInteger is the library's CAST as MySQL's, if it is one to an integer of what is none of that kind.
func CastInteger(ctx *sql.Context, e *expression.Convert) (sql.Expression, bool) {
	to, from := e.Type(ctx), e.Child.Type(ctx)
	if to != types.Int64 && to != types.Uint64 {
		return e, false
	}
	if from == to || types.IsInteger(from) && from != types.Uint64 {
		return e, false
	}
	return &castInteger{expression.UnaryExpressionStub{Child: e.Child}, to == types.Uint64}, true
}

// String is the library's: functional indexes are found by it.
func (c *castInteger) String() string {
	to := expression.ConvertToSigned
	if c.unsigned {
		to = expression.ConvertToUnsigned
	}
	return fmt.Sprintf("convert(%v, %s)", c.Child, to)
}

// Type implements sql.Expression.
func (c *castInteger) Type(*sql.Context) sql.Type {
	if c.unsigned {
		return types.Uint64
	}
	return types.Int64
}

// CollationCoercibility implements sql.CollationCoercible.
func (*castInteger) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *castInteger) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &castInteger{expression.UnaryExpressionStub{Child: ch[0]}, c.unsigned}, nil
}

// Eval implements sql.Expression.
func (c *castInteger) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case uint64:
		return c.bits(v), nil
	case *apd.Decimal:
		return c.decimal(ctx, v), nil
	case float32:
		return c.float(ctx, float64(v))
	case float64:
		return c.float(ctx, v)
	case string:
		return c.text(ctx, v), nil
	case types.Timespan:
		n, _, err := types.Int64.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		return c.whole(ctx, n.(int64)), nil
	case []byte:
		if _, literal := c.Child.(*expression.Literal); !literal { // x'41', which is a number
			return c.text(ctx, string(v)), nil
		}
	}
	return c.theirs(ctx, v)
}

// theirs is the library's CAST of a value.
func (c *castInteger) theirs(ctx *sql.Context, v any) (any, error) {
	to := expression.ConvertToSigned
	if c.unsigned {
		to = expression.ConvertToUnsigned
	}
	return expression.NewConvert(expression.NewLiteral(v, c.Child.Type(ctx)), to).Eval(ctx, nil)
}

// bits are 64 of them as the integer that is asked for.
func (c *castInteger) bits(n uint64) any {
	if c.unsigned {
		return n
	}
	return int64(n)
}

// whole is an integer as the one that is asked for.
func (c *castInteger) whole(ctx *sql.Context, n int64) any {
	if c.unsigned && n < 0 {
		warnOfComplement(ctx)
	}
	return c.bits(uint64(n))
}

func warnOfComplement(ctx *sql.Context) {
	ctx.Warn(sqlerr.Unknown, "Cast to unsigned converted negative integer to its positive complement")
}

// float is a DOUBLE. Beyond 64 bits it is the library's, which is the end of the range.
func (c *castInteger) float(ctx *sql.Context, f float64) (any, error) {
	if f >= math.MinInt64 && f < math.MaxInt64 {
		return c.whole(ctx, int64(math.RoundToEven(f))), nil
	}
	return c.theirs(ctx, f)
}

// integralPrecision has room for all digits of a DECIMAL and of what is computed of several.
const integralPrecision = 200

// decimal is a DECIMAL, rounded, or the end of the range.
func (c *castInteger) decimal(ctx *sql.Context, d *apd.Decimal) any {
	rounding := apd.BaseContext.WithPrecision(integralPrecision)
	rounding.Rounding = apd.RoundHalfUp
	var whole apd.Decimal
	_, err := rounding.RoundToIntegralValue(&whole, d)
	text := whole.Text('f')
	if c.unsigned {
		if whole.IsZero() && err == nil {
			return uint64(0)
		}
		n, parseErr := strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64)
		if err == nil && parseErr == nil && !whole.Negative {
			return n
		}
		c.warnOfCut(ctx, "DECIMAL", d.Text('f'))
		if d.Negative {
			return uint64(0)
		}
		return uint64(math.MaxUint64)
	}
	n, parseErr := strconv.ParseInt(text, 10, 64)
	if err == nil && parseErr == nil {
		return n
	}
	c.warnOfCut(ctx, "DECIMAL", d.Text('f'))
	if d.Negative {
		return int64(math.MinInt64)
	}
	return int64(math.MaxInt64)
}

func (c *castInteger) warnOfCut(ctx *sql.Context, kind, value string) {
	ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect %s value: '%s'", kind, cast.Shown(value))
}

// text is the integer that a text begins with: no fraction, no exponent.
func (c *castInteger) text(ctx *sql.Context, s string) any {
	n, negative, cut := cast.LeadingInteger(s)
	if cut {
		c.warnOfCut(ctx, "INTEGER", s)
	}
	switch {
	case negative:
		return c.whole(ctx, -int64(n))
	case !c.unsigned && n > math.MaxInt64 && !cut:
		ctx.Warn(sqlerr.Unknown,
			"Cast to signed converted positive out-of-range integer to its negative complement")
	}
	return c.bits(n)
}
