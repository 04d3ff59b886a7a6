package gms

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
)

// ONLY_FULL_GROUP_BY lets a query with groups select what has one value in each group: what it groups by,
// aggregates, and columns that depend on these. They do by the keys of tables, by WHERE and ON, and by what
// derived tables and views are made of, as MySQL's manual has it (Detection of Functional Dependence). The
// library knows some of it, by the names of columns.

// dependence says that rows with the same values of from have the same values of to. Columns are
// known by their numbers, which are one space for a statement: the columns of a derived table
// depend on those within it.
type dependence struct{ from, to sql.ColSet }

// ValidGroups is an analyzer.RuleFunc in the place of the library's validateGroupBy.
func ValidGroups(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector,
	flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if flags != nil && !flags.IsSet(sql.QFlagAggregation) || !sql.LoadSqlMode(ctx).OnlyFullGroupBy() {
		return n, transform.SameTree, nil
	}
	var err error
	inner := map[sql.Node]bool{} // projections that belong to a query above them
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		p, ok := n.(*plan.Project)
		if !ok || inner[p] || err != nil {
			return err == nil
		}
		var order *plan.Sort
		for c := p.Child; ; c = c.Children()[0] {
			switch g := c.(type) {
			case *plan.Project:
				inner[g] = true
				continue
			case *plan.Sort:
				order = g
				continue
			case *plan.Having:
				continue
			case *plan.GroupBy:
				if len(g.GroupByExprs) > 0 || makesGroup(g.SelectDeps) {
					err = newGrouped(ctx, g).check(ctx, p.Projections, order)
				}
			}
			return err == nil
		}
	})
	return n, transform.SameTree, err
}

// makesGroup reports whether there is an aggregate; ANY_VALUE is none, it makes no groups.
func makesGroup(deps []sql.Expression) bool {
	return slices.ContainsFunc(deps, func(e sql.Expression) bool {
		if _, ok := e.(sql.Aggregation); !ok {
			return false
		}
		_, any := collate.Library(e).(*aggregation.AnyValue)
		return !any
	})
}

// grouped is what is known of the groups of one query.
type grouped struct {
	implicit bool            // one group of all rows
	texts    map[string]bool // expressions that are grouped by
	local    sql.ColSet      // columns of the query's tables; all others are the same for all its rows
	known    sql.ColSet      // those that have one value in each group
}

func newGrouped(ctx *sql.Context, n *plan.GroupBy) *grouped {
	g := &grouped{texts: map[string]bool{}, local: columnsOf(n.Child)}
	by := expr.GroupedBy(n.GroupByExprs)
	g.implicit = len(by) == 0
	for _, e := range by {
		switch e := e.(type) {
		case *expression.Alias:
			g.texts[spelling(e)] = true
			if c, ok := e.Child.(*expression.GetField); ok {
				g.known.Add(c.Id())
			} else {
				g.texts[spelling(e.Child)] = true
			}
		case *expression.GetField:
			g.known.Add(e.Id())
		default:
			g.texts[spelling(e)] = true
		}
	}
	// where columns are NULL in sums nothing depends on them
	if !slices.ContainsFunc(by, func(e sql.Expression) bool { _, ok := e.(*expr.Rollup); return ok }) {
		d := dependences{ctx: ctx, local: definedIn(ctx, n.Child), seen: g.local.Copy()}
		d.of(n.Child)
		g.known = d.closure(g.known)
	}
	return g
}

// spelling tells expressions apart.
func spelling(e sql.Expression) string { return strings.ToLower(e.String()) }

func (g *grouped) check(ctx *sql.Context, selected []sql.Expression, order *plan.Sort) error {
	for i, e := range selected {
		if column := g.loose(ctx, e); column != "" {
			if g.implicit {
				return sql.ErrNonAggregatedColumnWithoutGroupBy.New(i+1, column)
			}
			return analyzererrors.ErrValidationGroupBy.New(i+1, column)
		}
	}
	if order == nil || g.implicit {
		return nil
	}
	for i, e := range order.Expressions() {
		if column := g.loose(ctx, e); column != "" {
			return analyzererrors.ErrValidationGroupByOrderBy.New(i+1, column)
		}
	}
	return nil
}

// loose names a column that makes e have several values in a group, "" if there is none.
func (g *grouped) loose(ctx *sql.Context, e sql.Expression) string {
	switch e := e.(type) {
	case nil, sql.Aggregation, *expression.Literal:
		return ""
	case *expression.GetField:
		if !g.local.Contains(e.Id()) || g.known.Contains(e.Id()) { // aggregates are columns that no table has
			return ""
		}
		return nameOf(e)
	case *plan.Subquery:
		if g.texts[spelling(e)] {
			return ""
		}
		column := ""
		e.Correlated().ForEach(func(id sql.ColumnId) {
			if column == "" && g.local.Contains(id) && !g.known.Contains(id) {
				if c, ok := columnIn(ctx, e.Query, id).(*expression.GetField); ok {
					column = nameOf(c)
				}
			}
		})
		return column
	}
	if g.texts[spelling(e)] {
		return ""
	}
	for _, c := range e.Children() {
		if column := g.loose(ctx, c); column != "" {
			return column
		}
	}
	return ""
}

