package engine

import (
	"reflect"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/builtin"
	"moka/sqlfront/rowenc"
)

// Functions between instants and times of day. The library's are right in zones whose clocks are never turned, and are off for some hours
// around the moment where they are; of a TIMESTAMP column its UNIX_TIMESTAMP takes the time of day for the instant.

// unixTimestamp is UNIX_TIMESTAMP of something.
type unixTimestamp struct{ *function.UnixTimestamp }

var (
	_ sql.FunctionExpression = (*unixTimestamp)(nil)
	_ sql.CollationCoercible = (*unixTimestamp)(nil)
)

func newUnixTimestamp(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) == 1 {
		switch t := args[0].Type(ctx); {
		case evaluableEarly(ctx, args[0]), types.IsTime(t):
		case types.IsInteger(t):
			return &unixTimestamp{&function.UnixTimestamp{Date: args[0]}}, nil
		default: // the type is that of a moment with all its digits
			whole := expression.NewGetField(0, types.DatetimeMaxPrecision, "moment", true)
			e, err := function.NewUnixTimestamp(ctx, whole)
			if err != nil {
				return nil, err
			}
			u := e.(*function.UnixTimestamp)
			u.Date = args[0]
			return &unixTimestamp{u}, nil
		}
	}
	e, err := function.NewUnixTimestamp(ctx, args...)
	if u, ok := e.(*function.UnixTimestamp); ok && err == nil && u.Date != nil {
		return &unixTimestamp{u}, nil
	}
	return e, err
}

// evaluableEarly reports whether an argument may be evaluated while the statement is bound, without session or row, as go-mysql-server does
// in order to count the digits of its fraction: literals, and what it knows as the present. A user variable panicked there, and so did
// bytes, which it takes for a string.
func evaluableEarly(ctx *sql.Context, e sql.Expression) bool {
	return !types.IsBinaryType(e.Type(ctx)) && !transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.Literal:
			_, bytes := e.Value().([]byte) // of a text, as _utf16 0x0041 has them
			return bytes
		case *expression.UnaryMinus, *function.Now:
			return false
		}
		return true
	})
}

// WithChildren implements sql.Expression.
func (u *unixTimestamp) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return newUnixTimestamp(ctx, children...)
}

// Eval implements sql.Expression.
func (u *unixTimestamp) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := u.Date.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	at, ok := v.(time.Time)
	if !ok {
		c, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
		if at, ok = c.(time.Time); err != nil || !ok {
			return u.UnixTimestamp.Eval(ctx, row) // it words the warning
		}
	}
	micros, _ := zoneOf(ctx).Instant(at)
	t := u.Type(ctx)
	switch {
	case micros > function.MaxUnixTimeMicroSecs:
		return int64(0), nil
	case micros < 1e6:
		return t.Zero(), nil
	}
	d, ok := t.(sql.DecimalType)
	if !ok {
		return micros / 1e6, nil
	}
	for i := int(d.Scale()); i < 6; i++ {
		micros /= 10
	}
	return apd.New(micros, -int32(d.Scale())), nil
}

// fromUnixTime is FROM_UNIXTIME where clocks are turned.
type fromUnixTime struct{ *function.FromUnixtime }

var (
	_ sql.FunctionExpression = (*fromUnixTime)(nil)
	_ sql.CollationCoercible = (*fromUnixTime)(nil)
)

func newFromUnixTime(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := function.NewFromUnixtime(ctx, args...)
	f, ok := e.(*function.FromUnixtime)
	if err != nil || !ok {
		return e, err
	}
	if len(args) != 1 || !types.IsInteger(args[0].Type(ctx)) {
		return &fromUnixTime{f}, nil
	}
	return builtin.As(&fromUnixTime{f}, builtin.DatetimeOf(0)), nil
}

// WithChildren implements sql.Expression.
func (f *fromUnixTime) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.FromUnixtime.WithChildren(ctx, children...)
	if inner, ok := e.(*function.FromUnixtime); ok && err == nil {
		return &fromUnixTime{inner}, nil
	}
	return e, err
}

