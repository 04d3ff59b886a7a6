package account

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/sqlerr"
)

// Numbers of MySQL's errors that only accounts have.
const (
	wrongStringLength  = 1470
	invalidJSON        = 3141
	existsNote         = 3163
	missingNote        = 3162
	pluginNotLoaded    = 1524
	passwordFormat     = 1372
	unknownAuthID      = 3523
	roleNotGranted     = 3530
	mandatoryRole      = 3628
	grantedToItself    = 4027
	illegalGrant       = 1144
	wrongUsage         = 1221
	cannotCreateUser   = 1410
	revokeGrants       = 1269
	nonexistingTable   = 1147
	nonexistingRoutine = 1403
	dbAccess           = sqlerr.DBAccessDenied
)

const (
	maxUser = 32
	maxHost = 255
)

// Session is who runs a statement.
type Session interface {
	// Account is the session's account.
	Account() Name
	// ActiveRoles are its roles that are switched on; SetActiveRoles switches.
	ActiveRoles() []Name
	SetActiveRoles([]Name)
	// PasswordChanged says that the account's own password is another now.
	PasswordChanged()
}

// Schema is what GRANT has to know of the tables.
type Schema interface {
	// Columns are a table's or a view's; ok is false if there is no such thing.
	Columns(ctx *sql.Context, database, table string) (names []string, ok bool)
	HasRoutine(ctx *sql.Context, database, name string, procedure bool) bool
}

// Execute runs a statement. Statements that show something return rows.
func (d *Directory) Execute(ctx *sql.Context, by Session, schema Schema, stmt Statement) ([]sql.Row, error) {
	r := &run{Directory: d, ctx: ctx, by: by, me: by.Account(), schema: schema}
	if d.Enabled() {
		r.may = d.db.UserActivePrivilegeSet(ctx) // before the accounts are locked
	} else {
		r.may = mysql_db.NewPrivilegeSetWithAllPrivileges()
	}
	switch s := stmt.(type) {
	case CreateUser:
		return r.createUser(s)
	case AlterUser:
		return r.alterUser(s)
	case DropUser:
		return nil, r.dropUser(s)
	case RenameUser:
		return nil, r.renameUser(s)
	case CreateRole:
		return nil, r.createRole(s)
	case SetRole:
		return nil, r.setRole(s)
	case SetDefaultRole:
		return nil, r.setDefaultRole(s)
	case Grant:
		return nil, r.grant(s)
	case GrantRole:
		return nil, r.grantRole(s)
	case ShowGrants:
		return r.showGrants(s)
	case ShowCreateUser:
		return r.showCreateUser(s)
	}
	return nil, fmt.Errorf("account: unknown statement %T", stmt)
}

// run is a statement being executed.
type run struct {
	*Directory
	ctx    *sql.Context
	by     Session
	me     Name
	may    mysql_db.PrivilegeSet
	schema Schema
}

func (r *run) name(n Name) Name {
	if n.Current {
		return r.me
	}
	return n
}

func (r *run) note(code uint16, format string, args ...any) {
	r.ctx.Session.Warn(&sql.Warning{Level: "Note", Code: int(code), Message: fmt.Sprintf(format, args...)})
}

func (r *run) warn(code uint16, format string, args ...any) {
	r.ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: int(code), Message: fmt.Sprintf(format, args...)})
}

// has reports whether who asks has a privilege on the server, or on the tables of accounts.
func (r *run) has(inMySQL sql.PrivilegeType, any ...sql.PrivilegeType) bool {
	if r.may.Has(sql.PrivilegeType_Super) || r.may.Has(inMySQL) || r.may.Database("mysql").Has(inMySQL) {
		return true
	}
	return slices.ContainsFunc(any, func(p sql.PrivilegeType) bool { return r.may.Has(p) })
}

func needs(what string) error {
	return sqlerr.New(sqlerr.SpecificAccessDenied, "Access denied; you need (at least one of) the %s privilege(s) for this operation", what)
}

const systemUser = "system_user"

// mayTouch keeps those who manage accounts from the accounts of those who may do more.
func (r *run) mayTouch(u *mysql_db.User) error {
	powerful := func(s mysql_db.PrivilegeSet) bool { return s.Has(sql.PrivilegeType_Super) || s.HasDynamic(systemUser) }
	if powerful(u.PrivilegeSet) && !powerful(r.may) {
		return needs("SYSTEM_USER")
	}
	return nil
}

// failed is 1396 with all accounts that were wrong.
func failed(operation string, names []string) error {
	return sqlerr.New(sqlerr.CannotUser, "Operation %s failed for %s", operation, strings.Join(names, ","))
}

