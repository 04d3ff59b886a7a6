package engine

import (
	"cmp"
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/inband"
	"moka/sqlfront/multitable"
	"moka/sqlfront/namedjoin"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/unions"
	"moka/sqlfront/viewname"
)

// Writing through views. A statement that writes to a view over one table is written anew, as one that writes to the table:
//
//	UPDATE v SET x = 1 WHERE y > 2         v is SELECT a AS x, b AS y FROM t WHERE c = 3 WITH CHECK OPTION
//	   │  each time that it is bound, by the view of the moment
//	   ▼
//	UPDATE `t…v…` AS v SET v.a = 1 WHERE v.b > 2 AND v.c = 3
//	         └─ a name that Database.GetTableInsensitive resolves to t with one more CHECK, if v is still what it was
//
// So whatever holds for statements on the table (triggers, keys, observers, affected rows) holds here. Rights on the view are the user's and are
// asked as for a table; those on what is below are asked of who the view belongs to. Text reaches this from the parser, prepared
// statements when they are looked up (Session.GetPreparedQuery), and statements of bodies when they are run.

// viewMark is in the names that stand for tables below views.
var viewMark = inband.New("view")

// ThroughView is parse.Hooks.ThroughView: the statement on the table, if it is one on a view, without USING and NATURAL, and without values of
// generated columns.
func (e *Engine) ThroughView(ctx context.Context, stmt ast.Statement, joins, stars bool) (ast.Statement,
	error) {
	sctx, ok := ctx.(*sql.Context)
	if !ok || sctx.Session == nil {
		return stmt, nil
	}
	s := sessionOf(sctx)
	if s == nil {
		return stmt, nil
	}
	if err := s.next(sctx, stmt); err != nil {
		return nil, err
	}
	if stars {
		if err := e.narrow(sctx, stmt); err != nil {
			return nil, err
		}
	}
	out, err := e.throughView(sctx, stmt)
	if err == nil && out == nil {
		out, err = e.generatedValues(sctx, stmt)
	}
	if err == nil && joins {
		out, err = e.withoutNames(sctx, stmt, out)
	}
	if err != nil || out == nil {
		return stmt, err
	}
	s.rewritten.now, s.rewritten.was = out, stmt
	return out, nil
}

// belowView is the statement itself, or what it is on the table, without USING and NATURAL; joins says that there may be some.
func (e *Engine) belowView(ctx *sql.Context, stmt ast.Statement, joins bool) (ast.Statement, error) {
	unions.Forget(stmt)
	out, err := e.throughView(ctx, stmt)
	if err == nil && joins {
		out, err = e.withoutNames(ctx, stmt, out)
	}
	if out == nil {
		out = stmt
	}
	unions.Ask(out)
	return out, err
}

// throughView is the statement on the table; nil if it does not write to a view.
func (e *Engine) throughView(ctx *sql.Context, stmt ast.Statement) (ast.Statement, error) {
	if err := multitable.Valid(stmt, ctx.GetCurrentDatabase(), e.generatedColumns(ctx)); err != nil {
		return nil, err
	}
	switch n := stmt.(type) {
	case *ast.Insert:
		t, err := e.target(ctx, n.Table, n.With, "INSERT")
		if t == nil || err != nil {
			return nil, err
		}
		return e.insertThrough(ctx, n, t)
	case *ast.Update:
		from, t, err := e.onlyTarget(ctx, n.TableExprs, n.With, "UPDATE")
		if t == nil || err != nil {
			return nil, err
		}
		return e.updateThrough(ctx, n, from, t)
	case *ast.Delete:
		from, t, err := e.onlyTarget(ctx, n.TableExprs, n.With, "DELETE")
		if t == nil || err != nil {
			return nil, err
		}
		return e.deleteThrough(ctx, n, from, t)
	case *ast.AlterTable, *ast.DDL: // of a body: the parser has looked at those of clients
		return parse.RenameTables(ctx, n, e.RenameTables)
	case *ast.Explain:
		in, err := e.throughView(ctx, n.Statement)
		if in == nil || err != nil {
			return nil, err
		}
		c := *n
		c.Statement = in
		return &c, nil
	}
	return nil, nil
}

