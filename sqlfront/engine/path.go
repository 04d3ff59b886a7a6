package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/catalog"
	"moka/sqlfront/chain"
	"moka/sqlfront/gms"
	"moka/sqlfront/keyrange"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// Ways to the rows of a Filter. The library looks for one index and one list of ranges; it does not know OR over two indexes, where
// LIKE 'x%' ends, and in UPDATE and DELETE not even BETWEEN and NOT. When the iterators are built, the condition's boxes (ranges.go)
// say better:
//
//	the library reads a table whole      one index, or one for each part of an OR (merge.go), if that is less to read
//	it reads ranges of an index          the ranges are cut to the boxes
//	it reads a secondary index           what the entries have of the condition is asked before the rows are fetched
//
// The Filter stays above.

// path is a way to read a table.
type path struct {
	table *Table
	part  *partition
	kind  string // as MySQL's EXPLAIN names it; "" if it is the library's way, cut
	keys  []string
	rows  float64 // a guess
	cut   bool
	text  string // of the condition on entries
}

// notes is what EXPLAIN says.
func (p *path) notes() (notes []string) {
	if p.part.merge != nil {
		what := "Using union("
		if len(p.keys) == 1 {
			what = "Using sort_union("
		}
		notes = append(notes, what+strings.Join(p.keys, ",")+")")
	}
	if p.cut {
		notes = append(notes, "ranges cut by the condition")
	}
	if p.part.entry != nil {
		notes = append(notes, "Using index condition: "+p.text)
	}
	return notes
}

// path finds one that is better than what the plan says; nil if there is none.
func (e *Engine) path(ctx *sql.Context, n *plan.Filter) *path {
	if !e.improving(ctx) {
		return nil
	}
	c, static := e.orderTarget(ctx, n.Child)
	if c == nil || c.table.asOf != 0 {
		return nil
	}
	if p := textPath(c, static, n.Expression); p != nil {
		return p
	}
	r := c.region(n.Expression)
	if static == nil {
		return e.choose(c, r, n.Expression)
	}
	lookup, ok, err := static.GetLookup(ctx, nil)
	if err != nil || !ok || lookup.Ranges == nil {
		return nil
	}
	part, err := (&indexedTable{Table: c.table}).partition(ctx, lookup)
	if err != nil || part.index == nil || part.index.unordered {
		return nil
	}
	if part.index.primary {
		if unbound(lookup, 0) {
			return e.chooseInOrder(c, r, n.Expression, lookup.IsReverse)
		}
		return nil
	}
	part.table = c.table
	p := &path{table: c.table, part: part, keys: []string{part.index.id}, cut: part.narrow(r)}
	p.entries(c, r, n.Expression)
	if !p.cut && part.entry == nil {
		return nil
	}
	return p
}

// narrow cuts the spans to a region, and reports whether that has left something out.
func (p *partition) narrow(r keyrange.Region) bool {
	if r.All || p.index == nil || p.index.unordered || len(p.spans) > lookupBatch {
		return false
	}
	spans, ok := p.index.spans(r.Boxes)
	if !ok {
		return false
	}
	both := keyrange.Meet(p.spans, spans)
	if slices.EqualFunc(both, p.spans, func(a, b rowenc.Span) bool { return keyrange.SameSpan(&a, &b) }) {
		return false
	}
	p.spans = both
	return true
}

// minRows is the least that a table is taken for: the number of rows is a guess, and that of a new table is late.
const minRows = 1000

// lookupWeight is what an entry of a secondary index and the row behind it cost, against a row of a scan.
const lookupWeight = 3.0

// way is an index for some of the boxes.
type way struct {
	index      *index
	rows, cost float64
}

// weight is what it costs to have a row by the index.
func (c *pushCompiler) weight(x *index) float64 {
	if x.primary || newCover(c.table, &partition{index: x}) != nil {
		return 1
	}
	return lookupWeight
}

// best is the index by which the box is least to read.
func (e *Engine) best(c *pushCompiler, b keyrange.Box, total float64) (w way) {
	for _, x := range c.table.keys {
		if x.state != catalog.StatePublic || x.unordered {
			continue
		}
		rows, ok := e.found(x, b, total)
		if ok && (w.index == nil || rows*c.weight(x) < w.cost) {
			w = way{x, rows, rows * c.weight(x)}
		}
	}
	return w
}

