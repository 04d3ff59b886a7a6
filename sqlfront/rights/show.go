package rights

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// What SHOW needs beyond what the grammar knows. To the library a SHOW is for everybody; it looks only
// whether tables are in sight, and at views not even that.
const (
	showView  = "SHOW CREATE VIEW"  // SELECT and SHOW VIEW
	showTable = "SHOW CREATE TABLE" //  CREATE TABLE: some right on the table; of a view as SHOW CREATE VIEW
	showSome  = "SHOW COLUMNS"      // and SHOW INDEX: some right on the table or one of its columns
)

// viewing is a session that knows views from tables.
type viewing interface {
	IsView(ctx *sql.Context, database, name string) (bool, error)
}

// mayShow refuses to show a table or a view to who may do nothing with it. It is asked for by the name alone,
// so that the refusal does not tell whether there is one.
func mayShow(ctx *sql.Context, what, database, name string) error {
	s, ok := ctx.Session.(holder)
	if !ok || s.Accounts() == nil || !s.Accounts().Enabled() ||
		strings.EqualFold(database, sql.InformationSchemaDatabaseName) {
		return nil
	}
	if what != showView && own(ctx, database, name) { // which SHOW CREATE VIEW does not meet
		return nil
	}
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	switch {
	case database == "":
		return sqlerr.New(sqlerr.NoDatabase, "No database selected")
	case strings.EqualFold(database, sql.InformationSchemaDatabaseName):
		return nil
	case what == showSome:
		if !OnAnyColumn(ctx, s.Accounts(), database, name) {
			return tableDenied(ctx, ast.AuthType_SELECT, name)
		}
		return nil
	case what == showTable:
		if !OnAny(ctx, s.Accounts(), database, name) {
			return tableDenied(ctx, ast.AuthType_SHOW, name)
		}
		if v, ok := ctx.Session.(viewing); ok {
			if view, err := v.IsView(ctx, database, name); !view {
				return err
			}
		}
	}
	for _, p := range []sql.PrivilegeType{sql.PrivilegeType_Select, sql.PrivilegeType_ShowView} {
		if !OnTable(ctx, s.Accounts(), database, name, p) {
			return tableDenied(ctx, strings.ToUpper(p.String()), name)
		}
	}
	return nil
}

// tableRights are those with which a table is in sight: EXECUTE on a database, or PROCESS on the server,
// show nothing of its tables.
var tableRights = []sql.PrivilegeType{
	sql.PrivilegeType_Select, sql.PrivilegeType_Insert, sql.PrivilegeType_Update, sql.PrivilegeType_Delete,
	sql.PrivilegeType_Create, sql.PrivilegeType_Drop, sql.PrivilegeType_GrantOption,
	sql.PrivilegeType_References, sql.PrivilegeType_Index, sql.PrivilegeType_Alter,
	sql.PrivilegeType_CreateView, sql.PrivilegeType_ShowView, sql.PrivilegeType_Trigger,
}

// databaseRights are those of the server with which databases are in sight: PROCESS, FILE or RELOAD show
// none. To the library each privilege of the server shows everything.
var databaseRights = append(slices.Clone(tableRights),
	sql.PrivilegeType_CreateTempTable, sql.PrivilegeType_LockTables, sql.PrivilegeType_Execute,
	sql.PrivilegeType_CreateRoutine, sql.PrivilegeType_AlterRoutine, sql.PrivilegeType_Event)

// Within reports whether the user has any right on a database, or on something in it. Who has none is not
// told whether it exists.
func Within(ctx *sql.Context, db *mysql_db.MySQLDb, database string) bool {
	if db == nil || !db.Enabled() {
		return true
	}
	set := db.UserActivePrivilegeSet(ctx)
	if set.Has(sql.PrivilegeType_Super) || set.Database(database).HasPrivileges() {
		return true
	}
	return slices.ContainsFunc(databaseRights, func(p sql.PrivilegeType) bool { return set.Has(p) })
}

// Listed is Within, or the user may SHOW DATABASES.
func Listed(ctx *sql.Context, db *mysql_db.MySQLDb, database string) bool {
	return Within(ctx, db, database) || db.UserActivePrivilegeSet(ctx).Has(sql.PrivilegeType_ShowDB)
}

// OnAny reports whether the account of ctx may do anything with a table as a whole.
func OnAny(ctx *sql.Context, db *mysql_db.MySQLDb, database, table string) bool {
	if db == nil || !db.Enabled() {
		return true
	}
	set := db.UserActivePrivilegeSet(ctx)
	in := set.Database(database)
	of := in.Table(table)
	granted := func(p sql.PrivilegeType) bool { return set.Has(p) || in.Has(p) || of.Has(p) }
	return set.Has(sql.PrivilegeType_Super) || slices.ContainsFunc(tableRights, granted)
}

// OnAnyColumn is OnAny, or the account may do something with one of the columns.
func OnAnyColumn(ctx *sql.Context, db *mysql_db.MySQLDb, database, table string) bool {
	if OnAny(ctx, db, database, table) {
		return true
	}
	columns := db.UserActivePrivilegeSet(ctx).Database(database).Table(table).GetColumns()
	return slices.ContainsFunc(columns, func(c sql.PrivilegeSetColumn) bool { return c.Count() > 0 })
}

// Columns says which columns of a table the account of ctx may know of: with rights on some columns only,
// those; nil for all.
func Columns(ctx *sql.Context, db *mysql_db.MySQLDb, database, table string) func(column string) bool {
	if db == nil || !db.Enabled() {
		return nil
	}
	set := db.UserActivePrivilegeSet(ctx)
	in := set.Database(database)
	of := in.Table(table)
	if len(of.GetColumns()) == 0 || set.Has(sql.PrivilegeType_Super) {
		return nil
	}
	for _, p := range []sql.PrivilegeType{sql.PrivilegeType_Select, sql.PrivilegeType_Insert,
		sql.PrivilegeType_Update, sql.PrivilegeType_References} {
		if set.Has(p) || in.Has(p) || of.Has(p) {
			return nil
		}
	}
	return func(column string) bool { return of.Column(column).Count() > 0 }
}

// MayRead reports whether the account of ctx may read a column.
func MayRead(ctx *sql.Context, db *mysql_db.MySQLDb, database, table, column string) bool {
	return OnTable(ctx, db, database, table, sql.PrivilegeType_Select) || db.UserActivePrivilegeSet(ctx).
		Database(database).Table(table).Column(column).Has(sql.PrivilegeType_Select)
}
