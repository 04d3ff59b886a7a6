package account

import "strings"

// Name is an account's or a role's name. Current stands for who runs the statement.
type Name struct {
	User, Host string
	Current    bool
}

// None reports whether the name is nobody's. An account may have an empty user, the anonymous one's, but
// has a host always.
func (n Name) None() bool { return n.Host == "" }

// Quoted writes the name with a quote around its parts.
func (n Name) Quoted(q string) string {
	twice := func(s string) string { return q + strings.ReplaceAll(s, q, q+q) + q }
	return twice(n.User) + "@" + twice(n.Host)
}

// String is the name as error messages have it.
func (n Name) String() string { return n.Quoted("'") }

// Statement is one of the statements below.
type Statement interface{ statement() }

// Auth is how an account is to be identified; nil leaves it as it is.
type Auth struct {
	Plugin   string // empty for the default, or for that of the account
	Password string
	Hash     *string // AS '…'
	Random   bool
}

// User is an account in CREATE USER and ALTER USER.
type User struct {
	Name Name
	Auth *Auth
}

// TLS is what a connection must have.
type TLS struct {
	None, Any, X509         bool
	Cipher, Issuer, Subject string
}

// Expiry says when a password expires.
type Expiry struct {
	Now     bool
	Default bool
	Days    int // 0 for never
}

// Options are the clauses behind the accounts of CREATE USER and ALTER USER; nil is not given.
type Options struct {
	Require   *TLS
	Conns     *int64 // MAX_USER_CONNECTIONS
	Locked    *bool
	Expiry    *Expiry
	Comment   *string
	Attribute *string
}

func (o Options) none() bool { return o == Options{} }

// CreateUser is CREATE USER.
type CreateUser struct {
	Users       []User
	IfNotExists bool
	Roles       []Name // DEFAULT ROLE
	Options     Options
}

// AlterUser is ALTER USER, and SET PASSWORD.
type AlterUser struct {
	Users    []User
	IfExists bool
	Options  Options
}

// DropUser is DROP USER, or DROP ROLE.
type DropUser struct {
	Names    []Name
	IfExists bool
	Role     bool
}

// RenameUser is RENAME USER.
type RenameUser struct {
	From, To []Name
}

// CreateRole is CREATE ROLE.
type CreateRole struct {
	Names       []Name
	IfNotExists bool
}

// RoleChoice is which roles SET ROLE and DEFAULT ROLE mean.
type RoleChoice uint8

const (
	TheseRoles RoleChoice = iota
	NoRoles
	AllRoles
	AllRolesExcept
	DefaultRoles
)

// SetRole is SET ROLE.
type SetRole struct {
	Choice RoleChoice
	Roles  []Name
}

// SetDefaultRole is SET DEFAULT ROLE, and ALTER USER … DEFAULT ROLE.
type SetDefaultRole struct {
	Choice RoleChoice
	Roles  []Name
	To     []Name
	Alter  bool
}

// Privilege is a privilege as written, in upper case, and its columns.
type Privilege struct {
	Name    string
	Columns []string
}

// Object is what a privilege is for.
type Object uint8

const (
	OnTable Object = iota // or on a database, or on all
	OnProcedure
	OnFunction
)

// Grant is GRANT and REVOKE of privileges.
type Grant struct {
	Revoke     bool
	All        bool // ALL [PRIVILEGES]
	Everything bool // REVOKE ALL PRIVILEGES, GRANT OPTION
	Privileges []Privilege
	Object     Object
	Database   string // empty for the current one, "*" for all
	Name       string // "*" for the whole database
	To         []Name
	WithGrant  bool
	IfExists   bool
	IgnoreUser bool
}

// GrantRole is GRANT and REVOKE of roles.
type GrantRole struct {
	Revoke     bool
	Roles      []Name
	To         []Name
	Admin      bool
	IfExists   bool
	IgnoreUser bool
}

// ShowGrants is SHOW GRANTS; a nil For is who asks.
type ShowGrants struct {
	For   *Name
	Using []Name
}

// ShowCreateUser is SHOW CREATE USER.
type ShowCreateUser struct {
	Name Name
}

func (CreateUser) statement()     {}
func (AlterUser) statement()      {}
func (DropUser) statement()       {}
func (RenameUser) statement()     {}
func (CreateRole) statement()     {}
func (SetRole) statement()        {}
func (SetDefaultRole) statement() {}
func (Grant) statement()          {}
func (GrantRole) statement()      {}
func (ShowGrants) statement()     {}
func (ShowCreateUser) statement() {}

// Command is what a statement that changes accounts is called.
func Command(stmt Statement) string {
	switch s := stmt.(type) {
	case CreateUser:
		return "CREATE USER"
	case AlterUser:
		return "ALTER USER"
	case DropUser:
		if s.Role {
			return "DROP ROLE"
		}
		return "DROP USER"
	case RenameUser:
		return "RENAME USER"
	case CreateRole:
		return "CREATE ROLE"
	case SetDefaultRole:
		return "ALTER USER DEFAULT ROLE"
	case GrantRole:
		if s.Revoke {
			return "REVOKE ROLES"
		}
		return "GRANT ROLES"
	case Grant:
		switch {
		case s.Everything:
			return "REVOKE ALL"
		case s.Revoke:
			return "REVOKE"
		}
		return "GRANT"
	}
	return "accounts"
}

// TakesAway reports whether somebody may do less after a statement, on open connections or by what was
// made in his name.
func TakesAway(stmt Statement) bool {
	switch s := stmt.(type) {
	case DropUser, RenameUser, SetDefaultRole:
		return true
	case Grant:
		return s.Revoke || s.Everything
	case GrantRole:
		return s.Revoke
	}
	return false
}
