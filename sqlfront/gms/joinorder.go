package gms

import (
	"context"
	"reflect"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/memo"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/sets"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// The library tries the orders in which tables may be joined: each way to part a set of tables into two is a
// join, with the conditions that compare the two parts. Where an outer join is one of these conditions it
// takes that and forgets the others: of
//
//	a JOIN b JOIN (c LEFT JOIN d ON c.x = d.x) ON a.y = c.y AND b.z = d.z
//
// it makes ((a JOIN c) JOIN b) LEFT JOIN d ON c.x = d.x, without b.z = d.z. Its builder cannot be replaced,
// but what it has built is shown to the coster before one of the orders is chosen. So the coster compares the
// orders of one set of tables: one that has fewer of the statement's own conditions than another is no order
// of these tables. As the order that was written has them all, one remains.

// Orders is what the coster remembers while one statement's joins are put into an order.
type Orders struct {
	// the conditions that the statement has, as the library's builder is given them
	number map[sql.Expression]int
	groups map[*memo.ExprGroup]*orderedGroup
	inner  map[*memo.ExprGroup]bool // those that are part of another
	lost   map[memo.RelExpr]bool
}

// orderedGroup is a set of tables.
type orderedGroup struct {
	held sets.FastIntSet // the conditions that are true of its rows
	// those of a join of two parts, before it was told how to look for its rows
	joined map[[2]*memo.ExprGroup]sets.FastIntSet
}

// OrdersKey is under what a context holds Orders.
type OrdersKey struct{}

// OrderingJoins lets the library put joins into an order and choose indexes, in bounded searches, and looks
// what became of the conditions.
func OrderingJoins(order analyzer.RuleFunc) analyzer.RuleFunc {
	return boundingJoins(keepingConditions(boundingRanges(order)))
}

// keepingConditions looks what became of the conditions. A hint is heard before costs are: where it chose an
// order that has lost a condition, the statement is planned without its hints.
func keepingConditions(order analyzer.RuleFunc) analyzer.RuleFunc {
	return func(
		ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		o := ordersOf(ctx, n)
		if o == nil {
			return order(ctx, a, n, scope, sel, flags)
		}
		planned, same, err := order(ctx.WithContext(context.WithValue(ctx.Context, OrdersKey{}, o)), a, n,
			scope, sel, flags)
		if err != nil || !o.choseLost() {
			return planned, same, err
		}
		n, same, err = transform.Node(ctx, n,
			func(_ *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
				if j, ok := n.(*plan.JoinNode); ok && j.Comment() != "" {
					return j.WithComment(""), transform.NewTree, nil
				}
				return n, transform.SameTree, nil
			})
		if err == nil && same {
			err = sqlerr.Unsupported("this order of outer joins (write some of them as a derived table)")
		}
		if err != nil {
			return nil, transform.SameTree, err
		}
		return keepingConditions(order)(ctx, a, n, scope, sel, flags)
	}
}

// ordersOf numbers the conditions of the joins. It is nil where there is no order to choose.
func ordersOf(ctx *sql.Context, n sql.Node) *Orders {
	joins := 0
	transform.Inspect(n, func(n sql.Node) bool {
		if _, ok := n.(*plan.JoinNode); ok {
			joins++
		}
		return joins < 2 && !sql.IsOpaque(n)
	})
	if joins < 2 {
		return nil
	}
	o := &Orders{
		number: make(map[sql.Expression]int), groups: make(map[*memo.ExprGroup]*orderedGroup),
		inner: make(map[*memo.ExprGroup]bool), lost: make(map[memo.RelExpr]bool),
	}
	transform.Inspect(n, func(n sql.Node) bool {
		var cond sql.Expression
		switch n := n.(type) {
		case *plan.JoinNode:
			cond = n.JoinCond()
		case *plan.Filter:
			cond = n.Expression
		}
		if cond != nil {
			for _, c := range expression.SplitConjunction(ctx, cond) {
				// else it is compared by its content, or not at all
				if reflect.TypeOf(c).Kind() == reflect.Pointer {
					o.number[c] = len(o.number)
				}
			}
		}
		return !sql.IsOpaque(n)
	})
	return o
}

// Loses reports whether the join has fewer conditions than another order of the same tables.
func (o *Orders) Loses(r memo.RelExpr) bool {
	for _, g := range r.Children() {
		o.inner[g] = true
	}
	j, ok := r.(memo.JoinRel)
	if !ok {
		return false
	}
	g := o.group(r.Group())
	b := j.JoinPrivate()
	held := o.of(b.Filter)
	// A lookup, a hash join and a merge join leave out the conditions by which they find their rows.
	held.UnionWith(g.joined[[2]*memo.ExprGroup{b.Left, b.Right}])
	held.UnionWith(g.joined[[2]*memo.ExprGroup{b.Right, b.Left}])
	held.UnionWith(o.group(b.Left).held)
	held.UnionWith(o.group(b.Right).held)
	if g.held.SubsetOf(held) {
		return false
	}
	o.lost[r] = true
	return true
}

func (o *Orders) of(conds []sql.Expression) (held sets.FastIntSet) {
	for _, c := range conds {
		if reflect.TypeOf(c).Kind() == reflect.Pointer {
			if i, ok := o.number[c]; ok {
				held.Add(i)
			}
		}
	}
	return held
}

func (o *Orders) group(g *memo.ExprGroup) *orderedGroup {
	known, ok := o.groups[g]
	if ok {
		return known
	}
	known = &orderedGroup{joined: make(map[[2]*memo.ExprGroup]sets.FastIntSet)}
	o.groups[g] = known
	for r := range g.Iter() {
		var held sets.FastIntSet
		switch r := r.(type) {
		case memo.JoinRel:
			b := r.JoinPrivate()
			held = o.of(b.Filter)
			switch r.(type) {
			case *memo.InnerJoin, *memo.CrossJoin, *memo.LeftJoin, *memo.FullOuterJoin, *memo.SemiJoin,
				*memo.AntiJoin, *memo.LateralJoin:
				known.joined[[2]*memo.ExprGroup{b.Left, b.Right}] = held.Copy()
			}
		case *memo.Filter:
			held = o.of(r.Filters)
		}
		for _, part := range r.Children() {
			held.UnionWith(o.group(part).held)
		}
		known.held.UnionWith(held)
	}
	return known
}

// choseLost reports whether a join that has lost a condition is part of what was chosen.
func (o *Orders) choseLost() bool {
	if len(o.lost) == 0 {
		return false
	}
	var within func(g *memo.ExprGroup) bool
	within = func(g *memo.ExprGroup) bool {
		if g.Best == nil {
			return false
		}
		if o.lost[g.Best] {
			return true
		}
		for _, part := range g.Best.Children() {
			if within(part) {
				return true
			}
		}
		return false
	}
	for g := range o.groups {
		if !o.inner[g] && within(g) {
			return true
		}
	}
	return false
}
