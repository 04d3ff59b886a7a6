package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// Who may do what is asked where a statement is bound (package rights). What only the statement itself knows is asked here.

// Accounts are the accounts of the session's server.
func (s *Session) Accounts() *mysql_db.MySQLDb { return s.eng.accounts() }

// IsView tells a view from what else may have its name, broken ones included.
func (s *Session) IsView(ctx *sql.Context, database, name string) (bool, error) {
	v, _, err := s.eng.lookupView(ctx, database, name)
	return v != nil, err
}

// Accounts are the accounts of which rights are asked, nil while the engine is being made.
func (e *Engine) Accounts() *mysql_db.MySQLDb { return e.accounts() }

func (e *Engine) accounts() *mysql_db.MySQLDb {
	if e.sql == nil { // being made
		return nil
	}
	return e.sql.Analyzer.Catalog.MySQLDb
}

// LookForAccounts has accounts that another server has changed read before the statement is bound, so that a right that was taken away there
// is gone here, too. What the statement sees of the catalog says that there was a change: what cannot be
// read there the statement will meet by itself. In an open transaction, which sees the catalog of its
// beginning, a lease says whether to look. An error says that rights cannot be known, or that the account is
// gone.
func (s *Session) LookForAccounts(ctx *sql.Context) error {
	if !s.Restricted() {
		return nil
	}
	if s.tx() != nil {
		if err := s.eng.keepUp(ctx); err != nil {
			return err
		}
		if s.tx().ddl {
			return s.gone()
		}
	}
	if v, err := s.eng.viewOf(ctx); err == nil {
		s.eng.saw(ctx, v.snap)
	}
	return s.gone()
}

// keepUp is Options.KeepUp.
func (e *Engine) keepUp(ctx *sql.Context) error {
	if e.opts.KeepUp == nil {
		return nil
	}
	return e.opts.KeepUp(ctx)
}

// saw has accounts read (Options.Saw) if they may be older than a committed version of the catalog, and reports whether they were.
func (e *Engine) saw(ctx *sql.Context, snap *catalog.Snapshot) bool {
	version, seen := snap.Version, e.seen.Load()
	if version <= seen || e.opts.Saw == nil || e.opts.Saw(ctx, snap) != nil {
		return false
	}
	for seen < version && !e.seen.CompareAndSwap(seen, version) {
		seen = e.seen.Load()
	}
	return true
}

// HasTemporary reports whether the session has a temporary table of that name. Nobody else can see it, so it takes no privilege.
func (s *Session) HasTemporary(database, table string) bool {
	return s.temp.get(database, table, s.timeZone()) != nil
}

// addCreatorsRights gives the library's rules for triggers the rights of who made the triggers: their bodies name tables, of other databases
// too, that need not be the user's business. Tables that foreign keys lead to are found because of lookAround.
func addCreatorsRights() error {
	found := 0
	for _, list := range []*[]analyzer.Rule{&analyzer.OnceAfterDefault, &analyzer.OnceAfterAll} {
		for i, r := range *list {
			if id := r.Id.String(); id == "applyTriggers" || id == "loadTriggers" {
				found++
				(*list)[i].Apply = asCreator(r.Apply)
			}
		}
	}
	if found != 2 {
		return errors.New("engine: the library's rules for triggers are not where they were")
	}
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, lookAround)
	return nil
}

// lookAround runs when a statement is bound: what the user has named he may see. From then on the planner looks for tables that triggers
// write to and that foreign keys lead to, and the session may find them until the statement runs.
var lookAround = analyzer.Rule{Id: analyzer.RuleId(-1004), Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if s := sessionOf(ctx); s != nil && s.planning {
		s.around, s.bound = true, true
	}
	switch n.(type) {
	case *plan.CreateTable, *plan.CreateForeignKey, *plan.Block:
		if err := mayReference(ctx, n); err != nil {
			return nil, transform.SameTree, err
		}
	}
	d, ok := n.(*plan.DeleteFrom)
	if !ok {
		return n, transform.SameTree, nil
	}
	// The library makes TRUNCATE of a DELETE without a condition, if there is no trigger on a table of
	// that name in the current database, and no foreign key of that database to it. That may be another
	// database than the table's, or the key's, and it binds all triggers in it with the user's rights to
	// find out. So it gets a condition.
	t, ok := d.Child.(*plan.ResolvedTable)
	own := (*Table)(nil)
	if ok {
		own = ownTable(t.Table)
	}
	if own == nil {
		return n, transform.SameTree, nil
	}
	v, err := own.eng.viewOf(ctx)
	if err != nil {
		return nil, transform.SameTree, err
	}
	if db, ok := v.snap.Database(t.SqlDatabase.Name()); ok && len(db.Triggers()) == 0 &&
		len(v.snap.References(db.Name, own.desc.Name)) == 0 &&
		strings.EqualFold(db.Name, ctx.GetCurrentDatabase()) {
		return n, transform.SameTree, nil
	}
	out, err := d.WithChildren(ctx, plan.NewFilter(ctx, expression.NewLiteral(true, types.Boolean), t))
	return out, transform.NewTree, err
}}

