package rights

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Locking is what SELECT … FOR UPDATE needs of a table beyond SELECT: the right to change something
// there, or to lock it. Who may only read would hold up those who write.
const Locking = "SELECT with locking clause"

// and separates the privileges of a demand for more than one; the handler takes them apart.
const and = ", "

// ignored is the demand of a statement that looks itself at who asks.
var ignored = ast.AuthInformation{AuthType: ast.AuthType_IGNORE, TargetType: ast.AuthTargetType_Ignore}

// Demand puts right what the statement asks of who runs it.
func Demand(stmt ast.Statement) {
	switch s := stmt.(type) {
	case *ast.Insert:
		if len(s.OnDup) > 0 && s.Auth.AuthType == ast.AuthType_INSERT {
			s.Auth.AuthType += and + ast.AuthType_UPDATE
		}
		if len(s.Returning) > 0 { // which says what defaults, generated columns and triggers made of the row
			s.Auth.AuthType += and + ast.AuthType_SELECT
		}
	case *ast.Update:
		var written []string
		for _, a := range s.Exprs {
			if a.Name.Qualifier.Name.IsEmpty() { // it may be any table's
				return
			}
			written = append(written, a.Name.Qualifier.Name.String())
		}
		readOthers(s.TableExprs, written)
	case *ast.Delete:
		var written []string
		for _, t := range s.Targets {
			written = append(written, t.Name.String())
		}
		if len(written) > 0 {
			readOthers(s.TableExprs, written)
		}
	case *ast.Load:
		needs := ast.AuthType_INSERT
		if s.IgnoreOrReplace == ast.ReplaceStr {
			needs += and + ast.AuthType_DELETE
		}
		if !s.Local { // a file of the client is let out by the client itself
			needs += and + ast.AuthType_FILE
		}
		s.Auth = onTable(needs, s.Table)
	case *ast.Kill: // of what belongs to the user needs nothing
		s.Auth = ignored
	case *ast.ShowGrants:
		if s.For == nil {
			s.Auth = ignored
		}
	case *ast.Show:
		switch strings.ToLower(s.Type) {
		case "processlist":
			s.Auth = ignored
		case ast.CreateViewStr:
			s.Auth = onTable(showView, s.Table)
		case ast.CreateTableStr:
			s.Auth = onTable(showTable, s.Table)
		case "columns", "fields", "index":
			of := ast.TableName{DbQualifier: ast.NewTableIdent(shownOf(s)), Name: s.Table.Name}
			s.Auth = onTable(showSome, of)
		case ast.CreateEventStr:
			s.Auth = onEvents(s.Table.DbQualifier.String())
		case "events":
			database := ""
			if s.ShowTablesOpt != nil {
				database = s.ShowTablesOpt.DbName
			}
			s.Auth = onEvents(database)
		default:
			if s.Auth.AuthType == ast.AuthType_SHOW {
				if db := shownOf(s); strings.EqualFold(db, "mysql") { // which the library shows to everybody
					s.Auth = ast.AuthInformation{AuthType: ast.AuthType_VISIBLE,
						TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{db}}
				}
			}
		}
	case *ast.Explain:
		Demand(s.Statement)
		Explained(s)
	case *ast.DBDDL: // a right on the database alone will do
		if a := s.Auth.AuthType; a == ast.AuthType_CREATE || a == ast.AuthType_DROP {
			s.Auth = ast.AuthInformation{AuthType: a, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{s.DBName}}
		}
	case *ast.AlterTable:
		for _, d := range s.Statements {
			if d.Auth.AuthType == ast.AuthType_FOREIGN_KEY { // it is the parent that takes REFERENCES
				d.Auth = onTable(ast.AuthType_ALTER, d.Table)
			}
		}
	case *ast.DDL:
		switch a := s.Auth.AuthType; {
		case s.Action == ast.DropStr && s.Temporary: // of which there are only those of the session
			s.Auth = ignored
		case s.Action == ast.DropStr && s.TriggerSpec != nil: // it is the trigger's table that counts, not one of the trigger's name
			s.Auth = ignored
		case a == ast.AuthType_CREATE && !s.Table.Name.IsEmpty(): // or on the table
			s.Auth = onTable(a, s.Table)
		case a == ast.AuthType_CREATE_VIEW && s.ViewSpec != nil:
			s.Auth = onTable(a, s.ViewSpec.ViewName)
		}
	}
}

// readOthers asks for SELECT on the tables of a join that a statement does not write to. The grammar asks for
// the right to write to all of them. A name that any comparison takes for one that is written to is: 'ſ' is
// an 's' to some of them.
func readOthers(from ast.TableExprs, written []string) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		t, ok := n.(*ast.AliasedTableExpr)
		if !ok || t.Auth.AuthType != ast.AuthType_UPDATE && t.Auth.AuthType != ast.AuthType_DELETE {
			return true, nil
		}
		known := t.As.String()
		if name, named := t.Expr.(ast.TableName); named && known == "" {
			known = name.Name.String()
		}
		if !slices.ContainsFunc(written, func(w string) bool {
			return strings.EqualFold(w, known) || strings.ToLower(w) == strings.ToLower(known)
		}) {
			t.Auth.AuthType = ast.AuthType_SELECT
		}
		return true, nil
	}, from)
}

// shownOf is the database that a SHOW names, empty for none.
func shownOf(s *ast.Show) string {
	if s.ShowTablesOpt != nil && s.ShowTablesOpt.DbName != "" {
		return s.ShowTablesOpt.DbName
	}
	return cmp.Or(s.Database, s.Table.DbQualifier.String())
}

func onTable(what string, t ast.TableName) ast.AuthInformation {
	return ast.AuthInformation{
		AuthType: what, TargetType: ast.AuthTargetType_SingleTableIdentifier, TargetNames: []string{t.DbQualifier.String(), t.Name.String()},
	}
}

func onEvents(database string) ast.AuthInformation {
	return ast.AuthInformation{AuthType: ast.AuthType_EVENT, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{database}}
}

// Has reports whether the account of ctx has one of the privileges for the whole server. The library would take one on the current
// database for it.
func Has(ctx *sql.Context, db *mysql_db.MySQLDb, any ...sql.PrivilegeType) bool {
	if db == nil || !db.Enabled() {
		return true
	}
	set := db.UserActivePrivilegeSet(ctx)
	return set.Has(sql.PrivilegeType_Super) || slices.ContainsFunc(any, func(p sql.PrivilegeType) bool { return set.Has(p) })
}

// OnTable reports whether the account of ctx has one of the privileges for a table, or with no table for a database.
func OnTable(ctx *sql.Context, db *mysql_db.MySQLDb, database, table string, any ...sql.PrivilegeType) bool {
	if db == nil || !db.Enabled() {
		return true
	}
	return slices.ContainsFunc(any, func(p sql.PrivilegeType) bool {
		return db.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{Database: database, Table: table}, p))
	})
}

// DatabaseDenied is the error of who has no right on a database.
func DatabaseDenied(ctx *sql.Context, database string) error {
	c := ctx.Client()
	return sqlerr.New(sqlerr.DBAccessDenied, "Access denied for user '%s'@'%s' to database '%s'",
		c.User, c.Address, database)
}
