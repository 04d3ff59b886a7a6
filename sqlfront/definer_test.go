package sqlfront_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"moka/sqlfront"
	"moka/sqlfront/catalog"
	"moka/txn"
)

// TestRevokeActsAtOnce is row S8: views and triggers made before a REVOKE or a DROP USER kept working. All
// that runs with somebody's rights has those that he has at the moment, on every SQL node.
func TestRevokeActsAtOnce(t *testing.T) {
	d := newDatabase(t)
	never := func(o *sqlfront.Options) { o.FollowUsers = time.Hour }
	one, two := d.serve(never), d.serve(never)
	root := one.conn("")
	run(t, root, "create database hid", "create database own", "use own", "create table hid.t (id int primary key, v int)", "insert into hid.t values (1, 7)",
		"create table own.a (id int primary key, v int)", "create table own.b (id int primary key, v int)", "create table own.log (id int, v int)",
		"create user maker", "grant all on own.* to maker", "grant select, insert on hid.t to maker", "create user reader", "grant select, insert, update, delete, execute on own.* to reader")
	run(t, one.open("maker", "own", ""), "create view v as select v from hid.t where id < 1000", "create view vv as select v from v", "create sql security invoker view iv as select v from v",
		"create trigger tr after insert on a for each row insert into log select new.id, max(v) from hid.t",
		"create trigger tw after insert on b for each row insert into hid.t values (new.id + 1000, new.v)",
		"create function f() returns int return (select max(v) from hid.t where id < 1000)", "create procedure p() select max(v) from hid.t where id < 1000",
		"create view fv as select f() as v")
	readers := []runner{one.open("reader", "own", ""), two.open("reader", "own", "")}
	id := 0
	queries := []struct{ query, answer, denied string }{
		{"select v from v", "7", "error 1356"},
		{"select v from vv", "7", "error 1356"},
		{"select v from iv", "7", "error 1356"},
		{"select f()", "7", "error 1142"},
		{"select v from fv", "7", "error 1142"},
		{"call p()", "7", "error 1142"},
		{"insert into a values (?, 1)", "", "error 1142"},
	}
	ask := func(when string, denied bool) {
		t.Helper()
		for _, c := range readers {
			for _, q := range queries {
				for range 3 { // by what is kept of the first
					var got string
					if strings.Contains(q.query, "?") {
						id++
						got = results(t, c, q.query, id)
					} else {
						got = results(t, c, q.query)
					}
					want := q.answer
					if denied {
						want = q.denied
					}
					if got != want {
						t.Errorf("%s: %s: %q, want %q", when, q.query, got, want)
					}
				}
			}
		}
	}
	keep := "select v from v where v = 7"
	ask("before", false)
	run(t, root, "revoke select on hid.t from maker")
	ask("after REVOKE", true)
	run(t, root, "grant select on hid.t to maker")
	ask("after GRANT", false)
	run(t, root, "revoke select on hid.t from maker", "grant select (v, id) on hid.t to maker")
	ask("with columns", false)
	run(t, root, "revoke select (v) on hid.t from maker")
	for _, c := range readers {
		script{{keep, "error 1356"}, {"select f()", "error 1142"}, {"insert into a values (100000, 1)", "error 1143"}}.run(t, c)
	}
	run(t, root, "revoke select (id) on hid.t from maker", "grant select on hid.t to maker")
	for _, c := range readers {
		id++
		script{{"select v from fv", "7"}}.run(t, c)
		if got := results(t, c, "insert into b values (?, 1)", id); got != "" {
			t.Errorf("insert into b: %s", got)
		}
	}
	run(t, root, "revoke insert on hid.t from maker")
	for _, c := range readers {
		script{{"insert into b values (200000, 1)", "error 1142"}}.run(t, c)
	}
	// By way of a role, which has to be one that is switched on at the login.
	run(t, root, "revoke select on hid.t from maker", "create role r", "grant select, insert on hid.t to r", "grant r to maker")
	ask("with a role that is off", true)
	run(t, root, "alter user maker default role r")
	ask("with a role", false)
	run(t, root, "revoke r from maker")
	ask("without the role", true)
	run(t, root, "grant select, insert on hid.t to maker")
	ask("again", false)
	// The right to have a trigger there at all.
	run(t, root, "revoke all on own.* from maker")
	for _, c := range readers {
		script{{"insert into a values (300000, 1)", "error 1142"}, {"insert into b values (300000, 1)", "error 1142"}, {"select v from v", "7"}, {"select v from fv", "error 1356"}}.run(t, c)
	}
	run(t, root, "drop user maker")
	for _, c := range readers {
		script{{"select v from v", "error 1449"}, {"select f()", "error 1449"}, {"call p()", "error 1449"}, {"insert into a values (400000, 1)", "error 1449"}, {"insert into b values (400000, 1)", "error 1449"},
			{"select v from vv", "error 1449"}}.run(t, c)
	}
	if got := results(t, root, "select count(*) from a where id >= 100000"); got != "0" {
		t.Errorf("%s rows were written by triggers that failed", got)
	}
}