// mayReference asks for REFERENCES on the parents of foreign keys that a statement adds, of the table or of the columns. A table may refer
// to itself.
func mayReference(ctx *sql.Context, n sql.Node) error {
	s := sessionOf(ctx)
	if s == nil || !s.Restricted() || s.Accounts() == nil || !s.Accounts().Enabled() {
		return nil
	}
	may := func(fk *sql.ForeignKeyConstraint) error {
		if fk == nil || fk.ParentTable == "" || strings.EqualFold(fk.ParentTable, fk.Table) && (fk.ParentDatabase == "" || strings.EqualFold(fk.ParentDatabase, fk.Database)) {
			return nil
		}
		database := cmp.Or(fk.ParentDatabase, fk.Database, ctx.GetCurrentDatabase())
		if rights.OnTable(ctx, s.Accounts(), database, fk.ParentTable, sql.PrivilegeType_References) {
			return nil
		}
		of := s.Accounts().UserActivePrivilegeSet(ctx).Database(database).Table(fk.ParentTable)
		if len(fk.ParentColumns) > 0 && !slices.ContainsFunc(fk.ParentColumns, func(c string) bool { return !of.Column(c).Has(sql.PrivilegeType_References) }) {
			return nil
		}
		return rights.TableDenied(ctx, "REFERENCES", fk.ParentTable)
	}
	var err error
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.CreateTable:
			for _, fk := range n.ForeignKeys() {
				err = cmp.Or(err, may(fk))
			}
		case *plan.CreateForeignKey:
			err = cmp.Or(err, may(n.FkDef))
		}
		return err == nil
	})
	return err
}

// LooksAround implements rights.Around. What a view's text names was asked of its definer.
func (s *Session) LooksAround() bool { return s.around || s.reading != nil }

func asCreator(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (out sql.Node, same transform.TreeIdentity, err error) {
		err = rights.As(ctx, a.Catalog.MySQLDb, func() (err error) {
			out, same, err = apply(ctx, a, n, scope, sel, flags)
			return err
		})
		return out, same, err
	}
}

// mayAdminister reports whether the user of ctx may see and end what others do.
func (e *Engine) mayAdminister(ctx *sql.Context, what ...sql.PrivilegeType) bool {
	return rights.Has(ctx, e.accounts(), what...)
}

// kill is KILL of a connection that has a number. done is false for one of this server: the library ends it.
func (b *execBuilder) kill(ctx *sql.Context, n *plan.Kill) (done bool, err error) {
	everybody := b.eng.mayAdminister(ctx, sql.PrivilegeType_Super)
	if elsewhere := b.eng.opts.KillElsewhere; elsewhere != nil {
		if done, err := elsewhere(ctx, n.ConnID, n.Kt == plan.KillType_Connection, ctx.Client().User, everybody); done || err != nil {
			return done, err
		}
	}
	return b.eng.killHere(n.ConnID, ctx.Client().User, everybody)
}

// killHere ends what runs in the background; of a connection it says whether it may be ended.
func (e *Engine) killHere(id uint32, user string, everybody bool) (done bool, err error) {
	if b := e.opts.Background; b != nil {
		done, err = b.Kill(id, func(owner string) error {
			if owner != user && !everybody {
				return notOwner(id)
			}
			return nil
		})
	}
	if done || err != nil {
		return done, err
	}
	return false, e.mayKill(id, user, everybody)
}

func notOwner(id uint32) error {
	return sqlerr.New(sqlerr.NotThreadOwner, "You are not owner of thread %d", id)
}

// mayKill refuses to end the connection of somebody else, and one that is not there.
func (e *Engine) mayKill(id uint32, user string, everybody bool) error {
	for _, p := range e.sql.ProcessList.Processes() {
		if p.Connection != id {
			continue
		}
		if p.User != user && !everybody {
			return notOwner(id)
		}
		return nil
	}
	return sqlerr.New(sqlerr.NoSuchThread, "Unknown thread id: %d", id)
}