// choose finds a way to what the library would read the whole table for.
func (e *Engine) choose(c *pushCompiler, r keyrange.Region, filter sql.Expression) *path {
	if r.All {
		return nil
	}
	rows, _, err := c.table.RowCount(c.ctx)
	if err != nil {
		return nil
	}
	total := float64(max(rows, minRows))
	var single way
	for _, x := range c.table.keys {
		if x.state != catalog.StatePublic || x.unordered {
			continue
		}
		w := way{index: x}
		for _, b := range r.Boxes {
			n, ok := e.found(x, b, total)
			if !ok {
				w.index = nil
				break
			}
			w.rows += n
		}
		w.cost = w.rows * c.weight(x)
		if w.index != nil && (single.index == nil || w.cost < single.cost) {
			single = w
		}
	}
	var merged way
	ways := make([]way, len(r.Boxes))
	for i, b := range r.Boxes {
		if ways[i] = e.best(c, b, total); ways[i].index == nil {
			ways = nil
			break
		}
		merged.rows += ways[i].rows
		merged.cost += ways[i].cost
	}
	switch {
	case single.index != nil && single.cost < total && (ways == nil || single.cost <= merged.cost):
		spans, _ := single.index.spans(r.Boxes)
		p := &path{
			table: c.table, kind: "range", keys: []string{single.index.id}, rows: single.rows,
			part: &partition{table: c.table, index: single.index, spans: spans, ranged: true},
		}
		p.entries(c, r, filter)
		return p
	case ways != nil && merged.cost < total && len(ways) > 1:
		return e.mergePath(c, r, filter, ways, merged.rows, total)
	}
	return nil
}

// chooseInOrder finds a way to rows that are wanted in the order of the primary key, for the sake of which the library reads all of it. There
// may be a LIMIT above that a scan would soon satisfy; so there is not much that is collected before the scan begins after all.
func (e *Engine) chooseInOrder(c *pushCompiler, r keyrange.Region, filter sql.Expression, reverse bool) *path {
	p := e.choose(c, r, filter)
	if p == nil || p.part.index.primary && p.part.merge == nil {
		return nil
	}
	if p.part.merge == nil {
		p.part = c.table.merged(p.part)
	}
	p.part.reverse, p.part.most = reverse, minRows
	return p
}

// merged is the table by its rows, to be read by way of the branches.
func (t *Table) merged(branches ...*partition) *partition {
	whole := indexSpan(t.desc.ID, t.desc.RowIndex)
	return &partition{table: t, index: t.primary, spans: []rowenc.Span{{Start: whole.Start, End: whole.End, Exact: true}}, merge: branches}
}

// mergePath reads each box by its own index.
func (e *Engine) mergePath(c *pushCompiler, r keyrange.Region, filter sql.Expression, ways []way, rows, total float64) *path {
	if c.table.primary == nil {
		return nil
	}
	p := &path{table: c.table, kind: "index_merge", rows: rows, part: c.table.merged()}
	p.part.most = int(max(minRows, min(total/4, maxMerged)))
	for _, x := range c.table.keys {
		var mine []keyrange.Box
		for i, w := range ways {
			if w.index == x {
				mine = append(mine, r.Boxes[i])
			}
		}
		if mine == nil {
			continue
		}
		spans, ok := x.spans(mine)
		if !ok {
			return nil
		}
		branch := &path{table: c.table, part: &partition{table: c.table, index: x, spans: spans, ranged: true}}
		if !x.primary {
			branch.entries(c, r, filter)
		}
		p.part.merge = append(p.part.merge, branch.part)
		p.keys = append(p.keys, x.id)
	}
	return p
}

