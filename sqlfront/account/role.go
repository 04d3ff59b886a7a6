package account

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

type sqlError = mysql.SQLError

func (r *run) createRole(s CreateRole) error {
	if !r.has(sql.PrivilegeType_Insert, sql.PrivilegeType_CreateUser, sql.PrivilegeType_CreateRole) {
		return needs("CREATE ROLE or CREATE USER")
	}
	return r.change(r.ctx, func(e *edit) error {
		var wrong []string
		for _, n := range s.Names {
			if err := r.heard(); err != nil {
				return err
			}
			if err := checkName(n); err != nil {
				return err
			}
			if e.user(n) != nil {
				if !s.IfNotExists {
					wrong = append(wrong, n.String())
				} else {
					r.note(existsNote, "Authorization ID %s already exists.", n)
				}
				continue
			}
			// A role is an account that nobody can log in to.
			u := &mysql_db.User{User: n.User, Host: n.Host, PrivilegeSet: mysql_db.NewPrivilegeSet(), Plugin: string(mysql.MysqlNativePassword),
				PasswordLastChanged: time.Now().UTC(), Locked: true, IsRole: true}
			setExtra(u, func(x *extra) { x.ID, x.Role, x.Expired = rand.Uint64(), true, true })
			e.put(u)
		}
		if len(wrong) > 0 {
			return failed("CREATE ROLE", wrong)
		}
		return nil
	})
}

func unknownID(n Name) *sqlError {
	return sqlerr.New(unknownAuthID, "Unknown authorization ID %s", n.Quoted("`"))
}

func notGranted(role, to Name) error {
	return sqlerr.New(roleNotGranted, "%s is not granted to %s", role.Quoted("`"), to.Quoted("`"))
}

// mayGrantRole: with WITH ADMIN OPTION on it, or ROLE_ADMIN.
func (r *run) mayGrantRole(role Name) error {
	if r.may.Has(sql.PrivilegeType_Super) || r.may.HasDynamic("role_admin") {
		return nil
	}
	for _, edge := range r.now.Load().edges {
		if to, from := edgeKeys(edge); edge.WithAdminOption && from == role.key() &&
			(to == r.me.key() || slices.ContainsFunc(r.by.ActiveRoles(), func(n Name) bool { return n.key() == to })) {
			return nil
		}
	}
	return needs("WITH ADMIN, ROLE_ADMIN, SUPER")
}

