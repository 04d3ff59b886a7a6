package sqlfront_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moka/sqlfront"
)

// TestRights asks, as accounts with few rights, for what they must not have and for what they must.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newDatabase(t).serve(func(o *sqlfront.Options) { o.FileDir = dir })
	root := s.conn("")
	run(t, root, "create database hidden", "create database open", "use hidden",
		"create table secret (id int primary key, v varchar(10))", "insert into secret values (1, 'x')",
		"create table child (id int primary key, sid int, foreign key (sid) references secret (id))",
		"create view shown as select v from secret", "create view other as select id from secret",
		"create procedure p() select 1", "create function f() returns int return 1",
		"create trigger tr before insert on secret for each row set new.v = 'y'",
		"use open", "create table t (id int primary key, v varchar(10))", "insert into t values (1, 'a')", "create table names (id int)",
		"create table audited (id int primary key)", "create trigger audit after insert on audited for each row insert into hidden.secret values (new.id + 10, 'audit')",
		"create view byme as select v from hidden.secret where id = 1", "create sql security invoker view byyou as select v from hidden.secret",
		"create user few", "grant select, insert, create temporary tables on open.* to few",
		"create user some", "grant select on hidden.shown to some", "grant select, insert, update, delete on hidden.child to some", "grant execute on procedure hidden.p to some",
		"create user many", "grant all on many.* to many",
		"create user maker", "grant trigger, insert, select on open.* to maker")
	few, some, many, maker := s.open("few", "open", ""), s.open("some", "", ""), s.open("many", "", ""), s.open("maker", "open", "")
	file := filepath.Join(dir, "o")
	for _, c := range []struct {
		who        runner
		query      string
		wantAnswer string
	}{
		// What is for all, or for the server, takes a right of its own.
		{few, "set global max_connections = 5", "error 1227"},
		{few, "set @@global.long_query_time = 5", "error 1227"},
		{few, "set persist max_connections = 5", "error 1227"},
		{few, "set persist_only max_connections = 5", "error 1227"},
		{few, "set global transaction isolation level serializable", "error 1227"},
		{few, "set session long_query_time = 5", ""},
		{root, "select @@global.max_connections", "1000"},
		{few, fmt.Sprintf("select 1 into outfile '%s'", file), "error 1227"},
		{few, fmt.Sprintf("select 1 into dumpfile '%s'", file), "error 1227"},
		{few, "load data infile 'f' into table t", "error 1045"},
		{few, "select load_file('f')", "NULL"},
		{root, "select load_file('f'), load_file('nope'), load_file('/etc/passwd'), load_file('.')", "text NULL NULL NULL"},
		{root, "set max_allowed_packet = 1024; select load_file('f')", "error 1064"},
		{few, "create user x", "error 1227"},
		{few, "show engine innodb status", "error 1227"},
		{few, "create database x", "error 1044"},
		// Each table that is read or written, and how.
		{few, "insert into t values (1, 'b') on duplicate key update v = 'b'", "error 1142"},
		{few, "insert into t values (2, 'b')", ""},
		{few, "replace into t values (2, 'c')", "error 1142"},
		{few, "update t set v = 'c'", "error 1142"},
		{few, "delete from t", "error 1142"},
		{few, "select v from t order by id", "a;b"},
		{few, "insert into t select id + 100, v from hidden.secret", "error 1142"},
		{few, "select (select max(v) from hidden.secret)", "error 1142"},
		{few, "create table x (a int)", "error 1142"},
		{few, "create view x as select * from t", "error 1142"},
		// Views and triggers have the rights of who created them.
		{few, "select v from byme", "x"},
		{few, "select v from byyou", "error 1356"}, // as MySQL: it says nothing of what is below
		{some, "select v from hidden.shown", "x"},  // without a current database
		{some, "select id from hidden.other", "error 1142"},
		{few, "insert into audited values (5)", ""},
		{few, "insert into audited values (6)", ""},
		{root, "select id from hidden.secret where v = 'y' order by id", "15;16"},
		{maker, "create trigger theft after insert on names for each row insert into t select id + 200, v from hidden.secret", "error 1142"},
		{maker, "create trigger theft after insert on names for each row begin declare x varchar(10) default (select max(v) from hidden.secret); end", "error 1142"},
		{maker, "create trigger theft after insert on names for each row begin if new.id > 5 then delete from t; end if; end", "error 1142"},
		{maker, "create trigger honest after insert on names for each row insert into t values (new.id + 300, 'n')", ""},
		{few, "insert into names values (1)", ""},
		// So have foreign keys.
		{some, "insert into hidden.child values (1, 1)", ""},
		{some, "insert into hidden.child values (2, 99)", "error 1216"},
		{some, "update hidden.child set sid = 15 where id = 1", ""},
		{some, "delete from hidden.child", ""},
		// What there is, and what is in it.
		{some, "show tables from hidden", "child;shown"},
		{some, "select table_name from information_schema.tables where table_schema = 'hidden' order by 1", "child;shown"},
		{some, "select constraint_name from information_schema.referential_constraints", "child_ibfk_1"},
		{few, "select constraint_name from information_schema.referential_constraints", ""},
		{some, "show triggers from hidden", ""},
		{some, "select trigger_name from information_schema.triggers", ""},
		{some, "show create trigger hidden.tr", "error 1227"},
		{some, "show create view hidden.shown", "error 1142"},
		{some, "show create view hidden.other", "error 1142"},
		{few, "show create procedure hidden.p", "error 1305"},
		{few, "show create function hidden.f", "error 1305"},
		{some, "select routine_name, routine_definition from information_schema.routines", "p NULL"},
		{root, "select routine_name, routine_definition from information_schema.routines where routine_name = 'p'", "p select 1"},
		{few, "call hidden.p()", "error 1370"},
		{some, "call hidden.p()", "1"},
		// One's own is one's own.
		{few, "show grants", "GRANT USAGE ON *.* TO `few`@`%`;GRANT SELECT, INSERT, CREATE TEMPORARY TABLES ON `open`.* TO `few`@`%`"},
		{few, "show grants for root@localhost", "error 1044"},
		{few, "select count(*), max(user) from information_schema.processlist", "1 few"},
		{many, "create database many", ""},
		{many, "create table many.t (id int primary key)", ""},
		{many, "drop database many", ""},
	} {
		if got := results(t, c.who, c.query); got != c.wantAnswer {
			t.Errorf("%s: %s, want %s", c.query, got, c.wantAnswer)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written without the FILE privilege")
	}

	// Connections, and what belongs to one.
	mine := s.open("few", "open", "")
	mine.SetMaxOpenConns(1)
	id := results(t, mine, "select connection_id()")
	theirs := results(t, root, "select connection_id()")
	if got := results(t, few, "show processlist"); strings.Contains(got, "root") || !strings.Contains(got, "few") {
		t.Errorf("SHOW PROCESSLIST: %s", got)
	}
	if got := results(t, few, "kill query "+theirs); got != "error 1095" {
		t.Errorf("KILL of another user's: %s", got)
	}
	if got := results(t, few, "kill query "+id); got != "" {
		t.Errorf("KILL of one's own: %s", got)
	}
	for _, q := range []string{"create temporary table names (a int)", "alter table names add b int", "insert into names values (1, 2)", "delete from names", "drop temporary table names"} {
		if got := results(t, mine, q); got != "" {
			t.Errorf("%s: %s", q, got)
		}
	}

	// The text of a view is trusted where a view is read, and nowhere else.
	run(t, root, "grant create view, drop on open.* to few")
	if got := results(t, s.open("few", "open", ""), "create view byme2 as select v from hidden.secret where id = 1"); got != "error 1142" {
		t.Errorf("a view over what its creator may not read: %s", got)
	}
	run(t, root, "create procedure open.make() sql security invoker create view byme3 as select v from hidden.secret", "grant execute on open.* to few")
	if got := results(t, s.open("few", "open", ""), "call make()"); got != "error 1142" {
		t.Errorf("a view that a procedure creates: %s", got)
	}
}

