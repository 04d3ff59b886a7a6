package sqlfront_test

import "testing"

// TestFunctionsInWrittenViews: what a view calls is done with the rights of who the view belongs to, and of
// its database, also where rows are written through it: in its condition, which WITH CHECK OPTION makes a
// check of the table, in its columns, and in a view below, however they are merged. An INSERT of root's ran a
// stranger's function as root.
func TestFunctionsInWrittenViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own", "create user mallory",
		"grant all on own.* to mallory", "create table vic.secret (id int primary key, s varchar(40))",
		"insert into vic.secret values (1, 'TOP'), (2, 'TWO')",
		"create table vic.ct (id int primary key)", "create view own.rootv as select 1 as id",
		"create function vic.okf(x int) returns int deterministic return x < 10",
		"create view vic.cv as select id from vic.ct where vic.okf(id) with check option",
		"grant insert, select, update on vic.cv to mallory")
	run(t, root, "use vic", "drop view vic.cv",
		"create view cv as select id from ct where okf(id) with check option")
	mallory := s.open("mallory", "own", "")
	run(t, mallory, "create table base (id int primary key, s varchar(40))",
		"create table loot (s varchar(80))",
		`create function gfi(x int) returns int sql security invoker begin
			insert into loot select concat(current_user(), ' ', s) from vic.secret;
			delete from vic.secret where id = 2; return 1; end`,
		"create function okf(x int) returns int deterministic return 1",
		"create view dep as select id, s from base where own.gfi(id) = 1 with check option",
		"create view bare as select id, s from base where gfi(id) = 1 with check option",
		"create sql security invoker view inv as select id, s from base where gfi(id) = 1 with check option",
		"create view col as select id, s, gfi(id) as g from base",
		"insert into base values (7, 'old')")
	run(t, root, "use own", "drop view rootv", "create view rootv as select id, s from dep",
		"create view rooti as select id, s from inv with check option",
		"create view rootc as select id, s, g from col",
		"create procedure rins(x int) insert into dep values (x, 'p')")
	for _, q := range []string{
		"insert into own.dep values (1, 'a')", "replace into own.dep values (1, 'a')",
		"insert into own.bare values (1, 'a')", "insert into own.inv values (1, 'a')",
		"insert into own.rootv values (1, 'a')", "insert into own.rooti values (1, 'a')",
		"update own.col set s = g", "update own.rootc set s = g", "update own.dep set s = 'x'",
		"update own.inv set s = 'x'", "delete from own.dep", "delete from own.rooti where g = 1",
		"update own.rootv set s = 'x' where id = 7", "call own.rins(3)", "select * from own.inv",
	} {
		results(t, root, q) // some are refused, by 1142, 1356 or 1370
		results(t, root, "use vic")
		results(t, root, q)
		results(t, root, "use own")
	}
	script{
		{"select count(*) from own.loot", "0"}, {"select group_concat(id) from vic.secret", "1,2"},
		{"insert into own.dep values (11, 'a')", "error 1142"},
		{"insert into own.inv values (11, 'a')", "error 1370"},
	}.run(t, root)
	// A check's function is that of the view's database, wherever the session is.
	script{
		{"insert into vic.cv values (500)", "error 1369"}, {"insert into vic.cv values (5)", ""},
		{"update vic.cv set id = 600 where id = 5", "error 1369"}, {"select * from vic.cv", "5"},
		{"use information_schema", ""}, {"insert into vic.cv values (501)", "error 1369"},
		{"insert into vic.cv values (6)", ""},
	}.run(t, mallory)
}

// TestSubqueriesInWrittenViews: a subquery in the condition of a view below is read with that view's rights,
// not with those of the view above it.
func TestSubqueriesInWrittenViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own", "create user mallory",
		"grant all on own.* to mallory", "create table vic.secret (id int primary key)",
		"insert into vic.secret values (1)",
		"create table own.dep (id int primary key, s int)", "create view own.rootv as select * from own.dep")
	mallory := s.open("mallory", "own", "")
	run(t, mallory, "drop table dep", "create table base (id int primary key, s int)",
		"insert into base values (1, 1)")
	run(t, root, "grant select on vic.secret to mallory")
	run(t, mallory, "create view dep as select id, s from base "+
		"where exists (select * from vic.secret where id = 1)")
	run(t, root, "revoke select on vic.secret from mallory")
	script{
		{"update own.rootv set s = 2", "error 1356"}, {"delete from own.rootv", "error 1356"},
		{"select * from own.base", "1 1"},
	}.run(t, mallory)
	results(t, root, "update own.rootv set s = 3")
	want(t, mallory, "select s from base", "1")
}

