package account

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Row is a row of a table about accounts, by its columns' names in lower case.
type Row map[string]any

// Attributes are the rows of information_schema.user_attributes, for who may see all accounts or his own only.
func (d *Directory) Attributes(only *Name) (rows []Row) {
	for _, u := range d.Accounts() {
		if only != nil && only.key() != keyOf(u) {
			continue
		}
		row := Row{"user": u.User, "host": u.Host}
		if m := metadata(u); m != "" {
			row["attribute"] = m
		}
		rows = append(rows, row)
	}
	return rows
}

// Privileges are the rows of information_schema.user_privileges ("user"), schema_privileges, table_privileges and column_privileges.
func (d *Directory) Privileges(table string, only *Name) (rows []Row) {
	want := map[string]level{"user": onServer, "schema": onDatabase, "table": onTable, "column": onColumn}[table]
	for _, u := range d.Accounts() {
		if only != nil && only.key() != keyOf(u) {
			continue
		}
		grantee := nameOf(u).String()
		yes := map[bool]string{true: "YES", false: "NO"}
		row := func(p place, what string, grantable bool) {
			rows = append(rows, Row{"grantee": grantee, "table_catalog": "def", "table_schema": p.database, "table_name": p.table, "column_name": p.column,
				"privilege_type": what, "is_grantable": yes[grantable]})
		}
		before := len(rows)
		set := u.PrivilegeSet
		grantable := func(p place) bool {
			switch db := set.Database(p.database); p.level() {
			case onServer:
				return set.Has(sql.PrivilegeType_GrantOption)
			case onDatabase:
				return db.Has(sql.PrivilegeType_GrantOption)
			default:
				return db.Table(p.table).Has(sql.PrivilegeType_GrantOption)
			}
		}
		each(set, func(p place, t sql.PrivilegeType) {
			if p.level() == want && t != sql.PrivilegeType_GrantOption {
				row(p, typeName(t), grantable(p))
			}
		})
		if want == onServer {
			if len(rows) == before {
				row(place{}, "USAGE", false)
			}
			for _, g := range []bool{false, true} {
				for _, name := range set.ToSliceDynamic(g) {
					row(place{}, name, g)
				}
			}
		}
	}
	return rows
}

// SeesAll reports whether who has a set of privileges may see the accounts of others.
func SeesAll(set mysql_db.PrivilegeSet) bool {
	return set.Has(sql.PrivilegeType_Super) || set.Has(sql.PrivilegeType_Select) || set.Database("mysql").Has(sql.PrivilegeType_Select)
}

// Patch fills in what the library's row of mysql.user does not know.
func (d *Directory) Patch(user, host string, columns sql.Schema, row sql.Row) {
	u := d.Account(Name{User: user, Host: host})
	if u == nil {
		return
	}
	x := extraOf(u)
	for i, c := range columns {
		switch strings.ToLower(c.Name) {
		case "password_expired":
			row[i] = choice(x.Expired)
		case "account_locked":
			row[i] = choice(u.Locked)
		case "password_lifetime":
			if row[i] = nil; x.Lifetime != nil {
				row[i] = uint16(*x.Lifetime)
			}
		case "max_user_connections":
			row[i] = uint32(x.Connections)
		case "user_attributes":
			if row[i] = nil; metadata(u) != "" {
				row[i] = shownAttributes(u)
			}
		}
	}
}

// choice is a value of ENUM('N', 'Y').
func choice(yes bool) uint16 {
	if yes {
		return 2
	}
	return 1
}

// sortedNames is for what is listed.
func sortedNames(list []Name) []Name {
	slices.SortFunc(list, func(a, b Name) int { return strings.Compare(a.Quoted("`"), b.Quoted("`")) })
	return list
}
