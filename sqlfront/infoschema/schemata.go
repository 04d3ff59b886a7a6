package infoschema

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
)

// WithAccounts adds the database mysql to SCHEMATA, which the library leaves out there, and
// shows in SHOW DATABASES.
func WithAccounts(t sql.Table) sql.Table {
	theirs, ok := t.(*information_schema.InformationSchemaTable)
	if !ok {
		return t
	}
	ours := *theirs
	ours.Reader = func(ctx *sql.Context, c sql.Catalog) (sql.RowIter, error) {
		it, err := theirs.Reader(ctx, c)
		if err != nil {
			return nil, err
		}
		rows, err := sql.RowIterToRows(ctx, it)
		if err != nil {
			return nil, err
		}
		const name = 1
		has := slices.ContainsFunc(rows, func(r sql.Row) bool { return r[name] == AccountsDatabase })
		if l := LimitOf(ctx); !has && c.HasDatabase(ctx, AccountsDatabase) &&
			(l == nil || l.Database == nil || l.Database(AccountsDatabase)) {
			rows = append(rows, sql.Row{"def", AccountsDatabase,
				sql.Collation_Default.CharacterSet().String(), sql.Collation_Default.String(), nil, "NO"})
		}
		return sql.RowsToRowIter(rows...), nil
	}
	return &ours
}

// AccountsDatabase has the tables of accounts.
const AccountsDatabase = "mysql"
