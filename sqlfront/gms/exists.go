package gms

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// RewriteExists answers what EXISTS says without a look at rows, and leaves to the library only what it makes
// a right join of. It forgets on the way that an aggregate without GROUP BY has a row whatever it counts, and
// that LIMIT 0 has none; it takes conditions with columns of the outer query out of derived tables, parts of
// UNIONs and the inner side of outer joins, where they mean something else than above them; and a subquery
// without such columns it cross joins, under which columns of that name are mistaken for the outer query's.
// What is nested deep stays as it is: see nesting.go.
func RewriteExists(ctx *sql.Context, e *plan.ExistsSubquery) (sql.Expression, transform.TreeIdentity, error) {
	if deeperThan(ctx, e.Query.Query, joinedLevels) {
		return keptExists(ctx, e)
	}
	having := false
	for n := e.Query.Query; ; {
		switch q := n.(type) {
		case *plan.Limit:
			rows, ok := literalCount(q.Limit)
			if !ok {
				return keptExists(ctx, e)
			}
			if rows == 0 {
				return expression.NewLiteral(false, types.Boolean), transform.NewTree, nil
			}
			n = q.Child
		case *plan.Offset:
			return keptExists(ctx, e)
		case *plan.Having:
			having = true
			n = q.Child
		case *plan.Project, *plan.Sort, *plan.Distinct:
			n = q.Children()[0]
		case *plan.GroupBy:
			switch {
			case len(expr.GroupedBy(q.GroupByExprs)) > 0:
				if having || e.Query.CanCacheResults() || !plainRelations(q.Child) ||
					comparesOnlyOuter(q.Child, e.Query.Correlated()) {
					return keptExists(ctx, e)
				}
				return e, transform.SameTree, nil
			case having:
				return keptExists(ctx, e)
			}
			return expression.NewLiteral(true, types.Boolean), transform.NewTree, nil
		default:
			if e.Query.CanCacheResults() || !plainRelations(n) || comparesOnlyOuter(n, e.Query.Correlated()) {
				return keptExists(ctx, e)
			}
			return e, transform.SameTree, nil
		}
	}
}

// comparesOnlyOuter reports whether a condition in n is of outer columns alone. The join would look for rows
// that meet it before it has the outer row.
func comparesOnlyOuter(n sql.Node, outer sql.ColSet) bool {
	only := false
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.SubqueryAlias:
			return false
		case *plan.Filter:
			only = only || comparesOuter(n.Expression, outer)
		case *plan.JoinNode:
			only = only || n.Filter != nil && comparesOuter(n.Filter, outer)
		}
		return !only
	})
	return only
}

// keptExists is an EXISTS that does not become a join.
func keptExists(ctx *sql.Context, e *plan.ExistsSubquery) (sql.Expression, transform.TreeIdentity, error) {
	if e.Query.CanCacheResults() {
		return newAnyRow(ctx, e.Query), transform.NewTree, nil
	}
	return Keep(e), transform.NewTree, nil
}

// literalCount is the number of rows that a LIMIT names, if it is written down.
func literalCount(e sql.Expression) (int64, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	v, _, err := types.Int64.Convert(nil, l.Value())
	n, ok := v.(int64)
	return n, ok && err == nil
}

// RewriteIn makes a comparison of x IN (SELECT COUNT(*) FROM … WHERE o.y = 1): one row comes out of the
// subquery whatever o.y is, but the library takes conditions of the outer query out of it.
func RewriteIn(ctx *sql.Context, e *plan.InSubquery) (sql.Expression, transform.TreeIdentity, error) {
	sub, ok := e.RightChild.(*plan.Subquery)
	if !ok || sub.Correlated().Empty() || len(sub.Query.Schema(ctx)) != 1 ||
		types.NumColumns(e.LeftChild.Type(ctx)) != 1 {
		return e, transform.SameTree, nil
	}
	g, ok := selected(sub.Query).(*plan.GroupBy)
	if !ok || len(expr.GroupedBy(g.GroupByExprs)) > 0 {
		return e, transform.SameTree, nil
	}
	return expression.NewEquals(e.LeftChild, sub), transform.NewTree, nil
}

// KeepIn leaves to the library's joins only an IN that is of columns of the outer query on one side and of
// plain tables on the other: a join by 'c' = s is none, and derived tables among others lose their columns on
// the way.
func KeepIn(ctx *sql.Context, e *plan.InSubquery) (sql.Expression, transform.TreeIdentity, error) {
	sub, ok := e.RightChild.(*plan.Subquery)
	if !ok || !sub.Correlated().Empty() {
		return e, transform.SameTree, nil
	}
	n := selected(sub.Query)
	if g, ok := n.(*plan.GroupBy); ok {
		n = g.Child
	}
	if dependsOnRows(ctx, e.LeftChild) && plainRelations(n) {
		return e, transform.SameTree, nil
	}
	return Keep(e), transform.NewTree, nil
}

// selected is what a query makes its columns of.
func selected(n sql.Node) sql.Node {
	for {
		switch n.(type) {
		case *plan.Project, *plan.Sort, *plan.Distinct:
			n = n.Children()[0]
		default:
			return n
		}
	}
}

