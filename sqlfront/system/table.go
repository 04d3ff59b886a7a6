package system

import (
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Table is a table whose rows are computed when they are read: what the server knows about itself.
type Table struct {
	TableName string
	Columns   sql.Schema // Source and DatabaseSource are filled in by New
	Rows      func(ctx *sql.Context) ([]sql.Row, error)
	database  string
}

// Database is a database of system tables. Nobody can write to it.
type Database struct {
	name   string
	tables map[string]*Table
}

var (
	_ sql.Database         = (*Database)(nil)
	_ sql.ReadOnlyDatabase = (*Database)(nil)
	_ sql.ViewDatabase     = (*Database)(nil)
	_ sql.Table            = (*Table)(nil)
	_ sql.Databaseable     = (*Table)(nil)
	_ sql.TemporaryTable   = (*Table)(nil)
)

// New makes a database of tables.
func New(name string, tables ...Table) *Database {
	d := &Database{name: name, tables: map[string]*Table{}}
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
func (d *Database) Name() string { return d.name }

// IsReadOnly implements sql.ReadOnlyDatabase.
func (d *Database) IsReadOnly() bool { return true }

// GetTableInsensitive implements sql.Database.
func (d *Database) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	t, ok := d.tables[strings.ToLower(name)]
	if !ok {
		return nil, false, nil
	}
	return t, true, nil
}

// GetTableNames implements sql.Database.
func (d *Database) GetTableNames(*sql.Context) ([]string, error) {
	names := make([]string, 0, len(d.tables))
	for _, t := range d.tables {
		names = append(names, t.TableName)
	}
	sort.Strings(names)
	return names, nil
}

// CreateView implements sql.ViewDatabase; without it the view would be kept in the session.
func (d *Database) CreateView(*sql.Context, string, string, string) error {
	return d.readOnly()
}

// DropView implements sql.ViewDatabase.
func (d *Database) DropView(_ *sql.Context, name string) error {
	return sql.ErrViewDoesNotExist.New(d.name, name)
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *Database) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase.
func (d *Database) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// Name implements sql.Table.
func (t *Table) Name() string { return t.TableName }

// String implements sql.Table.
func (t *Table) String() string { return t.TableName }

// In says which database has the table; New does it for its own.
func (t *Table) In(database string) *Table {
	t.database = database
	return t
}

// Database implements sql.Databaseable.
func (t *Table) Database() string { return t.database }

// IsTemporary implements sql.TemporaryTable.
func (t *Table) IsTemporary() bool { return false }

// Schema implements sql.Table.
func (t *Table) Schema(*sql.Context) sql.Schema { return t.Columns }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// Partitions implements sql.Table.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(systemPartition{}), nil
}

// PartitionRows implements sql.Table.
func (t *Table) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

type systemPartition struct{}

func (systemPartition) Key() []byte { return []byte("system") }
