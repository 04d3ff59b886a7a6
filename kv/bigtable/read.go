package bigtable

import (
	"bytes"

	"moka/kv"
	"moka/kv/wire"
)

// ReadRowRequest reads one row.
type ReadRowRequest struct {
	Row    kv.RowKey
	Filter Filter
}

// ReadRowResponse is the row; without cells, if none is there that the filter chooses.
type ReadRowResponse struct{ Row Row }

// ReadRowsRequest reads the rows of some ranges in order. The ranges lie in one table and in tablets of one shard.
type ReadRowsRequest struct {
	Spans  []kv.Span
	Filter Filter
	Rows   int // at most; zero is the server's own bound
}

// ReadRowsResponse is what was read. If More, the bounds of the request or of the server were met: read on at Next.
type ReadRowsResponse struct {
	Rows []Row
	More bool
	Next kv.RowKey

	mem *arena // of the rows, if Release may give it to others
}

// The server's own bounds on one response.
const (
	maxRows      = 10_000
	maxRowsBytes = 4 << 20
	maxSpans     = 1000
	maxVisited   = 1 << 18
	readVersion  = 1
)

// AppendTo appends: version | bytes row | filter.
func (m *ReadRowRequest) AppendTo(b []byte) []byte {
	return m.Filter.appendTo(wire.AppendBytes(append(b, readVersion), m.Row))
}

// Decode reads what AppendTo wrote.
func (m *ReadRowRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, readVersion)
	m.Row, m.Filter = d.Bytes(), decodeFilter(&d)
	return wire.Wrap("ReadRowRequest", d.Finish())
}

// AppendTo appends: version | row.
func (m *ReadRowResponse) AppendTo(b []byte) []byte { return appendRow(append(b, readVersion), &m.Row) }

// Decode reads what AppendTo wrote.
func (m *ReadRowResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, readVersion)
	m.Row = decodeRow(&d, "", nil)
	return wire.Wrap("ReadRowResponse", d.Finish())
}

// AppendTo appends: version | uvarint count | bytes starts and ends | filter | uvarint rows.
func (m *ReadRowsRequest) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, readVersion), uint64(len(m.Spans)))
	for _, s := range m.Spans {
		b = wire.AppendBytes(wire.AppendBytes(b, s.Start), s.End)
	}
	return wire.AppendUvarint(m.Filter.appendTo(b), uint64(m.Rows))
}

// Decode reads what AppendTo wrote.
func (m *ReadRowsRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, readVersion)
	m.Spans = nil
	for range d.Count(2) {
		m.Spans = append(m.Spans, kv.Span{Start: d.Bytes(), End: d.Bytes()})
	}
	m.Filter, m.Rows = decodeFilter(&d), int(d.Bounded(1<<31))
	return wire.Wrap("ReadRowsRequest", d.Finish())
}

// AppendTo appends: version | uvarint count | rows | bool more | bytes next.
func (m *ReadRowsResponse) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, readVersion), uint64(len(m.Rows)))
	for i := range m.Rows {
		b = appendRow(b, &m.Rows[i])
	}
	return wire.AppendBytes(wire.AppendBool(b, m.More), m.Next)
}

// SizeHint implements kv.Sizer.
func (m *ReadRowsResponse) SizeHint() int {
	n := 32 + len(m.Next)
	for i := range m.Rows {
		n += 8 + len(m.Rows[i].Key)
		for k := range m.Rows[i].Cells {
			c := &m.Rows[i].Cells[k]
			n += 24 + len(c.Family) + len(c.Qualifier) + len(c.Value)
		}
	}
	return n
}

// Release implements kv.Releaser.
func (m *ReadRowsResponse) Release() {
	if a := m.mem; a != nil {
		a.rows, m.Rows, m.mem = m.Rows, nil, nil
		a.release()
	}
}

// Decode reads what AppendTo wrote. The rows share one piece of memory: who keeps a cell of many rows copies it.
func (m *ReadRowsResponse) Decode(b []byte) error { return m.DecodeOwn(bytes.Clone(b)) }

// DecodeOwn implements kv.OwnDecoder: that piece is b.
func (m *ReadRowsResponse) DecodeOwn(b []byte) error {
	d := wire.NewDecoder(b, readVersion)
	d.Share()
	n := d.Count(2)
	m.Rows = make([]Row, 0, min(n, maxRows))
	var family string
	var cells arena
	for range n {
		r := decodeRow(&d, family, &cells)
		if len(r.Cells) > 0 {
			family = r.Cells[0].Family
		}
		m.Rows = append(m.Rows, r)
	}
	m.More, m.Next = d.Bool(), d.Bytes()
	return wire.Wrap("ReadRowsResponse", d.Finish())
}

// rawReader is what the shard offers to reads without transactions: see shard.RawReader, which this mirrors so that the
// operations do not depend on the shard.
type rawReader interface {
	AwaitRow(row kv.RowKey) error
	AwaitSpan(span kv.Span) error
	LatchRow(row kv.RowKey) (release func(), err error)
}

// served checks that the shard has all of a range: what it does not have would look like rows that do not exist.
func served(e kv.Eval, span kv.Span) error {
	at := span.Start
	for {
		t, ok := e.Shard().(interface {
			Find(row kv.RowKey) (kv.Tablet, bool)
		}).Find(at)
		if !ok {
			return kv.Errorf(kv.CodeMoved, "store.ReadRows", "row %x is not on shard %d; locate it again", []byte(at), e.Shard().ID())
		}
		if len(t.Span.End) == 0 || len(span.End) > 0 && bytes.Compare(t.Span.End, span.End) >= 0 {
			return nil
		}
		at = t.Span.End
	}
}