// KillFor ends the statement of a connection for a user of another server.
func (e *Engine) KillFor(id uint32, user string, everybody bool) error {
	if done, err := e.killHere(id, user, everybody); done || err != nil {
		return err
	}
	e.sql.ProcessList.Kill(id)
	return nil
}

// showTriggers leaves out the triggers of tables on which the user has no TRIGGER privilege, and says whose the others are.
func (b *execBuilder) showTriggers(ctx *sql.Context, n *plan.ShowTriggers, row sql.Row) (sql.RowIter, error) {
	if isShown(ctx, n) {
		return nil, nil
	}
	now := *n
	now.Triggers = slices.DeleteFunc(slices.Clone(n.Triggers), func(t *plan.CreateTrigger) bool {
		table, ok := t.Table.(sql.Nameable)
		return ok && !b.eng.mayTrigger(ctx, n.Database().Name(), table.Name())
	})
	it, err := b.base.Build(asShown(ctx, &now), &now, row)
	if err != nil || !b.shows {
		return it, err
	}
	v, err := b.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	d, ok := v.snap.Database(n.Database().Name())
	if !ok {
		return it, nil
	}
	return &mapRows{it, func(_ *sql.Context, row sql.Row) {
		const mode, definer, client, collation = 6, 7, 8, 9
		name, _ := row[0].(string)
		if t, ok := d.Trigger(name); ok && len(row) > collation {
			row[mode], row[definer] = t.SQLMode, t.Definer
			is := t.Spoken.Or(olderSpoken)
			row[client], row[collation] = is.CharacterSetClient, is.CollationConnection
		}
	}}, nil
}

// MayTrigger reports whether the user may see and change something that happens on a table: it is his own, or he may create such himself.
func (e *Engine) MayTrigger(ctx *sql.Context, definer, database, table string) bool {
	return definer != "" && definer == ctx.Client().User+"@"+ctx.Client().Address || e.mayTrigger(ctx, database, table)
}

func (e *Engine) mayTrigger(ctx *sql.Context, database, table string) bool {
	return rights.OnTable(ctx, e.accounts(), database, table, sql.PrivilegeType_Trigger) &&
		!past.OfOthers(ctx, e.accounts(), database, table)
}

// mayDropTrigger refuses DROP TRIGGER to who may not create one on the trigger's table.
func (b *execBuilder) mayDropTrigger(ctx *sql.Context, n *plan.DropTrigger) error {
	v, err := b.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	d, ok := v.snap.Database(n.Db.Name())
	if !ok {
		return nil
	}
	t, ok := d.Trigger(n.TriggerName)
	if !ok {
		return nil
	}
	if table := b.eng.triggerHead(t).Table; !b.eng.mayTrigger(ctx, d.Name, table) {
		return rights.TableDenied(ctx, "TRIGGER", table)
	}
	return nil
}

// mayAnalyze refuses ANALYZE TABLE to who may not read and write the table, as MySQL does.
func (b *execBuilder) mayAnalyze(ctx *sql.Context, database, table string) error {
	for _, p := range []sql.PrivilegeType{sql.PrivilegeType_Select, sql.PrivilegeType_Insert} {
		if !rights.OnTable(ctx, b.eng.accounts(), database, table, p) {
			return rights.TableDenied(ctx, "SELECT, INSERT", table)
		}
	}
	return nil
}

// maySeeEvents reports whether the user may know of a database's events. What the server does itself, running them, knows of all.
func (e *Engine) maySeeEvents(ctx *sql.Context, database string) bool {
	s := sessionOf(ctx)
	return s == nil || !s.Restricted() || !past.OfOthers(ctx, e.accounts(), database, "") &&
		rights.OnTable(ctx, e.accounts(), database, "", sql.PrivilegeType_Event)
}

// showTrigger is SHOW CREATE TRIGGER; it is refused to who may not create one there.
func (b *execBuilder) showTrigger(ctx *sql.Context, n *plan.ShowCreateTrigger,
	row sql.Row) (sql.RowIter, error) {
	if isShown(ctx, n) {
		return nil, nil
	}
	v, err := b.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	d, ok := v.snap.Database(n.Database().Name())
	if !ok {
		return nil, nil
	}
	t, ok := d.Trigger(n.TriggerName)
	if !ok {
		return nil, nil
	}
	if !b.eng.mayTrigger(ctx, d.Name, b.eng.triggerHead(t).Table) {
		return nil, rights.Needs("TRIGGER")
	}
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	return &mapRows{it, func(_ *sql.Context, row sql.Row) {
		const mode, client, collation = 1, 3, 4
		is := t.Spoken.Or(olderSpoken)
		row[mode] = t.SQLMode // by which a dump has the trigger made again
		row[client], row[collation] = is.CharacterSetClient, is.CollationConnection
	}}, nil
}

