package engine

import (
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"moka/sqlfront/infoschema"
	"moka/sqlfront/system"
)

// extendedInfo is information_schema with tables that MySQL's does not have.
type extendedInfo struct {
	sql.Database
	eng   *Engine
	extra *system.Database
}

// GetTableInsensitive implements sql.Database.
func (d *extendedInfo) GetTableInsensitive(
	ctx *sql.Context, name string,
) (found sql.Table, is bool, err error) {
	defer func() {
		if is {
			found = inSight(ctx, found)
		}
	}()
	if t, ok, err := d.extra.GetTableInsensitive(ctx, name); ok || err != nil {
		return t, ok, err
	}
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	if ok && strings.EqualFold(name, information_schema.StatisticsTableName) {
		t = &cardinalityTable{t, d.eng}
	}
	if ok {
		t = infoschema.Mended(t)
	}
	if ok && strings.EqualFold(name, information_schema.ViewsTableName) {
		t = d.eng.viewsTable(t)
	}
	if ok && strings.EqualFold(name, information_schema.TriggersTableName) {
		t = d.eng.triggersTable(t)
	}
	if ok {
		t = infoschema.ByTable(d.eng.routineTable(ctx, t))
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
