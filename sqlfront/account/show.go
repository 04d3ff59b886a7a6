package account

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/sqlerr"
)

func quoteID(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quoteText(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

func (r *run) showGrants(s ShowGrants) ([]sql.Row, error) {
	of, using := r.me, r.by.ActiveRoles()
	if s.For != nil {
		of, using = r.name(*s.For), nil
	}
	if of.key() == r.me.key() {
		using = r.by.ActiveRoles()
	} else if !r.has(sql.PrivilegeType_Select) && !slices.ContainsFunc(r.Roles(r.me), func(n Name) bool { return n.key() == of.key() }) {
		return nil, sqlerr.New(dbAccess, "Access denied for user %s to database 'mysql'", r.me)
	}
	u := r.Account(of)
	if u == nil {
		return nil, sqlerr.New(sqlerr.NoSuchUserGrant, "There is no such grant defined for user '%s' on host '%s'", of.User, of.Host)
	}
	if len(s.Using) > 0 {
		using = nil
		for _, role := range r.once(s.Using) {
			if r.Account(role) == nil {
				return nil, unknownID(role)
			}
			if !slices.ContainsFunc(r.Roles(of), func(n Name) bool { return n.key() == role.key() }) {
				return nil, notGranted(role, of)
			}
			using = append(using, role)
		}
	}
	set, _ := r.Effective(of, using)
	var rows []sql.Row
	for _, line := range grantLines(set, nameOf(u)) {
		rows = append(rows, sql.Row{line})
	}
	var plain, admin []string
	for _, role := range sortedNames(r.Roles(of)) {
		if slices.Contains(extraOf(u).Admin, role.key().text()) {
			admin = append(admin, role.Quoted("`"))
		} else {
			plain = append(plain, role.Quoted("`"))
		}
	}
	if len(plain) > 0 {
		rows = append(rows, sql.Row{"GRANT " + strings.Join(plain, ",") + " TO " + nameOf(u).Quoted("`")})
	}
	if len(admin) > 0 {
		rows = append(rows, sql.Row{"GRANT " + strings.Join(admin, ",") + " TO " + nameOf(u).Quoted("`") + " WITH ADMIN OPTION"})
	}
	return rows, nil
}

// grantLines are the statements that would give an account what it has.
func grantLines(set mysql_db.PrivilegeSet, n Name) (lines []string) {
	to := " TO " + n.Quoted("`")
	line := func(what []string, on string, grantable bool) {
		text := "GRANT " + strings.Join(what, ", ") + " ON " + on + to
		if grantable {
			text += " WITH GRANT OPTION"
		}
		lines = append(lines, text)
	}
	line(words(set.ToSlice(), onServer, nil), "*.*", set.Has(sql.PrivilegeType_GrantOption))
	for _, grantable := range []bool{false, true} {
		if list := set.ToSliceDynamic(grantable); len(list) > 0 {
			lines = append(lines, "GRANT "+strings.Join(list, ",")+" ON *.*"+to+map[bool]string{true: " WITH GRANT OPTION"}[grantable])
		}
	}
	for _, db := range set.GetDatabases() {
		if db.Count() > 0 {
			line(words(db.ToSlice(), onDatabase, nil), quoteID(db.Name())+".*", db.Has(sql.PrivilegeType_GrantOption))
		}
	}
	for _, db := range set.GetDatabases() {
		for _, t := range db.GetTables() {
			line(words(t.ToSlice(), onTable, t.GetColumns()), quoteID(db.Name())+"."+quoteID(t.Name()), t.Has(sql.PrivilegeType_GrantOption))
		}
	}
	for _, db := range set.GetDatabases() {
		for _, x := range db.GetRoutines() {
			if x.Count() > 0 {
				line(words(x.ToSlice(), onRoutine, nil), x.RoutineType()+" "+quoteID(db.Name())+"."+quoteID(x.RoutineName()), x.Has(sql.PrivilegeType_GrantOption))
			}
		}
	}
	return lines
}

// words are the privileges in MySQL's order.
func words(have []sql.PrivilegeType, at level, columns []sql.PrivilegeSetColumn) (out []string) {
	all := at != onServer && at != onRoutine
	for _, s := range static {
		if s.at&at == 0 {
			continue
		}
		if has := slices.Contains(have, s.typ); has {
			out = append(out, s.name)
		} else {
			all = false
		}
		var of []string
		for _, c := range columns {
			if c.Has(s.typ) {
				of = append(of, quoteID(c.Name()))
			}
		}
		if len(of) > 0 {
			out = append(out, s.name+" ("+strings.Join(of, ", ")+")")
		}
	}
	switch {
	case all && len(columns) == 0:
		return []string{"ALL PRIVILEGES"}
	case len(out) == 0:
		return []string{"USAGE"}
	}
	return out
}

func (r *run) showCreateUser(s ShowCreateUser) ([]sql.Row, error) {
	of := r.name(s.Name)
	if of.key() != r.me.key() && !r.has(sql.PrivilegeType_Select) {
		return nil, sqlerr.New(dbAccess, "Access denied for user %s to database 'mysql'", r.me)
	}
	u := r.Account(of)
	if u == nil {
		return nil, failed("SHOW CREATE USER", []string{of.String()})
	}
	return []sql.Row{{r.createStatement(u)}}, nil
}

// createStatement writes an account as MySQL does.
func (d *Directory) createStatement(u *mysql_db.User) string {
	x := extraOf(u)
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE USER %s IDENTIFIED WITH %s", nameOf(u).Quoted("`"), quoteText(u.Plugin))
	if u.AuthString != "" {
		b.WriteString(" AS " + quoteText(u.AuthString))
	}
	if list := d.defaults(u); len(list) > 0 {
		var names []string
		for _, n := range list {
			names = append(names, n.Quoted("`"))
		}
		b.WriteString(" DEFAULT ROLE " + strings.Join(names, ","))
	}
	switch u.SslType {
	case "":
		b.WriteString(" REQUIRE NONE")
	case "ANY":
		b.WriteString(" REQUIRE SSL")
	case "X509":
		b.WriteString(" REQUIRE X509")
	default:
		b.WriteString(" REQUIRE")
		for _, p := range [][2]string{{"SUBJECT", u.X509Subject}, {"ISSUER", u.X509Issuer}, {"CIPHER", u.SslCipher}} {
			if p[1] != "" {
				b.WriteString(" " + p[0] + " " + quoteText(p[1]))
			}
		}
	}
	if x.Connections > 0 {
		fmt.Fprintf(&b, " WITH MAX_USER_CONNECTIONS %d", x.Connections)
	}
	switch {
	case x.Expired:
		b.WriteString(" PASSWORD EXPIRE")
	case x.Lifetime == nil:
		b.WriteString(" PASSWORD EXPIRE DEFAULT")
	case *x.Lifetime == 0:
		b.WriteString(" PASSWORD EXPIRE NEVER")
	default:
		fmt.Fprintf(&b, " PASSWORD EXPIRE INTERVAL %d DAY", *x.Lifetime)
	}
	if u.Locked {
		b.WriteString(" ACCOUNT LOCK")
	} else {
		b.WriteString(" ACCOUNT UNLOCK")
	}
	b.WriteString(" PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT")
	if m := metadata(u); m != "" {
		b.WriteString(" ATTRIBUTE " + quoteText(m))
	}
	return b.String()
}
