package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/fulltext"
	"moka/sqlfront/rowenc"
)

// index is a key of a table: the primary key, whose cells are the rows, or a secondary index, a table of its own.
//
//	primary    key = primary key columns                          value = the row
//	keyless    key = hidden row id (u64)                          value = the row
//	unique     key = index columns [, primary key if one is NULL] value = 01, primary key bytes
//	secondary  key = index columns, primary key                   value = 01
//	fulltext   one for each word: see fulltext.go
//
// An entry therefore always leads to its row, and a unique key's entries collide exactly when the values do.
type index struct {
	table    *Table
	id       string // the name; PRIMARY for the primary key, in capitals, which the engine's cost model looks at
	num      uint32
	prefix   kv.RowKey
	cols     []int // positions in the table's schema
	lengths  []uint16
	descends []bool // as it was declared; keys ascend
	codec    *rowenc.KeyCodec
	// unordered: entries do not lie in the order of the values, or values that are equal in different places: keys of prefixes, or
	// keys older than padding of collations that pad (loose).
	unordered, loose bool
	// folded: a column is a TIMESTAMP in a zone whose clocks are turned: entries lie in the order of instants, and two of them may have the
	// same times of day.
	folded   bool
	unique   bool
	primary  bool
	implicit bool
	state    catalog.State
	comment  string
	words    *fulltext.Analyzer // of a FULLTEXT index; nil for all others

	exprs    []string
	types    []sql.ColumnExpressionType
	extended []string
	extTypes []sql.ColumnExpressionType
	extCols  []int
}

const entryVersion = 1

var (
	_ sql.Index         = (*index)(nil)
	_ sql.OrderedIndex  = (*index)(nil)
	_ sql.ExtendedIndex = (*index)(nil)
)

func (t *Table) buildIndexes(position map[uint32]int) error {
	if len(t.desc.PrimaryKey) > 0 {
		x, err := t.newIndex("PRIMARY", t.desc.RowIndex, t.desc.PrimaryKey, t.desc.PadSpace, position)
		if err != nil {
			return err
		}
		x.unique, x.primary = true, true
		t.primary = x
		t.keys = append(t.keys, x)
	}
	for i := range t.desc.Indexes {
		d := &t.desc.Indexes[i]
		if d.FullText {
			x, err := t.newTextIndex(d, position)
			if err != nil {
				return err
			}
			t.texts = append(t.texts, x)
			continue
		}
		x, err := t.newIndex(d.Name, d.ID, d.Columns, d.PadSpace, position)
		if err != nil {
			return err
		}
		x.unique, x.implicit, x.state, x.comment = d.Unique, d.Implicit, d.State, d.Comment
		t.keys = append(t.keys, x)
	}
	for _, x := range t.keys {
		x.extend()
		t.virtualKeys = t.virtualKeys || x.onVirtual()
		if x.state == catalog.StatePublic {
			t.public = append(t.public, x)
		}
	}
	slices.SortStableFunc(t.public, func(a, b sql.Index) int { return a.(*index).rank() - b.(*index).rank() })
	return nil
}

// rank is where MySQL has the index among those of its table: it looks at unique keys first.
func (x *index) rank() int {
	switch {
	case x.primary:
		return 0
	case !x.unique:
		return 3
	}
	for _, o := range x.cols {
		if x.table.pk.Schema[o].Nullable {
			return 2
		}
	}
	return 1
}

func (t *Table) newIndex(name string, num uint32, cols []catalog.IndexColumn, padded bool, position map[uint32]int) (*index, error) {
	x := &index{table: t, id: name, num: num, prefix: indexPrefix(t.desc.ID, num)}
	parts := make([]rowenc.KeyPart, len(cols))
	prefixed := false
	for i, c := range cols {
		p, ok := position[c.Column]
		if !ok {
			return nil, fmt.Errorf("engine: index %s of %s.%s: column id %d is not public", name, t.db, t.desc.Name, c.Column)
		}
		col := t.pk.Schema[p]
		x.cols = append(x.cols, p)
		parts[i] = rowenc.KeyPart{Type: col.Type, PrefixLength: int(c.PrefixLength), PadSpace: padded, Zone: t.zone}
		x.lengths = append(x.lengths, uint16(c.PrefixLength))
		x.descends = append(x.descends, c.Descending)
		prefixed = prefixed || c.PrefixLength > 0
		x.folded = x.folded || t.folded(p)
		// Declared case: SHOW finds the column by exact comparison; the planner folds by itself.
		expr := t.desc.Name + "." + col.Name
		x.exprs = append(x.exprs, expr)
		x.types = append(x.types, sql.ColumnExpressionType{Expression: expr, Type: col.Type})
	}
	if !prefixed {
		x.lengths = nil
	}
	x.loose = !padded && t.desc.Pads(cols)
	x.unordered = prefixed || x.loose
	var err error
	if x.codec, err = rowenc.NewKeyCodec(parts); err != nil {
		return nil, fmt.Errorf("engine: index %s of %s.%s: %w", name, t.db, t.desc.Name, err)
	}
	return x, nil
}

