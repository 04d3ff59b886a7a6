package sqlfront_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/sqlfront"
)

// TestOpenTransactionsFireNewTriggers: a transaction that was open when CREATE TRIGGER said that a guard and
// an audit are there passed both for as long as it lasted (trig-2). The trigger is made on the node of the
// transaction and on another.
func TestOpenTransactionsFireNewTriggers(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table quiet (id int primary key)",
		"create table log (id int auto_increment primary key, what varchar(50))",
		"create table p (id int primary key)",
		"create table t (id int primary key, v int, w int default 0, key (v))",
		"create table c (id int primary key, p int, foreign key (p) references p (id) on delete cascade)",
		"create table a (id int primary key)",
		"create trigger a1 after insert on a for each row insert into t (id, v) values (new.id, 1)",
		"create procedure put(i int) insert into t (id, v) values (i, 1)",
		"create procedure twice(i int) begin call put(i); call put(i + 1); end",
		"create function add1(i int) returns int begin insert into t (id, v) values (i, 1); return i; end")
	mysql.RegisterReaderHandler("newtriggers", func() io.Reader { return strings.NewReader("7\t1\n") })
	defer mysql.DeregisterReaderHandler("newtriggers")
	const load = "load data local infile 'Reader::newtriggers' into table t (id, v)"
	writes := []string{
		"insert into t (id, v) values (7, 1)", "insert into t (id, v) values (7, 1), (8, 1)",
		"insert into t (id, v) select 7, 1", "replace into t (id, v) values (7, 1)",
		"insert into t (id, v) values (7, 1) on duplicate key update v = 2", load, "call put(7)",
		"call twice(7)", "select add1(7)", "insert into a values (7)",
		"insert into t (id, v) values (1, 1) on duplicate key update v = 2",
		"replace into t (id, v) values (1, 1)",
		"update t set v = 2 where id = 1", "update t set v = v + 1", "delete from t where id = 1",
		"delete from t where v >= 0", "update t join p on t.id = p.id set t.v = 5",
	}
	audit := func(event, row string) string {
		return "create trigger after_" + event + " after " + event + " on t for each row " +
			"insert into own.log (what) values (concat('" + event + " ', " + row + ".id))"
	}
	create := []string{audit("insert", "new"), audit("update", "new"), audit("delete", "old")}
	const count = "select count(*) from information_schema.triggers where event_object_table = 't'"
	drop := []string{"drop trigger after_insert", "drop trigger after_update", "drop trigger after_delete"}
	for _, ddl := range []runner{root, d.serve().conn("own")} {
		for _, cache := range []string{"1", "0"} {
			c := s.conn("own")
			run(t, c, "set moka_plan_cache = "+cache)
			for _, w := range writes {
				run(t, root, "delete from t", "delete from a", "delete from p", "insert into p values (1)",
					"insert into t (id, v) values (1, 0)")
				run(t, c, "begin", w, "rollback", "begin", w, "rollback") // there is a plan
				run(t, c, "begin", "select * from quiet")
				run(t, ddl, create...)
				eventually(t, c, count, "3")
				run(t, c, w, "commit")
				if got := text(t, root, "select count(*) from log"); got == "0" {
					t.Errorf("%s passes the new triggers", w)
				}
				// and those that are gone
				run(t, root, "delete from log", "delete from t", "delete from a",
					"insert into t (id, v) values (1, 0)", "delete from log")
				run(t, c, "begin", "select * from quiet")
				run(t, ddl, drop...)
				eventually(t, c, count, "0")
				run(t, c, w, "commit")
				want(t, root, "select count(*) from log", "0")
			}
			// what a key cascades to fires nothing
			run(t, root, "delete from c", "insert into c values (1, 1)")
			run(t, c, "begin", "select * from quiet")
			run(t, ddl, "create trigger gone before delete on c for each row signal sqlstate '45000'")
			eventually(t, c, strings.Replace(count, "'t'", "'c'", 1), "1")
			run(t, c, "delete from p", "commit")
			want(t, root, "select count(*) from c", "0")
			run(t, ddl, "drop trigger gone")
		}
	}
}