// target is the view of the name; nil if it is a table, or nothing.
func (e *Engine) target(ctx *sql.Context, name ast.TableName, with *ast.With, verb string) (*viewTarget, error) {
	db := name.DbQualifier.String()
	if db == "" {
		if with != nil {
			for _, c := range with.Ctes {
				if strings.EqualFold(c.As.String(), name.Name.String()) {
					return nil, nil
				}
			}
		}
		if db = ctx.GetCurrentDatabase(); db == "" {
			return nil, nil
		}
	}
	if sessionOf(ctx).HasTemporary(db, name.Name.String()) {
		return nil, nil
	}
	if snap := e.catalog.Latest(); snap != nil {
		// Most statements are on tables. Should what this process knows be behind by the moment in which a table has made room for a
		// view of its name, the statement fails once.
		if d, ok := snap.Database(db); ok {
			if _, ok := d.Table(name.Name.String()); ok {
				return nil, nil
			}
		}
	}
	t, view, err := e.viewTarget(ctx, db, name.Name.String())
	if err != nil || !view || t != nil {
		return t, err
	}
	if verb == "INSERT" {
		return nil, notInsertable(name.Name.String())
	}
	return nil, sqlerr.New(sqlerr.NonUpdatableTable, "The target table %s of the %s is not updatable", name.Name.String(), verb)
}

func notInsertable(name string) error {
	return sqlerr.New(sqlerr.NonInsertableTable, "The target table %s of the INSERT is not insertable-into", name)
}

// onlyTarget is the view of a statement with nothing else in its FROM clause.
func (e *Engine) onlyTarget(ctx *sql.Context, from ast.TableExprs, with *ast.With, verb string) (*ast.AliasedTableExpr, *viewTarget, error) {
	if len(from) != 1 {
		return nil, nil, nil
	}
	a, ok := from[0].(*ast.AliasedTableExpr)
	if !ok {
		return nil, nil, nil
	}
	name, ok := a.Expr.(ast.TableName)
	if !ok {
		return nil, nil, nil
	}
	t, err := e.target(ctx, name, with, verb)
	return a, t, err
}

// through is one statement that is being rewritten.
type through struct {
	eng   *Engine
	ctx   *sql.Context
	t     *viewTarget
	known string // what the new statement calls the table
	r     *viewname.Renaming
	parts int // of the views' expressions that the statement has by now
}

// viewParts is for what the statement is charged for them, the last one of a body's.
type viewParts struct{}

// through renames for a statement that calls the view known; below is what the new one calls the table.
func (e *Engine) through(ctx *sql.Context, t *viewTarget, with *ast.With, known, below string) *through {
	w := &through{eng: e, ctx: ctx, t: t, known: below}
	w.r = &viewname.Renaming{Table: e.tableNames(ctx), DB: t.db, Known: known, In: ctx.GetCurrentDatabase(),
		Below: viewname.Table{DB: t.baseDB, Name: below}, Alone: true}
	w.r.With(with)
	w.r.Column = func(name string) (ast.Expr, error) {
		c := t.column(name)
		switch {
		case c == nil:
			return nil, nil
		case c.column != "":
			return w.own(c.column), nil
		}
		return w.reparse(c.expr, c.parts, nil)
	}
	w.r.Same = func(name string) bool {
		c := t.column(name)
		if c == nil {
			return t.base.Column(name) < 0
		}
		return strings.EqualFold(c.column, c.name)
	}
	return w
}

// own is a column of the table in the statement.
func (w *through) own(name string) *ast.ColName {
	return &ast.ColName{Name: ast.NewColIdent(name), Qualifier: ast.TableName{Name: ast.NewTableIdent(w.known)}}
}

