package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// Push-down. A scan whose rows are mostly thrown away again, counted or added up is done where the rows are (package pushdown).
// What is recognised, when the iterators of a plan are built:
//
//	Filter(table)                  the conditions that can be said in a program go along with the scan. The Filter stays:
//	                               what is pushed only keeps rows from travelling, so it may be a part of the condition.
//	GroupBy([Filter](table))       counts, sums, extremes, by columns: if all of the condition can be said. No row travels.
//	TopN([Filter](table))          each request returns its first n rows; the TopN stays.
//
// table is a scan of rows by the primary key, whole or in ranges. A transaction that locks what it reads, or has itself written
// into the table, is served as before; so is a cluster of which a node does not know programs.

// VarPushDown switches push-down off for a session, and with it what ordered.go does.
const VarPushDown = "moka_push_down"

// maxPushedTop bounds the rows that a request of a pushed TopN holds.
const maxPushedTop = pushdown.MaxTop

// pushed is what of a plan's node goes to the shards.
type pushed struct {
	table   *Table
	part    *partition
	program *pushdown.Program
	bytes   []byte // of the program
	group   *plan.GroupBy
	path    *path          // in place of a program
	results []pushedResult // of group, by its SelectDeps
	// What is shown by EXPLAIN.
	filter string
	what   string
}

// pushedResult says how a column of a pushed GroupBy comes out of the aggregates.
type pushedResult struct {
	op        pushedOp
	aggregate int
	typ       sql.Type
}

type pushedOp uint8

const (
	resultCount pushedOp = iota
	resultSum
	resultSumDecimal
	resultAvg
	resultAvgDecimal
	resultValue
)

// notes is what EXPLAIN shows.
func (p *pushed) notes() (notes []string) {
	if p.path != nil {
		return p.path.notes()
	}
	if p.filter != "" {
		notes = append(notes, "pushed filter: "+p.filter)
	}
	if p.what != "" {
		notes = append(notes, p.what)
	}
	return notes
}

// pushCompiler looks at one node. It makes the list of columns that the program looks at.
type pushCompiler struct {
	ctx     *sql.Context
	table   *Table
	schema  sql.Schema // of the table as its expressions see it
	columns []pushdown.Column
	name    string      // of the table in the statement
	at      map[int]int // position in columns by ordinal
	whole   bool        // the whole condition is in the program
}

// pushable finds what of a node can go to the shards; nil if nothing can, or it would not help.
func (e *Engine) pushable(ctx *sql.Context, n sql.Node) *pushed {
	if !e.pushing(ctx) {
		return nil
	}
	switch n := n.(type) {
	case *plan.Filter:
		return e.pushFilter(ctx, n)
	case *plan.GroupBy:
		return e.pushGroup(ctx, n)
	case *plan.TopN:
		return e.pushTop(ctx, n)
	}
	return nil
}

func (e *Engine) pushing(ctx *sql.Context) bool { return e.client.Programs() && e.improving(ctx) }

// improving reports whether the session wants plans to be improved when they are built.
func (e *Engine) improving(ctx *sql.Context) bool {
	s := sessionOf(ctx)
	if s == nil {
		return false
	}
	v, err := s.GetSessionVariable(ctx, VarPushDown)
	if err != nil {
		return false
	}
	on, err := sql.ConvertToBool(ctx, v)
	return err == nil && on
}

// pushTarget finds the scan under a node: of a table by its rows, not by a secondary index.
func (e *Engine) pushTarget(ctx *sql.Context, n sql.Node, filter sql.Expression) (*pushCompiler, *partition) {
	name := ""
	if a, ok := n.(*plan.TableAlias); ok {
		n, name = a.Child, a.Name()
	}
	var t *Table
	var p *partition
	switch n := n.(type) {
	case *plan.ResolvedTable:
		name = cmp.Or(name, n.Name())
		if _, ok := plan.FindVirtualColumnTable(n.Table); ok {
			return nil, nil
		}
		if t = ownTable(n.Table); t == nil {
			return nil, nil
		}
		span := indexSpan(t.desc.ID, t.desc.RowIndex)
		p = &partition{table: t, index: t.primary, spans: []rowenc.Span{{Start: span.Start, End: span.End, Exact: true}}}
	case *plan.IndexedTableAccess:
		if _, ok := plan.FindVirtualColumnTable(n.Table); ok || !n.IsStatic() {
			return nil, nil
		}
		name = cmp.Or(name, n.Name())
		if t = ownTable(n.Table); t == nil {
			return nil, nil
		}
		lookup, ok, err := n.GetLookup(ctx, nil)
		if err != nil || !ok {
			return nil, nil
		}
		if p, err = (&indexedTable{Table: t}).partition(ctx, lookup); err != nil || p.index == nil || !p.index.primary || p.check != nil {
			return nil, nil
		}
		p.table, p.ranged = t, true
		it := entryIter{index: p.index}
		if len(p.spans) > lookupBatch || slices.ContainsFunc(p.spans, func(s rowenc.Span) bool { return it.point(&s) }) {
			return nil, nil
		}
	default:
		return nil, nil
	}
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || tx.over() || tx.lost != nil || tx.quiet != nil || tx.locksReads() || t.lock != nil || t.asOf != 0 || t.temporary {
		return nil, nil
	}
	if now, err := t.current(ctx); err != nil || now.desc != t.desc {
		return nil, nil
	}
	c := &pushCompiler{ctx: ctx, table: t, schema: t.Schema(ctx), name: name, at: map[int]int{}}
	for _, col := range t.pk.Schema {
		if col.Virtual {
			return nil, nil
		}
	}
	if filter != nil && ctx.Value(withoutPathsKey{}) == nil {
		r := (&pushCompiler{ctx: ctx, table: t, schema: c.schema, name: name, at: map[int]int{}}).region(filter)
		if !p.ranged {
			if other := e.choose(c, r, filter); other != nil && !(other.part.index.primary && other.part.merge == nil) {
				return nil, nil // by other indexes there is less to read
			}
		}
		if t.primary != nil && p.narrow(r) {
			p.ranged = true
			it := entryIter{index: p.index}
			if slices.ContainsFunc(p.spans, func(s rowenc.Span) bool { return it.point(&s) }) {
				return nil, nil
			}
		}
	}
	return c, p
}

