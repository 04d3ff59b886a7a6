package sqlfront_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moka/sqlfront"
)

// schemaOwner is a server on which ann has all privileges on the database mine and nothing else; hid is
// somebody else's.
func schemaOwner(t *testing.T, configure ...func(*sqlfront.Options)) (root, ann runner) {
	s := observing(t, configure...)
	root = s.conn("")
	run(t, root, "create database hid", "create database mine", "create database mine_x", "create database mineAx", "use hid",
		"create table hid.t (id int primary key, v int, s varchar(40), key (v))", "insert into hid.t values (1, 11, 'one'), (2, 22, 'two')",
		"create table hid.log (id int primary key auto_increment, what varchar(80))", "create view hid.v as select * from hid.t",
		"create procedure hid.p(x int) insert into hid.log (what) values (x)", "create function hid.f(x int) returns int deterministic return (select v from hid.t where id = x)",
		"create trigger hid.tr after insert on hid.t for each row insert into hid.log (what) values ('tr')", "create table mine_x.t (id int)", "create table mineAx.t (id int)",
		"create user ann", "create user bob", "create role boss", "grant all on mine.* to ann",
		"create table mine.a (id int primary key, v int, s varchar(40))", "insert into mine.a values (1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z')",
		"create table mine.ran (id int primary key auto_increment, who varchar(60))", "create table mine.loot (s varchar(40))")
	return root, s.open("ann", "mine", "")
}

// TestOwnersFunctionRunsAsOwner: what an owner of one database puts into views and tables does not run with
// the rights of the administrator who reads them, and not at all when he only looks at them (as S2: code of a
// stranger with one's own rights).
func TestOwnersFunctionRunsAsOwner(t *testing.T) {
	root, ann := schemaOwner(t)
	body := " sql security invoker begin declare continue handler for sqlexception begin end; insert into ran (who) values (current_user());" +
		" insert into loot select s from hid.t; return 1; end"
	run(t, ann, "create function f() returns int modifies sql data"+body, "create function d() returns int deterministic"+body,
		"create view v1 as select f() as x", "create view v2 as select d() as x", "create view v3 as select id from a where id > d() limit 3",
		"create view v4 as select (select d()) as x, a.id from a where v = (select d())", "create view v5 as select * from v3 where id > f()",
		"create view v6 as with q as (select f() as x) select x from q union select 7", "create view v7 as select 1 as x union select 2 order by f()",
		"create view v8 as select max(id) over w as x from a window w as (partition by f())", "create view v9 as select x from (with q as (select d() as x) select x from q union all select 7) q",
		"create sql security invoker view i1 as select id from a where id > d()", "create sql security invoker view i2 as select a.id from a join ran on a.v = ran.id and a.v = d()",
		"create sql security invoker view i3 as select id from a where id in (select d()) order by d() limit 1")
	run(t, ann, "delete from ran", "delete from loot") // CREATE VIEW has planned what she wrote
	views := []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "i1", "i2", "i3"}
	for _, v := range views {
		run(t, root, "create view hid.of_"+v+" as select * from mine."+v, "drop view hid.of_"+v, "lock tables mine."+v+" read", "unlock tables")
		for _, q := range []string{"desc mine.?", "show full columns from mine.?", "explain select * from mine.?", "check table mine.?", "show create view mine.?"} {
			if got := results(t, root, strings.ReplaceAll(q, "?", v)); strings.Contains(got, "error") {
				t.Errorf("%s of %s: %s", q, v, got)
			}
		}
	}
	run(t, root, "use mine", "prepare s from 'select * from i1'", "show table status")
	results(t, root, "select count(*) from information_schema.columns where table_schema = 'mine'")
	if got := results(t, root, "select * from ran"); got != "" {
		t.Errorf("who only looks at views has run: %s", got)
	}
	for _, v := range views[:9] {
		results(t, root, "select * from mine."+v)
	}
	if got := results(t, root, "select distinct who from ran"); got != "ann@%" {
		t.Errorf("definers' views ran a function as %q, want ann@%%", got)
	}
	want(t, root, "select count(*) from loot", "0")
	// A function that is not DETERMINISTIC is called for each row.
	run(t, ann, "truncate table ran", "truncate table loot")
	want(t, ann, "select count(*) from a where id >= f()", "3")
	want(t, ann, "select count(*) from ran", "3")
	want(t, ann, "select count(*) from v3", "2")
}