func (c *Coprocessor) readRow(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*ReadRowRequest)
	t, err := c.tables.get(m.Row)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(t, &m.Filter)
	if err != nil {
		return nil, err
	}
	if err := served(e, rowSpan(m.Row)); err != nil {
		return nil, err
	}
	row, err := p.settledRow(e, m.Row)
	if err != nil {
		return nil, err
	}
	return &ReadRowResponse{Row: row}, nil
}

// settledRow reads a row of which every cell is durable.
func (p *plan) settledRow(e kv.Eval, key kv.RowKey) (Row, error) {
	raw := e.(rawReader)
	if p.torn() {
		release, err := raw.LatchRow(key)
		if err != nil {
			return Row{}, err
		}
		defer release()
		return p.row(e, key)
	}
	row, err := p.row(e, key)
	if err == nil {
		err = raw.AwaitRow(key)
	}
	return row, err
}

func (c *Coprocessor) readRows(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*ReadRowsRequest)
	if len(m.Spans) == 0 || len(m.Spans) > maxSpans {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "store.ReadRows", "%d row ranges: name 1 to %d", len(m.Spans), maxSpans)
	}
	t, err := c.tables.get(m.Spans[0].Start)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(t, &m.Filter)
	if err != nil {
		return nil, err
	}
	p.mem = arenas.Get().(*arena)
	s := &rowScan{p: p, e: e, limit: m.Rows, out: ReadRowsResponse{Rows: p.mem.rows[:0], mem: p.mem}}
	if s.limit == 0 || s.limit > maxRows {
		s.limit = maxRows
	}
	for i, span := range m.Spans {
		if !within(span, t.Span()) || i > 0 && (len(m.Spans[i-1].End) == 0 || bytes.Compare(span.Start, m.Spans[i-1].End) < 0) {
			return nil, kv.Errorf(kv.CodeInvalidArgument, "store.ReadRows", "row ranges must lie in one table, in order and apart")
		}
		if err := served(e, span); err != nil {
			return nil, err
		}
		if p.torn() {
			err = s.rowByRow(span)
		} else {
			err = s.through(span)
		}
		if err != nil {
			return nil, err
		}
		if s.out.More {
			break
		}
	}
	return &s.out, nil
}

func within(s, outer kv.Span) bool {
	return bytes.Compare(s.Start, outer.Start) >= 0 && len(s.End) > 0 && bytes.Compare(s.End, outer.End) <= 0 && bytes.Compare(s.Start, s.End) <= 0
}

// rowScan collects rows until a bound is met.
type rowScan struct {
	p       *plan
	e       kv.Eval
	limit   int
	bytes   int
	visited int // rows, also those of which the filter chose nothing
	out     ReadRowsResponse
}

func (s *rowScan) full(next kv.RowKey) bool {
	if s.visited++; len(s.out.Rows) < s.limit && s.bytes < maxRowsBytes && s.visited <= maxVisited {
		return false
	}
	s.out.More, s.out.Next = true, bytes.Clone(next)
	return true
}

func (s *rowScan) add(r Row) {
	s.p.finish(&r)
	if len(r.Cells) == 0 {
		return
	}
	s.bytes += len(r.Key)
	for i := range r.Cells {
		s.bytes += 32 + len(r.Cells[i].Qualifier) + len(r.Cells[i].Value)
	}
	r.Cells = s.p.mem.keep(r.Cells)
	s.out.Rows = append(s.out.Rows, r)
}

// through reads one locality group with one iterator: its snapshot holds each row whole.
func (s *rowScan) through(span kv.Span) error {
	it, err := s.p.iterate(s.e, s.p.groups[0], span)
	if err != nil {
		return err
	}
	defer it.Close()
	var row Row
	for it.NextColumn() {
		if c := it.Column(); row.Key == nil || !bytes.Equal(c.Row, row.Key) {
			if row.Key != nil {
				s.add(row)
			}
			if s.full(c.Row) {
				row = Row{}
				span.End = s.out.Next
				break
			}
			row = Row{Key: s.p.mem.clone(c.Row), Cells: row.Cells[:0]}
		}
		row.Cells = s.p.column(it, row.Cells)
	}
	if row.Key != nil {
		s.add(row)
	}
	if err := it.Err(); err != nil {
		return err
	}
	return s.e.(rawReader).AwaitSpan(span)
}

// rowByRow finds the next row in any of the groups and reads it under its latch.
func (s *rowScan) rowByRow(span kv.Span) error {
	for {
		var next kv.RowKey
		for _, g := range s.p.groups {
			it, err := s.e.Iter(kv.IterOptions{Group: g, Span: span})
			if err != nil {
				return err
			}
			if it.NextColumn() {
				if r := it.Column().Row; next == nil || bytes.Compare(r, next) < 0 {
					next = bytes.Clone(r)
				}
			}
			if err := it.Close(); err != nil {
				return err
			}
		}
		if next == nil || s.full(next) {
			return nil
		}
		row, err := s.p.settledRow(s.e, next)
		if err != nil {
			return err
		}
		s.add(row)
		span.Start = append(next, 0)
	}
}