// entries adds the condition on entries, if they can say more than the spans do.
func (p *path) entries(c *pushCompiler, r keyrange.Region, filter sql.Expression) {
	x := p.part.index
	if x.primary || p.table.primary == nil || x.unordered || p.table.primary.unordered || x.consumes(r) {
		return
	}
	if p.part.check == nil && newCover(p.table, p.part) != nil && p.table.lock == nil {
		return // there is nothing to fetch
	}
	own := &pushCompiler{ctx: c.ctx, table: c.table, schema: c.schema, name: c.name, at: map[int]int{}}
	check := &entryCheck{index: x, primary: p.table.primary}
	var said []*pushdown.Expr
	var text []string
	var spent []int // columns of which the spans say all there is to say
	if len(r.Boxes) == 1 {
		spent = x.keyColumns()
		_, equal, ranged := x.boxSpans(r.Boxes[0])
		if ranged {
			equal++
		}
		spent = spent[:equal]
	}
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		expr := own.expr(e, 0)
		if expr == nil || keyrange.Of(expr, false, own.ordinalOf).Exact && own.among(expr, spent) {
			continue
		}
		if own.among(expr, append(slices.Clip(x.cols), check.primary.cols...)) {
			said, text = append(said, expr), append(text, e.String())
		}
	}
	if len(said) == 0 {
		return
	}
	check.slots = make([]coverSlot, len(own.columns))
	for o, at := range own.at {
		if s, ok := check.slot(o); ok {
			check.slots[at] = s
			if s.pk {
				check.nPK = max(check.nPK, s.part+1)
			} else {
				check.nIndex = max(check.nIndex, s.part+1)
			}
		}
	}
	check.condition = &pushdown.Expr{Op: pushdown.OpAnd, Args: said}
	p.part.entry, p.text = check, strings.Join(text, " AND ")
}

// consumes reports whether the spans of an index hold nothing that the condition, as far as it can be said, leaves out.
func (x *index) consumes(r keyrange.Region) bool {
	if r.All || !r.Said {
		return r.All && r.Said
	}
	cols := x.keyColumns()
	for _, b := range r.Boxes {
		_, equal, ranged := x.boxSpans(b)
		if ranged {
			equal++
		}
		for col := range b {
			if !slices.Contains(cols[:equal], col) {
				return false
			}
		}
	}
	return len(r.Boxes) == 1 || x.disjoint(r.Boxes)
}

// disjoint reports whether the boxes' spans were not made wider by joining them.
func (x *index) disjoint(boxes []keyrange.Box) bool {
	n := 0
	for _, b := range boxes {
		some, _, _ := x.boxSpans(b)
		n += len(some)
	}
	spans, ok := x.spans(boxes)
	return ok && len(spans) == n
}

// entryCheck asks the entries of a secondary index what their rows would be asked.
type entryCheck struct {
	index, primary *index
	condition      *pushdown.Expr
	slots          []coverSlot // by the condition's columns
	nIndex, nPK    int
	keys           pushdown.Keys
	parts, pkParts [][]byte
}

func (c *entryCheck) slot(ordinal int) (coverSlot, bool) {
	if i := slices.Index(c.index.cols, ordinal); i >= 0 {
		return coverSlot{false, i}, true
	}
	i := slices.Index(c.primary.cols, ordinal)
	return coverSlot{true, i}, i >= 0
}

// among reports whether an expression looks at no other columns.
func (c *pushCompiler) among(e *pushdown.Expr, columns []int) bool {
	switch e.Op {
	case pushdown.OpAnd, pushdown.OpOr, pushdown.OpNot:
		return !slices.ContainsFunc(e.Args, func(a *pushdown.Expr) bool { return !c.among(a, columns) })
	case pushdown.OpTrue, pushdown.OpFalse, pushdown.OpNull:
		return true
	case pushdown.OpColumns:
		if !slices.Contains(columns, c.ordinalOf(e.Other)) {
			return false
		}
	}
	return slices.Contains(columns, c.ordinalOf(e.Column))
}

// pass reports whether the row behind an entry is worth fetching. pk is its key in the entry.
func (c *entryCheck) pass(e entry, pk []byte) (bool, error) {
	if c.keys == nil {
		c.keys = make(pushdown.Keys, len(c.slots))
		c.parts, c.pkParts = make([][]byte, c.nIndex), make([][]byte, c.nPK)
	}
	if _, err := c.index.codec.Parts(e.key[len(c.index.prefix):], c.parts); err != nil {
		return false, err
	}
	if _, err := c.primary.codec.Parts(pk, c.pkParts); err != nil {
		return false, err
	}
	for i, s := range c.slots {
		switch {
		case s.pk && s.part < len(c.pkParts):
			c.keys[i] = c.pkParts[s.part]
		case !s.pk && s.part < len(c.parts):
			c.keys[i] = c.parts[s.part]
		}
	}
	return c.condition.Passes(c.keys)
}

