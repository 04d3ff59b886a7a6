package sqlfront_test

import (
	"strings"
	"testing"
)

// TestObserverStatementsHideDatabases: SHOW, DROP, ALTER and SHOW CREATE OBSERVER told a database that
// there is
// from one that there is not, and named tables, to who has no right on either.
func TestObserverStatementsHideDatabases(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)",
		"create table own.hush (id int)",
		"create database vic", "create table vic.v (id int primary key)",
		"create observer vic.vob after insert on vic.v for each row set @x = 1",
		"create observer own.ob after insert on own.hush for each row set @x = 1",
		"create user few", "grant insert, trigger on own.a to few")
	few := s.open("few", "own", "")
	for _, db := range []string{"vic", "nowhere"} {
		for _, q := range []string{"show observers from " + db, "drop observer " + db + ".vob",
			"drop observer if exists " +
				db + ".x", "alter observer " + db + ".vob enable", "show create observer " + db + ".vob"} {
			if got := results(t, few, q); got != "error 1044" {
				t.Errorf("%s: %s", q, got)
			}
		}
	}
	for _, q := range []string{"drop observer ob", "alter observer ob disable", "show create observer ob"} {
		if _, err := few.Exec(q); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", q, err)
		}
	}
	want(t, root, "select count(*) from moka.observers", "2")
}

// TestRevokedObserverTellsNothing: the creator of an observer who has lost TRIGGER went on to see how many
// rows
// others had changed. He may still drop it.
func TestRevokedObserverTellsNothing(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)",
		"create table own.b (id int)",
		"create user few", "grant insert, trigger on own.a to few", "grant insert on own.b to few",
		"grant select on moka.* to few")
	few := s.open("few", "own", "")
	few.SetMaxOpenConns(1)
	run(t, few, "create observer o after insert on a for each row set @x = 1", "alter observer o disable")
	run(t, root, "revoke insert, trigger on own.a from few", "insert into own.a values (1), (2)")
	script{
		{"show observers", ""},
		{"show create observer o", "error 1142"},
		{"select count(*) from moka.observers", "0"},
		{"select count(*) from moka.observer_backlog", "0"},
		{"alter observer o enable", ""},
		{"show warnings", ""},
		{"drop observer o", ""},
	}.run(t, few)
}

// TestObserverErrorsShowNoValues: TRIGGER on a table without SELECT was enough to collect its keys, and
// texts of
// errors of other people's observers, by moka.observer_errors.
func TestObserverErrorsShowNoValues(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id varchar(50) primary key)",
		"create table u (s varchar(50) unique)", "insert into u values ('secret')", "create user few",
		"grant insert, trigger on own.a to few", "grant select on moka.* to few",
		"create observer theirs after insert on a for each row with (attempts = 1) insert into u values "+
			"('secret')")
	few := s.open("few", "own", "")
	run(t, few, "create observer mine after insert on a for each row with (attempts = 1) "+
		"signal sqlstate '45000' set message_text = 'x'")
	run(t, root, "insert into a values ('PATIENT-4711')")
	eventually(t, root, "select count(*) from moka.observer_errors where parked", "2")
	const query = "select observer_name, row_key, error from moka.observer_errors order by 1"
	if got := results(t, few, query); got != "mine NULL x (errno 1644) (sqlstate 45000);theirs NULL NULL" {
		t.Errorf("few: %s", got)
	}
	if got := results(t, root, query); strings.Count(got, "PATIENT-4711") != 2 || !strings.Contains(got,
		"'secret'") {
		t.Errorf("root: %s", got)
	}
	run(t, root, "grant select on own.a to few")
	if got := results(t, few, query); got != "mine id=PATIENT-4711 x (errno 1644) (sqlstate "+
		"45000);theirs id=PATIENT-4711 NULL" {
		t.Errorf("few, with SELECT: %s", got)
	}
}