// TestTriggerDoesNotEscape is row S2: what a trigger calls had the rights of nobody in particular, so it
// could do everything.
func TestTriggerDoesNotEscape(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "create table hid.t (id int primary key, v int)", "insert into hid.t values (1, 7)",
		"create table own.a (id int primary key, v int)", "create table own.loot (v varchar(100))", "create user few", "grant select, insert, delete, trigger, create routine, execute on own.* to few")
	few := s.open("few", "own", "")
	for _, security := range []string{"definer", "invoker"} {
		for _, theft := range []string{
			"insert into own.loot select v from hid.t", "insert into own.loot select authentication_string from mysql.user", "insert into hid.t values (2, 2)", "update hid.t set v = 0", "delete from hid.t",
			"begin declare x int; select max(v) into x from hid.t; insert into own.loot values (x); end", "begin declare c cursor for select v from hid.t; open c; close c; end",
			"insert into own.loot values ((select max(v) from hid.t))", "if exists (select 1 from hid.t) then insert into own.loot values ('yes'); end if",
			"insert into mysql.user (user, host) values ('evil', '%')", "update mysql.user set Super_priv = 'Y'",
		} {
			run(t, root, "delete from own.a")
			run(t, few, "create procedure p() sql security "+security+" "+theft, "create trigger tr after insert on a for each row call p()")
			if got := results(t, few, "insert into a values (1, 1)"); got != "error 1142" {
				t.Errorf("%s, %s: %q", security, theft, got)
			}
			run(t, few, "drop trigger tr")
			run(t, root, "drop procedure own.p")
		}
	}
	want(t, root, "select * from hid.t", "1 7")
	want(t, root, "select count(*) from own.loot", "0")

	// What OLD and NEW say of rows takes the rights on their columns, as in MySQL.
	run(t, root, "create table own.log (v int)", "create user watcher", "grant trigger on own.a to watcher", "grant insert on own.log to watcher", "grant insert, delete on own.a to few")
	watcher := s.open("watcher", "own", "")
	script{
		{"create trigger tr after insert on a for each row insert into log values (new.v)", "error 1143"},
		{"create trigger tr before insert on a for each row set new.v = 5", "error 1143"},
		{"create trigger tr after insert on a for each row insert into log values (1)", ""},
	}.run(t, watcher)
	run(t, few, "insert into a values (5, 5)")
	want(t, root, "select * from own.log", "1")
	run(t, root, "grant select (v) on own.a to watcher", "drop trigger own.tr")
	script{
		{"create trigger tr after insert on a for each row insert into log values (new.v)", ""},
		{"create trigger t2 after insert on a for each row insert into log values (new.id)", "error 1143"},
	}.run(t, watcher)
	run(t, few, "insert into a values (6, 6)")
	want(t, root, "select max(v) from own.log", "6")

	// Nobody gives what he makes to somebody else, who may more.
	run(t, root, "grant create view on own.* to few")
	for _, q := range []string{
		"create definer = root@localhost trigger t3 before insert on a for each row delete from hid.t", "create definer = root@localhost procedure p3() delete from hid.t",
		"create definer = root@localhost function f3() returns int return (select max(v) from hid.t)", "create definer = root@localhost view v3 as select 1",
	} {
		script{{q, "error 1227"}}.run(t, few)
	}
	run(t, root, "grant set_user_id on *.* to few")
	script{{"create definer = root@localhost view v3 as select 1 as a", ""}, {"select a from v3", "1"}}.run(t, s.open("few", "own", ""))

	// In a body as outside: an INSERT that may update takes both rights.
	run(t, root, "create user adder", "grant insert on hid.t to adder", "grant create routine, execute on own.* to adder")
	script{
		{"create procedure up() insert into hid.t values (1, 1) on duplicate key update v = 99", ""},
		{"call up()", "error 1142"},
	}.run(t, s.open("adder", "own", ""))
	want(t, root, "select * from hid.t", "1 7")

	// A trigger is no place for statements that end the transaction, those about accounts among them.
	script{
		{"create trigger own.tg before insert on own.a for each row grant all on *.* to few", "error 1064"},
		{"create procedure own.grants() grant all on *.* to few", ""},
		{"create trigger own.tg before insert on own.a for each row call own.grants()", ""},
		{"insert into own.a values (77, 7)", "error 1422"},
	}.run(t, root)
}

