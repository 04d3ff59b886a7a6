package sqlfront_test

import (
	"strings"
	"testing"
)

// TestSetNamesOfTheCaller: SET NAMES binary, or a collation, of who calls changed what stored texts of others
// mean: views showed the rows that they hide, procedures, functions and triggers decided otherwise, CHECKs
// let rows in. They mean what they did to who has created them.
func TestSetNamesOfTheCaller(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "use own",
		"create table sec (id int primary key, s varchar(100), n int)",
		"insert into sec values (1, 'topsecret-one', 1), (2, 'topsecret-two', 2), (3, 'newsecret', 3)",
		"create view v1 as select id, s from sec where s <> 'TOPSECRET-ONE'",
		"create view v2 as select id from sec where concat(s, '') not in ('TOPSECRET-ONE', 'x')",
		"create view v3 as select id from sec where case s when 'TOPSECRET-ONE' then 0 else 1 end = 1",
		"create view v4 as select id from sec where s not like 'TOPSECRET-O%'",
		"create view v5 as select id, 'lit' from sec where hex(n + 9) <> 'a'",
		"create view v6 as select id from sec where s <> 'TOPSECRET-ONE'"+
			" collate utf8mb4_general_ci and 'a' = 'A'",
		"create view v7 as select id from v1 where s <> _utf8mb4'TOPSECRET-TWO'",
		"create view v8 as select id from sec where cast(n as char) <> '1'",
		"create view w as select id, s from sec where s <> 'TOPSECRET-ONE' with check option",
		"create procedure p() select id from sec where s <> 'TOPSECRET-ONE'",
		"create function okf(who varchar(20)) returns int deterministic return who not in ('ADMIN', 'ROOT')",
		"create table tc (who varchar(20), check (who <> 'ADMIN'), check (concat(who, '') <> 'ROOT'), "+
			"check (hex(length(who) + 5) <> 'a'))",
		"create table tg (who varchar(20), ok int, "+
			"g int as (if(who = 'ADMIN', 1, 0)) stored, d int default (if('a' = 'A', 1, 0)))",
		"create trigger tgt before insert on tg for each row set new.ok = ('admin' = 'ADMIN')",
		"create user u", "grant select, insert, update, delete, execute on own.* to u")
	expected := script{
		{"select id from v1", "2;3"}, {"select id from v2", "2;3"}, {"select id from v3", "2;3"},
		{"select id from v4", "2;3"}, {"select id, lit from v5", "2 lit;3 lit"}, {"select id from v6", "2;3"},
		{"select id from v7", "3"}, {"select id from v8", "2;3"},
		{"select a.id from v1 a join v2 b using (id) where a.s > 'o'", "2"},
		{"call p()", "2;3"}, {"select okf('admin')", "0"},
		{"insert into tc values ('admin')", "error 3819"}, {"insert into tc values ('root')", "error 3819"},
		{"insert into tc values ('12345')", "error 3819"},
		{"update w set s = 'TOPSECRET-one' where id = 1", ""},
		{"update w set s = 'TOPSECRET-one' where id = 2", "error 1369"},
		{"select s from sec where id = 1", "topsecret-one"},
		{"insert into tg (who) values ('admin')", ""},
		{"select ok, g, d from tg", "1 1 1"}, {"delete from tg", ""},
	}
	u := s.open("u", "own", "")
	for _, set := range []string{
		"set names utf8mb4", "set names binary", "set names utf8mb4 collate utf8mb4_bin", "set names latin1",
		"set collation_connection = utf8mb4_bin", "set character_set_connection = binary",
	} {
		t.Log(set)
		run(t, u, set)
		for range 2 {
			expected.run(t, u)
		}
	}
	// What the creator's session speaks is kept, and shown.
	run(t, root, "set names utf8mb4 collate utf8mb4_bin", "create view b as select 'a' = 'A' as eq",
		"create function bf() returns int deterministic return 'a' = 'A'",
		"create procedure bp() select 'a' = 'A', @@collation_connection",
		"create trigger bt before update on tg for each row set new.ok = ('a' = 'A')", "set names utf8mb4")
	run(t, u, "set names utf8mb4", "insert into tg (who) values ('x')", "update tg set who = 'y'")
	script{
		{"select eq from b", "0"}, {"select bf()", "0"}, {"call bp()", "0 utf8mb4_bin"},
		{"select ok from tg", "0"},
		{"select @@collation_connection", "utf8mb4_0900_ai_ci"},
		{"select table_name, character_set_client, collation_connection " +
			"from information_schema.views where table_name in ('b', 'v1') order by 1",
			"b utf8mb4 utf8mb4_bin;v1 utf8mb4 utf8mb4_general_ci"},
		{"select routine_name, collation_connection from information_schema.routines " +
			"where routine_schema = 'own' order by 1",
			"bf utf8mb4_bin;bp utf8mb4_bin;okf utf8mb4_general_ci;p utf8mb4_general_ci"},
		{"select trigger_name, collation_connection from information_schema.triggers order by 1",
			"bt utf8mb4_bin;tgt utf8mb4_general_ci"},
	}.run(t, root)
	for _, q := range []string{"show create view b", "show create function bf", "show create procedure bp",
		"show create trigger bt", "show triggers like 'tg'"} {
		if got := results(t, root, q); !strings.Contains(got, "utf8mb4 utf8mb4_bin ") &&
			!strings.HasSuffix(got, "utf8mb4 utf8mb4_bin") {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// TestKeysOverExpressionsWhateverTheCollation: that texts of tables are of a collation of their own hides no
// key over an expression from a session with another one.
func TestKeysOverExpressionsWhateverTheCollation(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database own", "use own", "create table k (id int primary key, a varchar(20), n int, "+
		"key f ((concat(a, 'x'))), key g ((hex(n))))",
		"insert into k values (1, 'p', 10), (2, 'q', 11), (3, 'r', 12)")
	for _, set := range []string{"set names utf8mb4", "set names utf8mb4 collate utf8mb4_general_ci"} {
		run(t, c, set)
		for query, key := range map[string]string{
			"select id from k where concat(a, 'x') = 'qx'": " ref f ",
			"select id from k where hex(n) = 'B'":          " ref g ",
		} {
			if plan := results(t, c, "explain "+query); !strings.Contains(plan, key) {
				t.Errorf("%s: %s: %s", set, query, plan)
			}
			script{{query, "2"}}.run(t, c)
		}
	}
}
