package engine

import (
	"moka/sqlfront/gms"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// A subquery that is compared with and that depends on nothing outside of it, id = (SELECT MAX(id) FROM t), has one value for the whole
// statement. The library makes a semi join of it, which finds a row for any of several values where MySQL says 1242, and runs an
// aggregate once for each row of the other side. So the planner does not see it (mendScalar), and when the Filter above a table begins, its
// value is written into the condition, which finds a way to the rows then as any other does (path.go).

// mendScalar keeps such a subquery from being made a join; nil if there is none.
func mendScalar(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	c, ok := e.(expression.Comparer)
	if !ok {
		return nil, nil
	}
	sub, ok := c.Right().(*plan.Subquery)
	if !ok || !sub.CanCacheResults() {
		return nil, nil
	}
	if types.NumColumns(sub.Type(ctx)) != 1 { // a row, which the library knows as an operand of comparisons alone
		return gms.Keep(e), nil
	}
	return e.WithChildren(ctx, c.Left(), gms.Keep(sub))
}

// scalarOf is the subquery that an operand of a comparison is, if it has one value for the statement.
func scalarOf(ctx *sql.Context, e sql.Expression) *plan.Subquery {
	if k, ok := e.(*gms.KeptWhole); ok {
		e = k.Child
	}
	sub, ok := e.(*plan.Subquery)
	if !ok || !sub.Correlated().Empty() || len(sub.Query.Schema(ctx)) != 1 {
		return nil
	}
	if sub.CanCacheResults() {
		return sub
	}
	// In bodies of triggers and routines all are marked as if they could change (routine.PushOuterKeys).
	steady := true
	transform.InspectExpressionsWithNode(ctx, sub.Query, func(ctx *sql.Context, _ sql.Node, e sql.Expression) bool {
		n, ok := e.(sql.NonDeterministicExpression)
		steady = steady && !(ok && n.IsNonDeterministic())
		return steady
	})
	if !steady {
		return nil
	}
	return sub
}

// mapScalars replaces the subqueries of a condition on one table by what of makes of them. It leaves alone what a literal might be compared
// otherwise with.
func mapScalars(ctx *sql.Context, e sql.Expression, of func(*plan.Subquery) (sql.Expression, error)) (sql.Expression, transform.TreeIdentity, error) {
	return transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		c, ok := e.(expression.Comparer)
		if !ok {
			return e, transform.SameTree, nil
		}
		operands := []sql.Expression{c.Left(), c.Right()}
		for i, o := range operands {
			sub := scalarOf(ctx, o)
			if sub == nil || !comparesAlike(sub.Type(ctx), operands[1-i].Type(ctx)) {
				continue
			}
			value, err := of(sub)
			if err != nil {
				return nil, transform.SameTree, err
			}
			operands[i] = value
			out, err := e.WithChildren(ctx, operands...)
			return out, transform.NewTree, err
		}
		return e, transform.SameTree, nil
	})
}

// comparesAlike reports whether a literal of type a is compared with b as the value of a subquery is: of texts, the collation of a literal
// gives way to others.
func comparesAlike(a, b sql.Type) bool {
	x, ok := a.(sql.StringType)
	y, also := b.(sql.StringType)
	return !ok || !also || x.Collation() == y.Collation() || !types.IsTextOnly(a) || !types.IsTextOnly(b)
}

// filtered is the table below a Filter, and the row of the outer query that the library puts in front of its rows within a subquery; nil if there is
// something else below.
func filtered(n *plan.Filter) (table sql.Node, alias *plan.TableAlias, outer sql.Row) {
	child := n.Child
	if a, ok := child.(*plan.TableAlias); ok {
		child, alias = a.Child, a
	}
	if p, ok := child.(*plan.PrependNode); ok {
		child, outer = p.Child, p.Row
	}
	switch t := child.(type) {
	case *plan.ResolvedTable:
	case *plan.IndexedTableAccess:
		if !t.IsStatic() {
			return nil, nil, nil
		}
	default:
		return nil, nil, nil
	}
	return child, alias, outer
}

// bindScalars returns the rows of a Filter over a table with the values of its subqueries written in, nil if it has none. They are
// computed when the first row is wanted.
func (b *execBuilder) bindScalars(ctx *sql.Context, n *plan.Filter, row sql.Row) (sql.RowIter, error) {
	table, _, outer := filtered(n)
	if table == nil || !hasScalars(ctx, n.Expression) {
		return nil, nil
	}
	// A subquery reads its columns behind those of the row that it is computed for, whatever these are.
	wide := append(slices.Clone(outer), make(sql.Row, len(n.Child.Schema(ctx)))...)
	failed := false
	return &lateIter{open: func(ctx *sql.Context) (sql.RowIter, error) {
		if failed { // INSERT IGNORE forgives the error, and asks for the next row
			return sql.RowsToRowIter(), nil
		}
		failed = true
		bound, _, err := mapScalars(ctx, n.Expression, func(sub *plan.Subquery) (sql.Expression, error) {
			v, err := sub.Eval(ctx, wide)
			return expression.NewLiteral(v, sub.Type(ctx)), err
		})
		if err != nil {
			return nil, err
		}
		now := plan.NewFilter(ctx, bound, n.Child)
		if m := measuringOf(ctx); m != nil {
			m.enter(now) // what it does is n's
		}
		it, err := b.base.Build(ctx, now, row)
		failed = err != nil
		return it, err
	}}, nil
}