// TestRightsOfReferences: a foreign key tells who has it what is in the parent, and keeps rows of it from
// being deleted.
func TestRightsOfReferences(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database hidden", "create database open", "create table hidden.p (id int primary key, x int, key (x))", "create table open.q (id int primary key)", "create user f",
		"grant select, insert, create, alter, index, drop on open.* to f", "grant references (id) on hidden.p to f")
	script{
		{"create table a (id int primary key, foreign key (id) references hidden.p (id))", ""},
		{"create table b (x int, foreign key (x) references hidden.p (x))", "error 1142"},
		{"create table b (x int, foreign key (x) references q (id))", "error 1142"},
		{"show tables", "a;q"},
		{"create table b (x int, y int primary key, foreign key (x) references b (y))", ""},
		{"alter table b add foreign key (x) references hidden.p (x)", "error 1142"},
		{"alter table b add z int, add constraint c foreign key (x) references hidden.p (x)", "error 1142"},
		{"alter table b add foreign key (x) references hidden.p (id)", ""},
	}.run(t, s.open("f", "open", ""))
}

// TestDeleteOfAnotherDatabase: DELETE without a condition, of a table that is not in the current database,
// fires its triggers.
func TestDeleteOfAnotherDatabase(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database a", "create database b", "create table a.t (id int primary key)", "create table b.t (id int primary key)", "create table b.log (id int)",
		"create trigger b.td after delete on b.t for each row insert into b.log values (old.id)", "insert into b.t values (1), (2)",
		"delete from b.t") // no current database
	want(t, c, "select id from b.log order by id", "1; 2")
	run(t, c, "use a", "insert into a.t values (1)", "insert into b.t values (3)", "delete from b.t")
	want(t, c, "select id from b.log order by id", "1; 2; 3")
	want(t, c, "select count(*) from a.t", "1")
}