// TestViewIsOfItsDatabase: a function that a view calls is the one of the view's database, whatever the
// current one has.
func TestViewIsOfItsDatabase(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "use hid", "create table t (id int primary key, secret varchar(10))", "insert into t values (1, 'hush')",
		"create function mask(x varchar(10)) returns varchar(10) return 'masked'", "create view v as select mask(secret) as s from t",
		"create user few", "grant select on hid.v to few", "grant all on own.* to few")
	few := s.open("few", "own", "")
	script{
		{"select s from hid.v", "masked"}, // EXECUTE is the definer's
		{"create function mask(x varchar(10)) returns varchar(10) return x", ""},
		{"select s from hid.v", "masked"},
		{"select mask('a')", "a"},
		{"select mask('a'), s from hid.v", "a masked"},
		{"select hid.mask('a')", "error 1370"},
		{"select s, hid.mask('a') from hid.v", "error 1370"},
	}.run(t, few)
}

// TestAccountsInRoutines: statements about accounts have in a routine the rules that they have outside.
func TestAccountsInRoutines(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "create user root@'%'", "create user clerk", "create user low", "create user boss", "grant all on *.* to boss", "grant create user on *.* to clerk", "grant all on own.* to clerk, root@'%', low")
	script{
		{"create procedure p() alter user boss identified by 'x'", ""}, {"call p()", "error 1227"},
		{"create procedure p2() drop user boss", ""}, {"call p2()", "error 1227"},
		{"create procedure p3() grant all on *.* to clerk", ""}, {"call p3()", "error 1045"},
		{"create procedure p4() create user made", ""}, {"call p4()", ""}, {"create procedure p5() drop user made", ""}, {"call p5()", ""}, {"call p5()", "error 1396"},
		{"create procedure p6() show grants for boss", ""}, {"call p6()", "error 1044"},
		{"create procedure p7() create user x identified by 'a''b'", "error 1235"},
		{"create procedure p8() begin prepare s from 'alter user boss identified by \"x\"'; execute s; end", ""}, {"call p8()", "error 1227"},
	}.run(t, s.open("clerk", "own", ""))
	script{
		{"create procedure q() alter user root@localhost identified by 'x'", ""}, {"call q()", "error 1227"},
		{"create procedure q2() create user made", ""}, {"call q2()", "error 1227"},
		{"create procedure q3() grant all on own.* to low with grant option", ""}, {"call q3()", "error 1044"},
		{"create procedure q4() show grants for boss", ""}, {"call q4()", "error 1044"},
	}.run(t, s.open("low", "own", ""))
	wantLogin(t, s, "root", "")
	script{{"create procedure own.g() grant select on own.* to low with grant option", ""}, {"call own.g()", ""},
		{"show grants for low", "GRANT USAGE ON *.* TO `low`@`%`;GRANT ALL PRIVILEGES ON `own`.* TO `low`@`%` WITH GRANT OPTION"}}.run(t, root)
}

