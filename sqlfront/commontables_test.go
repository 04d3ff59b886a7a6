package sqlfront_test

import "testing"

// TestCommonTablesTakeNoRights: a common table expression is nobody's table, whoever names it, and hides
// no table that is named with its database. The grammar gave away every right on what has its name.
func TestCommonTablesTakeNoRights(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create table d.t (id int primary key, a int)",
		"insert into d.t values (1, 10)", "create database e", "create table e.own (id int primary key)",
		"create user u@localhost, u@'127.0.0.1', w@localhost, w@'127.0.0.1'")
	for _, host := range []string{"@localhost", "@'127.0.0.1'"} {
		run(t, root, "grant select on e.own to u"+host, "grant insert (id) on d.t to w"+host)
	}
	const numbers = "with recursive r (i) as (select 1 union all select i + 1 from r where i < 3) " +
		"select sum(i) from r"
	for _, database := range []string{"", "information_schema", "e"} {
		script{
			{"with a0 as (select 1 as x), a1 as (select x from a0) select * from a1", "1"},
			{numbers, "6"},
			{"with a0 as (select 1 as x), a1 as (select x from a0 where exists (select 1 from a0)), " +
				"a2 as (select a1.x from a1 join a0 using (x)) select (select max(x) from a2)", "1"},
			{"with recursive a0 as (select 1 as x), r as (select x from a0 union all select r.x + 1 " +
				"from r join a0 on r.x < 3) select count(*) from r", "3"},
			{"select x from (with a0 as (select 7 as x), a1 as (select x from a0) select x from a1) y", "7"},
			// A name before its own WITH, and in one that is not recursive, is a table.
			{"with own as (select id from e.own) select count(*) from own", "0"},
		}.run(t, s.open("u", database, ""))
	}
	for _, user := range []string{"u", "w"} {
		script{
			{"with t as (select 1 as id) select * from d.t", "error 1142"},
			{"with d as (select 1 as id) select * from d.t", "error 1142"},
			{"with d as (select 1 as id) select * from d.t for update", "error 1142"},
			{"with t as (select 1 as id) select (select max(id) from d.t)", "error 1142"},
			{"with t as (select 1 as id) select id from t where id in (select a from d.t)", "error 1142"},
			{"with t as (select * from t), x as (select 1 as id) select * from t", "error 1046"},
			{"with d as (select 1 as id) insert into d.t (id, a) select 5, 5", "error 1142"},
			{"with t as (select 1 as id) insert into d.t (id, a) values (5, 5)", "error 1142"},
			{"with t as (select 1 as id) replace into d.t values (5, 5)", "error 1142"},
			{"with d as (select 1 as id) update d.t set a = 5", "error 1142"},
			{"with t as (select 1 as id) update d.t join t on t.id = d.t.id set d.t.a = 5", "error 1142"},
			{"with d as (select 1 as id) delete from d.t", "error 1142"},
			{"with d as (select 1 as id) delete d.t from d.t join d on d.id = d.t.id", "error 1142"},
		}.run(t, s.open(user, "", ""))
	}
	script{
		// With its database it is the table.
		{"with t as (select 7 as id, 8 as a) select * from d.t", "1 10"},
		{"with t as (select 7 as id) select t.id, x.a from t join d.t as x", "7 10"},
		{"with t as (select 7 as id) select T.id from T where exists (select 1 from d.t where a = 10)", "7"},
		{"with t as (select id + 1 as id from d.t), v as (select id from t) select * from v", "2"},
		{"with recursive t (n) as (select id from d.t union all select n + 1 from t where n < 3) " +
			"select group_concat(n order by n) from t", "1,2,3"},
		{"with t as (select 7 as id) insert into d.t (id, a) select id, (select max(a) from d.t) from t", ""},
		{"select * from d.t order by id", "1 10;7 10"},
	}.run(t, root)
}
