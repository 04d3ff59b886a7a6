package expr

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/moment"
)

// exactType is the type of a value that is one of several: a DECIMAL with room for each, if they are
// DECIMALs and integers.
func exactType(ctx *sql.Context, values []sql.Expression) (sql.Type, bool) {
	whole, scale, decimals := 0, 0, false
	for _, e := range values {
		t := e.Type(ctx)
		if t == types.Null {
			continue
		}
		p, s, ok := exact(t)
		if !ok {
			return nil, false
		}
		if l, ok := e.(*expression.Literal); ok && types.IsInteger(t) {
			if n, ok := wide(l.Value()); ok {
				p = uint8(len(strconv.FormatUint(n.abs, 10)))
			}
		}
		decimals = decimals || types.IsDecimal(t)
		whole, scale = max(whole, int(p)-int(s)), max(scale, int(s))
	}
	if !decimals {
		return nil, false
	}
	return decimal(whole+scale, scale), true
}

// toScale gives a DECIMAL the decimals of its type.
func toScale(ctx *sql.Context, t sql.Type, v any) (any, error) {
	d, err := asDecimal(ctx, v)
	if err != nil {
		return nil, err
	}
	out := new(apd.Decimal)
	_, err = halfUp.Quantize(out, d, -int32(t.(sql.DecimalType).Scale()))
	return out, err
}

// choice is a function of the library that returns one of its arguments: the library announces any DECIMAL,
// whatever they are, and texts of moments with different numbers of digits.
type choice struct {
	sql.FunctionExpression
	from int // the first argument that may be the result
}

var (
	_ sql.FunctionExpression = (*choice)(nil)
	_ sql.CollationCoercible = (*choice)(nil)
)

// exactResult is e with a type that has the decimals of its arguments, if that is what it should have.
func exactResult(ctx *sql.Context, e sql.Expression) sql.Expression {
	f, ok := e.(sql.FunctionExpression)
	if !ok {
		return e
	}
	x := &choice{FunctionExpression: f}
	switch f.FunctionName() {
	case "if":
		x.from = 1
	case "ifnull", "coalesce":
	default:
		return e
	}
	if _, ok := exactType(ctx, x.values()); !ok {
		if _, ok := momentType(ctx, x.values()); !ok {
			return e
		}
	}
	return x
}

// momentType is the type of a value that is one of several moments of different types, which COALESCE of the
// library makes texts of.
func momentType(ctx *sql.Context, values []sql.Expression) (sql.Type, bool) {
	digits, moments, dates, spans := 0, 0, 0, 0
	for _, e := range values {
		t := e.Type(ctx)
		if t == types.Null {
			continue
		}
		if IsSpan(t) {
			spans++
			if _, n := temporalOf(ctx, e); n >= 0 {
				digits = max(digits, n)
			} else {
				digits = 6
			}
			continue
		}
		d, ok := t.(sql.DatetimeType)
		if !ok {
			return nil, false
		}
		moments++
		if types.IsDateType(t) {
			dates++
		} else {
			digits = max(digits, d.Precision())
		}
	}
	switch {
	case spans > 0 && moments == 0:
		return moment.TimeType{Digits: digits}, true
	case moments == dates || spans > 0:
		return nil, false
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits), true
}

func (x *choice) values() []sql.Expression { return x.Children()[x.from:] }

// Type implements sql.Expression.
func (x *choice) Type(ctx *sql.Context) sql.Type {
	return askType(ctx, x, func(ctx *sql.Context) sql.Type {
		if t, ok := exactType(ctx, x.values()); ok {
			return t
		}
		if t, ok := momentType(ctx, x.values()); ok {
			return t
		}
		return x.FunctionExpression.Type(ctx)
	})
}

// CollationCoercibility implements sql.CollationCoercible.
func (*choice) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (x *choice) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := x.FunctionExpression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &choice{e.(sql.FunctionExpression), x.from}, nil
}

// Eval implements sql.Expression.
func (x *choice) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.value(ctx, row)
	if t, ok := exactType(ctx, x.values()); ok && v != nil && err == nil {
		return toScale(ctx, t, v)
	}
	if t, ok := momentType(ctx, x.values()); ok && v != nil && err == nil {
		v, _, err = t.Convert(ctx, v)
	}
	return v, err
}

// value is what the function returns. The library's IFNULL and COALESCE make values of their own type of it,
// in which 10 beside -1.5 has no room.
func (x *choice) value(ctx *sql.Context, row sql.Row) (any, error) {
	if x.from > 0 {
		return x.FunctionExpression.Eval(ctx, row)
	}
	for _, e := range x.values() {
		if v, err := e.Eval(ctx, row); v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil
}

// wholeType is the type of the greatest of integers, also beside DOUBLEs, or of times of day, which the
// library takes for DOUBLEs, or refuses; nil of anything else.
func wholeType(ctx *sql.Context, values []sql.Expression) sql.Type {
	signed, unsigned, spans, inexact := 0, 0, 0, 0
	for _, e := range values {
		switch t := e.Type(ctx); {
		case t == types.Null:
		case IsSpan(t):
			spans++
		case types.IsFloat(t), types.IsDecimal(t):
			inexact++
		case types.IsUnsigned(t):
			unsigned++
		case types.IsInteger(t) || t == types.Boolean:
			signed++
		default:
			return nil
		}
	}
	switch {
	case signed+unsigned+spans == 0, spans > 0 && signed+unsigned+inexact > 0:
		return nil
	case spans > 0:
		t, _ := momentType(ctx, values)
		return t
	case inexact > 0:
		return types.Float64
	case unsigned == 0:
		return types.Int64
	case signed == 0:
		return types.Uint64
	}
	return decimal(20, 0)
}

// spanTexts are texts and times of day, the latter made texts; nil if there are not both, or others.
func spanTexts(ctx *sql.Context, values []sql.Expression) []sql.Expression {
	out, texts, spans := make([]sql.Expression, len(values)), 0, 0
	for i, e := range values {
		switch t := e.Type(ctx); {
		case IsSpan(t):
			out[i] = AsText(ctx, e)
			spans++
		case types.IsTextOnly(t):
			out[i] = e
			texts++
		default:
			return nil
		}
	}
	if texts == 0 || spans == 0 {
		return nil
	}
	return out
}

// bytesAmong reports whether all values are texts, one of them of bytes.
func bytesAmong(ctx *sql.Context, values []sql.Expression) (found bool) {
	for _, e := range values {
		t := e.Type(ctx)
		if t == types.Null {
			continue
		}
		if !types.IsText(t) {
			return false
		}
		found = found || !types.IsTextOnly(t)
	}
	return found
}

// exactExtreme is GREATEST and LEAST of DECIMALs and integers, which are DOUBLEs to the
// library, and of times of day.
func exactExtreme(ctx *sql.Context, c *call, vs []any) (any, error) {
	t := c.Type(ctx)
	if IsSpan(t) {
		best := vs[0].(types.Timespan)
		for _, v := range vs[1:] {
			if s := v.(types.Timespan); (s > best) == (c.name == "greatest") {
				best = s
			}
		}
		return best, nil
	}
	var best *apd.Decimal
	for _, v := range vs {
		d, err := asDecimal(ctx, v)
		if err != nil {
			return nil, err
		}
		if best == nil || (d.Cmp(best) > 0) == (c.name == "greatest") && d.Cmp(best) != 0 {
			best = d
		}
	}
	if !types.IsDecimal(t) {
		v, _, err := t.Convert(ctx, best)
		return v, err
	}
	return toScale(ctx, t, best)
}
