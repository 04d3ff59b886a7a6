package gms

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// joined is a table, or a join of another kind, among others in any order.
type joined struct {
	node    sql.Node
	columns sql.ColSet
	rows    float64
	indexes []sql.Index
	conds   []*joining // those that it is part of
	placed  bool
}

// joining is a condition between some of them.
type joining struct {
	cond   sql.Expression
	of     []*joined
	placed bool
}

// What a table finds for each row, where nothing better is known.
const (
	unknownRows = 1000.0 // the library's guess
	filtered    = 0.1    // of a condition of the table's own
	compared    = 0.3    // of a comparison that is no equality
)

// orderGreedily puts inner joins into an order: it begins with the table that has fewest rows; next is the
// one that finds fewest for each row so far. Outer joins and their like keep theirs.
func orderGreedily(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node) (sql.Node, error) {
	j, ok := n.(*plan.JoinNode)
	switch {
	case !ok || j.Op.IsLateral():
		return n, nil
	case j.Op.IsInner() || j.Op.IsCross():
	case j.Op.IsLeftOuter() || j.Op.IsSemi() || j.Op.IsAnti():
		left, err := orderGreedily(ctx, a, j.Left())
		if err != nil || left == j.Left() {
			return n, err
		}
		return plan.NewJoin(ctx, left, j.Right(), j.Op, j.Filter).WithComment(j.Comment()), nil
	default:
		return n, nil
	}
	var all []*joined
	var conds []sql.Expression
	if !flatten(ctx, a, j, &all, &conds) {
		return n, nil
	}
	relate(ctx, all, conds)
	first := all[0]
	for _, t := range all {
		if t.rows < first.rows {
			first = t
		}
	}
	first.placed = true
	on := first.ready()
	out, err := orderGreedily(ctx, a, first.node)
	if err != nil {
		return nil, err
	}
	for range len(all) - 1 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var next *joined
		least := math.Inf(1)
		for _, t := range all {
			if !t.placed {
				if found := t.found(); next == nil || found < least {
					next, least = t, found
				}
			}
		}
		next.placed = true
		part, err := orderGreedily(ctx, a, next.node)
		if err != nil {
			return nil, err
		}
		if on = append(on, next.ready()...); len(on) > 0 {
			out = plan.NewInnerJoin(ctx, out, part, expression.JoinAnd(on...))
		} else {
			out = plan.NewCrossJoin(ctx, out, part)
		}
		on = nil
	}
	return out, nil
}

// flatten lists what is joined in any order, and the conditions; false if there is something that must not be
// brought elsewhere.
func flatten(
	ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, all *[]*joined, conds *[]sql.Expression,
) bool {
	if j, ok := n.(*plan.JoinNode); ok && !j.Op.IsLateral() && (j.Op.IsInner() || j.Op.IsCross()) {
		for _, cond := range expression.SplitConjunction(ctx, j.Filter) {
			if volatile(ctx, cond) {
				return false
			}
			*conds = append(*conds, cond)
		}
		return flatten(ctx, a, j.Left(), all, conds) && flatten(ctx, a, j.Right(), all, conds)
	}
	t := &joined{node: n, columns: columnsBelow(ctx, n)}
	if t.columns.Empty() {
		return false
	}
	t.measure(ctx, a)
	*all = append(*all, t)
	_, function := n.(sql.TableFunction)
	return !function
}

// measure estimates how many rows there are, and sees what they can be looked up by.
func (t *joined) measure(ctx *sql.Context, a *analyzer.Analyzer) {
	t.rows = unknownRows
	share := 1.0
	n := t.node
	for len(n.Children()) == 1 && !sql.IsOpaque(n) {
		if f, ok := n.(*plan.Filter); ok {
			share *= math.Pow(filtered, float64(min(3, len(expression.SplitConjunction(ctx, f.Expression)))))
		}
		n = n.Children()[0]
	}
	if r, ok := n.(*plan.ResolvedTable); ok && r.SqlDatabase != nil {
		if rows, err := a.Catalog.RowCount(ctx, "", r.SqlDatabase.Name(), r.UnderlyingTable()); err == nil {
			t.rows = max(1, float64(rows))
		}
		if x, ok := r.UnderlyingTable().(sql.IndexAddressableTable); ok {
			t.indexes, _ = x.GetIndexes(ctx)
		}
	}
	t.rows = max(1, t.rows*share)
}

// relate gives each condition the tables that it is of, and each table its conditions.
func relate(ctx *sql.Context, all []*joined, conds []sql.Expression) {
	for _, cond := range conds {
		c := &joining{cond: cond}
		columns := columnsIn(ctx, cond)
		for _, t := range all {
			if columns.Intersects(t.columns) {
				c.of = append(c.of, t)
			}
		}
		if len(c.of) == 0 { // of outer columns, or of none: anywhere
			c.of = all
		}
		for _, t := range c.of {
			t.conds = append(t.conds, c)
		}
	}
}

// answerable reports whether all other tables of the condition have been placed.
func (c *joining) answerable(with *joined) bool {
	return !c.placed && !slices.ContainsFunc(c.of, func(t *joined) bool { return t != with && !t.placed })
}

// ready are the conditions that can be asked now that t is there.
func (t *joined) ready() (conds []sql.Expression) {
	for _, c := range t.conds {
		if c.answerable(t) {
			c.placed = true
			conds = append(conds, c.cond)
		}
	}
	return conds
}

// found is about how many rows t has for each of those that are there.
func (t *joined) found() float64 {
	var equal []string
	found := t.rows
	for _, c := range t.conds {
		if len(c.of) < 2 || !c.answerable(t) {
			continue
		}
		left, right, ok := equated(c.cond)
		switch {
		case !ok:
			found *= compared
		case t.columns.Contains(left.Id()):
			equal = append(equal, strings.ToLower(left.Name()))
		default:
			equal = append(equal, strings.ToLower(right.Name()))
		}
	}
	if len(equal) == 0 {
		return found
	}
	found = min(found, MaxFanOut, max(1, LookupFanOut*t.rows))
	for _, x := range t.indexes {
		columns := x.Expressions()
		if x.IsUnique() && !slices.ContainsFunc(columns, func(c string) bool {
			return !slices.Contains(equal, strings.ToLower(c[strings.LastIndexByte(c, '.')+1:]))
		}) {
			return 1
		}
	}
	return found
}

// columnsIn are the columns that conditions are of, those that their subqueries take included.
func columnsIn(ctx *sql.Context, conds ...sql.Expression) (columns sql.ColSet) {
	for _, cond := range conds {
		sql.Inspect(ctx, cond, func(_ *sql.Context, e sql.Expression) bool {
			switch e := e.(type) {
			case *expression.GetField:
				columns.Add(e.Id())
			case *plan.Subquery:
				columns = columns.Union(e.Correlated())
			}
			return true
		})
	}
	return columns
}
