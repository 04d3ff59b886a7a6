package sqlfront_test

import (
	"strings"
	"testing"
)

// TestShowOfViewsNeedsRightsOnThem: what SHOW says of a view was for everybody who had some right on one
// table of its database, its text included, and with SELECT alone SHOW CREATE TABLE gave the text that SHOW
// CREATE VIEW keeps. Rights of the database or the server with which nothing of a table is seen were enough
// for tables.
func TestShowOfViewsNeedsRightsOnThem(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key, a int, key k (a))",
		"create view v as select id, a as x from t where a < 999",
		"create table base (id int primary key)",
		"create user other, calls, server, reads, shows, texts, writes, columns, temporary",
		"grant create temporary tables on d.* to temporary",
		"grant insert on d.t to other", "grant execute, lock tables on d.* to calls",
		"grant process, reload on *.* to server", "grant select on d.v to reads",
		"grant show view on d.v to shows", "grant select, show view on d.v to texts",
		"grant insert on d.v to writes", "grant select (id) on d.t to columns")
	const text = "v CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` AS " +
		"select id, a as x from t where a < 999 utf8mb4 utf8mb4_general_ci"
	const refused = "error 1142"
	const columns = "id int NO  NULL ;x int YES  NULL "
	for _, c := range []struct{ user, create, columns, index string }{
		{"other", refused, refused, refused},
		{"calls", refused, refused, refused},
		{"server", refused, refused, refused},
		{"reads", refused, columns, ""},
		{"shows", refused, columns, ""},
		{"texts", text, columns, ""},
		{"writes", refused, columns, ""},
		{"columns", refused, refused, refused},
	} {
		u := s.open(c.user, "", "")
		script{
			{"show create table d.v", c.create},
			{"show create view d.v", c.create},
			{"show columns from d.v", c.columns},
			{"show columns from v from d", c.columns},
			{"describe d.v", c.columns},
			{"explain d.v", c.columns},
			{"show index from d.v", c.index},
			{"show create table d.base", refused},
			{"show columns from d.base", refused},
			{"show index from d.base", refused},
			{"show create table d.missing", refused},
			{"show columns from missing.missing", refused},
		}.run(t, u)
	}
	script{
		{"show create table d.t", refused},
		{"show columns from d.t", "id int NO PRI NULL "},
	}.run(t, s.open("columns", "", ""))
	script{ // what is the session's own is shown, and hides nothing
		{"create temporary table v (own int)", ""},
		{"show columns from v", "own int YES  NULL "},
		{"show create view v", refused},
		{"drop temporary table v", ""},
		{"show create table v", refused},
	}.run(t, s.open("temporary", "d", ""))
	script{
		{"show columns from t", "error 1046"},
		{"show create table missing.t", "error 1049"},
		{"show create table d.missing", "error 1146"},
		{"show columns from d.missing", "error 1146"},
	}.run(t, s.open("root", "", ""))
}

