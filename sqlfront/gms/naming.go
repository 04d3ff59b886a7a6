package gms

import (
	"maps"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// naming is a condition with a subquery that shows the columns which the subquery takes from the joined
// tables. The planner looks for columns among the children of expressions, and a subquery has none: ON a.x =
// (SELECT COUNT(*) FROM c WHERE c.y = b.y) was taken for one of a alone, and joined, or looked up by a hash,
// before b was there.
//
// It is none of the library's unary expressions, of which only the one child is looked at.
type naming struct {
	child   sql.Expression
	columns []sql.Expression
}

var (
	_ sql.Expression         = (*naming)(nil)
	_ sql.CollationCoercible = (*naming)(nil)
)

func (n *naming) String() string                   { return n.child.String() }
func (n *naming) Type(ctx *sql.Context) sql.Type   { return n.child.Type(ctx) }
func (n *naming) Resolved() bool                   { return n.child.Resolved() }
func (n *naming) IsNullable(ctx *sql.Context) bool { return n.child.IsNullable(ctx) }

// Children implements sql.Expression.
func (n *naming) Children() []sql.Expression { return append([]sql.Expression{n.child}, n.columns...) }

// Eval implements sql.Expression.
func (n *naming) Eval(ctx *sql.Context, row sql.Row) (any, error) { return n.child.Eval(ctx, row) }

// WithChildren implements sql.Expression.
func (n *naming) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1+len(n.columns) {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(cs), 1+len(n.columns))
	}
	return &naming{cs[0], cs[1:]}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *naming) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, n.child)
}

// NamingColumns shows the planner of joins what the subqueries in conditions are of.
var NamingColumns = analyzer.Rule{Id: analyzer.RuleId(-1011),
	Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector,
		_ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			switch n := n.(type) {
			case *plan.Filter:
				if _, ok := n.Child.(*plan.JoinNode); !ok {
					break
				}
				if cond := named(ctx, n.Expression, n.Child); cond != nil {
					return plan.NewFilter(ctx, cond, n.Child), transform.NewTree, nil
				}
			case *plan.JoinNode:
				if n.Filter == nil {
					break
				}
				if cond := named(ctx, n.Filter, n); cond != nil {
					return plan.NewJoin(ctx, n.Left(), n.Right(), n.Op, cond).WithComment(n.Comment()),
						transform.NewTree, nil
				}
			}
			return n, transform.SameTree, nil
		})
	}}

// named is the condition with the columns that its subqueries take from below, nil if there are none.
func named(ctx *sql.Context, cond sql.Expression, below sql.Node) sql.Expression {
	conds, found := expression.SplitConjunction(ctx, cond), false
	var from map[sql.ColumnId]sql.TableId
	for i, c := range conds {
		if _, ok := c.(*naming); ok {
			continue
		}
		taken := make(map[sql.ColumnId]*expression.GetField)
		correlated(ctx, c, taken)
		if len(taken) > 0 && from == nil {
			from = tablesOf(ctx, below)
		}
		var columns []sql.Expression
		for _, id := range slices.Sorted(maps.Keys(taken)) {
			if table, ok := from[id]; ok {
				f := taken[id]
				columns = append(columns, expression.NewGetFieldWithTable(int(id), int(table), f.Type(ctx),
					f.Database(), f.Table(), f.Name(), true))
			}
		}
		if len(columns) > 0 {
			conds[i], found = &naming{c, columns}, true
		}
	}
	if !found {
		return nil
	}
	return expression.JoinAnd(conds...)
}

// correlated collects the columns that the subqueries in e have, those of their own tables, too.
func correlated(ctx *sql.Context, e sql.Expression, taken map[sql.ColumnId]*expression.GetField) {
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		q, ok := e.(*plan.Subquery)
		if ok && !q.Correlated().Empty() {
			columnsWithin(ctx, q.Query, taken)
		}
		return !ok
	})
}

func columnsWithin(ctx *sql.Context, n sql.Node, taken map[sql.ColumnId]*expression.GetField) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if x, ok := n.(sql.Expressioner); ok {
			for _, e := range x.Expressions() {
				sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
					switch e := e.(type) {
					case *expression.GetField:
						taken[e.Id()] = e
					case *plan.Subquery:
						columnsWithin(ctx, e.Query, taken)
					}
					return true
				})
			}
		}
		return true
	})
}

// tablesOf says which of the tables joined in n a column is of. The columns in a subquery do not know.
func tablesOf(ctx *sql.Context, n sql.Node) map[sql.ColumnId]sql.TableId {
	tables := make(map[sql.ColumnId]sql.TableId)
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		t, ok := n.(plan.TableIdNode)
		if ok {
			columns := t.Columns()
			columns.ForEach(func(c sql.ColumnId) { tables[c] = t.Id() })
		}
		return !ok
	})
	return tables
}
