package sqlfront_test

import "testing"

// TestDatesIntoNumbersAndTexts: a date or a time that is assigned to a number is the number of its digits,
// and to a text what is shown of it, wherever it is assigned. In triggers, variables, parameters, results,
// defaults, generated columns and ALTER TABLE it was the seconds since 1970, and a text with a time of day.
// The answers are those of MariaDB 10.11.
func TestDatesIntoNumbersAndTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table s (d date, dt datetime, tm time(1))",
		"insert into s values ('2024-01-02', '2024-01-02 03:04:05', '10:11:12.5')",
		`create table t (id int primary key, d date, dt datetime, tm time(1), n bigint, f double,
			dc decimal(20,1), v varchar(30))`,
		`create trigger b before insert on t for each row
			set new.n = new.d, new.f = new.dt, new.dc = new.tm, new.v = new.d`,
		"insert into t (id, d, dt, tm) select 1, d, dt, tm from s", "drop trigger b",
		`create trigger b before insert on t for each row
			set new.n = new.dt, new.f = new.tm, new.dc = date'2024-02-29', new.v = new.tm`,
		"insert into t (id, d, dt, tm) select 2, d, dt, tm from s", "drop trigger b",
		"create function f() returns bigint deterministic return date'2024-01-02'",
		"create function g(x int) returns varchar(20) deterministic return timestamp'2024-01-02 03:04:05'",
		"create procedure p(x bigint, y varchar(30), out o int) begin declare n int; declare v text; "+
			"declare w decimal(20,2) default date'2024-01-02'; declare c cursor for select d, tm from s; "+
			"select d, d into n, v from s; select x, y, n, v, w; open c; fetch c into n, v; "+
			"select n, v; set o = date'2024-03-04'; end",
		`create table g (d date, tm time, n bigint as (d) stored, v varchar(20) as (tm) virtual,
			x bigint default (date'2024-01-02'), y text default (time'10:11:12'))`,
		"insert into g (d, tm) values ('2024-01-02', '10:11:12')")
	const first = "20240102 20240102030405.0 101112.5 2024-01-02"
	const second = "20240102030405 101112.5 20240229.0 10:11:12.5"
	script{
		{"select n, cast(f as decimal(20,1)), dc, v from t order by id", first + ";" + second},
		{"select f(), g(date'0007-08-09')", "20240102 2024-01-02 03:04:05"},
		{"select * from g", "2024-01-02 10:11:12 20240102 10:11:12 20240102 10:11:12"},
	}.run(t, c)
	if got := results(t, c, "call p((select d from s), (select dt from s), @o)"); got !=
		"20240102 2024-01-02 03:04:05 20240102 2024-01-02 20240102.00|20240102 10:11:12.5" {
		t.Errorf("the procedure answers %s", got)
	}
	run(t, c, "select d, tm, dt into @d, @t, @m from s",
		"create table w as select d, dt, tm, d e, 20240229 n, 20240229101112 m from s",
		"alter table w modify d bigint, modify dt bigint, modify tm decimal(10,1), modify e varchar(30), "+
			"modify n date, modify m datetime")
	script{
		{"select @o, @d, @t, @m, @d like '2024-01-02'",
			"20240304 2024-01-02 10:11:12.5 2024-01-02 03:04:05 1"},
		{"select * from w",
			"20240102 20240102030405 101112.5 2024-01-02 2024-02-29 2024-02-29 10:11:12"},
	}.run(t, c)
}

// TestAssignedInBodies: what a body assigns to a variable, a parameter or NEW is judged as what INSERT gives
// to a column is. An empty text was the number 0, numbers were no dates, and without strict mode a negative
// number went round to a large one and a day that does not exist became another.
func TestAssignedInBodies(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, n int, b bigint unsigned, d date, v varchar(30), dt datetime)",
		"create function f(x int) returns int deterministic return x",
		"create trigger b before insert on t for each row begin if new.v is not null then "+
			"set new.n = new.v; else set new.d = 20240229, new.dt = 20240229101112; end if; end",
		"insert into t (id) values (1)", "insert into t (id, v) values (2, '7')")
	wantError(t, c, "insert into t (id, v) values (3, '')", 1366)
	wantError(t, c, "insert into t (id, v) values (3, '5abc')", 1265)
	wantError(t, c, "insert into t (id, n) values (3, '2024-01-02')", 1265)
	wantError(t, c, "select f('')", 1366)
	run(t, c, "set sql_mode = ''", "drop trigger b",
		"create trigger b before insert on t for each row "+
			"set new.b = -1, new.d = '2024-02-30', new.n = time'10:11:12'",
		"insert into t (id) values (4)", "drop trigger b",
		// A trigger that does nothing: the rows that it sees have arrived.
		"create trigger b before insert on t for each row set @z = 1",
		"insert into t (id, dt, d) values (5, 20240229101112, 20240229)",
		"set sql_mode = default", "insert ignore into t (id, dt, d) values (6, 20240229101112, 20240229)",
		"insert into t (id, dt, d) values (7, 20240229101112, 20240229)")
	const dates = "NULL NULL 2024-02-29 2024-02-29 10:11:12"
	script{{"select id, n, b, d, dt from t order by id", "1 " + dates + ";2 7 NULL NULL NULL;" +
		"4 101112 0 0000-00-00 NULL;5 " + dates + ";6 " + dates + ";7 " + dates}}.run(t, c)
}

// TestReturnsLiterals: RETURN and DEFAULT of a literal that begins with a word could not be parsed.
func TestReturnsLiterals(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d")
	for _, x := range []struct{ returns, value, want string }{
		{"date", "date'2024-01-02'", "2024-01-02"}, {"date", "{d '2024-01-02'}", "2024-01-02"},
		{"time", "time'10:11:12'", "10:11:12"},
		{"datetime", "timestamp '2024-01-02 03:04:05'", "2024-01-02 03:04:05"},
	} {
		run(t, c, "create function f() returns "+x.returns+" deterministic return "+x.value,
			"create function g() returns "+x.returns+" deterministic begin declare v "+x.returns+
				" default "+x.value+"; return v; end")
		if got := results(t, c, "select f(), g()"); got != x.want+" "+x.want {
			t.Errorf("%s: %s", x.value, got)
		}
		run(t, c, "drop function f", "drop function g")
	}
}