func checkName(n Name) error {
	for _, part := range []string{n.User, n.Host} {
		if strings.Contains(part, "\x00") {
			return sqlerr.New(sqlerr.InvalidCharacterString, "Invalid utf8mb4 character string: '%s'",
				strings.ReplaceAll(part, "\x00", `\0`))
		}
	}
	if len([]rune(n.User)) > maxUser {
		return sqlerr.New(wrongStringLength, "String '%s' is too long for user name (should be no longer than %d)", n.User, maxUser)
	}
	if len(n.Host) > maxHost {
		return sqlerr.New(wrongStringLength, "String '%s' is too long for host name (should be no longer than %d)", n.Host, maxHost)
	}
	return nil
}

func (r *run) createUser(s CreateUser) ([]sql.Row, error) {
	if !r.has(sql.PrivilegeType_Insert, sql.PrivilegeType_CreateUser) {
		return nil, needs("CREATE USER")
	}
	for _, u := range s.Users {
		n := r.name(u.Name)
		if err := checkName(n); err != nil {
			return nil, err
		}
		if u.Auth == nil {
			if err := checkPassword("", n); err != nil {
				return nil, err
			}
		}
	}
	secrets, err := r.secrets("CREATE USER", s.Users, func(n Name) *mysql_db.User {
		return &mysql_db.User{User: n.User, Host: n.Host, Plugin: defaultPlugin}
	})
	if err != nil {
		return nil, err
	}
	var shown []sql.Row
	err = r.change(r.ctx, func(e *edit) error {
		var wrong []string
		for _, u := range s.Users {
			if err := r.heard(); err != nil {
				return err
			}
			n := r.name(u.Name)
			if e.user(n) != nil {
				if !s.IfNotExists {
					wrong = append(wrong, n.String())
					continue
				}
				r.note(existsNote, "Authorization ID %s already exists.", n)
				continue
			}
			now := &mysql_db.User{User: n.User, Host: n.Host, PrivilegeSet: mysql_db.NewPrivilegeSet()}
			setExtra(now, func(x *extra) { x.ID = rand.Uint64() })
			made := secrets[n.key()]
			if made.give(now); made.shown != nil {
				shown = append(shown, made.shown)
			}
			if err := apply(now, s.Options); err != nil {
				return err
			}
			if len(s.Roles) > 0 {
				for _, role := range r.once(s.Roles) {
					held := e.user(r.name(role))
					if held == nil {
						return sqlerr.New(unknownAuthID, "Unknown authorization ID %s", r.name(role).Quoted("`"))
					}
					e.putEdge(&mysql_db.RoleEdge{FromHost: held.Host, FromUser: held.User, ToHost: now.Host, ToUser: now.User})
					setExtra(now, func(x *extra) { x.Defaults = append(x.Defaults, keyOf(held).text()) })
				}
			}
			e.put(now)
		}
		if len(wrong) > 0 {
			return failed("CREATE USER", wrong)
		}
		return nil
	})
	return shown, err
}

// setExtraIf does nothing to an account of which there is nothing to change.
func setExtraIf(u *mysql_db.User, f func(*extra) bool) {
	x := extraOf(u)
	if f(&x) {
		setExtra(u, func(now *extra) { *now = x })
	}
}

// apply gives an account its options.
func apply(u *mysql_db.User, o Options) error {
	if o.Require != nil {
		t := *o.Require
		u.SslType, u.SslCipher, u.X509Issuer, u.X509Subject = "", t.Cipher, t.Issuer, t.Subject
		switch {
		case t.Cipher != "" || t.Issuer != "" || t.Subject != "":
			u.SslType = "SPECIFIED"
		case t.X509:
			u.SslType = "X509"
		case t.Any:
			u.SslType = "ANY"
		}
	}
	if o.Locked != nil {
		u.Locked = *o.Locked
	}
	if o.Conns != nil {
		setExtraIf(u, func(x *extra) bool { was := x.Connections; x.Connections = *o.Conns; return was != x.Connections })
	}
	if x := o.Expiry; x != nil {
		setExtra(u, func(e *extra) {
			switch {
			case x.Now:
				e.Expired = true
			case x.Default:
				e.Lifetime = nil
			default:
				e.Lifetime = &x.Days
			}
		})
	}
	return setMetadata(u, o)
}

func (r *run) alterUser(s AlterUser) ([]sql.Row, error) {
	// Who may do nothing else may give himself another password. The method, or a hash that no policy has seen the password of, is the
	// administrator's to choose.
	own := s.Options.none() && !slices.ContainsFunc(s.Users, func(u User) bool {
		return r.name(u.Name).key() != r.me.key() || u.Auth != nil && (u.Auth.Plugin != "" || u.Auth.Hash != nil)
	})
	if !own && !r.has(sql.PrivilegeType_Update, sql.PrivilegeType_CreateUser) {
		return nil, needs("CREATE USER")
	}
	secrets, err := r.secrets("ALTER USER", s.Users, r.Account)
	if err != nil {
		return nil, err
	}
	var shown []sql.Row
	mine := false
	err = r.change(r.ctx, func(e *edit) error {
		var wrong []string
		for _, u := range s.Users {
			if err := r.heard(); err != nil {
				return err
			}
			n := r.name(u.Name)
			now := e.own(n)
			made, known := secrets[n.key()]
			if now == nil || !known { // there is none, or was none a moment ago
				if !s.IfExists {
					wrong = append(wrong, n.String())
				} else {
					r.note(missingNote, "Authorization ID %s does not exist.", n)
				}
				continue
			}
			if err := r.mayTouch(now); err != nil && !own {
				return err
			}
			if u.Auth != nil {
				if made.give(now); made.shown != nil {
					shown = append(shown, made.shown)
				}
				mine = mine || n.key() == r.me.key()
			}
			if err := apply(now, s.Options); err != nil {
				return err
			}
			e.put(now)
		}
		if len(wrong) > 0 {
			return failed("ALTER USER", wrong)
		}
		return nil
	})
	if err == nil && mine {
		r.by.PasswordChanged()
	}
	return shown, err
}

