package account

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/sqlerr"
)

// level is where a privilege may be granted.
type level uint8

const (
	onServer level = 1 << iota
	onDatabase
	onTable
	onColumn
	onRoutine
)

// static are MySQL's privileges in the order in which SHOW GRANTS lists them.
var static = []struct {
	name string
	typ  sql.PrivilegeType
	at   level
}{
	{"SELECT", sql.PrivilegeType_Select, onServer | onDatabase | onTable | onColumn},
	{"INSERT", sql.PrivilegeType_Insert, onServer | onDatabase | onTable | onColumn},
	{"UPDATE", sql.PrivilegeType_Update, onServer | onDatabase | onTable | onColumn},
	{"DELETE", sql.PrivilegeType_Delete, onServer | onDatabase | onTable},
	{"CREATE", sql.PrivilegeType_Create, onServer | onDatabase | onTable},
	{"DROP", sql.PrivilegeType_Drop, onServer | onDatabase | onTable},
	{"RELOAD", sql.PrivilegeType_Reload, onServer},
	{"SHUTDOWN", sql.PrivilegeType_Shutdown, onServer},
	{"PROCESS", sql.PrivilegeType_Process, onServer},
	{"FILE", sql.PrivilegeType_File, onServer},
	{"REFERENCES", sql.PrivilegeType_References, onServer | onDatabase | onTable | onColumn},
	{"INDEX", sql.PrivilegeType_Index, onServer | onDatabase | onTable},
	{"ALTER", sql.PrivilegeType_Alter, onServer | onDatabase | onTable},
	{"SHOW DATABASES", sql.PrivilegeType_ShowDB, onServer},
	{"SUPER", sql.PrivilegeType_Super, onServer},
	{"CREATE TEMPORARY TABLES", sql.PrivilegeType_CreateTempTable, onServer | onDatabase},
	{"LOCK TABLES", sql.PrivilegeType_LockTables, onServer | onDatabase},
	{"EXECUTE", sql.PrivilegeType_Execute, onServer | onDatabase | onRoutine},
	{"REPLICATION SLAVE", sql.PrivilegeType_ReplicationSlave, onServer},
	{"REPLICATION CLIENT", sql.PrivilegeType_ReplicationClient, onServer},
	{"CREATE VIEW", sql.PrivilegeType_CreateView, onServer | onDatabase | onTable},
	{"SHOW VIEW", sql.PrivilegeType_ShowView, onServer | onDatabase | onTable},
	{"CREATE ROUTINE", sql.PrivilegeType_CreateRoutine, onServer | onDatabase},
	{"ALTER ROUTINE", sql.PrivilegeType_AlterRoutine, onServer | onDatabase | onRoutine},
	{"CREATE USER", sql.PrivilegeType_CreateUser, onServer},
	{"EVENT", sql.PrivilegeType_Event, onServer | onDatabase},
	{"TRIGGER", sql.PrivilegeType_Trigger, onServer | onDatabase | onTable},
	{"CREATE TABLESPACE", sql.PrivilegeType_CreateTablespace, onServer},
	{"CREATE ROLE", sql.PrivilegeType_CreateRole, onServer},
	{"DROP ROLE", sql.PrivilegeType_DropRole, onServer},
}

// dynamic are the privileges that MySQL's components bring; they are for the whole server.
var dynamic = strings.Fields(`APPLICATION_PASSWORD_ADMIN AUDIT_ABORT_EXEMPT AUDIT_ADMIN AUTHENTICATION_POLICY_ADMIN BACKUP_ADMIN BINLOG_ADMIN
	BINLOG_ENCRYPTION_ADMIN CLONE_ADMIN CONNECTION_ADMIN ENCRYPTION_KEY_ADMIN FIREWALL_EXEMPT FLUSH_OPTIMIZER_COSTS FLUSH_STATUS FLUSH_TABLES
	FLUSH_USER_RESOURCES GROUP_REPLICATION_ADMIN GROUP_REPLICATION_STREAM INNODB_REDO_LOG_ARCHIVE INNODB_REDO_LOG_ENABLE PASSWORDLESS_USER_ADMIN
	PERSIST_RO_VARIABLES_ADMIN REPLICATION_APPLIER REPLICATION_SLAVE_ADMIN RESOURCE_GROUP_ADMIN RESOURCE_GROUP_USER ROLE_ADMIN
	SENSITIVE_VARIABLES_OBSERVER SERVICE_CONNECTION_ADMIN SESSION_VARIABLES_ADMIN SET_USER_ID SHOW_ROUTINE SYSTEM_USER SYSTEM_VARIABLES_ADMIN
	TABLE_ENCRYPTION_ADMIN TELEMETRY_LOG_ADMIN XA_RECOVER_ADMIN`)

