package eval

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Product is left * right of DECIMALs. The library's -1.00 * 0 is -0.00, which no DECIMAL is: it was written
// so, and another group than 0.00.
type Product struct{ *expression.Arithmetic }

// WithChildren implements sql.Expression.
func (p *Product) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(p, len(ch), 2)
	}
	return &Product{expression.NewMult(ch[0], ch[1])}, nil
}

// Eval implements sql.Expression.
func (p *Product) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := p.Arithmetic.Eval(ctx, row)
	if d, ok := v.(*apd.Decimal); ok && d.Negative && d.IsZero() {
		d.Negative = false // it was made just now
	}
	return v, err
}