func nameOf(c *expression.GetField) string {
	if db := c.Database(); db != "" && c.Table() != "" {
		return db + "." + c.String()
	}
	return c.String()
}

// dependences collects what is known of the rows of a query's FROM and WHERE.
type dependences struct {
	ctx   *sql.Context
	all   []dependence
	local sql.ColSet // columns of these rows, and of those within derived tables
	seen  sql.ColSet // columns of tables that were looked at
}

// definedIn are all columns that the nodes below n, and n, define.
func definedIn(ctx *sql.Context, n sql.Node) (all sql.ColSet) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if t, ok := n.(plan.TableIdNode); ok {
			all.UnionWith(t.Columns())
		}
		if p, ok := n.(sql.Projector); ok {
			for _, e := range p.ProjectedExprs() {
				if e, ok := e.(sql.IdExpression); ok && e.Id() != 0 {
					all.Add(e.Id())
				}
			}
		}
		return true
	})
	return all
}

func (d *dependences) closure(known sql.ColSet) sql.ColSet {
	known = known.Copy()
	for again := true; again; {
		again = false
		for _, x := range d.all {
			if x.from.SubsetOf(known) && !x.to.SubsetOf(known) {
				known.UnionWith(x.to)
				again = true
			}
		}
	}
	return known
}

// of adds what is known of the rows of n.
func (d *dependences) of(n sql.Node) {
	switch n := n.(type) {
	case *plan.Filter:
		d.of(n.Child)
		d.condition(n.Expression, sql.ColSet{}, nil)
	case *plan.Having:
		d.of(n.Child)
	case *plan.JoinNode:
		d.join(n)
	case *plan.SubqueryAlias:
		d.derived(n)
	case *plan.TableAlias:
		if _, ok := n.Child.(*plan.ResolvedTable); ok {
			d.table(n, n.Child)
		}
	case *plan.ResolvedTable:
		d.table(n, n)
	case *plan.Project:
		d.of(n.Child)
		for _, e := range n.Projections {
			if a, ok := e.(*expression.Alias); ok && a.Id() != 0 {
				d.alias(a.Id(), a.Child)
			}
		}
	case *plan.GroupBy:
		d.of(n.Child)
		var from, to sql.ColSet
		for _, e := range expr.GroupedBy(n.GroupByExprs) {
			if _, ok := e.(*expr.Rollup); ok {
				return
			}
			if a, ok := e.(*expression.Alias); ok && a.Id() != 0 {
				from.Add(a.Id())
				continue
			}
			columns, whole := d.columns(e)
			if !whole {
				return
			}
			from.UnionWith(columns)
		}
		for _, e := range n.SelectDeps {
			switch e := e.(type) {
			case *expression.GetField:
				to.Add(e.Id())
			case sql.Aggregation:
				to.Add(e.Id())
			}
		}
		d.all = append(d.all, dependence{from, to})
	case *plan.Distinct, *plan.Sort, *plan.Limit, *plan.Offset, *plan.TopN:
		d.of(n.Children()[0])
	}
}

// table adds the keys of a table. Of unique keys, those that cannot be NULL.
func (d *dependences) table(as plan.TableIdNode, n sql.Node) {
	t, ok := n.(*plan.ResolvedTable)
	if !ok {
		return
	}
	ids := map[string]sql.ColumnId{}
	var all, primary sql.ColSet
	columns := as.Columns()
	schema := t.Schema(d.ctx)
	if columns.Len() != len(schema) {
		return
	}
	id, more := columns.Next(1)
	nullable := map[string]bool{}
	for _, c := range schema {
		if !more {
			return
		}
		name := strings.ToLower(c.Name)
		ids[name], nullable[name] = id, c.Nullable
		all.Add(id)
		if c.PrimaryKey {
			primary.Add(id)
		}
		id, more = columns.Next(id + 1)
	}
	if !primary.Empty() {
		d.all = append(d.all, dependence{primary, all})
	}
	indexed, ok := t.UnderlyingTable().(sql.IndexAddressable)
	if !ok {
		return
	}
	indexes, err := indexed.GetIndexes(d.ctx)
	if err != nil {
		return
	}
	for _, x := range indexes {
		if !x.IsUnique() || len(x.PrefixLengths()) > 0 {
			continue
		}
		var key sql.ColSet
		whole := true
		for _, e := range x.Expressions() {
			name := strings.ToLower(e[strings.LastIndexByte(e, '.')+1:])
			id, ok := ids[name]
			if whole = whole && ok && !nullable[name]; whole {
				key.Add(id)
			}
		}
		if whole && !key.Empty() {
			d.all = append(d.all, dependence{key, all})
		}
	}
}