// TestErrorsAreOfTheirDefiner: who may declare an observer on a table made one of somebody else his own by
// ALTER OBSERVER … AS, and read what the runs of that one, with its definer's rights, had quoted in errors.
func TestErrorsAreOfTheirDefiner(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table u (s varchar(50) unique)", "insert into u values ('secret')", "create user few",
		"grant insert, trigger on own.a to few", "grant select (id) on own.a to few",
		"grant select on moka.* to few",
		"create observer o after insert on a for each row with (attempts = 1) "+
			"insert into u values ('secret')", "insert into a values (1)")
	eventually(t, root, "select parked from moka.observer_backlog", "1")
	few := s.open("few", "own", "")
	const errs, runs = "select row_key, error from moka.observer_errors",
		"select error from moka.observer_runs where result = 'parked' order by started"
	hidden := func(c runner, shown string) {
		t.Helper()
		for _, q := range []string{errs, runs} {
			if got := results(t, c, q); strings.Contains(got, "secret") != (shown != "") {
				t.Errorf("%s: %s", q, got)
			}
		}
	}
	hidden(few, "")
	run(t, few, "alter observer o as signal sqlstate '45000' set message_text = 'mine'")
	hidden(few, "")
	hidden(root, "secret")
	res, err := few.Exec("alter observer o discard failed where error like '%secret%'")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 0 {
		t.Errorf("a condition on the error was true for %d", n)
	}
	run(t, few, "insert into a values (2)")
	eventually(t, root, "select parked from moka.observer_backlog", "2")
	eventually(t, few, "select count(*) from moka.observer_runs where error like 'mine%'", "1")
	want(t, few, "select count(*) from moka.observer_errors where error like 'mine%'", "1")
	hidden(few, "")
	run(t, few, "alter observer o retry failed")
	eventually(t, few, "select count(*) from moka.observer_errors where error like 'mine%'", "2")
	// What few has been told is not root's to keep quiet about, but the observer is, again.
	run(t, root, "alter observer o as set @x = 1")
	want(t, few, "select count(error) from moka.observer_errors", "0")
}

// TestBodiesAreBounded: bodies of triggers and observers are in each process's memory, and nothing bounded
// them.
func TestBodiesAreBounded(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table b (id int primary key)")
	long := func(n int) string { return "set @x = '" + strings.Repeat("x", n) + "'" }
	for _, what := range []string{"create trigger %s after delete on a for each row ",
		"create observer %s after insert on a for each row "} {
		named := func(name string) string { return strings.Replace(what, "%s", name, 1) }
		script{{named("huge") + long(1<<20), "error 1437"}}.run(t, root)
		for _, name := range []string{"x1", "x2", "x3", "x4"} {
			script{{named(name) + long(1<<20-200), ""}}.run(t, root)
		}
		script{
			{named("x5") + long(2000), "error 1437"},
			{strings.Replace(named("x5"), " on a ", " on b ", 1) + long(2000), ""},
		}.run(t, root)
	}
	script{{"create procedure p() " + long(1<<20), "error 1437"}}.run(t, root)
}

// TestTooManyTablesInABody: a join of more than 61 tables in a body ended the connection of whoever fired
// it.
func TestTooManyTablesInABody(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)")
	var many strings.Builder
	many.WriteString("select 1 from (select 1 z) a")
	for i := range 70 {
		many.WriteString(" join (select 1 z) a" + strings.Repeat("i", i+1))
	}
	q := many.String()
	into := strings.Replace(q, "select 1 from", "select 1 into q from", 1)
	for _, body := range []string{"begin declare q int; " + into + "; end",
		"begin declare q int; set q = (" + q + "); end",
		"begin if exists (" + q + ") then set @x = 1; end if; end", "insert into a " + q} {
		script{
			{"create trigger x before insert on a for each row " + body, "error 1116"},
			{"create observer x after insert on a for each row " + body, "error 1116"},
			{"create procedure p() " + body, "error 1116"},
		}.run(t, root)
	}
}

// TestMemoryErrorIsNotHandled: a body that handled the error of a statement that held too much kept what
// it had.
func TestMemoryErrorIsNotHandled(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create trigger x before insert on a for each row begin declare v longtext; "+
			"declare continue handler for sqlexception begin end; set v = repeat('a', 30000000); end",
		"insert into a values (1)", "set moka_query_memory = 1000000")
	script{{"insert into a values (2)", "error 3170"}}.run(t, root)
}

// TestRunsHoldLittle: runs of observers filled local variables up to what a client's statement may hold,
// sixteen at
// a time, and with a handler kept it.
func TestRunsHoldLittle(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table b (id int)",
		"create observer o after insert on a for each row with (attempts = 1) begin declare v, w longtext; "+
			"declare continue handler for sqlexception begin end; set moka_query_memory = 1000000000; "+
			"set v = repeat('a', 30000000); set w = repeat('b', 30000000); insert into b values "+
			"(length(w)); end",
		"insert into a values (1)")
	eventually(t, root, "select parked from moka.observer_backlog", "1")
	if got := results(t, root, "select error from moka.observer_errors"); !strings.Contains(got,
		"Memory capacity") {
		t.Error(got)
	}
	want(t, root, "select count(*) from b", "0")
}

