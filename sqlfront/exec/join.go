package exec

import (
	"bytes"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/eval"
	"moka/sqlfront/operator"
	"moka/sqlfront/plan"
	"moka/sqlfront/rowenc"
)

var countType = types.Int64

// partners finds the rows of a source that belong to a row, which is the i-th of its batch.
type partners func(i int, row sql.Row) ([]sql.Row, error)

// join finds the rows of source n for a batch of rows, and sends the pairs on.
func (b *block) join(ctx *sql.Context, n int, rows []sql.Row) error {
	s := b.q.Sources[n]
	var of partners
	var err error
	if s.Table != nil && s.Access.Depends() {
		of, err = b.lookup(ctx, s, rows)
	} else {
		of, err = b.inMemory(ctx, n)
	}
	if err != nil {
		return err
	}
	var out []sql.Row
	for i, row := range rows {
		found, err := of(i, row)
		if err != nil {
			return err
		}
		matched := false
		for j, right := range found {
			wide := row
			if j < len(found)-1 || s.Left {
				wide = b.wide()
				copy(wide, row)
			}
			copy(wide[s.Slot:s.Slot+s.Width], right)
			ok, err := b.pass(ctx, s.On, wide)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			matched = true
			if ok, err = b.pass(ctx, s.After, wide); err != nil {
				return err
			}
			if ok {
				out = append(out, wide)
			}
		}
		if s.Left && !matched {
			ok, err := b.pass(ctx, s.After, row)
			if err != nil {
				return err
			}
			if ok {
				out = append(out, row)
			}
		}
		if len(out) >= batchRows {
			if err := b.through(ctx, n+1, out); err != nil {
				return err
			}
			out = nil
			if len(b.rows) >= b.most {
				return nil
			}
		}
	}
	return b.through(ctx, n+1, out)
}

// lookup reads the rows of a source whose key depends on the rows before, for a whole batch of these. Rows
// are given to whom they belong by the bytes of their keys: equal values have equal ones.
func (b *block) lookup(ctx *sql.Context, s *plan.Source, rows []sql.Row) (partners, error) {
	a := &s.Access
	l := &lookup{block: b, access: a, found: make(map[string][]sql.Row, len(rows))}
	keys := make([][]byte, len(rows)) // of each row; nil for one that looks for nothing
	values := make([]any, len(a.Equal))
	var ranges sql.MySQLRangeCollection
	var spans []rowenc.Span
	for i, row := range rows {
		key, err := l.key(ctx, row, values)
		if err != nil {
			return nil, err
		}
		if keys[i] = key; key == nil {
			continue
		}
		if _, asked := l.found[string(key)]; asked {
			continue
		}
		l.found[string(key)] = nil
		if a.Lower == nil && a.Upper == nil {
			if span, ok := a.Key.Codec.Point(a.Key.Prefix, key, len(values)); ok {
				spans = append(spans, span)
				continue
			}
		}
		rng, err := b.rangeOf(a, slices.Clone(values))
		if err != nil {
			return nil, err
		}
		if rng == nil {
			continue // nothing is less or greater than NULL
		}
		ranges = append(ranges, rng)
	}
	if len(ranges) > 0 {
		var err error
		if spans, err = exactSpans(ctx, a.Key, ranges); err != nil {
			return nil, err
		}
	} else {
		slices.SortFunc(spans, func(a, b rowenc.Span) int { return bytes.Compare(a.Start, b.Start) })
	}
	if len(spans) > 0 {
		if err := b.fetch(ctx, s, spans, l); err != nil {
			return nil, err
		}
	}
	return func(i int, _ sql.Row) ([]sql.Row, error) {
		if keys[i] == nil {
			return nil, nil
		}
		return l.found[string(keys[i])], nil
	}, nil
}