// reparse gives an expression of a view's what the parser does to those of a statement. in is the view whose
// condition it is. A column is made of several views' expressions; there are no tables in it, and its
// functions are marked. parts are those of the expression.
func (w *through) reparse(e ast.Expr, parts int, in *rights.Stored) (ast.Expr, error) {
	if err := w.grow(parts); err != nil {
		return nil, err
	}
	stmt, _, err := w.eng.sql.Parser.ParseOneWithOptions(w.ctx, "delete from "+quoteIdentifier(viewMark)+" where "+ast.String(viewname.Requalified(e, baseMark, w.known)), ast.ParserOptions{})
	if err != nil {
		return nil, err
	}
	d, ok := stmt.(*ast.Delete)
	if !ok || d.Where == nil {
		return nil, sqlerr.New(sqlerr.ViewInvalid, rights.InvalidView, w.t.db, w.t.name)
	}
	if in != nil {
		rights.Stamp(d.Where, in)
	}
	return d.Where.Expr, nil
}

// grow asks whether the statement may have so many more parts.
func (w *through) grow(parts int) error {
	if w.parts = viewname.Sum(w.parts, parts); w.parts > viewname.MaxParts {
		return tooLarge(w.t.db, w.t.name)
	}
	s := sessionOf(w.ctx)
	const few = 100
	if s == nil || w.parts < few {
		return w.ctx.Err()
	}
	return cmp.Or(w.ctx.Err(), s.ChargeValue(w.ctx, viewParts{}, int64(w.parts)*viewname.PartBytes))
}

// name is the table below as the statement names it.
func (w *through) name() ast.TableName {
	if s := sessionOf(w.ctx); s != nil {
		s.behind = w.t.baseDB
	}
	return ast.TableName{
		DbQualifier: ast.NewTableIdent(w.t.baseDB),
		Name:        ast.NewTableIdent(w.t.base.Name + viewMark + w.t.db + "\x00" + w.t.name + "\x00" + w.t.digest()),
	}
}

// where adds what the view says about rows.
func (w *through) where(where *ast.Where) (*ast.Where, error) {
	var all ast.Expr
	for _, c := range w.t.where {
		e, err := w.reparse(c.expr, c.parts, c.in)
		if err != nil {
			return nil, err
		}
		all = viewname.And(all, e)
	}
	if where != nil {
		all = viewname.And(all, w.r.Expr(where.Expr, "where clause"))
	}
	if all == nil {
		return nil, w.r.Err()
	}
	return ast.NewWhere(ast.WhereStr, all), w.r.Err()
}

func (w *through) order(by ast.OrderBy) ast.OrderBy {
	var out ast.OrderBy
	for _, o := range by {
		c := *o
		c.Expr = w.r.Expr(o.Expr, "order clause")
		out = append(out, &c)
	}
	return out
}

// returning names the columns as the view does.
func (w *through) returning(list ast.SelectExprs) ast.SelectExprs {
	var out ast.SelectExprs
	for _, x := range list {
		switch x := x.(type) {
		case *ast.StarExpr:
			if q := x.TableName; !q.IsEmpty() && (!strings.EqualFold(q.Name.String(), w.r.Known) ||
				!q.DbQualifier.IsEmpty() && !strings.EqualFold(q.DbQualifier.String(), w.r.DB)) {
				w.r.Fail(sqlerr.New(sqlerr.BadTable, "Unknown table '%s'", q.Name.String()))
			}
			for _, c := range w.t.columns {
				out = append(out, &ast.AliasedExpr{Expr: w.r.Expr(ast.NewColName(c.name), "field list"), As: ast.NewColIdent(c.name)})
			}
		case *ast.AliasedExpr:
			c := *x
			c.Expr = w.r.Expr(x.Expr, "field list")
			if col, ok := x.Expr.(*ast.ColName); ok && c.As.IsEmpty() {
				c.As = col.Name
			}
			out = append(out, &c)
		default:
			out = append(out, x)
		}
	}
	return out
}