func hasScalars(ctx *sql.Context, e sql.Expression) bool {
	found := false
	_, _, _ = mapScalars(ctx, e, func(sub *plan.Subquery) (sql.Expression, error) { // which changes nothing
		found = true
		return sub, nil
	})
	return found
}

// withScalars is the Filter as it will be, for EXPLAIN: with some value in the place of each subquery.
func withScalars(ctx *sql.Context, n *plan.Filter) *plan.Filter {
	if table, _, _ := filtered(n); table == nil {
		return n
	}
	bound, same, err := mapScalars(ctx, n.Expression, func(sub *plan.Subquery) (sql.Expression, error) {
		typ := sub.Type(ctx)
		return expression.NewLiteral(typ.Zero(), typ), nil
	})
	if err != nil || bool(same) {
		return n
	}
	return plan.NewFilter(ctx, bound, n.Child)
}

// withoutOuter is an aggregation over a table within a subquery as it would be alone: the library puts the row of the outer query in
// front of the table's rows. It is nil if there is none, or something in it that is not so easily told.
func withoutOuter(ctx *sql.Context, n *plan.GroupBy) (*plan.GroupBy, error) {
	child, f := n.Child, (*plan.Filter)(nil)
	if filter, ok := child.(*plan.Filter); ok {
		child, f = filter.Child, filter
	}
	table, alias, outer := filtered(plan.NewFilter(ctx, nil, child))
	if table == nil || len(outer) == 0 || len(n.GroupByExprs) > 0 {
		return nil, nil
	}
	plain := true
	move := func(e sql.Expression) (sql.Expression, error) {
		out, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			switch e := e.(type) {
			case *expression.GetField:
				if e.Index() < len(outer) {
					return expression.NewLiteral(outer[e.Index()], e.Type(ctx)), transform.NewTree, nil
				}
				return e.WithIndex(e.Index() - len(outer)), transform.NewTree, nil
			case sql.ExpressionWithNodes:
				plain = false
			}
			return e, transform.SameTree, nil
		})
		return out, err
	}
	var err error
	deps := make([]sql.Expression, len(n.SelectDeps))
	for i, d := range n.SelectDeps {
		if deps[i], err = move(d); err != nil {
			return nil, err
		}
	}
	if alias != nil {
		if table, err = alias.WithChildren(ctx, table); err != nil {
			return nil, err
		}
	}
	if f != nil {
		cond, err := move(f.Expression)
		if err != nil {
			return nil, err
		}
		table = plan.NewFilter(ctx, cond, table)
	}
	if !plain {
		return nil, nil
	}
	return plan.NewGroupBy(deps, nil, table), nil
}

// hidden is such a subquery while the library moves conditions down to their tables: it leaves those above a join that it sees a subquery in.
type hidden struct{ kept *gms.KeptWhole }

var (
	_ sql.Expression         = hidden{}
	_ sql.CollationCoercible = hidden{}
)

func (h hidden) Resolved() bool                                  { return h.kept.Resolved() }
func (h hidden) String() string                                  { return h.kept.String() }
func (h hidden) Type(ctx *sql.Context) sql.Type                  { return h.kept.Type(ctx) }
func (h hidden) IsNullable(ctx *sql.Context) bool                { return h.kept.IsNullable(ctx) }
func (h hidden) Children() []sql.Expression                      { return nil }
func (h hidden) Eval(ctx *sql.Context, row sql.Row) (any, error) { return h.kept.Eval(ctx, row) }
func (h hidden) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, h.kept)
}

// WithChildren implements sql.Expression.
func (h hidden) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(h, len(cs), 0)
	}
	return h, nil
}

// pushingScalars is the library's rule pushFilters with such conditions among those that it moves.
func pushingScalars(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if !flags.SubqueryIsSet() || !gms.Joins(n) {
			return apply(ctx, a, n, scope, sel, flags)
		}
		without, same, err := transform.NodeExprs(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			if k, ok := e.(*gms.KeptWhole); ok && scalarOf(ctx, k) != nil {
				return hidden{k}, transform.NewTree, nil
			}
			return e, transform.SameTree, nil
		})
		if err != nil || bool(same) {
			return apply(ctx, a, n, scope, sel, flags)
		}
		moved, same, err := apply(ctx, a, without, scope, sel, flags)
		if err != nil || bool(same) {
			return n, transform.SameTree, err
		}
		again, _, err := transform.NodeExprs(ctx, moved, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			if h, ok := e.(hidden); ok {
				return h.kept, transform.NewTree, nil
			}
			return e, transform.SameTree, nil
		})
		return again, transform.NewTree, err
	}
}
