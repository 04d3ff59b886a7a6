package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/account"
	"moka/sqlfront/gms"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/unions"
)

// Privileges of columns. Who has none on a table but some on its columns is let through by package rights while the statement is bound, and
// the table is noted; once the statement is bound, and before anything is done with it, all columns that it reads and writes are known,
// and asked for one by one. What was noted and is not found in the bound statement refuses it: a statement that hides a table from us
// does not get at it. Nothing of this is kept in plans: those of the plan cache are for privileges on tables.

// columnNeed is a table of the statement whose columns have to be asked for.
type columnNeed struct {
	database, table string // in lower case
	privilege       sql.PrivilegeType
	by              account.Name  // who is asked: the definer of a view, if it is that which names the table
	in              rights.Stored // the view
	// must: the user has no such privilege on the table, so it has to be found. Otherwise he may write to it, and what he reads of it to do so
	// is asked for.
	must bool
	// past: it is read as it was, by a view, whose right it is: columns that had another one's name are asked
	// for, and no others.
	past bool
}

// NeedColumns notes a table.
func (s *Session) NeedColumns(database, table string, p sql.PrivilegeType, must bool) {
	if database == "" {
		database = s.GetCurrentDatabase()
	}
	need := columnNeed{database: strings.ToLower(database), table: strings.ToLower(table), privilege: p, by: s.Account(), must: must}
	if s.reading != nil {
		need.in = *s.reading
	}
	s.needs = append(s.needs, need)
}

var _ unions.Session = (*Session)(nil)

// Asks implements unions.Session: a table is to be found as often as it was noted.
func (s *Session) Asks() (forget func()) {
	noted := len(s.needs)
	return func() { s.needs = s.needs[:min(noted, len(s.needs))] }
}

// columnRights runs before all other rules of ours, when the tree is as it was bound.
var columnRights = analyzer.Rule{Id: analyzer.RuleId(-1005), Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if s := sessionOf(ctx); s != nil && len(s.needs) > 0 {
		if err := s.mayColumns(ctx, n); err != nil {
			return nil, transform.SameTree, err
		}
	}
	return n, transform.SameTree, nil
}}

// unasked refuses a statement whose columns nobody has looked at. PREPARE has no rules applied.
func (s *Session) unasked(ctx *sql.Context, n sql.Node) error {
	if p, ok := n.(*plan.PrepareQuery); ok {
		switch p.Child.(type) {
		case *plan.CreateTrigger, *plan.CreateView:
			// The library would read what is stored off the text of EXECUTE, where PREPARE's has it.
			s.UnprepareQuery(p.Name)
			return sqlerr.NotPreparable()
		}
		if len(s.needs) > 0 {
			if err := s.mayColumns(ctx, p); err != nil {
				s.UnprepareQuery(p.Name)
				return err
			}
		}
		if err := s.prepared.Keep(ctx, s, p.PrepStmt); err != nil {
			s.UnprepareQuery(p.Name)
			return err
		}
		return nil
	}
	for _, need := range s.needs {
		if need.must {
			return rights.TableDenied(ctx, strings.ToUpper(need.privilege.String()), need.table)
		}
	}
	s.needs = nil
	return nil
}

// usedTable is a table in the bound statement.
type usedTable struct {
	columnNeed
	of     *plan.ResolvedTable
	all    bool            // its rows leave as they are
	writes map[string]bool // columns that are written
	names  map[string]bool // columns that are read, where only their names are known
}

// columnUse finds what a bound statement reads and writes.
type columnUse struct {
	ctx    *sql.Context
	tables []*usedTable
	reads  map[sql.ColumnId]bool
}

func (s *Session) mayColumns(ctx *sql.Context, n sql.Node) error {
	needs := s.needs
	u := &columnUse{ctx: ctx, reads: map[sql.ColumnId]bool{}}
	u.node(n, false)
	for _, t := range u.tables {
		var done []account.Name // a table that is named here and in a view is asked of both, in both places
		for _, need := range needs {
			if need.database != t.database || need.table != t.table || need.privilege != t.privilege ||
				!need.past && slices.Contains(done, need.by) {
				continue
			}
			ask := func() error {
				if need.past {
					return t.ask(ctx, u, nil)
				}
				return t.ask(ctx, u, s.eng.accounts().UserActivePrivilegeSet(ctx).Database(t.database).Table(t.table))
			}
			if !need.past {
				done = append(done, need.by)
			}
			if err := s.askAs(ctx, need.by, ask); err != nil {
				if need.in.View != "" {
					err = need.in.Invalid(err)
				}
				return err
			}
		}
	}
	for _, need := range needs {
		same := func(n columnNeed) bool { return n == need }
		noted, found := 0, 0
		for _, n := range needs {
			if same(n) {
				noted++
			}
		}
		for _, t := range u.tables {
			if t.database == need.database && t.table == need.table && t.privilege == need.privilege {
				found++
			}
		}
		if need.must && found < noted {
			return s.unasked(ctx, nil)
		}
	}
	s.needs = nil
	return nil
}