// TestWritesBeforeATrigger: what a transaction has written without a trigger that is there when it commits is
// not stored, whether or not its SQL node has heard of it. Those that a trigger has been dropped under
// commit.
func TestWritesBeforeATrigger(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	root := s.conn("")
	run(t, root, "create database own", "use own",
		"create table t (id int auto_increment primary key, v int)",
		"create table log (id int auto_increment primary key, what varchar(50))",
		"insert into t values (1, 0)")
	const guard = "create trigger g before insert on t for each row signal sqlstate '45000'"
	const audit = "create trigger g after insert on t for each row insert into log (what) values (new.v)"
	deaf := d.serve(func(o *sqlfront.Options) { o.FollowUsers = time.Hour })
	for _, node := range []*server{s, deaf} {
		for _, isolation := range []string{"repeatable read", "read committed"} {
			c := node.conn("own")
			commit := func(what string) {
				t.Helper()
				_, err := c.ExecContext(t.Context(), "commit")
				wantErr(t, what, err, 1213, "40001")
			}
			run(t, c, "set session transaction isolation level "+isolation)
			run(t, c, "begin", "insert into t (v) values (5)")
			run(t, root, guard)
			commit("written before the trigger was there")
			run(t, root, "drop trigger g")
			run(t, c, "begin", "insert into t (v) values (5)", "savepoint s",
				"update t set v = 6 where id = 1")
			run(t, root, guard, "drop trigger g")
			run(t, c, "update t set v = 7 where id = 1", "commit")
			want(t, root, "select count(*), max(v) from t", "2 7")
			run(t, root, audit)
			run(t, c, "begin", "insert into t (v) values (8)")
			run(t, root, "drop trigger g")
			run(t, c, "commit")
			want(t, root, "select count(*) from log", "1")
			run(t, root, audit)
			run(t, c, "begin", "insert into t (v) values (8)")
			run(t, root, "drop trigger g",
				"create trigger g after insert on t for each row insert into log (what) values (new.v + 1)")
			commit("another trigger of the same name")
			run(t, root, "drop trigger g", "delete from log", "delete from t where id > 1",
				"update t set v = 0")
		}
	}
	// a transaction that has only read, on a node that hears nothing: its statement does not know the guard
	c := deaf.conn("own")
	run(t, c, "begin", "select * from log")
	run(t, root, guard)
	run(t, c, "insert into t (v) values (5)")
	_, err := c.ExecContext(t.Context(), "commit")
	wantErr(t, "a guard that was not heard of", err, 1213, "40001")
	_, err = c.ExecContext(t.Context(), "insert into t (v) values (5)")
	wantErr(t, "a transaction of its own", err, 1644, "45000")
	run(t, root, "drop trigger g")
}

// TestProceduresHearOfNewTriggers: a procedure may take long, and its body has been compiled and run before.
func TestProceduresHearOfNewTriggers(t *testing.T) {
	s := newDatabase(t).serve()
	root, c := s.conn(""), s.conn("")
	run(t, root, "create database own", "use own",
		"create table t (id int auto_increment primary key, v int)",
		"create table log (id int auto_increment primary key, v int)",
		"create procedure p() begin declare n int; select count(*) into n from log; "+
			"set @l = get_lock('begun', 0); set @l = get_lock('go', 60); insert into t (v) values (5); "+
			"insert into t (v) select 6; set @l = release_all_locks(); end")
	for _, begin := range []string{"begin", "set autocommit = 1"} {
		run(t, c, "use own", "call p()", "call p()")
		run(t, root, "set @l = get_lock('go', 0)")
		called := make(chan error, 1)
		run(t, c, begin)
		go func() {
			_, err := c.ExecContext(t.Context(), "call p()")
			called <- err
		}()
		eventually(t, root, "select is_used_lock('begun') is null", "0")
		run(t, root, "create trigger g after insert on t for each row insert into log (v) values (new.v)",
			"set @l = release_lock('go')")
		err := <-called
		if audited := "5,6"; begin != "begin" { // a transaction by itself, which has to be run again
			wantErr(t, "CALL", err, 1213, "40001")
			want(t, root, "select count(*) from log", "0")
			run(t, c, "call p()")
			want(t, root, "select group_concat(v order by v) from log", audited)
		} else if err != nil {
			t.Fatal(err)
		} else {
			run(t, c, "commit")
			want(t, root, "select group_concat(v order by v) from log", audited)
		}
		run(t, root, "drop trigger g", "delete from log")
	}
}

