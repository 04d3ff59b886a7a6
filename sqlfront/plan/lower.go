package plan

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/eval"
	"moka/sqlfront/rowenc"
)

// Unsupported says what in a query has no plan here.
type Unsupported string

func (u Unsupported) Error() string { return "plan: no plan for " + string(u) }

// Options tell Lower about the world.
type Options struct {
	// Table is the table that the binder has resolved; false if it is none that plans read.
	Table func(sql.Table) (Table, bool)
	// Literal makes a literal of a value of the text.
	Literal func(v any, t sql.Type) (eval.Literal, bool)
	// Mend makes of an expression over rows, which the binder has made, what computes the right value. The
	// general way does the same to whole plans.
	Mend func(*sql.Context, sql.Expression) (sql.Expression, error)
	// Repeatable reports whether an expression has the same value for the same row each time, and keeps
	// nothing.
	Repeatable func(*sql.Context, sql.Expression) bool
}

// lowering makes the plan of one query block.
type lowering struct {
	ctx  *sql.Context
	opts Options
	q    *Query

	relations []*relation
	of        map[sql.ColumnId]columnOf // which relation a column belongs to
	where     []*conjunct               // of WHERE and of the ON of inner joins
	computed  map[sql.ColumnId]sql.Expression
	slots     map[sql.ColumnId]int // of the row of all sources
	groups    map[sql.ColumnId]int // of a group's row
	rows      float64              // about how many come out of the joins
	rowsOnly  bool                 // nobody looks at the columns

	subqueries map[*plan.Subquery]loweredSubquery
}

// relation is a table of the FROM clause before it has a place.
type relation struct {
	name    string
	table   Table
	derived *Query
	rows    float64 // of a derived table, about
	types   []sql.Type
	ids     []sql.ColumnId
	left    bool
	on      []*conjunct // of a LEFT JOIN
	placed  bool
}

type columnOf struct {
	relation *relation
	ordinal  int
}

// conjunct is one condition of a conjunction.
type conjunct struct {
	expr sql.Expression
	uses map[*relation]bool
	done bool // answered by an index, or put somewhere
}

// Lower makes the plan of a bound SELECT.
func Lower(ctx *sql.Context, n sql.Node, o Options) (*Query, error) {
	l := newLowering(ctx, o)
	if err := l.block(n); err != nil {
		return nil, err
	}
	return l.q, nil
}

func newLowering(ctx *sql.Context, o Options) *lowering {
	return &lowering{
		rows: 1, ctx: ctx, opts: o, q: &Query{}, of: map[sql.ColumnId]columnOf{},
		computed: map[sql.ColumnId]sql.Expression{},
		slots:    map[sql.ColumnId]int{}, groups: map[sql.ColumnId]int{},
		subqueries: map[*plan.Subquery]loweredSubquery{},
	}
}

// results is about how many rows the block has.
func (l *lowering) results() float64 {
	n := l.rows
	if l.q.Group != nil {
		n = max(n/4, 1)
	}
	if o := l.q.Limit; o != nil && o.Param < 0 {
		if v, ok := o.Const.Key(types.Int64); ok {
			if most, ok := v.(int64); ok {
				n = min(n, float64(most))
			}
		}
	}
	return n
}

// clauses are the nodes of a query block.
type clauses struct {
	result *plan.Project
	sort   *plan.Sort
	having *plan.Having
	group  *plan.GroupBy
	filter *plan.Filter
	from   sql.Node
}

func (l *lowering) block(n sql.Node) error {
	c, err := l.clauses(n)
	if err != nil {
		return err
	}
	if l.rowsOnly {
		l.q.Distinct, c.sort, c.result = false, nil, &plan.Project{}
	}
	if err := l.from(c.from); err != nil {
		return err
	}
	if c.filter != nil {
		l.where = append(l.where, l.conjuncts(c.filter.Expression)...)
	}
	if err := l.semiJoins(); err != nil {
		return err
	}
	if err := l.order(l.needed(c)); err != nil {
		return err
	}
	if c.group != nil {
		if err := l.group(c.group); err != nil {
			return err
		}
	}
	if c.having != nil {
		for _, e := range expression.SplitConjunction(l.ctx, c.having.Cond) {
			p, err := eval.New(l.ctx, l.expand(e), l.scope())
			if err != nil {
				return Unsupported("HAVING")
			}
			l.q.Having = append(l.q.Having, p)
		}
	}
	for _, e := range c.result.Projections {
		col, err := l.column(e)
		if err != nil {
			return err
		}
		l.q.Columns = append(l.q.Columns, col)
	}
	l.q.Result = len(l.q.Columns)
	if l.q.Distinct && slices.ContainsFunc(l.q.Columns, func(c Column) bool { return !c.exact() }) {
		return Unsupported("DISTINCT of a text that is computed")
	}
	if c.sort != nil {
		if err := l.sort(c.sort); err != nil {
			return err
		}
	}
	l.byIndex()
	return nil
}

