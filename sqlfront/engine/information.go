package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/infoschema"
	"moka/sqlfront/rights"
)

// information is a table of information_schema, or nil if it is read as the library reads it.
func (b *execBuilder) information(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if it, err := b.accountRows(ctx, n, row); it != nil || err != nil {
		return it, err
	}
	within, limit, ok := infoschema.Asked(ctx, n)
	if !ok || isShown(ctx, n) {
		if it, err := b.informationRows(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.informationColumns(ctx, n, row)
	}
	it, err := b.informationRows(within, n, row)
	if it == nil && err == nil {
		it, err = b.informationColumns(within, n, row)
	}
	if it == nil && err == nil {
		it, err = b.base.Build(asShown(within, n), n, row)
	}
	if err != nil {
		return nil, err
	}
	return infoschema.Within(limit, it), nil
}

// definersTable is a table of information_schema in the text of a view that is read with its definer's
// rights: he sees in it what he may see, not who reads the view. A procedure of root's that read a table in
// whose place somebody had put a view told him of all connections, accounts and bodies. (MariaDB does so;
// MySQL asks for the rights of who runs the procedure.)
type definersTable struct {
	sql.Table
	in rights.Stored
}

var (
	_ sql.CatalogTable = (*definersTable)(nil)
	_ sql.TableWrapper = (*definersTable)(nil)
)

// Underlying implements sql.TableWrapper.
func (t *definersTable) Underlying() sql.Table { return t.Table }

// AssignCatalog implements sql.CatalogTable.
func (t *definersTable) AssignCatalog(c sql.Catalog) sql.Table {
	if of, ok := t.Table.(sql.CatalogTable); ok {
		return &definersTable{of.AssignCatalog(c), t.in}
	}
	return t
}

// asDefiner reads such a table; rows are nil if it is another.
func (b *execBuilder) asDefiner(
	ctx *sql.Context, n *plan.ResolvedTable, row sql.Row,
) (rows sql.RowIter, err error) {
	t, ok := n.Table.(*definersTable)
	s := sessionOf(ctx)
	if !ok || s == nil {
		return nil, nil
	}
	own := *n
	own.Table = t.Table
	err = s.ActAs(ctx, t.in.User, t.in.Host, func() error {
		it, err := b.Build(ctx, &own, row)
		if err != nil {
			return err
		}
		all, err := sql.RowIterToRows(ctx, it)
		rows = sql.RowsToRowIter(all...)
		return err
	})
	if err != nil {
		return nil, t.in.Invalid(err)
	}
	return rows, nil
}
