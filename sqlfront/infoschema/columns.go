package infoschema

import (
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
)

// columnsByTable reads information_schema.columns table by table, each with its own of all columns that the
// library has made ready: it would look for them among all.
func columnsByTable(read func(*sql.Context, sql.Catalog, sql.Schema) (sql.RowIter, error)) func(*sql.Context,
	sql.Catalog, sql.Schema) (sql.RowIter, error) {
	return func(ctx *sql.Context, cat sql.Catalog, all sql.Schema) (sql.RowIter, error) {
		of := map[[2]string]sql.Schema{}
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].Source == all[from].Source &&
				all[to].DatabaseSource == all[from].DatabaseSource {
				to++
			}
			of[[2]string{strings.ToLower(all[from].DatabaseSource), strings.ToLower(all[from].Source)}] =
				all[from:to]
			from = to
		}
		return &columnsOfTables{read: read, cat: cat, of: of, databases: cat.AllDatabases(ctx), all: all}, nil
	}
}

// columnsOfTables has the rows of one table at a time.
type columnsOfTables struct {
	read      func(*sql.Context, sql.Catalog, sql.Schema) (sql.RowIter, error)
	cat       sql.Catalog
	all       sql.Schema
	of        map[[2]string]sql.Schema
	databases []sql.Database // still to be read
	in        string         // the database of tables
	tables    []string       // and views, still to be read
	rows      sql.RowIter
}

// Next implements sql.RowIter.
func (it *columnsOfTables) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		if it.rows != nil {
			row, err := it.rows.Next(ctx)
			if err != io.EOF {
				return row, err
			}
			err, it.rows = it.rows.Close(ctx), nil
			if err != nil {
				return nil, err
			}
		}
		if err := it.open(ctx); err != nil {
			return nil, err
		}
	}
}

// open goes on to the next table, or to a database of the system, which is read whole.
func (it *columnsOfTables) open(ctx *sql.Context) (err error) {
	for len(it.tables) == 0 {
		if len(it.databases) == 0 {
			return io.EOF
		}
		d := it.databases[0]
		it.databases, it.in = it.databases[1:], d.Name()
		only := Limited(ctx, Limit{Database: func(name string) bool {
			return name == it.in
		}, Table: func(string, string) bool { return true }})
		if it.tables, err = namesIn(only, d); err != nil {
			return err
		}
		if it.tables == nil {
			it.rows, err = it.read(only, it.cat, it.all)
			return err
		}
	}
	name := it.tables[0]
	it.tables = it.tables[1:]
	one := Limited(ctx, Limit{
		Database: func(name string) bool {
			return name == it.in
		}, Table: func(_, other string) bool { return other == name }, One: name,
	})
	it.rows, err = it.read(one, it.cat, it.of[[2]string{strings.ToLower(it.in), strings.ToLower(name)}])
	return err
}

// lister is a database of ours: it tells the names of its tables and views.
type lister interface {
	TablesAndViews(ctx *sql.Context) ([]string, error)
}

// namesIn are the tables and views of a database of ours; nil for one of the system.
func namesIn(ctx *sql.Context, d sql.Database) ([]string, error) {
	if p, ok := d.(interface{ Unwrap() sql.Database }); ok {
		d = p.Unwrap()
	}
	own, ok := d.(lister)
	if !ok {
		return nil, nil
	}
	names, err := own.TablesAndViews(ctx)
	return append([]string{}, names...), err
}

// Close implements sql.RowIter.
func (it *columnsOfTables) Close(ctx *sql.Context) error {
	if it.rows == nil {
		return nil
	}
	return it.rows.Close(ctx)
}

// ByTable is information_schema.columns with columnsByTable.
func ByTable(t sql.Table) sql.Table {
	c, ok := t.(*information_schema.ColumnsTable)
	if !ok {
		return t
	}
	own := *c
	own.RowIter = columnsByTable(c.RowIter)
	return &own
}

// ShownText is a text of an expression with MySQL's words.
func ShownText(v any) any {
	if text, ok := v.(string); ok {
		return parse.Spelled(text)
	}
	return v
}

// Columns are the rows of information_schema.columns with what go-mysql-server leaves out, or
// gets wrong, of our tables.
func Columns(rows sql.RowIter, snap *catalog.Snapshot) sql.RowIter {
	return &columnsIter{RowIter: rows, snap: snap}
}

type columnsIter struct {
	sql.RowIter
	snap *catalog.Snapshot
}

// Next implements sql.RowIter. The fields are those of MySQL's manual, in its order.
func (it *columnsIter) Next(ctx *sql.Context) (sql.Row, error) {
	const (
		schema, table, column, def, dataType, characters, octets, precision, scale, fraction, columnType, key,
		comment, generation = 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 15, 16, 19, 20
	)
	r, err := it.RowIter.Next(ctx)
	if err != nil || len(r) <= generation {
		return r, err
	}
	if r[key] == "" && it.textual(r[schema], r[table], r[column]) {
		r[key] = "MUL"
	}
	switch r[dataType] {
	case "tinytext", "text", "mediumtext", "longtext":
		r[characters] = r[octets]
	case "date":
		if text, ok := r[def].(string); ok {
			r[def] = strings.TrimSuffix(text, " 00:00:00")
		}
	}
	r[def], r[generation] = ShownText(r[def]), ShownText(r[generation])
	if text, ok := r[comment].(string); ok {
		r[comment], _ = catalog.TakeDigits(text, &catalog.Type{})
	}
	switch r[dataType] {
	case "time", "float", "double":
		if c := it.column(r[schema], r[table], r[column]); c != nil {
			if n, ok := c.Type.Digits(); ok {
				r[columnType] = c.Type.DigitsText()
				if c.Type.Kind == "time" {
					r[fraction] = uint32(n)
				} else {
					r[precision], r[scale] = uint64(c.Type.Precision), uint64(n)
				}
			}
		}
	}
	if kind := r[dataType]; kind == "enum" || kind == "set" {
		if c := it.column(r[schema], r[table], r[column]); c != nil {
			r[columnType] = ElementsOf(c.Type.Kind, c.Type.Values)
		}
	}
	if extra, _ := r[17].(string); strings.HasSuffix(extra, " GENERATED") {
		if c := it.column(r[schema], r[table], r[column]); c != nil {
			r[generation] = strings.TrimSuffix(strings.TrimPrefix(c.Generated, "("), ")")
		}
	}
	return r, nil
}

func (it *columnsIter) column(names ...any) *catalog.Column {
	_, c := it.find(names...)
	return c
}

func (it *columnsIter) find(names ...any) (*catalog.Table, *catalog.Column) {
	var text [3]string
	for i, n := range names {
		text[i], _ = n.(string)
	}
	d, ok := it.snap.Database(text[0])
	if !ok {
		return nil, nil
	}
	t, ok := d.Table(text[1])
	if !ok {
		return nil, nil
	}
	for i := range t.Columns {
		if t.Columns[i].Name == text[2] {
			return t, &t.Columns[i]
		}
	}
	return nil, nil
}

// textual reports whether a FULLTEXT index begins with the column.
func (it *columnsIter) textual(names ...any) bool {
	t, c := it.find(names...)
	return t != nil && slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool {
		return x.FullText && x.State == catalog.StatePublic && x.Columns[0].Column == c.ID
	})
}
