package sqlfront_test

import (
	"fmt"
	"testing"
)

// TestViewsHideColumns: who may write to a view read the columns of the table below that it does not have, by
// the table's own name in ON DUPLICATE KEY UPDATE, by a bare one beside a SELECT, and by names in subqueries
// whose own tables have no such column.
func TestViewsHideColumns(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database victim", "create database own",
		"create table victim.acct (id int primary key, par int, amt decimal(10,2), "+
			"note varchar(50) default 'DEFSECRET')",
		"insert into victim.acct values (1, 1, 10, 'ACCTSECRET1'), (2, 2, 20, 'ACCTSECRET2')",
		"create view own.v as select id, amt from victim.acct",
		"create view own.vw as select id + 0 x, id, amt from victim.acct where id < 3 with check option",
		"create view own.v2 as select id i, amt m from own.v",
		"create view own.acct as select id, amt from victim.acct", // which has the table's name
		"create user mallory", "grant all on own.* to mallory")
	m := s.open("mallory", "own", "")
	run(t, m, "create table u (a int, b varchar(50))", "insert into u values (1, 'x')",
		"create table named (note varchar(50), par int)", "insert into named values ('mine', 7)",
		"create table q (note varchar(50))", "create database if not exists own")
	hidden := []string{"note", "acct.note", "victim.acct.note", "ACCT.`NOTE`", "v.note", "victim.v.note",
		"par",
		"acct.par", "default(acct.note)", "default(note)"}
	for _, of := range []struct{ verb, text string }{
		{"upsert", "insert into v values (1, 1) on duplicate key update amt = length(%s)"},
		{"upsert set", "insert into v set id = 1 on duplicate key update amt = length(%s)"},
		{"upsert row", "insert into v values (1, 1) as n on duplicate key update amt = length(%s)"},
		{"upsert columns", "insert into v values (1, 1) as n(a, b) on duplicate key update amt = length(%s)"},
		{"upsert select", "insert into v select 1, 1 from u on duplicate key update amt = length(%s)"},
		{"upsert dual", "insert into v select 1, 1 on duplicate key update amt = length(%s)"},
		{"upsert union", "insert into v select 1, 1 union select 1, 1 on duplicate key update amt = " +
			"length(%s)"},
		{"upsert subquery", "insert into v values (1, 1) on duplicate key update amt = (select " +
			"length(%s) from u)"},
		{"upsert maximum", "insert into v values (1, 1) on duplicate key update " +
			"amt = (select max(length(concat(%s, u.b))) from u)"},
		{"upsert exists", "insert into v values (1, 1) on duplicate key update " +
			"amt = if(exists (select 1 from u where %s > 'A'), 5, 6)"},
		{"upsert in select", "insert into v select 1, 1 from u on duplicate key update amt = (select " +
			"length(%s) from u)"},
		{"returning", "insert into v values (9, 1) returning %s"},
		{"returning select", "insert into v select 9, 1 from u returning %s"},
		{"returning upsert", "insert into v values (1, 1) on duplicate key update amt = 3 returning " +
			"concat(%s)"},
		{"returning upsert select", "insert into v select 1, 1 from u on duplicate key update amt = 3 " +
			"returning %s"},
		{"replace", "replace into v values (1, 1) returning %s"},
		{"replace subquery", "replace into v values (1, 1) returning (select %s from u)"},
		{"update", "update v set amt = length(%s)"},
		{"update where", "update v set amt = 1 where %s is not null"},
		{"update order", "update v set amt = 1 order by %s"},
		{"update subquery", "update v set amt = (select length(%s) from u)"},
		{"delete", "delete from v where %s is not null"},
		{"delete order", "delete from v order by %s limit 1"},
		{"delete subquery", "delete from v where exists (select 1 from u where %s > 'A')"},
	} {
		for _, name := range hidden {
			q := fmt.Sprintf(of.text, name)
			run(t, m, "begin")
			if got := results(t, m, q); got != "error 1054" && got != "error 1064" {
				t.Errorf("%s: %s: %q, want 1054", of.verb, q, got)
			}
			run(t, m, "rollback")
		}
	}
	for _, q := range []string{
		// Another table in sight that has the name and not the column.
		"update v acct set amt = (select length(acct.note) from (select 1 z) acct)",
		"update v named set amt = (select length(named.par + note) from u)",
		"update v u set amt = (select length(u.note) from u limit 1)",
		"update acct set amt = length(victim.acct.note)",
		"update v set amt = length(victim.v.note)",
		"delete from acct where victim.acct.note > 'A'",
		"insert into acct values (1, 1) on duplicate key update amt = length(victim.acct.note)",
		"insert into acct values (1, 1) on duplicate key update amt = length(acct.note)",
		// Tables that a derived table, WITH or a clause does not see.
		"update v set amt = (select z from named, (select length(note) z) d)",
		"update v set amt = (with c as (select length(note) z) select z from c, named)",
		"update v set amt = (with q as (select 1 z) select length(note) from q)",
		"with q as (select 1 z) update v set amt = (select length(note) from q)",
		"update v set amt = (select z from (select length(note) z, 1 note from u order by 2) d)",
		"update v set amt = (select 1 note from u where note > 'A' order by note)",
		"update v set amt = (select 1 union select 2 order by (select length(note)) limit 1)",
		"update v set amt = (select 1 from u group by a having max(note) > 'A')",
		// The SELECT's tables and the row alias.
		"insert into v select 1, 1 from named acct on duplicate key update amt = length(victim.acct.note)",
		"insert into v select 1, 1 from u acct on duplicate key update amt = length(acct.note)",
		"insert into v select z, 1 from (select 1 z) d on duplicate key update amt = length(note)",
		"insert into v values (1, 1) as acct on duplicate key update amt = length(acct.note)",
		"insert into v values (1, 1) as acct(note, b) on duplicate key update amt = length(acct.note)",
		"insert into v values (1, 1) on duplicate key update amt = length(values(note))",
		"insert into v values (1, 1) on duplicate key update amt = length(values(acct.note))",
		"insert into v select 1, 1 from named on duplicate key update amt = length(values(note))",
		"insert into v values (1, 1) on duplicate key update note = 'mine'",
		"insert into v values (1, 1) on duplicate key update acct.note = 'mine'",
		"insert into v values (1, default(note))", "insert into v values (1, default(acct.note))",
		"insert into v values (9, length(acct.note))", "replace into v set id = 9, amt = length(acct.note)",
		"replace into v values (9, 1) returning acct.*", "replace into v values (9, 1) returning " +
			"victim.acct.*",
		// Views over views, and with CHECK OPTION.
		"insert into v2 values (1, 1) on duplicate key update m = length(acct.note)",
		"insert into v2 values (1, 1) on duplicate key update m = length(v.amt)",
		"insert into v2 values (1, 1) on duplicate key update m = length(id)",
		"update v2 set m = length(acct.note)", "update vw set amt = length(acct.note)",
	} {
		run(t, m, "begin")
		switch got := results(t, m, q); got {
		case "error 1054", "error 1051", "error 1235", "error 1064", "error 1221":
		default:
			t.Errorf("%s: %q", q, got)
		}
		run(t, m, "rollback")
	}
	script{ // what a view does have
		{"insert into v values (1, 1) on duplicate key update amt = v.amt + values(amt) + 1", ""},
		{"insert into v values (1, 5) as n on duplicate key update amt = n.amt + amt", ""},
		{"insert into v values (1, 5) as n(note, b) on duplicate key update amt = n.b + b + note + " +
			"own.v.amt", ""},
		{"select amt from v where id = 1", "28.00"},
		{"insert into v select 1, par from named on duplicate key update amt = par + named.par", ""},
		{"select amt from v where id = 1", "14.00"},
		{"insert into v select 1, 1 from named n on duplicate key update amt = (select " +
			"max(length(n2.note)) from named n2)", ""},
		{"select amt from v where id = 1", "4.00"},
		{"insert into v2 values (1, 8) on duplicate key update m = v2.m + values(m)", ""},
		{"update v set amt = (select par from named where named.note > '' and v.amt = 12)", ""},
		{"select * from v2", "1 7.00;2 NULL"},
		{"update v acct set amt = acct.amt + 1 where acct.id = 1", ""},
		{"update acct set amt = acct.amt + 1 where own.acct.id = 1", ""},
		{"select amt from acct where id = 1", "9.00"},
	}.run(t, m)
	want(t, root, "select note from victim.acct", "ACCTSECRET1; ACCTSECRET2")
}
