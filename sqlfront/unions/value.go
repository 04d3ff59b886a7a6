package unions

import (
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/numeral"
)

// Converted is a column of a part of a set operation as one of the whole. Nothing is lost by it: the type was
// chosen to hold the values of all parts.
type Converted struct {
	expression.UnaryExpressionStub
	target
}

var (
	_ sql.Expression         = (*Converted)(nil)
	_ sql.CollationCoercible = (*Converted)(nil)
)

func newConverted(ctx *sql.Context, e sql.Expression, to target) sql.Expression {
	if types.IsText(to.typ) && e.Resolved() {
		switch t := underlying(e.Type(ctx)); {
		case expr.IsEnum(t):
			e = expr.NewEnumLabel(e)
		case types.IsTime(t) || expr.IsSpan(t):
			e = expr.AsText(ctx, e)
		}
	}
	return &Converted{expression.UnaryExpressionStub{Child: e}, to}
}

// String implements sql.Expression.
func (c *Converted) String() string { return c.Child.String() }

// Type implements sql.Expression.
func (c *Converted) Type(*sql.Context) sql.Type { return c.typ }

// CollationCoercibility implements sql.CollationCoercible.
func (c *Converted) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	if t, ok := c.typ.(sql.StringType); ok {
		return t.Collation(), c.weight
	}
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *Converted) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &Converted{expression.UnaryExpressionStub{Child: children[0]}, c.target}, nil
}

// Eval implements sql.Expression.
func (c *Converted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if types.IsText(c.typ) {
		return c.text(ctx, v)
	}
	if d, ok := c.typ.(sql.DecimalType); ok {
		return decimalOf(ctx, d, v)
	}
	if types.IsTime(c.typ) {
		switch v := v.(type) {
		case time.Time:
			return v, nil
		case types.Timespan:
			return onThisDay(ctx, v), nil
		}
	}
	if _, same := v.(types.Timespan); same && expr.IsSpan(c.typ) {
		return v, nil
	}
	out, _, err := c.typ.Convert(ctx, v)
	return out, err
}

// onThisDay is a time of day as a moment of the day on which the statement runs.
func onThisDay(ctx *sql.Context, t types.Timespan) time.Time {
	y, m, d := ctx.QueryTime().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(time.Duration(t) * time.Microsecond)
}

// decimalOf is a number with the digits of a DECIMAL.
func decimalOf(ctx *sql.Context, t sql.DecimalType, v any) (any, error) {
	d, ok := v.(*apd.Decimal)
	if !ok {
		out, _, err := types.InternalDecimalType.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		if d, ok = out.(*apd.Decimal); !ok {
			return out, nil
		}
	}
	if t == types.InternalDecimalType { // which has any digits
		return d, nil
	}
	out, _, err := numeral.Fit(d, int(t.Precision()), int(t.Scale()))
	return out, err
}

// text is a value as a text, or as bytes if the type is one of those.
func (c *Converted) text(ctx *sql.Context, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	binary := types.IsBinaryType(c.typ) || types.IsBlobType(c.typ)
	switch v := v.(type) {
	case string:
		if c.fraction > 0 && !strings.Contains(v, ".") {
			v += "." + strings.Repeat("0", c.fraction)
		}
		if binary {
			return []byte(v), nil
		}
		return v, nil
	case []byte:
		if binary {
			return v, nil
		}
		return string(v), nil
	}
	s, ok := c.number(ctx, v)
	if !ok {
		out, _, err := types.LongText.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		if s, ok = out.(string); !ok {
			return nil, fmt.Errorf("unions: %T as a text", v)
		}
	}
	if binary {
		return []byte(s), nil
	}
	return s, nil
}

// number is the text of a number.
func (c *Converted) number(ctx *sql.Context, v any) (string, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return "1", true
		}
		return "0", true
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64, uint:
		if types.IsYear(c.Child.Type(ctx)) {
			return fmt.Sprintf("%04d", v), true
		}
		return fmt.Sprint(v), true
	case float32:
		return string(numeral.AppendFloat(nil, float64(v), 32)), true
	case float64:
		return string(numeral.AppendDouble(nil, v)), true
	case *apd.Decimal:
		if t, ok := c.Child.Type(ctx).(sql.DecimalType); ok && t != types.InternalDecimalType {
			if d, in, err := numeral.Fit(v, int(t.Precision()), int(t.Scale())); err == nil && in {
				v = d
			}
		}
		return v.Text('f'), true
	}
	return "", false
}