// TestSignalledDeadlockIsAFailure: an observer that SIGNALs a deadlock was run for ever, whatever its
// attempts, and neither counted nor shown: nothing but the store says that a run lost a race.
func TestSignalledDeadlockIsAFailure(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table b (id int primary key)", "create trigger fails before insert on b for each row "+
			"signal sqlstate '40001' set mysql_errno = 1213, message_text = 'from a trigger'")
	for _, body := range []string{"signal sqlstate '40001' set mysql_errno = 1213, message_text = 'its own'",
		"signal sqlstate 'HY000' set mysql_errno = 1412", "insert into b values (new.id)",
		"begin declare exit handler for sqlexception resignal; insert into b values (new.id); end"} {
		run(t, root, "create observer o after insert on a for each row with (attempts = 1, backoff_ms = 1) "+
			body, "insert into a values (1)")
		eventually(t, root, "select parked from moka.observer_backlog", "1")
		want(t, root, "select count(*) from moka.observer_errors", "1")
		run(t, root, "drop observer o", "delete from a")
	}
}

// TestRememberedRunsAreShownByRights: as observers are; the row to who may read it, the error to the definer.
func TestRememberedRunsAreShownByRights(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)", "create user some",
		"create user none", "grant trigger on own.a to some", "grant select, insert on own.a to none",
		"grant select on moka.* to some", "grant select on moka.* to none",
		"create observer own.o after insert on own.a for each row with (attempts = 1) signal sqlstate "+
			"'45000'",
		"insert into own.a values (1)")
	const runs = "select observer_name, row_key, result, error from moka.observer_runs"
	eventually(t, root, runs, "o id=1 parked Unhandled user-defined exception condition (errno 1644) (sqlstate 45000)")
	want(t, s.open("some", "own", ""), runs, "o NULL parked NULL")
	want(t, s.open("none", "own", ""), runs, "")
}

// TestBodiesSeeInformationByRights: the body of an observer read information_schema as nobody's: the
// histogram of a column that its definer may not read, columns of which he may not know, the database of the
// accounts. He got them out by names of locks, with INSERT and TRIGGER on one table.
func TestBodiesSeeInformationByRights(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own",
		"create table a (id int primary key, s varchar(20), key (s))",
		"create table p (id int primary key, hid int)", "create table log (v varchar(200))",
		"insert into a values (1, 'PATIENT-1'), (2, 'PATIENT-2'), (3, 'PATIENT-3')", "analyze table a",
		"create user few", "grant insert, trigger on own.a to few", "grant insert on own.log to few",
		"grant select (id) on own.p to few")
	want(t, root, "select count(*) from information_schema.column_statistics where table_name = 'a'", "2")
	queries := []string{
		"select count(*) from information_schema.column_statistics",
		"select group_concat(column_name) from information_schema.columns where table_name = 'p'",
		"select group_concat(schema_name order by schema_name) from information_schema.schemata",
	}
	few := s.open("few", "own", "")
	body := "create observer o after insert on a for each row insert into log values "
	body += "((" + strings.Join(queries, ")), ((") + "))"
	run(t, few, body, "insert into a values (4, 'x')",
		"wait for observers o timeout 30")
	var direct []string
	for _, q := range queries {
		direct = append(direct, results(t, few, q))
	}
	const may = "0; id; information_schema,own"
	if got := strings.Join(direct, "; "); got != may {
		t.Errorf("asked by the user himself: %s", got)
	}
	want(t, root, "select v from log", may)
}

