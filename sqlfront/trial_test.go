package sqlfront_test

import (
	"context"
	"strings"
	"testing"
)

// What three accounts found in an hour each (with INSERT and TRIGGER on a table, with ALL on a database, with
// nothing).

// TestTruncateOfViews: a view is no table to TRUNCATE (1146). It emptied the table below, of whatever
// database, for who had DROP on the view, and the accounts: then everybody was refused everything.
func TestTruncateOfViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vic", "create database own",
		"create table vic.dt (id int primary key, v int)",
		"insert into vic.dt values (1, 1), (2, 2)", "create view own.lend as select id from vic.dt",
		"create view own.above as select id from own.lend where id < 2",
		"create view own.accounts as select user, host from mysql.user",
		"create view own.counted as select count(*) n from vic.dt",
		"create view own.`both` as select id from vic.dt union select 1",
		"create view own.joined as select a.id from vic.dt a join vic.dt b on a.id = b.id",
		"create table own.t (id int)", "insert into own.t values (1)",
		"create user mallory identified by 'x'", "grant all on own.* to mallory")
	mallory, err := s.open("mallory:x", "own", "").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer mallory.Close()
	run(t, mallory, "create procedure clears() truncate table lend", "prepare s from 'truncate lend'",
		"set foreign_key_checks = 0")
	for _, q := range []string{
		"truncate table lend", "truncate above", "truncate own.accounts", "truncate counted",
		"truncate `both`", "truncate joined", "call clears()", "execute s",
	} {
		if got := results(t, mallory, q); got != "error 1146" {
			t.Errorf("%s: %q, want error 1146", q, got)
		}
	}
	run(t, mallory, "truncate table t")
	script{
		{"select count(*) from vic.dt", "2"}, {"select count(*) from own.t", "0"},
		{"select count(*) > 1 from mysql.user", "1"},
	}.run(t, root)
}

// TestDynamicSQLInFunctions: what a function or a trigger calls prepares and executes nothing (1336). A
// procedure could, so that a function in a SELECT ended the transaction: rows that were acknowledged were
// gone.
func TestDynamicSQLInFunctions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int primary key)", "create table log (a int)",
		"create procedure any(s text) begin set @s = s; prepare dd from @s; execute dd; end",
		"create procedure kept() begin execute before_all; end",
		"create function fd(s text) returns int begin call any(s); return 1; end",
		"create function fk() returns int begin call kept(); return 1; end",
		"prepare before_all from 'rollback'",
		"create trigger tr before insert on t for each row begin if new.a = 9 then call any('select 1'); "+
			"end if; end")
	for _, q := range []string{"select fd('commit')", "select fd('rollback')", "select fd('drop table log')",
		"do fd('set autocommit = 0')", "select fk()", "insert into t values (9)"} {
		run(t, c, "begin", "insert into log values (1)")
		if got := results(t, c, q); got != "error 1336" {
			t.Errorf("%s: %q, want error 1336", q, got)
		}
		run(t, c, "rollback")
		want(t, c, "select count(*) from log", "0")
	}
	want(t, c, "call any('select 7')", "7")
}

// TestDefinitionsAmongStatements: CREATE VIEW, and CREATE TRIGGER of one statement, with others behind them
// in one command. They were 1105, and ended the connection.
func TestDefinitionsAmongStatements(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create table d.t (a int)")
	db := s.open("root", "d", "?multiStatements=true")
	for _, q := range []string{
		"create view v as select 1 x; select 1", "alter view v as select 2 x;select 2",
		"create or replace view v as select 3 x ; do 1",
		"create trigger tr before insert on t for each row set new.a = 5; select 1",
		"create view w as select ';' y; -- the end",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	run(t, root, "use d", "insert into t values (1)")
	script{
		{"select x, y, a from v, w, t", "3 ; 5"},
		{"select action_statement from information_schema.triggers where trigger_name = 'tr'",
			"set new.a = 5"},
		{"select view_definition from information_schema.views where table_name = 'v'", "select 3 x"},
	}.run(t, root)
}

// TestTextsAreShownAsUTF8: the character set beside a stored text is that of the text as it is shown. A dump
// has GBK read it back by that, as other characters, which swallow backslashes: who might create a trigger
// had root run what he liked with the dump.
func TestTextsAreShownAsUTF8(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (a int)", "set names gbk",
		"create trigger tr before insert on t for each row begin set @a = 'x'; end",
		"create procedure p() begin set @a = 'x'; end", "create function f() returns int return 1",
		"create view v as select 'x'", "create event e on schedule every 1 day do set @a = 'x'",
		"set names utf8mb4")
	for _, q := range []string{"show create trigger tr", "show create procedure p", "show create function f",
		"show create view v", "show create event e", "show triggers", "show procedure status where db = 'd'",
		"show function status where db = 'd'", "show events",
		"select character_set_client from information_schema.triggers where trigger_schema = 'd'",
		"select character_set_client from information_schema.routines where routine_schema = 'd'",
		"select character_set_client from information_schema.views where table_schema = 'd'",
		"select character_set_client from information_schema.events where event_schema = 'd'"} {
		got := results(t, root, q)
		set := strings.ReplaceAll(got, "gbk_chinese_ci", "")
		if !strings.Contains(set, "utf8mb4") || strings.Contains(set, "gbk") {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// TestReplayTakesSelect: with TRIGGER on a table somebody had root's observer run again for all rows of it,
// with root's rights. He may do so with his own, which has his.
func TestReplayTakesSelect(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key)",
		"create table log (n int)",
		"create observer o after insert on t for each row insert into log values (new.id)",
		"create user mallory identified by 'x'", "grant insert, trigger on d.t to mallory",
		"create user reader identified by 'x'", "grant select, trigger on d.t to reader")
	as := func(user string) runner {
		c, err := s.open(user+":x", "d", "").Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	mallory, reader := as("mallory"), as("reader")
	run(t, mallory, "create observer own after insert on t for each row set @x = 1")
	script{
		{"replay observer o", "error 1142"}, {"replay observer own", ""}, {"alter observer o disable", ""},
		{"insert into t values (1)", ""}, {"alter observer o enable", ""}, {"show warnings", ""},
	}.run(t, mallory)
	script{{"replay observer o", ""}, {"alter observer o pause", ""}}.run(t, reader)
}

// TestBytesOfOtherSets: LENGTH, HEX and TO_BASE64 of a text with characters that its set does not have. They
// ended the connection, also that of whoever fired a trigger with one.
func TestBytesOfOtherSets(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (c varchar(9) character set utf8mb3)",
		"set sql_mode = ''",
		"insert into t values ('x😀')")
	for set, want := range map[string]string{
		"set names ascii": "2 3F3F Pz8= 5", "set names swe7": "2 3F3F Pz8= 5",
		"set names utf8mb4":                                 "2 C3A9 w6k= 5",
		"set character_set_connection = ascii":              "1 3F Pw== 2",
		"set collation_connection = latin1_swedish_ci":      "1 E9 6Q== 2",
		"set collation_connection = utf8mb3_general_ci":     "2 C3A9 w6k= 2",
		"set collation_connection = utf8mb4_unicode_520_ci": "2 C3A9 w6k= 5",
		"set names utf8mb3":                                 "2 C3A9 w6k= 2",
	} {
		run(t, c, "set names utf8mb4", set)
		const q = "select length('é'), hex('é'), to_base64('é'), octet_length('x😀')"
		if got := results(t, c, q); got != want {
			t.Errorf("%s: %s, want %s", set, got, want)
		}
	}
	want(t, c, "select length(c), hex(c) from t", "2 783F")
}
