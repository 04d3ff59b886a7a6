package sqlfront_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// results prints all results of a statement, separated by bars, and the error that ended them.
func results(t *testing.T, c runner, query string, args ...any) string {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), query, args...)
	if err != nil {
		return number(err)
	}
	defer rows.Close()
	var sets []string
	for more := true; more; more = rows.NextResultSet() {
		lines := lines(t, rows)
		sets = append(sets, strings.Join(lines, ";"))
	}
	if rows.Err() != nil {
		sets = append(sets, number(rows.Err()))
	}
	return strings.Join(sets, "|")
}

func number(err error) string {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return fmt.Sprintf("error %d", my.Number)
	}
	return err.Error()
}

// TestResultsOfProcedures calls procedures in both protocols.
func TestResultsOfProcedures(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, v decimal(6,2), d datetime(3), n time)",
		"insert into t values (1, 1.5, '2024-02-29 10:11:12.345', '10:11:12'), (2, null, null, null)",
		"create procedure several(n int) begin select * from t order by id; select count(*) from t where id < n; update t set v = n; end",
		"create procedure stopped() begin select 1; insert into t (id) values (1); select 2; end",
		"create procedure broken() begin select id, (select id from t) from t; end",
		"create procedure none() begin end",
		"create procedure nested() begin call several(2); select 'last'; end",
		"create procedure wide() begin select a.table_name from information_schema.columns a, information_schema.columns b limit 5000; select 'then'; end")
	const first = "1 1.50 2024-02-29 10:11:12.345 10:11:12;2 NULL NULL NULL"
	for _, q := range []struct {
		query, want string
		args        []any
	}{
		{"call several(2)", first + "|1", nil},
		{"call several(?)", "1 2.00 2024-02-29 10:11:12.345 10:11:12;2 2.00 NULL NULL|2", []any{3}},
		{"call stopped()", "1|error 1062", nil},
		{"call stopped", "1|error 1062", nil},
		{"call broken()", "error 1242", nil},
		{"call none()", "", nil},
		{"call nested()", "1 3.00 2024-02-29 10:11:12.345 10:11:12;2 3.00 NULL NULL|1|last", nil},
	} {
		if got := results(t, c, q.query, q.args...); got != q.want {
			t.Errorf("%s: %s\nwant %s", q.query, got, q.want)
		}
	}
	r, err := c.ExecContext(context.Background(), "call several(9)")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 2 {
		t.Errorf("several(9) has changed %d rows, want 2", n)
	}
	if got := results(t, c, "call wide()"); strings.Count(got, ";") != 4999 || !strings.HasSuffix(got, "|then") {
		t.Errorf("wide(): %d rows, ending in %s", strings.Count(got, ";")+1, got[max(0, len(got)-20):])
	}
	run(t, c, "create procedure named(x int) begin get diagnostics @n = number; if x > 0 then select count(*), 'text', x, x + 1, max(v)  as m, (select 1 from t where id = 1) from t; end if; end")
	rows, err := c.QueryContext(context.Background(), "call named(1)")
	if err != nil {
		t.Fatal(err)
	}
	names, err := rows.Columns()
	if got := strings.Join(names, "|"); err != nil || got != "count(*)|text|x|x + 1|m|(select 1 from t where id = 1)" {
		t.Errorf("names of columns: %s, %v", got, err)
	}
	rows.Close()
	// A prepared CALL, several times.
	st, err := c.PrepareContext(context.Background(), "call several(?)")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for range 3 {
		rows, err := st.QueryContext(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		n := 1
		for rows.NextResultSet() {
			n++
		}
		if err := rows.Close(); err != nil || n < 2 {
			t.Errorf("prepared: %d results, %v", n, err)
		}
	}
	// Text and statements behind it.
	multi := s.open("root", "d", "?multiStatements=true")
	if got := results(t, multi, "select 'a'; call nested(); select 'z'"); !strings.HasPrefix(got, "a|") || !strings.HasSuffix(got, "|last|z") {
		t.Errorf("among others: %s", got)
	}
}

