package gms

import (
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// IdentifyUnions gives the columns that a set operation converts the ids that the query around it knows them
// by. Where the parts of a UNION have different types, the library puts a Project with conversions over each
// of them and forgets the ids there; it then looks for such a column by its name, and in a correlated
// subquery finds that of the outer query's table instead: DELETE … WHERE EXISTS (SELECT 1 FROM (SELECT a
// FROM t UNION SELECT b FROM u) x WHERE x.a = t.a) compared t.a with itself.
//
// It is done at the last moment, by the rule that makes positions of ids and that is run once for each
// statement: an alias that has the id of what it converts would send those rules round and round that put the
// expression of an alias in the place of its id.
func IdentifyUnions() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool {
		return r.Id.String() == "assignExecIndexes"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that makes positions of ids any more")
	}
	assign := analyzer.OnceAfterAll[at].Apply
	analyzer.OnceAfterAll[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		if err := boundScopes(ctx, n, scope); err != nil {
			return nil, transform.SameTree, err
		}
		n, _, err := identifyUnions(ctx, n)
		if err != nil {
			return nil, transform.SameTree, err
		}
		return assign(ctx, a, n, scope, sel, flags)
	}
	return nil
}

func identifyUnions(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
		transform.TreeIdentity, error) {
		n, same, err := identifyInSubqueries(ctx, n)
		if err != nil {
			return nil, transform.SameTree, err
		}
		set, ok := n.(*plan.SetOp)
		if !ok {
			return n, same, nil
		}
		left, changedLeft := identified(ctx, set.Left())
		right, changedRight := identified(ctx, set.Right())
		if !changedLeft && !changedRight {
			return n, same, nil
		}
		n, err = set.WithChildren(ctx, left, right)
		return n, transform.NewTree, err
	})
}

func identifyInSubqueries(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.OneNodeExpressions(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression,
		transform.TreeIdentity, error) {
		q, ok := e.(*plan.Subquery)
		if !ok {
			return e, transform.SameTree, nil
		}
		query, same, err := identifyUnions(ctx, q.Query)
		if err != nil || bool(same) {
			return e, transform.SameTree, err
		}
		return q.WithQuery(query), transform.NewTree, nil
	})
}

// identified is a part of a set operation whose columns have ids as far as those below have.
func identified(ctx *sql.Context, n sql.Node) (sql.Node, bool) {
	p, ok := n.(*plan.Project)
	if !ok {
		return n, false
	}
	below := outputIds(p.Child)
	list, changed := make([]sql.Expression, len(p.Projections)), false
	for i, e := range p.Projections {
		var id sql.ColumnId
		if len(below) == len(list) {
			id = below[i]
		}
		list[i] = e
		switch e := e.(type) {
		case *expression.GetField:
			if e.Id() == 0 && id != 0 {
				list[i], changed = e.WithId(id).(sql.Expression), true
			}
		case *expression.Alias:
			if e.Id() != 0 {
				continue
			}
			child, id := convertedColumn(ctx, e.Child, id)
			if id == 0 {
				continue
			}
			list[i], changed = expression.NewAlias(ctx, e.Name(), child).WithId(id).(sql.Expression), true
		}
	}
	if !changed {
		return n, false
	}
	again, err := p.WithExpressions(ctx, list...)
	return again, err == nil
}

// convertedColumn is a conversion and the id of the column that it converts: that which the column names, or
// id if it names none. 0: e is no conversion of a column.
func convertedColumn(ctx *sql.Context, e sql.Expression, id sql.ColumnId) (sql.Expression, sql.ColumnId) {
	if f, ok := e.(*expression.GetField); ok {
		switch {
		case f.Id() != 0:
			return f, f.Id()
		case id != 0:
			return f.WithId(id).(sql.Expression), id
		}
		return f, 0
	}
	if len(e.Children()) != 1 {
		return e, 0
	}
	child, id := convertedColumn(ctx, e.Children()[0], id)
	if id == 0 {
		return e, 0
	}
	again, err := e.WithChildren(ctx, child)
	if err != nil {
		return e, 0
	}
	return again, id
}

// outputIds are the ids of the columns of a query's rows, 0 for those without; nil: not known.
func outputIds(n sql.Node) []sql.ColumnId {
	for {
		switch x := n.(type) {
		case *plan.Project:
			ids := make([]sql.ColumnId, len(x.Projections))
			for i, e := range x.Projections {
				if named, ok := e.(sql.IdExpression); ok {
					ids[i] = named.Id()
				}
			}
			return ids
		case *plan.SetOp:
			n = x.Left()
		case *plan.Distinct, *plan.OrderedDistinct, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset,
			*plan.Filter, *plan.Having:
			n = x.Children()[0]
		default:
			return nil
		}
	}
}