// askAs is ActAs unless the session is that account's already.
func (s *Session) askAs(ctx *sql.Context, by account.Name, ask func() error) error {
	if by == s.Account() {
		return ask()
	}
	return s.ActAs(ctx, by.User, by.Host, ask)
}

// ask looks at each column of a table that is used; granted are rights on them, nil for all.
func (t *usedTable) ask(ctx *sql.Context, u *columnUse, granted sql.PrivilegeSetTable) error {
	what := strings.ToUpper(t.privilege.String())
	columns := t.of.Schema(ctx)
	same, err := pastColumns(ctx, t.of)
	if err != nil {
		return err
	}
	var used, denied []string
	for i, c := range columns {
		switch {
		case t.privilege == sql.PrivilegeType_Select:
			if !t.all && !u.reads[columnID(t.of, i)] && !t.names[strings.ToLower(c.Name)] {
				continue
			}
		case !t.writes[strings.ToLower(c.Name)]:
			continue
		}
		used = append(used, c.Name)
		if granted != nil && !granted.Column(c.Name).Has(t.privilege) || same != nil && !same(c.Name) {
			denied = append(denied, c.Name)
		}
	}
	switch {
	case len(denied) == 0:
		return nil
	case granted != nil && len(used) == len(columns) && len(used) > 1 && len(granted.GetColumns()) > 0:
		// SELECT *, and INSERT without a list: MySQL does not name a column then to who may not know of all.
		return rights.TableDenied(ctx, what, t.of.Name())
	}
	return rights.ColumnDenied(ctx, what, denied[0], t.of.Name())
}

// columnID is the id of a table's i-th column in the statement; they are given one after the other.
func columnID(t *plan.ResolvedTable, i int) sql.ColumnId {
	first, ok := t.Columns().Next(1)
	if !ok {
		return 0
	}
	return first + sql.ColumnId(i)
}

func (u *columnUse) table(t *plan.ResolvedTable, p sql.PrivilegeType) *usedTable {
	database := ""
	if t.SqlDatabase != nil {
		database = t.SqlDatabase.Name()
	}
	use := &usedTable{columnNeed: columnNeed{database: strings.ToLower(database), table: strings.ToLower(t.UnderlyingTable().Name()), privilege: p}, of: t, writes: map[string]bool{}}
	u.tables = append(u.tables, use)
	return use
}

// node looks at a node; projected says that something above it takes single columns of its rows.
func (u *columnUse) node(n sql.Node, projected bool) {
	switch n := n.(type) {
	case nil:
		return
	case *plan.ResolvedTable:
		u.table(n, sql.PrivilegeType_Select).all = !projected || n.Columns().Len() != len(n.Schema(u.ctx))
		return
	case *plan.InsertInto:
		u.insert(n)
		return
	case *plan.UpdateSource:
		u.update(n.UpdateExprs, n.Child)
		u.node(n.Child, true)
		return
	case *plan.PrepareQuery:
		u.node(n.Child, false)
		return
	case *plan.Update:
		u.node(n.Child, true)
		return
	case *plan.DeleteFrom:
		u.node(n.Child, true)
		return
	case *plan.SubqueryAlias:
		u.node(n.Child, false)
		return
	case *plan.Project, *plan.GroupBy, *plan.Window:
		projected = true
	}
	if e, ok := n.(sql.Expressioner); ok {
		for _, x := range e.Expressions() {
			u.expr(x)
		}
	}
	for _, c := range n.Children() {
		u.node(c, projected)
	}
}

