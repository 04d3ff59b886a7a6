package infoschema

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Tools ask information_schema about one table at a time: WHERE table_schema = DATABASE() AND table_name =
// 't'. The library opens all tables of all databases for that, and for columns looks for each table among the
// columns of all. With some thousand tables that is seconds for each question. So the conditions on the names
// of database and table are asked first, of the names; what they leave is opened. The Filter stays.

// scope is what a condition on a table of information_schema leaves.
type scope struct {
	ctx             *sql.Context
	ofDatabase      []sql.Expression // conditions on nothing but the database's name
	ofTable         []sql.Expression // and on those of database and table
	row             sql.Row          // room for a row of the table
	database, table []int            // where the names are in it
}

var (
	databaseColumns = []string{"table_schema", "constraint_schema", "event_object_schema", "trigger_schema",
		"index_schema"}
	tableColumns = []string{"table_name", "event_object_table"}
)

// scopeOf is what the filter leaves of its table; nil if it is no table of information_schema, or
// says nothing about names.
func scopeOf(ctx *sql.Context, n *plan.Filter) (*plan.ResolvedTable, *scope) {
	child := n.Child
	if a, ok := child.(*plan.TableAlias); ok {
		child = a.Child
	}
	t, ok := child.(*plan.ResolvedTable)
	if !ok || t.SqlDatabase == nil ||
		!strings.EqualFold(t.SqlDatabase.Name(), sql.InformationSchemaDatabaseName) {
		return nil, nil
	}
	s := &scope{ctx: ctx}
	columns := t.Schema(ctx)
	for i, c := range columns {
		switch {
		case slices.ContainsFunc(databaseColumns, func(n string) bool {
			return strings.EqualFold(n, c.Name)
		}):
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

// holds reports whether the conditions may be true of the names. What goes wrong goes wrong in the Filter
// again.
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

// Limit is what may be seen of the catalog while a table of information_schema is read: nil is all of it.
type Limit struct {
	Database func(name string) bool
	Table    func(database, name string) bool
	One      string // if it is set, the only table or view; the list of all need not be gone through
}

type limitKey struct{}

// Limited is a context in which no more is to be seen.
func Limited(ctx *sql.Context, l Limit) *sql.Context {
	// one is of what was listed within the limit around
	if around := LimitOf(ctx); around != nil && l.One == "" {
		database, table := l.Database, l.Table
		l.Database = func(name string) bool { return around.Database(name) && database(name) }
		l.Table = func(in, name string) bool { return around.Table(in, name) && table(in, name) }
	}
	return ctx.WithContext(context.WithValue(ctx.Context, limitKey{}, &l))
}

// LimitOf is the limit within which a list is made, nil if there is none.
func LimitOf(ctx *sql.Context) *Limit {
	l, _ := ctx.Value(limitKey{}).(*Limit)
	return l
}

// scopes says to the builder of a table what the Filter above has said.
type scopes struct {
	of    *plan.ResolvedTable
	scope *scope
}

type scopesKey struct{}

// Narrowed is the context in which the filter's child is built, nil if the filter says
// nothing, or has been here.
func Narrowed(ctx *sql.Context, n *plan.Filter) *sql.Context {
	t, s := scopeOf(ctx, n)
	if s == nil {
		return nil
	}
	if around, ok := ctx.Value(scopesKey{}).(scopes); ok && around.of == t {
		return nil
	}
	return ctx.WithContext(context.WithValue(ctx.Context, scopesKey{}, scopes{t, s}))
}

// Asked is what the filter above a table leaves of it, and the context within which no more is seen; ok is
// false if it leaves everything.
func Asked(ctx *sql.Context, n *plan.ResolvedTable) (within *sql.Context, l Limit, ok bool) {
	s, ok := ctx.Value(scopesKey{}).(scopes)
	if !ok || s.of != n {
		return nil, Limit{}, false
	}
	l = Limit{
		Database: func(name string) bool { return s.scope.holds(s.scope.ofDatabase, name, "") },
		Table:    func(database, name string) bool { return s.scope.holds(s.scope.ofTable, database, name) },
	}
	return Limited(ctx, l), l, true
}

// Within reads rows within a limit.
func Within(l Limit, rows sql.RowIter) sql.RowIter { return &limitedIter{rows, l} }

// limitedIter reads a table as it was built: the library opens what it lists at the first row.
type limitedIter struct {
	sql.RowIter
	limit Limit
}

// Next implements sql.RowIter.
func (it *limitedIter) Next(ctx *sql.Context) (sql.Row, error) {
	return it.RowIter.Next(Limited(ctx, it.limit))
}
