package rights

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	_ "github.com/dolthub/go-mysql-server/sql/planbuilder" // brings the library's handler, which ours is put before
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Install puts the handler before the library's, for the whole process: the library has one.
var Install = sync.OnceFunc(func() {
	sql.SetAuthorizationHandlerFactory(factory{sql.GetAuthorizationHandlerFactory()})
})

type factory struct {
	theirs sql.AuthorizationHandlerFactory
}

// CreateHandler implements sql.AuthorizationHandlerFactory.
func (f factory) CreateHandler(c sql.Catalog) sql.AuthorizationHandler {
	return handler{whole{f.theirs.CreateHandler(c)}}
}

// handler is asked for each node. The planner looks into the library's state by its type, so it is passed through.
type handler struct{ sql.AuthorizationHandler }

var _ sql.AuthorizationHandler = handler{}

// temporary is a session that has tables of its own.
type temporary interface {
	HasTemporary(database, table string) bool
}

// around is a session whose statement is bound and being planned: it may find tables that the user does not name. That lets nobody read
// them; what a statement does with a table is HandleAuth's.
type around interface{ LooksAround() bool }

// through is a session whose statements write through views: they name the table below by a name that says which view it is.
type through interface {
	Below(name string) (database, view string, ok bool)
	// Base is the table itself.
	Base(name string) (database, table string)
}

// naming is a session that wants to know of a database before somebody looks whether its user may see it.
type naming interface{ NameDatabase(name string) }

// meetsTemporary reports whether what takes the privilege would find a temporary table before what else has its name. CREATE TABLE, CREATE VIEW
// and CREATE TRIGGER do not.
func meetsTemporary(privilege string) bool {
	switch privilege {
	case ast.AuthType_SELECT, ast.AuthType_INSERT, ast.AuthType_UPDATE, ast.AuthType_DELETE, ast.AuthType_REPLACE, ast.AuthType_ALTER, ast.AuthType_DROP,
		ast.AuthType_INDEX, ast.AuthType_LOCK, ast.AuthType_SHOW, ast.AuthType_VISIBLE:
		return true
	}
	return false
}

// own reports whether the session has a temporary table of the name.
func own(ctx *sql.Context, database, table string) bool {
	s, ok := ctx.Session.(temporary)
	if !ok || table == "" {
		return false
	}
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	return s.HasTemporary(database, table)
}

// current is a session that knows whether accounts were changed through another server since this one read them.
type current interface {
	LookForAccounts(ctx *sql.Context) error
}

// unknown is the state of a statement whose user's rights cannot be known: all that it asks for is refused.
type unknown struct{ error }

// Error implements sql.AuthorizationQueryState: the statement is not bound.
func (u unknown) Error() error { return u.error }

// AuthorizationQueryStateImpl implements sql.AuthorizationQueryState.
func (unknown) AuthorizationQueryStateImpl() {}

// NewQueryState implements sql.AuthorizationHandler: what the user may do is read once for a statement, here.
func (h handler) NewQueryState(ctx *sql.Context) sql.AuthorizationQueryState {
	if s, ok := ctx.Session.(within); ok {
		s.Within(nil, "")
	}
	if s, ok := ctx.Session.(current); ok {
		if err := s.LookForAccounts(ctx); err != nil {
			return unknown{err}
		}
	}
	if s, ok := ctx.Session.(explaining); ok {
		s.Explain(false)
	}
	return h.AuthorizationHandler.NewQueryState(ctx)
}

// HandleAuth implements sql.AuthorizationHandler.
func (h handler) HandleAuth(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation) error {
	v, _ := a.Extra.(*Stored)
	if _, explained := a.Extra.(explained); explained || v != nil && v.explained {
		if s, ok := ctx.Session.(explaining); ok {
			s.Explain(true)
		}
	}
	if s, ok := ctx.Session.(within); ok {
		if a.AuthType == execute {
			s.Within(v, a.TargetNames[0])
			return nil
		}
		s.Within(v, "")
	}
	if v != nil {
		return h.stored(ctx, state, a, v)
	}
	return h.handle(ctx, state, a)
}