// derived adds what is known within a derived table, a view or a WITH, and what its columns are made of.
func (d *dependences) derived(n *plan.SubqueryAlias) {
	inner := columnsOf(n.Child)
	if inner.Intersects(d.seen) { // a WITH that is named twice has the same columns each time
		return
	}
	d.seen.UnionWith(inner)
	d.of(n.Child)
	var list []sql.Expression
	for c := n.Child; list == nil; {
		switch p := c.(type) {
		case *plan.Project:
			list = p.Projections
		case *plan.GroupBy:
			list = p.SelectDeps
		case *plan.Distinct, *plan.Sort, *plan.Limit, *plan.Offset, *plan.TopN, *plan.Having:
			c = c.Children()[0]
			continue
		}
		break
	}
	if len(list) != n.Columns().Len() {
		return
	}
	id, more := n.Columns().Next(1)
	for _, e := range list {
		if !more {
			return
		}
		if a, ok := e.(*expression.Alias); ok {
			if a.Id() != 0 {
				d.all = append(d.all, dependence{sql.NewColSet(a.Id()), sql.NewColSet(id)},
					dependence{sql.NewColSet(id), sql.NewColSet(a.Id())})
			}
			e = a.Child
		}
		d.alias(id, e)
		id, more = n.Columns().Next(id + 1)
	}
}

// alias adds that a column is made of an expression.
func (d *dependences) alias(id sql.ColumnId, e sql.Expression) {
	from, ok := d.columns(e)
	if !ok {
		return
	}
	d.all = append(d.all, dependence{from, sql.NewColSet(id)})
	if c, ok := e.(*expression.GetField); ok {
		d.all = append(d.all, dependence{sql.NewColSet(id), sql.NewColSet(c.Id())})
	}
}

// columns are those that a value depends on; ok is false of what may be another value for the same columns.
func (d *dependences) columns(e sql.Expression) (from sql.ColSet, ok bool) {
	ok = true
	sql.Inspect(d.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if d.local.Contains(e.Id()) {
				from.Add(e.Id())
			}
		case *plan.Subquery:
			e.Correlated().ForEach(func(id sql.ColumnId) {
				if d.local.Contains(id) {
					from.Add(id)
				}
			})
			return false
		case sql.WindowAdaptableExpression:
			ok = false
		case sql.NonDeterministicExpression:
			ok = ok && !e.IsNonDeterministic()
		}
		return ok
	})
	return from, ok
}

// join adds what is known of the rows of a join. Of an outer join's right side, constants are not: its rows
// may be missing. Which of them are is a matter of the columns that the left side has in the condition.
func (d *dependences) join(n *plan.JoinNode) {
	left, right := n.Left(), n.Right()
	if n.Op.IsRightOuter() {
		left, right = right, left
	}
	switch {
	case n.Op.IsFullOuter():
		at := len(d.all)
		d.of(left)
		d.of(right)
		d.all = withoutConstants(d.all, at)
	case n.Op.IsLeftOuter() || n.Op.IsRightOuter():
		d.of(left)
		var strong sql.ColSet
		if n.Filter != nil {
			all, ok := d.columns(n.Filter)
			if !ok {
				at := len(d.all)
				d.of(right)
				d.all = withoutConstants(d.all, at)
				return
			}
			strong = all.Intersection(columnsOf(left))
		}
		at := len(d.all)
		d.of(right)
		for i := at; i < len(d.all); i++ {
			if d.all[i].from.Empty() {
				d.all[i].from = strong
			}
		}
		if n.Filter != nil {
			weak := columnsOf(right)
			d.condition(n.Filter, strong, &weak)
		}
	default:
		d.of(left)
		d.of(right)
		if n.Filter != nil {
			d.condition(n.Filter, sql.ColSet{}, nil)
		}
	}
}

func withoutConstants(all []dependence, at int) []dependence {
	kept := all[:at]
	for _, x := range all[at:] {
		if !x.from.Empty() {
			kept = append(kept, x)
		}
	}
	return kept
}

// condition adds that columns are equal to something. Given is what must be known besides; only limits what
// is learned to these columns.
func (d *dependences) condition(e sql.Expression, given sql.ColSet, only *sql.ColSet) {
	learn := func(column, value sql.Expression) {
		c, ok := column.(*expression.GetField)
		if !ok || !d.local.Contains(c.Id()) || only != nil && !only.Contains(c.Id()) {
			return
		}
		from, ok := d.columns(value)
		if !ok {
			return
		}
		d.all = append(d.all, dependence{from.Union(given), sql.NewColSet(c.Id())})
	}
	for _, c := range expression.SplitConjunction(d.ctx, e) {
		switch c := c.(type) {
		case *expression.Equals:
			learn(c.Left(), c.Right())
			learn(c.Right(), c.Left())
		case *expression.NullSafeEquals:
			learn(c.Left(), c.Right())
			learn(c.Right(), c.Left())
		case *expression.IsNull:
			learn(c.Child, expression.NewLiteral(nil, nil))
		}
	}
}
