package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
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
