package rights

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Stored is a view whose text names something, and whose rights count for that: the definer's, as they
// are now, or with no Host the
// user's. It is the Extra of the demands in the tree of the text. A tree is made of the text each time that the view is bound, and no text
// of a client can put one there, so nothing is kept that a REVOKE would have to find.
type Stored struct {
	Database, View string
	User, Host     string
	Definer        string // who made the view, user@host, SQL SECURITY INVOKER or not
	// Makers are who made it, and the views in which it is named, as far as these are SQL SECURITY INVOKER:
	// user@host, with zero bytes between.
	Makers    string
	explained bool // see Explained
	// Literals is the collation of the text's literals, if the session has another one.
	Literals sql.CollationID
}

// execute is the demand of a function's call in a view. Calls elsewhere are asked for where the function is looked up.
const execute = "EXECUTE"

// actor is a session that may take the place of another account for a moment. 1449 if there is no such account.
type actor interface {
	ActAs(ctx *sql.Context, user, host string, f func() error) error
}

// within is a session that is told in which view's text the name stands that is bound next; nil for none.
type within interface {
	Within(v *Stored, function string)
}

// View prepares the tree of a view's text that a query names. Bare names are of the view's database, whatever the current one is.
func View(d *ast.DDL, v *Stored) {
	if d.ViewSpec.ViewName.DbQualifier.IsEmpty() {
		d.ViewSpec.ViewName.DbQualifier = ast.NewTableIdent(v.Database)
	}
	d.Auth = ignored // nobody creates it
	Stamp(d.ViewSpec.ViewExpr, v)
}

// Stamp makes the demands of a tree those of a view's text.
func Stamp(n ast.SQLNode, v *Stored) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.AliasedTableExpr:
			if n.Auth.AuthType == ast.AuthType_IGNORE || n.Auth.AuthType == "" {
				break
			}
			if n.Auth.Extra = v; len(n.Auth.TargetNames) > 1 && n.Auth.TargetNames[0] == "" {
				n.Auth.TargetNames = slices.Clone(n.Auth.TargetNames)
				n.Auth.TargetNames[0] = v.Database
			}
		case *ast.FuncExpr:
			n.Auth = ast.AuthInformation{AuthType: execute, TargetType: ast.AuthTargetType_Ignore, TargetNames: []string{n.Name.Lowered()}, Extra: v}
		}
		return true, nil
	}, n)
}

// stored asks what a view's text needs of who the view belongs to.
func (h handler) stored(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation, v *Stored) error {
	a.Extra = nil
	ask := func() error { return h.handle(ctx, state, a) }
	s, ok := ctx.Session.(actor)
	if ok && v.Host != "" {
		ask = func() error {
			return s.ActAs(ctx, v.User, v.Host, func() error { return h.handle(ctx, h.AuthorizationHandler.NewQueryState(ctx), a) })
		}
	}
	if err := ask(); err != nil {
		return v.Invalid(err)
	}
	return h.explains(ctx, state, a, v)
}

// Invalid is MySQL's error for a view that may not do what it does: it names nothing of what is in the view.
func (v *Stored) Invalid(err error) error {
	if !Refused(err) {
		return err
	}
	return sqlerr.New(sqlerr.ViewInvalid, InvalidView, v.Database, v.View)
}

// InvalidView is the text of MySQL's error 1356.
const InvalidView = "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"

// accountsDatabase is the library's, of which the accounts are.
const accountsDatabase = "mysql"

// ofAccounts refuses schema changes in the database of the accounts, to root as well: only statements about accounts change it. Rows are
// looked after where they are written.
func ofAccounts(ctx *sql.Context, a ast.AuthInformation) error {
	switch a.AuthType {
	case ast.AuthType_CREATE, ast.AuthType_ALTER, ast.AuthType_DROP, ast.AuthType_INDEX, ast.AuthType_TRIGGER, ast.AuthType_CREATE_VIEW, ast.AuthType_RENAME,
		ast.AuthType_CREATE_ROUTINE, ast.AuthType_ALTER_ROUTINE, ast.AuthType_EVENT, ast.AuthType_CREATE_TEMP, ast.AuthType_FOREIGN_KEY:
	default:
		return nil
	}
	step := 2
	switch a.TargetType {
	case ast.AuthTargetType_DatabaseIdentifiers:
		step = 1
	case ast.AuthTargetType_SingleTableIdentifier, ast.AuthTargetType_MultipleTableIdentifiers:
	default:
		if a.AuthType != ast.AuthType_RENAME {
			return nil
		}
	}
	for i := 0; i < len(a.TargetNames); i += step {
		database := a.TargetNames[i]
		if database == "" {
			database = ctx.GetCurrentDatabase()
		}
		if strings.EqualFold(database, accountsDatabase) {
			table := ""
			if step == 2 && i+1 < len(a.TargetNames) {
				table = a.TargetNames[i+1]
			}
			return SystemTable(table)
		}
	}
	return nil
}

// SystemTable refuses a change of the tables in which accounts are.
func SystemTable(table string) error {
	if table != "" {
		table = "." + table
	}
	return sqlerr.New(sqlerr.NoSystemTableAccess, "Access to system table '%s%s' is rejected; accounts are changed by CREATE USER, ALTER USER, GRANT and their like", accountsDatabase, table)
}