// TestInformationInViews: a view of information_schema tells what its definer may see, whoever reads it, and
// whatever runs around it. A procedure of root's that read a table in whose place a view had been put told of
// all connections, accounts and bodies.
func TestInformationInViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own", "create user mallory",
		"grant all on own.* to mallory", "create table vic.secret (id int primary key)",
		"create table own.dep (a varchar(200), b varchar(200))",
		"create procedure own.rdep() select * from own.dep",
		"create view own.all_of_it as select table_schema, table_name from information_schema.tables "+
			"where table_schema in ('vic', 'own')")
	mallory := s.open("mallory", "own", "")
	run(t, mallory, "drop table dep")
	for _, c := range []struct{ view, sees string }{
		{"select user, null from information_schema.processlist", "mallory NULL"},
		{"select schema_name, null from information_schema.schemata " +
			"where schema_name in ('own', 'vic', 'mysql')", "own NULL"},
		{"select table_schema, table_name from information_schema.tables " +
			"where table_schema in ('own', 'vic')", "own all_of_it;own dep"},
		{"select grantee, null from information_schema.user_privileges", "'mallory'@'%' NULL"},
		{"select q.a, q.b from (select table_name a, column_name b from information_schema.columns " +
			"where table_schema = 'vic') q", ""},
	} {
		run(t, mallory, "create or replace view dep (a, b) as "+c.view)
		for _, q := range []string{"call own.rdep()", "select * from own.dep"} {
			if got := results(t, root, q); got != c.sees {
				t.Errorf("%s, root's %s: %q, want %q", c.view, q, got, c.sees)
			}
		}
	}
	// It is what views of tables do: they lend.
	want(t, mallory, "select * from all_of_it where table_name = 'secret'", "vic secret")
}

// TestInformationInInvokersViews: with SQL SECURITY INVOKER a view of information_schema told a procedure of
// root's, and a view of his, what root may see, although somebody else had put it in the place of a table.
// Views with their definer's rights did so of the tables that are only here.
func TestInformationInInvokersViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own", "create database mine", "create user mallory",
		"create user other", "grant all on own.* to mallory", "grant all on mine.* to mallory",
		"grant select on own.* to other", "grant select on vic.* to other",
		"grant select on moka.* to mallory",
		"create table vic.secret (id int primary key)", "create procedure vic.hidden() select 1",
		"create observer vic.o after insert on vic.secret for each row set @a = 1",
		"create table own.dep (a varchar(200))", "create procedure own.rdep() select * from own.dep",
		"create function own.fdep() returns varchar(200) reads sql data "+
			"return (select group_concat(a) from own.dep)",
		"create view own.vdep as select * from own.dep",
		"create sql security invoker view own.deeper as select * from own.vdep",
		// Whoever may make things in other accounts' names lends nothing by it.
		"create sql security invoker view own.tools (a) as select schema_name from "+
			"information_schema.schemata where schema_name in ('own', 'vic', 'mine')")
	mallory, other := s.open("mallory", "own", ""), s.open("other", "own", "")
	run(t, mallory, "drop table dep")
	want(t, root, "select * from own.tools order by a", "mine; own; vic")
	want(t, mallory, "select * from tools order by a", "mine; own")
	want(t, other, "select * from tools order by a", "own; vic")
	for _, c := range []struct{ query, sees string }{
		{"select distinct user from information_schema.processlist", "mallory"},
		{"select schema_name from information_schema.schemata where schema_name in ('own', 'vic')", "own"},
		{"select table_name from information_schema.tables where table_schema = 'vic'", ""},
		{"select routine_name from information_schema.routines where routine_schema = 'vic'", ""},
		{"select observer_name from information_schema.observers", ""},
		{"select (select group_concat(observer_name) from moka.observers)", "NULL"},
		{"select a from own.tools where a <> 'mine'", "own"},
		{"select (select max(schema_name) from information_schema.schemata where schema_name = 'vic')",
			"NULL"},
	} {
		for _, security := range []string{"definer", "invoker"} {
			run(t, mallory, "create or replace sql security "+security+" view dep (a) as "+c.query)
			for _, q := range []string{
				"call own.rdep()", "select * from own.vdep", "select * from own.deeper",
				"select * from own.dep", "select a from own.vdep where exists (select * from own.dep)",
			} {
				if got := results(t, root, q); got != c.sees {
					t.Errorf("%s %s, root's %s: %q, want %q", security, c.query, q, got, c.sees)
				}
			}
			sees := c.sees
			if sees == "" {
				sees = "NULL"
			}
			want(t, root, "select own.fdep()", sees)
		}
	}
	// Nor does who reads such a view learn what its maker sees.
	run(t, mallory, "create or replace sql security invoker view dep (a) as select schema_name from "+
		"information_schema.schemata where schema_name in ('own', 'vic', 'mine')")
	want(t, other, "select * from dep", "own")
	want(t, mallory, "select * from dep order by a", "mine; own")
}
