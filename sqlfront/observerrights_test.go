package sqlfront_test

import (
	"strings"
	"testing"
)

// TestObserverRights is rows S1 and O1 of the list of attacks: TRIGGER and INSERT on one table gave root, by
// the body of an observer. It has its definer's rights, as they are when it runs.
func TestObserverRights(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "create table hid.t (id int primary key, v int)", "create table hid.u (id int primary key)", "create table own.a (id int primary key, v int)",
		"create table own.log (id int, v int)", "create user few", "grant trigger, insert, select on own.a to few", "grant insert on own.log to few", "create user blind", "grant trigger on own.a to blind",
		"grant insert on own.log to blind")
	few := s.open("few", "own", "")
	script{
		{"create observer o after insert on a for each row insert into mysql.user (user, host) values ('evil', '%')", "error 1142"},
		{"create observer o after insert on a for each row update mysql.user set Super_priv = 'Y'", "error 1142"},
		{"create observer o after insert on a for each row insert into hid.t values (new.id, new.v)", "error 1142"},
		{"create observer o after insert on a for each row insert into log select id, v from hid.t", "error 1142"},
		{"create observer o after insert on a for each row begin if exists (select 1 from hid.t) then insert into log values (1, 1); end if; end", "error 1142"},
		{"create observer o after insert on a for each row call hid.p()", "error 1370"},
		{"create observer o after delete on log for each row insert into log values (1, 1)", "error 1142"},
		{"create observer o after insert on hid.u for each row insert into own.log values (1, 1)", "error 1142"},
		{"show observers", ""},
	}.run(t, few)
	script{
		{"create observer o after insert on a for each row insert into log values (new.id, 1)", "error 1143"},
		{"create observer o after insert on a for each row insert into log values (1, 1)", ""},
		{"drop observer o", ""},
	}.run(t, s.open("blind", "own", ""))

	// What he may do his observer may do, and no longer than he.
	run(t, root, "grant select, insert on hid.t to few")
	script{{"create observer o after insert on a for each row with (attempts = 1) insert into hid.t values (new.id, new.v)", ""}, {"insert into a values (1, 10)", ""}}.run(t, few)
	eventually(t, root, "select id, v from hid.t", "1 10")
	run(t, few, "insert into a values (2, 20)")
	eventually(t, root, "select count(*) from hid.t", "2")
	failure := func(say string) {
		t.Helper()
		eventually(t, root, "select parked from moka.observer_backlog", "1")
		if got := results(t, root, "select error from moka.observer_errors"); !strings.Contains(got, say) {
			t.Errorf("the run failed with %s, want %s", got, say)
		}
	}
	run(t, root, "revoke insert on hid.t from few")
	run(t, few, "insert into a values (3, 30)")
	failure("INSERT command denied to user 'few'@'%' for table 't'")
	run(t, root, "grant insert on hid.t to few")
	run(t, few, "alter observer o retry failed") // it is his
	eventually(t, root, "select count(*) from hid.t", "3")
	run(t, root, "revoke trigger on own.a from few")
	run(t, few, "insert into a values (4, 40)")
	failure("TRIGGER command denied to user 'few'@'%' for table 'a'")
	script{{"alter observer o disable", ""}, {"alter observer o enable", ""}, {"drop observer o", ""}}.run(t, few)

	// By a procedure, and by a role.
	run(t, root, "grant trigger on own.a to few", "create role r", "grant select, insert on hid.u to r", "grant r to few", "grant create routine, execute on own.* to few", "use own",
		"create procedure hid.wipe() delete from hid.t", "create procedure own.put(x int) sql security invoker insert into hid.u values (x)")
	few = s.open("few", "own", "")
	script{
		{"set role r", ""},
		{"create observer o after insert on a for each row with (attempts = 1) call put(new.id)", ""},
		{"insert into a values (5, 50)", ""},
	}.run(t, few)
	failure("INSERT command denied to user 'few'@'%' for table 'u'") // a role that is off when he logs in is off here
	run(t, root, "alter user few default role r", "alter observer o retry failed")
	eventually(t, root, "select id from hid.u", "5")
	run(t, root, "revoke r from few")
	run(t, few, "insert into a values (6, 60)")
	failure("INSERT command denied to user 'few'@'%' for table 'u'")
	run(t, root, "drop user few", "alter observer o retry failed")
	failure("The user specified as a definer ('few'@'%') does not exist")
	want(t, root, "select count(*) from hid.t", "3")
	want(t, root, "select id from hid.u", "5")
	want(t, root, "select count(*) from mysql.user where user = 'evil'", "0")
}

