package sqlfront_test

import "testing"

// TestIncrementalViewRights: its creator needs the rights for what the query reads, column by column, then
// and later. Who may read the view may wait for it, see how far behind it is, and check it as far as that
// tells him nothing of its tables.
func TestIncrementalViewRights(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own",
		"create table a (id int primary key, g varchar(10), n int, secret int)",
		"insert into a values (1, 'x', 1, 7), (2, 'x', 2, 8)", "create user maker", "create user reader",
		"create user other", "grant create view on own.* to maker",
		"grant select (id, g, n) on own.a to maker", "grant insert on own.a to other")
	const create = "create incremental view v as select g, count(*) c, sum(n) n from a group by g"
	maker := s.open("maker", "own", "")
	wantError(t, maker, create, 1142) // TRIGGER
	run(t, root, "grant trigger on own.a to maker")
	wantError(t, maker, "create incremental view v as select g, sum(secret) n from a group by g", 1143)
	wantError(t, maker, "create incremental view v as select g, count(*) n from a where secret > 7 "+
		"group by g", 1143)
	run(t, maker, create)
	run(t, root, "wait for observers v timeout 30", "grant select on own.v to reader")

	reader, other := s.open("reader", "own", ""), s.open("other", "own", "")
	run(t, reader, "wait for observers v timeout 30")
	wantError(t, other, "wait for observers v timeout 30", 1142)
	want(t, reader, "select g, c, n from v", "x 2 3")
	wantError(t, reader, "select count(*) from `v$contributions`", 1142)
	const state = "select table_schema, table_name, state, waiting, parked from " +
		"information_schema.incremental_views"
	want(t, reader, state, "own v current 0 0")
	want(t, other, state, "")
	const alone = "own.v check note The view was compared with the contributions of rows alone: to compare " +
		"it with its query takes SELECT on its tables; own.v check status OK"
	want(t, reader, "check incremental view v", alone)
	want(t, root, "check incremental view v", "own.v check status OK")
	wantError(t, other, "check incremental view v", 1142)

	run(t, root, "alter observer v pause", "insert into a values (3, 'x', 3, 9)")
	want(t, reader, state, "own v paused 1 0")
	run(t, root, "revoke select (n) on own.a from maker", "alter observer v resume")
	eventually(t, root, "select count(*) from moka.observer_errors where error like '%1143%'", "1")
	want(t, reader, "select g, c, n from v", "x 2 3")
	run(t, root, "grant select (n) on own.a to maker", "wait for observers v timeout 60")
	want(t, reader, "select g, c, n from v", "x 3 6")
}

// TestIncrementalViewHasNoCopies: CREATE TABLE … LIKE of an incremental view made a table that said that it
// was kept, by the observers of that one. Who might only read the view dropped them with DROP INCREMENTAL
// VIEW of his copy, in a database of his own, and until then its owner could not drop his table.
func TestIncrementalViewHasNoCopies(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create database his", "use own",
		"create table a (id int primary key, g int)", "insert into a values (1, 1), (2, 1)",
		"create incremental view v as select g, count(*) c from a group by g",
		"wait for observers v timeout 30", "create user reader", "grant select on own.v to reader",
		"grant all on his.* to reader")
	script{
		{"create table w like own.v", "error 1347"}, {"create temporary table w like own.v", "error 1347"},
		{"create table if not exists w like own.v", "error 1347"},
		{"drop incremental view w", "error 1146"},
		{"create table w as select * from own.v", ""}, {"insert into w values (2, 3)", ""},
		{"select * from w order by g", "1 2;2 3"}, {"drop table w", ""},
	}.run(t, s.open("reader", "his", ""))
	script{
		{"create table w like `v$contributions`", "error 1347"},
		{"insert into a values (3, 1)", ""}, {"wait for observers v timeout 30", ""},
		{"select * from v", "1 3"}, {"check incremental view v", "own.v check status OK"},
		{"drop incremental view v", ""}, {"drop table a", ""},
	}.run(t, root)
}