// fetch reads the rows and files them under their keys.
func (b *block) fetch(ctx *sql.Context, s *plan.Source, spans []rowenc.Span, l *lookup) error {
	at := s.KeyColumns
	n, size := 0, int64(0)
	values := make([]any, len(s.Access.Equal))
	var key []byte
	read := Read{Table: s.Table, Key: s.Access.Key, Spans: spans, Batch: batchRows}
	return b.run.Store.Read(ctx, read, func(row sql.Row) (bool, error) {
		n++
		if size += operator.RowBytes(row); n > b.run.Limits.Rows || size > b.run.Limits.Bytes {
			return false, ErrTooLarge
		}
		for i := range values {
			values[i] = row[at[i]]
		}
		var err error
		if key, err = s.Access.Key.Codec.Encode(ctx, key[:0], values...); err != nil {
			return false, eval.ErrUnsure
		}
		l.found[string(key)] = append(l.found[string(key)], row)
		return true, nil
	})
}

// lookup is one batch of lookups.
type lookup struct {
	block  *block
	access *plan.Access
	found  map[string][]sql.Row
	bytes  []byte // of keys, one behind the other
}

// key is what a row looks for, the bytes of a key, whose values it leaves in values; nil if one is NULL.
func (l *lookup) key(ctx *sql.Context, row sql.Row, values []any) ([]byte, error) {
	for i := range l.access.Equal {
		v, err := l.block.value(&l.access.Equal[i], row)
		if err != nil || v == nil {
			return nil, err
		}
		values[i] = v
	}
	begin := len(l.bytes)
	all, err := l.access.Key.Codec.Encode(ctx, l.bytes, values...)
	if err != nil {
		return nil, eval.ErrUnsure
	}
	l.bytes = all
	return all[begin:len(all):len(all)], nil
}

// value is what a key's column has to be for a row; nil for NULL.
func (b *block) value(v *plan.Value, row sql.Row) (any, error) {
	var x any
	switch {
	case v.Slot >= 0:
		x = row[v.Slot]
	case v.Subquery:
		x = b.frame.Results[v.Result].Value()
	default:
		return v.Operand.Value(b.frame, v.Type)
	}
	if n, ok := rowenc.Int64(x); ok && types.IsInteger(v.Type) {
		return n, nil // whatever its width is
	}
	return x, nil
}

// loaded is a source that is read once.
type loaded struct {
	rows  []sql.Row
	keys  *collate.RowKeys
	found map[string][]sql.Row // by what it is matched with, if there is anything
}

// inMemory reads a source that depends on no row, the first time that it is asked for.
func (b *block) inMemory(ctx *sql.Context, n int) (partners, error) {
	s := b.q.Sources[n]
	l := b.loaded[n]
	if l == nil {
		l = &loaded{}
		err := b.source(ctx, s, func(row sql.Row) (bool, error) {
			if len(l.rows) >= b.run.Limits.Rows {
				return false, ErrTooLarge
			}
			l.rows = append(l.rows, row)
			return true, b.run.keep(operator.RowBytes(row))
		})
		if err != nil {
			return nil, err
		}
		if err := l.index(ctx, s); err != nil {
			return nil, err
		}
		b.loaded[n] = l
	}
	match := s.Access.Hash
	if len(match) == 0 {
		return func(int, sql.Row) ([]sql.Row, error) { return l.rows, nil }, nil
	}
	probe := make(sql.Row, len(match))
	return func(_ int, row sql.Row) ([]sql.Row, error) {
		for i, m := range match {
			if probe[i] = row[m.Slot]; probe[i] == nil {
				return nil, nil
			}
		}
		key, err := l.keys.Of(ctx, probe)
		return l.found[string(key)], err
	}, nil
}

// index files the rows under the columns that they are matched by.
func (l *loaded) index(ctx *sql.Context, s *plan.Source) error {
	match := s.Access.Hash
	if len(match) == 0 {
		return nil
	}
	ts := make([]sql.Type, len(match))
	for i, m := range match {
		ts[i] = m.Type
	}
	l.keys, l.found = collate.NewRowKeys(ts), map[string][]sql.Row{}
	key := make(sql.Row, len(match))
rows:
	for _, row := range l.rows {
		for i, m := range match {
			if key[i] = row[m.Column]; key[i] == nil {
				continue rows
			}
		}
		k, err := l.keys.Of(ctx, key)
		if err != nil {
			return err
		}
		l.found[string(k)] = append(l.found[string(k)], row)
	}
	return nil
}
