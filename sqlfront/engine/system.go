package engine

import (
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"moka/sqlfront/system"
)

// extendedInfo is information_schema with tables that MySQL's does not have.
type extendedInfo struct {
	sql.Database
	eng   *Engine
	extra *system.Database
}

// GetTableInsensitive implements sql.Database.
func (d *extendedInfo) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t, ok, err := d.extra.GetTableInsensitive(ctx, name); ok || err != nil {
		return t, ok, err
	}
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	if ok && strings.EqualFold(name, information_schema.StatisticsTableName) {
		t = &cardinalityTable{t, d.eng}
	}
	if ok && strings.EqualFold(name, information_schema.SchemataTableName) {
		t = withAccounts(t)
	}
	if ok && strings.EqualFold(name, information_schema.ViewsTableName) {
		t = d.eng.viewsTable(t)
	}
	if ok {
		t = byTable(d.eng.routineTable(ctx, t))
	}
	return t, ok, err
}

// GetTableNames implements sql.Database.
func (d *extendedInfo) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, err := d.Database.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	more, err := d.extra.GetTableNames(ctx)
	names = append(names, more...)
	sort.Strings(names)
	return names, err
}

// withAccounts adds the database mysql to SCHEMATA, which the library leaves out there, and shows in SHOW DATABASES.
func withAccounts(t sql.Table) sql.Table {
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
		has := slices.ContainsFunc(rows, func(r sql.Row) bool { return r[name] == accountsDatabase })
		if l := limitOf(ctx); !has && c.HasDatabase(ctx, accountsDatabase) && (l == nil || l.database == nil || l.database(accountsDatabase)) {
			rows = append(rows, sql.Row{"def", accountsDatabase, sql.Collation_Default.CharacterSet().String(), sql.Collation_Default.String(), nil, "NO"})
		}
		return sql.RowsToRowIter(rows...), nil
	}
	return &ours
}

const accountsDatabase = "mysql"