// extend fills in what follows the index columns: the columns of the primary key that are not among them.
func (x *index) extend() {
	x.extended, x.extTypes, x.extCols = x.exprs, x.types, x.cols
	if x.primary || x.table.primary == nil {
		return
	}
	seen := map[string]bool{}
	for _, e := range x.exprs {
		seen[e] = true
	}
	x.extCols = append([]int(nil), x.cols...)
	x.extended = append([]string(nil), x.exprs...)
	x.extTypes = append([]sql.ColumnExpressionType(nil), x.types...)
	for i, e := range x.table.primary.exprs {
		if !seen[e] {
			x.extended = append(x.extended, e)
			x.extTypes = append(x.extTypes, x.table.primary.types[i])
			x.extCols = append(x.extCols, x.table.primary.cols[i])
		}
	}
}

func (x *index) ID() string                                                    { return x.id }
func (x *index) Database() string                                              { return x.table.db }
func (x *index) Table() string                                                 { return x.table.desc.Name }
func (x *index) Expressions() []string                                         { return x.exprs }
func (x *index) IsSpatial() bool                                               { return false }
func (x *index) IsFullText() bool                                              { return x.words != nil }
func (x *index) IsVector() bool                                                { return false }
func (x *index) Comment() string                                               { return x.comment }
func (x *index) IsGenerated() bool                                             { return false }
func (x *index) ColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType { return x.types }
func (x *index) CanSupport(*sql.Context, ...sql.Range) bool                    { return true }
func (x *index) CanSupportOrderBy(sql.Expression) bool                         { return false }
func (x *index) PrefixLengths() []uint16                                       { return x.lengths }
func (x *index) ExtendedExpressions(*sql.Context) []string                     { return x.extended }
func (x *index) ExtendedColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType {
	return x.extTypes
}

// IndexType implements sql.Index.
func (x *index) IndexType() string {
	if x.words != nil {
		return "FULLTEXT"
	}
	return "BTREE"
}

// IsUnique implements sql.Index. To the planner it means that a value is there once at most; that is not so where keys count spaces at
// the end of texts and comparisons do not, nor of times of day.
func (x *index) IsUnique() bool { return x.unique && !x.loose && !x.folded }

// Order implements sql.OrderedIndex.
func (x *index) Order(*sql.Context) sql.IndexOrder {
	if x.unordered {
		return sql.IndexOrderNone
	}
	return sql.IndexOrderAsc
}

// Reversible implements sql.OrderedIndex.
func (x *index) Reversible(*sql.Context) bool { return !x.unordered }

// CoversColumns implements sql.Index.
func (x *index) CoversColumns(cols []string) bool {
	if x.primary {
		return true
	}
	for _, c := range cols {
		if !x.covers(x.table.ordinal(c[strings.LastIndexByte(c, '.')+1:])) {
			return false
		}
	}
	return true
}

// covers reports whether the value of the column at that position can be read out of an entry.
func (x *index) covers(ordinal int) bool {
	for i, c := range x.cols {
		if c == ordinal && x.codec.Decodable(i) {
			return true
		}
	}
	if p := x.table.primary; p != nil {
		for i, c := range p.cols {
			if c == ordinal && p.codec.Decodable(i) {
				return true
			}
		}
	}
	return false
}

// hasNull reports whether any of the index's columns is NULL in the row.
func (x *index) hasNull(row sql.Row) bool {
	for _, c := range x.cols {
		if row[c] == nil {
			return true
		}
	}
	return false
}

// rowKey is the key of a primary or unique entry of the row, without the tail that NULLs need.
func (x *index) rowKey(row sql.Row) (kv.RowKey, error) {
	dst := make([]byte, len(x.prefix), len(x.prefix)+16*len(x.cols))
	copy(dst, x.prefix)
	return x.codec.EncodeRow(context.Background(), dst, row, x.cols)
}

// entry is the key and the value of the row's entry in a secondary index; pk is the row's key behind its prefix.
func (x *index) entry(row sql.Row, pk []byte) (kv.RowKey, []byte, error) {
	key, err := x.rowKey(row)
	if err != nil {
		return nil, nil, err
	}
	if !x.unique {
		return append(key, pk...), []byte{entryVersion}, nil
	}
	if x.hasNull(row) {
		key = append(key, pk...)
	}
	return key, append([]byte{entryVersion}, pk...), nil
}

// pkOf returns the row's key (behind its prefix) that an entry leads to.
func (x *index) pkOf(key kv.RowKey, value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != entryVersion {
		return nil, fmt.Errorf("engine: entry of index %s of %s.%s has an unknown version", x.id, x.table.db, x.table.desc.Name)
	}
	if x.unique {
		return value[1:], nil
	}
	_, tail, err := x.codec.Split(key[len(x.prefix):], x.codec.Len())
	return tail, err
}

// display words the row's key for error 1062.
func (x *index) display(ctx *sql.Context, row sql.Row) []string {
	vs := make([]string, len(x.cols))
	for i, c := range x.cols {
		vs[i] = displayValue(ctx, x.table.pk.Schema[c].Type, row[c])
	}
	return vs
}

func displayValue(ctx *sql.Context, t sql.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	case []byte:
		return string(v)
	}
	out, err := t.SQL(ctx, nil, v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return out.ToString()
}
