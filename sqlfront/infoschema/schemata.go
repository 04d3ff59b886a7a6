package infoschema

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
)

// Mended is a table of the library's information_schema with what it gets wrong made right.
func Mended(t sql.Table) sql.Table {
	theirs, ok := t.(*information_schema.InformationSchemaTable)
	if !ok {
		return t
	}
	switch strings.ToLower(t.Name()) {
	case information_schema.SchemataTableName:
		return withAccounts(theirs)
	case information_schema.EnginesTableName:
		ours := *theirs
		ours.Reader = engines
		return &ours
	}
	return t
}

// withAccounts adds the database mysql to SCHEMATA, which the library leaves out there, and shows in SHOW
// DATABASES.
func withAccounts(theirs *information_schema.InformationSchemaTable) sql.Table {
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

// engines has what XA says right: the library's InnoDB has it, and there is no statement XA here.
func engines(*sql.Context, sql.Catalog) (sql.RowIter, error) {
	var rows []sql.Row
	for _, e := range sql.SupportedEngines {
		rows = append(rows, sql.Row{e.Name, e.Support(), e.Comment(), e.Transactions(), "NO", e.Savepoints()})
	}
	return sql.RowsToRowIter(rows...), nil
}