// TestTablesRunNoCode: indexes, columns and checks of a table call nothing that would have the rights of
// whoever writes to it. Of a function that they may not execute they do not learn that it is there (1370).
func TestTablesRunNoCode(t *testing.T) {
	_, ann := schemaOwner(t)
	run(t, ann, "create function f() returns int deterministic sql security invoker return 1")
	for query, expect := range map[string]string{
		"create index i on a ((f()))":                                       "error 3758",
		"create unique index i on a ((v + f()))":                            "error 3758",
		"create index i on a ((mine.f()))":                                  "error 3758",
		"create index i on a ((hid.f(1)))":                                  "error 1370",
		"alter table a add index i ((f()))":                                 "error 3758",
		"alter table a add column g int, add unique i ((f() + 1))":          "error 3758",
		"create table c (id int, key i ((f())))":                            "error 3758",
		"alter table a add column g int as (f())":                           "error 3763",
		"alter table a add column g int default (f())":                      "error 3770",
		"alter table a alter column v set default (f())":                    "error 3770",
		"alter table a alter column v set default (hid.f(1))":               "error 1370",
		"alter table a change v v int default (f())":                        "error 3770",
		"alter table a modify v int as (f())":                               "error 3763",
		"alter table a add check (f() > 0)":                                 "error 3814",
		"create table c (id int check (hid.f(1) > 0))":                      "error 1370",
		"create table c (p varchar(90), x varchar(90) as (load_file(p)))":   "error 3763",
		"create table c (id int, x varchar(90) as (current_user()) stored)": "error 3763",
		"create table c (id int, x int as (get_lock('l', 1)))":              "error 3763",
		"create table c (x varchar(90) default (load_file('/etc/passwd')))": "error 3770",
		"create table c (id int, x int default (sleep(1)))":                 "error 3770",
		"create table c (id int, check (id <> ord(load_file('/etc/x'))))":   "error 3814",
		"create table c (id int check (id <> benchmark(9, 1)))":             "error 3814",
		"alter table a add constraint k check (sleep(1) = 0)":               "error 3814",
	} {
		if got := results(t, ann, query); got != expect {
			t.Errorf("%s: %q, want %s", query, got, expect)
		}
	}
	run(t, ann, "create table c (id int, u varchar(40) default (uuid()), n datetime default (now()), w varchar(90) default (current_user()))")
}