// buildPath builds a Filter over a better way to its rows; nil if there is none.
func (b *execBuilder) buildPath(ctx *sql.Context, n *plan.Filter) (sql.RowIter, error) {
	if ctx.Value(notPushedKey{}) != nil {
		return nil, nil
	}
	p := b.eng.path(ctx, n)
	if p == nil {
		return nil, nil
	}
	if p.part.match == nil && p.part.index.primary && p.part.merge == nil && b.eng.pushing(ctx) {
		// Then the rest of the condition goes along.
		if pushed := b.eng.pushFilter(ctx, n); pushed != nil {
			return nil, nil
		}
	}
	b.eng.reads.paths.Add(1)
	if m := measureOf(ctx); m != nil {
		m.pushed = &pushed{path: p}
	}
	if p.part.merge != nil {
		// Should the parts be too much, the table is read as it would have been.
		if whole := b.eng.pushFilter(withoutPaths(ctx), n); b.eng.pushing(ctx) && whole != nil {
			p.part.program = whole.bytes
		}
	}
	return plan.NewFilterIter(n.Expression, &lateIter{open: func(ctx *sql.Context) (sql.RowIter, error) { return p.table.PartitionRows(ctx, p.part) }}), nil
}

// lateIter begins when the first row is asked for: a statement that writes has taken its savepoint by then.
type lateIter struct {
	open func(*sql.Context) (sql.RowIter, error)
	it   sql.RowIter
}

func (l *lateIter) Next(ctx *sql.Context) (sql.Row, error) {
	if l.it == nil {
		var err error
		if l.it, err = l.open(ctx); err != nil {
			return nil, err
		}
	}
	return l.it.Next(ctx)
}

func (l *lateIter) Close(ctx *sql.Context) error {
	if l.it == nil {
		return nil
	}
	return l.it.Close(ctx)
}

// unhelpful takes back an index of which a lookup does not restrict the first column: its ranges, like those of b = 3 OR b = 17 in the
// index (a, b), are all of it, and the rows behind it are fetched one by one. It runs before ORDER BY is given to an index.
//
// It does so with any index but a unique one that is asked for a point where a MATCH of the condition has its own, and where the condition has a chain, of
// which the library does not know what it says (chains.go).
func unhelpful(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	merges := merging(n)
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		child := f.Child
		alias, _ := child.(*plan.TableAlias)
		if alias != nil {
			child = alias.Child
		}
		access, ok := child.(*plan.IndexedTableAccess)
		if !ok || !access.IsStatic() || ownTable(access.Table) == nil {
			return n, transform.SameTree, nil
		}
		lookup, ok, err := access.GetLookup(ctx, nil)
		if err != nil || !ok || lookup.Index == nil {
			return n, transform.SameTree, nil
		}
		words := !merges && byWords(ctx, f.Expression, ownTable(access.Table), lookup)
		if !words && !(chain.Has(f.Expression) && !(lookup.Index.IsUnique() && lookup.IsPointLookup)) && (len(lookup.Index.Expressions()) < 2 || !firstUnbound(ctx, lookup)) {
			return n, transform.SameTree, nil
		}
		table, ok := access.TableNode.(*plan.ResolvedTable)
		if !ok {
			return n, transform.SameTree, nil
		}
		var whole sql.Node = table
		if alias != nil {
			if whole, err = alias.WithChildren(ctx, table); err != nil {
				return nil, transform.SameTree, err
			}
		}
		out, err := f.WithChildren(ctx, whole)
		return out, transform.NewTree, err
	})
}

// takingBack and takingBackSimple are unhelpful as rules, for statements that the library plans with all its rules, and for UPDATE and
// DELETE of one table, which it plans with a few and does not sort by an index.
var (
	takingBack = analyzer.Rule{Id: analyzer.RuleId(-1002), Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return unhelpful(ctx, n)
	}}
	takingBackSimple = analyzer.Rule{Id: analyzer.RuleId(-1003), Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		switch s := n.(type) {
		case *plan.Update:
			if s.HasSingleRel && !s.IsJoin {
				return unhelpful(ctx, n)
			}
		case *plan.DeleteFrom:
			if !s.HasExplicitTargets() && s.RefsSingleRel {
				return unhelpful(ctx, n)
			}
		}
		return n, transform.SameTree, nil
	}}
)

