package sqlfront_test

import (
	"testing"
	"time"

	"moka/sqlfront"
)

// Faults: SET GLOBAL read_only = 1 was taken and did nothing. It is the state of the database on all SQL
// nodes, as MySQL's of its server: users change nothing (1290) but temporary tables, SUPER and
// CONNECTION_ADMIN do; under super_read_only nobody does.
func TestReadOnly(t *testing.T) {
	d := newDatabase(t)
	seldom := func(o *sqlfront.Options) { o.FollowUsers = time.Hour } // the other node's statements look for themselves
	a, b := d.serve(seldom), d.serve(seldom)
	root := a.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key, v int)", "insert into t values (1, 1), (2, 2)",
		"create view w as select * from t", "create procedure p() update t set v = v + 1",
		"create user u, admin", "grant all on d.* to u, admin", "grant connection_admin on *.* to admin")
	open := func(s *server, user string) runner {
		c, err := s.open(user, "d", "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ua, ub, admin := open(a, "u"), open(b, "u"), open(b, "admin")
	changes := []string{
		"insert into t values (9, 9)", "update t set v = 7 where id = 1", "update t set v = 7", "delete from t where id = 2", "delete from t",
		"replace into t values (1, 5)", "insert into t values (1, 1) on duplicate key update v = 8", "insert into t select id + 10, v from t",
		"update w set v = 3 where id = 1", "call p()", "truncate table t", "drop table t", "create table x (a int)", "alter table t add c int",
		"create index i on t (v)", "create view y as select 1", "create observer o after update on t for each row set @x = 1", "drop procedure p",
	}
	refused := func(c runner, queries ...string) {
		t.Helper()
		for _, q := range queries {
			if got := results(t, c, q); got != "error 1290" {
				t.Errorf("%s: %q, want error 1290", q, got)
			}
		}
	}
	const before = "1 1;2 2"
	unchanged := func() {
		t.Helper()
		if got := results(t, ua, "select * from t"); got != before {
			t.Fatalf("the table has %s", got)
		}
	}

	run(t, ua, "begin", "update t set v = 100 where id = 1") // and commits too late
	run(t, root, "set global read_only = 1")
	script{{"select @@global.read_only, @@global.super_read_only", "1 0"}, {"show variables like '%read_only'", "read_only ON;super_read_only OFF;transaction_read_only OFF;tx_read_only OFF"}}.run(t, root)
	refused(ua, "commit")
	unchanged()
	for _, c := range []runner{ua, ub} {
		refused(c, changes...)
		unchanged()
		run(t, c, "create temporary table tmp (a int primary key)", "insert into tmp values (1)", "update tmp set a = 2", "drop temporary table tmp",
			"begin", "select * from t for update", "commit", "analyze table t", "set @x = 1", "do get_lock('l', 0)", "do release_lock('l')")
		run(t, c, "begin")
		refused(c, "update t set v = 5 where id = 2")
		run(t, c, "commit")
		unchanged()
	}
	run(t, admin, "insert into t values (3, 3)", "delete from t where id = 3")
	run(t, root, "insert into t values (3, 3)", "delete from t where id = 3", "create user z", "drop user z")

	run(t, root, "set global super_read_only = 1")
	refused(root, changes...)
	refused(root, "create user z", "grant select on d.* to u", "set password for u = 'x'")
	refused(admin, "insert into t values (3, 3)")
	refused(ub, "insert into t values (3, 3)")
	unchanged()

	// A node that starts later knows it, and nobody who may not has a say.
	refused(open(d.serve(seldom), "admin"), "insert into t values (3, 3)")
	if got := results(t, ua, "set global read_only = 0"); got != "error 1227" {
		t.Errorf("a user: %s", got)
	}
	run(t, root, "begin", "select * from t")
	if got := results(t, root, "set global read_only = 0"); got != "error 1192" {
		t.Errorf("in a transaction: %s", got)
	}
	run(t, root, "commit", "set global super_read_only = 0")
	refused(ub, "insert into t values (3, 3)")
	run(t, admin, "insert into t values (3, 3)", "delete from t where id = 3")
	run(t, root, "set global super_read_only = 1", "set global read_only = 0")
	script{{"select @@global.read_only, @@global.super_read_only", "0 0"}}.run(t, root)
	run(t, ua, "insert into t values (3, 3)")
	run(t, ub, "insert into t values (4, 4)", "create table x (a int)")
}