// TestAlteringTakesWhatDeclaringTakes: a body of somebody else's observer is not written by who could not
// declare it, nor does it run with the rights of who declared it; and who may not read a table selects none
// of its failed runs.
func TestAlteringTakesWhatDeclaringTakes(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key, v int)", "create table "+
		"own.log (id int, v int)", "create database hid", "create table hid.t (id int)",
		"create user few", "grant trigger, insert, select on own.a to few", "grant insert on own.log to few",
		"create user blind", "grant trigger on own.a to blind",
		"create user none", "grant insert on own.log to none", "use own",
		"create observer o after insert or update or delete on a for each row with (attempts = 1) insert "+
			"into hid.t values (1)", "alter observer o disable")
	script{
		{"alter observer o as delete from log", "error 1142"},
		{"alter observer o enable with replay", "error 1142"},
		{"alter observer o retry failed where id = 1", "error 1142"},
		{"alter observer o discard failed", "error 1142"},
		{"explain observer o", "error 1142"},
	}.run(t, s.open("none", "own", ""))
	script{
		{"alter observer o as insert into hid.t values (2)", "error 1142"},
		{"alter observer o as insert into log values (1, new.v)", "error 1143"},
		{"alter observer o enable with replay", "error 1142"},
		{"alter observer o retry failed where id = 1", "error 1142"},
		{"alter observer o discard failed where error is null", "error 1142"},
		{"explain observer o", "error 1345"},
		{"alter observer o discard failed", ""},
	}.run(t, s.open("blind", "own", ""))
	few := s.open("few", "own", "")
	script{
		{"alter observer o as insert into hid.t values (2)", "error 1142"},
		{"alter observer o enable with replay", ""},
		{"insert into a values (1, 1)", ""},
	}.run(t, few)
	eventually(t, root, "select id from hid.t", "1") // with root's rights: it is root's
	script{
		{"alter observer o as begin if new.id = 5 then signal sqlstate '45000' set message_text = 'five'; " +
			"end if; insert into log values (new.id, 1); end", ""},
		{"insert into a values (2, 2), (5, 5)", ""},
	}.run(t, few)
	eventually(t, root, "select id from own.log", "2")
	want(t, root, "select definer from moka.observers", "few@%")
	want(t, root, "select id from hid.t", "1")
	eventually(t, root, "select parked from moka.observer_backlog", "1")
	// Another's error is not to be found out by conditions, nor tables that he may not read.
	run(t, root, "use own", "alter observer o as signal sqlstate '45000'")
	run(t, few, "alter observer o retry failed where error like '%five%'", "alter observer o retry failed "+
		"where id = 6")
	want(t, root, "select attempts, error like '%five%' from moka.observer_errors", "1 1")
	script{{"alter observer o retry failed where id in (select id from hid.t)", "error 1142"}}.run(t, few)
}

