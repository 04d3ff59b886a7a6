package sqlfront_test

import (
	"strings"
	"testing"
)

// schemaOwner is a server on which ann has all privileges on the database mine and nothing else; hid is somebody else's.
func schemaOwner(t *testing.T) (root, ann runner) {
	s := observing(t)
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

// TestOwnersFunctionRunsAsOwner: what an owner of one database puts into views and tables does not run with the rights of the administrator who reads
// them, and not at all when he only looks at them (as S2: code of a stranger with one's own rights).
func TestOwnersFunctionRunsAsOwner(t *testing.T) {
	root, ann := schemaOwner(t)
	body := " sql security invoker begin declare continue handler for sqlexception begin end; insert into ran (who) values (current_user());" +
		" insert into loot select s from hid.t; return 1; end"
	run(t, ann, "create function f() returns int modifies sql data"+body, "create function d() returns int deterministic"+body,
		"create view v1 as select f() as x", "create view v2 as select d() as x", "create view v3 as select id from a where id > d() limit 3",
		"create view v4 as select (select d()) as x, a.id from a where v = (select d())", "create view v5 as select * from v3 where id > f()",
		"create sql security invoker view i1 as select id from a where id > d()", "create sql security invoker view i2 as select a.id from a join ran on a.v = ran.id and a.v = d()",
		"create sql security invoker view i3 as select id from a where id in (select d()) order by d() limit 1")
	run(t, ann, "delete from ran", "delete from loot") // CREATE VIEW has planned what she wrote
	views := []string{"v1", "v2", "v3", "v4", "v5", "i1", "i2", "i3"}
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
	for _, v := range views[:5] {
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

// TestTablesRunNoCode: indexes, columns and checks of a table call nothing that would have the rights of whoever writes to it.
func TestTablesRunNoCode(t *testing.T) {
	_, ann := schemaOwner(t)
	run(t, ann, "create function f() returns int deterministic sql security invoker return 1")
	for query, expect := range map[string]string{
		"create index i on a ((f()))":                                       "error 3758",
		"create unique index i on a ((v + f()))":                            "error 3758",
		"create index i on a ((mine.f()))":                                  "error 3758",
		"create index i on a ((hid.f(1)))":                                  "error 3758",
		"alter table a add index i ((f()))":                                 "error 3758",
		"alter table a add column g int, add unique i ((f() + 1))":          "error 3758",
		"create table c (id int, key i ((f())))":                            "error 3763",
		"alter table a add column g int as (f())":                           "error 3763",
		"alter table a add column g int default (f())":                      "error 3770",
		"alter table a alter column v set default (f())":                    "error 3770",
		"alter table a alter column v set default (hid.f(1))":               "error 3770",
		"alter table a change v v int default (f())":                        "error 3770",
		"alter table a modify v int as (f())":                               "error 3763",
		"alter table a add check (f() > 0)":                                 "error 3814",
		"create table c (id int check (hid.f(1) > 0))":                      "error 3814",
		"create table c (p varchar(90), x varchar(90) as (load_file(p)))":   "error 3763",
		"create table c (id int, x varchar(90) as (current_user()) stored)": "error 3763",
		"create table c (id int, x int as (get_lock('l', 1)))":              "error 3763",
		"create table c (x varchar(90) default (load_file('/etc/passwd')))": "error 3770",
		"create table c (id int, x int default (sleep(1)))":                 "error 3770",
	} {
		if got := results(t, ann, query); got != expect {
			t.Errorf("%s: %q, want %s", query, got, expect)
		}
	}
	run(t, ann, "create table c (id int, u varchar(40) default (uuid()), n datetime default (now()), w varchar(90) default (current_user()))")
}
