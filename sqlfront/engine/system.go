package engine

import (
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
)

// SystemTable is a table whose rows are computed when they are read: what the server knows about itself.
type SystemTable struct {
	TableName string
	Columns   sql.Schema // Source and DatabaseSource are filled in by NewSystemDatabase
	Rows      func(ctx *sql.Context) ([]sql.Row, error)
	database  string
}

// SystemDatabase is a database of system tables. Nobody can write to it.
type SystemDatabase struct {
	name   string
	tables map[string]*SystemTable
}

var (
	_ sql.Database         = (*SystemDatabase)(nil)
	_ sql.ReadOnlyDatabase = (*SystemDatabase)(nil)
	_ sql.ViewDatabase     = (*SystemDatabase)(nil)
	_ sql.Table            = (*SystemTable)(nil)
	_ sql.Databaseable     = (*SystemTable)(nil)
	_ sql.TemporaryTable   = (*SystemTable)(nil)
)

// NewSystemDatabase makes a database of tables, for Options.Databases.
func NewSystemDatabase(name string, tables ...SystemTable) *SystemDatabase {
	d := &SystemDatabase{name: name, tables: map[string]*SystemTable{}}
	for i := range tables {
		t := tables[i]
		t.database, t.Columns = name, t.Columns.Copy()
		for _, c := range t.Columns {
			c.Source, c.DatabaseSource = t.TableName, name
		}
		d.tables[strings.ToLower(t.TableName)] = &t
	}
	return d
}

// Name implements sql.Database.
func (d *SystemDatabase) Name() string { return d.name }

// IsReadOnly implements sql.ReadOnlyDatabase.
func (d *SystemDatabase) IsReadOnly() bool { return true }

// GetTableInsensitive implements sql.Database.
func (d *SystemDatabase) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	t, ok := d.tables[strings.ToLower(name)]
	if !ok {
		return nil, false, nil
	}
	return t, true, nil
}

// GetTableNames implements sql.Database.
func (d *SystemDatabase) GetTableNames(*sql.Context) ([]string, error) {
	names := make([]string, 0, len(d.tables))
	for _, t := range d.tables {
		names = append(names, t.TableName)
	}
	sort.Strings(names)
	return names, nil
}

// CreateView implements sql.ViewDatabase; without it the view would be kept in the session.
func (d *SystemDatabase) CreateView(*sql.Context, string, string, string) error {
	return d.readOnly()
}

// DropView implements sql.ViewDatabase.
func (d *SystemDatabase) DropView(_ *sql.Context, name string) error {
	return sql.ErrViewDoesNotExist.New(d.name, name)
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *SystemDatabase) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase.
func (d *SystemDatabase) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// Name implements sql.Table.
func (t *SystemTable) Name() string { return t.TableName }

// String implements sql.Table.
func (t *SystemTable) String() string { return t.TableName }

// Database implements sql.Databaseable.
func (t *SystemTable) Database() string { return t.database }

// IsTemporary implements sql.TemporaryTable.
func (t *SystemTable) IsTemporary() bool { return false }

// Schema implements sql.Table.
func (t *SystemTable) Schema(*sql.Context) sql.Schema { return t.Columns }

// Collation implements sql.Table.
func (t *SystemTable) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// Partitions implements sql.Table.
func (t *SystemTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(systemPartition{}), nil
}

// PartitionRows implements sql.Table.
func (t *SystemTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

type systemPartition struct{}

func (systemPartition) Key() []byte { return []byte("system") }

// extendedInfo is information_schema with tables that MySQL's does not have.
type extendedInfo struct {
	sql.Database
	eng   *Engine
	extra *SystemDatabase
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
