package sqlfront_test

import (
	"fmt"
	"testing"
)

// TestViewsThatDouble: a view that names a column of the view below twice doubles its expression. Forty of
// them took all memory, in UPDATE and DELETE, and KILL was not heard.
func TestViewsThatDouble(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table d0 (id int primary key, a int)",
		"insert into d0 values (1, 1), (2, 0)", "create view c0 as select * from d0")
	const deep = 40
	for i := range deep {
		run(t, c, fmt.Sprintf("create view d%d as select id, a + a a from d%d", i+1, i),
			fmt.Sprintf("create view c%d as select id, if(a = 1, a, a) a from c%d where a = 1 "+
				"with check option", i+1, i))
	}
	script{
		{"update d40 set id = 3 where a = 5", "error 1436"}, {"delete from d40 where a = 5", "error 1436"},
		{"update d40 set id = 3 order by a limit 1", "error 1436"},
		{"explain update d40 set id = 3 where a = 5", "error 1436"},
		{"update c40 set id = 3", "error 1436"}, {"insert into c40 (id) values (9)", "error 1436"},
		{"delete from c40", "error 1436"}, {"insert into d40 values (9, 9)", "error 1471"},
		{"update d10 set id = 3 where a = 1024", ""}, {"delete from d10 where a = 0", ""},
		{"select * from d0", "3 1"}, {"select * from d10", "3 1024"},
		// The statement as a whole counts.
		{"update d10 set id = 4 where a = 1 or a = 2 or a = 3 or a = 4 or a = 5 or a = 6 or a = 7",
			"error 1436"},
		{"select is_updatable from information_schema.views where table_name in ('c40', 'd40') " +
			"order by table_name", "NO;YES"},
		// What is not named does not count.
		{"update d40 set id = 5 where id = 3", ""}, {"select * from d0", "5 1"},
	}.run(t, c)
	run(t, c, "create view late as select id, a from d0", "prepare s from 'delete from late where a = ?'",
		"set @a = 1", "create or replace view late as select id, a from d40",
		"create procedure p() delete from d40 where a = 1")
	script{{"execute s using @a", "error 1436"},
		{"prepare p from 'delete from d40 where a = ?'", "error 1436"}}.run(t, c)
	script{{"call p()", "error 1436"}, {"select * from d0", "5 1"}}.run(t, c)
}

// TestConditionsOnViewsThatDouble: on its way to the table a condition took the expression of each view's
// column in the place of its name, and was twice as large behind each view: a WHERE on the eighteenth took
// minutes in which KILL was not heard.
func TestConditionsOnViewsThatDouble(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table d0 (id int primary key, a int)",
		"insert into d0 values (1, 1), (2, 0)")
	derived, with := "d0", "with c0 as (select * from d0)"
	for i := range 40 {
		run(t, c, fmt.Sprintf("create view d%d as select id, a + a a from d%d", i+1, i))
		derived = fmt.Sprintf("(select id, a + a a from %s q%d)", derived, i)
		with += fmt.Sprintf(", c%d as (select id, a + a a from c%d)", i+1, i)
	}
	script{
		{"select * from d40 where a = 1 << 40", "1 1099511627776"}, {"select * from d40 where a = 5", ""},
		{"select id from " + derived + " q where a = 1 << 40", "1"},
		{with + " select id from c40 where a = 1 << 40", "1"},
		{"select x.id from d40 x join d40 y on x.a = y.a and x.a > y.id", "1"},
		{"select id from d40 where exists (select * from d0 where d0.a < d40.a)", "1"},
		{"select id, sum(a) over () from d40 where a > 0 and id < 5", "1 1099511627776"},
		{"update d0 join d40 on d0.id = d40.id set d0.a = 3 where d40.a = 0", ""},
		{"delete d0 from d0 join d40 on d0.id = d40.id where d40.a > 1 << 40", ""},
		{"create table copied select id from d40 where a > 0", ""}, {"select * from copied", "1"},
		{"select a from d0", "1"},
	}.run(t, c)
}