// TestNewTriggersThatNameNewThings: tables, routines and columns that are newer than the transaction which
// fires the trigger are an error, and what has been done before stays.
func TestNewTriggersThatNameNewThings(t *testing.T) {
	s := newDatabase(t).serve()
	root, c := s.conn(""), s.conn("")
	run(t, root, "create database own", "use own", "create table t (id int primary key)",
		"create table u (id int primary key)", "create table quiet (id int)")
	run(t, c, "use own", "begin", "select * from quiet")
	run(t, root, "create table log (id int)", "create procedure note(i int) insert into log values (i)",
		"alter table u add v int",
		"create trigger a after insert on t for each row insert into log values (new.id)",
		"create trigger b after delete on t for each row call note(old.id)",
		"create trigger c before insert on u for each row set new.v = 1")
	script{
		{"insert into t values (1)", "error 1412"},
		{"insert into u values (1)", "error 1412"},
		{"select * from t", ""},
		{"commit", ""},
		{"insert into t values (1)", ""},
		{"select * from log", "1"},
	}.run(t, c)
}

// TestCreateTriggerTellsOfNoFunctions: a trigger may be created before the functions that it calls, and what
// was refused told which there are in a database that one has no right in.
func TestCreateTriggerTellsOfNoFunctions(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "create function hid.f() returns int deterministic return 1",
		"create procedure hid.p() select 1", "create table hid.t (v int)",
		"create database own", "create table own.t (id int primary key)", "create user few",
		"grant insert, trigger on own.t to few",
		"create user maker", "grant insert, trigger on own.t to maker",
		"grant create routine on hid.* to maker")
	few, maker := s.open("few", "own", ""), s.open("maker", "own", "")
	for _, body := range []string{"set @a = hid.f()", "set @a = hid.nope()", "set @a = nodb.f()",
		"call hid.p()", "call hid.nope()",
		"insert into hid.t values (1)", "insert into hid.nope values (1)",
		"set @a = (select max(v) from hid.nope)"} {
		got := results(t, few, "create trigger x before insert on t for each row "+body)
		if !slices.Contains([]string{"error 1370", "error 1142", "error 1044"}, got) {
			t.Errorf("%s: %s", body, got)
			run(t, root, "drop trigger own.x")
		}
	}
	script{
		{"create trigger x before insert on t for each row set @a = hid.f()", "error 1370"},
		{"create trigger x before insert on t for each row set @a = hid.nope()", ""},
		{"insert into t values (1)", "error 1370"},
	}.run(t, maker)
}

// TestTriggersWarnNobodyElse: what a trigger warned of was shown to who fires it, with values that it reads
// by its definer's rights; and its body was shown what the statement that fires it had warned of.
func TestTriggersWarnNobodyElse(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "create database hid",
		"create table own.t (id int primary key, d date)",
		"create table hid.h (id int primary key, d varchar(20))", "insert into hid.h values (1, 'HIDDEN')",
		"create table own.log (n int, v text)", "create user few", "grant insert on own.t to few",
		"create procedure hid.p() begin update hid.h set id = id where d = 5; select 1 into @x; end",
		"create trigger own.tr after insert on own.t for each row begin "+
			"declare n int; declare v text; declare continue handler for sqlwarning begin end; "+
			"get diagnostics n = number; insert into own.log values (n, null); "+
			"set @w = (select cast(d as date) from hid.h where id = 1); "+
			"update hid.h set id = id where d = 5; "+
			"insert ignore into hid.h values (1, 'DUPLICATE'); call hid.p(); "+
			"signal sqlstate '01000' set message_text = 'HIDDEN'; end")
	few := s.open("few", "own", "")
	few.SetMaxOpenConns(1)
	for range 3 { // by the plan, too
		run(t, root, "delete from own.t", "delete from own.log")
		run(t, few, "insert into t (id) values (1)")
		want(t, few, "show warnings", "")
		want(t, few, "select @@warning_count", "0")
		run(t, few, "set sql_mode = ''", "insert into t values (2, 'secret')")
		got := results(t, few, "show warnings")
		if !strings.HasPrefix(got, "Warning ") || strings.Contains(got, ";") {
			t.Errorf("warnings %q, want that of the INSERT", got)
		}
		run(t, few, "insert into t values (3, 'secret'), (4, 'secret')")
		want(t, few, "select @@warning_count", "2")
		want(t, root, "select sum(n) from own.log", "0")
		run(t, few, "set sql_mode = default")
	}
	run(t, root, "create trigger own.fails after insert on own.t for each row follows tr begin "+
		"set @w = (select cast(d as date) from hid.h where id = 1); "+
		"signal sqlstate '45000' set message_text = 'no'; end")
	if got := results(t, few, "insert into t (id) values (9)"); got != "error 1644" {
		t.Errorf("a trigger that fails: %s", got)
	}
	want(t, few, "show warnings", "Error 1644 no")
}
