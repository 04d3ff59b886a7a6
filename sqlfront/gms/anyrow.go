package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// AnyRow is EXISTS over a subquery that says the same for each row of the outer query. It asks for one row,
// once for each time the statement is run: the library's own EXISTS keeps no answer.
type AnyRow struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*AnyRow)(nil)
	_ sql.CollationCoercible = (*AnyRow)(nil)
)

func newAnyRow(ctx *sql.Context, q *plan.Subquery) *AnyRow {
	one := expression.NewLiteral(int64(1), types.Int64)
	row := plan.NewProject(ctx, []sql.Expression{one}, plan.NewLimit(one, q.Query)) // whatever columns it has
	return &AnyRow{expression.UnaryExpressionStub{Child: q.WithQuery(row)}}
}

func (a *AnyRow) String() string { return "EXISTS " + a.Child.String() }

// Type implements sql.Expression.
func (*AnyRow) Type(*sql.Context) sql.Type { return types.Boolean }

// IsNullable implements sql.Expression.
func (*AnyRow) IsNullable(*sql.Context) bool { return false }

// Eval implements sql.Expression.
func (a *AnyRow) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	rows, err := a.Child.(*plan.Subquery).EvalMultiple(ctx, row)
	return len(rows) > 0, err
}

// WithChildren implements sql.Expression.
func (a *AnyRow) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(cs), 1)
	}
	if _, ok := cs[0].(*plan.Subquery); !ok {
		return nil, sql.ErrInvalidChildType.New(a, cs[0], (*plan.Subquery)(nil))
	}
	return &AnyRow{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*AnyRow) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// plainRelations reports whether n consists of tables, joined by inner joins, and conditions of all of their
// rows, so that a condition means the same wherever it stands among them; one derived table alone is such a
// table, as the conditions are all above it.
func plainRelations(n sql.Node) bool {
	for {
		f, ok := n.(*plan.Filter)
		if !ok {
			break
		}
		n = f.Child
	}
	if d, ok := n.(*plan.SubqueryAlias); ok {
		return d.Correlated.Empty()
	}
	return innerJoined(n)
}

func innerJoined(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return true
	case *plan.TableAlias:
		return innerJoined(n.Child)
	case *plan.Filter:
		return innerJoined(n.Child)
	case *plan.JoinNode:
		return (n.Op.IsInner() || n.Op.IsCross()) && !n.Op.IsLateral() &&
			innerJoined(n.Left()) && innerJoined(n.Right())
	}
	return false
}
