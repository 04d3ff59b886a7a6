package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/collate"
	"moka/sqlfront/rowenc"
)

// indexedTable is a table that will be asked for lookups: once for a scan with a range, once for each outer row of a join.
type indexedTable struct {
	*Table
	reference bool
	live      bool // see what the statement has written so far
}

var (
	_ sql.IndexedTable     = (*indexedTable)(nil)
	_ sql.ReferenceChecker = (*indexedTable)(nil)
)

// SetReferenceCheck says that the lookups ask whether the parent row of a foreign key exists. The row that is found is
// required to exist still at commit: under snapshot isolation a parent that is deleted at the same time would otherwise
// leave an orphan (write skew).
func (t *indexedTable) SetReferenceCheck() error {
	t.reference = true
	return nil
}

// partition is what a scan reads: key spans of an index, or the whole table. A table has one partition; work is spread over
// tablets below.
type partition struct {
	table   *Table // nil: the table that is asked; see Partitions
	index   *index // nil: the row store of a keyless table
	spans   []rowenc.Span
	reverse bool
	check   *rangeCheck // nil if the spans hold exactly the rows asked for
	// reference: deliver that entries exist, not what is in them, and require them to.
	reference bool
	live      bool
	batch     int    // size of the first request; 0 is firstBatch
	program   []byte // goes along with the scans
	ranged    bool   // made of the ranges of a lookup, not the whole

	match *matchRead   // the rows that may answer a MATCH, by its index
	entry *entryCheck  // of a secondary index: the rows of other entries are not asked for
	merge []*partition // indexes that have the rows between them; the spans are for the case that these are more than most
	most  int
}

// Key implements sql.Partition.
func (p *partition) Key() []byte { return []byte("moka") }

