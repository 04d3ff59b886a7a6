package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestJoinedWritesAreBounded: the rows that an UPDATE or DELETE of several tables has found are charged to
// it, and nothing has been written when they are too many.
func TestJoinedWritesAreBounded(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf("(%d, repeat('x', 2000))", i))
	}
	script{
		{"create database d", ""}, {"use d", ""},
		{"create table t (id int primary key, s text)", ""},
		{"create table one (id int primary key, n int)", ""}, {"insert into one values (1, 1)", ""},
		{"insert into t values " + strings.Join(rows, ", "), ""},
		{"set moka_query_memory = 200000", ""},
		{"update t join one on true set t.s = 'y', one.n = 2", "error 3170"},
		{"delete t from t join one on true", "error 3170"},
		{"update t join one on true set t.s = 'y', one.n = 2 where t.id < 20", ""},
		{"select row_count()", "21"},
		{"set moka_query_memory = 40000000", ""},
		{"select count(*) from t where s = 'y'", "20"},
		{"update t join one on true set t.s = 'z', one.n = 2", ""}, {"select row_count()", "400"},
		{"delete t from t join one on true", ""}, {"select row_count()", "400"},
	}.run(t, c)
}

// TestJoinedWritesAreObserved: observers of the tables and an incremental view over both see what an UPDATE
// and a DELETE of them have changed, once for each row.
func TestJoinedWritesAreObserved(t *testing.T) {
	c := observing(t).conn("")
	run(t, c, "create database d", "use d",
		"create table p (id int primary key, a int)", "create table c (id int primary key, pid int, x int)",
		"create table k (a int, b int)", "create table seen (what varchar(20), id int, was int, v int)",
		"insert into p values (1, 1), (2, 2), (3, 3)", "insert into c values (1, 1, 1), (2, 1, 2), (3, 2, 3)",
		"insert into k values (1, 1), (1, 1), (2, 2)",
		"create observer op after update on p for each row "+
			"insert into seen values ('p', new.id, old.a, new.a)",
		"create observer oc after update or delete on c for each row "+
			"insert into seen values ('c', old.id, old.x, new.x)",
		"create incremental view sums as select pid, count(*) as n, sum(x) as s from c group by pid",
		"wait for observers timeout 60",
		"update p join c on c.pid = p.id join k on k.a = p.id "+
			"set p.a = p.a + 10, c.x = c.x + 10, k.b = k.b + 5",
		"wait for observers timeout 60")
	want(t, c, "select * from seen order by what, id", "c 1 1 11; c 2 2 12; c 3 3 13; p 1 1 11; p 2 2 12")
	want(t, c, "select * from sums order by pid", "1 2 23; 2 1 13")
	run(t, c, "delete c, k from c join k on k.a = c.pid where k.a = 1", "wait for observers timeout 60")
	want(t, c, "select * from sums order by pid", "2 1 13")
	want(t, c, "select count(*) from seen where v is null", "2")
	want(t, c, "check incremental view sums", "d.sums check status OK")
}

// TestRightsOfJoinedWrites: who assigns to columns of one table of a join needs UPDATE on these, and SELECT
// on what is read: not UPDATE on what another table's ON UPDATE and generated columns are, which the planner
// had among the assignments.
func TestRightsOfJoinedWrites(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d",
		"create table p (id int primary key, a int, ts timestamp on update current_timestamp, "+
			"g int as (a + 1) stored)",
		"create table c (id int primary key, pid int, x int)", "insert into p (id, a) values (1, 1)",
		"insert into c values (1, 1, 1)", "create user ann", "grant select on d.* to ann",
		"grant update (x) on d.c to ann")
	ann := s.open("ann", "d", "")
	run(t, ann, "update c join p on c.pid = p.id set c.x = p.a + 1")
	want(t, root, "select x from c", "2")
	wantError(t, ann, "update c join p on c.pid = p.id set c.x = 3, p.a = 3", 1142)
	wantError(t, ann, "update c join p on c.pid = p.id set c.x = 3, c.pid = 3", 1143)
	wantError(t, ann, "delete c from c join p on c.pid = p.id", 1142)
	run(t, root, "insert into c values (2, 7, 7)", "grant delete on d.c to ann")
	run(t, ann, "delete c from c left join p on c.pid = p.id where p.id is null")
	wantError(t, ann, "delete c, p from c join p on c.pid = p.id", 1142)
	wantError(t, ann, "update c join p on c.pid = p.id set x = 3, a = 3", 1142)
	run(t, root, "create table s (id int primary key, x int)", "insert into s values (1, 1)")
	wantError(t, ann, "delete S from s join c on true", 1142)
	wantError(t, ann, "update s join c on true set S.x = 3", 1142)
	run(t, root, "revoke delete on d.c from ann")
	run(t, root, "revoke select on d.* from ann", "grant select on d.c to ann")
	wantError(t, ann, "update c join p on c.pid = p.id set c.x = 3", 1142)
	wantError(t, ann, "update c join p on c.pid = p.id set c.x = 3, p.g = 3", 1142)
	want(t, root, "select x from c", "2")
}