// KeptWhole is a condition that the planner is to evaluate where it is, and to draw no conclusions from.
type KeptWhole struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*KeptWhole)(nil)
	_ sql.CollationCoercible = (*KeptWhole)(nil)
)

// Keep wraps a condition that is to be kept whole.
func Keep(e sql.Expression) sql.Expression {
	return &KeptWhole{expression.UnaryExpressionStub{Child: e}}
}

func (k *KeptWhole) String() string                 { return k.Child.String() }
func (k *KeptWhole) Type(ctx *sql.Context) sql.Type { return k.Child.Type(ctx) }

// Eval implements sql.Expression.
func (k *KeptWhole) Eval(ctx *sql.Context, row sql.Row) (any, error) { return k.Child.Eval(ctx, row) }

// WithChildren implements sql.Expression.
func (k *KeptWhole) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(k, len(cs), 1)
	}
	return Keep(cs[0]), nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (k *KeptWhole) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.Child)
}

// KeepingSemiJoins keeps those conditions of semi and anti joins whole that a row of the left side may meet
// with several values of the right one. The library joins with the distinct values of the right side instead,
// which is the same only if each left row has at most one of them.
var KeepingSemiJoins = analyzer.Rule{Id: analyzer.RuleId(-1006),
	Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector,
		_ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			j, ok := n.(*plan.JoinNode)
			if !ok || !j.Op.IsSemi() && !j.Op.IsAnti() || j.Filter == nil {
				return n, transform.SameTree, nil
			}
			conds, same := expression.SplitConjunction(ctx, j.Filter), transform.SameTree
			for i, c := range conds {
				if _, done := c.(*KeptWhole); !done && !oneValue(ctx, c, j.Right()) {
					conds[i], same = Keep(c), transform.NewTree
				}
			}
			if same {
				return n, same, nil
			}
			return plan.NewJoin(ctx, j.Left(), j.Right(), j.Op,
				expression.JoinAnd(conds...)).WithComment(j.Comment()), same, nil
		})
	}}

// oneValue reports whether the condition is of nothing from the right side, or says what one
// column of it is equal to.
func oneValue(ctx *sql.Context, cond sql.Expression, right sql.Node) bool {
	tables := make(map[sql.TableId]bool)
	transform.Inspect(right, func(n sql.Node) bool {
		if t, ok := n.(plan.TableIdNode); ok {
			tables[t.Id()] = true
		}
		return true
	})
	ofRight := func(e sql.Expression) bool {
		return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			c, ok := e.(*expression.GetField)
			return ok && tables[c.TableId()]
		})
	}
	if !ofRight(cond) {
		return true
	}
	eq, ok := cond.(*expression.Equals)
	if !ok {
		return false
	}
	column, other := eq.Left(), eq.Right()
	if !ofRight(column) {
		column, other = other, column
	}
	if _, ok := column.(*expression.GetField); !ok || ofRight(other) {
		return false
	}
	a, b := column.Type(ctx), other.Type(ctx)
	return types.IsText(a) == types.IsText(b) // '1' and '1.0' are both equal to 1
}

// KeepingOuter keeps conditions whole that compare a column of an outer query with values: (SELECT
// COUNT(*) FROM t WHERE o.id = 3). The library chooses an index of t by the names of columns alone, and
// would look for t.id = 3.
var KeepingOuter = analyzer.Rule{Id: analyzer.RuleId(-1008),
	Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		_ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if scope.IsEmpty() || scope.Correlated().Empty() {
			return n, transform.SameTree, nil
		}
		outer := scope.Correlated()
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			switch n := n.(type) {
			case *plan.Filter:
				if cond, same := keepOuter(ctx, n.Expression, outer); !same {
					return plan.NewFilter(ctx, cond, n.Child), transform.NewTree, nil
				}
			case *plan.JoinNode:
				if n.Filter == nil {
					break
				}
				if cond, same := keepOuter(ctx, n.Filter, outer); !same {
					return plan.NewJoin(ctx, n.Left(), n.Right(), n.Op, cond).WithComment(n.Comment()),
						transform.NewTree, nil
				}
			}
			return n, transform.SameTree, nil
		})
	}}

func keepOuter(ctx *sql.Context, cond sql.Expression, outer sql.ColSet) (sql.Expression, bool) {
	conds, same := expression.SplitConjunction(ctx, cond), true
	for i, c := range conds {
		if _, done := c.(*KeptWhole); !done && comparesOuter(c, outer) {
			conds[i], same = Keep(c), false
		}
	}
	return expression.JoinAnd(conds...), same
}

// comparesOuter reports whether a part of the condition is of outer columns and of no others.
func comparesOuter(e sql.Expression, outer sql.ColSet) bool {
	switch e.(type) {
	case *expression.And, *expression.Or, *expression.Not:
		return slices.ContainsFunc(e.Children(), func(c sql.Expression) bool {
			return comparesOuter(c, outer)
		})
	}
	out, in := false, false
	var look func(e sql.Expression)
	look = func(e sql.Expression) {
		if c, ok := e.(*expression.GetField); ok {
			out, in = out || outer.Contains(c.Id()), in || !outer.Contains(c.Id())
		}
		for _, c := range e.Children() {
			look(c)
		}
	}
	look(e)
	return out && !in
}