// TestDefinersAreShown: whose a trigger is, a dump has to say, or it is somebody else's when it is restored.
// The text of a view is for who has SHOW VIEW.
func TestDefinersAreShown(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)", "create user maker", "grant all on own.* to maker", "create user `x@y`@localhost", "create user peer")
	run(t, s.open("maker", "own", ""), "create trigger tr before insert on a for each row set @x = new.id", "create view v as select id from a")
	run(t, root, "create definer = `x@y`@localhost trigger t2 after insert on a for each row set @x = new.id", "grant select, create view on own.* to peer")
	script{{"select trigger_name, definer from information_schema.triggers order by 1", "t2 x@y@localhost;tr maker@%"}}.run(t, root)
	if got := results(t, root, "show triggers like 'a'"); !strings.Contains(got, "STRICT_TRANS_TABLES maker@% ") || !strings.Contains(got, "STRICT_TRANS_TABLES x@y@localhost ") {
		t.Errorf("show triggers: %s", got)
	}
	if got := results(t, root, "show create trigger tr"); !strings.Contains(got, " CREATE DEFINER=`maker`@`%` trigger tr before insert on a for each row set @x = new.id ") {
		t.Errorf("show create trigger: %s", got)
	}
	if got := results(t, root, "show create trigger t2"); !strings.Contains(got, " CREATE DEFINER=`x@y`@`localhost` trigger t2 ") {
		t.Errorf("show create trigger: %s", got)
	}
	peer := s.open("peer", "own", "")
	script{
		{"select table_name, view_definition from information_schema.views", ""},
		{"show create view v", "error 1142"},
		{"select * from v", ""},
		{"show triggers", ""},
	}.run(t, peer)
	run(t, root, "grant show view on own.* to peer")
	script{{"select table_name, view_definition from information_schema.views", "v select id from a"}}.run(t, s.open("peer", "own", ""))
	script{{"insert into a values (1)", "error 1142"}}.run(t, root) // x@y may not have a trigger there
	// Mandatory roles are everybody's, those of definers included, at once.
	run(t, root, "drop trigger t2", "create table hid (v int)", "create role r", "grant insert on own.hid to r", "grant trigger, select on own.a to `x@y`@localhost",
		"create definer = `x@y`@localhost trigger t2 after insert on a for each row insert into hid values (new.id)")
	script{
		{"insert into a values (2)", "error 1142"},
		{"set global mandatory_roles = 'r'", ""},
		{"set global activate_all_roles_on_login = on", ""},
		{"insert into a values (2)", ""}, {"insert into a values (3)", ""}, {"insert into a values (4)", ""},
		{"set global mandatory_roles = ''", ""},
		{"insert into a values (5)", "error 1142"},
		{"set global activate_all_roles_on_login = off", ""},
	}.run(t, root)
}

