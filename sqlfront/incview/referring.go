package incview

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// Referring calls each with the rows of the anchor that refer to a row of a joined table, through the tables
// between, at t's snapshot. suffix is the row's key behind its table's prefix: what refers to it has the same
// bytes in the index over the columns that do.
func (v *View) Referring(ctx context.Context, t *txn.Txn, use int, suffix []byte,
	each func(kv.Column) error) (err error) {
	src := v.Shape.Sources[use]
	parent := v.Shape.Sources[src.Parent].Table
	at := parent.RowIndex
	var index *catalog.Index
	if src.Index != 0 {
		at = src.Index
		for i := range parent.Indexes {
			if parent.Indexes[i].ID == at {
				index = &parent.Indexes[i]
			}
		}
		if index == nil {
			return fmt.Errorf("incview: index %d of %s is gone", at, parent.Name)
		}
	}
	prefix := engine.FirstRow(&catalog.Table{ID: parent.ID, RowIndex: at})
	start := append(bytes.Clone(prefix), suffix...)
	s := t.Scan(ctx, txn.ScanOptions{Span: kv.Span{Start: start, End: append(bytes.Clone(start), 0xFF)},
		Batch: 256})
	defer func() { err = errors.Join(err, s.Close()) }()
	for s.Next() {
		if !engine.IsRow(s.Column()) {
			continue // an acknowledgement
		}
		found := s.Column().Row[len(prefix):]
		if index != nil {
			if found, err = keyOf(parent, index, found, s.Value()); err != nil {
				return err
			}
		}
		found = bytes.Clone(found)
		if src.Parent > 0 {
			if err := v.Referring(ctx, t, src.Parent, found, each); err != nil {
				return err
			}
			continue
		}
		row := append(bytes.Clone(engine.FirstRow(parent)), found...)
		if err := each(kv.Column{Row: row}); err != nil {
			return err
		}
	}
	return s.Err()
}

// keyOf is the key of the row, behind its prefix, to which an entry of an index leads.
func keyOf(t *catalog.Table, x *catalog.Index, entry, value []byte) ([]byte, error) {
	if x.Unique {
		if len(value) == 0 {
			return nil, fmt.Errorf("incview: an entry of %s.%s leads nowhere", t.Name, x.Name)
		}
		return value[1:], nil
	}
	var parts []rowenc.KeyPart
	for _, c := range x.Columns {
		typ, err := t.Columns[t.ColumnByID(c.Column)].Type.SQL()
		if err != nil {
			return nil, err
		}
		parts = append(parts, rowenc.KeyPart{Type: typ, PrefixLength: int(c.PrefixLength),
			PadSpace: x.PadSpace})
	}
	codec, err := rowenc.NewKeyCodec(parts)
	if err != nil {
		return nil, err
	}
	_, tail, err := codec.Split(entry, codec.Len())
	return tail, err
}
