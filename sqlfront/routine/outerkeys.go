package routine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// PushOuterKeys rewrites an analysed statement of the body of a trigger or an observer so that it finds rows
// by key. In "UPDATE totals … WHERE id = NEW.id" the SQL engine sees no value and plans a scan of the whole
// table; but NEW.id is a constant of the run. Every filter over a table that compares a prefix of an index's
// columns for equality with expressions over such values (Held) becomes a lookup in that index. The filter
// stays, so the rewrite cannot change a result, only find it sooner.
//
// What it does not cover, ranges and lists, is found when a statement begins: bodykeys.go.
func PushOuterKeys(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(ctx, n, pusher{}.node)
	return out, err
}

type pusher struct{}

func (p pusher) node(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.InsertInto:
		// The source of an INSERT is not among its children.
		src, same, err := transform.NodeWithOpaque(ctx, n.Source, p.node)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		return n.WithSource(src), transform.NewTree, nil
	case *plan.JoinNode:
		if !keepsNeither(n.Op) {
			return n, transform.SameTree, nil
		}
		return p.intoJoin(ctx, n, p.outerConjuncts(ctx, n, n.Filter))
	case *plan.Filter:
		if j, ok := n.Child.(*plan.JoinNode); ok {
			pushed, same, err := p.intoJoin(ctx, j, p.outerConjuncts(ctx, j, n.Expression))
			if err != nil || same {
				return n, transform.SameTree, err
			}
			return plan.NewFilter(ctx, n.Expression, pushed), transform.NewTree, nil
		}
		out, err := p.filter(ctx, n)
		if err != nil || out == nil {
			return n, transform.SameTree, err
		}
		return out, transform.NewTree, nil
	}
	return n, transform.SameTree, nil
}

// outerConjuncts are the parts of a condition on a join that compare columns with what is known before the
// join begins, and what follows from them for the columns that a lookup of the join finds its rows by.
func (p pusher) outerConjuncts(
	ctx *sql.Context, j *plan.JoinNode, filter sql.Expression,
) (all []sql.Expression) {
	if filter == nil {
		return nil
	}
	for _, e := range expression.SplitConjunction(ctx, filter) {
		outer, inner := false, false
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			switch e.(type) {
			case *expression.GetField:
				inner = true
			case *Held:
				outer = true
			}
			return true
		})
		if outer && inner {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	transform.Inspect(j, func(n sql.Node) bool {
		x, ok := n.(*plan.IndexedTableAccess)
		if !ok || x.IsStatic() {
			return true
		}
		names := x.Index().Expressions()
		for i, key := range x.Expressions() {
			column, ok := key.(*expression.GetField)
			if !ok || i >= len(names) {
				continue
			}
			for _, e := range all {
				eq, ok := e.(*expression.Equals)
				if !ok {
					continue
				}
				for _, side := range [2][2]sql.Expression{{eq.Left(), eq.Right()}, {eq.Right(), eq.Left()}} {
					f, ok := side[0].(*expression.GetField)
					if ok && p.outer(ctx, side[1]) && strings.EqualFold(f.Table()+"."+f.Name(), names[i]) &&
						f.Type(ctx).Equals(column.Type(ctx)) {
						all = append(all, expression.NewEquals(column, side[1]))
					}
				}
			}
		}
		return true
	})
	return all
}

// keepsNeither reports whether the join delivers no row that a condition on one of its tables would refuse.
func keepsNeither(op plan.JoinType) bool {
	switch op {
	case plan.JoinTypeInner, plan.JoinTypeLookup, plan.JoinTypeHash, plan.JoinTypeCross,
		plan.JoinTypeCrossHash:
		return true
	}
	return false
}

// intoJoin puts conditions on one table above that table, where they find its rows; they stay where they are
// as well.
func (p pusher) intoJoin(
	ctx *sql.Context, n sql.Node, conjuncts []sql.Expression,
) (sql.Node, transform.TreeIdentity, error) {
	if len(conjuncts) == 0 {
		return n, transform.SameTree, nil
	}
	var leaf sql.NameableNode
	switch n := n.(type) {
	case *plan.JoinNode:
		left, sameLeft, err := p.intoJoin(ctx, n.Left(), conjuncts)
		if err != nil {
			return n, transform.SameTree, err
		}
		right, sameRight := n.Right(), transform.SameTree
		if keepsNeither(n.Op) {
			if right, sameRight, err = p.intoJoin(ctx, right, conjuncts); err != nil {
				return n, transform.SameTree, err
			}
		} else if !n.Op.IsLeftOuter() || n.Op.IsExcludeNulls() {
			return n, transform.SameTree, nil
		}
		if sameLeft && sameRight {
			return n, transform.SameTree, nil
		}
		out, err := n.WithChildren(ctx, left, right)
		return out, transform.NewTree, err
	case *plan.ResolvedTable:
		leaf = n
	case *plan.TableAlias:
		if _, ok := n.Child.(*plan.ResolvedTable); !ok {
			return n, transform.SameTree, nil
		}
		leaf = n
	default:
		return n, transform.SameTree, nil
	}
	schema := leaf.Schema(ctx)
	var own []sql.Expression
	for _, e := range conjuncts {
		fits := true
		moved, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (
			sql.Expression, transform.TreeIdentity, error,
		) {
			switch e := e.(type) {
			case sql.ExpressionWithNodes:
				fits = false
			case *expression.GetField:
				at := schema.IndexOfColName(e.Name())
				if fits = fits && at >= 0 && strings.EqualFold(e.Table(), leaf.Name()); fits {
					return e.WithIndex(at), transform.NewTree, nil
				}
			}
			return e, transform.SameTree, nil
		})
		if err != nil {
			return n, transform.SameTree, err
		}
		if fits {
			own = append(own, moved)
		}
	}
	if len(own) == 0 {
		return n, transform.SameTree, nil
	}
	return plan.NewFilter(ctx, expression.JoinAnd(own...), leaf), transform.NewTree, nil
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
	lookup := plan.NewLookupBuilder(ctx, best, keys, make([]bool, len(keys)))
	child, err = plan.NewIndexedAccessForTableNode(ctx, rt, lookup)
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
			if ok && strings.EqualFold(column.Table(), table) && p.outer(ctx, side[1]) {
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
		switch e.(type) {
		case *expression.GetField, *plan.Subquery:
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
		if len(keys) > len(bestKeys) ||
			len(keys) > 0 && len(keys) == len(bestKeys) && x.IsUnique() && !best.IsUnique() {
			best, bestKeys = x, keys
		}
	}
	return best, bestKeys
}
