package sqlfront_test

import "testing"

// TestColumnPrivileges asks, as somebody with privileges on some columns, for those and for others, in every
// place where a column can be.
func TestColumnPrivileges(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key, a int, b int default 7, secret varchar(20))", "insert into t values (1, 10, 20, 'x'), (2, 11, 21, 'y')",
		"create table u (id int primary key, a int)", "insert into u values (1, 10)", "create sql security invoker view inv as select id, secret from t", "create sql security invoker view inva as select id, a from t",
		"create view def as select id, secret from t", "create procedure p() sql security invoker select secret from t", "create procedure pa() sql security invoker select a from t order by a",
		"create user c, w, e, n", "grant select (id, a), insert (id, a), update (a), references (id) on d.t to c", "grant select, insert, update, delete, create view, create on d.u to c",
		"grant select on d.inv to c", "grant select on d.inva to c", "grant select on d.def to c", "grant execute on d.* to c",
		"grant update, delete on d.t to w", "grant insert on d.t to e")
	c := s.open("c", "d", "")
	script{
		{"show grants", "GRANT USAGE ON *.* TO `c`@`%`;GRANT EXECUTE ON `d`.* TO `c`@`%`;GRANT SELECT ON `d`.`def` TO `c`@`%`;GRANT SELECT ON `d`.`inv` TO `c`@`%`;GRANT SELECT ON `d`.`inva` TO `c`@`%`;" +
			"GRANT SELECT (`a`, `id`), INSERT (`a`, `id`), UPDATE (`a`), REFERENCES (`id`) ON `d`.`t` TO `c`@`%`;GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, CREATE VIEW ON `d`.`u` TO `c`@`%`"},
		{"select column_name, privilege_type, is_grantable from information_schema.column_privileges order by 1, 2",
			"a INSERT NO;a SELECT NO;a UPDATE NO;id INSERT NO;id REFERENCES NO;id SELECT NO"},
		{"select column_name from information_schema.columns where table_schema = 'd' and table_name = 't' order by 1", "a;id"},
		{"show columns from t", "id int NO PRI NULL ;a int YES  NULL "},
		{"select table_name, count(*) from information_schema.columns where table_schema = 'd' and table_name = 'u' group by 1", "u 2"},
		// What he may.
		{"select a from t where id = 1", "10"},
		{"select x.a from t x where x.id > 1", "11"},
		{"select id, a from t order by a desc", "2 11;1 10"},
		{"select count(*) from t", "2"},
		{"select max(a) from t group by id having max(a) > 10", "11"},
		{"select u.id from u join t on t.a = u.a", "1"},
		{"select a from (select id, a from t) x where x.id = 1", "10"},
		{"with x as (select a from t) select max(a) from x", "11"},
		{"select a from u where a in (select a from t)", "10"},
		{"select a from u where exists (select 1 from t where t.id = u.id)", "10"},
		{"select id from t union select a from u order by 1", "1;2;10"},
		{"select * from inva order by id", "1 10;2 11"},
		{"select secret from def where id = 1", "x"},
		{"call pa()", "10;11"},
		{"insert into t (id, a) values (3, 12)", ""},
		{"update t set a = 13 where id = 3", ""},
		{"update t set a = a + 1 where id = 3", ""},
		{"insert into t (id, a) values (3, 1) on duplicate key update a = values(a)", ""},
		{"prepare p from 'select a from t where id = ?'", ""},
		// What he may not.
		{"select secret from t", "error 1143"},
		{"select * from t", "error 1142"},
		{"select t.* from t", "error 1142"},
		{"table t", "error 1142"},
		{"select * from (select * from t) x", "error 1142"},
		{"select a from t where secret = 'x'", "error 1143"},
		{"select a from t order by secret", "error 1143"},
		{"select count(*) from t group by secret", "error 1143"},
		{"select count(secret) from t", "error 1143"},
		{"select a from t group by a having max(secret) > ''", "error 1143"},
		{"select max(b) over () from t", "error 1143"},
		{"select a as secret2, length(secret) from t", "error 1143"},
		{"select u.id from u join t on t.b = u.a", "error 1143"},
		{"select u.id from u join t using (id) where t.b > 0", "error 1143"},
		{"select (select secret from t limit 1)", "error 1143"},
		{"select 1 from u where 'x' in (select secret from t)", "error 1143"},
		{"select 1 from u where 'x' = any (select secret from t)", "error 1143"},
		{"select 1 from u where exists (select 1 from t where secret = 'x')", "error 1143"},
		{"select 1 from u where exists (select * from t)", "error 1142"},
		{"select 1 from u where (id, 'x') in (select id, secret from t)", "error 1143"},
		{"with x as (select secret from t) select * from x", "error 1143"},
		{"with recursive x as (select 1 as i, cast('' as char(20)) as s union all select i + 1, (select secret from t where id = 1) from x where i < 2) select * from x", "error 1143"},
		{"select a from t union select secret from t", "error 1143"},
		{"select x.v from u, lateral (select secret as v from t where t.id = u.id) x", "error 1143"},
		{"select j.v from t, json_table(concat('[\"', t.secret, '\"]'), '$[*]' columns (v varchar(20) path '$')) j", "error 1143"},
		{"select case when secret = 'x' then 1 end from t", "error 1143"},
		{"select @v := secret from t", "error 1143"},
		{"set @v = (select secret from t where id = 1)", "error 1143"},
		{"do (select secret from t where id = 1)", "error 1143"},
		{"select * from inv", "error 1356"}, // as MySQL: it says nothing of what is below
		{"call p()", "error 1143"},
		{"explain select secret from t", "error 1143"},
		{"explain analyze select secret from t", "error 1143"},
		{"explain format=json select secret from t", "error 1143"},
		{"create table u2 as select secret from t", "error 1142"},
		{"create view d.v2 as select secret from t", "error 1142"},
		{"insert into u select b, b from t", "error 1143"},
		{"insert into u values (9, (select b from t where id = 1))", "error 1143"},
		{"insert into t (id, secret) values (4, 'z')", "error 1143"},
		{"insert into t values (4, 1, 1, 'z')", "error 1142"},
		{"insert into t (id, a) values (1, 1) on duplicate key update a = b", "error 1143"},
		{"insert into t (id, a) values (1, 1) on duplicate key update secret = 'z'", "error 1143"},
		{"replace into t (id, a) values (1, 1)", "error 1142"},
		{"update t set secret = 'z'", "error 1143"},
		{"update t set a = b", "error 1143"},
		{"update t set a = 1 where secret = 'x'", "error 1143"},
		{"update t set a = 1 order by secret limit 1", "error 1143"},
		{"update t, u set t.a = 1 where u.id = t.id and t.b = 20", "error 1143"},
		{"update u set a = (select b from t where t.id = 1)", "error 1143"},
		{"delete from u where id = (select b from t where t.id = 1)", "error 1143"},
		{"delete from t where id = 1", "error 1142"},
		{"lock tables t read", "error 1142"},
		{"select a from u", "10"},
	}.run(t, c)
	// Prepared: in the binary protocol, and as text.
	if got := results(t, c, "select secret from t where id = ?", 1); got != "error 1143" {
		t.Errorf("prepared: %s", got)
	}
	if got := results(t, c, "select a from t where id = ?", 1); got != "10" {
		t.Errorf("prepared: %s", got)
	}
	one := s.open("c", "d", "")
	one.SetMaxOpenConns(1)
	script{
		{"prepare q from 'select secret from t'", "error 1143"},
		{"prepare q from 'select a from t where id = 1'", ""},
		{"execute q", "10"},
		{"start transaction", ""},
		{"select secret from t where id = 1 for update", "error 1143"},
		{"select a from t where id = 1 for update", "10"},
		{"rollback", ""},
	}.run(t, one)
	// A plan that root has used is not his, and what he has lost is gone.
	script{{"select secret from d.t where id = 1", "x"}, {"select secret from d.t where id = 1", "x"}}.run(t, root)
	script{{"select secret from d.t where id = 1", "error 1143"}}.run(t, one)
	run(t, root, "grant select (secret) on d.t to c")
	script{{"select secret from d.t where id = 1", "x"}}.run(t, one)
	run(t, root, "revoke select (secret), select (a) on d.t from c")
	script{{"select secret from d.t where id = 1", "error 1143"}, {"execute q", "error 1143"}, {"select id from t where id = 1", "1"}}.run(t, one)
	run(t, root, "revoke select (id) on d.t from c")
	script{{"select id from t where id = 1", "error 1142"}, {"select 1 from t", "error 1142"}}.run(t, one)

	// Who may write and not read finds nothing out by what he writes.
	script{
		{"update d.t set a = 1", ""},
		{"update d.t set a = 1 where secret = 'x'", "error 1143"},
		{"update d.t set a = b", "error 1143"},
		{"delete from d.t where secret = 'q'", "error 1143"},
		{"delete from d.t where id = 1", "error 1143"},
		{"delete from d.t order by id limit 1", "error 1143"},
		{"delete from d.t", ""},
	}.run(t, s.open("w", "", ""))
	script{
		{"insert into d.t (id, secret) values (1, 'z')", ""},
		{"select 1 from d.t", "error 1142"},
	}.run(t, s.open("e", "", ""))
	script{
		{"grant select (nope) on d.t to n", "error 1054"},
		{"grant delete (a) on d.t to n", "error 1221"},
		{"grant select (a) on d.* to n", "error 1221"},
		{"grant select on d.nope to n", "error 1146"},
	}.run(t, root)
}

