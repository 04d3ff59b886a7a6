package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/inband"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/viewname"
)

// viewTarget is a view through which rows of one table can be written: its SELECT, and those of the views that it is over, merged into one.
// Expressions name columns of the table, qualified by baseMark.
type viewTarget struct {
	db, name string // of the view
	baseDB   string
	base     *catalog.Table
	columns  []viewColumn
	where    []viewCondition // of the innermost view first
	needs    []viewNeed
	texts    string // all that this was made of
}

// viewColumn is a column of a view: one of the table's if column is set, else an expression, which cannot be written.
type viewColumn struct {
	name, column string
	expr         ast.Expr
	parts        int // of expr, whose tree others share: see viewname.Parts
}

// viewCondition is the WHERE of a view; if checked, rows that are written through the outer view have to meet it.
type viewCondition struct {
	expr    ast.Expr
	parts   int
	checked bool
	in      *rights.Stored // whose it is
}

// viewNeed is a table or view within a view, and whose rights on it count: nobody's are the user's.
type viewNeed struct {
	as       account.Name
	db, name string
}

// baseMark qualifies columns of the base table in a viewTarget. It is taken out before anybody sees it.
var baseMark = inband.New("base")

// maxViews bounds views over views.
const maxViews = 64

func (e *Engine) lookupView(ctx *sql.Context, db, name string) (*catalog.View, *catalog.Database, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return nil, nil, nil
	}
	stored, ok := d.View(name)
	if !ok {
		return nil, d, nil
	}
	return stored, d, e.viewReadable(v, d, stored)
}

// viewTree is the SELECT of a view as the bare grammar reads it: what is made of it goes through our parser once more.
func viewTree(stored *catalog.View) *ast.DDL {
	d, err := parse.Grammar(context.Background(), stored.CreateStatement, sql.NewSqlModeFromString(stored.SQLMode).ParserOptions())
	ddl, ok := d.(*ast.DDL)
	if err != nil || !ok || ddl.ViewSpec == nil {
		return nil
	}
	return ddl
}

// viewTarget looks at a view. target is nil if rows cannot be written through it, and view is false if it is none.
func (e *Engine) viewTarget(ctx *sql.Context, db, name string) (target *viewTarget, view bool, err error) {
	return e.viewWithin(ctx, nil, db, name, 0)
}

// viewWithin is viewTarget for a view within others, whose rights count for its own: SQL SECURITY INVOKER
// within a view is that view's.
func (e *Engine) viewWithin(
	ctx *sql.Context, outer *rights.Stored, db, name string, depth int,
) (target *viewTarget, view bool, err error) {
	stored, d, err := e.lookupView(ctx, db, name)
	if stored == nil || err != nil {
		return nil, false, err
	}
	ddl := viewTree(stored)
	if ddl == nil || depth > maxViews {
		return nil, true, nil
	}
	spec := ddl.ViewSpec
	s := viewname.Mergeable(spec)
	if s == nil {
		return nil, true, nil
	}
	from, ok := s.From[0].(*ast.AliasedTableExpr)
	if !ok || from.AsOf != nil {
		return nil, true, nil
	}
	table, ok := from.Expr.(ast.TableName)
	if !ok {
		return nil, true, nil
	}
	inDB := table.DbQualifier.String()
	if inDB == "" {
		inDB = d.Name
	}
	if session := sessionOf(ctx); session != nil {
		of := session.collationOf(stored.Spoken)
		if of == sql.Collation_Unspecified && spec.CheckOption != ast.ViewCheckOptionUnspecified {
			of = session.GetCollation() // the condition becomes a CHECK, which knows no session
		}
		expr.Collate(spec.ViewExpr, of)
	}
	in := storedAs(outer, d.Name, stored.Name, stored.Definer, strings.EqualFold(spec.Security, "invoker"))
	as := account.Name{User: in.User, Host: in.Host}
	t := &viewTarget{db: d.Name, name: stored.Name}
	e.provider.markCalls(spec.ViewExpr, in)
	under, isView, err := e.viewWithin(ctx, in, inDB, table.Name.String(), depth+1)
	switch {
	case err != nil || isView && under == nil:
		return nil, true, err
	case isView:
		t.baseDB, t.base, t.where, t.texts = under.baseDB, under.base, slices.Clone(under.where), under.texts
	default:
		v, err := e.viewOf(ctx)
		if err != nil {
			return nil, true, err
		}
		in, ok := v.snap.Database(inDB)
		if !ok {
			return nil, true, nil
		}
		if t.base, ok = in.Table(table.Name.String()); !ok {
			return nil, true, sqlerr.New(sqlerr.ViewInvalid, rights.InvalidView, d.Name, stored.Name)
		}
		t.baseDB = in.Name
	}
	t.needs = []viewNeed{{as, inDB, table.Name.String()}}
	if under != nil {
		t.needs = append(t.needs, under.needs...)
	}
	t.texts += "\x00" + stored.CreateStatement + "\x00" + stored.SQLMode + "\x00" + stored.Definer +
		"\x00" + stored.CollationConnection

	known := from.As.String()
	if known == "" {
		known = table.Name.String()
	}
	parts := 0
	column := func(name string) (ast.Expr, error) {
		if under != nil {
			if c := under.column(name); c != nil {
				parts = viewname.Sum(parts, c.parts)
				return c.expr, nil
			}
			return nil, nil
		}
		if i := t.base.Column(name); i >= 0 {
			return baseColumn(t.base.Columns[i].Name), nil
		}
		return nil, nil
	}
	r := &viewname.Renaming{Table: e.tableNames(ctx), DB: inDB, Known: known, In: d.Name, Column: column,
		Alone: true, Same: func(string) bool { return false }}
	if !t.list(r, s, under, &parts) {
		return nil, true, t.invalid(r.Err())
	}
	if len(spec.Columns) > 0 {
		if len(spec.Columns) != len(t.columns) {
			return nil, true, nil
		}
		for i, c := range spec.Columns {
			t.columns[i].name = c.String()
		}
	}
	option := spec.CheckOption
	if option == ast.ViewCheckOptionCascaded {
		for i := range t.where {
			t.where[i].checked = true
		}
	}
	if s.Where != nil {
		if viewname.Mentions(s.Where.Expr, d.Name, inDB, table.Name.String()) {
			return nil, true, nil
		}
		parts = viewname.Parts(s.Where.Expr)
		where := r.Expr(s.Where.Expr, "where clause")
		if r.Err() != nil {
			return nil, true, t.invalid(r.Err())
		}
		all := parts
		for _, w := range t.where {
			all = viewname.Sum(all, w.parts)
		}
		if all > viewname.MaxParts {
			return nil, true, tooLarge(d.Name, stored.Name)
		}
		checked := option != ast.ViewCheckOptionUnspecified
		t.where = append(t.where, viewCondition{viewname.Qualified(where, d.Name), parts, checked, in})
	}
	return t, true, nil
}