// TestRoutinesAreShared: what one server creates, another runs; as its definer, in its own database, under
// its own SQL mode.
func TestRoutinesAreShared(t *testing.T) {
	d := newDatabase(t)
	a := d.serve().conn("")
	run(t, a, "create database d", "create database other", "create table d.t (id int primary key, secret varchar(10))", "insert into d.t values (1, 'x')",
		"set sql_mode = 'STRICT_TRANS_TABLES,PIPES_AS_CONCAT'", "use d",
		"create function twice(s varchar(10)) returns varchar(20) deterministic return concat(s, s)",
		"create function secret() returns varchar(10) reads sql data return (select secret from t where id = 1)",
		"create function mine() returns varchar(10) reads sql data sql security invoker return (select secret from t where id = 1)",
		"create procedure outer_one() begin select database(), twice('a'), secret(); end",
		"create user u@localhost", "grant execute on d.* to u@localhost", "grant select on other.* to u@localhost")
	server := d.serve()
	b := server.conn("other")
	want(t, b, "select d.twice('ab'), database()", "abab other")
	if got := results(t, b, "call d.outer_one()"); got != "d aa x" {
		t.Errorf("outer_one: %s", got)
	}
	want(t, b, "select database(), @@sql_mode like '%PIPES%'", "other 0")
	run(t, a, "drop function twice", "create function twice(s varchar(10)) returns varchar(20) deterministic return concat(s, '+', s)")
	want(t, b, "select d.twice('ab')", "ab+ab")
	pool := server.open("u", "other", "")
	want(t, pool, "select d.secret()", "x")
	if got := results(t, pool, "select d.mine()"); got != "error 1142" {
		t.Errorf("mine as u: %s", got)
	}
	run(t, b, "revoke execute on d.* from u@localhost")
	if got := results(t, server.open("u", "other", ""), "select d.secret()"); got != "error 1370" {
		t.Errorf("without EXECUTE: %s", got)
	}
	run(t, a, "drop database d")
	if got := results(t, b, "select d.secret()"); !strings.HasPrefix(got, "error 1305") && got != "error 1049" {
		t.Errorf("without its database: %s", got)
	}
}

// TestFunctionsSeeTheirTransaction: a function reads the rows of the statement's snapshot, and what its
// transaction has written.
func TestFunctionsSeeTheirTransaction(t *testing.T) {
	s := newDatabase(t).serve()
	a, b := s.conn(""), s.conn("")
	run(t, a, "create database d", "use d", "create table t (id int primary key, v int)", "insert into t values (1, 1), (2, 2)", "create table log (v int)",
		"create function total() returns int reads sql data return (select sum(v) from t)",
		"create function noted(x int) returns int modifies sql data begin insert into log values (x); return x; end",
		"create table k (id int primary key, total int)",
		"create trigger tr before insert on k for each row set new.total = total()")
	run(t, b, "use d", "begin")
	want(t, b, "select total()", "3")
	run(t, a, "insert into t values (3, 10)")
	want(t, a, "select total()", "13")
	want(t, b, "select total()", "3")
	run(t, b, "update t set v = 5 where id = 1")
	want(t, b, "select total(), (select sum(v) from t)", "7 7")
	run(t, b, "rollback")
	want(t, b, "select total()", "13")
	// What a function writes stands and falls with its statement, and its transaction.
	want(t, a, "select noted(id) from t order by id", "1; 2; 3")
	if got := results(t, a, "insert into t select noted(id), 0 from t"); got != "error 1062" {
		t.Errorf("a statement that fails: %s", got)
	}
	want(t, a, "select count(*) from log", "3")
	run(t, a, "begin")
	want(t, a, "select noted(9)", "9")
	run(t, a, "rollback")
	want(t, a, "select count(*) from log", "3")
	run(t, a, "insert into k (id) values (1)")
	want(t, a, "select total from k", "13")
	want(t, a, "select id from t where v = noted(10)", "3")
	// Several rows and columns in one statement, computed by as many runs.
	want(t, a, "select x.id, total(), noted(y.id) from t x join t y on x.id = y.id where noted(x.id) > 1 order by noted(x.id)", "2 13 2; 3 13 3")
}

// TestRunawayRoutines end with their client, or at their bounds.
func TestRunawayRoutines(t *testing.T) {
	s := newDatabase(t).serve()
	c, other := s.conn(""), s.conn("")
	run(t, c, "create database d", "use d",
		"create procedure forever() begin declare continue handler for sqlexception begin end; select 1; loop set @a = 1; end loop; end",
		"create procedure self(n int) begin if n > 0 then call self(n - 1); end if; select n; end",
		"create function a(n int) returns int no sql return b(n)", "create function b(n int) returns int no sql return a(n)")
	var id string
	if err := c.QueryRowContext(context.Background(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	rows, err := c.QueryContext(context.Background(), "call forever()")
	if err != nil {
		t.Fatal(err)
	}
	run(t, other, "kill query "+id) // its first result is here: it runs
	for rows.Next() {
	}
	if rows.NextResultSet() || number(rows.Err()) != "error 1317" {
		t.Errorf("a procedure that was killed: %v", rows.Err())
	}
	rows.Close()
	run(t, other, "use d")
	if got := results(t, other, "call self(2)"); got != "error 1456" {
		t.Errorf("recursion: %s", got)
	}
	run(t, other, "set max_sp_recursion_depth = 5")
	if got := results(t, other, "call self(2)"); got != "0|1|2" {
		t.Errorf("recursion as allowed: %s", got)
	}
	if got := results(t, other, "select a(1)"); got != "error 1424" {
		t.Errorf("functions that call each other: %s", got)
	}
}
