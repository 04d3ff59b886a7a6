package engine

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/catalog"
	"moka/sqlfront/collate"
	"moka/sqlfront/keyrange"
	"moka/sqlfront/rowenc"
)

// ORDER BY … LIMIT and MIN, MAX by the order of an index. The library knows the order of an index from its first column on; it reads all
// rows of WHERE a = 3 to sort them by b although the index (a, b) has them sorted, all that a keyset (a, b) > (3, 2) leaves, and the whole
// table for DELETE … ORDER BY id LIMIT 10. Here the rows are read in the order of an index, as many as are wanted. What is
// recognised, when the iterators are built:
//
//	TopN([Filter](table)), Limit(Sort([Filter](table)))    of columns of one table, all in one direction
//	GroupBy(MIN(c), MAX(c) …, [Filter](table))             where the condition binds the columns before c in an index

// orderedAccess is a way to read a table in an order.
type orderedAccess struct {
	table  *Table
	index  *index
	part   *partition
	filter sql.Expression
}

// orderedBy finds a way to read the table under a node in the order; nil if there is none that is sure to be worth it.
func (e *Engine) orderedBy(ctx *sql.Context, by sql.SortConditions, limit int64, child sql.Node) *orderedAccess {
	if !e.improving(ctx) {
		return nil
	}
	a := &orderedAccess{}
	if f, ok := child.(*plan.Filter); ok {
		if matches(ctx, []sql.Expression{f.Expression}) {
			return nil // its index has fewer rows, or is what it is told by
		}
		child, a.filter = f.Child, f.Expression
	}
	c, static := e.orderTarget(ctx, child)
	if c == nil {
		return nil
	}
	a.table = c.table
	descending := false
	var cols []int
	for i, s := range by {
		f, ok := weighed(s.Expr).(*expression.GetField)
		if !ok || s.NullOrdering != sql.NullsFirst || i > 0 && (s.Order == sql.Descending) != descending {
			return nil
		}
		descending = s.Order == sql.Descending
		o := c.ordinal(f)
		if o < 0 {
			return nil
		}
		cols = append(cols, o)
	}
	equal := c.equalities(a.filter)
	r := (&pushCompiler{ctx: ctx, table: c.table, schema: c.schema, name: c.name, at: map[int]int{}}).region(a.filter)
	var using *index
	var bound int // columns of using that the access binds to one value, and no others
	if static != nil {
		lookup, ok, err := static.GetLookup(ctx, nil)
		if err != nil || !ok || lookup.Ranges == nil {
			return nil
		}
		if using, err = c.table.find(lookup.Index); err != nil {
			return nil
		}
		if sorts(using, equal, cols) {
			if a.part, err = (&indexedTable{Table: c.table}).partition(ctx, lookup); err != nil {
				return nil
			}
			a.index = using
			a.part.reverse = descending
			a.part.narrow(r)
			return a.complete(c, r)
		}
		bound, _ = pointRanges(ctx, lookup, len(using.cols))
		if bound == 0 || lookup.Ranges.Len() != 1 || !unbound(lookup, bound) {
			return nil
		}
	}
	best := -1
	for _, x := range c.table.keys {
		if x.state != catalog.StatePublic || x.unordered || !sorts(x, equal, cols) {
			continue
		}
		prefix := 0
		for prefix < len(x.cols) && equal[x.cols[prefix]] != nil {
			prefix++
		}
		spans, ranged := []rowenc.Span{x.prefixSpan(equal, prefix)}, false
		if !r.All {
			if some, ok := x.spans(r.Boxes); ok {
				spans, ranged = some, true
			}
		}
		switch {
		case using != nil && !slices.ContainsFunc(using.cols[:bound], func(o int) bool { return !slices.Contains(x.cols[:prefix], o) }):
		case using != nil:
			continue // another index leaves fewer rows than this order can be sure to
		case prefix > 0 || x.primary:
		case a.filter == nil && limit <= maxOrderedLookups:
		case ranged && r.Said && x.hasColumnsOf(r): // no row is fetched that the condition leaves out
		default:
			continue
		}
		score := 2 * prefix
		if ranged {
			score++
		}
		if score > best {
			best, a.index = score, x
			a.part = &partition{index: x, reverse: descending, spans: spans}
		}
	}
	if a.index == nil {
		return nil
	}
	return a.complete(c, r)
}