// informed lists tables of information_schema that are read with all rights; rows that are not for the user are left out then. The library
// fills two of them by binding triggers and following foreign keys with the rights of who asks, and fails at the first table that he may
// not see. In the others it looks at databases, or at nothing.
var informed = map[string]struct {
	columns [2]string
	may     func(e *Engine, ctx *sql.Context, first, second string) bool
}{
	information_schema.TriggersTableName:               {[2]string{"event_object_schema", "event_object_table"}, (*Engine).mayTrigger},
	information_schema.ReferentialConstraintsTableName: {[2]string{"constraint_schema", "table_name"}, (*Engine).maySee},
	information_schema.TablesTableName:                 {[2]string{"table_schema", "table_name"}, (*Engine).maySee},
}

// informationRows is a table of information_schema with what the user may see.
func (b *execBuilder) informationRows(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	t, ok := sql.GetUnderlyingTable(n.Table).(*information_schema.InformationSchemaTable)
	if ok && b.shows && strings.EqualFold(t.Name(), information_schema.ProcessListTableName) {
		return b.eng.showProcesses(ctx, fullText, func(id uint32, seconds uint64) (any, any) { return uint64(id), int32(seconds) })
	}
	if !ok || isShown(ctx, n) || b.eng.accounts() == nil || !b.eng.accounts().Enabled() {
		return nil, nil
	}
	what, ok := informed[strings.ToLower(t.Name())]
	if !ok {
		return nil, nil
	}
	var rows []sql.Row
	err := rights.As(ctx, b.eng.accounts(), func() error {
		it, err := b.base.Build(asShown(ctx, n), n, row)
		if err == nil {
			rows, err = sql.RowIterToRows(ctx, it)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	first, second := n.Schema(ctx).IndexOfColName(what.columns[0]), n.Schema(ctx).IndexOfColName(what.columns[1])
	if first < 0 || second < 0 {
		return nil, errors.New("engine: information_schema." + t.Name() + " has other columns than expected")
	}
	return sql.RowsToRowIter(slices.DeleteFunc(rows, func(row sql.Row) bool {
		a, _ := row[first].(string)
		other, _ := row[second].(string)
		return !what.may(b.eng, ctx, a, other)
	})...), nil
}

// mayWatch reports whether the user may see what another does.
func (e *Engine) mayWatch(ctx *sql.Context, who, _ string) bool {
	return who == ctx.Client().User || e.mayAdminister(ctx, sql.PrivilegeType_Process)
}

// maySee reports whether the user has any right on a table or a view.
func (e *Engine) maySee(ctx *sql.Context, database, table string) bool {
	return strings.EqualFold(database, sql.InformationSchemaDatabaseName) ||
		rights.OnAnyColumn(ctx, e.accounts(), database, table) &&
			!past.OfOthers(ctx, e.accounts(), database, table)
}

// MaySee is whether information_schema shows the user that there is the table.
func (e *Engine) MaySee(ctx *sql.Context, database, table string) bool {
	return e.maySee(ctx, database, table)
}

// maySetGlobal refuses SET GLOBAL and SET PERSIST to who may not change the server for all.
func maySetGlobal(ctx *sql.Context) error {
	if administers(ctx, "system_variables_admin") {
		return nil
	}
	return rights.Needs("SUPER or SYSTEM_VARIABLES_ADMIN")
}

// mayUnbound refuses to who may not administer variables what lets his statements hold more memory than the server gives everybody: he may have
// less.
func mayUnbound(ctx *sql.Context, v sql.SystemVariable, value any) error {
	_, global, _ := sql.SystemVariables.GetGlobal(v.GetName())
	most, _ := global.(int64)
	if n, ok := value.(int64); !ok || most == 0 || n > 0 && n <= most {
		return nil
	}
	if administers(ctx, "system_variables_admin", "session_variables_admin") {
		return nil
	}
	return rights.Needs("SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN")
}

// administers reports whether the session is the server's own, or its user has SUPER or one of the dynamic privileges.
func administers(ctx *sql.Context, any ...string) bool {
	if ctx == nil || ctx.Session == nil {
		return true
	}
	s := sessionOf(ctx)
	if s == nil || s.Accounts() == nil || !s.Accounts().Enabled() || nobody(s.Client()) {
		return true
	}
	return slices.ContainsFunc(any, func(p string) bool {
		return s.Accounts().UserHasPrivileges(ctx, sql.NewDynamicPrivilegedOperation(p))
	}) || rights.Has(ctx, s.Accounts(), sql.PrivilegeType_Super)
}
