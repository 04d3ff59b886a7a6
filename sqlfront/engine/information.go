package engine

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Tools ask information_schema about one table at a time: WHERE table_schema = DATABASE() AND table_name = 't'. The library opens all tables of
// all databases for that, and for columns looks for each table among the columns of all. With some thousand tables that is seconds for
// each question. So the conditions on the names of database and table are asked first, of the names; what they leave is opened. The
// Filter stays.

// scope is what a condition on a table of information_schema leaves.
type scope struct {
	ctx             *sql.Context
	ofDatabase      []sql.Expression // conditions on nothing but the database's name
	ofTable         []sql.Expression // and on those of database and table
	row             sql.Row          // room for a row of the table
	database, table []int            // where the names are in it
}

var (
	databaseColumns = []string{"table_schema", "constraint_schema", "event_object_schema", "trigger_schema", "index_schema"}
	tableColumns    = []string{"table_name", "event_object_table"}
)

// scopeOf is what the filter leaves of its table; nil if it is no table of information_schema, or says nothing about names.
func scopeOf(ctx *sql.Context, n *plan.Filter) (*plan.ResolvedTable, *scope) {
	child := n.Child
	if a, ok := child.(*plan.TableAlias); ok {
		child = a.Child
	}
	t, ok := child.(*plan.ResolvedTable)
	if !ok || t.SqlDatabase == nil || !strings.EqualFold(t.SqlDatabase.Name(), sql.InformationSchemaDatabaseName) {
		return nil, nil
	}
	s := &scope{ctx: ctx}
	columns := t.Schema(ctx)
	for i, c := range columns {
		switch {
		case slices.ContainsFunc(databaseColumns, func(n string) bool { return strings.EqualFold(n, c.Name) }):
			s.database = append(s.database, i)
		case slices.ContainsFunc(tableColumns, func(n string) bool { return strings.EqualFold(n, c.Name) }):
			s.table = append(s.table, i)
		}
	}
	s.row = make(sql.Row, len(columns))
	for _, e := range expression.SplitConjunction(ctx, n.Expression) {
		s.add(e)
	}
	if s.ofDatabase == nil && s.ofTable == nil {
		return nil, nil
	}
	return t, s
}

// add takes a condition if the names decide it.
func (s *scope) add(e sql.Expression) {
	names, tables := true, false
	sql.Inspect(s.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *plan.Subquery:
			names = false
		case *expression.GetField:
			switch at := e.Index(); {
			case slices.Contains(s.table, at):
				tables = true
			case !slices.Contains(s.database, at):
				names = false
			}
		case sql.NonDeterministicExpression:
			names = names && !e.IsNonDeterministic()
		}
		return names
	})
	switch {
	case !names:
	case tables:
		s.ofTable = append(s.ofTable, e)
	default:
		s.ofDatabase = append(s.ofDatabase, e)
	}
}

// holds reports whether the conditions may be true of the names. What goes wrong goes wrong in the Filter again.
func (s *scope) holds(conditions []sql.Expression, database, table string) bool {
	row := slices.Clone(s.row)
	for _, at := range s.database {
		row[at] = database
	}
	for _, at := range s.table {
		row[at] = table
	}
	for _, e := range conditions {
		if v, err := sql.EvaluateCondition(s.ctx, e, row); err == nil && !sql.IsTrue(v) {
			return false
		}
	}
	return true
}

// limit is what may be seen of the catalog while a table of information_schema is read: nil is all of it.
type limit struct {
	database func(name string) bool
	table    func(database, name string) bool
	one      string // if it is set, the only table or view; the list of all need not be gone through
}

type limitKey struct{}

func limited(ctx *sql.Context, l limit) *sql.Context {
	if around := limitOf(ctx); around != nil && l.one == "" { // one is of what was listed within the limit around
		database, table := l.database, l.table
		l.database = func(name string) bool { return around.database(name) && database(name) }
		l.table = func(in, name string) bool { return around.table(in, name) && table(in, name) }
	}
	return ctx.WithContext(context.WithValue(ctx.Context, limitKey{}, &l))
}