// TestPastOfObservers: what observers and incremental views of a database were is nobody's business who has
// all on one that has its name now, also under moka_snapshot.
func TestPastOfObservers(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "set time_zone = '+00:00'", "create database gone", "use gone",
		"create table a (id int primary key, g int)",
		"create observer o after insert on a for each row set @x = 'told'",
		"create incremental view v as select g, count(*) c from a group by g",
		"wait for observers timeout 30")
	before := moment(t)
	run(t, root, "drop database gone", "create database gone", "create user u", "grant all on gone.* to u")
	c, err := s.open("u", "gone", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	script{
		{"set time_zone = '+00:00'", ""}, {"set moka_snapshot = '" + before + "'", ""},
		{"show observers", ""}, {"show create observer o", "error 1142"},
		{"show create observer v", "error 1142"}, {"show create incremental view v", "error 1142"},
		{"check incremental view v", "error 1146"}, {"select * from v", "error 1142"},
		{"select table_name from information_schema.incremental_views", ""},
		{"select observer_name from information_schema.observers", ""},
		{"set moka_snapshot = ''", ""}, {"show observers", ""},
	}.run(t, c)
}

// TestBackgroundHasNoTemporaryTables: observers and incremental views are of the tables that there are for
// all. With a temporary table of a name their declaration ended the connection, and the rights of a view's
// query were asked of the temporary table. A name that is taken is 1050; it was 1105.
func TestBackgroundHasNoTemporaryTables(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key, g varchar(9))",
		"create table log (id int)", "insert into a values (1, 'x')", "create view w as select 1",
		"create user u",
		"grant create view, trigger, create temporary tables, drop on own.* to u",
		"grant insert on own.log to u")
	c, err := s.open("u", "own", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	const view = "create incremental view v as select g, count(*) c from a group by g"
	run(t, c, "create temporary table a (id int primary key, g datetime)",
		"create temporary table log (id datetime)", "create temporary table mine (id int)")
	script{
		{view, "error 1142"},
		{"create observer o after insert on a for each row insert into mine values (1)", "error 1142"},
		{"create observer o after insert on a for each row insert into log values (7)", ""},
		{"select count(*) from a", "0"}, {"insert into log values ('2026-01-02')", ""},
	}.run(t, c)
	run(t, root, "grant select on own.* to u")
	script{
		{view, ""}, {view, "error 1050"}, {"wait for observers v timeout 30", ""},
		{"select * from v", "x 1"}, {"select count(*) from a", "0"},
		{"create incremental view w as select g, count(*) c from a group by g", "error 1050"},
		{"create incremental view if not exists w as select g, count(*) c from a group by g", ""},
	}.run(t, c)
	run(t, root, "insert into a values (2, 'x')")
	eventually(t, root, "select id from log", "7")
	eventually(t, root, "select c from v", "2")
}

// TestObserversOfViewsAreTheViews: TRIGGER on one table of an incremental view showed its text, with the
// other tables that it names and the constants of its condition, and stopped it: by PAUSE, or a timeout.
func TestObserversOfViewsAreTheViews(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key, h int, key (h))",
		"create table hush (id int primary key, g varchar(10))", "create user few",
		"grant insert, trigger on own.a to few",
		"create incremental view v as select g, count(*) c from a join hush on hush.id = a.h "+
			"where g <> 'LITERAL' group by g", "wait for observers v timeout 30")
	few := s.open("few", "own", "")
	script{
		{"show observers", ""}, {"show create observer v", "error 1142"},
		{"alter observer v pause", "error 1142"}, {"alter observer v with (timeout_ms = 1)", "error 1142"},
		{"replay observer v", "error 1142"}, {"wait for observers v timeout 1", "error 1142"},
		{"drop observer v", "error 1142"}, {"create observer o after insert on a for each row set @x = 1", ""},
		{"alter observer o pause", ""}, {"drop observer o", ""},
	}.run(t, few)
	run(t, root, "grant select on own.v to few")
	want(t, few, "select count(*) from information_schema.incremental_views", "1")
	if got := results(t, few, "show create observer v"); got == "error 1142" {
		t.Errorf("who may read the view, and has TRIGGER: %s", got)
	}
	wantError(t, few, "alter observer v pause", 1142)
	run(t, root, "grant drop on own.v to few")
	run(t, few, "alter observer v pause", "alter observer v resume")
}
