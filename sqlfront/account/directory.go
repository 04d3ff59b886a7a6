package account

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/sqlerr"
)

// Directory is the accounts of a server.
type Directory struct {
	db      *mysql_db.MySQLDb
	now     atomic.Pointer[snapshot]
	version atomic.Uint64
	adopted atomic.Bool
}

// Version counts changes of accounts, and of what everybody has (Touch). Who keeps the answer to a question about privileges reads it before he
// asks, and asks again when it is another one.
func (d *Directory) Version() uint64 { return d.version.Load() }

// Touch says that privileges have changed without an account: by mandatory_roles and its like.
func (d *Directory) Touch() { d.version.Add(1) }

// New returns the directory over the library's tables of accounts. It is empty before Adopt.
func New(db *mysql_db.MySQLDb) *Directory {
	d := &Directory{db: db}
	d.version.Store(1) // nothing that is kept was asked under version 0
	d.now.Store(&snapshot{})
	return d
}

// key names an account exactly.
type key struct{ user, host string }

func (n Name) key() key { return key{n.User, strings.ToLower(n.Host)} }

// text is the key as it is stored; hosts have no @.
func (k key) text() string { return k.user + "@" + k.host }

func keyOf(u *mysql_db.User) key { return key{u.User, strings.ToLower(u.Host)} }

func nameOf(u *mysql_db.User) Name { return Name{User: u.User, Host: u.Host} }

// parseName reads what text has written.
func parseName(s string) Name {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return Name{User: s[:i], Host: s[i+1:]}
	}
	return Name{User: s, Host: "%"}
}

// snapshot is all accounts at a moment. It is not changed.
type snapshot struct {
	users  map[key]*mysql_db.User
	ids    map[key]uint64 // extra.ID of those that have one
	byUser map[string][]*mysql_db.User
	edges  []*mysql_db.RoleEdge
	roles  map[key][]key // those that an account was granted
	native float64       // nativeShare
}

func (s *snapshot) granted(k key) []key { return s.roles[k] }

// Adopt makes what is in the library's tables the directory's.
func (d *Directory) Adopt(ed *mysql_db.Editor) {
	normalize(ed)
	d.publish(ed)
	d.adopted.Store(true)
}

// Adopted reports whether the accounts are the directory's: a server's are. Of an engine without a server
// they may be the library's alone.
func (d *Directory) Adopted() bool { return d.adopted.Load() }

// Replace takes a stored value for all accounts.
func (d *Directory) Replace(ctx *sql.Context, data []byte) error {
	ed := d.db.Editor()
	defer ed.Close()
	if err := d.db.OverwriteUsersAndGrantData(ctx, ed, data); err != nil {
		return err
	}
	d.Adopt(ed)
	return nil
}

// Follow makes a snapshot of a stored value, which the library's tables have already: their lock is held by who calls.
func (d *Directory) Follow(ctx *sql.Context, data []byte) error {
	apart := mysql_db.CreateEmptyMySQLDb()
	ed := apart.Editor()
	defer ed.Close()
	if err := apart.OverwriteUsersAndGrantData(ctx, ed, data); err != nil {
		return err
	}
	d.Adopt(ed)
	return nil
}

// normalize gives accounts that were read what the library has not kept, and puts names under the keys by which they are looked for: it
// keeps them under the names as they were written.
func normalize(ed *mysql_db.Editor) {
	var users []*mysql_db.User
	ed.VisitUsers(func(u *mysql_db.User) { users = append(users, u) })
	admin := map[key][]string{}
	for _, u := range users {
		again := mysql_db.UserCopy(u)
		e := extraOf(u)
		again.IsRole = e.Role || u.IsRole
		admin[keyOf(u)] = e.Admin
		(&edit{ed: ed}).put(again)
	}
	var edges []*mysql_db.RoleEdge
	ed.VisitRoleEdges(func(e *mysql_db.RoleEdge) { edges = append(edges, e) })
	for _, e := range edges {
		to := Name{User: e.ToUser, Host: e.ToHost}.key()
		if from := (Name{User: e.FromUser, Host: e.FromHost}).key(); !e.WithAdminOption && slices.Contains(admin[to], from.text()) {
			again := *e
			again.WithAdminOption = true
			(&edit{ed: ed}).putEdge(&again)
		}
	}
}

