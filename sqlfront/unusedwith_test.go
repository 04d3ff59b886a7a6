package sqlfront_test

import "testing"

// TestUnusedWith: an UPDATE or a DELETE with WITH that it does not read counted the columns of the WITH among
// those of its table: it deleted rows of other values, and wrote columns that it does not name, of a view
// those that it hides.
func TestUnusedWith(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, a int, b int, c varchar(20), k int)",
		"create view v as select b, a, id from t", "create table u (id int primary key, a int)",
		"insert into u values (1, 20)",
		"create procedure up() with x as (select 1 q, 2 r) update t set a = b where id = 1",
		"create procedure del() with x as (select 1 q) delete from t where a = 30")
	for _, withs := range []string{"x as (select 1 q)", "x as (select 1 q, 2 r)", "x as (select * from u)",
		"x as (select * from t)", "x as (select 1 q), y as (select q, 2 r from x)",
		"recursive x as (select 1 n union all select n + 1 from x where n < 3)"} {
		run(t, c, "delete from t", "insert into t values (1, 10, 20, 'c', 40), (2, 20, 30, 'cc', 50), "+
			"(3, 30, 40, 'ccc', 60)")
		script{
			{"with " + withs + " delete from t where a = 40", ""},
			{"with " + withs + " delete from t where b = 10 order by a limit 1", ""},
			{"select * from t", "1 10 20 c 40;2 20 30 cc 50;3 30 40 ccc 60"},
			{"with " + withs + " update t set a = b where id = 1", ""},
			{"with " + withs + " update t q set q.a = q.k, q.c = 'x' where b = 30 order by q.id limit 5", ""},
			{"with " + withs + " update v set a = b + 1 where id = 3", ""},
			{"select * from t", "1 20 20 c 40;2 50 30 x 50;3 41 40 ccc 60"},
			{"with " + withs + " update t set a = 7 where id in (select id from u)", ""},
			{"with " + withs + " update v set a = a + 1 where b = 40", ""},
			{"select * from t", "1 7 20 c 40;2 50 30 x 50;3 42 40 ccc 60"},
			{"with " + withs + " delete w from t w where w.a = 7", ""},
			{"with " + withs + " delete from v where a = 42", ""},
			{"select * from t", "2 50 30 x 50"},
			{"with " + withs + " delete from t where c = 'x'", ""},
			{"select * from t", ""},
		}.run(t, c)
	}
	run(t, c, "insert into t values (1, 10, 20, 'c', 40), (2, 30, 30, 'cc', 50)", "call up()", "call del()",
		"prepare p from 'with x as (select 1 q) update t set a = ? where b = ?'", "set @a = 5, @b = 20",
		"execute p using @a, @b")
	script{{"select * from t", "1 5 20 c 40"}}.run(t, c)
	wantError(t, c, "with x as (select * from nosuch) delete from t", 1146)
}