func (h handler) handle(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation) error {
	if s, ok := ctx.Session.(naming); ok {
		switch a.TargetType {
		case ast.AuthTargetType_DatabaseIdentifiers, ast.AuthTargetType_SingleTableIdentifier, ast.AuthTargetType_MultipleTableIdentifiers:
			for i := 0; i < len(a.TargetNames); i += 2 {
				s.NameDatabase(a.TargetNames[i])
			}
			if a.TargetType == ast.AuthTargetType_DatabaseIdentifiers && len(a.TargetNames) > 1 {
				s.NameDatabase(a.TargetNames[1])
			}
		}
	}
	if strings.Contains(a.AuthType, and) {
		return h.all(ctx, state, a, strings.Split(a.AuthType, and)...)
	}
	switch a.AuthType {
	case Locking:
		if err := h.all(ctx, state, a, ast.AuthType_SELECT); err != nil {
			return err
		}
		return mayLock(ctx, a.TargetNames[0], a.TargetNames[1])
	case ast.AuthType_FILE: // is for the whole server, in LOAD DATA as well
		a.TargetType, a.TargetNames = ast.AuthTargetType_Global, nil
	case showView, showTable, showSome:
		return mayShow(ctx, a.AuthType, a.TargetNames[0], a.TargetNames[1])
	}
	switch a.TargetType {
	case ast.AuthTargetType_SingleTableIdentifier, ast.AuthTargetType_MultipleTableIdentifiers:
		// One by one, so that the refusal can name the table.
		for i := 0; i+1 < len(a.TargetNames); i += 2 {
			one := a
			one.TargetType, one.TargetNames = ast.AuthTargetType_SingleTableIdentifier, a.TargetNames[i:i+2]
			if db := ctx.GetCurrentDatabase(); one.TargetNames[0] == "" &&
				strings.EqualFold(db, sql.InformationSchemaDatabaseName) {
				one.TargetNames = []string{db, one.TargetNames[1]} // the library looks for it by its name
			}
			if meetsTemporary(a.AuthType) && own(ctx, a.TargetNames[i], a.TargetNames[i+1]) {
				continue
			}
			err := h.AuthorizationHandler.HandleAuth(ctx, state, one)
			if err != nil && !(denied(err) && byColumns(ctx, one)) {
				return refusal(ctx, one, err)
			}
			if err == nil {
				readsToWrite(ctx, one)
			}
		}
		return ofAccounts(ctx, a)
	}
	if err := h.AuthorizationHandler.HandleAuth(ctx, state, a); err != nil {
		return refusal(ctx, a, err)
	}
	if s, ok := ctx.Session.(holder); ok && a.AuthType == ast.AuthType_VISIBLE &&
		a.TargetType == ast.AuthTargetType_DatabaseIdentifiers {
		for _, name := range a.TargetNames {
			name = cmp.Or(name, ctx.GetCurrentDatabase())
			if !strings.EqualFold(name, sql.InformationSchemaDatabaseName) &&
				!Within(ctx, s.Accounts(), name) {
				return DatabaseDenied(ctx, name)
			}
		}
	}
	return ofAccounts(ctx, a)
}

// mayLock asks for one of the rights that MySQL wants of who locks rows.
func mayLock(ctx *sql.Context, database, table string) error {
	s, ok := ctx.Session.(holder)
	if !ok || own(ctx, database, table) || OnTable(ctx, s.Accounts(), database, table,
		sql.PrivilegeType_Update, sql.PrivilegeType_Delete, sql.PrivilegeType_LockTables) {
		return nil
	}
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	columns := s.Accounts().UserActivePrivilegeSet(ctx).Database(database).Table(table).GetColumns()
	if slices.ContainsFunc(columns,
		func(c sql.PrivilegeSetColumn) bool { return c.Has(sql.PrivilegeType_Update) }) {
		return nil
	}
	return tableDenied(ctx, Locking, table)
}

// columned is a session that asks for columns once the statement is bound.
type columned interface {
	holder
	restricted
	NeedColumns(database, table string, p sql.PrivilegeType, must bool)
}