// publish makes the snapshot of what is in memory, before anybody else can see that.
func (d *Directory) publish(ed *mysql_db.Editor) {
	s := &snapshot{users: map[key]*mysql_db.User{}, ids: map[key]uint64{},
		byUser: map[string][]*mysql_db.User{}, roles: map[key][]key{}}
	ed.VisitUsers(func(u *mysql_db.User) {
		s.users[keyOf(u)] = u
		if id := extraOf(u).ID; id != 0 {
			s.ids[keyOf(u)] = id
		}
		s.byUser[u.User] = append(s.byUser[u.User], u)
	})
	s.native = nativeShare(s.users)
	ed.VisitRoleEdges(func(e *mysql_db.RoleEdge) {
		s.edges = append(s.edges, e)
		to, from := Name{User: e.ToUser, Host: e.ToHost}.key(), Name{User: e.FromUser, Host: e.FromHost}.key()
		s.roles[to] = append(s.roles[to], from)
	})
	for _, list := range s.roles {
		slices.SortFunc(list, func(a, b key) int { return strings.Compare(a.text(), b.text()) })
	}
	d.now.Store(s)
	d.version.Add(1)
}

// Enabled reports whether anybody asks for privileges.
func (d *Directory) Enabled() bool { return d.db.Enabled() }

// Account is the account of exactly that name, nil for none.
func (d *Directory) Account(n Name) *mysql_db.User { return d.now.Load().users[n.key()] }

// Spelled is the name of the account of exactly that name as accounts have it: hosts are compared without
// case.
func (d *Directory) Spelled(n Name) (as Name, ok bool) {
	if d.Adopted() {
		if u := d.Account(n); u != nil {
			return nameOf(u), true
		}
		return Name{}, false
	}
	reader := d.db.Reader()
	defer reader.Close()
	_, ok = reader.GetUser(mysql_db.UserPrimaryKey{User: n.User, Host: n.Host})
	return n, ok
}

// ID tells the account of exactly that name from others that had the name before it.
func (d *Directory) ID(n Name) uint64 { return d.now.Load().ids[n.key()] }

// Gone refuses what a session does whose account is not there any more: another one may have its name.
func (d *Directory) Gone(n Name, id uint64) error {
	if s := d.now.Load(); d.Adopted() && (s.users[n.key()] == nil || s.ids[n.key()] != id) {
		return sqlerr.New(sqlerr.AccessDenied,
			"Access denied for user %s: there is no such account any more", n)
	}
	return nil
}

// Accounts are all of them.
func (d *Directory) Accounts() []*mysql_db.User {
	s := d.now.Load()
	out := make([]*mysql_db.User, 0, len(s.users))
	for _, u := range s.users {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *mysql_db.User) int { return strings.Compare(keyOf(a).text(), keyOf(b).text()) })
	return out
}

// Effective is what an account may do with roles that are active. ok is false if there is no such account.
func (d *Directory) Effective(n Name, active []Name) (set mysql_db.PrivilegeSet, ok bool) {
	set = mysql_db.NewPrivilegeSet()
	return set, d.AddTo(set, n, active)
}

// AddTo adds what an account may do with roles that are active to a set. It adds nothing and says so if
// there is no account of exactly that name.
func (d *Directory) AddTo(set mysql_db.PrivilegeSet, n Name, active []Name) bool {
	s := d.now.Load()
	u := s.users[n.key()]
	if u == nil {
		return false
	}
	set.UnionWith(u.PrivilegeSet)
	seen := map[key]bool{n.key(): true}
	var add func(k key)
	add = func(k key) {
		if seen[k] {
			return
		}
		seen[k] = true
		if r := s.users[k]; r != nil {
			set.UnionWith(r.PrivilegeSet)
			for _, more := range s.granted(k) {
				add(more)
			}
		}
	}
	for _, r := range active {
		if s.hasRole(n.key(), r.key()) {
			add(r.key())
		}
	}
	return true
}

// Exactly puts what an account may do, with roles that are active, in the place of what is in a set, and
// nothing if it is gone (there). The library fills the set of a session as if somebody logged in: it takes
// 127.0.0.1 for localhost, and patterns and the anonymous user for who is not there. But the host of a
// session is its account's, and rights are those of no other.
func (d *Directory) Exactly(set mysql_db.PrivilegeSet, n Name, there bool, active func() []Name) {
	if !d.Adopted() {
		return
	}
	set.RemoveGlobalStatic(set.ToSlice()...)
	for _, grantable := range []bool{false, true} {
		for _, name := range set.ToSliceDynamic(grantable) {
			set.RemoveGlobalDynamic(strings.ToLower(name))
		}
	}
	for _, db := range set.GetDatabases() {
		set.ClearDatabase(db.Name())
	}
	if !there {
		return
	}
	var roles []Name
	if d.HasRoles(n) {
		roles = active()
	}
	d.AddTo(set, n, roles)
}

// HasRoles reports whether an account has been granted any role, or all have.
func (d *Directory) HasRoles(n Name) bool {
	return len(d.now.Load().granted(n.key())) > 0 || len(mandatory()) > 0
}