// complete adds what the entries can be asked.
func (a *orderedAccess) complete(c *pushCompiler, r keyrange.Region) *orderedAccess {
	a.part.table = c.table
	if a.filter != nil {
		p := &path{table: c.table, part: a.part}
		p.entries(c, r, a.filter)
	}
	return a
}

// hasColumnsOf reports whether a condition is about nothing but columns that entries of the index have.
func (x *index) hasColumnsOf(r keyrange.Region) bool {
	cols := x.keyColumns()
	for _, b := range r.Boxes {
		for col := range b {
			if !slices.Contains(cols, col) {
				return false
			}
		}
	}
	return r.Exact
}

// maxOrderedLookups is how many rows behind entries of a secondary index are fetched rather than sort the table.
const maxOrderedLookups = 1000

// sorts reports whether the index has the rows in the order of the columns, those aside that have one value.
func sorts(x *index, equal map[int][]byte, cols []int) bool {
	if x.unordered {
		return false
	}
	at := 0
	skip := func() {
		for at < len(x.extCols) && equal[x.extCols[at]] != nil {
			at++
		}
	}
	for _, c := range cols {
		skip()
		if equal[c] != nil {
			continue
		}
		if at == len(x.extCols) {
			// Behind the primary key there is nothing to sort.
			return x.table.primary != nil
		}
		if x.extCols[at] != c {
			return false
		}
		at++
	}
	return true
}

// prefixSpan is the span of the entries whose first columns have the values.
func (x *index) prefixSpan(equal map[int][]byte, columns int) rowenc.Span {
	start := append([]byte(nil), x.prefix...)
	for _, c := range x.cols[:columns] {
		start = append(start, equal[c]...)
	}
	return rowenc.Span{Start: start, End: append(slices.Clone(start), 0xFF), Equal: columns, Exact: true}
}

// orderTarget is the table under a node, and the lookup if there is one.
func (e *Engine) orderTarget(ctx *sql.Context, n sql.Node) (*pushCompiler, *plan.IndexedTableAccess) {
	name := ""
	if a, ok := n.(*plan.TableAlias); ok {
		n, name = a.Child, a.Name()
	}
	var t *Table
	var static *plan.IndexedTableAccess
	switch n := n.(type) {
	case *plan.ResolvedTable:
		if _, ok := plan.FindVirtualColumnTable(n.Table); ok {
			return nil, nil
		}
		t, name = ownTable(n.Table), cmp.Or(name, n.Name())
	case *plan.IndexedTableAccess:
		if _, ok := plan.FindVirtualColumnTable(n.Table); ok || !n.IsStatic() {
			return nil, nil
		}
		t, static, name = ownTable(n.Table), n, cmp.Or(name, n.Name())
	}
	if t == nil {
		return nil, nil
	}
	if tx, ok := ctx.GetTransaction().(*Tx); !ok || tx.over() || tx.quiet != nil {
		return nil, nil
	}
	if now, err := t.current(ctx); err != nil || now.desc != t.desc {
		return nil, nil
	}
	for _, col := range t.pk.Schema {
		if col.Virtual {
			return nil, nil
		}
	}
	c := &pushCompiler{ctx: ctx, table: t, schema: t.Schema(ctx), name: name, at: map[int]int{}}
	return c, static
}

// equalities are the keys of the literals that a condition's conjuncts say columns are equal to, by ordinal.
func (c *pushCompiler) equalities(filter sql.Expression) map[int][]byte {
	equal := map[int][]byte{}
	c.whole = true
	if filter == nil {
		return equal
	}
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		c.whole = c.equality(e, equal) && c.whole
	}
	return equal
}

func (c *pushCompiler) equality(e sql.Expression, equal map[int][]byte) bool {
	eq, ok := e.(*expression.Equals)
	if !ok {
		return false
	}
	left, right := weighed(eq.Left()), weighed(eq.Right())
	f, okField := left.(*expression.GetField)
	l, okLiteral := right.(*expression.Literal)
	if !okField || !okLiteral {
		f, okField = right.(*expression.GetField)
		l, okLiteral = left.(*expression.Literal)
	}
	if !okField || !okLiteral || l.Value() == nil {
		return false
	}
	o := c.ordinal(f)
	if o < 0 {
		return false
	}
	key, ok := c.key(c.table.pk.Schema[o].Type, f, l)
	if !ok || equal[o] != nil {
		return false
	}
	equal[o] = key
	return true
}