// clauses takes a block apart, from LIMIT down to FROM.
func (l *lowering) clauses(n sql.Node) (c clauses, err error) {
	operand := func(e sql.Expression) (*eval.Operand, error) {
		o, ok := l.scope().Operand(l.ctx, e)
		if !ok {
			return nil, Unsupported("LIMIT")
		}
		return &o, nil
	}
	if x, ok := n.(*plan.Limit); ok {
		if l.q.Limit, err = operand(x.Limit); err != nil {
			return c, err
		}
		n = x.Child
	}
	if x, ok := n.(*plan.Offset); ok {
		if l.q.Offset, err = operand(x.Offset); err != nil {
			return c, err
		}
		n = x.Child
	}
	if x, ok := n.(*plan.Distinct); ok {
		l.q.Distinct = true
		n = x.Child
	}
	var ok bool
	if c.result, ok = n.(*plan.Project); !ok {
		return c, Unsupported(fmt.Sprintf("%T", n))
	}
	n = c.result.Child
	for {
		switch x := n.(type) {
		case *plan.Sort:
			if c.sort != nil {
				return c, Unsupported("two sorts")
			}
			c.sort, n = x, x.Child
			continue
		case *plan.Having:
			if c.having != nil {
				return c, Unsupported("two HAVINGs")
			}
			c.having, n = x, x.Child
			continue
		case *plan.Project:
			l.compute(x.Projections)
			n = x.Child
			continue
		case *plan.GroupBy:
			if c.group != nil {
				return c, Unsupported("groups of groups")
			}
			c.group, n = x, x.Child
			continue
		case *plan.Filter:
			c.filter, n = x, x.Child
		}
		break
	}
	c.from = n
	return c, nil
}

// compute remembers what stands behind names that later clauses use.
func (l *lowering) compute(es []sql.Expression) {
	for _, e := range es {
		if a, ok := e.(*expression.Alias); ok {
			l.computed[a.Id()] = a.Child
		}
	}
}

// expand puts expressions in the places of their names.
func (l *lowering) expand(e sql.Expression) sql.Expression {
	for range 16 {
		again, same, err := transform.Expr(l.ctx, e, func(_ *sql.Context, e sql.Expression) (
			sql.Expression, transform.TreeIdentity, error,
		) {
			if c, ok := e.(*expression.GetField); ok {
				if x, ok := l.computed[c.Id()]; ok {
					return x, transform.NewTree, nil
				}
			}
			return e, transform.SameTree, nil
		})
		if err != nil || same {
			break
		}
		e = again
	}
	return e
}

// Nothing is what the parser calls the table of a query without FROM.
const Nothing = plan.DualTableName

// from collects the tables and the conditions of joins.
func (l *lowering) from(n sql.Node) error {
	switch n := n.(type) {
	case *plan.JoinNode:
		if err := l.from(n.Left()); err != nil {
			return err
		}
		at := len(l.relations)
		switch n.Op {
		case plan.JoinTypeInner, plan.JoinTypeCross:
			if err := l.from(n.Right()); err != nil {
				return err
			}
			if n.Filter != nil {
				l.where = append(l.where, l.conjuncts(n.Filter)...)
			}
			return nil
		case plan.JoinTypeLeftOuter:
			if err := l.from(n.Right()); err != nil {
				return err
			}
			if len(l.relations) != at+1 {
				return Unsupported("a join on the right of a LEFT JOIN")
			}
			r := l.relations[at]
			r.left, r.on = true, l.conjuncts(n.Filter)
			return nil
		}
		return Unsupported(n.Op.String())
	case *plan.TableAlias:
		rt, ok := n.Child.(*plan.ResolvedTable)
		if !ok {
			return Unsupported(fmt.Sprintf("%T", n.Child))
		}
		return l.base(n.Name(), n.Columns(), rt)
	case *plan.ResolvedTable:
		if plan.IsDualTable(n.Table) {
			return nil // one row of nothing
		}
		return l.base(n.Name(), n.Columns(), n)
	case *plan.SubqueryAlias:
		return l.derived(n)
	}
	return Unsupported(fmt.Sprintf("%T", n))
}

func (l *lowering) base(name string, ids sql.ColSet, n *plan.ResolvedTable) error {
	if n.AsOf != nil {
		return Unsupported("AS OF")
	}
	t, ok := l.opts.Table(n.Table)
	if !ok {
		return Unsupported("table " + name)
	}
	r := &relation{name: name, table: t}
	schema := t.Schema(l.ctx)
	for _, c := range schema {
		r.types = append(r.types, c.Type)
	}
	return l.add(r, ids)
}

