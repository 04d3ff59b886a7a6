package engine

import (
	"cmp"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/frozen"
	"moka/sqlfront/namedjoin"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
)

// WithoutNames is a statement that is not the client's own with joins that have ON in place of USING and NATURAL.
func (e *Engine) WithoutNames(ctx *sql.Context, stmt ast.Statement) (ast.Statement, error) {
	out, err := e.withoutNames(ctx, stmt, nil)
	if out == nil {
		out = stmt
	}
	return out, err
}

// withoutNames is a statement without USING and NATURAL: was as it came, now as it is by now, nil for the same. What comes of it is nil if
// that is still was.
func (e *Engine) withoutNames(ctx *sql.Context, was, now ast.Statement) (ast.Statement, error) {
	stmt := now
	if stmt == nil {
		stmt = was
	}
	if !namedjoin.Uses(stmt) {
		return now, nil
	}
	db := ctx.GetCurrentDatabase()
	if d, ok := stmt.(*ast.DDL); ok && d.ViewSpec != nil && !d.ViewSpec.ViewName.DbQualifier.IsEmpty() {
		db = d.ViewSpec.ViewName.DbQualifier.String() // of which the names in a view are
	}
	out, err := namedjoin.Rewrite(stmt, e.tableColumns(ctx, db))
	if err == nil {
		return out, nil
	}
	// Who may not read a table learns nothing of its columns.
	s := sessionOf(ctx)
	needs := s.needs
	_, _, denied := planbuilder.New(ctx, e.sql.Analyzer.Catalog, nil).BindOnly(stmt, "", nil)
	if s.needs = needs; rights.Refused(denied) {
		return nil, denied
	}
	return nil, err
}

// tableColumns looks up the columns of tables for a statement in a database.
func (e *Engine) tableColumns(ctx *sql.Context, db string) namedjoin.Columns {
	return func(t ast.TableExpr) ([]string, bool) {
		a, ok := t.(*ast.AliasedTableExpr)
		if !ok {
			return e.shownColumns(ctx, t)
		}
		name, ok := a.Expr.(ast.TableName)
		if !ok {
			return e.shownColumns(ctx, t)
		}
		in := db
		if !name.DbQualifier.IsEmpty() {
			in = name.DbQualifier.String()
		}
		if !ofPast(a) {
			if columns := e.storedColumns(ctx, in, name.Name.String()); columns != nil {
				var names []string
				for _, c := range columns {
					if !c.Hidden && !c.HiddenSystem && c.State == catalog.StatePublic {
						names = append(names, c.Name)
					}
				}
				return names, true
			}
		}
		stored, d, err := e.lookupView(ctx, in, name.Name.String())
		if err != nil {
			return nil, false
		}
		if stored == nil {
			c := *a
			name.DbQualifier = ast.NewTableIdent(in)
			c.Expr = name
			return e.shownColumns(ctx, &c)
		}
		query := e.viewQuery(stored.CreateStatement, stored.SQLMode)
		if query == nil {
			return nil, false
		}
		if ddl := viewTree(stored); ddl != nil && len(ddl.ViewSpec.Columns) > 0 {
			var names []string
			for _, c := range ddl.ViewSpec.Columns {
				names = append(names, c.String())
			}
			return names, true
		}
		return namedjoin.Names(query, e.tableColumns(ctx, d.Name))
	}
}

// viewReader reads the views of a database.
func (e *Engine) viewReader(ctx *sql.Context, db string) frozen.Reader {
	mode := sqlMode(ctx)
	return frozen.Reader{
		Query:   func(create string) ast.SelectStatement { return e.viewQuery(create, mode) },
		Columns: e.tableColumns(ctx, db), ANSIQuotes: ansiQuotes(mode),
	}
}

// narrow refuses a statement with a SELECT of more columns than there may be. The planner makes them all,
// and KILL does not reach it there.
func (e *Engine) narrow(ctx *sql.Context, stmt ast.Statement) error {
	db := ctx.GetCurrentDatabase()
	columns := e.tableColumns(ctx, db)
	return namedjoin.Narrow(stmt, func(t ast.TableExpr) ([]string, bool) {
		if a, ok := t.(*ast.AliasedTableExpr); ok {
			if name, ok := a.Expr.(ast.TableName); ok && !e.maySee(ctx,
				cmp.Or(name.DbQualifier.String(), db), name.Name.String()) {
				return nil, false // who may not read it is told that, and no more
			}
		}
		return columns(t)
	})
}

// ofPast reports whether a table is read as it was; a lock is in the same place.
func ofPast(a *ast.AliasedTableExpr) bool {
	if a.AsOf == nil {
		return false
	}
	v, ok := a.AsOf.Time.(*ast.SQLVal)
	if !ok {
		return true
	}
	_, locks := parse.ParseLock(string(v.Val))
	return !locks
}

// shownColumns asks the planner for the columns of a table that is none of ours, or as it was.
func (e *Engine) shownColumns(ctx *sql.Context, t ast.TableExpr) (names []string, ok bool) {
	b := planbuilder.New(ctx, e.sql.Analyzer.Catalog, nil)
	b.DisableAuth() // binding the statement itself asks for the rights
	n, _, err := b.BindOnly(&ast.Select{SelectExprs: ast.SelectExprs{&ast.StarExpr{}}, From: ast.TableExprs{t}}, "", nil)
	if err != nil {
		return nil, false
	}
	for _, c := range n.Schema(ctx) {
		names = append(names, c.Name)
	}
	return names, true
}
