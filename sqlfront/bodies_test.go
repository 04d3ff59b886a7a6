package sqlfront_test

import (
	"fmt"
	"testing"

	"moka/kv/kvtest"
)

// TestTriggersOfPlans: a plan of the cache fires the table's triggers, compiled once, and follows changes of
// what they are and what they use, on any server.
func TestTriggersOfPlans(t *testing.T) {
	d := newDatabase(t)
	s, other := d.serve(), d.serve()
	c, far := s.conn(""), other.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, n int)", "create table log (id int primary key, what varchar(20))",
		"create trigger a after insert on t for each row insert into log (id, what) values (new.id, concat('n is ', new.n))")
	run(t, far, "use d")
	id := 0
	insert := func() (hits, compiled int64) {
		t.Helper()
		before := s.Metrics()
		id++
		run(t, c, fmt.Sprintf("insert into t values (%d, %d)", id, 10*id))
		after := s.Metrics()
		return after.PlanBodyHits - before.PlanBodyHits, after.PlanBodyMisses - before.PlanBodyMisses
	}
	last := func(want string) {
		t.Helper()
		if got := text(t, c, fmt.Sprintf("select * from log where id = %d", id)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, n := insert(); n != 1 {
		t.Errorf("the first statement compiled %d sets of triggers", n)
	}
	insert()
	if n, _ := insert(); n != 1 {
		t.Errorf("the second run found %d sets of compiled triggers", n)
	}
	last("3 n is 30")
	run(t, far, "alter table log add column extra int default 7")
	insert()
	last("4 n is 40 7")
	run(t, far, "drop trigger a", "create trigger a after insert on t for each row insert into log values (new.id, 'new', new.n)")
	for range 3 {
		insert()
		last(fmt.Sprintf("%d new %d", id, 10*id))
	}
	run(t, far, "create trigger z before insert on t for each row set new.n = new.n + 1")
	for range 3 {
		insert()
		last(fmt.Sprintf("%d new %d", id, 10*id+1))
	}
	run(t, far, "drop trigger z", "drop trigger a")
	for range 3 {
		insert()
		last("")
	}
	run(t, far, "create trigger u after insert on t for each row set @seen = new.id")
	for range 3 {
		insert()
	}
	if got := text(t, c, "select @seen"); got != fmt.Sprint(id) {
		t.Errorf("@seen is %s", got)
	}
	run(t, c, "drop trigger u", "create trigger b before insert on t for each row set new.n = 0", "set moka_plan_cache = 0")
	for range 3 {
		if n, m := insert(); n > 0 || m != 1 {
			t.Errorf("the plan cache is off, and %d triggers were kept, %d compiled", n, m)
		}
	}
}

// TestBodiesAskAgain: what a subquery of a body has found is not kept with the compiled body.
func TestBodiesAskAgain(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table a (id int primary key)", "create table b (id int primary key, n int, m int, e int)",
		`create trigger x after insert on a for each row begin
		  declare k int; set k = (select count(*) from b);
		  if k in (select id from a) then set k = k + 100; end if;
		  insert into b values (new.id, k, (select max(n) from b), exists (select 1 from b where n > 102));
		end`)
	for i := range 6 {
		run(t, c, fmt.Sprintf("insert into a values (%d)", i+1))
	}
	if got, want := text(t, c, "select * from b"), "1 0 NULL 0; 2 101 0 0; 3 102 101 0; 4 103 102 0; 5 104 103 1; 6 105 104 1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if s.Metrics().PlanBodyHits < 3 {
		t.Error("the trigger was not run from the cache")
	}
}