func (l *lowering) derived(n *plan.SubqueryAlias) error {
	if n.OuterScopeVisibility || n.IsLateral || !n.Correlated.Empty() {
		return Unsupported("a derived table that depends on others")
	}
	inner := newLowering(l.ctx, l.opts)
	if err := inner.block(n.Child); err != nil {
		return err
	}
	q := inner.q
	r := &relation{name: n.Name(), derived: q, rows: inner.results()}
	for _, c := range q.Columns[:q.Result] {
		if !c.exact() {
			return Unsupported("a derived table with a text that is computed")
		}
		r.types = append(r.types, c.Type)
	}
	return l.add(r, n.Columns())
}

func (l *lowering) add(r *relation, ids sql.ColSet) error {
	i := 0
	for id, ok := ids.Next(1); ok; id, ok = ids.Next(id + 1) {
		r.ids = append(r.ids, id)
		l.of[id] = columnOf{r, i}
		i++
	}
	if i != len(r.types) {
		return Unsupported("columns of " + r.name)
	}
	l.relations = append(l.relations, r)
	return nil
}

func (l *lowering) conjuncts(e sql.Expression) (out []*conjunct) {
	for _, e := range expression.SplitConjunction(l.ctx, e) {
		if b, ok := e.(*expression.Between); ok { // two ends of a range
			low := expression.NewGreaterThanOrEqual(b.Val, b.Lower)
			high := expression.NewLessThanOrEqual(b.Val, b.Upper)
			out = append(out, l.conjuncts(expression.NewAnd(low, high))...)
			continue
		}
		if first := firstOfRows(e); first != nil { // for an index; all of it is asked besides
			out = append(out, l.conjuncts(first)...)
		}
		c := &conjunct{expr: e, uses: map[*relation]bool{}}
		for _, id := range columnsOf(l.ctx, e) {
			if of, ok := l.of[id]; ok {
				c.uses[of.relation] = true
			}
		}
		out = append(out, c)
	}
	return out
}

// firstOfRows is what (a, b) IN ((1, 2), (3, 4)) says of a: a IN (1, 3).
func firstOfRows(e sql.Expression) sql.Expression {
	in, ok := e.(*expression.InTuple)
	if !ok {
		return nil
	}
	left, ok1 := in.Children()[0].(expression.Tuple)
	list, ok2 := in.Children()[1].(expression.Tuple)
	if !ok1 || !ok2 || len(left) == 0 {
		return nil
	}
	var firsts expression.Tuple
	for _, x := range list {
		row, ok := x.(expression.Tuple)
		if !ok || len(row) != len(left) {
			return nil
		}
		firsts = append(firsts, row[0])
	}
	return expression.NewInTuple(left[0], firsts)
}

func columnsOf(ctx *sql.Context, es ...sql.Expression) (ids []sql.ColumnId) {
	for _, e := range es {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if c, ok := e.(*expression.GetField); ok {
				ids = append(ids, c.Id())
			}
			return true
		})
	}
	return ids
}

// needed are the columns of tables that the block uses.
func (l *lowering) needed(c clauses) map[sql.ColumnId]bool {
	es := slices.Clone(c.result.Projections)
	if c.sort != nil {
		es = append(es, c.sort.SortConditions.ToExpressions()...)
	}
	if c.having != nil {
		es = append(es, c.having.Cond)
	}
	if c.group != nil {
		es = append(append(es, c.group.SelectDeps...), c.group.GroupByExprs...)
	}
	for _, w := range l.where {
		es = append(es, w.expr)
	}
	for _, r := range l.relations {
		for _, on := range r.on {
			es = append(es, on.expr)
		}
	}
	ids := map[sql.ColumnId]bool{}
	for _, e := range es {
		for _, id := range columnsOf(l.ctx, l.expand(e)) {
			ids[id] = true
		}
	}
	return ids
}

func (l *lowering) scope() eval.Scope {
	return eval.Scope{
		Literal: l.opts.Literal, Slot: l.slot, Subquery: l.subquery, Operands: &l.q.Operands,
	}
}

// slot is where a column is in the row at hand: of all sources, or of a group.
func (l *lowering) slot(c *expression.GetField) (int, bool) {
	slots := l.slots
	if l.q.Group != nil {
		slots = l.groups
	}
	s, ok := slots[c.Id()]
	return s, ok
}

