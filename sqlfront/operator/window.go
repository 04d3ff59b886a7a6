package operator

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/collate"
)

// framed is a function over a window whose values are charged for: the library makes those of all rows
// before the first is returned, and JSON_ARRAYAGG(x) OVER (ORDER BY x) has n²/2 elements. It ends when the
// statement is to end, which the library does not look at.
type framed struct {
	sql.WindowAdaptableExpression
	charge *Charge
}

var (
	_ sql.WindowAdaptableExpression = (*framed)(nil)
	_ sql.CollationCoercible        = (*framed)(nil)
	_ collate.Wrapper               = (*framed)(nil)
)

// Wrapped implements collate.Wrapper.
func (f *framed) Wrapped() sql.Expression { return f.WindowAdaptableExpression }

// CollationCoercibility implements sql.CollationCoercible.
func (f *framed) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, f.WindowAdaptableExpression)
}

// WithChildren implements sql.Expression.
func (f *framed) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.WindowAdaptableExpression.WithChildren(ctx, children...)
	if w, ok := e.(sql.WindowAdaptableExpression); ok && err == nil {
		return &framed{w, f.charge}, nil
	}
	return e, err
}

// Window implements sql.WindowAdaptableExpression.
func (f *framed) Window() *sql.WindowDefinition {
	return heedWindow(f.WindowAdaptableExpression.Window())
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (f *framed) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	fn, err := f.WindowAdaptableExpression.NewWindowFunction(ctx)
	if err != nil {
		return nil, err
	}
	return &framedFunction{fn, f.charge}, nil
}

type framedFunction struct {
	sql.WindowFunction
	charge *Charge
}

// Compute implements sql.WindowFunction.
func (f *framedFunction) Compute(ctx *sql.Context, in sql.WindowInterval, buf sql.WindowBuffer) (any, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v, err := f.WindowFunction.Compute(ctx, in, buf)
	if err != nil {
		return nil, err
	}
	if n := ValueBytes(v); n > smallValue {
		err = f.charge.Add(n)
	}
	return v, err
}

// smallValue is what a value of a window may take that is charged for with its row.
const smallValue = 64

// frame has the functions over windows among exprs charge for their values.
func frame(exprs []sql.Expression, c *Charge) []sql.Expression {
	out := slices.Clone(exprs)
	for i, e := range out {
		if _, done := e.(*framed); done {
			return exprs
		}
		if w, ok := e.(sql.WindowAdaptableExpression); ok {
			out[i] = &framed{w, c}
		}
	}
	return out
}