// assigned is the column that is assigned to.
func (w *through) assigned(name *ast.ColName) (*ast.ColName, error) {
	if q := name.Qualifier.Name.String(); q != "" && !strings.EqualFold(q, w.r.Known) {
		return nil, sqlerr.New(sqlerr.BadField, "Unknown column '%s.%s' in 'field list'", q, name.Name.String())
	}
	c := w.t.column(name.Name.String())
	switch {
	case c == nil:
		return nil, sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'field list'", name.Name.String())
	case c.column == "":
		return nil, sqlerr.New(sqlerr.NonUpdatableColumn, "Column '%s' is not updatable", c.name)
	}
	return w.own(c.column), nil
}

func (w *through) assignments(in ast.AssignmentExprs) (out ast.AssignmentExprs, err error) {
	for _, a := range in {
		name, err := w.assigned(a.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, &ast.AssignmentExpr{Name: name, Expr: w.r.Expr(a.Expr, "field list")})
	}
	return out, w.r.Err()
}

func (w *through) from(a *ast.AliasedTableExpr) ast.TableExprs {
	c := *a // with the user's rights on the view
	c.Expr, c.As, c.Hints = w.name(), ast.NewTableIdent(w.known), nil
	return ast.TableExprs{&c}
}

func knownAs(a *ast.AliasedTableExpr) string {
	if !a.As.IsEmpty() {
		return a.As.String()
	}
	return a.Expr.(ast.TableName).Name.String()
}

func (e *Engine) updateThrough(ctx *sql.Context, n *ast.Update, from *ast.AliasedTableExpr, t *viewTarget) (ast.Statement, error) {
	w := e.through(ctx, t, n.With, knownAs(from), knownAs(from))
	c := *n
	var err error
	if c.Exprs, err = w.assignments(n.Exprs); err != nil {
		return nil, err
	}
	if c.Where, err = w.where(n.Where); err != nil {
		return nil, err
	}
	c.OrderBy, c.Returning, c.TableExprs = w.order(n.OrderBy), w.returning(n.Returning), w.from(from)
	if w.r.Err() != nil {
		return nil, w.r.Err()
	}
	if _, err := t.checks(); err != nil {
		return nil, err
	}
	return &c, e.mayThrough(ctx, t, sql.PrivilegeType_Update)
}

func (e *Engine) deleteThrough(ctx *sql.Context, n *ast.Delete, from *ast.AliasedTableExpr, t *viewTarget) (ast.Statement, error) {
	w := e.through(ctx, t, n.With, knownAs(from), knownAs(from))
	c := *n
	var err error
	if c.Where, err = w.where(n.Where); err != nil {
		return nil, err
	}
	if len(n.Targets) == 1 && strings.EqualFold(n.Targets[0].Name.String(), w.known) {
		c.Targets = nil
	}
	c.OrderBy, c.Returning, c.TableExprs = w.order(n.OrderBy), w.returning(n.Returning), w.from(from)
	if w.r.Err() != nil {
		return nil, w.r.Err()
	}
	return &c, e.mayThrough(ctx, t, sql.PrivilegeType_Delete)
}

func (e *Engine) insertThrough(ctx *sql.Context, n *ast.Insert, t *viewTarget) (ast.Statement, error) {
	// What a row of the view is made of must be a row of the table: each column one of it, none of them twice.
	seen := map[string]bool{}
	for _, c := range t.columns {
		key := strings.ToLower(c.column)
		if key == "" || seen[key] {
			return nil, notInsertable(n.Table.Name.String())
		}
		seen[key] = true
	}
	w := e.through(ctx, t, n.With, n.Table.Name.String(), t.base.Name)
	c := *n
	c.Table = w.name()
	c.Columns = nil
	given := n.Columns
	if len(given) == 0 {
		for _, v := range t.columns {
			given = append(given, ast.NewColIdent(v.name))
		}
		if rows, ok := n.Rows.(*ast.AliasedValues); ok {
			rows = viewname.Spelled(rows, len(given))
			c.Rows = rows
		}
	}
	for _, name := range given {
		v := t.column(name.String())
		if v == nil {
			return nil, sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'field list'", name.String())
		}
		c.Columns = append(c.Columns, ast.NewColIdent(v.column))
	}
	if err := w.defaults(seen, n); err != nil {
		return nil, err
	}
	if err := w.onDuplicate(&c, n); err != nil {
		return nil, err
	}
	c.Returning = w.returning(n.Returning)
	if w.r.Err() != nil {
		return nil, w.r.Err()
	}
	if _, err := t.checks(); err != nil {
		return nil, err
	}
	needed := []sql.PrivilegeType{sql.PrivilegeType_Insert}
	if len(n.OnDup) > 0 {
		needed = append(needed, sql.PrivilegeType_Update)
	}
	if n.Action == ast.ReplaceStr {
		needed = append(needed, sql.PrivilegeType_Delete)
	}
	return &c, e.mayThrough(ctx, t, needed...)
}