// column is an expression as a column of the row at hand.
func (l *lowering) column(e sql.Expression) (Column, error) {
	e = l.expand(e)
	if a, ok := e.(*expression.Alias); ok {
		e = l.expand(a.Child)
	}
	if c, ok := e.(*expression.GetField); ok {
		s, ok := l.slot(c)
		if !ok {
			return Column{}, Unsupported("column " + c.String())
		}
		return Column{Slot: s, Type: c.Type(l.ctx)}, typed(c.Type(l.ctx))
	}
	switch e := e.(type) {
	case *plan.Subquery:
		n, t, err := l.subquery(e, eval.AsValue)
		if err != nil {
			return Column{}, err
		}
		return Column{Slot: -1, Result: n, Type: t}, typed(t)
	case *expression.Not:
		sub, ok := e.Child.(*plan.ExistsSubquery)
		if !ok {
			break
		}
		p, err := eval.New(l.ctx, e, l.scope())
		return Column{Slot: -1, Truth: p, Type: sub.Type(l.ctx)}, err
	case *plan.ExistsSubquery:
		p, err := eval.New(l.ctx, e, l.scope())
		return Column{Slot: -1, Truth: p, Type: e.Type(l.ctx)}, err
	}
	x, err := l.expression(e)
	if err != nil {
		return Column{}, err
	}
	return Column{Slot: -1, Expr: x, Type: x.Type(l.ctx)}, typed(x.Type(l.ctx))
}

// sortable is column for one that rows are told apart or sorted by: the type of a computed text does not say
// how it compares.
func (l *lowering) sortable(e sql.Expression) (Column, error) {
	c, err := l.column(e)
	if err == nil && !c.exact() {
		err = Unsupported("a text that is computed")
	}
	return c, err
}

// exact reports whether the column's type says how its values compare.
func (c Column) exact() bool { return c.Slot >= 0 || !types.IsText(c.Type) }

// typed refuses types whose values are not to be had as they are.
func typed(t sql.Type) error {
	switch t.Type() {
	case sqltypes.TypeJSON, sqltypes.Vector, sqltypes.Geometry:
		return Unsupported(t.String())
	}
	if types.IsDeferredType(t) {
		return Unsupported("a type that is not known")
	}
	return nil
}

// expression is a value that is computed from the row at hand.
func (l *lowering) expression(e sql.Expression) (sql.Expression, error) {
	x, _, err := transform.Expr(l.ctx, e, func(_ *sql.Context, e sql.Expression) (
		sql.Expression, transform.TreeIdentity, error,
	) {
		switch e := e.(type) {
		case *expression.GetField:
			s, ok := l.slot(e)
			if !ok {
				return nil, transform.SameTree, Unsupported("column " + e.String())
			}
			return e.WithIndex(s), transform.NewTree, nil
		case *expression.BindVar:
			return nil, transform.SameTree, Unsupported("a parameter in an expression")
		case *expression.Alias:
			return e.Child, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err == nil {
		x, err = l.opts.Mend(l.ctx, x)
	}
	if err == nil && !l.opts.Repeatable(l.ctx, x) {
		err = Unsupported(fmt.Sprintf("%T", x))
	}
	return x, err
}

// group lowers GROUP BY and the aggregates.
func (l *lowering) group(n *plan.GroupBy) error {
	g := &Group{}
	for _, e := range n.GroupByExprs {
		c, err := l.sortable(e)
		if err != nil {
			return err
		}
		g.By = append(g.By, c)
	}
	outputs := map[sql.ColumnId]int{}
	for i, e := range n.SelectDeps {
		id, ok := e.(sql.IdExpression)
		if !ok {
			return Unsupported(fmt.Sprintf("%T in a group", e))
		}
		outputs[id.Id()] = i
		a, ok := e.(sql.Aggregation)
		if !ok {
			c, err := l.column(e)
			if err != nil {
				return err
			}
			g.Outputs = append(g.Outputs, Output{First: c})
			continue
		}
		agg, err := l.aggregate(a)
		if err != nil {
			return err
		}
		g.Outputs = append(g.Outputs, Output{Aggregate: agg})
	}
	l.q.Group, l.groups = g, outputs
	return nil
}

// sort adds the columns that are sorted by.
func (l *lowering) sort(n *plan.Sort) error {
	for _, f := range n.SortConditions {
		c, err := l.sortable(f.Expr)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(l.q.Columns, func(x Column) bool {
			return x.Expr == nil && c.Expr == nil && x.Slot == c.Slot
		})
		if at < 0 {
			if l.q.Distinct {
				return Unsupported("DISTINCT sorted by another column")
			}
			at = len(l.q.Columns)
			l.q.Columns = append(l.q.Columns, c)
		}
		k, err := rowenc.NewKeyCodec([]rowenc.KeyPart{{Type: c.Type, PadSpace: true}})
		if err != nil {
			return Unsupported("a sort by " + c.Type.String())
		}
		l.q.Order = append(l.q.Order, Order{Column: at, Descending: f.Order == sql.Descending, Codec: k})
	}
	return nil
}