// TestDefaultsNeedTheirColumns: DEFAULT(c) is told to who may read c. It was to who might read any column.
func TestDefaultsNeedTheirColumns(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d",
		"create table t (id int primary key, b int default 5, c varchar(9) default 'hidden')",
		"insert into t (id) values (1)", "create view v as select id, default(c) d from t",
		"create user u", "grant select (id, b), insert (id, b), update (b) on d.t to u",
		"grant select on d.v to u")
	c := s.open("u", "d", "")
	want(t, c, "select default(b) from t where default(b) = 5", "5")
	want(t, c, "select d from v", "hidden")
	run(t, c, "insert into t (id, b) values (2, default(b))", "update t set b = default(b) where id = 1")
	for _, q := range []string{
		"select default(c) from t",
		"select id from t where default(c) = 'hidden'",
		"select id from t order by default(c)",
		"select x.id, (select default(c)) from t x",
		"with w as (select default(c) d from t) table w",
		"select 1 union select default(c) from t",
		"insert into t (id, b) values (3, default(c))",
		"update t set b = default(c)",
		"insert into t (id, b) select 5, default(c) from t",
		"select 1 where exists (select default(c) from t)",
		"insert t (id) values (1) on duplicate key update b = default(c)",
	} {
		wantError(t, c, q, 1143)
	}
}