// buildOrdered builds the first rows in an order by an index; nil if there is no such index.
func (b *execBuilder) buildOrdered(ctx *sql.Context, by sql.SortConditions, limit int64, child sql.Node) (sql.RowIter, error) {
	a := b.eng.orderedBy(ctx, by, limit, child)
	if a == nil {
		return nil, nil
	}
	if m := measureOf(ctx); m != nil {
		m.pushed = &pushed{what: "in the order of " + a.index.id}
	}
	a.part.batch = int(min(limit, firstBatch))
	it, err := a.table.PartitionRows(ctx, a.part)
	if err != nil {
		return nil, err
	}
	if a.filter != nil {
		filter := a.filter
		mended, err := collate.Node(ctx, plan.NewFilter(ctx, filter, child.Children()[0]))
		if err != nil {
			return nil, err
		}
		if mended != nil {
			filter = mended.(*plan.Filter).Expression
		}
		it = plan.NewFilterIter(filter, it)
	}
	return &iters.LimitIter{Limit: limit, ChildIter: it}, nil
}

// byIndex builds what an index has done already.
func (b *execBuilder) byIndex(ctx *sql.Context, n sql.Node) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.TopN:
		return b.buildTop(ctx, n)
	case *plan.GroupBy:
		return b.buildExtremes(ctx, n)
	}
	return nil, nil
}

// buildFoundRows is SQL_CALC_FOUND_ROWS with LIMIT k, n, of which the library counts the rows behind the first k.
func (b *execBuilder) buildFoundRows(ctx *sql.Context, n *plan.Limit, row sql.Row) (sql.RowIter, error) {
	offset, ok := n.Child.(*plan.Offset)
	if !ok || !n.CalcFoundRows {
		return nil, nil
	}
	skip, err := iters.GetInt64Value(ctx, offset.Offset)
	if err != nil {
		return nil, err
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil {
		return nil, err
	}
	it, err := b.base.Build(ctx, offset.Child, row)
	if err != nil {
		return nil, err
	}
	return &foundRowsIter{RowIter: it, skip: skip, left: limit}, nil
}

// foundRowsIter returns some of the rows and counts all.
type foundRowsIter struct {
	sql.RowIter
	skip, left, found int64
}

// Next implements sql.RowIter.
func (f *foundRowsIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := f.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		if f.found++; f.found <= f.skip || f.left <= 0 {
			continue
		}
		f.left--
		return row, nil
	}
}

// Close implements sql.RowIter.
func (f *foundRowsIter) Close(ctx *sql.Context) error {
	err := f.RowIter.Close(ctx)
	if err == nil {
		ctx.GetLastQueryInfo().FoundRows.Store(f.found)
	}
	return err
}

