package sqlfront

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// RowKey returns where the row of a table ("db.table") with that primary key lies, so that an operator can split a tablet
// there. The key's columns are given as text, from the first on; fewer than all of them name the place in front of all rows
// that begin so.
func (s *Server) RowKey(ctx context.Context, table string, key []string) (kv.RowKey, error) {
	db, name, ok := strings.Cut(table, ".")
	if !ok {
		return nil, fmt.Errorf("name the table with its database: db.%s", table)
	}
	t := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := s.catalog.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	desc, err := find(snap, db, name)
	if err != nil {
		return nil, err
	}
	if len(desc.PrimaryKey) == 0 {
		return nil, fmt.Errorf("table %s has no primary key; its rows are spread by hidden ids", table)
	}
	if len(key) > len(desc.PrimaryKey) {
		return nil, fmt.Errorf("the primary key of %s has %d columns, not %d", table, len(desc.PrimaryKey), len(key))
	}
	parts, values := make([]rowenc.KeyPart, len(key)), make([]any, len(key))
	sctx := sql.NewContext(ctx)
	for i, text := range key {
		c := desc.PrimaryKey[i]
		col := desc.Columns[desc.ColumnByID(c.Column)]
		typ, err := col.Type.SQL()
		if err != nil {
			return nil, err
		}
		parts[i] = rowenc.KeyPart{Type: typ, PrefixLength: int(c.PrefixLength), PadSpace: desc.PadSpace}
		if values[i], _, err = typ.Convert(sctx, text); err != nil {
			return nil, fmt.Errorf("%q is no value for column %s of %s: %w", text, col.Name, table, err)
		}
	}
	codec, err := rowenc.NewKeyCodec(parts)
	if err != nil {
		return nil, err
	}
	// The box of this key is drawn in engine/table.go, which writes it.
	row := binary.BigEndian.AppendUint32([]byte{0x10}, desc.ID)
	row = binary.BigEndian.AppendUint32(row, desc.RowIndex)
	if row, err = codec.Encode(ctx, row, values...); err != nil {
		return nil, err
	}
	return kv.MakeRowKey(kv.TableTxn, row), nil
}

// TableStart is where the rows of the table with that number begin.
func TableStart(id uint32) kv.RowKey {
	return kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint32([]byte{0x10}, id))
}

func find(snap *catalog.Snapshot, db, table string) (*catalog.Table, error) {
	d, ok := snap.Database(db)
	if !ok {
		return nil, fmt.Errorf("there is no database %s", db)
	}
	desc, ok := d.Table(table)
	if !ok {
		return nil, fmt.Errorf("there is no table %s in database %s", table, db)
	}
	return desc, nil
}

// completeOrder answers parse.Hooks.CompleteOrder from the newest catalog this process has used. Should that be behind by a
// statement, the order may be completed or not completed for an index that came or went; the result is the same.
func (s *Server) completeOrder(ctx context.Context, db, table string, eq []parse.EqualColumn, order []string) []string {
	if db == "" {
		sctx, ok := ctx.(*sql.Context)
		if !ok {
			return nil
		}
		db = sctx.GetCurrentDatabase()
	}
	snap := s.catalog.Latest()
	if snap == nil {
		return nil
	}
	desc, err := find(snap, db, table)
	if err != nil {
		return nil
	}
	bound := map[uint32]bool{}
	for _, e := range eq {
		if i := desc.Column(e.Column); i >= 0 && bindsOneValue(&desc.Columns[i], e) {
			bound[desc.Columns[i].ID] = true
		}
	}
	var want []uint32
	for _, o := range order {
		i := desc.Column(o)
		if i < 0 {
			return nil
		}
		want = append(want, desc.Columns[i].ID)
	}
	var best []string
	consider := func(cols []catalog.IndexColumn) (asItIs bool) {
		n := 0
		for n < len(cols) && cols[n].PrefixLength == 0 && bound[cols[n].Column] {
			n++
		}
		for skip := 0; skip <= n; skip++ {
			if follows(cols[skip:], want) {
				if skip == 0 {
					return true
				}
				if len(best) == 0 {
					for _, c := range cols[:skip] {
						best = append(best, desc.Columns[desc.ColumnByID(c.Column)].Name)
					}
				}
			}
		}
		return false
	}
	if consider(desc.PrimaryKey) {
		return nil
	}
	for i := range desc.Indexes {
		if desc.Indexes[i].State == catalog.StatePublic && !desc.Indexes[i].FullText && consider(desc.Indexes[i].Columns) {
			return nil
		}
	}
	return best
}

func follows(cols []catalog.IndexColumn, want []uint32) bool {
	if len(cols) < len(want) {
		return false
	}
	for i, w := range want {
		if cols[i].Column != w || cols[i].PrefixLength != 0 {
			return false
		}
	}
	return true
}

// bindsOneValue says whether column = value leaves one value. A text column compared with a number does not: '1' and '1.0'
// both equal 1. A parameter's type is not known yet.
func bindsOneValue(c *catalog.Column, e parse.EqualColumn) bool {
	typ, err := c.Type.SQL()
	if err != nil {
		return false
	}
	if _, text := typ.(sql.StringType); text {
		return e.Text
	}
	return sqlNumberOrTime(typ)
}

func sqlNumberOrTime(t sql.Type) bool {
	switch t.(type) {
	case sql.NumberType, sql.DecimalType, sql.DatetimeType:
		return true
	}
	return false
}

// declared finds the type of a column as it was declared; nil if there is none of that name (an alias, an expression).
func (s *Server) declared(db, table, column string) *catalog.Type {
	snap := s.catalog.Latest()
	if snap == nil || db == "" || table == "" {
		return nil
	}
	desc, err := find(snap, db, table)
	if err != nil {
		return nil
	}
	i := desc.Column(column)
	if i < 0 {
		return nil
	}
	return &desc.Columns[i].Type
}

// tinyInt1 answers conn.Options.TinyInt1.
func (s *Server) tinyInt1(db, table, column string) bool {
	t := s.declared(db, table, column)
	return t != nil && t.Kind == "tinyint" && t.Length == 1
}

// digits answers conn.Options.Digits.
func (s *Server) digits(db, table, column string) (n int, ok bool) {
	t := s.declared(db, table, column)
	switch {
	case t == nil:
		return 0, false
	case t.Kind == "timestamp":
		return int(t.Precision), true
	}
	return t.Digits()
}
