package bigtable

import (
	"bytes"
	"slices"
	"time"

	"moka/kv"
	"moka/kv/wire"
)

// Filter chooses cells. The zero value chooses all of them. Bounds on time are [From, To); a zero To is no bound.
type Filter struct {
	Families       []string // of these families; none named is all
	Qualifiers     [][]byte // with one of these qualifiers; none named is all
	QualifierStart []byte   // qualifiers from here on,
	QualifierEnd   []byte   // and before here; empty is no bound
	From, To       kv.Timestamp
	Versions       int // the newest of each column within the time range; zero is no bound
	CellsPerRow    int // the first of each row; zero is no bound
	// Value chooses, of the cells that are left, those with exactly this value, if HasValue. With Versions 1 it is the condition of
	// a compare-and-set.
	HasValue bool
	Value    []byte
}

// Cell is one version of a column.
type Cell struct {
	Family    string
	Qualifier []byte
	Timestamp kv.Timestamp
	Value     []byte
}

// Row is a row with the cells that a filter chose: by family in the order of the schema, by qualifier, newest first.
type Row struct {
	Key   kv.RowKey
	Cells []Cell
}

// appendTo: uvarint count | string families | uvarint count | bytes qualifiers | bytes start | bytes end |
// uvarint from | uvarint to | uvarint versions | uvarint cells | bool has value | bytes value
func (f *Filter) appendTo(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(f.Families)))
	for _, s := range f.Families {
		b = wire.AppendString(b, s)
	}
	b = wire.AppendUvarint(b, uint64(len(f.Qualifiers)))
	for _, q := range f.Qualifiers {
		b = wire.AppendBytes(b, q)
	}
	b = wire.AppendBytes(b, f.QualifierStart)
	b = wire.AppendBytes(b, f.QualifierEnd)
	b = wire.AppendUvarint(b, uint64(f.From))
	b = wire.AppendUvarint(b, uint64(f.To))
	b = wire.AppendUvarint(b, uint64(f.Versions))
	b = wire.AppendUvarint(b, uint64(f.CellsPerRow))
	b = wire.AppendBool(b, f.HasValue)
	return wire.AppendBytes(b, f.Value)
}

func decodeFilter(d *wire.Decoder) Filter {
	var f Filter
	for range d.Count(1) {
		f.Families = append(f.Families, d.String())
	}
	for range d.Count(1) {
		f.Qualifiers = append(f.Qualifiers, d.Bytes())
	}
	f.QualifierStart, f.QualifierEnd = d.Bytes(), d.Bytes()
	f.From, f.To = d.Timestamp(), d.Timestamp()
	f.Versions, f.CellsPerRow = int(d.Bounded(1<<31)), int(d.Bounded(1<<31))
	f.HasValue, f.Value = d.Bool(), d.Bytes()
	return f
}

func appendCell(b []byte, c *Cell) []byte {
	b = wire.AppendString(b, c.Family)
	b = wire.AppendBytes(b, c.Qualifier)
	b = wire.AppendUvarint(b, uint64(c.Timestamp))
	return wire.AppendBytes(b, c.Value)
}

// decodeCell takes the family's name from the cell before if it is the same, as it mostly is.
func decodeCell(d *wire.Decoder, family string) Cell {
	return Cell{Family: d.StringLike(family), Qualifier: d.Bytes(), Timestamp: d.Timestamp(), Value: d.Bytes()}
}

func appendRow(b []byte, r *Row) []byte {
	b = wire.AppendBytes(b, r.Key)
	b = wire.AppendUvarint(b, uint64(len(r.Cells)))
	for i := range r.Cells {
		b = appendCell(b, &r.Cells[i])
	}
	return b
}

// decodeRow puts the cells where those of other rows are, if there is such a place.
func decodeRow(d *wire.Decoder, family string, a *arena) Row {
	r := Row{Key: d.Bytes()}
	n := d.Count(4)
	if n > 0 {
		// What is announced has that many bytes at least, but a cell in memory is larger: junk must not make us allocate for it.
		r.Cells = a.room(min(n, 64))
	}
	for range n {
		c := decodeCell(d, family)
		family = c.Family
		r.Cells = append(r.Cells, c)
	}
	return r
}

// plan is a filter applied to a table: which locality groups to read, and what to keep.
type plan struct {
	f      *Filter
	t      *Table
	groups []kv.GroupID
	memory bool // one of the groups is in memory
	wanted [maxFamilies + 1]bool
	now    time.Time
	mem    *arena // where the cells of many rows go; nil: each is allocated by itself
}

