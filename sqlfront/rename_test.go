package sqlfront_test

import (
	"strings"
	"testing"
)

// TestRenameMovesTables: RENAME TABLE and ALTER TABLE … RENAME with a database move the table there. It
// stayed where it was, under the new name.
func TestRenameMovesTables(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database a", "create database b", "use a",
		"create table t (id int primary key auto_increment, v varchar(10), key (v))", "insert into t (v) values ('x'), ('y')",
		"create table child (id int primary key, t int, foreign key (t) references t (id))", "insert into child values (1, 1)",
		"create view w as select v from t", "rename table t to b.t2")
	want(t, c, "select group_concat(id, v order by id) from b.t2", "1x,2y")
	wantError(t, c, "select * from a.t", 1146)
	wantError(t, c, "select * from a.t2", 1146)
	wantError(t, c, "select * from w", 1356)
	wantError(t, c, "insert into child values (2, 7)", 1452) // the key has gone with its parent
	wantError(t, c, "delete from b.t2 where id = 1", 1451)
	run(t, c, "insert into child values (2, 2)", "insert into b.t2 (v) values ('z')")
	want(t, c, "select id from b.t2 where v = 'z'", "3")
	if got := strings.Join(query(t, c, "show create table child"), ""); !strings.Contains(got, "REFERENCES `b`.`t2` (`id`)") {
		t.Error(got)
	}

	run(t, c, "alter table b.t2 rename to a.t3")
	want(t, c, "select count(*) from t3", "3")
	run(t, c, "rename table a.t3 to b.x, child to b.t3, b.x to a.t") // one after the other, all or none
	want(t, c, "select table_schema, table_name from information_schema.tables where table_schema in ('a', 'b') and table_type = 'BASE TABLE' order by 1", "a t; b t3")
	wantError(t, c, "rename table t to b.y, nosuch to b.z", 1146)
	wantError(t, c, "rename table t to b.t3", 1050)
	wantError(t, c, "rename table t to nosuch.t", 1049)
	wantError(t, c, "rename table t to information_schema.t", 1049)
	wantError(t, c, "rename table w to b.w", 1450)
	wantError(t, c, "alter table t rename to b.t, add column n int", 1235)
	want(t, c, "select count(*) from a.t", "3")
	run(t, c, "drop table b.t3", "alter table t rename to a.u", "rename table a.u to a.t") // the same database

	run(t, c, "create trigger tr before insert on t for each row set new.v = 'w'")
	wantError(t, c, "rename table t to b.t", 1435)
	wantError(t, c, "alter table t rename to b.t", 1435)
	run(t, c, "drop trigger tr", "create temporary table tmp (a int)")
	wantError(t, c, "rename table tmp to b.tmp", 1235)

	run(t, c, "create user u@localhost identified by ''", "create user u@'127.0.0.1' identified by ''")
	for _, u := range []string{"u@localhost", "u@'127.0.0.1'"} {
		run(t, c, "grant alter, drop, select on a.t to "+u, "grant create on b.* to "+u)
	}
	user, err := s.open("u", "a", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	wantError(t, user, "rename table t to b.mine", 1142)
	wantError(t, user, "alter table t rename to b.mine", 1142)
	run(t, c, "grant insert on b.* to u@localhost", "grant insert on b.* to u@'127.0.0.1'")
	run(t, user, "rename table t to b.mine")
	want(t, c, "select count(*) from b.mine", "3")
}

