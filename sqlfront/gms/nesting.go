package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// The library makes a lateral join of an EXISTS over a derived table, and of the one in that another, on the
// right side of the first. For each derived table it then asks all tables around it whether they are a
// trigger's: those on its left, and those that these had around them. That is twice as many questions for
// each lateral join that a table is on the right of, and they hear neither KILL nor max_execution_time: 45
// EXISTS in one another (2.7 KB) were minutes. So EXISTS that are nested deep stay subqueries, whose tables
// ask nobody, and LATERAL in LATERAL is refused before it is asked.

const (
	joinedLevels = 8       // EXISTS in EXISTS that become joins; 2^8 questions are nothing
	askedScopes  = 1 << 24 // a tenth of a second
)

// deeperThan reports whether n has subqueries in one another on more than so many levels.
func deeperThan(ctx *sql.Context, n sql.Node, levels int) bool {
	deeper := false
	subqueriesOf(ctx, n, func(q *plan.Subquery) {
		deeper = deeper || levels == 0 || deeperThan(ctx, q.Query, levels-1)
	})
	return deeper
}

// subqueriesOf shows f the subqueries in the expressions of n and of all below it.
func subqueriesOf(ctx *sql.Context, n sql.Node, f func(*plan.Subquery)) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		subqueriesIn(ctx, n, f)
		return true
	})
}

func subqueriesIn(ctx *sql.Context, n sql.Node, f func(*plan.Subquery)) {
	x, ok := n.(sql.Expressioner)
	if !ok {
		return
	}
	for _, e := range x.Expressions() {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if q, ok := e.(*plan.Subquery); ok {
				f(q)
			}
			return true
		})
	}
}

// boundScopes refuses a statement for which the library would ask too often.
func boundScopes(ctx *sql.Context, n sql.Node, scope *plan.Scope) error {
	left, around := askedScopes, 0
	if !scope.IsEmpty() {
		around = 1
	}
	var visit func(n sql.Node, around int)
	visit = func(n sql.Node, around int) {
		if left < 0 {
			return
		}
		subqueriesIn(ctx, n, func(q *plan.Subquery) { visit(q.Query, 1) })
		switch n := n.(type) {
		case *plan.JoinNode:
			visit(n.Left(), around)
			if n.Op.IsLateral() {
				around = min(2*around+1, askedScopes)
			}
			visit(n.Right(), around)
			return
		case *plan.SubqueryAlias:
			left -= 1 + around
			if !n.OuterScopeVisibility && !n.IsLateral {
				around = 0
			}
		case *plan.Project: // above a group it asks, too
			left -= 1 + around
		}
		for _, part := range n.Children() {
			visit(part, around)
		}
	}
	if visit(n, around); left < 0 {
		return sqlerr.New(sqlerr.SelectsNested, "Too high level of nesting for select")
	}
	return nil
}
