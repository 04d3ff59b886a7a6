package sqlfront_test

import (
	"strings"
	"testing"
)

// TestViewsAreFrozen: a view has the columns that its tables had when it was made. Whoever might use a view
// of SELECT * read and wrote columns that were added to the table later.
func TestViewsAreFrozen(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own", "create user mallory",
		"grant all on own.* to mallory", "create table vic.t (id int primary key, a int)",
		"create table vic.u (id int primary key, b int)", "insert into vic.t values (1, 1)",
		"insert into vic.u values (1, 2)", "use vic",
		"create view own.v as select * from vic.t with check option",
		"create view own.late as select 1 as x", "alter view own.late as select t.* from vic.t",
		"create or replace view own.above as select * from own.v",
		"create view own.named (x, y) as select * from vic.t",
		"create view own.joined as select * from vic.t natural join vic.u",
		"create view own.used as select * from vic.t join vic.u using (id)",
		"create view own.deep as select q.* from (select *, a + 1 from vic.t) q",
		"create view own.several as select * from vic.t where exists (select * from vic.u) union all "+
			"select * from vic.u",
		"create procedure vic.p() create or replace view own.made as select * from vic.t", "call vic.p()",
		"create view own.info as select * from information_schema.schemata",
		"alter table vic.t add column secret varchar(20) default 'SECRET', add column b int default 9",
		"alter table vic.u add column secret varchar(20) default 'OTHER'")
	mallory := s.open("mallory", "own", "")
	script{
		{"select * from v", "1 1"}, {"select * from late", "1 1"}, {"select * from above", "1 1"},
		{"select * from named", "1 1"}, {"select * from joined", "1 1 2"}, {"select * from used", "1 1 2"},
		{"select * from deep", "1 1 2"}, {"select * from several", "1 1;1 2"}, {"select * from made", "1 1"},
		{"select secret from v", "error 1054"},
		{"select secret from above", "error 1054"}, {"update v set secret = 'x'", "error 1054"},
		{"update above set a = length(secret)", "error 1054"}, {"insert into v values (4, 4)", ""},
		{"insert into v values (5, 5, 'x', 1)", "error 1136"}, {"delete from v where id = 4", ""},
	}.run(t, mallory)
	script{
		{"select column_name from information_schema.columns where table_name = 'v' and table_schema = 'own'",
			"id;a"},
		{"select view_definition from information_schema.views where table_name = 'late'",
			"select `vic`.`t`.`id`, `vic`.`t`.`a` from vic.t"},
	}.run(t, root)
	if got := results(t, root, "show create view own.v"); !strings.Contains(got,
		"select `vic`.`t`.`id`, `vic`.`t`.`a` from vic.t") {
		t.Error(got)
	}
	run(t, root, "alter table vic.t drop column a")
	for _, q := range []string{
		"select * from v", "select id from v", "select * from above", "update v set id = 2", "delete from v",
		"insert into v values (7, 7)", "select * from joined", "show columns from v",
	} {
		script{{q, "error 1356"}}.run(t, mallory)
	}
	script{
		{"select secret from vic.t", "SECRET"}, {"select nosuch from vic.t", "error 1054"},
		{"select nosuch from own.info", "error 1054"}, {"select * from own.v", "error 1356"},
		{"select count(*) from information_schema.columns where table_name = 'v'", "0"},
	}.run(t, root)
}