func (u *columnUse) insert(n *plan.InsertInto) {
	u.node(n.Source, false)
	dest := n.Destination
	if d, ok := dest.(*plan.InsertDestination); ok {
		dest = d.Child
	}
	t, ok := dest.(*plan.ResolvedTable)
	if !ok {
		return // what was noted is not found
	}
	into := u.table(t, sql.PrivilegeType_Insert)
	names := n.ColumnNames
	if len(names) == 0 {
		for _, c := range t.Schema(u.ctx) {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		into.writes[strings.ToLower(name)] = true
	}
	if len(n.Returning) > 0 {
		back := u.table(t, sql.PrivilegeType_Select)
		back.names = map[string]bool{}
		for _, e := range n.Returning {
			u.namesOf(e, t.Name(), back.names)
			u.expr(e)
		}
	}
	if n.OnDupExprs.HasUpdates() {
		u.update(n.OnDupExprs, t)
		old := u.table(t, sql.PrivilegeType_Select)
		old.names = map[string]bool{}
		for _, e := range n.OnDupExprs.ExplicitUpdateExprs() {
			if f, ok := e.(*expression.SetField); ok {
				e = f.RightChild
			}
			u.namesOf(e, t.Name(), old.names) // the row that is there has ids of its own here
		}
	}
}

// namesOf notes by their names which columns of a table an expression reads.
func (u *columnUse) namesOf(e sql.Expression, table string, names map[string]bool) {
	u.outerNames(e, table, sql.ColSet{}, names)
}

// outerNames notes those that are none of the queries' around the expression, whose ids are inner: to a
// subquery the row that is there is one from outside.
func (u *columnUse) outerNames(e sql.Expression, table string, inner sql.ColSet, names map[string]bool) {
	sql.Inspect(u.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if (e.Table() == "" || strings.EqualFold(e.Table(), table)) && !inner.Contains(e.Id()) {
				names[strings.ToLower(e.Name())] = true
			}
		case *plan.Subquery:
			u.namesWithin(e.Query, table, inner, names)
		case *plan.ExistsSubquery:
			u.namesWithin(e.Query.Query, table, inner, names)
			return false
		case *function.Values: // of the row that is to be inserted
			return false
		}
		return true
	})
}

// namesWithin does the same for a query. The ids within a derived table are that query's alone: a view may
// have been bound by itself.
func (u *columnUse) namesWithin(query sql.Node, table string, outer sql.ColSet, names map[string]bool) {
	inner := outer.Copy()
	each := func(node func(sql.Node), expr func(sql.Expression)) {
		transform.InspectWithOpaque(u.ctx, query, func(_ *sql.Context, n sql.Node) bool {
			node(n)
			if x, ok := n.(sql.Expressioner); ok {
				for _, e := range x.Expressions() {
					if e != nil {
						expr(e)
					}
				}
			}
			_, derived := n.(*plan.SubqueryAlias)
			return !derived
		})
	}
	each(func(n sql.Node) {
		switch t := n.(type) {
		case *plan.SetOp, *plan.RecursiveCte: // have ids of their first query's, which may be from outside
		case plan.TableIdNode:
			inner.UnionWith(t.Columns())
		}
	}, func(e sql.Expression) {
		sql.Inspect(u.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if a, ok := e.(*expression.Alias); ok {
				if f, same := a.Child.(*expression.GetField); !same || f.Id() != a.Id() {
					inner.Add(a.Id())
				}
			}
			return true
		})
	})
	each(func(n sql.Node) {
		if d, ok := n.(*plan.SubqueryAlias); ok {
			u.namesWithin(d.Child, table, inner.Difference(d.Columns()), names)
		}
	}, func(e sql.Expression) { u.outerNames(e, table, inner, names) })
}

// update notes what SET writes and reads.
func (u *columnUse) update(set *plan.UpdateExprs, from sql.Node) {
	var targets []*usedTable
	transform.Inspect(from, func(n sql.Node) bool {
		if t, ok := n.(*plan.ResolvedTable); ok {
			targets = append(targets, u.table(t, sql.PrivilegeType_Update))
		}
		_, derived := n.(*plan.SubqueryAlias)
		return !derived
	})
	for _, e := range set.ExplicitUpdateExprs() {
		f, ok := e.(*expression.SetField)
		if !ok {
			u.expr(e)
			continue
		}
		left, ok := f.LeftChild.(*expression.GetField)
		if !ok {
			u.expr(e)
			continue
		}
		for _, t := range targets {
			if t.of.Columns().Contains(left.Id()) || t.of.Columns().Len() == 0 || len(targets) == 1 {
				t.writes[strings.ToLower(left.Name())] = true
			}
		}
		u.expr(f.RightChild)
	}
}