// TestTriggerWithoutDefiner: triggers of releases that did not keep whose they are have the rights of who
// fires them.
func TestTriggerWithoutDefiner(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "create table hid.t (id int primary key)", "create table own.a (id int primary key)", "create user few", "grant all on own.* to few")
	ctx := context.Background()
	cat, err := catalog.Open(ctx, d.client, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tx := d.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	err = cat.CreateTrigger(ctx, tx, "own", "", catalog.Trigger{
		Name: "old", CreateStatement: "create trigger old after insert on a for each row insert into hid.t values (new.id)", Created: time.Now(),
	})
	if err == nil {
		_, err = tx.Commit(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	few := s.open("few", "own", "")
	for i := range 3 { // by what is kept of the other's
		if got := results(t, few, fmt.Sprintf("insert into a values (%d)", i)); got != "error 1142" {
			t.Errorf("few: %q", got)
		}
		if got := results(t, root, fmt.Sprintf("insert into own.a values (%d)", 10+i)); got != "" {
			t.Errorf("root: %q", got)
		}
	}
	want(t, root, "select id from hid.t", "10; 11; 12")
	script{{"create definer = root@localhost event e on schedule every 1 day do delete from own.a", "error 1227"}}.run(t, few)
}

// TestRenamedViewKeepsItsDefiner is find all-3: RENAME TABLE made a view the renamer's, so what its
// definer might not read any more could be read again.
func TestRenamedViewKeepsItsDefiner(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "create table hid.t (id int primary key)",
		"insert into hid.t values (7)", "create user maker", "grant all on own.* to maker",
		"grant select on hid.* to maker", "use own", "create view own.r as select id from hid.t")
	maker := s.open("maker", "own", "?sql_mode=%27ANSI_QUOTES%27")
	run(t, maker, `create view v as select "id" from hid.t where id < 100 with check option`)
	const columns = "select definer, security_type, check_option, view_definition " +
		"from information_schema.views where table_schema = 'own' and table_name = "
	before := results(t, root, columns+"'v'")
	run(t, root, "revoke select on hid.* from maker")
	script{{"rename table own.v to own.w", ""}, {"select * from own.w", "error 1356"}, {columns + "'w'",
		before}, {"rename table own.w to own.v", ""}, {columns + "'v'", before}, {"select * from own.v",
		"error 1356"},
		{"grant select on hid.* to maker", ""}, {"select * from own.v", "7"},
		{"revoke select on hid.* from maker", ""}, {"insert into own.v values (500)",
			"error 1356"}}.run(t, root)
	script{{"rename table r to s", ""}, {"select * from s", "7"}, {"rename table s to v", "error 1050"},
		{"alter view r as select 1", "error 1146"}, {"create view x as select 1", ""}, {"drop view x", ""},
		{"alter view x as select 1", "error 1146"}}.run(t, maker)
	script{{"select * from own.s", "7"},
		{"select definer from information_schema.views where table_name = 's'", "root@localhost"}}.run(t,
		root)
}

// TestRevokeHoldsBehindHandlers: the first refusal after a REVOKE was the only one where a handler of the
// body took it: it was noted as an answer for the plan of the statement, which ran unasked from then on until
// the transaction ended.
func TestRevokeHoldsBehindHandlers(t *testing.T) {
	s := newDatabase(t).serve()
	other := s.conn("")
	run(t, other, "create database own", "create table own.a (id int primary key)",
		"create table own.small (id int primary key, n int, at datetime)",
		"insert into own.small values (1, 0, null), (2, 0, null)", "create table own.log (n int)",
		"create user maker", "grant insert, trigger on own.a to maker",
		"create function own.f() returns int no sql return 1", "grant execute on function own.f to maker")
	root, maker := s.conn("own"), s.open("maker", "own", "")
	id := 0
	for _, c := range []struct{ does, rights string }{
		{"update own.small set n = n + 1 where id = 1", "select, update on own.small"},
		{"update own.small set n = n + 1, at = now() where id = 1", "select, update on own.small"},
		{"update own.small set n = n + own.f() where id = 1", "select, update on own.small"},
		{"select n + 1 into @n from own.small where id = 1", "select on own.small"},
		{"insert into own.log values (1)", "insert on own.log"},
		{"insert into own.log select n from own.log where n < 0", "select, insert on own.log"},
		{"delete from own.log where n = 77", "select, delete on own.log"},
	} {
		run(t, other, "grant "+c.rights+" to maker")
		run(t, maker, "create trigger tr after insert on a for each row begin declare i int default 0; "+
			"declare continue handler for 1142 set @refused = @refused + 1; while i < 4 do "+c.does+
			"; set i = i + 1; end while; end")
		fire := func() string {
			id++
			run(t, root, fmt.Sprintf("insert into a values (%d)", id))
			return results(t, root, "select @refused")
		}
		run(t, root, "begin", "set @refused = 0")
		if got := fire() + fire(); got != "00" {
			t.Errorf("%s: refused %s times", c.does, got)
		}
		run(t, other, "revoke "+c.rights+" from maker")
		if got := fire() + " " + fire(); got != "4 8" {
			t.Errorf("%s: after REVOKE refused %s times, want 4 8", c.does, got)
		}
		run(t, other, "grant "+c.rights+" to maker")
		if got := fire(); got != "8" {
			t.Errorf("%s: after GRANT refused %s times", c.does, got)
		}
		run(t, root, "rollback", "drop trigger own.tr")
		run(t, other, "revoke "+c.rights+" from maker")
	}
}