// hasRole reports whether a role was granted to an account, or to all.
func (s *snapshot) hasRole(account, role key) bool {
	return slices.Contains(s.granted(account), role) || slices.ContainsFunc(mandatory(), func(m Name) bool { return m.key() == role && s.users[role] != nil })
}

// mandatory are the roles that everybody has.
func mandatory() (out []Name) {
	_, v, _ := sql.SystemVariables.GetGlobal("mandatory_roles")
	text, _ := v.(string)
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			user, host, ok := strings.Cut(part, "@")
			unquote := func(s string) string { return strings.Trim(strings.TrimSpace(s), "`'\"") }
			n := Name{User: unquote(user), Host: "%"}
			if ok {
				n.Host = unquote(host)
			}
			out = append(out, n)
		}
	}
	return out
}

// Roles are the roles that an account has been granted, those for all included.
func (d *Directory) Roles(n Name) []Name {
	s := d.now.Load()
	var out []Name
	for _, k := range s.granted(n.key()) {
		if u := s.users[k]; u != nil {
			out = append(out, nameOf(u))
		}
	}
	for _, m := range mandatory() {
		if s.users[m.key()] != nil && !slices.ContainsFunc(out, func(o Name) bool { return o.key() == m.key() }) {
			out = append(out, m)
		}
	}
	return out
}

// Defaults are the roles that are active when an account logs in.
func (d *Directory) Defaults(n Name) []Name {
	u := d.Account(n)
	if u == nil {
		return nil
	}
	_, v, _ := sql.SystemVariables.GetGlobal("activate_all_roles_on_login")
	if all, _ := v.(int8); all != 0 {
		return d.Roles(n)
	}
	return d.defaults(u)
}

// defaults are the account's default roles, as far as it still has them.
func (d *Directory) defaults(u *mysql_db.User) (out []Name) {
	e := extraOf(u)
	for _, r := range d.Roles(nameOf(u)) {
		if e.All || slices.Contains(e.Defaults, r.key().text()) {
			out = append(out, r)
		}
	}
	return out
}

// edit is a change of accounts under way.
type edit struct {
	ed     *mysql_db.Editor
	before *snapshot
}

func (e *edit) user(n Name) *mysql_db.User {
	u, _ := e.ed.GetUser(mysql_db.UserPrimaryKey{Host: n.Host, User: n.User})
	if u == nil { // hosts are compared without case
		for _, other := range e.ed.GetUsersByUsername(n.User) {
			if strings.EqualFold(other.Host, n.Host) {
				return other
			}
		}
	}
	return u
}

// own returns the account in a form that may be changed and put.
func (e *edit) own(n Name) *mysql_db.User {
	if u := e.user(n); u != nil {
		return mysql_db.UserCopy(u)
	}
	return nil
}

// put takes the place of the account of the same name: the library would find that only if nothing else had changed.
func (e *edit) put(u *mysql_db.User) {
	e.remove(u)
	e.ed.PutUser(u)
}

func (e *edit) remove(u *mysql_db.User) {
	e.ed.RemoveUser(mysql_db.UserPrimaryKey{Host: u.Host, User: u.User})
}

func (e *edit) putEdge(r *mysql_db.RoleEdge) {
	e.removeEdge(r)
	e.ed.PutRoleEdge(r)
}

func (e *edit) edges() (out []*mysql_db.RoleEdge) {
	e.ed.VisitRoleEdges(func(r *mysql_db.RoleEdge) { out = append(out, r) })
	return out
}

func (e *edit) removeEdge(r *mysql_db.RoleEdge) {
	e.ed.RemoveRoleEdge(mysql_db.RoleEdgesPrimaryKey{FromHost: r.FromHost, FromUser: r.FromUser, ToHost: r.ToHost, ToUser: r.ToUser})
}

// undo brings back what was.
func (e *edit) undo() {
	var users []*mysql_db.User
	e.ed.VisitUsers(func(u *mysql_db.User) { users = append(users, u) })
	for _, u := range users {
		e.remove(u)
	}
	for _, u := range e.before.users {
		e.put(u)
	}
	for _, r := range e.edges() {
		e.removeEdge(r)
	}
	for _, r := range e.before.edges {
		e.putEdge(r)
	}
}

// change makes a change and saves it; when it returns without an error the change is durable, else there is none.
func (d *Directory) change(ctx *sql.Context, f func(*edit) error) error {
	ed := d.db.Editor()
	defer ed.Close()
	e := &edit{ed, d.now.Load()}
	err := f(e)
	if err == nil {
		err = d.db.Persist(ctx, ed)
	}
	if err != nil {
		e.undo()
	}
	return err // the snapshot has followed what was saved
}