// TestTablesRunNoCodeByAnyWay: ALTER COLUMN … SET DEFAULT took what CREATE TABLE refuses, and so did
// statements of bodies: whoever wrote to the table read a file, slept or held a lock for its owner.
func TestTablesRunNoCodeByAnyWay(t *testing.T) {
	_, ann := schemaOwner(t)
	run(t, ann, "create function f() returns int deterministic sql security invoker return 1",
		"create table w (id int, v varchar(90))")
	ways := map[string]string{
		"alter table w alter column v set default (%s)":       "error 3770",
		"alter table w alter v set default (concat('x', %s))": "error 3770",
		"alter table w modify v varchar(90) default (%s)":     "error 3770",
		"alter table w change v y varchar(90) default (%s)":   "error 3770",
		"alter table w add z varchar(90) default (%s)":        "error 3770",
		"alter table w add z varchar(90) as (%s)":             "error 3763",
		"alter table w modify v varchar(90) as (%s) stored":   "error 3763",
		"alter table w add check (%s > 0)":                    "error 3814",
		"alter table w add index ((%s))":                      "error 3758",
		"create index i on w ((%s))":                          "error 3758",
		"create table c (id int, key ((%s)))":                 "error 3758",
		"create table c (id int check (%s > 0))":              "error 3814",
		"create table c (id int, v int default (%s))":         "error 3770",
		"create table c (v int as (%s)) select 1 a":           "error 3763",
		"create table c (v int default (%s)) select 1 a":      "error 3770",
	}
	bodies := []string{"%s",
		"create procedure p() %s", "create procedure p() begin select 1; %s; end",
		"create procedure p() begin if true then %s; end if; end",
		"create procedure p() begin if false then select 1; else %s; end if; end",
		"create procedure p() begin case 1 when 2 then select 1; else begin %s; end; end case; end",
		"create procedure p() begin while true do %s; end while; end",
		"create procedure p() begin repeat %s; until true end repeat; end",
		"create procedure p() begin l: loop %s; end loop; end",
		"create event e on schedule every 1 hour do %s",
		"create event e on schedule every 1 hour do begin %s; end"}
	for _, call := range []string{"load_file('/etc/hostname')", "sleep(0)", "get_lock('l', 0)",
		"Release_All_Locks()",
		"last_insert_id(777)", "row_count()", "sum(id)", "count(*)", "row_number() over ()", "f()",
		"mine.f()"} {
		for way, expect := range ways {
			q := fmt.Sprintf(way, call)
			if got := results(t, ann, q); got != expect {
				t.Errorf("%s: %s, want %s", q, got, expect)
			}
		}
	}
	for _, body := range bodies {
		for way, expect := range ways {
			q := fmt.Sprintf(body, fmt.Sprintf(way, "load_file('/etc/hostname')"))
			if got := results(t, ann, q); got != expect {
				t.Errorf("%s: %s, want %s", q, got, expect)
			}
		}
	}
	script{
		{"create procedure p() begin declare exit handler for sqlexception " +
			"alter table w alter v set default (sleep(9)); end",
			"error 3770"},
		{"alter table w alter v set default (@x)", "error 3772"},
		{"alter table w alter v set default (@@version)", "error 3772"},
		{"alter table w alter v set default (concat(atan2(1, 2) > 0.4, 'a%' like 'ab%' escape 'b', " +
			"uuid() > ''))", ""},
		{"insert into w (id) values (1)", ""},
		{"select v from w", "111"},
	}.run(t, ann)
}

// TestWithDoublesTables: what WITH names twice, of what names it twice, and so on, is refused before the
// planner walks it: no KILL reached it there, nor max_execution_time, and it takes no right but to log in.
func TestWithDoublesTables(t *testing.T) {
	_, ann := schemaOwner(t)
	doubling := func(levels int) string {
		q := "with q0 as (select 1 x)"
		for i := 1; i <= levels; i++ {
			q += fmt.Sprintf(", q%d as (select a.x from q%d a join q%d b)", i, i-1, i-1)
		}
		return q
	}
	if got := results(t, ann, doubling(4)+" select count(*) from q4"); got != "1" {
		t.Errorf("four levels: %s", got)
	}
	deep := doubling(30) + " "
	for _, q := range []string{
		deep + "select count(*) from q30", strings.ToUpper(deep) + "SELECT 1 FROM Q30", "select * from (" + deep + "select x from q30) d", "create view w as " + deep + "select x from q30",
		deep + "select x from q30 union select 1", "insert into a (id) " + deep + "select x from q30", deep + "update a set v = 1 where id in (select x from q30)",
		"explain " + deep + "select 1 from q30", "create procedure wp() " + deep + "select 1 from q30", "create table w as select * from (" + deep + "select x from q30) d",
	} {
		if got := results(t, ann, q); got != "error 1116" {
			t.Errorf("%.20s … %s: %s, want error 1116", q, q[len(q)-20:], got)
		}
	}
}

