package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// PushOuterKeys rewrites an analyzed body of a trigger or an observer so that it finds rows by key. In
// "UPDATE totals … WHERE id = NEW.id" the SQL engine sees no literal and plans a scan of the whole table for each row that the
// trigger fires for; but NEW.id is a constant of the run. Every filter over a table that compares a prefix of an index's
// columns for equality with expressions over the scope row (its first fields: OLD, NEW, outer variables) becomes a
// lookup in that index. The filter stays, so the rewrite cannot change a result, only find it sooner.
//
// What it does not cover: ranges over NEW, tables inside joins and subqueries.
func PushOuterKeys(ctx *sql.Context, n sql.Node, scope sql.Schema) (sql.Node, error) {
	p := pusher{scope, len(scope)}
	out, _, err := transform.NodeWithOpaque(ctx, n, p.node)
	return out, err
}

type pusher struct {
	scope    sql.Schema
	scopeLen int
}

func (p pusher) node(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.InsertInto:
		// The source of an INSERT is not among its children.
		src, same, err := transform.NodeWithOpaque(ctx, n.Source, p.node)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		return n.WithSource(src), transform.NewTree, nil
	case *plan.DeclareVariables:
		return p.declaration(ctx, n)
	case *plan.Filter:
		out, err := p.filter(ctx, n)
		if err != nil || out == nil {
			return n, transform.SameTree, err
		}
		return out, transform.NewTree, nil
	}
	return n, transform.SameTree, nil
}

// declaration puts right where DECLARE … DEFAULT NEW.c looks for NEW: the library leaves the number of the column in the statement
// in the field, where its place in the row belongs.
func (p pusher) declaration(ctx *sql.Context, n *plan.DeclareVariables) (sql.Node, transform.TreeIdentity, error) {
	if n.DefaultVal == nil || n.DefaultVal.Expr == nil {
		return n, transform.SameTree, nil
	}
	expr, same, err := transform.Expr(ctx, n.DefaultVal.Expr, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		place := -1
		for i, c := range p.scope {
			// OLD stands before NEW.
			if strings.EqualFold(c.Name, f.Name()) && (place < 0 || strings.EqualFold(f.Table(), "new")) {
				place = i
			}
		}
		if place < 0 || place == f.Index() {
			return e, transform.SameTree, nil
		}
		return f.WithIndex(place), transform.NewTree, nil
	})
	if err != nil || same {
		return n, transform.SameTree, err
	}
	value := *n.DefaultVal
	value.Expr = expr
	fixed := *n
	fixed.DefaultVal = &value
	return &fixed, transform.NewTree, nil
}

// filter returns the rewritten filter, nil if there is nothing to gain.
func (p pusher) filter(ctx *sql.Context, n *plan.Filter) (sql.Node, error) {
	var rt *plan.ResolvedTable
	name := ""
	alias := ""
	switch c := n.Child.(type) {
	case *plan.ResolvedTable:
		rt, name = c, c.Name()
	case *plan.TableAlias:
		t, ok := c.Child.(*plan.ResolvedTable)
		if !ok {
			return nil, nil
		}
		rt, name, alias = t, c.Name(), c.Name()
	default:
		return nil, nil
	}
	table, ok := rt.UnderlyingTable().(sql.IndexAddressableTable)
	if !ok {
		return nil, nil
	}
	equal := p.equalities(ctx, n.Expression, name)
	if len(equal) == 0 {
		return nil, nil
	}
	indexes, err := table.GetIndexes(ctx)
	if err != nil {
		return nil, err
	}
	best, keys := longestPrefix(indexes, equal)
	if best == nil {
		return nil, nil
	}
	var child sql.Node
	child, err = plan.NewIndexedAccessForTableNode(ctx, rt, plan.NewLookupBuilder(ctx, best, keys, make([]bool, len(keys))))
	if err != nil {
		return nil, nil // an index that cannot serve the lookup: the scan is still right
	}
	if alias != "" {
		child = plan.NewTableAlias(alias, child)
	}
	return plan.NewFilter(ctx, n.Expression, child), nil
}

// equalities collects the conjuncts column = outer expression, by column name.
func (p pusher) equalities(ctx *sql.Context, filter sql.Expression, table string) map[string]sql.Expression {
	equal := map[string]sql.Expression{}
	for _, e := range expression.SplitConjunction(ctx, filter) {
		c, ok := e.(*expression.Equals)
		if !ok {
			continue
		}
		for _, side := range [2][2]sql.Expression{{c.Left(), c.Right()}, {c.Right(), c.Left()}} {
			column, ok := side[0].(*expression.GetField)
			if ok && column.Index() >= p.scopeLen && strings.EqualFold(column.Table(), table) && p.outer(ctx, side[1]) {
				equal[strings.ToLower(column.Name())] = side[1]
			}
		}
	}
	return equal
}

// outer reports whether the expression can be evaluated before the table is read.
func (p pusher) outer(ctx *sql.Context, e sql.Expression) bool {
	ok := true
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			ok = ok && e.Index() < p.scopeLen
		case *plan.Subquery:
			ok = false
		}
		return ok
	})
	return ok
}

// longestPrefix picks the index of which most leading columns are bound; a unique one wins a tie.
func longestPrefix(indexes []sql.Index, equal map[string]sql.Expression) (sql.Index, []sql.Expression) {
	var best sql.Index
	var bestKeys []sql.Expression
	for _, x := range indexes {
		var keys []sql.Expression
		for _, e := range x.Expressions() {
			k, ok := equal[strings.ToLower(e[strings.LastIndexByte(e, '.')+1:])]
			if !ok {
				break
			}
			keys = append(keys, k)
		}
		if len(keys) > len(bestKeys) || len(keys) > 0 && len(keys) == len(bestKeys) && x.IsUnique() && !best.IsUnique() {
			best, bestKeys = x, keys
		}
	}
	return best, bestKeys
}