// TestRightsByPattern: GRANT … ON `app\_%`.* is for the databases whose names match, those to come included.
func TestRightsByPattern(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database app_one", "create database app_two", "create database appxone", "create database tenant1", "create database tenant12",
		"create table app_one.t (id int primary key)", "create table app_two.t (id int primary key)", "create table appxone.t (id int primary key)",
		"create table tenant1.t (id int primary key)", "create table tenant12.t (id int primary key)",
		"create user p", "grant all on `app\\_%`.* to p", "grant select on `app\\_two`.* to p", "grant select on `tenant_`.* to p")
	p := s.open("p", "", "")
	for _, c := range []struct{ query, want string }{
		{"insert into app_one.t values (1)", ""},
		{"select count(*) from app_one.t", "1"},
		{"select count(*) from app_two.t", "0"},            // by the grant that is more specific,
		{"insert into app_two.t values (1)", "error 1142"}, // and by no other
		{"select count(*) from appxone.t", "error 1142"},
		{"select count(*) from tenant1.t", "0"},
		{"insert into tenant1.t values (1)", "error 1142"},
		{"select count(*) from tenant12.t", "error 1142"},
		{"use tenant12", "error 1044"},
		{"use tenant1", ""},
		{"create database app_three", ""},
		{"create table app_three.t (id int primary key)", ""},
		{"insert into app_three.t values (1)", ""},
		{"create database apple", "error 1044"},
		{"drop database app_three", ""},
		{"drop database tenant1", "error 1044"},
		{"show databases like '%e%'", "app_one;information_schema;tenant1"},
		{"select count(*) from appxone.t", "error 1142"}, // app_one, which is the user's now, is not a pattern
	} {
		if got := results(t, p, c.query); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	run(t, root, "revoke all on `app\\_%`.* from p")
	if got := results(t, p, "insert into app_one.t values (2)"); got != "error 1142" {
		t.Errorf("after REVOKE: %q", got)
	}
}