// TestSchemaOwnerIsRefused is what an hour by hand has tried with all privileges on one database, in brief:
// nothing of other databases, of accounts or of the server answers.
func TestSchemaOwnerIsRefused(t *testing.T) {
	root, ann := schemaOwner(t)
	tried := map[string][]string{
		"error 1142": {
			"select * from hid.t", "select * from mine_x.t", "select * from mineAx.t",
			"create table b like hid.t", "create table b like hid.missing",
			"create table b like nowhere.t", "create table b as select * from hid.t", "create table hid.z (a int)",
			"create table mine_x.z like a", "rename table a to hid.a", "rename table a to b, hid.t to mine.z", "alter table a rename hid.a", "alter table hid.t rename mine.t",
			"drop table a, hid.t", "create view w as select * from hid.t", "create view w as with q as (select * from hid.t) select * from q", "create view w as select * from hid.v",
			"create trigger x before insert on hid.t for each row set @a = 1", "create trigger x before insert on a for each row insert into hid.log (what) values (1)",
			"create trigger x before insert on a for each row set new.s = (select max(s) from hid.t)",
			"create observer x after insert on hid.t for each row delete from a", "create observer x after insert on a for each row insert into hid.log (what) values (1)",
			"create table k (id int, foreign key (id) references hid.t (id))", "create table k (id int, foreign key (id) references hid.later (id))",
			"alter table a add foreign key (v) references hid.t (id)", "create temporary table k (id int, foreign key (id) references hid.t (id))",
			"check table a, hid.t", "checksum table hid.t", "lock tables a write, hid.t read", "explain select * from a where id = (select id from hid.t limit 1)",
			"select * from hid.t as of now()", "notify hid.t", "update a join hid.t h on true set a.s = h.s", "delete from a where id in (table hid.t)",
			"select * from a order by (select s from hid.t limit 1)", "insert into a (id) values (1) on duplicate key update s = (select max(s) from hid.t)",
			"grant select on mine.a to bob", "grant trigger on hid.t to ann", "select * from mysql.user", "select * from moka.observers", "select * from performance_schema.threads",
		},
		"error 1044": {
			"use hid", "drop trigger hid.tr", "use mine_x", "create database mine2", "create database `mine/x`", "create database `mine/`", "drop database mine_x", "create procedure hid.z() select 1", "create temporary table mine_x.z (a int)", "analyze table hid.t",
			"show tables from hid", "show create database hid", "create event hid.e on schedule every 1 second do delete from mine.a", "show grants for bob", "show create user bob",
			"grant all on mine.* to bob", "grant all on `mine%`.* to ann", "flush tables", "flush privileges", "flush tables with read lock",
		},
		"error 1045": {"grant super on *.* to ann", "grant usage on *.* to ann with grant option", "load data infile '/etc/passwd' into table a"},
		"error 1227": {
			"create definer = root@localhost view w as select 1", "create definer = root@localhost procedure w() select 1", "create definer = root@localhost trigger w before insert on a for each row set @a = 1",
			"set global max_connections = 1", "set persist max_connections = 1", "set password for bob = 'x'", "alter user bob identified by 'x'", "alter user ann account unlock", "create user evil",
			"drop user bob", "rename user ann to bob2", "grant boss to ann", "create role r", "drop role boss", "select * from a into outfile 'x'", "show engine innodb status",
		},
		"error 1370": {
			"select hid.f()", "select hid.f(1, 2, 3)", "call hid.p()",
			"create table x1 (a int, b int as (hid.f(1)))", "create table x2 (a int check (hid.f(a)))",
			"create table x3 (a int default (hid.f(1)))", "create table x4 (a int, key ((hid.f(a))))",
			"select hid.nosuch(1)", "create table x5 (a int default (hid.nosuch(1)))",
			"call hid.p(1)", "select hid.f(1)", "do hid.f(1)",
			"create trigger x before insert on a for each row call hid.p(1)",
			"create observer x after insert on a for each row call hid.p(1)",
		},
		"error 3530": {"set role boss", "alter user ann default role boss", "set default role boss to ann"},
	}
	try := func() {
		t.Helper()
		for expect, queries := range tried {
			for _, q := range queries {
				if got := results(t, ann, q); got != expect {
					t.Errorf("%s: %q, want %s", q, got, expect)
				}
			}
		}
	}
	try()
	if got := results(t, root, "create database `mine/x`"); got != "error 1102" { // the library would take it for a revision of mine, and ann has that
		t.Errorf("a database with a slash: %q, want error 1102", got)
	}
	want(t, root, "select count(*) from hid.log", "0")
	want(t, root, "select count(*), min(s), max(s) from hid.t", "2 one two")
	// With GRANT OPTION she gives what is hers and no more.
	run(t, root, "grant all on mine.* to ann with grant option")
	run(t, ann, "grant select on mine.a to bob", "grant all on mine.* to boss")
	for q, expect := range map[string]string{
		"grant all on hid.* to bob": "error 1044", "grant select on `mine_`.* to ann": "error 1044", "grant select on hid.t to ann": "error 1142", "grant select on *.* to bob": "error 1045",
		"grant super on mine.* to bob": "error 1221", "grant select on mine.* to nobody": "error 1410", "revoke select on hid.* from bob": "error 1044",
		"revoke select on mine.* from root@localhost": "error 1227",
	} {
		if got := results(t, ann, q); got != expect {
			t.Errorf("with GRANT OPTION: %s: %q, want %s", q, got, expect)
		}
	}
}

