package sqlfront_test

import (
	"strings"
	"testing"
)

// TestRenameMovesTables: RENAME TABLE and ALTER TABLE … RENAME with a database move the table there. It stayed where it was, under the new name.
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