// TestRenameTakesTriggersAlong: a trigger names its table in its text, which RENAME TABLE and ALTER TABLE …
// RENAME left as it was: triggers fired no more, and SHOW TRIGGERS was 1146.
func TestRenameTakesTriggersAlong(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table log (s varchar(20))", "create table t (id int primary key, v int)",
		"create trigger one /* on t */ before insert on t for each row set new.v = coalesce(new.v, 0) + 1",
		"CREATE DEFINER=`root`@`localhost` TRIGGER `on` AFTER INSERT ON `d` . `T` FOR EACH ROW insert into log values ('on t')",
		"set sql_mode = 'ANSI_QUOTES'", `create trigger three after update on "t" for each row insert into log values ('upd')`, "set sql_mode = default",
		"rename table t to `new ``on`` t`")
	const triggers = "select trigger_name, event_object_table from information_schema.triggers where trigger_schema = 'd' order by 1"
	want(t, c, triggers, "on new `on` t; one new `on` t; three new `on` t")
	run(t, c, "insert into `new ``on`` t` (id) values (1)", "update `new ``on`` t` set v = 5")
	want(t, c, "select id, v from `new ``on`` t`", "1 5")
	want(t, c, "select group_concat(s order by s) from log", "on t,upd")
	if got := strings.Join(query(t, c, "show create trigger one"), ""); !strings.Contains(got, "/* on t */ before insert on `new ``on`` t` for each row set") {
		t.Error(got)
	}
	if got := len(query(t, c, "show triggers")); got != 3 {
		t.Errorf("%d triggers", got)
	}

	run(t, c, "alter table `new ``on`` t` add column w int default 7, rename to a") // with another change
	run(t, c, "alter table a modify v bigint, rename to a2", "rename table a2 to A3, A3 to a")
	want(t, c, triggers, "on a; one a; three a")
	run(t, c, "insert into a (id) values (2)")
	want(t, c, "select id, v, w from a where id = 2", "2 1 7")

	// Two tables change their names: each keeps its own.
	run(t, c, "create table b (id int primary key, v int)", "create trigger other before insert on b for each row set new.v = 100",
		"rename table a to c, b to a, c to b")
	want(t, c, triggers, "on b; one b; other a; three b")
	run(t, c, "insert into a (id) values (1)", "insert into b (id) values (3)")
	want(t, c, "select v from a", "100")
	want(t, c, "select v from b where id = 3", "1")
	wantError(t, c, "rename table a to c, nosuch to x", 1146)
	want(t, c, triggers, "on b; one b; other a; three b")

	run(t, c, "drop trigger one", "create trigger one before insert on b for each row set new.v = 42", "insert into b (id) values (4)")
	want(t, c, "select v from b where id = 4", "42")
	run(t, c, "drop table b", "create table b (id int primary key, v int)", "insert into b values (1, 1)")
	want(t, c, triggers, "other a")
	want(t, c, "select v from b", "1")
}

// TestRenameOutsideTheCurrentDatabase: a rename within another database than the current one is of that
// database's table, and takes no current database. The current one's table of the same name was renamed,
// whoever might do so.
func TestRenameOutsideTheCurrentDatabase(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database a", "create database b", "create table a.x (id int)",
		"create table b.x (n int)", "create view b.v as select n from b.x",
		"create user u@localhost, u@'127.0.0.1'")
	for _, host := range []string{"@localhost", "@'127.0.0.1'"} {
		run(t, root, "grant select on a.* to u"+host, "grant all on b.* to u"+host)
	}
	const names = "select group_concat(table_schema, '.', table_name order by 1 separator ' ') from " +
		"information_schema.tables where table_schema in ('a', 'b')"
	script{
		{"rename table b.x to b.y", ""},
		{"alter table b.y rename to b.z", ""},
		{"rename table b.v to b.w, b.z to b.v", ""},
		{names, "a.x b.v b.w"},
		{"alter table a.x rename to a.y", "error 1142"},
		{"rename table b.nosuch to b.y", "error 1146"},
		{"rename table b.v to b.w", "error 1050"},
		{"rename table b.v to b.x", ""},
		{"rename table b.w to a.w", "error 1142"},
		{"rename table b.w to b.v", ""},
	}.run(t, s.open("u", "a", ""))
	none := s.open("u", "", "")
	script{
		{"rename table b.x to b.y", ""},
		{"alter table b.y rename to b.x", ""},
		{"rename table x to b.y", "error 1046"},
		{"rename table b.x to y", "error 1046"},
		{"select * from b.v", ""},
		{"create view b.v2 as select n from b.x", ""},
		{"create or replace view b.v2 as select n, n + 1 as m from b.x", ""},
		{"alter view b.v2 as select n + 1 as m from b.x", ""},
		{"insert into b.x values (1)", ""},
		{"select * from b.v2", "2"},
		{"select n from b.v", "1"},
		{"create view v3 as select n from b.x", "error 1046"},
		{"create view b.v3 as select n from x", "error 1046"},
		{"drop view b.v2", ""},
	}.run(t, none)
}