func (u *columnUse) expr(e sql.Expression) {
	sql.Inspect(u.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			u.reads[e.Id()] = true
		case *function.Values: // of the row that is to be inserted
			return false
		case *plan.Subquery:
			u.node(e.Query, false)
		case *plan.ExistsSubquery:
			// Which columns it is made of does not matter, but that is for the planner to find out.
			u.node(e.Query.Query, false)
			return false
		}
		return true
	})
}

// columnsSeen says which columns of a table the user may know of; nil for all.
func (e *Engine) columnsSeen(ctx *sql.Context, database, table string) func(column string) bool {
	if s := sessionOf(ctx); s == nil || !s.Restricted() || s.HasTemporary(database, table) {
		return nil
	}
	return rights.Columns(ctx, e.accounts(), database, table)
}

// sees reports whether the user may know of a table: he may do something with it, or with a column.
func (e *Engine) sees(ctx *sql.Context, database, table string) bool {
	s := sessionOf(ctx)
	return s == nil || !s.Restricted() || strings.EqualFold(database, sql.InformationSchemaDatabaseName) ||
		rights.OnAnyColumn(ctx, e.accounts(), database, table) || s.HasTemporary(database, table)
}

// seenColumns leaves out the rows of SHOW COLUMNS or SHOW INDEX of a table that are about columns of which
// the user may not know. What is about an expression is about several.
func (e *Engine) seenColumns(ctx *sql.Context, of sql.Node, rows []sql.Row, column int) []sql.Row {
	rt, ok := of.(*plan.ResolvedTable)
	if !ok || rt.SqlDatabase == nil {
		return rows
	}
	may := e.columnsSeen(ctx, rt.SqlDatabase.Name(), rt.Name())
	if may == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(r sql.Row) bool {
		name, _ := r[column].(string)
		return !may(name)
	})
}

// seenInformation is a table of information_schema without the tables that the user may not see, and without
// the columns; where it tells what is in a column, without those that he may not read.
func (b *execBuilder) seenInformation(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if it, err := b.bySight(ctx, n, row); it != nil || err != nil {
		return it, err
	}
	it, err := b.information(ctx, n, row)
	if err != nil || isShown(ctx, n) || !gms.OfInformation(n) {
		return it, err
	}
	if s := sessionOf(ctx); s == nil || !s.Restricted() || !b.eng.asks() {
		return it, nil
	}
	if set := b.eng.accounts().UserActivePrivilegeSet(ctx); set.Has(sql.PrivilegeType_Select) ||
		set.Has(sql.PrivilegeType_Super) {
		return it, nil
	}
	columns := n.Schema(ctx)
	at := func(names ...string) int {
		return slices.IndexFunc(columns, func(c *sql.Column) bool {
			return slices.Contains(names, strings.ToLower(c.Name))
		})
	}
	f := &seenRows{eng: b.eng, database: at("table_schema", "constraint_schema", "schema_name"),
		table: at("table_name"), column: at("column_name"),
		read: strings.EqualFold(n.Name(), information_schema.ColumnStatisticsTableName)}
	if f.database < 0 || f.table < 0 && !strings.EqualFold(n.Name(), information_schema.SchemataTableName) {
		return it, nil
	}
	if it == nil {
		if it, err = b.base.Build(asShown(ctx, n), n, row); err != nil {
			return nil, err
		}
	}
	f.RowIter = it
	return f, nil
}

// seenRows leaves rows out.
type seenRows struct {
	sql.RowIter
	eng                     *Engine
	database, table, column int // negative for none
	read                    bool
}

// Next implements sql.RowIter.
func (f *seenRows) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := f.RowIter.Next(ctx)
		if err != nil || f.seen(ctx, row) {
			return row, err
		}
	}
}

func (f *seenRows) seen(ctx *sql.Context, row sql.Row) bool {
	database, _ := row[f.database].(string)
	if f.table < 0 { // the others are seen by name already
		return database != infoschema.AccountsDatabase || rights.Listed(ctx, f.eng.accounts(), database)
	}
	table, _ := row[f.table].(string)
	if f.column < 0 {
		return f.eng.sees(ctx, database, table)
	}
	column, _ := row[f.column].(string)
	if f.read {
		return rights.MayRead(ctx, f.eng.accounts(), database, table, column)
	}
	may := f.eng.columnsSeen(ctx, database, table)
	return f.eng.sees(ctx, database, table) && (may == nil || may(column))
}