// TestGrantOfPatterns: who may pass on what he has on one database may not do so for a pattern that stands
// for others, too: my_db is one, and whoever had all on my\_db opened myxdb with it, to himself as well.
func TestGrantOfPatterns(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database ab_c", "create database abxc", "create table ab_c.t (a int)",
		"create table abxc.t (a int)", "create user exact", "create user wide", "create user h",
		"grant all on `ab\\_c`.* to exact with grant option",
		"grant all on `app\\_%`.* to wide with grant option",
		"grant select on `app\\_few`.* to wide", "grant select on `zz_y`.* to wide with grant option")
	exact, h := s.open("exact", "ab_c", ""), s.open("h", "", "")
	script{
		{"grant select on `ab_c`.* to h", "error 1044"}, {"grant all on `ab_c`.* to exact", "error 1044"},
		{"grant all on `AB_C`.* to exact", "error 1044"}, {"grant select on ab_c.* to h", "error 1044"},
		{"grant select on `ab%c`.* to h", "error 1044"}, {"grant select on `%`.* to h", "error 1044"},
		{"grant select on `ab__`.* to h", "error 1044"}, {"grant select on abxc.* to h", "error 1044"},
		{"revoke select on `ab_c`.* from h", "error 1044"},
		{"grant select on `ab\\_c`.* to h", ""}, {"grant insert on ab_c.t to h", ""},
		{"grant insert on abxc.t to h", "error 1142"},
	}.run(t, exact)
	script{
		{"select * from ab_c.t", ""}, {"insert into ab_c.t values (1)", ""},
		{"select * from abxc.t", "error 1142"}, {"show databases like 'ab%'", "ab_c"},
	}.run(t, h)
	script{
		{"grant select on `app\\_one`.* to h", ""}, {"grant select on `app\\_o%e`.* to h", ""},
		{"grant all on `app\\_%`.* to h", ""}, {"grant select on `app_%`.* to h", "error 1044"},
		{"grant select on `app\\_few`.* to h", "error 1044"}, // of which he may not pass on
		{"grant select on `zz_y`.* to h", ""}, {"grant select on `zz\\_y`.* to h", ""},
		{"grant select on zzzy.* to h", ""}, {"grant select on `zz%y`.* to h", "error 1044"},
	}.run(t, s.open("wide", "", ""))
	// Many wildcards take no time: the longest pattern there can be, against what it nearly matches.
	run(t, root, "grant select on `"+strings.Repeat("%a", 31)+"%b`.* to h")
	script{{"use " + strings.Repeat("a", 64), "error 1044"}}.run(t, h)
}

// TestPatternsAreNoNames: a grant ON `my\_db`.* is for my_db, and not for a database whose name has a
// backslash.
func TestPatternsAreNoNames(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database my_db", "create user w", "grant all on `my\\_db`.* to w",
		"create database `his\\_db`", "create table `his\\_db`.t (a int)",
		"grant select on `his\\_db`.* to w")
	w := s.open("w", "", "")
	for range 2 {
		script{
			{"create database `my\\_db`", "error 1044"}, {"drop database `my\\_db`", "error 1044"},
			{"create table my_db.t (a int)", ""}, {"drop table my_db.t", ""},
			{"select * from `his\\_db`.t", "error 1142"}, {"use `his\\_db`", "error 1044"},
			{"show grants", "GRANT USAGE ON *.* TO `w`@`%`;GRANT SELECT ON `his\\_db`.* TO `w`@`%`;" +
				"GRANT ALL PRIVILEGES ON `my\\_db`.* TO `w`@`%`"},
		}.run(t, w)
		run(t, root, "grant create view on my_db.* to w", "revoke create view on my_db.* from w")
	}
}

// TestFunctionsDoNotTellWhoIsThere: who may not execute a stored function is told the same whether it is
// there or not, as CALL does of procedures.
func TestFunctionsDoNotTellWhoIsThere(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vault", "use vault",
		"create function sf(a int) returns int deterministic return a",
		"create database shop", "create user uma", "grant execute on shop.* to uma")
	uma := s.open("uma", "", "")
	for _, q := range []string{"select vault.sf(1)", "select vault.nosf(1)", "select nosuch.f()",
		"select 1 where vault.nosf(1) > 0", "select sum(vault.nosf(1))", "call vault.nosp()"} {
		if got := results(t, uma, q); got != "error 1370" {
			t.Errorf("%s: %s", q, got)
		}
	}
	script{
		{"select shop.f(1)", "error 1305"}, {"select nosuch.f()", "error 1305"}, {"select vault.sf(2)", "2"},
	}.run(t, root)
	script{{"select shop.f(1)", "error 1305"}}.run(t, uma)
}

// TestInformationSchemaAsCurrentDatabase: its tables by their names alone were 1142 to everybody without
// rights for the whole server.
func TestInformationSchemaAsCurrentDatabase(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create user few", "create database d", "create table d.t (a int)")
	few := s.open("few", "information_schema", "")
	want(t, few, "select schema_name from schemata s order by 1", "information_schema")
	want(t, few, "select count(*) from tables where table_schema = 'd'", "0")
	wantError(t, few, "select * from d.t", 1142)
	wantError(t, few, "select count(*) from nosuch", 1146)
}