// TestExplainObserverTellsWhatOneMaySee: EXPLAIN OBSERVER, and the warning about cycles, told who had INSERT
// and TRIGGER on one table the names of other tables, their triggers and foreign keys, for words in a string.
func TestExplainObserverTellsWhatOneMaySee(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create database hid", "use own",
		"create table t (id int primary key)",
		"create table parent (id int primary key, v int)", "create table log (id int)",
		"create table u (id int)", "create table hid.audit (id int)",
		"create table hid.child (id int primary key, p int, constraint secretfk foreign key (p) "+
			"references own.parent (id) on delete cascade)",
		"insert into parent values (1, 0), (2, 0)",
		"create trigger secrettrigger after update on parent for each row insert into hid.audit values "+
			"(new.v)",
		"create observer secretobserver after update on parent for each row "+
			"insert ignore into t values (new.id + 100)", "create user few",
		"grant insert, trigger on own.t to few", "grant insert on own.log to few",
		"grant select on moka.* to few")
	few := s.open("few", "own", "")
	few.SetMaxOpenConns(1)
	explained := func(c runner, observer string, starts ...string) {
		t.Helper()
		var got []string
		for _, row := range strings.Split(results(t, c, "explain observer own."+observer), ";") {
			if !strings.HasPrefix(row, "statement") && !strings.HasPrefix(row, "plan") {
				got = append(got, row)
			}
		}
		if strings.Join(got[1:], ";") != strings.Join(starts, ";") {
			t.Errorf("explain observer %s: %s, want %s", observer, got[1:], starts)
		}
	}
	run(t, few, "create observer words after insert on t for each row begin set @x = "+
		"'insert into parent, update u, delete from parent, replace log'; insert into log values (1); end")
	want(t, few, "show warnings", "")
	explained(few, "words", "writes own.log named in the body")
	explained(root, "words", "writes own.log named in the body")
	run(t, few, "drop observer words")

	run(t, root, "grant select, update on own.parent to few", "grant select on own.log to few")
	const body = "update parent p join log l on p.id = l.id set p.v = 5"
	run(t, few, "create observer o after insert on t for each row "+body)
	want(t, few, "show warnings", "")
	explained(few, "o", "writes own.parent named in the body")
	all := []string{"writes own.parent named in the body",
		"trigger own.parent secrettrigger AFTER UPDATE",
		"wakes own.parent secretobserver AFTER UPDATE",
		"cascade own.parent hid.child by secretfk: ON DELETE CASCADE, ON UPDATE NO ACTION",
		"cycle o o → secretobserver → o"}
	explained(root, "o", all...)
	run(t, root, "insert into log values (1)", "insert into t values (1)", "wait for observers timeout 30")
	want(t, root, "select count(*) from moka.observer_writes where observer_name = 'o'", "2")
	want(t, few, "select count(*) from moka.observer_writes where observer_name = 'o'", "1")
	explained(few, "o", "writes own.parent named in the body")
	run(t, root, "grant trigger on own.parent to few", "grant insert (id) on hid.child to few")
	explained(few, "o", all...)
	run(t, few, "drop observer o", "create observer o after insert on t for each row "+body)
	if got := results(t, few, "show warnings"); !strings.Contains(got, "cycle") {
		t.Errorf("warnings %q", got)
	}
}

// TestOldUnderAnotherName: OLD had what another column of today's name had held, which who may read the
// column of that name was not to see: it was overwritten before it got the name.
func TestOldUnderAnotherName(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create user few",
		"create table log (id int auto_increment primary key, o varchar(20), n varchar(20))",
		"grant insert on own.log to few")
	few := s.open("few", "own", "")
	for _, alter := range []string{
		"rename column pub to x, rename column secret to pub",
		"drop column pub, rename column secret to pub",
		"drop column pub, change secret pub varchar(30)",
		"rename column pub to x, change secret pub char(20) character set latin1", // copies
		"rename column pub to x, rename column secret to pub, drop primary key, add primary key (k)",
	} {
		run(t, root, "create table t (id int primary key, k int, pub varchar(20), secret varchar(20))",
			"grant select (id, pub), trigger on own.t to few", "delete from log")
		run(t, few, "create observer o after insert or update on t for each row with (attempts = 1) "+
			"insert into log (o, n) values (old.pub, new.pub)")
		run(t, root, "insert into t values (1, 1, 'p', 'SECRET')", "wait for observers",
			"alter observer o pause", "update t set secret = 'gone'", "alter table t "+alter,
			"alter observer o resume")
		eventually(t, root, "select parked from moka.observer_backlog", "1")
		want(t, root, "select o, n from log", "NULL p")
		want(t, root, "select error like 'SELECT command denied%''pub'' in table ''t''%' "+
			"from moka.observer_errors", "1")
		run(t, root, "insert into t (id, k, pub) values (2, 2, 'now')")
		eventually(t, root, "select o, n from log where n = 'now'", "NULL now")
		run(t, root, "update t set pub = 'later' where id = 2")
		eventually(t, root, "select o, n from log where n = 'later'", "now later")
		run(t, root, "grant select on own.t to few", "alter observer o retry failed")
		eventually(t, root, "select o, n from log where n = 'gone'", "SECRET gone")
		run(t, root, "drop table t", "revoke all on own.t from few")
	}
}
