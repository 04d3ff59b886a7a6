package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"moka/sqlfront"
)

// TestRightsAreOfOneAccount: an account of 127.0.0.1 or ::1 had all that one of localhost with its name may,
// so root@'127.0.0.1' with USAGE was root. Rights are the account's own, whatever its host looks like.
func TestRightsAreOfOneAccount(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	s := newDatabase(t).serve(func(o *sqlfront.Options) { o.Socket = socket })
	root := s.conn("")
	run(t, root, "create database hid", "create database own",
		"create table hid.t (id int primary key, v int)",
		"insert into hid.t values (1, 7)", "create table own.a (id int primary key)",
		"create user root@'127.0.0.1' identified by 'x'", "create user root@'%' identified by 'y'",
		"create user u@localhost identified by 'l'", "grant all on *.* to u@localhost with grant option",
		"create user u@'127.0.0.%' identified by 'p'", "create user u@'%' identified by 'a'",
		"grant select on own.* to u@'%'", "create user u@'127.0.0.1' identified by 'x'")
	refused := script{
		{"select v from hid.t", "error 1142"},
		{"select v from hid.t", "error 1142"}, // by what is kept of the first
		{"select * from own.a", "error 1142"},
		{"insert into own.a values (1)", "error 1142"},
		{"create table own.b (id int)", "error 1142"},
		{"use own", "error 1044"},
		{"create user pwn", "error 1227"},
		{"grant select on hid.* to u@'127.0.0.1'", "error 1044"},
		{"alter user u@localhost identified by 'z'", "error 1227"},
		{"set password for u@localhost = 'z'", "error 1227"},
		{"set global max_connections = 5", "error 1227"},
		{"show databases", "information_schema"},
		{"select count(*) from mysql.user", "error 1142"},
		{"select distinct grantee from information_schema.user_privileges", "'%s'@'127.0.0.1'"},
		{"show grants", "GRANT USAGE ON *.* TO `%s`@`127.0.0.1`"},
		{"select current_user()", "%s@127.0.0.1"},
	}
	for _, user := range []string{"root", "u"} {
		mine := make(script, len(refused))
		for i, x := range refused {
			mine[i] = x
			mine[i].want = strings.ReplaceAll(x.want, "%s", user)
		}
		mine.run(t, s.open(user+":x", "", "")) // over TCP from 127.0.0.1: the address comes before the name
	}
	over, err := held(t, "u:l@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	script{{"select current_user()", "u@localhost"}, {"select v from hid.t", "7"}}.run(t, over)
	if _, err := held(t, "u:x@unix("+socket+")/"); err == nil || number(err) != "error 1045" {
		t.Errorf("u@'127.0.0.1' over the socket: %v", err)
	}
	run(t, root, "drop user u@'127.0.0.1'")
	wantLogin(t, s, "u:x", "error 1045")
	wantLogin(t, s, "u:l", "")
	run(t, root, "drop user u@localhost")
	script{
		{"select current_user()", "u@127.0.0.%"},
		{"select * from own.a", "error 1142"},
	}.run(t, s.open("u:p", "", ""))
	run(t, root, "drop user u@'127.0.0.%'")
	script{{"select current_user()", "u@%"}, {"select * from own.a", ""}}.run(t, s.open("u:a", "", ""))
}

// held is a connection, which stays the same.
func held(t *testing.T, dsn string) (runner, error) {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	c, err := pool.Conn(context.Background())
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// TestDefinersAreOneAccount: what runs as its definer has the rights of the account of exactly that name,
// not those of who is called so on another host.
func TestDefinersAreOneAccount(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database hid", "create database own", "use own",
		"create table hid.t (id int primary key, v int)",
		"insert into hid.t values (1, 7)", "create user u@localhost", "grant all on *.* to u@localhost",
		"create user reader", "grant all on own.* to reader")
	reader := s.open("reader", "own", "")
	for i, host := range []string{"127.0.0.1", "::1", "%", "LOCALHOST"} {
		n, may := fmt.Sprint(i), host == "LOCALHOST"
		account := "u@'" + host + "'"
		if !may {
			run(t, root, "create user "+account, "grant trigger, select, insert on own.* to "+account)
		}
		definer := "definer = " + account + " "
		for _, table := range []string{"a", "b"} {
			run(t, root, "create table "+table+n+" (id int primary key)")
		}
		run(t, root, "create table log"+n+" (id int primary key, v int)",
			"create "+definer+"view v"+n+" as select v from hid.t",
			"create "+definer+"function f"+n+"() returns int return (select max(v) from hid.t)",
			"create "+definer+"procedure p"+n+"() select v from hid.t",
			"create "+definer+"procedure d"+n+"() begin "+
				"set @q = 'select v from hid.t'; prepare x from @q; execute x; end",
			"create "+definer+"procedure w"+n+"() select current_user()",
			"create "+definer+"trigger a"+n+" after insert on a"+n+" for each row "+
				"insert into log"+n+" select new.id, v from hid.t",
			"create "+definer+"trigger b"+n+" after insert on b"+n+" for each row "+
				"insert into hid.t values (new.id, 1)")
		answer := func(denied, allowed string) string {
			if may {
				return allowed
			}
			return denied
		}
		as := answer(strings.Trim(account, "'"), "u@localhost")
		as = strings.ReplaceAll(as, "'", "")
		for range 2 { // and by what is kept of the first
			script{
				{"select v from v" + n, answer("error 1356", "7")},
				{"select f" + n + "()", answer("error 1142", "7")},
				{"call p" + n + "()", answer("error 1142", "7")},
				{"call d" + n + "()", answer("error 1142", "7")},
				{"call w" + n + "()", as},
				{"insert into a" + n + " values (1)", answer("error 1142", "")},
				{"insert into b" + n + " values (100)", answer("error 1142", "")},
				{"delete from a" + n, ""},
				{"delete from b" + n, ""},
				{"delete from log" + n, ""},
			}.run(t, reader)
			run(t, root, "delete from hid.t where id = 100")
		}
		if may {
			continue
		}
		if host == "127.0.0.1" { // the one to which a client of this test can log in
			run(t, root, "create table c (id int primary key)", "grant select on *.* to "+account)
			run(t, s.open("u", "own", ""), "create observer c after insert on c for each row "+
				"with (attempts = 1) insert into log0 select new.id, v from hid.t where id = 1")
			run(t, root, "revoke select on *.* from "+account)
			run(t, reader, "insert into c values (5)")
			eventually(t, root, "select parked from moka.observer_backlog", "1")
			got := results(t, root, "select error from moka.observer_errors")
			if !strings.Contains(got, "denied") {
				t.Errorf("the observer of %s: %s", account, got)
			}
		}
		run(t, root, "drop user "+account)
		script{
			{"select v from v" + n, "error 1449"},
			{"select f" + n + "()", "error 1449"},
			{"call p" + n + "()", "error 1449"},
			{"insert into a" + n + " values (1)", "error 1449"},
		}.run(t, reader)
	}
}

// TestSessionsOfDroppedAccounts: the open session of an account that was dropped, or has another name now,
// had the rights of whoever else is called so, of the anonymous account, and of one that was made by the name
// since. It has none.
func TestSessionsOfDroppedAccounts(t *testing.T) {
	d := newDatabase(t)
	s, other := d.serve(), d.serve()
	root, there := s.conn(""), other.conn("")
	run(t, root, "create database hid", "create table hid.t (id int primary key, v int)",
		"insert into hid.t values (1, 7)", "create user ''@'%'", "grant all on *.* to ''@'%'",
		"create user u@'%' identified by 'y'", "grant all on *.* to u@'%'",
		"create role r", "grant select on hid.* to r")
	for _, how := range []string{"drop user u@localhost", "rename user u@localhost to renamed@localhost",
		"drop user u@localhost; create user u@localhost; grant all on *.* to u@localhost with grant option",
		"drop user u@localhost; create role u@localhost; grant all on *.* to u@localhost",
		"drop user u@localhost, u@'%'"} {
		run(t, root, "create user if not exists u@localhost identified by 'x'", "grant r to u@localhost")
		eventually(t, there,
			"select count(*) from mysql.role_edges where from_user = 'r' and to_user = 'u'", "1")
		hear := func(s *server) runner {
			t.Helper()
			c, err := held(t, "u:x@tcp("+s.Addr().String()+")/")
			if err != nil {
				t.Fatal(err)
			}
			run(t, c, "set role r")
			script{
				{"select current_user()", "u@localhost"},
				{"select v from hid.t", "7"},
				{"insert into hid.t values (2, 2)", "error 1142"},
			}.run(t, c)
			return c
		}
		idle, within, elsewhere := hear(s), hear(s), hear(other)
		run(t, within, "begin", "select v from hid.t")
		held, err := idle.(*sql.Conn).PrepareContext(context.Background(), "select v from hid.t where id = ?")
		if err != nil {
			t.Fatal(err)
		}
		run(t, root, strings.Split(how, "; ")...)
		var v string
		if err := held.QueryRow(1).Scan(&v); err == nil {
			t.Errorf("%s: a statement that was prepared before reads %s", how, v)
		}
		for i, c := range []runner{idle, within, elsewhere} {
			for _, q := range []string{"select v from hid.t", "select v from hid.t",
				"insert into hid.t values (2, 2)", "create table hid.z (id int)",
				"select user from mysql.user", "create user pwn", "use hid", "show databases",
				"show processlist", "set global max_connections = 7"} {
				if got := results(t, c, q); got != "error 1045" && got != "error 1142" {
					t.Errorf("%s, session %d: %s: %s", how, i, q, got)
				}
			}
		}
		if got := results(t, root, "select count(*) from hid.t"); got != "1" {
			t.Errorf("%s: %s rows", how, got)
		}
		run(t, root, "drop user if exists renamed@localhost", "drop user if exists u@localhost")
	}
}

// TestPatternsHaveNoCase: a pattern with capital letters matched nothing, as names were made small for it.
func TestPatternsHaveNoCase(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database My_Db1", "create database myxdb1", "create table My_Db1.t (id int)",
		"create table myxdb1.t (id int)", "insert into my_db1.t values (1)", "create user u@localhost")
	for _, pattern := range []string{`My\_db%`, `my\_DB_`, `MY\_%`} {
		run(t, root, "grant select on `"+pattern+"`.* to u@localhost")
		c := s.open("u", "", "")
		script{
			{"select id from my_db1.t", "1"},
			{"select id from MY_DB1.t", "1"},
			{"select id from myxdb1.t", "error 1142"},
			{"delete from My_Db1.t", "error 1142"},
			{"show databases like 'My%'", "My_Db1"},
		}.run(t, c)
		run(t, root, "revoke select on `"+strings.ToUpper(pattern)+"`.* from u@localhost")
		script{{"select id from My_Db1.t", "error 1142"}}.run(t, c)
	}
}

// TestOperatorWithoutRoot: the page of a server saw nothing of what the server does once root@localhost had
// been dropped.
func TestOperatorWithoutRoot(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key)",
		"create table l (id int primary key)", "create user few@localhost", "create user adm@localhost",
		"grant all on *.* to adm@localhost with grant option",
		"create observer o after insert on t for each row insert into l values (new.id)")
	for _, who := range []string{"", "drop user root@localhost", "create user root@'%'",
		"create user ''@'%'"} {
		if who != "" {
			run(t, s.open("adm", "", ""), who)
		}
		r, err := s.View(context.Background(), "observers", 10)
		if err != nil || len(r.Rows) != 1 {
			t.Errorf("%s: the operator sees the observers %v, %v", who, r.Rows, err)
		}
		r, err = s.Operate(context.Background(), "d", "show observers")
		if err != nil || len(r.Rows) != 1 {
			t.Errorf("%s: SHOW OBSERVERS of the operator: %v, %v", who, r.Rows, err)
		}
		if _, err := s.Operate(context.Background(), "d", "alter observer o disable"); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
}