// IsPrivilege reports whether the words name a privilege.
func IsPrivilege(name string) bool {
	return name == "USAGE" || name == "GRANT OPTION" || slices.Contains(dynamic, name) ||
		slices.ContainsFunc(static, func(s struct {
			name string
			typ  sql.PrivilegeType
			at   level
		}) bool {
			return s.name == name
		})
}

func staticOf(name string) (sql.PrivilegeType, level, bool) {
	if name == "GRANT OPTION" {
		return sql.PrivilegeType_GrantOption, onServer | onDatabase | onTable | onRoutine, true
	}
	for _, s := range static {
		if s.name == name {
			return s.typ, s.at, true
		}
	}
	return 0, 0, false
}

// place is what a privilege is for: the server, a database, a table, a column or a routine.
type place struct {
	database, table, column, routine string
	procedure                        bool
}

func (p place) level() level {
	switch {
	case p.routine != "":
		return onRoutine
	case p.column != "":
		return onColumn
	case p.table != "":
		return onTable
	case p.database != "":
		return onDatabase
	}
	return onServer
}

// lower is the place as it is compared.
func (p place) lower() place {
	return place{strings.ToLower(p.database), strings.ToLower(p.table), strings.ToLower(p.column), strings.ToLower(p.routine), p.procedure}
}

// each calls f for all that a set has, but the dynamic ones.
func each(set mysql_db.PrivilegeSet, f func(place, sql.PrivilegeType)) {
	all := func(p place, list []sql.PrivilegeType) {
		for _, t := range list {
			f(p, t)
		}
	}
	all(place{}, set.ToSlice())
	for _, db := range set.GetDatabases() {
		p := place{database: db.Name()}
		all(p, db.ToSlice())
		for _, t := range db.GetTables() {
			p := place{database: db.Name(), table: t.Name()}
			all(p, t.ToSlice())
			for _, c := range t.GetColumns() {
				p.column = c.Name()
				all(p, c.ToSlice())
			}
		}
		for _, r := range db.GetRoutines() {
			all(place{database: db.Name(), routine: r.RoutineName(), procedure: r.RoutineType() == "PROCEDURE"}, r.ToSlice())
		}
	}
}

func add(set mysql_db.PrivilegeSet, p place, t sql.PrivilegeType) {
	switch p.level() {
	case onRoutine:
		set.AddRoutine(p.database, p.routine, p.procedure, t)
	case onColumn:
		set.AddColumn(p.database, p.table, p.column, t)
	case onTable:
		set.AddTable(p.database, p.table, t)
	case onDatabase:
		set.AddDatabase(p.database, t)
	default:
		set.AddGlobalStatic(t)
	}
}

// without is a set less what drop says. The library's own way to take a privilege away takes others along.
func without(set mysql_db.PrivilegeSet, drop func(place, sql.PrivilegeType) bool, dynamic func(string) bool) mysql_db.PrivilegeSet {
	out := mysql_db.NewPrivilegeSet()
	each(set, func(p place, t sql.PrivilegeType) {
		if !drop(p, t) {
			add(out, p, t)
		}
	})
	for _, grantable := range []bool{false, true} {
		for _, name := range set.ToSliceDynamic(grantable) {
			if !dynamic(name) {
				out.AddGlobalDynamic(grantable, name)
			}
		}
	}
	return out
}

// wanted is a privilege of a statement, with the place it is for.
type wanted struct {
	at place
	t  sql.PrivilegeType
}

