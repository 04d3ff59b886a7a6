package sqlfront_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"moka/kv/kvtest"
	"moka/txn"
)

// moment returns a time between what was committed before the call and what will be after it, as SQL writes
// it.
func moment(t *testing.T) string {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	at := began
	for ; at.UnixMilli() < began.UnixMilli()+2; at = <-tick.C {
	}
	for now := at; now.UnixMilli() <= at.UnixMilli(); now = <-tick.C {
	}
	return at.UTC().Format("2006-01-02 15:04:05.000")
}

// TestAsOf: a table is read as it was, in the shape that it had, beside the present.
func TestAsOf(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	c := s.in("a")
	run(t, c, "set time_zone = '+00:00'", "create table u (id int primary key, n int, key (n))", "insert into u values (1, 1), (2, 2), (3, 3)")
	before := moment(t)
	run(t, c, "update u set n = n + 10", "delete from u where id = 3", "insert into u values (4, 4)")
	then := " as of timestamp '" + before + "'"
	want(t, c, "select * from u"+then+" order by id", "1 1; 2 2; 3 3")
	want(t, c, "select * from u"+then+" where id = 2", "2 2")
	want(t, c, "select id from u"+then+" where n = 3", "3")
	want(t, c, "select id from u"+then+" where n between 2 and 12 order by n desc", "3; 2")
	want(t, c, "select count(*), sum(n) from u"+then, "3 6")
	want(t, c, "select now.n, past.n from u now join u"+then+" as past on now.id = past.id order by now.id", "11 1; 12 2")
	want(t, c, "select id from u where id not in (select id from u"+then+")", "4")
	want(t, c, "select * from u order by id", "1 11; 2 12; 4 4")

	t.Run("time zone", func(t *testing.T) {
		at, err := time.Parse("2006-01-02 15:04:05.000", before)
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, "set time_zone = '+05:30'")
		want(t, c, "select sum(n) from u as of timestamp '"+at.Add(330*time.Minute).Format("2006-01-02 15:04:05.000")+"'", "6")
		run(t, c, "set time_zone = '+00:00'")
	})
	t.Run("expressions", func(t *testing.T) {
		run(t, c, "set @then = '"+before+"'")
		for _, e := range []string{"'" + before + "'", "timestamp '" + before + "'", "timestamp('" + before + "')", "@then", "cast('" + before + "' as datetime(6))"} {
			want(t, c, "select sum(n) from u as of "+e, "6")
		}
		want(t, c, "select sum(n) from u as of ?", "6", before)
		// In the midst of this second, or before there was a database; not now.
		if _, err := c.ExecContext(t.Context(), "select * from u as of timestamp now() - interval 1 hour"); errorNumber(err) == 0 || errorNumber(err) == 1064 {
			t.Errorf("an hour ago: %v", err)
		}
	})
	t.Run("in a transaction", func(t *testing.T) {
		run(t, c, "begin")
		want(t, c, "select count(*) from u", "3")
		run(t, c, "insert into u values (5, 5)")
		want(t, c, "select count(*) from u"+then, "3")
		want(t, c, "select count(*) from u", "4")
		run(t, c, "insert into u select id + 100, n from u"+then) // what was deleted comes back
		want(t, c, "select count(*) from u", "7")
		run(t, c, "rollback")
	})
	t.Run("prepared", func(t *testing.T) {
		st, err := c.PrepareContext(t.Context(), "select sum(n) from u as of timestamp '"+before+"' where id > ?")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for range 3 {
			var n int
			if err := st.QueryRowContext(t.Context(), 1).Scan(&n); err != nil || n != 5 {
				t.Errorf("%d, %v", n, err)
			}
		}
	})
	t.Run("shape", func(t *testing.T) {
		run(t, c, "alter table u drop column n", "alter table u add column m varchar(10) default 'new'")
		want(t, c, "select * from u"+then+" where id < 3 order by id", "1 1; 2 2")
		want(t, c, "select id from u"+then+" where n = 2", "2")
		want(t, c, "select id, m from u order by id limit 1", "1 new")
		run(t, c, "drop table u", "create table u (other int primary key)")
		want(t, c, "select * from u"+then+" order by id", "1 1; 2 2; 3 3")
		want(t, c, "select count(*) from u", "0")
		s.fails("a", 1146, "select * from nosuch"+then)
	})
	t.Run("refused", func(t *testing.T) {
		for q, code := range map[string]uint16{
			"select * from t" + then + " for update":                1582,
			"select * from t" + then + " for share":                 1582,
			"update t" + then + " set v = 1":                        1288,
			"delete from t" + then:                                  1064,
			"select * from t as of timestamp 'yesterday'":           1525,
			"select * from t as of timestamp '2999-01-01 00:00:00'": 1525,
		} {
			if _, err := c.ExecContext(t.Context(), q); errorNumber(err) != code {
				t.Errorf("%s: %v, want %d", q, err, code)
			}
		}
		run(t, c, "create temporary table tmp (id int)")
		s.fails("a", 1235, "select * from tmp"+then)
	})
}

