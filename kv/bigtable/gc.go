package bigtable

import (
	"bytes"
	"time"

	"moka/kv"
	"moka/kv/wire"
)

// Garbage is what lies beyond a family's policy. It is invisible to reads, and goes in two ways: a write to a column takes
// the column's garbage along, and a sweep in the background looks for what nobody writes to any more.

// SweepRequest removes the garbage of some rows. The response is Empty.
type SweepRequest struct{ Rows []kv.RowKey }

const sweepVersion = 1

// AppendTo appends: version | uvarint count | bytes rows.
func (m *SweepRequest) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, sweepVersion), uint64(len(m.Rows)))
	for _, r := range m.Rows {
		b = wire.AppendBytes(b, r)
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *SweepRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, sweepVersion)
	m.Rows = nil
	for range d.Count(1) {
		m.Rows = append(m.Rows, d.Bytes())
	}
	return wire.Wrap("SweepRequest", d.Finish())
}

// sweep loads every column of the rows; what flush does not keep is deleted.
func (c *Coprocessor) sweep(e kv.Eval, req kv.Message) (kv.Message, error) {
	for _, row := range req.(*SweepRequest).Rows {
		w, err := newWriter(c, e, row)
		if err != nil {
			return nil, err
		}
		for i := range w.t.Families {
			if f := &w.t.Families[i]; f.bounded() {
				if err := w.loadFamily(f); err != nil {
					return nil, err
				}
			}
		}
		w.flush()
	}
	return &Empty{}, nil
}

func (f *Family) bounded() bool { return f.MaxVersions > 0 || f.MaxAge > 0 }

// Garbage looks through the rows of a span, at most visit of them, for such with garbage. next is where to go on, nil at the end.
func Garbage(r kv.Reader, t *Table, span kv.Span, visit int) (rows []kv.RowKey, next kv.RowKey, err error) {
	now := time.Now()
	// The groups are walked one after the other over the same rows: the first one sets how far.
	for _, g := range t.LocalityGroups {
		it, err := r.Iter(kv.IterOptions{Group: g.ID, Span: span})
		if err != nil {
			return nil, nil, err
		}
		seen := 0
		var last kv.RowKey
		for it.NextColumn() {
			c := it.Column()
			if !bytes.Equal(c.Row, last) {
				if seen++; seen > visit {
					next = bytes.Clone(c.Row)
					span.End = next
					break
				}
				last = append(last[:0], c.Row...)
			}
			if n := len(rows); n > 0 && bytes.Equal(rows[n-1], c.Row) {
				continue
			}
			if f := t.familyByID(c.Family); f != nil && f.bounded() && garbage(it, f, now) {
				rows = append(rows, bytes.Clone(c.Row))
			}
		}
		if err := it.Close(); err != nil {
			return nil, nil, err
		}
	}
	return rows, next, nil
}

func garbage(it kv.Iterator, f *Family, now time.Time) bool {
	oldest := f.oldest(now)
	n := 0
	for ok := true; ok; ok = it.NextVersion() {
		if n++; f.MaxVersions > 0 && n > f.MaxVersions || it.Version().Timestamp < oldest {
			return true
		}
	}
	return false
}
