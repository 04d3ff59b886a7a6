// Package rowname says in SQL what a row key is: shop.line(1, 'x') for a row, shop.line.price(20, 1) for an
// entry of an index. It is for people, in what shows locks and tablets; nothing reads the names back.
package rowname

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// Names knows the tables of one moment. It is for one goroutine.
type Names struct {
	snap   *catalog.Snapshot
	rows   *txn.Txn // where rows are looked up; nil: nowhere
	tables map[uint32]*table
}

// New makes names of the tables in snap. What a key does not hold itself, since it has the weights of a
// collation, is read from the row, in rows.
func New(snap *catalog.Snapshot, rows *txn.Txn) *Names {
	return &Names{snap: snap, rows: rows, tables: map[uint32]*table{}}
}

// Name is what a key belongs to. Table is empty for what is no row of SQL.
type Name struct {
	Database, Table, Index string
	// Key is the key's columns as SQL writes them; empty for the place in front of the first entry of the
	// table or the index.
	Key string
}

// Primary is the Index of rows.
const Primary = "PRIMARY"

// maxText bounds a value in a name.
const maxText = 64

// String is the name in one word.
func (n Name) String() string {
	if n.Table == "" {
		return n.Key
	}
	s := n.Database + "." + n.Table
	if n.Index != Primary && n.Index != "" {
		s += "." + n.Index
	}
	if n.Key != "" {
		s += "(" + n.Key + ")"
	}
	return s
}

// Values are what a stored row holds, as SQL writes them: (1, 'pot', 3). Columns that are computed when they
// are read are not in it. What is no row of a table is shown in hexadecimals.
func (n *Names) Values(ctx context.Context, row kv.RowKey, stored []byte) string {
	b := row.Row()
	if row.Table() == kv.TableTxn && len(b) >= 9 && b[0] == 0x10 {
		t, ok := n.table(binary.BigEndian.Uint32(b[1:]))
		if ok && t.rows != nil && binary.BigEndian.Uint32(b[5:]) == t.desc.RowIndex {
			if text, err := t.text(ctx, stored); err == nil {
				return text
			}
		}
	}
	if len(stored) > maxText/2 {
		return "0x" + hex.EncodeToString(stored[:maxText/2]) + "…"
	}
	return "0x" + hex.EncodeToString(stored)
}

// text writes the values of a stored row.
func (t *table) text(ctx context.Context, stored []byte) (string, error) {
	values, err := t.rows.Project(nil).Decode(stored)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(values))
	for id, at := range t.at {
		p := part{column: id, text: "?"}
		p.set(ctx, t, values[at])
		texts[at] = p.text
	}
	return "(" + strings.Join(texts, ", ") + ")", nil
}

// table is what is needed to read the keys of one table.
type table struct {
	desc    *catalog.Table
	indexes map[uint32]*index
	rows    *rowenc.RowCodec
	at      map[uint32]int // columns of rows by id
	types   map[uint32]sql.Type
}

type index struct {
	name    string
	columns []catalog.IndexColumn
	codec   *rowenc.KeyCodec
}

// Of names a row key. Keys that cannot be read are shown in hexadecimals.
func (n *Names) Of(ctx context.Context, row kv.RowKey) Name {
	b := row.Row()
	switch {
	case len(row) < 4:
		return Name{}
	case row.Table() != kv.TableTxn && len(b) == 0:
		return Name{Key: "table " + strconv.FormatUint(uint64(row.Table()), 10) + " of the store"}
	case row.Table() == kv.TableTxn && len(b) == 0:
		return Name{Key: "the catalog"}
	case row.Table() != kv.TableTxn || b[0] != 0x10 || len(b) < 5: // the box is in engine/table.go
		return Name{Key: "0x" + hex.EncodeToString(row)}
	}
	t, ok := n.table(binary.BigEndian.Uint32(b[1:]))
	if !ok {
		return Name{Key: "0x" + hex.EncodeToString(row)}
	}
	name := Name{Table: t.desc.Name, Index: Primary}
	if d, ok := n.snap.DatabaseByID(t.desc.DatabaseID); ok {
		name.Database = d.Name
	}
	if len(b) < 9 {
		return name
	}
	id, key := binary.BigEndian.Uint32(b[5:]), b[9:]
	x := t.indexes[id]
	if x != nil {
		name.Index = x.name
	} else if id != t.desc.RowIndex {
		name.Index = "index " + strconv.FormatUint(uint64(id), 10)
	}
	if len(key) > 0 {
		name.Key = n.key(ctx, t, id, x, row, key)
	}
	return name
}

