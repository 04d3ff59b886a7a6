package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/account"
)

// accountRows are the tables of information_schema about accounts, and mysql.user: what the library shows there is what it knows.
func (b *execBuilder) accountRows(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if n.SqlDatabase == nil || isShown(ctx, n) || b.eng.accounts() == nil || !b.eng.accounts().Enabled() || len(b.eng.directory.Accounts()) == 0 {
		return nil, nil
	}
	switch db := n.SqlDatabase.Name(); {
	case strings.EqualFold(db, sql.InformationSchemaDatabaseName):
		return b.privilegeRows(ctx, n)
	case strings.EqualFold(db, "mysql") && strings.EqualFold(n.Name(), "user"):
		return b.userRows(ctx, n, row)
	}
	return nil, nil
}

func (b *execBuilder) privilegeRows(ctx *sql.Context, n *plan.ResolvedTable) (sql.RowIter, error) {
	var only *account.Name
	if s := sessionOf(ctx); s != nil && !account.SeesAll(b.eng.accounts().UserActivePrivilegeSet(ctx)) {
		me := s.Account()
		only = &me
	}
	var list []account.Row
	switch name := strings.ToLower(n.Name()); name {
	case "user_attributes":
		list = b.eng.directory.Attributes(only)
	case "user_privileges", "schema_privileges", "table_privileges", "column_privileges":
		list = b.eng.directory.Privileges(strings.TrimSuffix(name, "_privileges"), only)
	default:
		return nil, nil
	}
	columns := n.Schema(ctx)
	rows := make([]sql.Row, len(list))
	for i, r := range list {
		rows[i] = make(sql.Row, len(columns))
		for j, c := range columns {
			rows[i][j] = r[strings.ToLower(c.Name)]
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

func (b *execBuilder) userRows(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	columns := n.Schema(ctx)
	user, host := columns.IndexOfColName("User"), columns.IndexOfColName("Host")
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil || user < 0 || host < 0 {
		return it, err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		u, _ := r[user].(string)
		h, _ := r[host].(string)
		rows[i] = r.Copy()
		b.eng.directory.Patch(u, h, columns, rows[i])
	}
	return sql.RowsToRowIter(rows...), nil
}
