package account

import (
	"net"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Guest is where the client of a session is: its host as MySQL writes it, and as process lists do, with the
// port.
type Guest struct{ Host, Address string }

// GuestAt names a client's address. What comes over loopback or the unix socket is localhost, as it is for
// accounts.
func GuestAt(a net.Addr) Guest {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return Guest{"localhost", "localhost"}
	}
	host := t.IP.String()
	if t.IP.IsLoopback() {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(t.String())
	return Guest{host, host + ":" + port}
}

// welcomed is a session that knows who has logged in.
type welcomed interface {
	// LoggedIn is false for a session of the server's own.
	LoggedIn() (user, host string, ok bool)
	ActiveRoles() []Name
}

// loginUser is USER() and its other names, and CURRENT_ROLE(): who logged in, and from where. CURRENT_USER()
// is the account whose rights are at work: another one in a routine of somebody else, and one of a pattern
// ('ann'@'%') for all who log in by it. The library has one for both.
type loginUser struct{ function.NoArgFunc }

var (
	_ sql.FunctionExpression         = (*loginUser)(nil)
	_ sql.CollationCoercible         = (*loginUser)(nil)
	_ sql.NonDeterministicExpression = (*loginUser)(nil)
)

// LoginFunction is one of them.
func LoginFunction(name string) sql.Function {
	return sql.Function0{Name: name, Fn: func(*sql.Context) sql.Expression {
		return &loginUser{function.NoArgFunc{Name: name, SQLType: types.LongText}}
	}}
}

// CurrentRoleFunction is the name of CURRENT_ROLE().
const CurrentRoleFunction = "current_role"

// Eval implements sql.Expression.
func (u *loginUser) Eval(ctx *sql.Context, _ sql.Row) (any, error) {
	s, ok := ctx.Session.(welcomed)
	if u.Name == CurrentRoleFunction {
		if !ok {
			return CurrentRole(nil), nil
		}
		return CurrentRole(s.ActiveRoles()), nil
	}
	if ok {
		if user, host, ok := s.LoggedIn(); ok {
			return user + "@" + host, nil
		}
	}
	c := ctx.Client() // a session of the server's own
	if c.User == "" && c.Address == "" {
		return "", nil
	}
	return c.User + "@" + c.Address, nil
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (*loginUser) IsNonDeterministic() bool { return true }

// Description implements sql.FunctionExpression.
func (*loginUser) Description() string {
	return "returns who logged in, or the roles that are active."
}

// CollationCoercibility implements sql.CollationCoercible.
func (*loginUser) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_utf8mb3_general_ci, 3
}

// WithChildren implements sql.Expression.
func (u *loginUser) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(u, len(children), 0)
	}
	return u, nil
}