// Partitions implements sql.Table: a scan of everything.
func (t *Table) Partitions(ctx *sql.Context) (sql.PartitionIter, error) {
	if tx, ok := ctx.GetTransaction().(*Tx); ok && tx.quiet != nil && tx.quiet.desc == t.desc {
		tx.quiet = nil
		return sql.PartitionsToPartitionIter(), nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	if t.projected != nil && now.desc != t.desc {
		p, err := now.WithProjections(ctx, t.projected.names)
		if err != nil {
			return nil, err
		}
		now = p.(*Table)
	} else if t.projected != nil || now.desc == t.desc {
		now = t
	}
	// A clause of ALTER TABLE sees the rows as the clauses before it have made them.
	span := indexSpan(now.desc.ID, now.desc.RowIndex)
	return sql.PartitionsToPartitionIter(&partition{
		table: now, index: now.primary,
		spans: []rowenc.Span{{Start: span.Start, End: span.End, Exact: true}},
	}), nil
}

// LookupPartitions implements sql.IndexedTable. The ranges are encoded here and now: the engine changes them in place for the
// next row.
func (t *indexedTable) LookupPartitions(ctx *sql.Context, lookup sql.IndexLookup) (sql.PartitionIter, error) {
	p, err := t.partition(ctx, lookup)
	if err != nil {
		return nil, err
	}
	return sql.PartitionsToPartitionIter(p), nil
}

func (t *indexedTable) partition(ctx *sql.Context, lookup sql.IndexLookup) (*partition, error) {
	x, err := t.find(lookup.Index)
	if err != nil {
		return nil, err
	}
	ranges, ok := lookup.Ranges.(sql.MySQLRangeCollection)
	if !ok {
		return nil, sql.ErrInvalidRangeType.New()
	}
	p := &partition{index: x, reverse: lookup.IsReverse, reference: t.reference, live: t.live}
	cut := ranges
	n := x.codec.Len()
	for i, r := range ranges {
		if len(r) <= n {
			continue
		}
		// A range over the primary key columns behind the index columns (foreign keys ask so): the key is narrowed as far as
		// the index columns go, the rest is looked at.
		if &cut[0] == &ranges[0] {
			cut = slices.Clone(ranges)
		}
		cut[i] = r[:n]
	}
	if p.spans, err = x.codec.Spans(ctx, x.prefix, cut); err != nil {
		return nil, err
	}
	exact := true
	for _, s := range p.spans {
		exact = exact && s.Exact
	}
	if !exact || len(cut) > 0 && &cut[0] != &ranges[0] {
		p.check = newRangeCheck(x, ranges)
	}
	return p, nil
}

// find returns this version's index for one that the plan has chosen.
func (t *Table) find(want sql.Index) (*index, error) {
	if x, ok := want.(*index); ok && x.table.desc == t.desc {
		return x, nil
	}
	for _, x := range t.keys {
		if want != nil && strings.EqualFold(x.id, want.ID()) {
			return x, nil
		}
	}
	return nil, sql.ErrIndexNotFound.New(want)
}

// rangeCheck looks at the values of rows that a span may hold without their being in the range: behind a condition that is
// not an equality, keys are not sorted by the next column.
type rangeCheck struct {
	cols   []int
	ranges sql.MySQLRangeCollection
}

func newRangeCheck(x *index, ranges sql.MySQLRangeCollection) *rangeCheck {
	c := &rangeCheck{cols: x.extCols, ranges: make(sql.MySQLRangeCollection, len(ranges))}
	for i, r := range ranges {
		c.ranges[i] = slices.Clone(r)
	}
	return c
}

// match reports whether a full row is in any of the ranges.
func (c *rangeCheck) match(ctx *sql.Context, row sql.Row) (bool, error) {
	for _, r := range c.ranges {
		in := true
		for i := range r {
			var err error
			if in, err = inRange(ctx, &r[i], row[c.cols[i]]); err != nil {
				return false, err
			}
			if !in {
				break
			}
		}
		if in {
			return true, nil
		}
	}
	return false, nil
}

func inRange(ctx *sql.Context, r *sql.MySQLRangeColumnExpr, v any) (bool, error) {
	if v == nil {
		_, low := r.LowerBound.(sql.BelowNull)
		return low, nil
	}
	switch b := r.LowerBound.(type) {
	case sql.AboveAll:
		return false, nil
	case sql.Below:
		if c, err := compare(ctx, r.Typ, v, b.Key); err != nil || c < 0 {
			return false, err
		}
	case sql.Above:
		if c, err := compare(ctx, r.Typ, v, b.Key); err != nil || c <= 0 {
			return false, err
		}
	}
	switch b := r.UpperBound.(type) {
	case sql.AboveNull, sql.BelowNull:
		return false, nil
	case sql.Below:
		if c, err := compare(ctx, r.Typ, v, b.Key); err != nil || c >= 0 {
			return false, err
		}
	case sql.Above:
		if c, err := compare(ctx, r.Typ, v, b.Key); err != nil || c > 0 {
			return false, err
		}
	}
	return true, nil
}

// compare is the order of two values of a column, of which a is not NULL.
func compare(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	if b == nil {
		return 1, nil
	}
	if c, ok := collate.Pads(t); ok {
		return collate.Compare(ctx, c, a, b)
	}
	return t.Compare(ctx, a, b)
}

// SkipIndexCosting implements sql.IndexSearchable: what LookupForExpressions declines is costed as usual.
func (t *Table) SkipIndexCosting() bool { return false }

// LookupForExpressions implements sql.IndexSearchable: a conjunction that fixes all columns of a unique key with literals needs no cost
// model to see that this key is the way to read. It is the shape of most statements of an OLTP load.
func (t *Table) LookupForExpressions(ctx *sql.Context, exprs ...sql.Expression) (sql.IndexLookup, *sql.FuncDepSet, sql.Expression, bool, error) {
	none := func() (sql.IndexLookup, *sql.FuncDepSet, sql.Expression, bool, error) {
		return sql.IndexLookup{}, nil, nil, false, nil
	}
	var equal []expression.LookupColumn
	var from []int
	for i, e := range exprs {
		c, ok := expression.LookupEqualityColumn(t.db, t.desc.Name, e)
		if ok && c.Lit.Value() != nil {
			equal, from = append(equal, c), append(from, i)
		}
	}
	if len(equal) == 0 {
		return none()
	}
	for _, x := range t.keys {
		if !x.unique || x.unordered || x.folded || len(x.cols) > len(equal) || x.state != 0 {
			continue
		}
		lookup, used, ok := x.pointLookup(ctx, equal, from)
		if !ok {
			continue
		}
		var left sql.Expression
		for i, e := range exprs {
			if slices.Contains(used, i) {
				continue
			}
			if left == nil {
				left = e
			} else {
				left = expression.NewAnd(left, e)
			}
		}
		return lookup, x.maxOne(), left, true, nil
	}
	return none()
}

func (x *index) pointLookup(ctx *sql.Context, equal []expression.LookupColumn, from []int) (sql.IndexLookup, []int, bool) {
	b := sql.NewEqualityIndexBuilder(x)
	var used []int
	for i, c := range x.cols {
		col := x.table.pk.Schema[c]
		j := slices.IndexFunc(equal, func(l expression.LookupColumn) bool { return strings.EqualFold(l.Col, col.Name) })
		if j < 0 || !sql.IsConvertibleKeyType(col.Type, equal[j].Lit.Type(ctx)) {
			return sql.IndexLookup{}, nil, false
		}
		if err := b.AddEquality(ctx, i, equal[j].Lit.Value()); err != nil {
			return sql.IndexLookup{}, nil, false
		}
		used = append(used, from[j])
	}
	lookup, err := b.Build(ctx)
	if err != nil {
		return sql.IndexLookup{}, nil, false
	}
	lookup.IsPointLookup = !lookup.IsEmptyRange
	return lookup, used, true
}

// maxOne says that the lookup finds at most one row.
func (x *index) maxOne() *sql.FuncDepSet {
	var all, notNull sql.ColSet
	for i, c := range x.table.pk.Schema {
		all.Add(sql.ColumnId(i + 1))
		if !c.Nullable {
			notNull.Add(sql.ColumnId(i + 1))
		}
	}
	return sql.NewMax1RowFDs(all, notNull)
}