// invalid is the error of a view one of whose columns is gone. What else is wrong with its names makes it one
// through which rows cannot be written.
func (t *viewTarget) invalid(names error) error {
	if names == nil || sqlerr.Code(names) != sqlerr.BadField {
		return nil
	}
	return sqlerr.New(sqlerr.ViewInvalid, rights.InvalidView, t.db, t.name)
}

// tooLarge refuses a statement that the expressions of views would make too large.
func tooLarge(db, name string) error {
	return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: the expressions of view `%s`.`%s` have "+
		"more than %d parts with those of the views below it, as the statement names them", db, name,
		viewname.MaxParts)
}

// list fills in the columns. parts are those of what r has put in the place of names.
func (t *viewTarget) list(r *viewname.Renaming, s *ast.Select, under *viewTarget, parts *int) bool {
	for _, x := range s.SelectExprs {
		switch x := x.(type) {
		case *ast.StarExpr:
			if q := x.TableName.Name.String(); q != "" && !strings.EqualFold(q, r.Known) {
				return false
			}
			if under != nil {
				t.columns = append(t.columns, under.columns...)
				continue
			}
			for _, c := range t.base.Columns {
				if !c.Hidden && !c.HiddenSystem && c.State == catalog.StatePublic {
					t.columns = append(t.columns, viewColumn{c.Name, c.Name, baseColumn(c.Name), 1})
				}
			}
		case *ast.AliasedExpr:
			if viewname.Aggregates(x.Expr) {
				return false
			}
			*parts = viewname.Parts(x.Expr)
			e := r.Expr(x.Expr, "field list")
			if r.Err() != nil {
				return false
			}
			c := viewColumn{name: x.As.String(), expr: e, parts: *parts}
			if col, ok := e.(*ast.ColName); ok {
				c.column = col.Name.String()
			}
			if c.name == "" {
				if col, ok := x.Expr.(*ast.ColName); ok {
					c.name = col.Name.String()
				} else if c.name = x.InputExpression; c.name == "" {
					c.name = ast.String(x.Expr)
				}
			}
			t.columns = append(t.columns, c)
		default:
			return false
		}
	}
	return slices.ContainsFunc(t.columns, func(c viewColumn) bool { return c.column != "" })
}

func baseColumn(name string) *ast.ColName {
	return &ast.ColName{Name: ast.NewColIdent(name), Qualifier: ast.TableName{Name: ast.NewTableIdent(baseMark)}}
}