// TestObserversAreNotShownToAll is row S16: bodies and definers were shown to who could read another table.
func TestObserversAreNotShownToAll(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)", "create table own.b (id int primary key)", "create table own.log (id int)",
		"create user maker", "grant all on own.* to maker", "create user other", "grant select on own.b to other", "grant select on moka.* to other", "create user peer", "grant trigger on own.a to peer", "create user nobody")
	maker := s.open("maker", "own", "")
	run(t, maker, "create observer o after insert on a for each row insert into log values (4711)")
	nobody := s.open("nobody", "", "")
	shown := "o INSERT a ENABLED 0 0 0 insert into log values (4711)"
	for _, c := range []struct {
		who  runner
		sees bool
	}{{root, true}, {maker, true}, {s.open("peer", "", ""), true}, {s.open("other", "", ""), false}, {nobody, false}} {
		got := results(t, c.who, "select observer_name, definer, action_statement from information_schema.observers")
		want := ""
		if c.sees {
			want = "o maker@% insert into log values (4711)"
		}
		if got != want {
			t.Errorf("information_schema.observers: %q, want %q", got, want)
		}
		if c.who == nobody { // is not told whether there is the database
			script{
				{"show observers from own", "error 1044"},
				{"show create observer own.o", "error 1044"},
			}.run(t, c.who)
			continue
		}
		if got := results(t, c.who, "show observers from own"); strings.HasPrefix(got, shown) != c.sees || got != "" != c.sees {
			t.Errorf("show observers: %q", got)
		}
		if got := results(t, c.who, "show create observer own.o"); strings.Contains(got, "4711") != c.sees || !c.sees && got != "error 1142" {
			t.Errorf("show create observer: %q", got)
		}
	}
	other := s.open("other", "", "")
	script{
		{"select count(*) from moka.observers", "0"}, {"select count(*) from moka.observer_backlog", "0"}, {"select count(*) from moka.observer_errors", "0"},
		{"alter observer own.o disable", "error 1142"}, {"alter observer own.o retry failed", "error 1142"}, {"drop observer own.o", "error 1142"}, {"drop observer if exists own.o", "error 1142"},
	}.run(t, other)
	script{{"show observers", "error 1046"}, {"select count(*) from moka.observers", "error 1142"}}.run(t, s.open("nobody", "", ""))
	script{{"alter observer o disable", ""}, {"alter observer o enable", ""}, {"drop observer o", ""}}.run(t, maker)
}

// TestShowCreateTableCountsObservers is what tells a dump's reader that observers are not in it. What others
// have named them is not in it: such a name could end the comment, or the text, as a NUL does.
func TestShowCreateTableCountsObservers(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key)", "create table u (id int)",
		"create user reader", "grant select on d.* to reader",
		"create observer b after insert on t for each row insert into u values (new.id)",
		"create observer `a*/ , x` after delete on t for each row delete from u where id = old.id")
	const comment = "/* observers of the table, not part of this and of no dump (SHOW OBSERVERS): 2 */"
	text := createTable(t, root, "d.t")
	if !strings.HasSuffix(text, "\n"+comment) || strings.Count(text, "*/") != 1 {
		t.Errorf("SHOW CREATE TABLE ends with\n%s\nwant\n%s", text, comment)
	}
	plain := createTable(t, s.open("reader", "", ""), "d.t")
	if plain != strings.TrimSuffix(text, "\n"+comment) {
		t.Errorf("to who may not see observers: %s", plain)
	}
	run(t, root, "drop table t", text)
	if again := createTable(t, root, "d.t"); again != plain {
		t.Errorf("made anew: %s, want %s", again, plain)
	}
}

func createTable(t *testing.T, c runner, table string) (text string) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), "show create table "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	var name string
	if err := rows.Scan(&name, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAnonymousIsSomebody is find trig-1: the account with the empty name was taken for nobody, whose
// bodies run with the rights of whoever sets them off (observers as root), and whose session for the
// server's own.
func TestAnonymousIsSomebody(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create database hid", "use own",
		"create table t (id int primary key, v varchar(100))", "create table u (id int primary key)",
		"create table hid.t (v int)",
		"insert into hid.t values (7)", "create user ''@'%'",
		"grant insert, trigger, create view, create routine, execute, select on own.* to ''@'%'",
		"create user other",
		"grant all on *.* to other", "grant system_variables_admin on *.* to other")
	anon := s.open("whoever", "own", "")
	script{
		{"select current_user()", "@%"},
		{"set global max_connections = 777", "error 1227"},
		{"set persist max_connections = 777", "error 1227"},
		{"create observer o after insert on t for each row with (attempts = 1) " +
			"set global max_connections = 778", ""},
		{"create observer p after insert on t for each row with (attempts = 1) insert into hid.t values (8)",
			"error 1142"},
		{"create trigger a before insert on t for each row set new.v = concat('changed ', new.v)",
			"error 1143"},
		{"create trigger b before insert on u for each row set global max_connections = 777", ""},
		{"create procedure p() insert into hid.t values (9)", ""},
		{"create function f() returns int return (select max(v) from hid.t)", ""},
		{"create view v as select f() as v", ""},
		{"create view w as select v from hid.t", "error 1142"},
	}.run(t, anon)
	script{
		{"select definer from information_schema.triggers", "@%"},
		{"select definer, security_type from information_schema.views where table_schema = 'own'",
			"@% DEFINER"},
		{"select definer from information_schema.routines " +
			"where routine_schema = 'own' and routine_name = 'p'", "@%"},
		{"insert into t values (1, 'orig')", ""},
		{"insert into u values (1)", "error 1227"},
		{"call p()", "error 1142"},
		{"select f()", "error 1142"},
		{"select * from v", "error 1142"},
	}.run(t, root)
	eventually(t, root, "select parked from moka.observer_backlog", "1")
	if got := results(t, root, "select error from moka.observer_errors"); !strings.Contains(got,
		"SYSTEM_VARIABLES_ADMIN") {
		t.Errorf("the observer failed with %s", got)
	}
	run(t, root, "set global super_read_only = 1")
	t.Cleanup(func() { run(t, root, "set global read_only = 0") })
	script{{"insert into t values (2, 'x')", "error 1290"}}.run(t, anon)
	run(t, root, "set global read_only = 0", "drop observer o", "drop trigger b",
		"create definer = ''@'%' trigger c before insert on u for each row set new.id = new.id + 1")
	script{{"select definer from information_schema.triggers", "@%"}, {"insert into u values (1)",
		"error 1143"}}.run(t, root)
	run(t, root, "grant update (id), select (id) on own.u to ''@'%'")
	script{{"insert into u values (1)", ""}, {"select * from u", "2"}}.run(t, root)
	run(t, root, "drop user ''@'%'")
	script{{"insert into u values (5)", "error 1449"}, {"call p()", "error 1449"}, {"select * from v",
		"error 1449"}}.run(t, root)
}

