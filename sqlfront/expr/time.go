package expr

import (
	"context"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// CastTime is CAST(x AS TIME(n)). The library has one TIME, with six digits; as a column of a
// result it is shown with n.
type CastTime struct {
	expression.UnaryExpressionStub
	digits int
	shown  bool
}

var (
	_ sql.Expression         = (*CastTime)(nil)
	_ sql.CollationCoercible = (*CastTime)(nil)
)

// Shown is the expression as a column of a result.
func (c *CastTime) Shown() *CastTime { return &CastTime{c.UnaryExpressionStub, c.digits, true} }

// IsShown reports whether it is that already.
func (c *CastTime) IsShown() bool { return c.shown }

func (c *CastTime) String() string               { return "cast(" + c.Child.String() + " as time)" }
func (c *CastTime) IsNullable(*sql.Context) bool { return true }

// Type implements sql.Expression.
func (c *CastTime) Type(*sql.Context) sql.Type {
	if c.shown {
		return timeType{types.TimespanType_{}, c.digits}
	}
	return types.Time
}

// WithChildren implements sql.Expression.
func (c *CastTime) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &CastTime{expression.UnaryExpressionStub{Child: ch[0]}, c.digits, c.shown}, nil
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
	unit := types.Timespan(math.Pow10(6 - c.digits))
	if t < 0 {
		return -((-t + unit/2) / unit * unit), nil
	}
	return (t + unit/2) / unit * unit, nil
}

// timeType is TIME(n) as a client sees it.
type timeType struct {
	types.TimespanType_
	digits int
}

// TimeLength is what the column length of a TIME(0) of ours is above: the library has 17 for all,
// and no field for digits.
const TimeLength = 18

// MaxTextResponseByteLength implements sql.Type.
func (t timeType) MaxTextResponseByteLength(*sql.Context) uint32 {
	return TimeLength + uint32(t.digits)
}

// SQL implements sql.Type.
func (t timeType) SQL(ctx *sql.Context, dest []byte, v any) (sqltypes.Value, error) {
	out, err := t.TimespanType_.SQL(ctx, dest, v)
	if err != nil || out.IsNull() {
		return out, err
	}
	whole, fraction, _ := strings.Cut(string(out.Raw()), ".")
	if t.digits > 0 {
		whole += "." + (fraction + "000000")[:t.digits]
	}
	return sqltypes.MakeTrusted(sqltypes.Time, []byte(whole)), nil
}

// Equals implements sql.Type.
func (t timeType) Equals(other sql.Type) bool {
	o, ok := other.(timeType)
	return ok && o.digits == t.digits
}

// Promote implements sql.Type.
func (t timeType) Promote() sql.Type { return t }

// Convert implements sql.Type.
func (t timeType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	return t.TimespanType_.Convert(ctx, v)
}

// ShowTimes gives the columns of a result that are CAST(x AS TIME(n)) their digits.
func ShowTimes(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Distinct:
		child, same, err := ShowTimes(ctx, n.Children()[0])
		if err != nil || same {
			return n, transform.SameTree, err
		}
		out, err := n.WithChildren(ctx, child)
		return out, transform.NewTree, err
	case *plan.Project:
		same := transform.SameTree
		all := make([]sql.Expression, len(n.Projections))
		for i, e := range n.Projections {
			all[i] = e
			switch e := e.(type) {
			case *CastTime:
				if !e.IsShown() {
					all[i], same = e.Shown(), transform.NewTree
				}
			case *expression.Alias:
				if c, ok := e.Child.(*CastTime); ok && !c.IsShown() {
					alias, err := e.WithChildren(ctx, c.Shown())
					if err != nil {
						return nil, same, err
					}
					all[i], same = alias, transform.NewTree
				}
			}
		}
		if same {
			return n, same, nil
		}
		out, err := n.WithExpressions(ctx, all...)
		return out, transform.NewTree, err
	}
	return n, transform.SameTree, nil
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