func (t *viewTarget) column(name string) *viewColumn {
	for i := range t.columns {
		if strings.EqualFold(t.columns[i].name, name) {
			return &t.columns[i]
		}
	}
	return nil
}

// invokers reports whether a view is read with the rights of who reads it.
func invokers(v *catalog.View) bool {
	if !strings.Contains(strings.ToLower(v.CreateStatement), "invoker") {
		return false
	}
	d := viewTree(v)
	return d == nil || strings.EqualFold(d.ViewSpec.Security, "invoker")
}

// mayThrough refuses a statement through a view if who the view belongs to may not run it on what is below.
func (e *Engine) mayThrough(ctx *sql.Context, t *viewTarget, needed ...sql.PrivilegeType) error {
	s := sessionOf(ctx)
	if s == nil || !e.asks() {
		return nil
	}
	for _, n := range t.needs {
		ask := func() error {
			for _, p := range needed {
				if !rights.OnTable(ctx, e.accounts(), n.db, n.name, p) {
					return sqlerr.New(sqlerr.ViewInvalid, rights.InvalidView, t.db, t.name)
				}
			}
			return nil
		}
		err := error(nil)
		if n.as.None() {
			err = ask()
		} else {
			err = s.ActAs(ctx, n.as.User, n.as.Host, ask)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// digest tells this definition from others of the same view.
func (t *viewTarget) digest() string {
	h := sha256.Sum256([]byte(t.texts))
	return hex.EncodeToString(h[:16])
}

// checks are what rows have to meet that are written through the view, as constraints of the table.
func (t *viewTarget) checks() ([]sql.CheckDefinition, error) {
	var all []sql.CheckDefinition
	for _, w := range t.where {
		if !w.checked {
			continue
		}
		if viewname.HasSubquery(w.expr) {
			return nil, sqlerr.Unsupported("writing through a view WITH CHECK OPTION whose condition has a subquery")
		}
		all = append(all, sql.CheckDefinition{Name: sqlerr.CheckOption(t.db, t.name), CheckExpression: "(" + ast.String(viewname.Requalified(w.expr, baseMark, "")) + ") is true", Enforced: true})
	}
	return all, nil
}

// viewsTable is information_schema.views with what we know better: check options, which views can be written, and whose they are.
func (e *Engine) viewsTable(t sql.Table) sql.Table {
	theirs, ok := t.(*information_schema.InformationSchemaTable)
	if !ok {
		return t
	}
	const database, name, option, updatable, definer, client, collation = 1, 2, 4, 5, 6, 8, 9
	ours := *theirs
	ours.Reader = func(ctx *sql.Context, c sql.Catalog) (sql.RowIter, error) {
		rows, err := byDatabase(ctx, c, theirs.Reader)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			db, _ := row[database].(string)
			view, _ := row[name].(string)
			stored, _, err := e.lookupView(ctx, db, view)
			if err != nil {
				return nil, err
			}
			if stored == nil {
				continue
			}
			target, _, err := e.viewTarget(ctx, db, view)
			row[updatable] = "NO"
			if target != nil && err == nil {
				row[updatable] = "YES"
			}
			if c := checkOption(stored); c != "" {
				row[option] = c
			}
			if stored.Definer != "" {
				row[definer] = stored.Definer
			}
			is := stored.Spoken.Or(olderSpoken)
			row[client], row[collation] = is.CharacterSetClient, is.CollationConnection
		}
		return sql.RowsToRowIter(rows...), nil
	}
	return &ours
}

// byDatabase reads a table of information_schema with each database as the current one: the library binds the
// views again, and leaves out those whose names it does not find.
func byDatabase(ctx *sql.Context, c sql.Catalog,
	read func(*sql.Context, sql.Catalog) (sql.RowIter, error)) (rows []sql.Row, err error) {
	defer ctx.SetCurrentDatabase(ctx.GetCurrentDatabase())
	for _, db := range c.AllDatabases(ctx) {
		ctx.SetCurrentDatabase(db.Name())
		it, err := read(ctx, oneDatabase{c, db})
		if err != nil {
			return nil, err
		}
		more, err := sql.RowIterToRows(ctx, it)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// oneDatabase is a catalog that lists one of its databases.
type oneDatabase struct {
	sql.Catalog
	db sql.Database
}

// AllDatabases implements sql.Catalog.
func (c oneDatabase) AllDatabases(*sql.Context) []sql.Database { return []sql.Database{c.db} }

// checkOption is LOCAL or CASCADED; empty if the view has none.
func checkOption(v *catalog.View) string {
	if !strings.Contains(strings.ToLower(v.CreateStatement), "option") {
		return ""
	}
	if d := viewTree(v); d != nil {
		return strings.ToUpper(string(d.ViewSpec.CheckOption))
	}
	return ""
}