// byColumns lets a statement go on that may not use a table, but may use some of its columns.
func byColumns(ctx *sql.Context, one ast.AuthInformation) bool {
	var p sql.PrivilegeType
	switch one.AuthType {
	case ast.AuthType_SELECT:
		p = sql.PrivilegeType_Select
	case ast.AuthType_INSERT:
		p = sql.PrivilegeType_Insert
	case ast.AuthType_UPDATE:
		p = sql.PrivilegeType_Update
	default:
		return false
	}
	s, ok := ctx.Session.(columned)
	if !ok || !s.Restricted() || s.Accounts() == nil {
		return false
	}
	database, table := one.TargetNames[0], one.TargetNames[1]
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	columns := s.Accounts().UserActivePrivilegeSet(ctx).Database(database).Table(table).GetColumns()
	if !slices.ContainsFunc(columns, func(c sql.PrivilegeSetColumn) bool { return c.Has(p) }) {
		return false
	}
	s.NeedColumns(database, table, p, true)
	readsToWrite(ctx, one)
	return true
}

// readsToWrite asks for the columns that an UPDATE or a DELETE reads of a table, if its user may write to it and may not read all of it.
func readsToWrite(ctx *sql.Context, one ast.AuthInformation) {
	if one.AuthType != ast.AuthType_UPDATE && one.AuthType != ast.AuthType_DELETE {
		return
	}
	if s, ok := ctx.Session.(columned); ok && s.Restricted() && !OnTable(ctx, s.Accounts(), one.TargetNames[0], one.TargetNames[1], sql.PrivilegeType_Select) {
		s.NeedColumns(one.TargetNames[0], one.TargetNames[1], sql.PrivilegeType_Select, false)
	}
}

func (h handler) all(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation, types ...string) error {
	for _, t := range types {
		a.AuthType = t
		if err := h.handle(ctx, state, a); err != nil {
			return err
		}
	}
	return nil
}

// CheckTable implements sql.AuthorizationHandler.
func (h handler) CheckTable(ctx *sql.Context, state sql.AuthorizationQueryState, database, schema, table string) error {
	if own(ctx, database, table) {
		return nil
	}
	if s, ok := ctx.Session.(around); ok && s.LooksAround() {
		return nil
	}
	if s, ok := ctx.Session.(through); ok {
		if db, view, ok := s.Below(table); ok { // it is the view that the user has to see
			if err := mayExplainBelow(ctx, s, db, view, table); err != nil {
				return err
			}
			database, table = db, view
		}
	}
	if err := h.AuthorizationHandler.CheckTable(ctx, state, database, schema, table); err != nil {
		return err
	}
	s, ok := ctx.Session.(holder)
	if !ok || database == "" || strings.EqualFold(database, sql.InformationSchemaDatabaseName) ||
		OnAnyColumn(ctx, s.Accounts(), database, table) {
		return nil
	}
	return sql.ErrTableAccessDeniedForUser.New(ctx.Client().User, table)
}

// denied tells a refusal from other errors.
func denied(err error) bool {
	return sql.ErrPrivilegeCheckFailed.Is(err) || sql.ErrDatabaseAccessDeniedForUser.Is(err) || sql.ErrTableAccessDeniedForUser.Is(err)
}

// restricted is a session of which rights are asked: a client's, or one of ours while it acts for somebody.
type restricted interface{ Restricted() bool }