// buildLimit is LIMIT over a sort that an index has done.
func (b *execBuilder) buildLimit(ctx *sql.Context, n *plan.Limit) (sql.RowIter, error) {
	s, ok := n.Child.(*plan.Sort)
	if !ok || n.CalcFoundRows {
		return nil, nil
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil || limit <= 0 {
		return nil, nil
	}
	return b.buildOrdered(ctx, s.SortConditions, limit, s.Child)
}

// buildTop is the same of a sort and a limit in one.
func (b *execBuilder) buildTop(ctx *sql.Context, n *plan.TopN) (sql.RowIter, error) {
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil || limit <= 0 || n.CalcFoundRows {
		return nil, nil
	}
	return b.buildOrdered(ctx, n.SortConditions, limit, n.Child)
}

// extreme is where MIN or MAX of a column is found in an index.
type extreme struct {
	column int
	part   *partition
}

// extremes finds the places of a GROUP BY that asks for nothing else; nil if there are not places for all.
func (e *Engine) extremes(ctx *sql.Context, n *plan.GroupBy) (c *pushCompiler, found []extreme) {
	if len(n.GroupByExprs) > 0 || len(n.SelectDeps) == 0 || !e.improving(ctx) {
		return nil, nil
	}
	child, filter := n.Child, sql.Expression(nil)
	if f, ok := child.(*plan.Filter); ok {
		child, filter = f.Child, f.Expression
	}
	if c, _ = e.orderTarget(ctx, child); c == nil {
		return nil, nil
	}
	if tx, ok := ctx.GetTransaction().(*Tx); !ok || tx.locksReads() || c.table.lock != nil {
		return nil, nil
	}
	r := c.region(filter)
	if !r.Exact || !r.All && len(r.Boxes) != 1 {
		return nil, nil
	}
	var in keyrange.Box
	if !r.All {
		in = r.Boxes[0]
	}
	for _, dep := range n.SelectDeps {
		if a, ok := dep.(*expression.Alias); ok {
			dep = a.Child
		}
		var arg sql.Expression
		reverse := false
		switch a := collate.Library(dep).(type) {
		case *aggregation.Min:
			arg = a.Child
		case *aggregation.Max:
			arg, reverse = a.Child, true
		default:
			return nil, nil
		}
		f, ok := arg.(*expression.GetField)
		if !ok {
			return nil, nil
		}
		o := c.ordinal(f)
		if o < 0 {
			return nil, nil
		}
		p := c.table.extreme(in, o, reverse)
		if p == nil {
			return nil, nil
		}
		found = append(found, extreme{o, p})
	}
	return c, found
}

// extreme is where the least or the greatest value of a column is that is not NULL, among the rows in a box: in an index whose first
// columns have one value each, behind which comes the column, and no other is restricted.
func (t *Table) extreme(in keyrange.Box, column int, reverse bool) *partition {
	n := len(in)
	among := []keyrange.Interval{keyrange.NotNull}
	if vs, ok := in[column]; ok {
		n--
		if among = keyrange.Intersect(among, vs); len(among) > lookupBatch {
			return nil
		}
	}
	for _, x := range t.keys {
		if x.state != catalog.StatePublic || x.unordered || n >= len(x.cols) || x.cols[n] != column {
			continue
		}
		if slices.ContainsFunc(x.cols[:n], func(o int) bool { return o == column || len(in[o]) != 1 || !in[o][0].Point() }) {
			continue
		}
		if reverse && !x.codec.Decodable(n) {
			continue // of values that are equal under a collation the first is asked for
		}
		start := []byte(x.prefix)
		for _, o := range x.cols[:n] {
			start = keyrange.Concat(start, in[o][0].From)
		}
		p := &partition{table: t, index: x, reverse: reverse, batch: 1}
		for _, v := range among {
			p.spans = append(p.spans, rowenc.Span{Start: keyrange.Concat(start, v.From), End: keyrange.Concat(start, v.To), Exact: true})
		}
		return p
	}
	return nil
}

// buildExtremes reads them.
func (b *execBuilder) buildExtremes(ctx *sql.Context, n *plan.GroupBy) (sql.RowIter, error) {
	if alone, err := withoutOuter(ctx, n); alone != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return b.buildExtremes(ctx, alone)
	}
	c, found := b.eng.extremes(ctx, n)
	if c == nil || found == nil {
		return nil, nil
	}
	if m := measureOf(ctx); m != nil {
		m.pushed = &pushed{what: extremesNote}
	}
	row := make(sql.Row, len(found))
	for i, x := range found {
		t, err := c.table.base().WithProjections(ctx, []string{c.table.pk.Schema[x.column].Name})
		if err != nil {
			return nil, err
		}
		x.part.table = t.(*Table)
		it, err := x.part.table.PartitionRows(ctx, x.part)
		if err != nil {
			return nil, err
		}
		first, err := it.Next(ctx)
		if closing := it.Close(ctx); err == nil {
			err = closing
		}
		switch {
		case err == nil:
			row[i] = first[0]
			if at, ok := row[i].(time.Time); ok && c.table.folded(x.column) {
				if _, ok := c.table.zone.Only(at); !ok {
					return nil, nil // another instant may be the time of day before it, or behind it
				}
			}
		case !errors.Is(err, io.EOF):
			return nil, err
		}
	}
	return sql.RowsToRowIter(row), nil
}

const extremesNote = "first and last entries of indexes"
