package sqlfront_test

import "testing"

// TestUpsertSubqueriesReadColumns: a subquery in ON DUPLICATE KEY UPDATE sees the row that is there, and was
// not asked for what it reads of it.
func TestUpsertSubqueriesReadColumns(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database victim", "create database own",
		"create table victim.uo (id int primary key, a int, sec varchar(30))",
		"insert into victim.uo values (1, 1, 'UOSECRET')",
		"create table own.uo (id int primary key, sec varchar(30))", "insert into own.uo values (1, 'mine')",
		"create view own.w as select id, sec from own.uo",
		"create user updo, colu, root2", "grant insert, update on victim.uo to updo",
		"grant select (id, a), insert (id, a), update (a) on victim.uo to colu",
		"grant insert, update, select on victim.uo to root2", "grant all on own.* to updo, colu, root2")
	reads := []string{
		"(select ord(sec))", "(select ord(uo.sec))", "(select ord(victim.uo.sec))",
		"(select 1 + (select ord(sec)))",
		"exists (select 1 from dual where sec = 'UOSECRET')",
		"(select 1 from own.w x where uo.sec like 'UO%')",
		"(with x as (select ord(sec) q) select q from x)", "(select 1 in (select ord(sec)))",
		"(select q from own.w z, lateral (select ord(uo.sec) q) l)",
		"(select 1 order by uo.sec)", "(select max(ord(uo.sec)) from own.w)",
		"(select count(*) from own.w x group by uo.sec)",
		"(select count(*) from own.w x having max(uo.sec) > '')",
		"(select ord(sec) union select 2 limit 1)",
		"(select q from (values row(1)) v(q) where ord(uo.sec) > 1)",
		"(select 1 from own.w x join own.w y on uo.sec > '')", "if((select sec like 'UO%'), 1, 2)",
		"(select j.q from json_table(concat('[', ord(uo.sec), ']'), '$[*]' columns (q int path '$')) j)",
		"(select ord(d.x) from (select 1) e, lateral (select sec x) d)",
		"(with recursive x(q) as (select ord(sec) union select 2) select max(q) from x)",
		"(with recursive x(q) as (select sec union select 'A') select ord(max(q)) from x)",
		"(with recursive x as (select sec union select 'A') select ord(max(sec)) from x)",
		"(with recursive x(q, n) as (select sec, 1 union all select q, n + 1 from x where n < 2) " +
			"select ord(max(q)) from x)",
		"ord((select sec union select 'A' order by sec limit 1))",
		"(select ord(sec) from (select 1) e union select 2 limit 1)",
		"(select ord(uo.sec) as id)", "(select ord(sec) as sec)",
	}
	for _, into := range []string{"insert into victim.uo (id, a) values (1, 2)",
		"insert into victim.uo (id, a) select 1, 2"} {
		for _, e := range reads {
			q := into + " on duplicate key update a = " + e
			if got := results(t, root, q); got != "" {
				t.Errorf("root: %s: %s", q, got)
			}
			for _, who := range []string{"updo", "colu"} {
				if got := results(t, s.open(who, "own", ""), q); got != "error 1143" {
					t.Errorf("%s: %s: %q", who, q, got)
				}
			}
		}
		// What is not of the row that is there, though it is called so.
		for _, e := range []string{"(select ord(sec) from own.uo)", "(select ord(x.sec) from own.uo x)",
			"(select ord(d.sec) from (select 'x' sec) d)", "(select ord(sec) from own.w)",
			"(with uo as (select 'x' sec) select ord(uo.sec) from uo)",
			"(select 1 from (values row('x')) v(sec) where v.sec > '')",
			"(select count(*) from own.w x group by x.sec)",
			"(select ord(x.sec) as sec from own.w x order by sec)"} {
			for _, who := range []string{"updo", "colu", "root2"} {
				q := into + " on duplicate key update a = " + e
				if got := results(t, s.open(who, "own", ""), q); got != "" {
					t.Errorf("%s: %s: %s", who, q, got)
				}
			}
		}
	}
	script{
		{"insert into victim.uo (id, a) values (1, 2) on duplicate key update a = (select uo.a + uo.id)", ""},
		{"insert into victim.uo (id, a) values (1, 2) on duplicate key update a = values(a) + (select 1)",
			""},
		{"insert into victim.uo (id, a) values (1, 2) as n on duplicate key update a = (select n.a)", ""},
	}.run(t, s.open("colu", "own", ""))
}

