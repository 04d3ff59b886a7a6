package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/infoschema"
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