func (r *run) grantRole(s GrantRole) error {
	s.To, s.Roles = r.once(s.To), r.once(s.Roles)
	for _, role := range s.Roles {
		if err := r.mayGrantRole(role); err != nil {
			return err
		}
	}
	return r.change(r.ctx, func(e *edit) error {
		for _, n := range s.To {
			if err := r.heard(); err != nil {
				return err
			}
			to := r.name(n)
			u := e.user(to)
			if u == nil {
				if s.IgnoreUser {
					r.warn(missingNote, "Authorization ID %s does not exist.", to)
					continue
				}
				return unknownID(to)
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			for _, role := range s.Roles {
				held := e.user(role)
				if held == nil {
					if err := unknownID(role); !s.IfExists {
						return err
					} else {
						r.warn(uint16(err.Num), "%s", err.Message)
					}
					continue
				}
				if err := r.changeEdge(e, s, u, held); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (r *run) changeEdge(e *edit, s GrantRole, to, role *mysql_db.User) error {
	admin := func(has bool) {
		now := e.own(nameOf(to))
		setExtraIf(now, func(x *extra) bool {
			was := slices.Contains(x.Admin, keyOf(role).text())
			x.Admin = slices.DeleteFunc(slices.Clone(x.Admin), func(a string) bool { return a == keyOf(role).text() })
			if has {
				x.Admin = append(x.Admin, keyOf(role).text())
			}
			return was != has
		})
		e.put(now)
	}
	if s.Revoke {
		if err := notMandatory(nameOf(role)); err != nil {
			return err
		}
		for _, edge := range e.edges() {
			if a, b := edgeKeys(edge); a == keyOf(to) && b == keyOf(role) {
				e.removeEdge(edge)
			}
		}
		admin(false)
		return nil
	}
	if err := r.mayTouch(role); err != nil {
		return err
	}
	// The roles of the role must not lead to who gets it.
	held := map[key][]key{}
	had := false
	for _, edge := range e.edges() {
		a, b := edgeKeys(edge)
		held[a] = append(held[a], b)
		had = had || edge.WithAdminOption && a == keyOf(to) && b == keyOf(role)
	}
	seen := map[key]bool{}
	var reaches func(k key) bool
	reaches = func(k key) bool {
		if k == keyOf(to) {
			return true
		}
		if seen[k] {
			return false
		}
		seen[k] = true
		return slices.ContainsFunc(held[k], reaches)
	}
	if reaches(keyOf(role)) {
		return sqlerr.New(grantedToItself, "User account %s is directly or indirectly granted to the role %s. The GRANT would create a loop", nameOf(to).Quoted("`"), nameOf(role).Quoted("`"))
	}
	e.putEdge(&mysql_db.RoleEdge{FromHost: role.Host, FromUser: role.User, ToHost: to.Host, ToUser: to.User, WithAdminOption: s.Admin || had})
	if s.Admin {
		admin(true)
	}
	return nil
}

// choose are the roles of an account that a statement means.
func (d *Directory) choose(c RoleChoice, list []Name, of Name) ([]Name, error) {
	granted := d.Roles(of)
	has := func(list []Name, n Name) bool {
		return slices.ContainsFunc(list, func(o Name) bool { return o.key() == n.key() })
	}
	switch c {
	case NoRoles:
		return nil, nil
	case AllRoles:
		return granted, nil
	case AllRolesExcept:
		return slices.DeleteFunc(granted, func(n Name) bool { return has(list, n) }), nil
	case DefaultRoles:
		if u := d.Account(of); u != nil {
			return d.defaults(u), nil
		}
		return nil, nil
	}
	list = once(list, Name.key)
	for _, n := range list {
		if !has(granted, n) {
			return nil, notGranted(n, of)
		}
	}
	return list, nil
}

// once leaves out what a list has already: who repeats a name a million times has it worked on once, and kept
// once.
func once[T any, K comparable](list []T, as func(T) K) (out []T) {
	seen := make(map[K]bool, len(list))
	for _, x := range list {
		if k := as(x); !seen[k] {
			seen[k] = true
			out = append(out, x)
		}
	}
	return out
}

// once leaves out accounts that are named already.
func (r *run) once(list []Name) []Name {
	return once(list, func(n Name) key { return r.name(n).key() })
}

func (r *run) setRole(s SetRole) error {
	list, err := r.choose(s.Choice, s.Roles, r.me)
	if err == nil {
		r.by.SetActiveRoles(list)
	}
	return err
}

func (r *run) setDefaultRole(s SetDefaultRole) error {
	s.To, s.Roles = r.once(s.To), r.once(s.Roles)
	for _, n := range s.To {
		if r.name(n).key() != r.me.key() && !r.has(sql.PrivilegeType_Update, sql.PrivilegeType_CreateUser) {
			return needs("CREATE USER")
		}
	}
	for _, n := range s.To {
		if err := r.heard(); err != nil {
			return err
		}
		of := r.name(n)
		u := r.Account(of)
		if u == nil {
			if s.Alter {
				return failed("ALTER USER", []string{of.String()})
			}
			return failed("SET DEFAULT ROLE", []string{of.String()})
		}
		if err := r.mayTouch(u); err != nil && of.key() != r.me.key() {
			return err
		}
		if _, err := r.choose(s.Choice, s.Roles, of); err != nil {
			return err
		}
	}
	return r.change(r.ctx, func(e *edit) error {
		for _, n := range s.To {
			if err := r.heard(); err != nil {
				return err
			}
			now := e.own(r.name(n))
			if now == nil {
				return failed("SET DEFAULT ROLE", []string{r.name(n).String()})
			}
			setExtra(now, func(x *extra) {
				x.All, x.Defaults = false, nil
				if s.Choice == AllRoles { // those that there are now
					for _, role := range r.Roles(r.name(n)) {
						x.Defaults = append(x.Defaults, role.key().text())
					}
				}
				for _, role := range s.Roles {
					x.Defaults = append(x.Defaults, role.key().text())
				}
			})
			e.put(now)
		}
		return nil
	})
}

// CurrentRole is CURRENT_ROLE().
func CurrentRole(active []Name) string {
	if len(active) == 0 {
		return "NONE"
	}
	var parts []string
	for _, n := range active {
		parts = append(parts, n.Quoted("`"))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
