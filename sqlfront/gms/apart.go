package gms

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/eval"
)

// ApartFromIndex keeps a column from being looked up in an index where the comparison has another collation
// than the column, by COLLATE: the index finds what is equal under its own, and the library looks no further.
// It returns nil if there is nothing to do.
func ApartFromIndex(ctx *sql.Context, e sql.Expression) []sql.Expression {
	operands := e.Children()
	if len(operands) != 2 {
		return nil
	}
	for i, o := range operands {
		c, ok := operands[1-i].(*expression.CollatedExpression)
		f, column := o.(*expression.GetField)
		if !ok || !column || !types.IsTextOnly(f.Type(ctx)) {
			continue
		}
		of, _ := sql.GetCoercibility(ctx, c)
		if own, _ := sql.GetCoercibility(ctx, f); own == of {
			continue
		}
		out := slices.Clone(operands)
		out[i] = &Apart{expression.UnaryExpressionStub{Child: f}}
		return out
	}
	return nil
}

// ApartFromKeys keeps a column from being looked up in an index by values of other columns of which its type
// has only what they are rounded to, or cut to: the library looks no further at what it has found. What
// cannot be found by the hash of a value either is kept from all joins but those that compare each row with
// each.
func ApartFromKeys(ctx *sql.Context, e sql.Expression) (_ sql.Expression, found bool, err error) {
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals:
	default:
		return e, false, nil
	}
	operands := e.Children()
	if dependsOnRows(ctx, operands[0]) && dependsOnRows(ctx, operands[1]) &&
		!eval.Hashed(operands[0].Type(ctx), operands[1].Type(ctx)) {
		return Keep(e), true, nil
	}
	for i, o := range e.Children() {
		f, ok := o.(*expression.GetField)
		other := e.Children()[1-i]
		if ok && dependsOnRows(ctx, other) && !eval.Looked(f.Type(ctx), other.Type(ctx)) {
			operands[i], found = &Apart{expression.UnaryExpressionStub{Child: f}}, true
		}
	}
	if !found {
		return e, false, nil
	}
	e, err = e.WithChildren(ctx, operands...)
	return e, true, err
}

// Apart is a column in which the library does not see one; see ApartFromIndex.
type Apart struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*Apart)(nil)
	_ sql.CollationCoercible = (*Apart)(nil)
)

func (a *Apart) String() string                 { return a.Child.String() }
func (a *Apart) Type(ctx *sql.Context) sql.Type { return a.Child.Type(ctx) }

// WithChildren implements sql.Expression.
func (a *Apart) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(cs), 1)
	}
	return &Apart{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (a *Apart) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, a.Child)
}

// Eval implements sql.Expression.
func (a *Apart) Eval(ctx *sql.Context, row sql.Row) (any, error) { return a.Child.Eval(ctx, row) }

func dependsOnRows(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		_, ok := e.(*expression.GetField)
		return ok
	})
}
