package infoschema

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rights"
)

// Sighted is a table in the text of a view that tells everybody what he may see: of information_schema,
// moka, performance_schema. Whoever reads the view, and whatever runs around it, it tells what the view's
// definer may see. With SQL SECURITY INVOKER it is what the reader may see, as far as whoever made the view
// sees the same, and whoever made those with SQL SECURITY INVOKER around it: the reader may be a procedure of
// root's that was written when there was a table of the name. That told of all connections, accounts and
// bodies. (MariaDB does so; MySQL asks for the rights of who runs the procedure.)
type Sighted struct {
	sql.Table
	In rights.Stored
}

var (
	_ sql.CatalogTable = (*Sighted)(nil)
	_ sql.TableWrapper = (*Sighted)(nil)
)

// Underlying implements sql.TableWrapper.
func (t *Sighted) Underlying() sql.Table { return t.Table }

// AssignCatalog implements sql.CatalogTable.
func (t *Sighted) AssignCatalog(c sql.Catalog) sql.Table {
	if of, ok := t.Table.(sql.CatalogTable); ok {
		return &Sighted{of.AssignCatalog(c), t.In}
	}
	return t
}