// defaults refuses an INSERT that leaves a column empty which cannot be, and is not in the view.
func (w *through) defaults(seen map[string]bool, n *ast.Insert) error {
	mode := sql.LoadSqlMode(w.ctx)
	if strings.Contains(strings.ToLower(n.Ignore), "ignore") || !mode.ModeEnabled("STRICT_TRANS_TABLES") && !mode.ModeEnabled("STRICT_ALL_TABLES") {
		return nil
	}
	for i := range w.t.base.Columns {
		c := &w.t.base.Columns[i]
		if !seen[strings.ToLower(c.Name)] && !c.Nullable && c.Default == "" && c.Generated == "" && !c.AutoIncrement && !c.HiddenSystem && c.State == catalog.StatePublic {
			return sqlerr.New(sqlerr.NoDefaultForViewField, "Field of view '%s.%s' underlying table doesn't have a default value", w.t.db, w.t.name)
		}
	}
	return nil
}

// onDuplicate renames ON DUPLICATE KEY UPDATE: columns of the view, VALUES(c), columns of the row alias and
// those of the SELECT's tables.
func (w *through) onDuplicate(c, n *ast.Insert) error {
	if len(n.OnDup) == 0 {
		return nil
	}
	r := *w.r
	rows, given := n.Rows.(*ast.AliasedValues)
	var err error
	switch {
	case !given:
		err = r.Beside(n.Rows)
	case !rows.As.IsEmpty():
		err = r.BesideRow(rows.As.String(), rows.Columns)
	}
	if err != nil {
		return err
	}
	var alias *viewname.Renaming // columns of a row alias that lists none are called as those of the view
	if given && !rows.As.IsEmpty() && len(rows.Columns) == 0 {
		alias = &viewname.Renaming{Known: rows.As.String(), Column: func(name string) (ast.Expr, error) {
			v := w.t.column(name)
			if v == nil {
				return nil, nil
			}
			return &ast.ColName{Name: ast.NewColIdent(v.column), Qualifier: ast.TableName{Name: rows.As}}, nil
		}}
	}
	c.OnDup = nil
	for _, a := range n.OnDup {
		name, err := w.assigned(a.Name)
		if err != nil {
			return err
		}
		name.Qualifier = ast.TableName{}
		e := r.Expr(a.Expr, "field list")
		if alias != nil && r.Err() == nil {
			e = alias.Expr(e, "field list")
			r.Fail(alias.Err())
		}
		c.OnDup = append(c.OnDup, &ast.AssignmentExpr{Name: name, Expr: viewname.BareInValues(e)})
	}
	return r.Err()
}

// below is the table that a statement through a view names, with the view's checks. ok is false for other names.
func (d *Database) below(ctx *sql.Context, name string) (t *Table, ok bool, err error) {
	base, of, ok := strings.Cut(name, viewMark)
	if !ok {
		return nil, false, nil
	}
	parts := strings.Split(of, "\x00")
	if len(parts) != 3 {
		return nil, false, nil
	}
	v, _, err := d.eng.viewTarget(ctx, parts[0], parts[1])
	if err != nil {
		return nil, true, err
	}
	if v == nil || v.digest() != parts[2] || !strings.EqualFold(v.base.Name, base) || !strings.EqualFold(v.baseDB, d.name) {
		// The view has become another one since the statement was read, before its transaction began. It is run again.
		return nil, true, sqlerr.New(sqlerr.Deadlock, "View '%s.%s' has been changed meanwhile; try restarting transaction", parts[0], parts[1])
	}
	found, err := d.table(ctx, v.base.Name)
	if found == nil || err != nil {
		return nil, true, err
	}
	c := *found
	c.viewChecks, err = v.checks()
	return &c, true, err
}

