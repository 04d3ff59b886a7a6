package gms

import (
	"math"
	"math/bits"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// The library tries all orders of up to 15 tables, and of more none but the one that is written. What it
// tries grows with 3 to the power of the tables where all are compared with each other (as in a star on one
// key: it adds the comparisons that follow from others), and it looks at no context before it has tried all:
// 13 tables took minutes and gigabytes. So the orders are counted first. Where there are too many, the tables
// are put into an order here, each next to what it is compared with (joingreedy.go), and the library gets so
// many tables that it takes the order as it is: beside the statement's own, tables of nothing, which are
// taken out of the plan again. What the library chooses then is how each table is joined.

// What may be searched.
const (
	searchedTables = 12         // 3^12 / 2 ways to part sets of them are 266,000
	searchedOuter  = 15         // the library's own: what is no inner join cannot be put into an order here
	searchedPairs  = 4_000      // ways to part sets that are joins: some expressions of the memo each
	searchedEdges  = 3_000      // conditions, and those that follow from them
	searchedSteps  = 20_000_000 // looks at a condition: all of them for each way that has both of its parts
	fastTables     = 16         // with so many the library takes the order that is written
)

// joinGraph is which tables of a tree of joins are compared with each other.
type joinGraph struct {
	tables []sql.ColSet // columns of each
	edges  []uint64     // the tables of each condition
	equal  map[sql.ColumnId]sql.ColumnId
	other  bool // there are joins that are no inner ones
}

// exceeds reports whether the tree has more orders than may be searched.
func exceeds(ctx *sql.Context, j *plan.JoinNode) (tables int, yes bool) {
	g := &joinGraph{equal: map[sql.ColumnId]sql.ColumnId{}}
	g.addTables(j)
	if len(g.tables) > searchedOuter || len(g.tables) > searchedTables && !g.other {
		return len(g.tables), true
	}
	next := 0
	g.addConditions(ctx, j, &next)
	return len(g.tables), len(g.edges) > searchedEdges || !g.close() || !g.countable()
}

// below are the nodes that the library looks for tables in, none if n is taken for a table.
func below(n sql.Node) []sql.Node {
	switch n := n.(type) {
	case *plan.JoinNode, *plan.Filter, *plan.Having, *plan.Limit, *plan.Project, *plan.Sort, *plan.Distinct,
		*plan.Max1Row, *plan.CachedResults:
		return n.Children()
	}
	return nil
}

func (g *joinGraph) addTables(n sql.Node) {
	parts := below(n)
	if j, ok := n.(*plan.JoinNode); ok && !j.Op.IsInner() {
		g.other = true
	}
	if parts == nil {
		var columns sql.ColSet
		if t, ok := n.(plan.TableIdNode); ok {
			columns = t.Columns()
		}
		g.tables = append(g.tables, columns)
	}
	for _, part := range parts {
		g.addTables(part)
	}
}

// addConditions adds those of n, whose first table is the next one, and returns n's tables.
func (g *joinGraph) addConditions(ctx *sql.Context, n sql.Node, next *int) (of uint64) {
	parts := below(n)
	if parts == nil {
		*next++
		return 1 << (*next - 1)
	}
	sides := make([]uint64, len(parts))
	for i, part := range parts {
		sides[i] = g.addConditions(ctx, part, next)
		of |= sides[i]
	}
	switch n := n.(type) {
	case *plan.Filter:
		g.equate(expression.SplitConjunction(ctx, n.Expression))
	case *plan.JoinNode:
		conds := expression.SplitConjunction(ctx, n.Filter)
		g.equate(conds)
		if !n.Op.IsInner() || len(conds) == 0 {
			g.addEdge(columnsIn(ctx, conds...), sides)
			break
		}
		for _, cond := range conds {
			g.addEdge(columnsIn(ctx, cond), sides)
		}
	}
	return of
}

// addEdge adds a condition of some columns on a join of two sides: where it is of one side's columns alone,
// the other must be there whole.
func (g *joinGraph) addEdge(columns sql.ColSet, sides []uint64) {
	var of uint64
	for i, t := range g.tables {
		if columns.Intersects(t) {
			of |= 1 << i
		}
	}
	for _, side := range sides {
		if of&side == 0 {
			of |= side
		}
	}
	g.edges = append(g.edges, of)
}

// equate remembers columns that are equal, as a tree in which each leads to another one of its set.
func (g *joinGraph) equate(conds []sql.Expression) {
	for _, cond := range conds {
		if left, right, ok := equated(cond); ok {
			if a, b := g.first(left.Id()), g.first(right.Id()); a != b {
				g.equal[a] = b
			}
		}
	}
}

func (g *joinGraph) first(c sql.ColumnId) sql.ColumnId {
	for {
		up, ok := g.equal[c]
		if !ok {
			return c
		}
		if over, ok := g.equal[up]; ok {
			g.equal[c] = over
		}
		c = up
	}
}

// equated are the two columns that a condition says are equal.
func equated(cond sql.Expression) (left, right *expression.GetField, ok bool) {
	e, ok := cond.(expression.Equality)
	if !ok || !e.RepresentsEquality() {
		return nil, nil, false
	}
	left, ok = e.Left().(*expression.GetField)
	if ok {
		right, ok = e.Right().(*expression.GetField)
	}
	return left, right, ok
}

// close adds the conditions that follow from columns being equal, false if those are too many.
func (g *joinGraph) close() bool {
	sets := map[sql.ColumnId]*struct {
		columns int
		of      uint64
	}{}
	add := func(c sql.ColumnId) {
		set := sets[g.first(c)]
		if set == nil {
			set = new(struct {
				columns int
				of      uint64
			})
			sets[g.first(c)] = set
		}
		set.columns++
		for i, t := range g.tables {
			if t.Contains(c) {
				set.of |= 1 << i
			}
		}
	}
	for c := range g.equal {
		add(c)
		if first := g.first(c); sets[first].columns == 1 {
			add(first)
		}
	}
	edges := len(g.edges)
	for _, set := range sets {
		edges += set.columns * (set.columns - 1) / 2
		for a := set.of; a != 0; a &= a - 1 {
			for b := a & (a - 1); b != 0; b &= b - 1 {
				g.edges = append(g.edges, a&-a|b&-b)
			}
		}
	}
	return edges <= searchedEdges
}

// countable counts the ways to part a set of tables into two that have an order each and a condition between
// them, false if those are too many.
func (g *joinGraph) countable() bool {
	pairs, steps := 0, 0
	ordered := make([]bool, 1<<len(g.tables))
	for set := uint64(1); set < 1<<len(g.tables); set++ {
		if bits.OnesCount64(set) == 1 {
			ordered[set] = true
			continue
		}
		for one := (set - 1) & set; one > set-one; one = (one - 1) & set {
			if !ordered[one] || !ordered[set-one] {
				continue
			}
			if steps += len(g.edges); steps > searchedSteps {
				return false
			}
			if g.compared(one, set-one) {
				ordered[set] = true
				if pairs++; pairs > searchedPairs {
					return false
				}
			}
		}
	}
	return true
}

func (g *joinGraph) compared(one, other uint64) bool {
	for _, e := range g.edges {
		if e&^(one|other) == 0 && e&one != 0 && e&other != 0 {
			return true
		}
	}
	return false
}

// boundingJoins is the library's rule for the order of joins, whose search is bounded.
func boundingJoins(order analyzer.RuleFunc) analyzer.RuleFunc {
	return func(
		ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		b := &searchBound{a: a, added: map[*plan.EmptyTable]bool{}}
		switch n.(type) {
		case *plan.Update, *plan.DeleteFrom:
			b.written = true
		}
		bounded, changed, err := b.bound(ctx, n)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if !changed {
			return order(ctx, a, n, scope, sel, flags)
		}
		planned, _, err := order(ctx, a, bounded, scope, sel, flags)
		if err != nil {
			return nil, transform.SameTree, err
		}
		planned, _, err = b.withoutAdded(ctx, planned)
		return planned, transform.NewTree, err
	}
}

// searchBound puts trees of joins that have too many orders into one, and gives them the tables of nothing
// by which the library leaves it.
type searchBound struct {
	a       *analyzer.Analyzer
	written bool // the order stays: a write finds its rows by where they are in it
	added   map[*plan.EmptyTable]bool
}

func (b *searchBound) bound(ctx *sql.Context, n sql.Node) (_ sql.Node, changed bool, err error) {
	if sql.IsOpaque(n) {
		return n, false, nil
	}
	if j, ok := n.(*plan.JoinNode); ok {
		tables, yes := exceeds(ctx, j)
		if !yes {
			return n, false, nil
		}
		if !b.written && j.Comment() == "" {
			if n, err = orderGreedily(ctx, b.a, n); err != nil {
				return nil, false, err
			}
		}
		for ; tables < fastTables; tables++ {
			nothing := plan.NewEmptyTableWithSchema(nil).(*plan.EmptyTable).
				WithId(sql.TableId(math.MaxUint16 - len(b.added))).(*plan.EmptyTable)
			b.added[nothing] = true
			n = plan.NewCrossJoin(ctx, n, nothing).WithComment(j.Comment())
		}
		return n, true, nil
	}
	parts := slices.Clone(n.Children())
	for i, part := range parts {
		of := false
		if parts[i], of, err = b.bound(ctx, part); err != nil {
			return nil, false, err
		}
		changed = changed || of
	}
	if changed {
		n, err = n.WithChildren(ctx, parts...)
	}
	return n, changed, err
}

// withoutAdded takes the tables of nothing out again.
func (b *searchBound) withoutAdded(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	is := func(n sql.Node) bool {
		for len(n.Children()) == 1 {
			n = n.Children()[0]
		}
		t, ok := n.(*plan.EmptyTable)
		return ok && b.added[t]
	}
	return transform.Node(ctx, n, func(_ *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if j, ok := n.(*plan.JoinNode); ok {
			switch {
			case is(j.Right()):
				return j.Left(), transform.NewTree, nil
			case is(j.Left()):
				return j.Right(), transform.NewTree, nil
			}
		}
		return n, transform.SameTree, nil
	})
}
