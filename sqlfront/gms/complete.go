package gms

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// CompleteGroups hands up what the nodes above a GROUP BY, or a window, ask for and the library forgot:
// columns that subqueries in HAVING, ORDER BY or the select list take from the query. It takes away the
// columns that a GROUP BY only names (expr.NamesFunction). Subqueries are looked through at once, since the
// library makes joins of some before it plans them.
func CompleteGroups(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n,
		func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
			n, same, err := transform.OneNodeExprsWithNode(ctx, n,
				func(ctx *sql.Context, _ sql.Node, e sql.Expression) (sql.Expression,
					transform.TreeIdentity, error) {
					q, ok := e.(*plan.Subquery)
					if !ok {
						return e, transform.SameTree, nil
					}
					query, same, err := CompleteGroups(ctx, q.Query)
					if err != nil || bool(same) {
						return e, transform.SameTree, err
					}
					return q.WithQuery(query), transform.NewTree, nil
				})
			if err != nil {
				return nil, transform.SameTree, err
			}
			switch g := n.(type) {
			case *plan.GroupBy:
				if err := noGroupedAggregate(ctx, g); err != nil {
					return nil, transform.SameTree, err
				}
				if by := expr.GroupedBy(g.GroupByExprs); len(by) < len(g.GroupByExprs) {
					return plan.NewGroupBy(g.SelectDeps, by, g.Child), transform.NewTree, nil
				}
			case *plan.Project:
				if needed := neededAbove(ctx, g); len(needed) > 0 {
					return handUp(ctx, g, needed)
				}
			}
			return n, same, nil
		})
}

// noGroupedAggregate refuses a GROUP BY that names, as alias or by number, what is computed of the groups.
func noGroupedAggregate(ctx *sql.Context, g *plan.GroupBy) (err error) {
	var computed sql.ColSet
	for _, e := range g.SelectDeps {
		if a, ok := e.(sql.Aggregation); ok && a.Id() != 0 {
			computed.Add(a.Id())
		}
	}
	if computed.Empty() {
		return nil
	}
	for _, e := range expr.GroupedBy(g.GroupByExprs) {
		sql.Inspect(ctx, e, func(_ *sql.Context, part sql.Expression) bool {
			if c, ok := part.(*expression.GetField); ok && computed.Contains(c.Id()) && err == nil {
				err = sqlerr.New(sqlerr.WrongGroupField, "Can't group on '%s'", e.String())
			}
			return err == nil
		})
	}
	return err
}

// neededAbove are the columns that subqueries in p, and in what is between p and a GROUP BY or a window, look
// at and that something below p does not hand up; nil if there is no GROUP BY.
func neededAbove(ctx *sql.Context, p *plan.Project) (needed []sql.Expression) {
	var queries []*plan.Subquery
	given := -1 // how many of the lists below have it is counted for each
	have := map[sql.ColumnId]int{}
	var there sql.ColSet
	for n := sql.Node(p); ; n = n.Children()[0] {
		var list []sql.Expression
		switch x := n.(type) {
		case *plan.GroupBy:
			list, there = x.SelectDeps, columnsOf(x.Child)
		case *plan.Window:
			list, there = x.SelectExprs, columnsOf(x.Child)
		case *plan.Project:
			list = x.Projections
		case *plan.Sort, *plan.Having:
		default:
			return nil
		}
		if n != sql.Node(p) && list != nil {
			for _, id := range idsOf(list) {
				have[id]++
			}
		}
		if list != nil {
			given++
		}
		switch n.(type) {
		case *plan.GroupBy, *plan.Window:
			for _, q := range queries {
				q.Correlated().ForEach(func(id sql.ColumnId) {
					if have[id] == given || !there.Contains(id) {
						return
					}
					if c := columnIn(ctx, q.Query, id); c != nil {
						have[id] = given
						needed = append(needed, c)
					}
				})
			}
			return needed
		}
		for _, e := range n.(sql.Expressioner).Expressions() {
			EachSubquery(ctx, e, func(q *plan.Subquery) { queries = append(queries, q) })
		}
	}
}

// idsOf are the columns in a list, each once.
func idsOf(list []sql.Expression) (ids []sql.ColumnId) {
	for _, e := range list {
		if c, ok := e.(*expression.GetField); ok && !slices.Contains(ids, c.Id()) {
			ids = append(ids, c.Id())
		}
	}
	return ids
}

// EachSubquery calls f for the subqueries of an expression, not for those within them.
func EachSubquery(ctx *sql.Context, e sql.Expression, f func(*plan.Subquery)) {
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		q, ok := e.(*plan.Subquery)
		if ok {
			f(q)
		}
		return !ok
	})
}

// columnsOf are the columns of the tables of a query.
func columnsOf(n sql.Node) (all sql.ColSet) {
	transform.Inspect(n, func(n sql.Node) bool {
		if t, ok := n.(plan.TableIdNode); ok {
			all = all.Union(t.Columns())
			return false
		}
		return true
	})
	return all
}

// columnIn is a column as a subquery names it.
func columnIn(ctx *sql.Context, n sql.Node, id sql.ColumnId) (found sql.Expression) {
	transform.InspectExpressionsWithNode(ctx, n, func(ctx *sql.Context, _ sql.Node, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if e.Id() == id && found == nil {
				found = e
			}
		case *plan.Subquery:
			if found == nil {
				found = columnIn(ctx, e.Query, id)
			}
		}
		return found == nil
	})
	if found == nil {
		transform.Inspect(n, func(n sql.Node) bool {
			if d, ok := n.(*plan.SubqueryAlias); ok && found == nil {
				found = columnIn(ctx, d.Child, id)
			}
			return found == nil
		})
	}
	return found
}

// handUp adds columns to the GROUP BY below p and to what is between, where they are missing.
func handUp(ctx *sql.Context, p *plan.Project, columns []sql.Expression) (sql.Node,
	transform.TreeIdentity, error) {
	missing := func(list []sql.Expression) []sql.Expression {
		ids, list := idsOf(list), slices.Clip(list)
		for _, c := range columns {
			if !slices.Contains(ids, c.(*expression.GetField).Id()) {
				list = append(list, c)
			}
		}
		return list
	}
	var add func(n sql.Node) (sql.Node, error)
	add = func(n sql.Node) (sql.Node, error) {
		switch n := n.(type) {
		case *plan.GroupBy:
			return plan.NewGroupBy(missing(n.SelectDeps), n.GroupByExprs, n.Child), nil
		case *plan.Window:
			return plan.NewWindow(missing(n.SelectExprs), n.Child), nil
		}
		below, err := add(n.Children()[0])
		if err != nil {
			return nil, err
		}
		if q, ok := n.(*plan.Project); ok {
			return plan.NewProject(ctx, missing(q.Projections), below).WithAliasDeps(q.AliasDeps), nil
		}
		return n.WithChildren(ctx, below)
	}
	below, err := add(p.Child)
	if err != nil {
		return nil, transform.SameTree, err
	}
	again, err := p.WithChildren(ctx, below)
	return again, transform.NewTree, err
}