// TestSnapshotVariable: moka_snapshot moves whole transactions into the past, where nothing can be written.
func TestSnapshotVariable(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	c := s.in("a")
	run(t, c, "set time_zone = '+00:00'")
	want(t, c, "select v from t where id = 1", "10") // planned
	before := moment(t)
	run(t, c, "update t set v = 99 where id = 1", "alter table t add column added int")
	want(t, c, "select v from t where id = 1", "99")
	run(t, c, "set moka_snapshot = '"+before+"'")
	for range 3 {
		want(t, c, "select v from t where id = 1", "10")
		want(t, c, "select * from t where id = 1", "1 10 1 1")
	}
	s.fails("a", 1792, "update t set v = 1 where id = 1")
	s.fails("a", 1792, "insert into t (id) values (77)")
	run(t, c, "begin")
	want(t, c, "select sum(v) from t", "60")
	run(t, c, "commit", "set moka_snapshot = ''")
	want(t, c, "select v, added from t where id = 1", "99 NULL")
	run(t, c, "update t set v = 5 where id = 1")
	s.fails("a", 1231, "set moka_snapshot = 'lately'")
	want(t, c, "select v from t where id = 1", "5")
}

// TestTooOld: what garbage collection has passed is an error with a number of its own, in the past and in a
// transaction that was left open too long, and the session goes on.
func TestTooOld(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	c := s.in("a")
	run(t, c, "set time_zone = '+00:00'")
	before := moment(t)
	run(t, s.in("old"), "begin")
	want(t, s.in("old"), "select v from t where id = 1", "10")
	run(t, s.in("writer"), "begin")
	want(t, s.in("writer"), "select v from t where id = 2", "20")
	run(t, s.in("writer"), "insert into t (id) values (50)")
	run(t, c, "update t set v = 11 where id = 1")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C { // what servers read in the background ends by itself
		u, err := s.client.Snapshots(context.Background())
		if err == nil && u.Open == 2 && strings.HasPrefix(u.Note, "connection") {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	now, err := s.client.Begin(txn.TxnOptions{}).StartTS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.CollectGarbage(t.Context(), now, txn.GarbageOptions{}); err != nil {
		t.Fatal(err)
	}
	s.fails("a", 9006, "select v from t as of timestamp '"+before+"'")
	run(t, c, "set moka_snapshot = '"+before+"'")
	s.fails("a", 9006, "select v from t")
	s.fails("a", 9006, "select v from t where id = 1")
	run(t, c, "set moka_snapshot = ''")
	want(t, c, "select v from t where id = 1", "11")
	s.fails("old", 9006, "select v from t where id = 1")
	s.fails("old", 9006, "select count(*) from t")
	run(t, s.in("old"), "rollback")
	want(t, s.in("old"), "select v from t where id = 1", "11")
	s.fails("writer", 9006, "commit")
	want(t, s.in("writer"), "select count(*) from t where id = 50", "0")
}

// TestPastOfOthers: rights are on names, but for what has them. A grant on a table shows the past of that
// table, and not of another one that had its name before, in whichever way the past is asked for.
func TestPastOfOthers(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	root := s.in("root")
	run(t, root, "set time_zone = '+00:00'", "create table kept (id int primary key)",
		"insert into kept values (7)", "create database e", "create table e.t (id int primary key)",
		"insert into e.t values (8)")
	before := moment(t)
	run(t, root, "truncate kept", "alter table kept add n int first, drop primary key, add primary key (n)",
		"drop table t", "create table t (id int primary key)", "create table gone (id int)",
		"drop database e", "create database e", "create table e.t (id int primary key)",
		"create user byTable", "grant select, drop on d.t to byTable", "grant select on d.kept to byTable",
		"create user byDatabase", "grant select on d.* to byDatabase", "grant all on e.* to byDatabase",
		"create user byServer", "grant select on *.* to byServer")
	as := func(user string) *sql.Conn {
		c, err := s.srv.open(user, "d", "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		run(t, c, "set time_zone = '+00:00'")
		return c
	}
	table, database, server := as("byTable"), as("byDatabase"), as("byServer")
	then := " as of timestamp '" + before + "'"
	for _, c := range []struct {
		who         runner
		query, want string
	}{
		{table, "select * from t", ""},
		{table, "select id from t" + then, "error 1142"},
		{table, "select id from t" + then + " where id = 1", "error 1142"},
		{table, "select max(id) from t" + then + " as was", "error 1142"},
		{table, "select (select max(id) from t" + then + ")", "error 1142"},
		{table, "select id from kept" + then, "7"},
		{database, "select id from t" + then + " order by id", "1;2;3"},
		{database, "select id from e.t" + then, "error 1142"},
		{server, "select id from t" + then + " order by id", "1;2;3"},
		{database, "show tables from e as of timestamp '" + before + "'", ""},
		{server, "show tables from e as of timestamp '" + before + "'", "t"},
		{server, "select id from e.t" + then, "8"},
		{root, "select id from e.t" + then, "8"},
		{table, "set moka_snapshot = '" + before + "'", ""},
		{table, "select id from t", "error 1142"},
		{table, "select id from kept", "7"},
		{table, "select table_name, column_name from information_schema.columns " +
			"where table_schema = 'd'", "kept id"},
		{table, "set moka_snapshot = ''", ""},
		{database, "set moka_snapshot = '" + before + "'", ""},
		{database, "select id from d.t order by id", "1;2;3"},
		{database, "select id from e.t", "error 1142"},
		// Whoever may drop a table sees no more by doing so.
		{table, "drop table t", ""},
		{table, "select id from t" + then, "error 1142"},
		{root, "rename table kept to t", ""},
		{table, "select id from t" + then, "error 1142"},
		{server, "select id from t" + then + " order by id", "1;2;3"},
	} {
		if got := results(t, c.who, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// TestPastOfDefiners: a right on a view or a routine is for what has the name today, since what it lends is
// its definer's. Under moka_snapshot who had EXECUTE on a procedure ran what had its name before, or in a
// database of the same name that was dropped, as its definer; what was said in that database he read, too.
func TestPastOfDefiners(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	root := s.in("root")
	const created = "create view v as select v from d.t; create procedure p() select v from d.t;" +
		"create function f() returns text reads sql data return (select group_concat(v) from d.t);" +
		"create view same as select 7 x; create procedure q() select 7;" +
		"create table c (id int primary key, n int comment 'c') comment 'told';" +
		"create trigger tr before insert on c for each row set new.n = 1;" +
		"create event ev on schedule every 1 day disable do set @a = 1;"
	all := func(database string) {
		run(t, root, "use "+database)
		for _, stmt := range strings.Split(strings.TrimSuffix(created, ";"), ";") {
			run(t, root, stmt)
		}
		run(t, root, "use d")
	}
	run(t, root, "set time_zone = '+00:00'", "create database e", "create database gone")
	all("e")
	all("gone")
	before := moment(t)
	run(t, root, "drop view e.v", "drop procedure e.p", "drop function e.f", "create view e.v as select 1 v",
		"create procedure e.p() select 1", "create function e.f() returns text deterministic return 'new'",
		"drop database gone", "create database gone", "create user u", "grant all on gone.* to u",
		"grant select on e.v to u", "grant select on e.same to u", "grant execute on procedure e.p to u",
		"grant execute on procedure e.q to u", "grant execute on function e.f to u",
		"create user byServer", "grant select, execute on *.* to byServer")
	as := func(user string) runner {
		c, err := s.srv.open(user, "gone", "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		run(t, c, "set time_zone = '+00:00'")
		return c
	}
	u, server := as("u"), as("byServer")
	script{
		{"select * from e.v", "1"}, {"call e.p()", "1"}, {"select e.f()", "new"},
		{"set moka_snapshot = '" + before + "'", ""},
		{"select * from e.v", "error 1142"}, {"call e.p()", "error 1370"}, {"select e.f()", "error 1370"},
		{"select * from e.v", "error 1142"}, {"call e.p()", "error 1370"}, {"select e.f()", "error 1370"},
		{"select * from e.same", "7"}, {"call e.q()", "7"},
		{"show create view e.v", "error 1142"},
		{"select * from v", "error 1142"}, {"call p()", "error 1370"}, {"select f()", "error 1370"},
		{"show tables", ""}, {"show triggers", ""}, {"show events", ""},
		{"select table_name from information_schema.tables where table_schema = 'gone'", ""},
		{"select trigger_name from information_schema.triggers where trigger_schema = 'gone'", ""},
		{"select event_name from information_schema.events where event_schema = 'gone'", ""},
		{"select table_name from information_schema.tables where table_schema = 'e'", "same;v"},
		{"select table_name from information_schema.views where table_schema = 'gone'", ""},
		{"select routine_name from information_schema.routines where routine_schema = 'gone'", ""},
		{"show procedure status where db = 'gone'", ""}, {"show function status where db = 'gone'", ""},
		{"show create procedure p", "error 1305"}, {"show create function f", "error 1305"},
		{"set moka_snapshot = ''", ""}, {"select * from e.v", "1"}, {"call e.p()", "1"},
	}.run(t, u)
	script{
		{"set moka_snapshot = '" + before + "'", ""}, {"select count(*) from e.v", "3"},
		{"select e.f()", "10,20,30"}, {"select f()", "10,20,30"}, {"select count(*) from v", "3"},
		{"show triggers like 'x'", ""},
	}.run(t, server)
}

// TestPastOfColumns: a right on a column is for what has the name today: it showed another column, that had
// the name before.
func TestPastOfColumns(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	root := s.in("root")
	run(t, root, "set time_zone = '+00:00'",
		"create table k (id int primary key, a varchar(10), b varchar(10))",
		"insert into k values (1, 'hidden', 'open')")
	before := moment(t)
	run(t, root, "alter table k rename column a to h", "alter table k rename column b to a",
		"create user u", "grant select (id, a) on d.k to u",
		"create view w as select id, a from k", "create view ids as select id from k",
		"create view ww as select * from w", "grant select on d.w to u", "grant select on d.ww to u",
		"grant select on d.ids to u")
	c, err := s.srv.open("u", "d", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	then := " as of timestamp '" + before + "'"
	script{
		{"set time_zone = '+00:00'", ""}, {"select id, a from k", "1 open"},
		{"select id from k" + then, "1"}, {"select a from k" + then, "error 1143"},
		{"select id from k" + then + " where a > ''", "error 1143"},
		{"select b from k" + then, "error 1143"},
		{"select now.a, was.id from k now join k" + then + " as was on now.id = was.id", "open 1"},
		{"select * from w", "1 open"}, {"select * from w" + then, "error 1356"},
		{"select id from w" + then, "error 1356"}, {"select * from ww" + then, "error 1356"},
		{"select * from ids" + then, "1"}, {"select id from w" + then + " where a > ''", "error 1356"},
		{"set moka_snapshot = '" + before + "'", ""}, {"select id from k", "1"},
		{"select a from k", "error 1143"}, {"select count(*) from k where a > ''", "error 1143"},
		{"set moka_snapshot = ''", ""}, {"select a from k", "open"},
	}.run(t, c)
}

// TestPastOfWhatHappensOnTables: INSERT and TRIGGER on a table showed the bodies and the definers of triggers
// and observers of another table that had its name before, dropped or renamed since.
func TestPastOfWhatHappensOnTables(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "set time_zone = '+00:00'", "create database e", "use e",
		"create table t (id int primary key)",
		"create trigger oldtr before insert on t for each row set @a = 'SECRET'",
		"create observer oldo after insert on t for each row set @a = 'SECRET'",
		"create table u (id int primary key)", "create table parent (id int primary key)",
		"create trigger utr before insert on u for each row set @a = 'SECRET'",
		"create observer uo after insert on u for each row set @a = 'SECRET'",
		"create table child (id int primary key, constraint secretfk foreign key (id) references parent "+
			"(id))",
		"create table kept (id int primary key)", "create trigger ktr before insert on kept for each row "+
			"set @a = 'kept'",
		"create observer ko after insert on kept for each row set @a = 'kept'",
		"create table src (id int primary key, g int)",
		"create incremental view iv as select g, count(*) as n from src group by g")
	before := moment(t)
	run(t, root, "drop table t", "create table t (id int primary key)", "rename table u to u2",
		"create table u (id int primary key)", "drop table child", "create table child (id int primary key)",
		"drop incremental view iv", "create table iv (id int primary key)", "create user few",
		"grant insert, trigger on e.t to few", "grant insert, trigger on e.u to few",
		"grant insert, trigger on e.kept to few", "grant insert on e.child to few",
		"grant select on e.iv to few", "create user byDatabase", "grant select, trigger on e.* to byDatabase")
	for _, c := range []struct {
		user string
		all  bool
	}{{"few", false}, {"byDatabase", true}} {
		conn, err := s.open(c.user, "e", "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		run(t, conn, "set time_zone = '+00:00'", "set moka_snapshot = '"+before+"'")
		for _, q := range []struct{ query, few, all string }{
			{"select trigger_name from information_schema.triggers order by 1", "ktr", "ktr;oldtr;utr"},
			{"select observer_name from information_schema.observers where observer_name like '%o' order " +
				"by 1",
				"ko", "ko;oldo;uo"},
			{"select action_statement like '%SECRET%' from information_schema.triggers where trigger_name " +
				"= 'utr'", "", "1"},
			{"select constraint_name from information_schema.referential_constraints", "", "secretfk"},
			{"select constraint_name from information_schema.table_constraints where table_name = 'child' " +
				"order by 1", "",
				"PRIMARY;secretfk"},
			{"select column_name from information_schema.columns where table_name = 'child'", "", "id"},
			{"select table_name from information_schema.incremental_views", "", "iv"},
		} {
			want := q.few
			if c.all {
				want = q.all
			}
			if got := results(t, conn, q.query); got != want {
				t.Errorf("%s: %s: %q, want %q", c.user, q.query, got, want)
			}
		}
		for _, q := range []struct{ query, refused string }{
			{"show create trigger oldtr", "error 1227"}, {"show create trigger utr", "error 1227"},
			{"show create observer oldo", "error 1142"}, {"show create observer uo", "error 1142"},
			{"show triggers", ""}, {"show observers", ""},
		} {
			got := results(t, conn, q.query)
			if strings.Contains(got, "SECRET") != c.all || !c.all && q.refused != "" && got != q.refused {
				t.Errorf("%s: %s: %q", c.user, q.query, got)
			}
			if q.refused == "" && !strings.Contains(got, "kept") {
				t.Errorf("%s: %s does not show what is there still: %q", c.user, q.query, got)
			}
		}
	}
}

// TestOpenTransactionsReadNoOthers: a transaction that was open while the schema changed read what had a name
// before with a right that was granted since, on what has the name now.
func TestOpenTransactionsReadNoOthers(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database hid", "create table hid.s (v varchar(20))",
		"insert into hid.s values ('SECRET')",
		"create database e", "use e", "create table mine (id int primary key)", "insert into mine values (1)",
		"create table t (id int primary key, v varchar(20))", "insert into t values (1, 'SECRET')",
		"create table ren (id int primary key, v varchar(20))", "insert into ren values (1, 'SECRET')",
		"create table cols (id int primary key, a varchar(20), b varchar(20))",
		"insert into cols values (1, 'A', 'SECRET')",
		"create table kept (id int primary key)", "insert into kept values (7)",
		"create view v as select * from hid.s", "create procedure p() select v from hid.s",
		"create function f() returns varchar(20) reads sql data return (select v from hid.s)",
		"create trigger tr before insert on t for each row set @a = 'SECRET'",
		"create observer o after insert on t for each row set @a = 'SECRET'",
		"create user few", "grant select, insert on e.mine to few", "grant select on e.kept to few",
		"create user byServer", "grant select, execute on *.* to byServer")
	as := func(user string) *sql.Conn {
		c, err := s.open(user, "e", "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	few, server, other := as("few"), as("byServer"), as("few")
	for range 3 { // by its plan
		want(t, few, "select id from kept where id = 7", "7")
		want(t, server, "select v from t where id = 1", "SECRET")
	}
	for _, c := range []*sql.Conn{few, server} {
		run(t, c, "start transaction with consistent snapshot")
		want(t, c, "select id from kept", "7")
	}
	run(t, root, "drop table t", "create table t (id int primary key, v varchar(20))",
		"insert into t values (1, 'public')",
		"rename table ren to ren2", "create table ren (id int primary key, v varchar(20))",
		"create or replace view v as select 'public' v", "drop procedure p",
		"create procedure p() select 'public'",
		"drop function f", "create function f() returns varchar(20) deterministic return 'public'",
		"alter table cols drop column b", "alter table cols rename column a to b",
		"alter table kept add v int",
		"grant select, trigger on e.t to few", "grant select on e.ren to few", "grant select on e.v to few",
		"grant execute on procedure e.p to few", "grant execute on function e.f to few",
		"grant select (b) on e.cols to few")
	queries := []struct{ query, open, new string }{
		{"select v from t", "error 1142", "public"}, {"select v from t where id = 1", "error 1142", "public"},
		{"select id from mine where exists (select 1 from t where v = 'SECRET')", "error 1142", ""},
		{"insert into mine select id + 10 from t where v = 'SECRET'", "error 1142", ""},
		{"select v from ren", "error 1142", ""}, {"select v from v", "error 1142", "public"},
		{"call p()", "error 1370", "public"}, {"select f()", "error 1370", "public"},
		{"select b from cols", "error 1143", "A"}, {"show create observer o", "error 1142", "error 1360"},
		{"select trigger_name from information_schema.triggers", "", ""},
		{"select id from kept where id = 7", "7", "7"}, {"select id from mine", "1", "1"},
	}
	for _, q := range queries {
		for range 2 {
			if got := results(t, few, q.query); got != q.open {
				t.Errorf("%s: %s, want %s", q.query, got, q.open)
			}
			if got := results(t, other, q.query); got != q.new {
				t.Errorf("%s in another transaction: %s, want %s", q.query, got, q.new)
			}
		}
	}
	script{
		{"select v from t where id = 1", "SECRET"}, {"select v from ren", "SECRET"}, {"select v from v",
			"SECRET"},
		{"select f()", "SECRET"}, {"call p()", "SECRET"}, {"select b from cols", "SECRET"}, {"commit", ""},
		{"select v from t where id = 1", "public"},
	}.run(t, server)
	run(t, few, "insert into mine values (2)", "commit")
	want(t, few, "select v from t", "public")
	want(t, few, "select id from mine", "1; 2")
}