type withoutPathsKey struct{}

// withoutPaths makes push-down take tables as the plan has them.
func withoutPaths(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx, withoutPathsKey{}, true))
}

// ordinal is the place of a field's column in the table, -1 if it is of something else.
func (c *pushCompiler) ordinal(f *expression.GetField) int {
	i := f.Index()
	if f.Table() != "" && c.name != "" && !strings.EqualFold(f.Table(), c.name) {
		return -1 // of an outer query, at a place that happens to have a column of this name
	}
	if i < 0 || i >= len(c.schema) || !strings.EqualFold(c.schema[i].Name, f.Name()) {
		return -1
	}
	if c.table.projected != nil {
		return c.table.projected.ordinals[i]
	}
	return i
}

// column returns the position of a column in the program. keys says that it is compared with itself, in other rows.
func (c *pushCompiler) column(ordinal int, keys bool) (int, bool) {
	if ordinal < 0 {
		return 0, false
	}
	at, ok := c.at[ordinal]
	if !ok {
		desc := &c.table.desc.Columns[c.table.ordinals[ordinal]]
		col := pushdown.Column{ID: desc.ID}
		if desc.Fill != nil {
			col.Missing = desc.Fill
		}
		col.Type, col.Keys = rowenc.FieldTypeOf(c.table.pk.Schema[ordinal].Type)
		at = len(c.columns)
		c.columns = append(c.columns, col)
		c.at[ordinal] = at
	}
	return at, !keys || c.columns[at].Keys && !c.table.folded(ordinal)
}

// onlyOf reports whether the program looks at nothing but columns of the index.
func (c *pushCompiler) onlyOf(x *index) bool {
	for o := range c.at {
		if !slices.Contains(x.cols, o) {
			return false
		}
	}
	return true
}

// narrow makes the program send the columns that the scan is asked for, and no others.
func (c *pushCompiler) narrow(p *pushdown.Program) {
	if c.table.projected == nil || len(c.table.projected.ordinals) >= len(c.table.pk.Schema) {
		return
	}
	p.Narrow, p.Keep = true, nil
	for _, o := range c.table.projected.ordinals {
		at, _ := c.column(o, false)
		p.Keep = append(p.Keep, at)
	}
	slices.SortFunc(p.Keep, func(a, b int) int { return cmp.Compare(c.columns[a].ID, c.columns[b].ID) })
	p.Keep = slices.Compact(p.Keep)
}

func (e *Engine) pushFilter(ctx *sql.Context, n *plan.Filter) *pushed {
	c, part := e.pushTarget(ctx, n.Child, n.Expression)
	if c == nil {
		return nil
	}
	filter, text := c.condition(n.Expression)
	if filter == nil || part.ranged && c.onlyOf(part.index) {
		return nil // the range has left out what the filter would
	}
	p := &pushdown.Program{Filter: filter}
	c.narrow(p)
	return c.done(part, p, text)
}

func (c *pushCompiler) done(part *partition, p *pushdown.Program, filter string) *pushed {
	p.Columns = c.columns
	return &pushed{table: c.table, part: part, program: p, bytes: p.Append(nil), filter: filter}
}