func illegal() error {
	return sqlerr.New(illegalGrant, "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used")
}

// resolve takes a statement apart.
func (r *run) resolve(g Grant) (at place, list []wanted, dyn []string, err error) {
	switch {
	case g.Database == "*" && g.Name != "*":
		return at, nil, nil, illegal()
	case g.Database != "*":
		if at.database = g.Database; at.database == "" {
			if at.database = r.ctx.GetCurrentDatabase(); at.database == "" {
				return at, nil, nil, sqlerr.New(sqlerr.NoDatabase, "No database selected")
			}
		}
		if strings.EqualFold(at.database, sql.InformationSchemaDatabaseName) {
			return at, nil, nil, r.deniedDatabase(at.database)
		}
		switch {
		case g.Object != OnTable:
			at.routine, at.procedure = g.Name, g.Object == OnProcedure
		case g.Name != "*":
			at.table = g.Name
		}
	}
	if g.Object != OnTable && (g.Name == "*" || g.Database == "*") {
		return at, nil, nil, illegal()
	}
	if g.All {
		for _, s := range static {
			if s.at&at.level() != 0 {
				list = append(list, wanted{at, s.typ})
			}
		}
		if at.level() == onServer {
			dyn = dynamic
		}
		return at, list, dyn, nil
	}
	for _, p := range g.Privileges {
		if p.Name == "USAGE" {
			continue
		}
		if slices.Contains(dynamic, p.Name) {
			if at.level() != onServer || len(p.Columns) > 0 {
				return at, nil, nil, sqlerr.New(3619, "Illegal privilege level specified for %s", p.Name)
			}
			dyn = append(dyn, p.Name)
			continue
		}
		t, levels, _ := staticOf(p.Name)
		switch {
		case len(p.Columns) > 0 && (at.level() != onTable || levels&onColumn == 0):
			return at, nil, nil, sqlerr.New(wrongUsage, "Incorrect usage of COLUMN GRANT and NON-COLUMN PRIVILEGES")
		case levels&at.level() == 0 && at.level() == onDatabase:
			return at, nil, nil, sqlerr.New(wrongUsage, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES")
		case levels&at.level() == 0:
			return at, nil, nil, illegal()
		case len(p.Columns) == 0:
			list = append(list, wanted{at, t})
		}
		for _, c := range p.Columns {
			of := at
			of.column = c
			list = append(list, wanted{of, t})
		}
	}
	lower := func(w wanted) wanted { return wanted{w.at.lower(), w.t} }
	return at, once(list, lower), once(dyn, strings.ToLower), nil
}

func (r *run) deniedDatabase(database string) error {
	return sqlerr.New(dbAccess, "Access denied for user %s to database '%s'", r.me, database)
}

// holds reports whether who asks has a privilege at a place, or above it.
func (r *run) holds(at place, t sql.PrivilegeType) bool {
	if r.may.Has(t) {
		return true
	}
	if at.level() == onDatabase {
		return r.holdsPattern(at.database, t)
	}
	db := r.may.Database(at.database)
	if at.database == "" {
		return false
	}
	return db.Has(t) || at.table != "" && db.Table(at.table).Has(t) || at.column != "" && db.Table(at.table).Column(at.column).Has(t) ||
		at.routine != "" && db.Routine(at.routine, at.procedure).Has(t)
}

// holdsPattern reports whether who asks has a privilege on all databases for whose names a pattern stands.
// What he has on one of them is not enough: `my_db` has a wildcard in it, and who has my\_db alone would
// open myxdb by it. As in MySQL that pattern of his counts which is the most specific of those that cover it.
func (r *run) holdsPattern(pattern string, t sql.PrivilegeType) bool {
	set := r.may
	if own, ok := r.Effective(r.me, r.by.ActiveRoles()); ok && r.Enabled() {
		set = own // the session's has names of databases in it that are no patterns
	}
	var best sql.PrivilegeSetDatabase
	pattern = strings.ToLower(pattern)
	for _, d := range set.GetDatabases() {
		if d.Count() == 0 || !Covers(strings.ToLower(d.Name()), pattern) {
			continue
		}
		if best == nil || FirstWildcard(d.Name()) > FirstWildcard(best.Name()) {
			best = d
		}
	}
	return best != nil && best.Has(t)
}

// mayGrant asks for GRANT OPTION and for what is to be granted.
func (r *run) mayGrant(at place, list []wanted, dyn []string) error {
	if r.may.Has(sql.PrivilegeType_Super) && r.may.Has(sql.PrivilegeType_GrantOption) {
		return nil
	}
	ok := len(list) == 0 && len(dyn) > 0 || r.holds(at, sql.PrivilegeType_GrantOption)
	for _, w := range list {
		ok = ok && r.holds(w.at, w.t)
	}
	if ok {
		grantable := r.may.ToSliceDynamic(true)
		for _, d := range dyn {
			if !slices.Contains(grantable, d) {
				return needs(d + " or GRANT OPTION")
			}
		}
		return nil
	}
	switch at.level() {
	case onServer:
		return sqlerr.New(sqlerr.AccessDenied, "Access denied for user %s (using password: YES)", r.me)
	case onDatabase:
		return r.deniedDatabase(at.database)
	case onRoutine:
		return sqlerr.New(sqlerr.RoutineAccessDenied, "grant command denied to user %s for routine '%s.%s'", r.me, at.database, at.routine)
	}
	for _, w := range list {
		if !r.holds(w.at, w.t) && r.holds(at, sql.PrivilegeType_GrantOption) {
			return sqlerr.New(sqlerr.TableAccessDenied, "%s command denied to user %s for table '%s'", typeName(w.t), r.me, at.table)
		}
	}
	return sqlerr.New(sqlerr.TableAccessDenied, "GRANT command denied to user %s for table '%s'", r.me, at.table)
}

func typeName(t sql.PrivilegeType) string {
	for _, s := range static {
		if s.typ == t {
			return s.name
		}
	}
	return "GRANT"
}

// exists checks that there is what privileges are granted for.
func (r *run) exists(at place, list []wanted) error {
	switch {
	case at.routine != "":
		if !r.schema.HasRoutine(r.ctx, at.database, at.routine, at.procedure) {
			kind := "FUNCTION"
			if at.procedure {
				kind = "PROCEDURE"
			}
			return sqlerr.New(1305, "%s %s does not exist", kind, at.routine)
		}
	case at.table != "":
		names, ok := r.schema.Columns(r.ctx, at.database, at.table)
		creates := slices.ContainsFunc(list, func(w wanted) bool { return w.t == sql.PrivilegeType_Create })
		if !ok {
			columns := slices.ContainsFunc(list, func(w wanted) bool { return w.at.column != "" })
			if creates && !columns { // who may create it may be told before it is there
				return nil
			}
			return sqlerr.New(sqlerr.NoSuchTable, "Table '%s.%s' doesn't exist", at.database, at.table)
		}
		for _, w := range list {
			if c := w.at.column; c != "" && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c) }) {
				return sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", c, at.table)
			}
		}
	}
	return nil
}

