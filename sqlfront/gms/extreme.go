package gms

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// Extreme is GREATEST or LEAST of dates or times and numbers: they compare as numbers, and the result is the
// text of the one that it is. The library's was 0 if that was a date.
type Extreme struct {
	expression.NaryExpression
	name           string
	numbers, texts []sql.Expression
}

var (
	_ sql.FunctionExpression = (*Extreme)(nil)
	_ sql.CollationCoercible = (*Extreme)(nil)
)

// NewExtreme makes a call of the function of that name.
func NewExtreme(ctx *sql.Context, name string, args []sql.Expression) *Extreme {
	x := &Extreme{NaryExpression: expression.NaryExpression{ChildExpressions: args}, name: name}
	for _, a := range args {
		x.numbers = append(x.numbers, expr.AsNumber(ctx, a))
		x.texts = append(x.texts, expr.AsText(ctx, a))
	}
	return x
}

// FunctionName implements sql.FunctionExpression.
func (x *Extreme) FunctionName() string { return x.name }

// Description implements sql.FunctionExpression.
func (x *Extreme) Description() string { return "is MySQL's function of that name." }

// Type implements sql.Expression.
func (x *Extreme) Type(*sql.Context) sql.Type { return types.LongText }

// IsNullable implements sql.Expression.
func (x *Extreme) IsNullable(*sql.Context) bool { return true }

// String implements sql.Expression.
func (x *Extreme) String() string {
	var args []string
	for _, a := range x.ChildExpressions {
		args = append(args, a.String())
	}
	return x.name + "(" + strings.Join(args, ",") + ")"
}

// CollationCoercibility implements sql.CollationCoercible.
func (x *Extreme) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return ctx.GetCollation(), 4
}

// WithChildren implements sql.Expression.
func (x *Extreme) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(x.ChildExpressions) {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), len(x.ChildExpressions))
	}
	return NewExtreme(ctx, x.name, children), nil
}

// Eval implements sql.Expression.
func (x *Extreme) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	var best *apd.Decimal
	at := 0
	for i, e := range x.numbers {
		v, err := e.Eval(ctx, row)
		if v == nil || err != nil {
			return nil, err
		}
		if v, _, err = expr.Convert(ctx, types.InternalDecimalType, v); err != nil {
			return nil, err
		}
		n, ok := v.(*apd.Decimal)
		if !ok {
			return nil, nil
		}
		if best == nil || n.Cmp(best) > 0 == (x.name == "greatest") && n.Cmp(best) != 0 {
			best, at = n, i
		}
	}
	v, err := x.texts[at].Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	v, _, err = types.LongText.Convert(ctx, v)
	return v, err
}