func (e *Engine) pushTop(ctx *sql.Context, n *plan.TopN) *pushed {
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil || n.CalcFoundRows || limit <= 0 || limit > maxPushedTop {
		return nil
	}
	child, filter := n.Child, sql.Expression(nil)
	if f, ok := child.(*plan.Filter); ok {
		child, filter = f.Child, f.Expression
	}
	c, part := e.pushTarget(ctx, child, filter)
	if c == nil {
		return nil
	}
	p := &pushdown.Program{Mode: pushdown.ModeTop, Top: int(limit)}
	text := ""
	if filter != nil {
		if p.Filter, text = c.condition(filter); !c.whole {
			return nil
		}
	}
	var by []string
	for _, s := range n.SortConditions {
		f, ok := weighed(s.Expr).(*expression.GetField)
		if !ok || s.NullOrdering != sql.NullsFirst {
			return nil
		}
		at, ok := c.column(c.ordinal(f), true)
		if !ok {
			return nil
		}
		p.Order = append(p.Order, pushdown.Order{Column: at, Descending: s.Order == sql.Descending})
		by = append(by, f.Name()+" "+s.Order.String())
	}
	c.narrow(p)
	d := c.done(part, p, text)
	d.what = fmt.Sprintf("pushed limit: the first %d by %s", limit, strings.Join(by, ", "))
	return d
}

func (e *Engine) pushGroup(ctx *sql.Context, n *plan.GroupBy) *pushed {
	child, filter := n.Child, sql.Expression(nil)
	if f, ok := child.(*plan.Filter); ok {
		child, filter = f.Child, f.Expression
	}
	c, part := e.pushTarget(ctx, child, filter)
	if c == nil {
		return nil
	}
	p := &pushdown.Program{Mode: pushdown.ModeAggregate}
	text := ""
	if filter != nil {
		if p.Filter, text = c.condition(filter); !c.whole {
			return nil
		}
	}
	for _, g := range n.GroupByExprs {
		f, ok := g.(*expression.GetField)
		if !ok {
			return nil
		}
		at, ok := c.column(c.ordinal(f), true)
		if !ok {
			return nil
		}
		p.Groups = append(p.Groups, at)
	}
	var results []pushedResult
	aggregates := 0
	for _, dep := range n.SelectDeps {
		r, isAggregate, ok := c.aggregate(p, dep)
		if !ok {
			return nil
		}
		if isAggregate {
			aggregates++
		}
		results = append(results, r)
	}
	if aggregates == 0 && len(n.GroupByExprs) == 0 {
		return nil // the library makes an ordinary SELECT of this
	}
	d := c.done(part, p, text)
	d.group, d.results = n, results
	d.what = "pushed aggregate: " + strings.Join(texts(n.SelectDeps), ", ")
	if len(n.GroupByExprs) > 0 {
		d.what += " by " + strings.Join(texts(n.GroupByExprs), ", ")
	}
	return d
}

// aggregate adds what a column of the result needs to the program.
func (c *pushCompiler) aggregate(p *pushdown.Program, dep sql.Expression) (r pushedResult, isAggregate, ok bool) {
	if a, ok := dep.(*expression.Alias); ok {
		dep = a.Child
	}
	add := func(op pushdown.AggregateOp, col int) int {
		p.Aggregates = append(p.Aggregates, pushdown.Aggregate{Op: op, Column: col})
		return len(p.Aggregates) - 1
	}
	field := func(e sql.Expression, keys bool) (at int, t sql.Type, ok bool) {
		f, ok := expr.Bare(e).(*expression.GetField)
		if !ok {
			return 0, nil, false
		}
		o := c.ordinal(f)
		if at, ok = c.column(o, keys); !ok {
			return 0, nil, false
		}
		return at, c.table.pk.Schema[o].Type, true
	}
	sum := func(e sql.Expression, whole, decimal pushedOp) bool {
		at, t, ok := field(e, true)
		switch {
		case !ok:
			return false
		case c.columns[at].Type.Number() && types.IsInteger(t):
			r = pushedResult{whole, add(pushdown.Sum, at), t}
		case c.columns[at].Type.Decimal():
			r = pushedResult{decimal, add(pushdown.SumDecimal, at), t}
		default:
			return false
		}
		return true
	}
	switch a := collate.Library(dep).(type) {
	case *aggregation.Count:
		switch e := a.Child.(type) {
		case *expression.Star:
			return pushedResult{resultCount, add(pushdown.CountRows, 0), nil}, true, true
		case *expression.Literal:
			return pushedResult{resultCount, add(pushdown.CountRows, 0), nil}, true, e.Value() != nil
		}
		at, _, ok := field(a.Child, false)
		if !ok {
			return r, true, false
		}
		return pushedResult{resultCount, add(pushdown.Count, at), nil}, true, true
	case *expr.Sum:
		ok = sum(a.Child, resultSum, resultSumDecimal)
		return r, true, ok
	case *expr.Avg:
		ok = sum(a.Child, resultAvg, resultAvgDecimal)
		return r, true, ok
	case *aggregation.Min:
		at, t, ok := field(a.Child, true)
		if !ok {
			return r, true, false
		}
		return pushedResult{resultValue, add(pushdown.Min, at), t}, true, true
	case *aggregation.Max:
		at, t, ok := field(a.Child, true)
		if !ok {
			return r, true, false
		}
		return pushedResult{resultValue, add(pushdown.Max, at), t}, true, true
	}
	at, t, ok := field(dep, false)
	if !ok {
		return r, false, false
	}
	return pushedResult{resultValue, add(pushdown.First, at), t}, false, true
}