// Eval implements sql.Expression.
func (f *fromUnixTime) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	zone := zoneOf(ctx)
	if zone.Fixed() {
		return f.FromUnixtime.Eval(ctx, row)
	}
	args := f.Children()
	v, err := args[0].Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	n, _, err := types.Int64.Convert(ctx, v)
	s, ok := n.(int64)
	if err != nil || !ok || s < 0 || s > function.MaxUnixTimeSecs {
		return nil, err
	}
	at := zone.Local(s * 1e6).UTC()
	if len(args) == 1 {
		return at, nil
	}
	return function.NewDateFormat(ctx, expression.NewLiteral(at, types.DatetimeMaxPrecision), args[1]).Eval(ctx, row)
}

// converted is CONVERT_TZ between zones that MySQL has.
type converted struct{ *function.ConvertTz }

var (
	_ sql.FunctionExpression = (*converted)(nil)
	_ sql.CollationCoercible = (*converted)(nil)
)

// WithChildren implements sql.Expression.
func (c *converted) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.ConvertTz.WithChildren(ctx, children...)
	if inner, ok := e.(*function.ConvertTz); ok && err == nil {
		return &converted{inner}, nil
	}
	return e, err
}

// Eval implements sql.Expression.
func (c *converted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := c.Children()
	var vs [3]any
	for i := range args {
		v, err := args[i].Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		if vs[i], err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
	}
	from, ok := vs[1].(string)
	to, ok2 := vs[2].(string)
	if !ok || !ok2 {
		return nil, nil
	}
	a, _, ok := parseZone(from)
	b, _, ok2 := parseZone(to)
	if !ok || !ok2 {
		return nil, nil
	}
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, vs[0])
	at, ok := v.(time.Time)
	if err != nil || !ok || at.Equal(types.ZeroTime) {
		return nil, nil
	}
	if same, ok := vs[0].(time.Time); ok && rowenc.Marked(same) {
		at = rowenc.Marking(at)
	}
	micros, _ := a.Instant(at)
	if micros < rowenc.MinInstant || micros > rowenc.MaxInstant {
		return at.UTC(), nil // which MySQL does not convert
	}
	return b.Local(micros).UTC(), nil
}

// now is NOW and its synonyms where clocks are turned; it knows which of two equal times of day it is.
type now struct{ *function.Now }

var (
	_ sql.FunctionExpression = (*now)(nil)
	_ sql.CollationCoercible = (*now)(nil)
)

// WithChildren implements sql.Expression.
func (n *now) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := n.Now.WithChildren(ctx, children...)
	if inner, ok := e.(*function.Now); ok && err == nil {
		return &now{inner}, nil
	}
	return e, err
}

// Type implements sql.Expression.
func (n *now) Type(ctx *sql.Context) sql.Type {
	args := n.Children()
	if len(args) == 0 {
		return types.Datetime
	}
	if l, ok := args[0].(*expression.Literal); ok {
		if digits, ok := types.CoalesceInt(l.Value()); ok && digits >= 0 && digits <= 6 {
			return builtin.DatetimeOf(digits)
		}
	}
	return types.DatetimeMaxPrecision
}

// Eval implements sql.Expression.
func (n *now) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	zone := zoneOf(ctx)
	v, err := n.Now.Eval(ctx, row)
	if err != nil || v == nil || zone.Fixed() {
		return v, err
	}
	digits := 0
	if args := n.Children(); len(args) > 0 {
		p, err := args[0].Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		d, _ := types.CoalesceInt(p)
		digits = d
	}
	at := ctx.QueryTime()
	if reflect.ValueOf(n.Now).Elem().FieldByName("alwaysUseExactTime").Bool() { // SYSDATE
		at = sql.Now()
	}
	return zone.Local(builtin.CutFraction(at.UnixMicro(), digits).UnixMicro()), nil
}