func (n *Names) table(id uint32) (*table, bool) {
	if t, ok := n.tables[id]; ok {
		return t, t != nil
	}
	desc, ok := n.snap.TableByID(id)
	if !ok {
		n.tables[id] = nil
		return nil, false
	}
	t := &table{desc: desc, indexes: map[uint32]*index{}, at: map[uint32]int{}, types: map[uint32]sql.Type{}}
	var columns []rowenc.Column
	for i := range desc.Columns {
		c := &desc.Columns[i]
		typ, err := c.Type.SQL()
		if err != nil {
			continue
		}
		t.types[c.ID] = typ
		if c.State == catalog.StatePublic {
			t.at[c.ID] = len(columns)
			columns = append(columns, rowenc.Column{ID: c.ID, Type: typ})
		}
	}
	t.rows, _ = rowenc.NewRowCodec(columns)
	add := func(id uint32, name string, cols []catalog.IndexColumn, padded bool) {
		parts := make([]rowenc.KeyPart, len(cols))
		for i, c := range cols {
			if t.types[c.Column] == nil {
				return
			}
			parts[i] = rowenc.KeyPart{Type: t.types[c.Column], PrefixLength: int(c.PrefixLength),
				PadSpace: padded}
		}
		x := &index{name: name, columns: cols}
		x.codec, _ = rowenc.NewKeyCodec(parts)
		t.indexes[id] = x
	}
	if len(desc.PrimaryKey) > 0 {
		add(desc.RowIndex, Primary, desc.PrimaryKey, desc.PadSpace)
	}
	for i := range desc.Indexes {
		if x := &desc.Indexes[i]; x.FullText {
			t.indexes[x.ID] = &index{name: x.Name}
		} else {
			add(x.ID, x.Name, x.Columns, x.PadSpace)
		}
	}
	n.tables[id] = t
	return t, true
}

// key names the columns of a key of an index, which is nil for the rows of a table without a primary key.
func (n *Names) key(ctx context.Context, t *table, id uint32, x *index, row kv.RowKey, key []byte) string {
	switch {
	case x == nil && id == t.desc.RowIndex && len(key) == 8:
		return "row " + strconv.FormatUint(binary.BigEndian.Uint64(key), 10)
	case x == nil || x.codec == nil:
		return "0x" + hex.EncodeToString(key)
	}
	parts, rest, whole := x.read(ctx, t, key)
	if x.name != Primary && len(rest) > 0 { // behind an entry's columns is its row's key
		if p := t.indexes[t.desc.RowIndex]; p != nil && p.codec != nil {
			row = append(row[:len(row)-len(key):len(row)-len(key)], rest...)
			binary.BigEndian.PutUint32(row[len(row)-len(rest)-4:], t.desc.RowIndex)
			more, _, ok := p.read(ctx, t, rest)
			parts, whole = append(parts, more...), whole && ok
		} else if len(rest) == 8 {
			parts = append(parts, part{text: "row " + strconv.FormatUint(binary.BigEndian.Uint64(rest), 10)})
		}
	}
	if !whole {
		n.fill(ctx, t, row, parts)
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.text
	}
	return strings.Join(texts, ", ")
}

// part is one column of a key. Its text is the key's bytes until it is known better.
type part struct {
	column uint32
	text   string
	known  bool
}

// read reads the columns of an index that a key holds, and returns what is behind them.
func (x *index) read(ctx context.Context, t *table, key []byte) (parts []part, rest []byte, whole bool) {
	whole = true
	at := key
	for i, c := range x.columns {
		_, tail, err := x.codec.Split(key, i+1)
		if err != nil { // a place between rows may be named by the first columns, or by bytes that are none
			if len(at) > 0 {
				parts = append(parts, part{text: "0x" + hex.EncodeToString(at), known: true})
			}
			return parts, nil, whole
		}
		p := part{column: c.Column, text: "0x" + hex.EncodeToString(at[:len(at)-len(tail)])}
		if len(p.text) > maxText {
			p.text = p.text[:maxText] + "…"
		}
		if x.codec.Decodable(i) {
			values := make([]any, i+1)
			if _, err := x.codec.Decode(key, values); err == nil {
				p.set(ctx, t, values[i])
			}
		}
		whole = whole && p.known
		parts, at = append(parts, p), tail
	}
	return parts, at, whole
}

// set gives the part its value.
func (p *part) set(ctx context.Context, t *table, v any) {
	if v == nil {
		p.text, p.known = "NULL", true
		return
	}
	value, err := t.types[p.column].SQL(sql.NewContext(ctx), nil, v)
	if err != nil {
		return
	}
	text := value.ToString()
	if value.IsQuoted() {
		if r := []rune(text); len(r) > maxText {
			text = string(r[:maxText]) + "…"
		}
		text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	p.text, p.known = text, true
}

// fill reads from the row what its key does not hold.
func (n *Names) fill(ctx context.Context, t *table, row kv.RowKey, parts []part) {
	if n.rows == nil || t.rows == nil {
		return
	}
	stored, ok, err := n.rows.Get(ctx, kv.Column{Row: row})
	if err != nil || !ok {
		return
	}
	values, err := t.rows.Project(nil).Decode(stored)
	if err != nil {
		return
	}
	for i := range parts {
		p := &parts[i]
		if at, ok := t.at[p.column]; ok && !p.known {
			p.set(ctx, t, values[at])
		}
	}
}