// TestServerRightsShowNoNames: to the library each privilege of the server shows every database, table and
// column, and one on a database every table in it: PROCESS, of a monitor, or EXECUTE. Views were in the lists
// of everybody. With rights on some columns SHOW INDEX and information_schema named the others.
func TestServerRightsShowNoNames(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create database e", "use d",
		"create table t (id int primary key, hush int, part int, key k (hush), key p (part), "+
			"key x ((hush + 1)), check (hush > 0))",
		"create table u (id int primary key)", "create view v as select id from u",
		"create user server, calls, columns, lists",
		"grant process, reload, file, create user, replication client on *.* to server",
		"grant execute, lock tables, create routine on d.* to calls",
		"grant select (id), insert (part) on d.t to columns", "grant show databases on *.* to lists")
	names := []string{
		"select schema_name from information_schema.schemata where schema_name in ('d', 'e', 'mysql')",
		"show databases where `database` in ('d', 'e', 'mysql')",
		"select table_name from information_schema.tables where table_schema = 'd'",
		"select column_name from information_schema.columns where table_schema = 'd'",
		"select column_name from information_schema.statistics where table_schema = 'd'",
		"select constraint_name from information_schema.table_constraints where table_schema = 'd'",
		"select column_name from information_schema.key_column_usage where table_schema = 'd'"}
	for user, of := range map[string][]string{
		"server":  {"", "", "", "", "", "", ""},
		"calls":   {"d", "d", "", "", "", "", ""},
		"lists":   {"d;e;mysql", "d;e;mysql", "", "", "", "", ""},
		"columns": {"d", "d", "t", "id;part", "id;part", "t_chk_1;PRIMARY", "id"},
	} {
		c := s.open(user, "", "")
		for i, q := range names {
			script{{q, of[i]}}.run(t, c)
		}
	}
	const denied, refused = "error 1044", "error 1142"
	for _, user := range []string{"server", "lists"} {
		script{
			{"use d", denied}, {"show tables from d", denied}, {"show tables from mysql", denied},
			{"use mysql", denied}, {"show create database d", denied}, {"use nowhere", denied},
			{"show table status from d", denied}, {"show triggers from d", denied},
			{"show columns from d.t", refused}, {"select 1 from d.t", refused},
			{"select 1 from nowhere.t", refused}, {"select 1 from d.v", refused},
		}.run(t, s.open(user, "", ""))
	}
	script{
		{"show tables from d", ""}, {"show full tables from d", ""}, {"show table status from d", ""},
		{"use d", ""}, {"select 1 from t", refused}, {"select 1 from v", refused},
	}.run(t, s.open("calls", "", ""))
	script{
		{"show tables from d", "t"}, {"select id from d.t", ""},
		{"select concat(seq_in_index, index_name) from information_schema.statistics where table_schema = 'd'",
			"1PRIMARY;1p"},
	}.run(t, s.open("columns", "", ""))
	if got := results(t, s.open("columns", "", ""), "show index from d.t"); strings.Contains(got, "hush") {
		t.Errorf("show index: %s", got)
	}
	for _, user := range []string{"server", "lists", "calls", "columns"} {
		for _, db := range []string{"mysql", "e", "nowhere"} {
			if got := results(t, s.open(user, db, ""), "select 1"); got != denied {
				t.Errorf("%s logs in to %s: %q", user, db, got)
			}
		}
	}
}

// TestViewsWriteToDatabasesOfTheirDefiner: writes through a view of somebody else over a table of a database
// that the user does not know were 1044, though the view's definer may do what they do.
func TestViewsWriteToDatabasesOfTheirDefiner(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create database hid", "create database third",
		"create table hid.t (id int primary key, a int)", "create table hid.u (id int primary key, a int)",
		"create table third.ids (id int primary key)", "insert into third.ids values (1), (2), (3)",
		"create view d.v as select id, a from hid.t",
		"create view d.c as select id, a from hid.t where a < 100 with check option",
		"create view d.w as select id, a from hid.t where id in (select id from third.ids)",
		"create sql security invoker view d.i as select id, a from hid.t",
		"create user u", "grant select, insert, update, delete on d.v to u",
		"grant select, insert, update, delete on d.c to u", "grant select, update on d.w to u",
		"grant all on d.i to u")
	u := s.open("u", "d", "")
	script{
		{"insert into v values (1, 1), (2, 2)", ""},
		{"update v set a = 3 where id = 1", ""},
		{"insert into v values (1, 1) on duplicate key update a = a + 1", ""},
		{"replace into v values (2, 5)", ""},
		{"insert into v values (3, 3), (4, 4)", ""},
		{"delete from v where id = 3", ""},
		{"update w set a = a + 10 where a > 0", ""},
		{"insert into c values (5, 200)", "error 1369"},
		{"insert into c values (5, 50)", ""},
		{"prepare s from 'update v set a = a + 1 where id = ?'", ""}, {"set @id = 5", ""},
		{"execute s using @id", ""}, {"execute s using @id", ""}, {"execute s using @id", ""},
		{"select * from v", "1 14;2 15;4 4;5 53"},
		{"insert into i values (6, 6)", "error 1356"},
		{"update i set a = 0", "error 1356"},
		{"insert into v select id + 10, a from hid.t", "error 1142"},
		{"insert into v select id + 10, a from hid.u", "error 1142"},
		{"update v set a = (select max(a) from hid.u)", "error 1142"},
		{"delete from w", "error 1142"},
		{"explain update v set a = 1", "error 1345"}, {"explain delete from v", "error 1345"},
		{"select * from hid.t", "error 1142"}, {"insert into hid.t values (7, 7)", "error 1142"},
		{"show tables from hid", "error 1044"}, {"use hid", "error 1044"},
	}.run(t, u)
	run(t, root, "create user lost", "grant select, insert on hid.t to lost",
		"create definer = lost view d.l as select id, a from hid.t", "grant insert, update on d.l to u")
	script{{"insert into l values (8, 8)", ""}, {"update l set a = 1", "error 1356"}}.run(t, u)
	run(t, root, "revoke insert on hid.t from lost")
	script{{"insert into l values (9, 9)", "error 1356"}}.run(t, u)
}
