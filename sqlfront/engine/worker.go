package engine

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// What background workers (observers) need besides a session: a worker wraps the transaction that it was given with Adopt,
// sets it on its context with SetTransaction and SetIgnoreAutoCommit(true), so that no statement commits it, and runs statements or
// compiled plans. The transaction's owner commits it.

// CatalogSnapshot is the catalog that ctx's transaction sees.
func (e *Engine) CatalogSnapshot(ctx *sql.Context) (*catalog.Snapshot, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	return v.snap, nil
}

// TableOf is the engine's object for a descriptor of CatalogSnapshot.
func (e *Engine) TableOf(ctx *sql.Context, desc *catalog.Table) (*Table, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	db, ok := v.snap.DatabaseByID(desc.DatabaseID)
	if !ok {
		return nil, sql.ErrTableNotFound.New(desc.Name)
	}
	return v.table(e, db, desc)
}

// DecodeRow reads a stored row, all public columns in order. Virtual columns are NULL.
func (t *Table) DecodeRow(value []byte) (sql.Row, error) { return t.decode.Decode(value) }

// Span is where the table's rows are stored.
func (t *Table) Span() kv.Span { return RowsOf(t.desc) }

// RowsOf is where the rows of a table are stored.
func RowsOf(d *catalog.Table) kv.Span { return indexSpan(d.ID, d.RowIndex) }

// CellOf is the cell of the row with the key.
func CellOf(row kv.RowKey) kv.Column { return cell(row) }

// IsRow reports whether a column in Span is a row, and not what others keep beside it.
func IsRow(c kv.Column) bool { return c.Family == rowFamily && len(c.Qualifier) == 0 }

// Watches reports whether the observer is for the change from one stored row to another, as if a single write had made it; old is nil for a row that
// was not there. Columns that are computed when they are read are taken for changed.
func (t *Table) Watches(ctx *sql.Context, o *catalog.Observer, old, row []byte) (bool, error) {
	if old == nil {
		return wants(o, ChangeInsert, nil), nil
	}
	if o.Events&catalog.OnUpdate == 0 || len(o.Columns) == 0 {
		return wants(o, ChangeUpdate, nil), nil
	}
	was, err := t.DecodeRow(old)
	if err != nil {
		return false, err
	}
	is, err := t.DecodeRow(row)
	if err != nil {
		return false, err
	}
	ids := t.changed(ctx, was, is)
	for _, c := range t.desc.Columns {
		if c.Virtual {
			ids = append(ids, c.ID)
		}
	}
	return wants(o, ChangeUpdate, ids), nil
}

// Notify wakes observers of a row, as if it had changed, when ctx's transaction commits. The table has a primary key.
func (t *Table) Notify(ctx *sql.Context, row sql.Row, observers []uint32) error {
	tx, err := txOf(ctx)
	if err != nil || len(observers) == 0 {
		return err
	}
	if t.primary == nil {
		return sqlerr.Unsupported("NOTIFY of rows without a primary key")
	}
	key, err := t.primary.rowKey(row)
	if err != nil {
		return err
	}
	tx.fence(t.desc)
	tx.store().NotifyWeak(cell(key), observers)
	return tx.fail(ctx, tx.store().Err())
}

// KeyColumns are those of the primary key; nil if there is none.
func (t *Table) KeyColumns() (columns sql.Schema) {
	if t.primary != nil {
		for _, c := range t.primary.cols {
			columns = append(columns, t.pk.Schema[c])
		}
	}
	return columns
}

// KeyValues are those of the primary key of a row; nil where KeyText has no more than bytes.
func (t *Table) KeyValues(ctx *sql.Context, key kv.RowKey) ([]any, error) {
	if t.primary == nil || !t.Holds(key) {
		return nil, nil
	}
	values := make([]any, len(t.primary.cols))
	whole := true
	for i := range values {
		whole = whole && t.primary.codec.Decodable(i)
	}
	if _, err := t.primary.codec.Decode(key[len(indexPrefix(t.desc.ID, t.desc.RowIndex)):],
		values); err != nil || whole {
		return values, err
	}
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	stored, ok, err := tx.store().Get(ctx, cell(key))
	if err != nil || !ok {
		return nil, tx.fail(ctx, err)
	}
	row, err := t.DecodeRow(stored)
	if err != nil {
		return nil, err
	}
	for i, c := range t.primary.cols {
		values[i] = row[c]
	}
	return values, nil
}

// KeyText words the key of a stored row for people: "id=7". Text under a collation cannot be read back from a key, so the
// row itself is asked, as ctx's transaction sees it; of a row that is gone some keys can only be shown as bytes.
func (t *Table) KeyText(ctx *sql.Context, key kv.RowKey) (string, error) {
	prefix := indexPrefix(t.desc.ID, t.desc.RowIndex)
	if len(key) < len(prefix) || string(key[:len(prefix)]) != string(prefix) {
		return fmt.Sprintf("0x%x", []byte(key)), nil
	}
	rest := key[len(prefix):]
	if t.primary == nil {
		if len(rest) != 8 {
			return fmt.Sprintf("0x%x", []byte(rest)), nil
		}
		return fmt.Sprintf("row %d", binary.BigEndian.Uint64(rest)), nil
	}
	values, err := t.KeyValues(ctx, key)
	if err != nil {
		return "", err
	}
	if values == nil {
		return fmt.Sprintf("0x%x", []byte(rest)), nil
	}
	parts := make([]string, len(values))
	for i, c := range t.primary.cols {
		col := t.pk.Schema[c]
		text, err := col.Type.SQL(ctx, nil, values[i])
		if err != nil {
			return "", err
		}
		parts[i] = col.Name + "=" + text.ToString()
	}
	return strings.Join(parts, ", "), nil
}