func limitOf(ctx *sql.Context) *limit {
	l, _ := ctx.Value(limitKey{}).(*limit)
	return l
}

// scopes says to the builder of a table what the Filter above has said.
type scopes struct {
	of    *plan.ResolvedTable
	scope *scope
}

type scopesKey struct{}

// narrowed is the context in which the filter's child is built, nil if the filter says nothing, or has been here.
func narrowed(ctx *sql.Context, n *plan.Filter) *sql.Context {
	t, s := scopeOf(ctx, n)
	if s == nil {
		return nil
	}
	if around, ok := ctx.Value(scopesKey{}).(scopes); ok && around.of == t {
		return nil
	}
	return ctx.WithContext(context.WithValue(ctx.Context, scopesKey{}, scopes{t, s}))
}

// information is a table of information_schema, or nil if it is read as the library reads it.
func (b *execBuilder) information(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if it, err := b.accountRows(ctx, n, row); it != nil || err != nil {
		return it, err
	}
	s, ok := ctx.Value(scopesKey{}).(scopes)
	if !ok || s.of != n || isShown(ctx, n) {
		if it, err := b.informationRows(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.informationColumns(ctx, n, row)
	}
	l := limit{
		database: func(name string) bool { return s.scope.holds(s.scope.ofDatabase, name, "") },
		table:    func(database, name string) bool { return s.scope.holds(s.scope.ofTable, database, name) },
	}
	within := limited(ctx, l)
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
	return &limitedIter{it, l}, nil
}

// limitedIter reads a table as it was built: the library opens what it lists at the first row.
type limitedIter struct {
	sql.RowIter
	limit limit
}

// Next implements sql.RowIter.
func (it *limitedIter) Next(ctx *sql.Context) (sql.Row, error) {
	return it.RowIter.Next(limited(ctx, it.limit))
}

// columnsByTable reads information_schema.columns table by table, each with its own of all columns that the library has made ready: it would
// look for them among all.
func columnsByTable(read func(*sql.Context, sql.Catalog, sql.Schema) (sql.RowIter, error)) func(*sql.Context, sql.Catalog, sql.Schema) (sql.RowIter, error) {
	return func(ctx *sql.Context, cat sql.Catalog, all sql.Schema) (sql.RowIter, error) {
		of := map[[2]string]sql.Schema{}
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].Source == all[from].Source && all[to].DatabaseSource == all[from].DatabaseSource {
				to++
			}
			of[[2]string{strings.ToLower(all[from].DatabaseSource), strings.ToLower(all[from].Source)}] = all[from:to]
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
		only := limited(ctx, limit{database: func(name string) bool { return name == it.in }, table: func(string, string) bool { return true }})
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
	one := limited(ctx, limit{
		database: func(name string) bool { return name == it.in }, table: func(_, other string) bool { return other == name }, one: name,
	})
	it.rows, err = it.read(one, it.cat, it.of[[2]string{strings.ToLower(it.in), strings.ToLower(name)}])
	return err
}

// namesIn are the tables and views of a database of ours; nil for one of the system.
func namesIn(ctx *sql.Context, d sql.Database) ([]string, error) {
	if p, ok := d.(interface{ Unwrap() sql.Database }); ok {
		d = p.Unwrap()
	}
	own, ok := d.(*Database)
	if !ok {
		return nil, nil
	}
	names, err := own.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	views, err := own.AllViews(ctx)
	for _, v := range views {
		names = append(names, v.Name)
	}
	return append([]string{}, names...), err
}

// Close implements sql.RowIter.
func (it *columnsOfTables) Close(ctx *sql.Context) error {
	if it.rows == nil {
		return nil
	}
	return it.rows.Close(ctx)
}

// byTable is information_schema.columns with columnsByTable.
func byTable(t sql.Table) sql.Table {
	c, ok := t.(*information_schema.ColumnsTable)
	if !ok {
		return t
	}
	own := *c
	own.RowIter = columnsByTable(c.RowIter)
	return &own
}
