package incview

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// View is an incremental view as its maintenance has it, under one version of the catalog.
type View struct {
	Shape *Shape
	layout
	view, contributions *store
	args                []*catalog.Index // over group and argument, nil where none is needed
	groupKey            *rowenc.KeyCodec
	argKeys             []*rowenc.KeyCodec // of single arguments
	// spells: values of a group that are equal may be written in several ways.
	spells bool
	// before: what is beside a row was found before it the last time, see beside.
	before  bool
	planted Planted
}

// store is a table of the view as cells.
type store struct {
	desc  *catalog.Table
	table *engine.Table
	types []sql.Type
	key   *rowenc.KeyCodec
}

func newStore(ctx *sql.Context, eng *engine.Engine, desc *catalog.Table) (*store, error) {
	s := &store{desc: desc}
	var err error
	if s.table, err = eng.TableOf(ctx, desc); err != nil {
		return nil, err
	}
	for _, c := range desc.Columns {
		t, err := c.Type.SQL()
		if err != nil {
			return nil, err
		}
		s.types = append(s.types, t)
	}
	at := desc.ColumnByID(desc.PrimaryKey[0].Column)
	s.key, err = rowenc.NewKeyCodec([]rowenc.KeyPart{{Type: s.types[at], PadSpace: true}})
	return s, err
}

// rowOf is where the row with that key is.
func (s *store) rowOf(ctx context.Context, key []byte) (kv.Column, error) {
	row, err := s.key.Encode(ctx, s.table.Span().Start, key)
	return kv.Column{Row: row}, err
}

func (s *store) get(ctx context.Context, t *txn.Txn, key []byte) (sql.Row, error) {
	c, err := s.rowOf(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.at(ctx, t, c)
}

func (s *store) at(ctx context.Context, t *txn.Txn, c kv.Column) (sql.Row, error) {
	v, ok, err := t.Get(ctx, c)
	if err != nil || !ok {
		return nil, err
	}
	return s.table.DecodeRow(v)
}

// write replaces a row by another; nil stands for none.
func (s *store) write(ctx *sql.Context, old, row sql.Row) (err error) {
	e := s.table.Updater(ctx).(sql.TableEditor)
	e.StatementBegin(ctx)
	switch {
	case old == nil:
		err = e.Insert(ctx, row)
	case row == nil:
		err = e.Delete(ctx, old)
	default:
		err = e.Update(ctx, old, row)
	}
	if err == nil {
		err = e.StatementComplete(ctx)
	}
	return errors.Join(err, e.Close(ctx))
}

// Compile makes a view of its descriptor. shape is that of its query.
func Compile(ctx *sql.Context, eng *engine.Engine, snap *catalog.Snapshot, desc *catalog.Table,
	shape *Shape) (*View, error) {
	v := &View{Shape: shape, layout: shape.layout()}
	of, ok := snap.TableByID(desc.Incremental.Contributions)
	if !ok {
		return nil, fmt.Errorf("incview: the contributions to %s are gone", desc.Name)
	}
	var err error
	if v.view, err = newStore(ctx, eng, desc); err != nil {
		return nil, err
	}
	if v.contributions, err = newStore(ctx, eng, of); err != nil {
		return nil, err
	}
	var parts []rowenc.KeyPart
	for i := range shape.Groups {
		t := v.contributions.types[v.group(i)]
		parts = append(parts, rowenc.KeyPart{Type: t, PadSpace: true})
		if text, is := t.(sql.StringType); is {
			c := text.Collation()
			v.spells = v.spells || c != sql.Collation_binary
		}
	}
	if v.groupKey, err = rowenc.NewKeyCodec(parts); err != nil {
		return nil, err
	}
	v.args = make([]*catalog.Index, len(shape.Args))
	v.argKeys = make([]*rowenc.KeyCodec, len(shape.Args))
	for i := range shape.Args {
		at := of.Index(fmt.Sprintf("a%d", i+1))
		if at < 0 {
			continue
		}
		v.args[i] = &of.Indexes[at]
		v.argKeys[i], err = rowenc.NewKeyCodec([]rowenc.KeyPart{{Type: v.contributions.types[v.arg(i)],
			PadSpace: true}})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// compact shortens a key to so many bytes at most; of a longer one a digest is the end. Two that are not the
// same stay so: the first byte says which of the two it is.
func compact(key []byte, most int) []byte {
	if len(key) < most {
		return append([]byte{0}, key...)
	}
	sum := sha256.Sum256(key)
	short := append([]byte{1}, key[:most-1-len(sum)]...)
	return append(short, sum[:]...)
}

// contribution makes a row of the contributions of what the query says of a row.
func (v *View) contribution(ctx *sql.Context, key []byte, parts sql.Row) (sql.Row, error) {
	row := make(sql.Row, len(v.contributions.types))
	row[0] = key
	for i := range v.Shape.Groups {
		row[v.group(i)] = parts[i]
	}
	for i := range v.Shape.Args {
		row[v.arg(i)] = parts[len(v.Shape.Groups)+i]
	}
	for i, t := range v.contributions.types {
		if i < 2 || row[i] == nil {
			continue
		}
		is, in, err := t.Convert(ctx, row[i])
		if err == nil && in != sql.InRange {
			err = fmt.Errorf("a value of %s is out of its range", v.contributions.desc.Columns[i].Name)
		}
		if err != nil {
			return nil, err
		}
		row[i] = is
	}
	group, err := v.groupKey.Encode(ctx, nil, row[2:2+len(v.Shape.Groups)]...)
	row[1] = compact(group, keyBytes)
	return row, err
}

// same reports whether two contributions are the same, byte by byte.
func (v *View) same(ctx context.Context, a, b sql.Row) (bool, error) {
	for i, t := range v.contributions.types {
		if a[i] == nil || b[i] == nil {
			if a[i] != nil || b[i] != nil {
				return false, nil
			}
			continue
		}
		same, err := sameBytes(ctx, t, a[i], b[i])
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

func sameBytes(ctx context.Context, t sql.Type, a, b any) (bool, error) {
	x, err := rowenc.AppendValue(ctx, nil, t, a)
	if err != nil {
		return false, err
	}
	y, err := rowenc.AppendValue(ctx, nil, t, b)
	return string(x) == string(y), err
}