// TestRoutinesOfPlans: statements of procedures go by plans, and the plans follow the schema, the definer's
// privileges, the session's settings and the names of variables.
func TestRoutinesOfPlans(t *testing.T) {
	d := newDatabase(t)
	s, other := d.serve(), d.serve()
	c, far := s.conn(""), other.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, n int, v varchar(10), unique key (v))",
		"insert into t values (1, 10, 'one'), (2, 20, 'two'), (3, null, 'Three')",
		"create user u@'%'", "grant select, update on d.t to u@'%'",
		"create procedure p(i int) begin declare x int; select n into x from t where id = i; update t set n = x + 1 where id = i; set @x = x; end",
		`create procedure shadows(v varchar(10)) begin declare x int default 1;
		  begin declare v varchar(10) default 'two'; declare x varchar(10); select t.v, t.id into x, @id from t where t.v = v; set @inner = x; end;
		  select id into x from t where t.v = v; set @outer = x; end`,
		"create definer = u@'%' procedure owned(i int) begin update t set n = 100 where id = i; end")
	run(t, far, "use d")
	call := func(query string) int64 {
		t.Helper()
		before := s.Metrics().PlanHits
		run(t, c, query)
		return s.Metrics().PlanHits - before
	}
	want := func(query, want string) {
		t.Helper()
		if got := text(t, c, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	call("call p(1)")
	call("call p(1)")
	if n := call("call p(2)"); n < 2 {
		t.Errorf("%d statements of the third call went by plans", n)
	}
	want("select * from t", "1 12 one; 2 21 two; 3 NULL Three")
	call("call p(3)")
	want("select @x, n from t where id = 3", "NULL NULL")
	run(t, far, "alter table t add column first int default 5 first")
	for range 3 {
		call("call p(1)")
	}
	want("select * from t where id = 1", "5 1 15 one")
	for range 3 {
		call("call shadows('THREE')")
	}
	want("select @inner, @id, @outer", "two 2 3")
	run(t, c, "set collation_connection = 'utf8mb4_bin'")
	for range 3 {
		call("call p(1)")
	}
	want("select @x", "17")
	for range 3 {
		call("call owned(2)")
	}
	run(t, c, "revoke update on d.t from u@'%'")
	if _, err := c.ExecContext(t.Context(), "call owned(2)"); err == nil {
		t.Error("a definer who may not update any more has updated by a plan")
	}
	run(t, c, "grant update on d.t to u@'%'", "set moka_plan_cache = 0")
	if n := call("call p(1)"); n > 0 {
		t.Errorf("%d plans were run with the plan cache off", n)
	}
	want("select n from t where id = 2", "100")
}

// TestBodiesWait: a statement whose trigger, or whose procedure, meets a row that another transaction has
// locked waits for it, by a plan as without, and does what it does once.
func TestBodiesWait(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "create table ev (id int auto_increment primary key, k int)",
		"create trigger x after insert on ev for each row begin insert into t values (100 + new.id, 0, null, 0); update t set v = v + 1 where id = new.k; end",
		"create procedure p(i int) begin update t set x = x + 1 where id = 3; update t set v = v + 1 where id = i; end")
	s.do("b", "insert into ev (id, k) values (50, 1)", "delete from ev where id = 50", "delete from t where id = 150")
	for range 3 {
		s.do("b", "insert into ev (k) values (1)", "call p(1)")
	}
	for _, query := range []string{"insert into ev (k) values (2)", "call p(2)"} {
		s.do("a", "begin")
		s.want("a", "select id from t where id = 2 for update", "2")
		s.do("b", "begin")
		s.blocks("b", query)
		s.do("a", "commit")
		s.ends("b 0")
		s.do("b", "commit")
	}
	s.do("a", "begin", "insert into t values (200, 0, null, 0)")
	s.do("b", "begin")
	s.blocks("b", "insert into ev (id, k) values (100, 3)") // the library wraps what the INSERT of the body says
	s.do("a", "rollback")
	s.ends("b 0")
	s.do("b", "commit")
	s.want("a", "select id, v, x from t where id in (2, 3)", "2 22 1; 3 31 6")
	s.want("a", "select count(*) from t where id > 100", "5")
}

// TestSubqueriesOfBodiesAreAskedAgain: what a subquery within a subquery of a body had found was kept with
// the plan, for all later rows, statements and sessions.
func TestSubqueriesOfBodiesAreAskedAgain(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key)",
		"create table p (id int primary key, g int, n int)",
		"create table log (id int, x int)", "create procedure put(i int) insert into log values (i, "+
			"(select sum(n) from p where n >= (select n from p q where q.id = i)))")
	const least = "(select n from p q where q.id = new.id)"
	for _, c := range []struct{ body, first, second string }{
		{"insert into log values (new.id, (select sum(n) from p where n >= " + least + "))", "60;50;30",
			"530;520;500"},
		{"insert into log select new.id, sum(n) from p where n >= (select max(n) from p where n <= " +
			least + ")", "60;50;30", "530;520;500"},
		{"insert into log values (new.id, (select sum(n) from (select n from p where n >= " + least +
			") d))", "60;50;30", "530;520;500"},
		{"insert into log values (new.id, (select sum(n) from p where (id, g) in (select id, g from p q " +
			"where q.id >= new.id)))", "60;50;30", "530;520;500"},
		{"insert into log values (new.id, (select sum(a.n) from p a join p b on a.g = b.g where b.n >= " +
			least + "))", "60;50;30", "530;520;500"},
		{"insert into log values (new.id, (select sum(a.n) from p a join p b on a.g = b.g where b.id >= " +
			"new.id))", "60;50;30", "530;520;500"},
		{"insert into log select new.id, sum(n) from p where exists (select 1 from p r where r.id = p.id " +
			"and r.n >= " + least + ")", "60;50;30", "530;520;500"},
		{"insert into log values (new.id, (select max(n) from p where id <= new.id))", "10;20;30",
			"10;20;500"},
		{"if (select count(*) from p where n >= " + least + ") >= 3 then insert into log values (new.id, " +
			"1); else insert into log values (new.id, 0); end if", "1;0;0", "1;0;0"},
		{"begin insert into log values (new.id, 0); update log set x = (select sum(n) from p where n >= " +
			least + ") where id = new.id; end", "60;50;30", "530;520;500"},
		{"call put(new.id)", "60;50;30", "530;520;500"},
	} {
		for _, what := range []string{"trigger", "observer"} {
			run(t, root, "delete from t", "replace into p values (1, 1, 10), (2, 2, 20), (3, 3, 30)",
				"create "+what+" x after insert on t for each row "+c.body)
			for _, answer := range []string{c.first, c.second} {
				run(t, root, "delete from log", "insert into t values (1), (2), (3)",
					"wait for observers timeout 30")
				if got := results(t, root, "select x from log order by id"); got != answer {
					t.Errorf("%s: %s: %s, want %s", what, c.body, got, answer)
				}
				run(t, root, "delete from t", "update p set n = 500 where id = 3")
			}
			run(t, root, "drop "+what+" x")
		}
	}
}