func (r *run) dropUser(s DropUser) error {
	operation := "DROP USER"
	if s.Role {
		operation = "DROP ROLE"
	}
	if !r.has(sql.PrivilegeType_Delete, sql.PrivilegeType_CreateUser) && !(s.Role && r.may.Has(sql.PrivilegeType_DropRole)) {
		if s.Role {
			return needs("DROP ROLE or CREATE USER")
		}
		return needs("CREATE USER")
	}
	return r.change(r.ctx, func(e *edit) error {
		var wrong []string
		for _, n := range s.Names {
			if err := r.heard(); err != nil {
				return err
			}
			n = r.name(n)
			u := e.user(n)
			if u == nil {
				if !s.IfExists {
					wrong = append(wrong, n.String())
				} else {
					r.note(missingNote, "Authorization ID %s does not exist.", n)
				}
				continue
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			if s.Role && !u.IsRole && !r.has(sql.PrivilegeType_Delete, sql.PrivilegeType_CreateUser) { // DROP ROLE alone is for roles
				return needs("CREATE USER")
			}
			if err := notMandatory(n); err != nil {
				return err
			}
			e.remove(u)
			for _, edge := range e.edges() {
				if to, from := edgeKeys(edge); to == keyOf(u) || from == keyOf(u) {
					e.removeEdge(edge)
				}
			}
		}
		if len(wrong) > 0 {
			return failed(operation, wrong)
		}
		return nil
	})
}

func edgeKeys(e *mysql_db.RoleEdge) (to, from key) {
	return Name{User: e.ToUser, Host: e.ToHost}.key(), Name{User: e.FromUser, Host: e.FromHost}.key()
}

func notMandatory(n Name) error {
	for _, m := range mandatory() {
		if m.key() == n.key() {
			return sqlerr.New(mandatoryRole, "The role %s is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the role identifier from the global variable mandatory_roles.", n.Quoted("`"))
		}
	}
	return nil
}

func (r *run) renameUser(s RenameUser) error {
	if !r.has(sql.PrivilegeType_Update, sql.PrivilegeType_CreateUser) {
		return needs("CREATE USER")
	}
	return r.change(r.ctx, func(e *edit) error {
		var wrong []string
		for i := range s.From {
			if err := r.heard(); err != nil {
				return err
			}
			from, to := r.name(s.From[i]), r.name(s.To[i])
			if err := checkName(to); err != nil {
				return err
			}
			u := e.own(from)
			if u == nil || e.user(to) != nil {
				wrong = append(wrong, from.String())
				continue
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			if err := notMandatory(from); err != nil {
				return err
			}
			old := keyOf(u)
			e.remove(u)
			u.User, u.Host = to.User, to.Host
			e.put(u)
			for _, edge := range e.edges() {
				now := *edge
				toKey, fromKey := edgeKeys(edge)
				if toKey == old {
					now.ToUser, now.ToHost = to.User, to.Host
				}
				if fromKey == old {
					now.FromUser, now.FromHost = to.User, to.Host
				}
				if now != *edge {
					e.removeEdge(edge)
					e.putEdge(&now)
				}
			}
			e.renameRole(old.text(), to.key().text())
		}
		if len(wrong) > 0 {
			return failed("RENAME USER", wrong)
		}
		return nil
	})
}

// renameRole puts a role's new name where accounts have it among what is theirs.
func (e *edit) renameRole(old, now string) {
	var users []*mysql_db.User
	e.ed.VisitUsers(func(u *mysql_db.User) { users = append(users, u) })
	for _, u := range users {
		x := extraOf(u)
		if !slices.Contains(x.Defaults, old) && !slices.Contains(x.Admin, old) {
			continue
		}
		again := mysql_db.UserCopy(u)
		setExtra(again, func(x *extra) {
			for _, list := range []*[]string{&x.Defaults, &x.Admin} {
				*list = slices.Clone(*list)
				for i := range *list {
					if (*list)[i] == old {
						(*list)[i] = now
					}
				}
			}
		})
		e.put(again)
	}
}