// addPlanRules puts them into the library's lists, in front of the rule that lets indexes sort.
func addPlanRules() error {
	at := slices.IndexFunc(analyzer.OnceAfterDefault, func(r analyzer.Rule) bool { return r.Id.String() == "replaceIdxSort" })
	if at < 0 {
		return errors.New("engine: the library has no rule that sorts by an index any more")
	}
	groups := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool { return r.Id.String() == "validateGroupBy" })
	if groups < 0 {
		return errors.New("engine: the library has no rule that validates GROUP BY any more")
	}
	analyzer.OnceBeforeDefault = slices.Delete(analyzer.OnceBeforeDefault, groups, groups+1)
	simplify := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool { return r.Id.String() == "simplifyFilters" })
	if simplify < 0 {
		return errors.New("engine: the library has no rule that simplifies filters any more")
	}
	analyzer.OnceBeforeDefault = slices.Insert(analyzer.OnceBeforeDefault, simplify, analyzer.Rule{Id: analyzer.RuleId(-1010), Apply: gms.ValidGroups})
	analyzer.OnceAfterDefault[at].Apply = gms.FirstSorts(analyzer.OnceAfterDefault[at].Apply)
	joins := slices.IndexFunc(analyzer.OnceAfterDefault, func(r analyzer.Rule) bool { return r.Id.String() == "optimizeJoins" })
	outer := slices.IndexFunc(analyzer.OnceAfterDefault, func(r analyzer.Rule) bool { return r.Id.String() == "applyIndexesFromOuterScope" })
	filters := slices.IndexFunc(analyzer.OnceAfterDefault, func(r analyzer.Rule) bool { return r.Id.String() == "pushFilters" })
	if filters < 0 || joins < filters || outer < joins || at < outer {
		return errors.New("engine: the library's rules for joins and for lookups by the outer query are not where they were")
	}
	limits := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool { return r.Id.String() == "applyDefaultSelectLimit" })
	if limits < 0 {
		return errors.New("engine: the library has no rule for sql_select_limit any more")
	}
	analyzer.OnceBeforeDefault[limits].Apply = limitingSelects(analyzer.OnceBeforeDefault[limits].Apply)
	analyzer.OnceAfterDefault[filters].Apply = pushingScalars(analyzer.OnceAfterDefault[filters].Apply)
	analyzer.OnceAfterDefault[joins].Apply = gms.OrderingJoins(analyzer.OnceAfterDefault[joins].Apply)
	analyzer.OnceAfterDefault[at].Apply = unsortedMatch(analyzer.OnceAfterDefault[at].Apply)
	analyzer.OnceAfterDefault = slices.Insert(analyzer.OnceAfterDefault, at, takingBack)
	analyzer.OnceAfterDefault[outer].Apply = gms.LookUpOuter(analyzer.OnceAfterDefault[outer].Apply)
	analyzer.OnceAfterDefault = slices.Insert(analyzer.OnceAfterDefault, joins, gms.FoldingEmpty, gms.KeepingSemiJoins, gms.NamingColumns)
	analyzer.OnceAfterDefault = slices.Insert(analyzer.OnceAfterDefault, filters, gms.KeepingOuter)
	analyzer.OnceBeforeDefault = slices.Insert(analyzer.OnceBeforeDefault, 0, defaultsOfColumns)
	analyzer.AlwaysBeforeDefault = slices.Insert(analyzer.AlwaysBeforeDefault, 0, defaultsOfWrites)
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, gms.HidingOfWrites)
	analyzer.OnceAfterAll = slices.Insert(analyzer.OnceAfterAll, 0, gms.ShowingOfWrites, takingBackSimple)
	return addTextRules()
}

// firstUnbound reports whether the ranges leave out no value of the index's first column.
func firstUnbound(ctx *sql.Context, lookup sql.IndexLookup) bool {
	ranges, ok := lookup.Ranges.(sql.MySQLRangeCollection)
	if !ok || len(ranges) == 0 || len(ranges[0]) == 0 {
		return false
	}
	var seen sql.MySQLRangeCut = sql.BelowNull{}
	for _, r := range ranges {
		if c, err := r[0].LowerBound.Compare(ctx, seen, r[0].Typ); err != nil || c > 0 {
			return false
		}
		if c, err := r[0].UpperBound.Compare(ctx, seen, r[0].Typ); err != nil {
			return false
		} else if c > 0 {
			seen = r[0].UpperBound
		}
	}
	_, all := seen.(sql.AboveAll)
	return all
}
