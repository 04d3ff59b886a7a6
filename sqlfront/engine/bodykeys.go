package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/routine"
)

// When a statement of a body begins, NEW, OLD and variables are values, and its conditions are what they would be in a statement of a
// client with these values written in. So that is what a Filter over a table becomes: one with literals, for which everything
// is known that helps a client's (path.go, push.go): ranges, lists, parts of conditions that shards can look at. PushOuterKeys has
// found the points before, when the body was compiled.

// bindBody returns the rows of a Filter of a body, nil if it is none or if there is nothing to gain.
func (b *execBuilder) bindBody(ctx *sql.Context, n *plan.Filter) (sql.RowIter, error) {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || !tx.live {
		return nil, nil
	}
	// Within a subquery the library puts the row of the outer query in front of the rows of each table.
	child, alias, outer := filtered(n)
	if child == nil {
		return nil, nil
	}
	bound, ok, err := bindRow(ctx, n.Expression, outer)
	if !ok || err != nil {
		return nil, err
	}
	if alias != nil {
		if child, err = alias.WithChildren(ctx, child); err != nil {
			return nil, err
		}
	}
	it, err := b.base.Build(ctx, plan.NewFilter(ctx, bound, child), nil)
	if err != nil || len(outer) == 0 {
		return it, err
	}
	return &prepended{it, outer}, nil
}

// bindRow writes the values of variables, and those of the first fields, into an expression. ok is false if there are none, or if that
// might change what it means: subqueries have fields of their own, and a text compares otherwise than a variable when collations differ.
func bindRow(ctx *sql.Context, e sql.Expression, row sql.Row) (_ sql.Expression, ok bool, err error) {
	found, plain := false, true
	collation := sql.Collation_Unspecified
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			found = found || e.Index() < len(row)
		case *routine.Held:
			found = true
		case sql.ExpressionWithNodes:
			plain = false
			return false
		default:
			return true
		}
		if t, ok := e.Type(ctx).(sql.StringType); ok {
			plain = plain && (collation == sql.Collation_Unspecified || collation == t.Collation())
			collation = t.Collation()
		}
		return true
	})
	if !found || !plain {
		return nil, false, nil
	}
	out, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			if e.Index() < len(row) {
				return expression.NewLiteral(row[e.Index()], e.Type(ctx)), transform.NewTree, nil
			}
			return e.WithIndex(e.Index() - len(row)), transform.NewTree, nil
		case *routine.Held:
			v, err := e.Eval(ctx, nil)
			return expression.NewLiteral(v, e.Type(ctx)), transform.NewTree, err
		}
		if children := e.Children(); len(children) == 2 && computes(e) && isLiteral(children[0]) && isLiteral(children[1]) {
			v, err := e.Eval(ctx, nil)
			return expression.NewLiteral(v, e.Type(ctx)), transform.NewTree, err
		}
		return e, transform.SameTree, nil
	})
	return out, err == nil, err
}

func isLiteral(e sql.Expression) bool {
	_, ok := e.(*expression.Literal)
	return ok
}

// computes reports whether an expression is an operator on numbers.
func computes(e sql.Expression) bool {
	_, ok := e.(expression.ArithmeticOp)
	return ok
}

// prepended puts a row in front of each row.
type prepended struct {
	sql.RowIter
	row sql.Row
}

// Next implements sql.RowIter.
func (p *prepended) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := p.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Concat(p.row, row), nil
}
