package engine

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Statements about accounts are package account's. A session says who runs them.

// Directory is the accounts of the engine's server.
func (e *Engine) Directory() *account.Directory { return e.directory }

// Account is a statement about accounts as the planner takes it.
func (e *Engine) Account(ctx context.Context, stmt account.Statement) (ast.Statement, error) {
	var columns sql.Schema
	name, changes := account.Command(stmt), true
	who := func(n account.Name) string {
		if c, ok := ctx.(*sql.Context); ok && n.Current {
			if s := sessionOf(c); s != nil {
				n = s.Account()
			}
		}
		return n.User + "@" + n.Host
	}
	switch s := stmt.(type) {
	case account.ShowGrants:
		of := account.Name{Current: true}
		if s.For != nil {
			of = *s.For
		}
		name, changes = "Grants for "+who(of), false
		columns = sql.Schema{{Name: name, Type: types.LongText}}
	case account.ShowCreateUser:
		name, changes = "CREATE USER for "+who(s.Name), false
		columns = sql.Schema{{Name: name, Type: types.LongText}}
	case account.SetRole:
		changes = false
	case account.CreateUser:
		columns = randomPasswords(s.Users)
	case account.AlterUser:
		columns = randomPasswords(s.Users)
	}
	report := system.NewReport(name, columns, func(ctx *sql.Context) ([]sql.Row, error) {
		if changes {
			if err := MayChange(ctx); err != nil {
				return nil, err
			}
		}
		return e.runAccount(ctx, stmt)
	})
	auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE, TargetType: ast.AuthTargetType_Ignore}
	if !changes {
		return ast.InjectedStatement{Auth: auth, Statement: report}, nil
	}
	return ast.InjectedStatement{Auth: auth, Statement: &ddlStatement{Report: report}}, nil
}

// randomPasswords are the columns of what IDENTIFIED BY RANDOM PASSWORD answers.
func randomPasswords(users []account.User) (columns sql.Schema) {
	if !slices.ContainsFunc(users, func(u account.User) bool { return u.Auth != nil && u.Auth.Random }) {
		return nil
	}
	for _, n := range []string{"user", "host", "generated password"} {
		columns = append(columns, &sql.Column{Name: n, Type: types.Text})
	}
	return append(columns, &sql.Column{Name: "auth_factor", Type: types.Int64})
}

func (e *Engine) runAccount(ctx *sql.Context, stmt account.Statement) ([]sql.Row, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, sqlerr.Unsupported("accounts without a session")
	}
	rows, err := e.directory.Execute(ctx, s, schemaOf{e}, stmt)
	if err == nil && e.opts.Spread != nil && account.TakesAway(stmt) {
		err = e.opts.Spread(ctx)
	}
	return rows, err
}

// schemaOf tells account what there is to grant privileges on.
type schemaOf struct{ eng *Engine }

// Columns implements account.Schema.
func (x schemaOf) Columns(ctx *sql.Context, database, table string) (names []string, ok bool) {
	v, err := x.eng.viewOf(ctx)
	if err != nil {
		return nil, false
	}
	d, ok := v.snap.Database(database)
	if !ok { // mysql, performance_schema and their like
		db, err := x.eng.sql.Analyzer.Catalog.Database(ctx, database)
		if err != nil {
			return nil, false
		}
		t, found, err := db.GetTableInsensitive(ctx, table)
		if err != nil || !found {
			return nil, false
		}
		for _, c := range t.Schema(ctx) {
			names = append(names, c.Name)
		}
		return names, true
	}
	if t, ok := d.Table(table); ok {
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		return names, true
	}
	if _, ok := d.View(table); !ok {
		return nil, false
	}
	return x.eng.viewColumns(ctx, d.Name, table)
}

// viewColumns are the names of a view's columns, found as a query would find them.
func (e *Engine) viewColumns(ctx *sql.Context, database, view string) ([]string, bool) {
	var names []string
	stmt, err := e.sql.Parser.ParseSimple("select * from " + quoteName(database) + "." + quoteName(view))
	if err != nil {
		return nil, false
	}
	var node sql.Node
	err = rights.As(ctx, e.accounts(), func() (err error) {
		node, _, err = planbuilder.New(ctx, e.sql.Analyzer.Catalog, nil).BindOnly(stmt, "", nil)
		return err
	})
	if err != nil {
		return nil, true // a view that is broken has no columns
	}
	for _, c := range node.Schema(ctx) {
		names = append(names, c.Name)
	}
	return names, true
}

// HasRoutine implements account.Schema.
func (x schemaOf) HasRoutine(ctx *sql.Context, database, name string, procedure bool) bool {
	v, err := x.eng.viewOf(ctx)
	if err != nil {
		return false
	}
	d, ok := v.snap.Database(database)
	if !ok {
		return false
	}
	if procedure {
		_, ok = d.Procedure(name)
	} else {
		_, ok = d.Function(name)
	}
	return ok
}

// Account implements account.Session: a definer's while something runs as its definer.
func (s *Session) Account() account.Name {
	c := s.Client()
	return account.Name{User: c.User, Host: c.Address}
}

// ActiveRoles implements account.Session. Something that runs as its definer has the roles that the definer would log in with.
func (s *Session) ActiveRoles() []account.Name {
	if now := s.Account(); s.acting > 0 || now != s.login {
		return s.eng.directory.Defaults(now)
	}
	return s.roles
}

// LoggedIn is who has logged in from where, for functions of package account.
func (s *Session) LoggedIn() (user, host string, ok bool) {
	return s.login.User, s.guest.Host, s.guest.Host != ""
}

// SetActiveRoles implements account.Session.
func (s *Session) SetActiveRoles(roles []account.Name) {
	if s.acting > 0 || s.Account() != s.login {
		return
	}
	s.roles = roles
	s.BaseSession.SetPrivilegeSet(mysql_db.NewPrivilegeSet(), 0) // of no moment: to be made again
}

// PasswordChanged implements account.Session.
func (s *Session) PasswordChanged() { s.mustChange = false }

// MustChangePassword reports whether the session may do nothing but change its password; SetMustChangePassword says so.
func (s *Session) MustChangePassword() bool { return s.mustChange }

// SetMustChangePassword is called at the login.
func (s *Session) SetMustChangePassword() { s.mustChange = true }

// exactly makes of what the library thinks that a session may do what its account may, with the roles that
// are active. The set is changed in place: the library has it already.
func (s *Session) exactly(set mysql_db.PrivilegeSet) {
	if s.Restricted() && s.eng.directory != nil {
		s.eng.directory.Exactly(set, s.Account(), s.gone() == nil, s.ActiveRoles)
	}
}

// gone refuses who logged in as an account that is no more. A definer is whoever has the name.
func (s *Session) gone() error {
	n := s.Account()
	if s.acting == 0 && n == s.login {
		return s.eng.directory.Gone(n, s.loginID)
	}
	return s.eng.directory.Gone(n, s.eng.directory.ID(n))
}