// TestDefinersLendNobodyTheirRights: a view, a routine or a trigger of an administrator over a table of an
// owner's does not run what the owner puts in the table's place with the administrator's rights, and his own
// routine that calls the owner's does not either (as S2: MySQL and MariaDB do both).
func TestDefinersLendNobodyTheirRights(t *testing.T) {
	dir := t.TempDir()
	root, ann := schemaOwner(t, func(o *sqlfront.Options) { o.FileDir = dir })
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("filed"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, root, "use mine", "create table base (x varchar(90))", "create function helper() returns varchar(90) return 'h'", "create procedure help() set @a = 1",
		"create view above as select x from mine.base", "create view aside as select helper() as x", "create view mixed as select x from above where x <> helper()",
		"create procedure readbase() select x from base", "create procedure helps() begin call help(); select helper() as x; end", "create function counts() returns varchar(90) return (select max(x) from base)",
		"create table hid.fired (s varchar(90))", "create trigger fires before insert on hid.fired for each row set new.s = (select max(x) from mine.base)",
		"create procedure hid.lent() sql security invoker select max(s) from hid.t", "create procedure mine.roots() call hid.lent()")
	answers := func(c runner, q, expect string) {
		t.Helper()
		if got := results(t, c, q); got != expect {
			t.Errorf("%s: %q, want %q", q, got, expect)
		}
	}
	reads := []string{"select x from above", "call readbase()", "select counts()", "select x from above, a limit 1"}
	run(t, ann, "drop table base", "drop function helper", "drop procedure help",
		"create function helper() returns varchar(90) reads sql data sql security invoker return (select max(s) from hid.t)",
		"create procedure help() sql security invoker insert into hid.log (what) values ('lent')")
	for _, view := range []string{
		"select helper() as x", "select a.s as x from a where a.s < helper()", "select s as x from a where id = (select count(*) from a b where b.s < helper()) or helper() > ''",
		"with q as (select helper() as x) select x from q union select helper()", "select max(s) as x from a group by helper()",
	} {
		run(t, ann, "create or replace sql security invoker view base as "+view)
		for _, q := range reads {
			if got := results(t, ann, q); got != "error 1370" {
				t.Errorf("%s of %s: %q, want error 1370", q, view, got)
			}
		}
		if got := results(t, root, "insert into hid.fired values ('')"); got != "error 1370" {
			t.Errorf("a trigger of root's of %s: %q, want error 1370", view, got)
		}
	}
	for _, q := range []string{"select x from aside", "select x from mixed", "call helps()", "select helper()"} {
		if got := results(t, ann, q); got != "error 1370" && got != "error 1142" {
			t.Errorf("%s: %q, want a refusal", q, got)
		}
	}
	// Root's own statement runs it, as in MySQL: that is what INVOKER says. His routine does not.
	answers(root, "select helper()", "two")
	answers(root, "call helps()", "error 1370")
	answers(root, "select count(*) from hid.log", "0")
	// Who may make things in others' names could do it anyway.
	run(t, ann, "create or replace sql security invoker view base as select helper() as x")
	answers(ann, "call roots()", "two")
	run(t, root, "grant set_user_id on *.* to ann")
	answers(ann, "select x from above limit 1", "two")
	run(t, root, "revoke set_user_id on *.* from ann")
	answers(ann, "select x from above limit 1", "error 1370")
	// A file takes FILE of who made the view, too.
	for _, security := range []string{"definer", "invoker"} {
		run(t, ann, "create or replace sql security "+security+" view base as select load_file('"+file+"') as x")
		for _, q := range reads[:3] {
			answers(ann, q, "NULL")
		}
	}
	run(t, root, "create or replace view base as select load_file('"+file+"') as x")
	answers(ann, "call readbase()", "filed")
}