// TestConditionsOnFailedRunsTakeTheKey: INSERT and TRIGGER on a table read the keys of all its rows, by how
// many rows a condition of RETRY FAILED of an observer of one's own was true for, by its warnings and its
// errors.
func TestConditionsOnFailedRunsTakeTheKey(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own",
		"create table k (code varchar(30), n int, x int, primary key (code, n))",
		"insert into k values ('SECRET-A', 1, 1), ('SECRET-B', 2, 2)", "create user few",
		"grant insert, trigger on own.k to few", "create user blind", "grant trigger on own.k to blind")
	few, blind := s.open("few", "own", ""), s.open("blind", "own", "")
	run(t, few, "create observer o after insert on k for each row with (attempts = 1) with backfill "+
		"signal sqlstate '45000' set message_text = 'no'")
	parked := func(n string) {
		t.Helper()
		eventually(t, root, "select waiting, parked from moka.observer_backlog", "0 "+n)
	}
	parked("2")
	conditions := []string{"code like 'SECRET%'", "cast(code as date)", "n = 1", "attempts > 0",
		"error like '%no%'", "get_lock(concat(code, 'x'), 0)", "regexp_like('a', concat('(', code))"}
	refused := func(c runner) {
		t.Helper()
		for _, where := range conditions {
			for _, does := range []string{"retry", "discard"} {
				query := "alter observer o " + does + " failed where " + where
				if got := results(t, c, query); got != "error 1142" {
					t.Errorf("%s: %s", query, got)
				}
			}
		}
	}
	refused(few)
	run(t, root, "grant select (code) on own.k to few")
	refused(few)
	run(t, root, "grant select (n) on own.k to few")
	script{{"alter observer o retry failed where code = 'SECRET-A' and n = 1", ""},
		{"alter observer o discard failed where code = 'SECRET-C'", ""},
		{"alter observer o retry failed where x = 1", "error 1054"}}.run(t, few)
	parked("2")
	refused(blind)
	run(t, root, "grant select (code, n) on own.k to blind")
	script{{"alter observer o discard failed where code = 'SECRET-A' and error is null", ""}}.run(t, blind)
	parked("1")
	run(t, root, "revoke select (code, n) on own.k from few")
	refused(few)
	script{{"alter observer o retry failed", ""}, {"alter observer o discard failed", ""}}.run(t, few)

	// A table without a key has none that a condition could tell of.
	run(t, root, "create table h (v int)", "insert into h values (1)",
		"grant insert, trigger on own.h to few")
	run(t, few, "create observer p after insert on h for each row with (attempts = 1) with backfill "+
		"signal sqlstate '45000'")
	eventually(t, root, "select parked from moka.observer_backlog where observer_name = 'p'", "1")
	script{{"alter observer p retry failed where attempts > 5", ""},
		{"alter observer p retry failed where v = 1", "error 1054"}}.run(t, few)
}