// TestUpsertDefaultsOfOtherRows: DEFAULT(c) of a given row or of a SELECT's was that of the table's column of
// the name, also of one that a view hides.
func TestUpsertDefaultsOfOtherRows(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table b (num int primary key, amt int default 3, k int default 4242)",
		"create table s (num int, k int default 9, n int not null)", "insert into s values (1, 2, 3)",
		"create view v as select num, amt from b", "insert into v values (1, 1)")
	for _, into := range []string{"v", "b"} {
		for _, q := range [][2]string{
			{"values (1, 5) as t(num, k) on duplicate key update amt = default(t.k)", "3"},
			{"values (1, 5) as t(num, k) on duplicate key update amt = (select default(t.k))", "3"},
			{"values (1, 5) as t on duplicate key update amt = default(t.amt)", "3"},
			{"values (1, 5) as t(x, y) on duplicate key update amt = default(y) + 1", "4"},
			{"select num, k from s on duplicate key update amt = default(s.k)", "9"},
			{"select num, k from (select * from s) e on duplicate key update amt = default(e.k)", "9"},
			{"select num, n from s on duplicate key update amt = default(s.n)", "error 1364"},
			{"select num, k + 0 as k from s on duplicate key update amt = default(" + into + ".amt)", "3"},
		} {
			run(t, c, "update b set amt = 1")
			got := results(t, c, "insert into "+into+" (num, amt) "+q[0])
			if got == "" {
				got = results(t, c, "select amt from b")
			}
			if got != q[1] {
				t.Errorf("%s: %s: %s, want %s", into, q[0], got, q[1])
			}
		}
	}
}

// TestUpsertReturningBesideChecks: with n checks the first n expressions of RETURNING were 1,
// their conditions.
func TestUpsertReturningBesideChecks(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table r (id int primary key, a int, b varchar(20), check (a < 1000), check (id < 1000))",
		"create table g (id int primary key, a int, v int as (a + 1), check (a < 1000))",
		"create view w as select id, a, b from r where a < 500 with check option",
		"create table f (id int primary key, a int, check (a < 1000))",
		"create trigger fb before insert on f for each row set new.a = new.a + 1",
		"create trigger fa after update on f for each row set @seen = new.a",
		"insert into r values (1, 10, 'x')")
	script{
		{"insert into r values (1, 1, 'q') on duplicate key update a = 12 returning b, a, id", "x 12 1"},
		{"insert into r values (2, 2, 'n'), (1, 1, 'q') on duplicate key update a = a + 1 " +
			"returning 'hello', b",
			"hello n;hello x"},
		{"insert into r select 1, 1, 'q' on duplicate key update a = (select max(x.a) from r x) " +
			"returning b, a, id",
			"x 13 1"},
		{"insert into w values (1, 1, 'q') on duplicate key update a = 14 returning b, a, id", "x 14 1"},
		{"insert into w values (1, 1, 'q') on duplicate key update a = (select 15) returning b, a, id",
			"x 15 1"},
		{"insert into g (id, a) values (1, 1) on duplicate key update a = 2 returning v, id", "2 1"},
		{"insert into g (id, a) values (1, 1) on duplicate key update a = 2 returning v, id", "3 1"},
		{"insert into f values (1, 1) on duplicate key update a = 5 returning a, id", "2 1"},
		{"insert into f values (1, 1) on duplicate key update a = 5 returning a, id", "5 1"},
		{"insert into r values (1, 1, 'q') on duplicate key update a = 2000 returning b", "error 3819"},
		{"select * from r", "1 15 x;2 2 n"},
	}.run(t, c)
}

// TestViewsAreListedEverywhere: information_schema.views left out views over views, and those that call a
// function by its bare name, unless their database was the current one.
func TestViewsAreListedEverywhere(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create database e", "use d", "create table t (id int primary key)",
		"create function f(x int) returns int deterministic return x",
		"create view v1 as select id from t", "create view v2 as select id from v1",
		"create view v3 as select f(id) x from t", "create view e.v4 as select id from d.v2",
		"create view e.v5 as select d.f(x) x from d.v3")
	for _, use := range []string{"", "d", "e", "information_schema"} {
		script{{"select group_concat(table_schema, '.', table_name, ' ', is_updatable order by 1) " +
			"from information_schema.views where table_schema in ('d', 'e')",
			"d.v1 YES,d.v2 YES,d.v3 NO,e.v4 YES,e.v5 NO"},
			{"select ifnull(database(), '')", use}}.run(t, s.open("root", use, ""))
	}
}