func (r *run) grant(g Grant) error {
	if g.Everything {
		return r.revokeEverything(g)
	}
	at, list, dyn, err := r.resolve(g)
	if err != nil {
		return err
	}
	ask := list
	if g.All { // ALL is what the granter has of it, if he may grant at all
		if ask = nil; !r.holds(at, sql.PrivilegeType_GrantOption) {
			ask = list
		}
		if at.level() == onServer {
			dyn = nil
			if r.may.Has(sql.PrivilegeType_Super) || g.Revoke {
				dyn = dynamic
			}
		}
		if !r.may.Has(sql.PrivilegeType_Super) && !g.Revoke {
			list = slices.DeleteFunc(list, func(w wanted) bool { return !r.holds(w.at, w.t) })
		}
	}
	if g.All {
		err = r.mayGrant(at, ask, nil)
	} else {
		err = r.mayGrant(at, ask, dyn)
	}
	if err != nil {
		return err
	}
	if g.Revoke {
		return r.revoke(g, at, list, dyn)
	}
	if err := r.exists(at, list); err != nil {
		return err
	}
	return r.change(r.ctx, func(e *edit) error {
		for _, n := range r.once(g.To) {
			if err := r.heard(); err != nil {
				return err
			}
			u := e.own(r.name(n))
			if u == nil {
				return sqlerr.New(cannotCreateUser, "You are not allowed to create a user with GRANT")
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			for _, w := range list {
				add(u.PrivilegeSet, w.at, w.t)
			}
			for _, d := range dyn {
				u.PrivilegeSet.AddGlobalDynamic(g.WithGrant || slices.Contains(u.PrivilegeSet.ToSliceDynamic(true), d), d)
			}
			if g.WithGrant && (len(list) > 0 || len(dyn) == 0) {
				add(u.PrivilegeSet, at, sql.PrivilegeType_GrantOption)
			}
			e.put(u)
		}
		return nil
	})
}

// noGrant is the error for what cannot be revoked because it was not granted.
func noGrant(at place, n Name) *sqlError {
	switch at.level() {
	case onTable:
		return sqlerr.New(nonexistingTable, "There is no such grant defined for user '%s' on host '%s' on table '%s'", n.User, n.Host, at.table)
	case onRoutine:
		return sqlerr.New(nonexistingRoutine, "There is no such grant defined for user '%s' on host '%s' on routine '%s'", n.User, n.Host, at.routine)
	}
	return sqlerr.New(sqlerr.NoSuchUserGrant, "There is no such grant defined for user '%s' on host '%s'", n.User, n.Host)
}

func (r *run) revoke(g Grant, at place, list []wanted, dyn []string) error {
	drop := map[wanted]bool{}
	for _, w := range list {
		drop[wanted{w.at.lower(), w.t}] = true
	}
	if g.All && at.level() == onServer {
		drop[wanted{place{}, sql.PrivilegeType_GrantOption}] = true
	}
	return r.change(r.ctx, func(e *edit) error {
		for _, n := range r.once(g.To) {
			if err := r.heard(); err != nil {
				return err
			}
			n = r.name(n)
			u := e.own(n)
			if u == nil {
				if g.IgnoreUser {
					r.warn(missingNote, "Authorization ID %s does not exist.", n)
					continue
				}
				return sqlerr.New(sqlerr.NoSuchUserGrant, "There is no such grant defined for user '%s' on host '%s'", n.User, n.Host)
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			any, there := false, false
			u.PrivilegeSet = without(u.PrivilegeSet, func(p place, t sql.PrivilegeType) bool {
				p = p.lower()
				whole := p
				whole.column = ""
				there = there || whole == at.lower()
				// What is revoked of the table is revoked of its columns.
				gone := drop[wanted{p, t}] || p.column != "" && drop[wanted{whole, t}]
				any = any || gone
				return gone
			}, func(name string) bool { return slices.Contains(dyn, name) })
			if !there && at.level() != onServer && len(list) > 0 {
				if err := noGrant(at, n); !g.IfExists {
					return err
				} else {
					r.warn(uint16(err.Num), "%s", err.Message)
				}
			}
			e.put(u)
		}
		return nil
	})
}

// revokeEverything is REVOKE ALL PRIVILEGES, GRANT OPTION FROM. Roles stay, as in MySQL.
func (r *run) revokeEverything(g Grant) error {
	if !r.has(sql.PrivilegeType_Update, sql.PrivilegeType_CreateUser) {
		return needs("CREATE USER")
	}
	return r.change(r.ctx, func(e *edit) error {
		for _, n := range r.once(g.To) {
			if err := r.heard(); err != nil {
				return err
			}
			n = r.name(n)
			u := e.own(n)
			if u == nil {
				if g.IgnoreUser || g.IfExists {
					r.warn(missingNote, "Authorization ID %s does not exist.", n)
					continue
				}
				return sqlerr.New(revokeGrants, "Can't revoke all privileges for one or more of the requested users")
			}
			if err := r.mayTouch(u); err != nil {
				return err
			}
			u.PrivilegeSet = mysql_db.NewPrivilegeSet()
			e.put(u)
		}
		return nil
	})
}
