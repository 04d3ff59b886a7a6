package sqlfront_test

import "testing"

// TestLettersOfNames: letters to which two ways of comparing names do not say the same are in no name. By ſ
// for s and İ for i a view's hidden columns were read, rights on columns got round, a trigger of one table
// was run for another, and RENAME put a table in the place of another.
func TestLettersOfNames(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table hid (id int primary key, amt int, pass varchar(20))",
		"insert into hid values (1, 1, 'SECRET')", "create view vi as select id, amt from hid",
		"create table sa (id int primary key)", "insert into sa values (1), (2)", "create table o (id int)")
	for _, q := range []string{
		"insert into vi (id, amt) values (1, 1) on duplicate key update amt = ord(`paſs`)",
		"insert into vi (id, amt) values (1, 1) on duplicate key update amt = (select ord(paſs))",
		"insert into vi (id, amt) values (1, 1) on duplicate key update amt = 2 returning `hİd`.pass",
		"update vi set amt = 1 where vİ.pass = 'x'", "delete from vi where `vİ`.pass = 'x'",
		"update hid set `paſs` = 'x'", "select a.id from hid a join hid b using (`paſs`)",
		"create table `ſa` (id int)", "rename table o to `ſa`", "alter table o rename to `ſa`",
		"alter table o rename column id to `ıſ`", "alter table o add column `ſ` int", "create database `ſ`",
		"create table n (a int, constraint `ſ` check (a > 0))", "create index `ſ` on o (id)",
		"create view `ſ` as select 1 x", "create trigger `ſ` before insert on o for each row set @a = 1",
		"create trigger x before insert on `ſa` for each row set @a = 1",
		"create procedure `ſ`() set @a = 1", "create procedure p(`ſ` int) set @a = 1",
		"create procedure p() begin declare `ſ` int; end",
		"create event `ſ` on schedule every 1 day do set @a = 1",
		"create observer `ſ` after insert on o for each row begin end", "select 1 as 'ſ'", "select 1 'ſ'",
		"create table n as select 1 'ſ'", "create table n as select 'ſ'", "select * from (select 1 as `ſ`) x",
		"with `ſ` as (select 1) select * from `ſ`", "grant select (`paſs`) on hid to root@localhost",
		"use `ſ`", "select `ͅ`", "select ϐ", "select 1 as `1ſ`",
	} {
		wantError(t, c, q, 1300)
	}
	run(t, c, "set sql_mode = 'ANSI_QUOTES'")
	wantError(t, c, `select "ſ" from hid`, 1300)
	run(t, c, "set sql_mode = default",
		"create table `πελατες` (`τίτλος` int primary key, `5µs` int, größe int, ИМЯ int, ıstanbul int)",
		"insert into `ΠΕΛΑΤΕΣ` (`ΤΊΤΛΟΣ`, `5μs`, GRÖßE, имя) values (1, 2, 3, 4)",
		"create database ς", "use Σ", "use d")
	script{
		{"select 'ſ', 'ς', length('µ'), \"paſs\" -- ſ", "ſ ς 2 paſs"},
		{"select count(*) from hid where pass = 'ſ' /* ſ */", "0"},
		{"select * from sa", "1;2"},
		{"select τίτλος, `5µs`, x.größe, имя from πελατες x", "1 2 3 4"},
		{"select count(*) from information_schema.tables where table_name = 'πελατεσ'", "1"},
	}.run(t, c)
}