func newPlan(t *Table, f *Filter) (*plan, error) {
	p := &plan{f: f, t: t, now: time.Now()}
	if f.To != 0 && f.To <= f.From {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "store", "the filter's time range [%d, %d) is empty", f.From, f.To)
	}
	want := func(fam *Family) {
		p.wanted[fam.ID] = true
		g := t.group(fam)
		p.memory = p.memory || g.InMemory
		if !slices.Contains(p.groups, g.ID) {
			p.groups = append(p.groups, g.ID)
		}
	}
	for _, name := range f.Families {
		fam, err := t.family(name)
		if err != nil {
			return nil, err
		}
		want(fam)
	}
	if len(f.Families) == 0 {
		for i := range t.Families {
			want(&t.Families[i])
		}
	}
	return p, nil
}

// torn reports whether a row read group by group could show one write in part. Then its latch keeps writers off meanwhile.
func (p *plan) torn() bool { return p.memory || len(p.groups) > 1 }

func (p *plan) iterate(r kv.Reader, g kv.GroupID, span kv.Span) (kv.Iterator, error) {
	o := kv.IterOptions{Group: g, Span: span}
	if p.f.To != 0 && p.f.To <= kv.MaxTimestamp {
		o.Max = p.f.To - 1
	}
	// Versions above To are hidden from the filter's count but not from the policy's, which counts from the newest on.
	if slices.ContainsFunc(p.t.Families, func(f Family) bool { return p.wanted[f.ID] && f.MaxVersions > 0 }) {
		o.Max = 0
	}
	return r.Iter(o)
}

// column appends the chosen cells of the column under the iterator to cells.
func (p *plan) column(it kv.Iterator, cells []Cell) []Cell {
	c := it.Column()
	fam := p.t.familyByID(c.Family)
	if fam == nil || !p.wanted[c.Family] || !p.qualifier(c.Qualifier) {
		return cells
	}
	oldest := fam.oldest(p.now)
	seen, timely := 0, 0
	var qualifier []byte
	for ok := true; ok; ok = it.NextVersion() {
		v := it.Version()
		seen++
		if fam.MaxVersions > 0 && seen > fam.MaxVersions || v.Timestamp < oldest || v.Timestamp < p.f.From {
			break
		}
		if p.f.To != 0 && v.Timestamp >= p.f.To {
			continue
		}
		if timely++; p.f.Versions > 0 && timely > p.f.Versions {
			break
		}
		if p.f.HasValue && !bytes.Equal(v.Value, p.f.Value) {
			continue
		}
		if qualifier == nil {
			qualifier = p.mem.clone(c.Qualifier)
		}
		cells = append(cells, Cell{Family: fam.Name, Qualifier: qualifier, Timestamp: v.Timestamp, Value: p.mem.clone(v.Value)})
	}
	return cells
}

// oldest is the smallest timestamp that the family's policy keeps.
func (f *Family) oldest(now time.Time) kv.Timestamp {
	if f.MaxAge == 0 {
		return 0
	}
	return kv.TimestampAt(now.Add(-f.MaxAge))
}

func (p *plan) qualifier(q []byte) bool {
	if len(p.f.Qualifiers) > 0 && !slices.ContainsFunc(p.f.Qualifiers, func(x []byte) bool { return bytes.Equal(x, q) }) {
		return false
	}
	return bytes.Compare(q, p.f.QualifierStart) >= 0 && (len(p.f.QualifierEnd) == 0 || bytes.Compare(q, p.f.QualifierEnd) < 0)
}

// row reads one row. Whoever calls it for a plan that could be torn holds the row's latch.
func (p *plan) row(r kv.Reader, key kv.RowKey) (Row, error) {
	row := Row{Key: bytes.Clone(key)}
	span := rowSpan(key)
	for _, g := range p.groups {
		it, err := p.iterate(r, g, span)
		if err != nil {
			return row, err
		}
		for it.NextColumn() {
			row.Cells = p.column(it, row.Cells)
		}
		if err := it.Close(); err != nil {
			return row, err
		}
	}
	p.finish(&row)
	return row, nil
}

// finish puts a row's cells in order and cuts them.
func (p *plan) finish(row *Row) {
	if len(p.groups) > 1 {
		// Within a group the order is right already; a stable sort by family keeps it.
		slices.SortStableFunc(row.Cells, func(a, b Cell) int {
			if a.Family == b.Family {
				return 0
			}
			fa, _ := p.t.family(a.Family)
			fb, _ := p.t.family(b.Family)
			return int(fa.ID) - int(fb.ID)
		})
	}
	if p.f.CellsPerRow > 0 && len(row.Cells) > p.f.CellsPerRow {
		row.Cells = row.Cells[:p.f.CellsPerRow]
	}
}

func rowSpan(key kv.RowKey) kv.Span {
	return kv.Span{Start: key, End: append(append(make(kv.RowKey, 0, len(key)+1), key...), 0)}
}