// refusal is MySQL's error for what was refused: its number says whether a table, a database, a routine or the server was meant.
func refusal(ctx *sql.Context, a ast.AuthInformation, err error) error {
	if err == nil || !denied(err) {
		return err
	}
	if s, ok := ctx.Session.(restricted); !ok || !s.Restricted() { // who drives the engine itself knows the library's errors by their kinds
		return err
	}
	c := ctx.Client()
	switch a.TargetType {
	case ast.AuthTargetType_SingleTableIdentifier:
		if a.TargetNames[1] == "" {
			return err
		}
		if a.TargetNames[0] == "" && ctx.GetCurrentDatabase() == "" {
			return sqlerr.New(sqlerr.NoDatabase, "No database selected")
		}
		return tableDenied(ctx, a.AuthType, a.TargetNames[1])
	case ast.AuthTargetType_Global:
		if a.AuthType == ast.AuthType_FILE {
			return sqlerr.New(sqlerr.AccessDenied, "Access denied for user '%s'@'%s' (the FILE privilege is needed)", c.User, c.Address)
		}
		return Needs(strings.ReplaceAll(a.AuthType, "_", " "))
	case ast.AuthTargetType_DatabaseIdentifiers:
		if sql.ErrPrivilegeCheckFailed.Is(err) && len(a.TargetNames) > 0 {
			database := a.TargetNames[0]
			if database == "" {
				database = ctx.GetCurrentDatabase()
			}
			return sqlerr.New(sqlerr.DBAccessDenied, "Access denied for user '%s'@'%s' to database '%s'", c.User, c.Address, database)
		}
	}
	switch a.AuthType {
	case ast.AuthType_CALL:
		if len(a.TargetNames) > 1 {
			database := a.TargetNames[0]
			if database == "" {
				database = ctx.GetCurrentDatabase()
			}
			if database == "" {
				return sqlerr.New(sqlerr.NoDatabase, "No database selected")
			}
			return sqlerr.New(sqlerr.RoutineAccessDenied, "execute command denied to user '%s'@'%s' for routine '%s.%s'", c.User, c.Address, database, a.TargetNames[1])
		}
	case ast.AuthType_RENAME:
		if len(a.TargetNames) > 1 {
			return tableDenied(ctx, "ALTER, DROP", a.TargetNames[1])
		}
	case ast.AuthType_CREATE_USER, ast.AuthType_ALTER_USER, ast.AuthType_CREATE_ROLE, ast.AuthType_DROP_ROLE:
		return Needs("CREATE USER")
	}
	return err
}

// TableDenied refuses what a statement does with a table.
func TableDenied(ctx *sql.Context, what, table string) error { return tableDenied(ctx, what, table) }

// ColumnDenied refuses what a statement does with a column.
func ColumnDenied(ctx *sql.Context, what, column, table string) error {
	c := ctx.Client()
	return sqlerr.New(sqlerr.ColumnAccessDenied, "%s command denied to user '%s'@'%s' for column '%s' in table '%s'", what, c.User, c.Address, column, table)
}

func tableDenied(ctx *sql.Context, what, table string) error {
	switch what {
	case ast.AuthType_REPLACE:
		what = "INSERT, DELETE"
	case ast.AuthType_LOCK:
		what = "SELECT, LOCK TABLES"
	}
	c := ctx.Client()
	return sqlerr.New(sqlerr.TableAccessDenied, "%s command denied to user '%s'@'%s' for table '%s'", strings.ReplaceAll(what, "_", " "), c.User, c.Address, table)
}

// Refused reports whether an error says that somebody may not do what he asks for.
func Refused(err error) bool {
	if err == nil {
		return false
	}
	switch sqlerr.Final(err, sqlerr.Statement{}).Num {
	case sqlerr.AccessDenied, sqlerr.DBAccessDenied, sqlerr.TableAccessDenied, sqlerr.SpecificAccessDenied, sqlerr.RoutineAccessDenied, sqlerr.ColumnAccessDenied:
		return true
	}
	return false
}

// Needs is the refusal of what takes a privilege of the whole server.
func Needs(privilege string) error {
	return sqlerr.New(sqlerr.SpecificAccessDenied, "Access denied; you need (at least one of) the %s privilege(s) for this operation", privilege)
}

// holder is a session that knows the accounts of its server.
type holder interface{ Accounts() *mysql_db.MySQLDb }

// assuming is a session that would make of a set what its account has.
type assuming interface {
	AssumePrivileges(set sql.PrivilegeSet, counter uint64)
}

// As runs f with the rights of whoever created what f is about, a trigger: they were looked at when it was created. f may find
// tables that the user of ctx may not see, so it must not tell him of them.
func As(ctx *sql.Context, db *mysql_db.MySQLDb, f func() error) error {
	if db == nil || !db.Enabled() {
		return f()
	}
	db.UserActivePrivilegeSet(ctx) // makes sure that what is kept in the session is of the moment
	now, counter := ctx.Session.GetPrivilegeSet()
	all := mysql_db.NewPrivilegeSet()
	all.AddGlobalStatic(sql.PrivilegeType_Super, sql.PrivilegeType_Select, sql.PrivilegeType_Trigger)
	set := ctx.Session.SetPrivilegeSet
	if s, ok := ctx.Session.(assuming); ok {
		set = s.AssumePrivileges
	}
	set(all, counter)
	defer set(now, counter)
	return f()
}