// TestTemporaryTablesHideWhatIsBehind: a temporary table takes no privilege, so a statement that names it
// reads and notifies nothing that has its name in the database: CREATE TEMPORARY TABLE of a view's name
// failed, left the table, and the view could be read.
func TestTemporaryTablesHideWhatIsBehind(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database hid", "use hid", "create table hid.t (id int primary key, v int)", "insert into hid.t values (1, 11)", "create view hid.v as select * from hid.t",
		"create table hid.log (what int)", "create observer o after notify on t for each row insert into log values (new.id)",
		"create user few", "grant create temporary tables on hid.* to few")
	few := s.open("few", "hid", "")
	script{
		{"select v from v", "error 1142"},
		{"create temporary table v (id int, w int)", ""},
		{"insert into v values (5, 6)", ""},
		{"select * from v", "5 6"},
		{"select w from hid.v where id = 5", "6"},
		{"create temporary table if not exists v (id int)", ""},
		{"drop table v", ""},
		{"select * from v", "error 1142"},
		{"drop view v", "error 1044"},
		{"notify t", "error 1142"},
		{"create temporary table t (id int primary key)", ""},
		{"insert into t values (1)", ""},
		{"notify t", "error 1235"},
		{"notify hid.t where id = 1", "error 1235"},
		{"drop temporary table t", ""},
		{"notify t", "error 1142"},
	}.run(t, few)
	run(t, few, "create temporary table v (id int)")
	for _, q := range []string{"drop view v", "create or replace view v as select 1", "alter view v as select 1", "rename table v to w", "create table v (id int)", "create table v as select 1", "create trigger x before insert on v for each row set @a = 1"} {
		if got := results(t, few, q); !strings.HasPrefix(got, "error 1") {
			t.Errorf("%s: %q, want a refusal", q, got)
		}
	}
	run(t, few, "create temporary table z (id int)")
	for _, q := range []string{"create table z (id int)", "create table hid.z like z", "create view z as select 1", "create table if not exists z as select 1 as id"} {
		if got := results(t, few, q); !strings.HasPrefix(got, "error 1") {
			t.Errorf("%s: %q, want a refusal", q, got)
		}
	}
	want(t, root, "select v from hid.v", "11")
	want(t, root, "select table_name from information_schema.tables where table_schema = 'hid' order by 1", "log; t; v")
}