// Below is for package rights: the view that a name of ours stands for the table of.
func (s *Session) Below(name string) (db, view string, ok bool) {
	_, of, ok := strings.Cut(name, viewMark)
	if !ok {
		return "", "", false
	}
	parts := strings.Split(of, "\x00")
	return parts[0], parts[len(parts)-2], len(parts) == 3
}

// Base is for package rights, too: the table, of the statement's view.
func (s *Session) Base(name string) (db, table string) {
	table, _, _ = strings.Cut(name, viewMark)
	return s.behind, table
}

// rewrittenStatement is a statement in both its shapes.
type rewrittenStatement struct{ now, was ast.Statement }

// PrepareQuery implements sql.Session: what is kept of a statement on a view is what the client wrote.
func (s *Session) PrepareQuery(name string, stmt ast.Statement) {
	if s.rewritten.now == stmt && stmt != nil {
		stmt = s.rewritten.was
	}
	if namedjoin.Uses(stmt) {
		if s.joining == nil {
			s.joining = map[string]bool{}
		}
		s.joining[name] = true
	} else {
		delete(s.joining, name)
	}
	s.BaseSession.PrepareQuery(name, stmt)
}

// UnprepareQuery implements sql.Session.
func (s *Session) UnprepareQuery(name string) {
	delete(s.joining, name)
	s.prepared.Drop(s, name)
	s.BaseSession.UnprepareQuery(name)
}

// GetPreparedQuery implements sql.Session: a statement on a view, or with USING or NATURAL, is rewritten each time that it is looked up.
func (s *Session) GetPreparedQuery(name string) (ast.Statement, bool) {
	stmt, ok := s.BaseSession.GetPreparedQuery(name)
	if !ok {
		return nil, false
	}
	if s.stage == stageIdle {
		s.coming = stmt
	}
	joins := s.joining[name]
	rewrites := joins
	switch stmt.(type) {
	case *ast.Insert, *ast.Update, *ast.Delete:
		rewrites = true
	}
	if rewrites {
		now, err := s.eng.belowView(sql.NewContext(context.Background(), sql.WithSession(s)), stmt, joins)
		if err != nil {
			return ast.InjectedStatement{Statement: refusedStatement{err}, Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE, TargetType: ast.AuthTargetType_Ignore}}, true
		}
		return now, true
	}
	return stmt, true
}

// refusedStatement fails when it is bound: who looks a statement up can be told of no error.
type refusedStatement struct{ err error }

// WithResolvedChildren implements ast.Injectable.
func (r refusedStatement) WithResolvedChildren(context.Context, []any) (any, error) {
	return nil, r.err
}

// tableNames is viewname.Renaming's Table.
func (e *Engine) tableNames(ctx *sql.Context) func(db, name string) []string {
	return func(db, name string) (columns []string) {
		for _, c := range e.storedColumns(ctx, db, name) {
			if !c.Hidden && !c.HiddenSystem && c.State == catalog.StatePublic {
				columns = append(columns, c.Name)
			}
		}
		return columns
	}
}

func (e *Engine) storedColumns(ctx *sql.Context, db, name string) []catalog.Column {
	if s := sessionOf(ctx); s != nil {
		if t := s.temp.get(db, name, s.timeZone()); t != nil {
			return t.desc.Columns
		}
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return nil
	}
	t, ok := d.Table(name)
	if !ok {
		return nil
	}
	return t.Columns
}

// definerOfView is user@host of who a view that is being created belongs to.
func (e *Engine) definerOfView(ctx *sql.Context, create string) (string, error) {
	clause := ""
	if d := viewTree(&catalog.View{CreateStatement: create, SQLMode: sqlMode(ctx)}); d != nil {
		clause = d.ViewSpec.Definer
	}
	definer, _, err := e.newDefiner(ctx, clause)
	return definer, err
}
