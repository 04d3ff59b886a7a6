package sqlfront_test

import (
	"context"
	"testing"
)

// TestDefaultOfColumn is about DEFAULT(c), which ended the connection in queries and was DEFAULT of another
// column in VALUES and assignments.
func TestDefaultOfColumn(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (v int default 5, w int not null, c decimal(10,2) default 1.5)",
		"insert into t values (1, 2, 3)")
	for q, expect := range map[string]string{
		"select default(v) from t":                                                  "5",
		"select default(t.v), default(d.t.c) from d.t":                              "5 1.50",
		"select default(x.v) + 1 from t x where default(v) = 5 order by default(v)": "6",
		"select max(default(v)), count(*) from t group by default(c)":               "5 1",
		"select default(q.v) from (select v from t) q":                              "5",
		"select (select default(v)) from t":                                         "5",
		"select exists (select 1 from t as y where y.v < default(t.v)) from t":      "1",
	} {
		want(t, c, q, expect)
	}
	run(t, c, "insert into t values (default(v), 7, default(c))", "insert into t (v, w) values (default(c) + default(v), default(v))",
		"insert into t set w = 9, v = default(c)")
	want(t, c, "select v, w, c from t order by w", "1 2 3.00; 7 5 1.50; 5 7 1.50; 2 9 1.50")
	run(t, c, "update t set w = default(v) where w > default(v)")
	want(t, c, "select w from t order by w, v", "2; 5; 5; 5")
	run(t, c, "delete from t where w = default(v)")
	want(t, c, "select count(*) from t", "1")

	run(t, c, "create table u (id int primary key, n int default 9, s varchar(9) default 'abc', e enum('a','b') default 'b', g int as (id + 1), x int default (1 + 2), y int default (n + 1))",
		"insert into u (id, n) values (1, 3)",
		"insert into u (id) values (1) on duplicate key update n = default(n) + n")
	want(t, c, "select n from u", "12")
	run(t, c, "insert into u (id) values (1) on duplicate key update n = default(n), g = default(g)", "insert into u (id, g) values (2, default(g))")
	want(t, c, "select n, g from u order by id", "9 2; 9 3")
	want(t, c, "select default(s), default(e), default(g), default(x), e = default(e) from u where id = 1", "abc b NULL 3 1")
	want(t, c, "select default(n) + ? from u where id = ?", "10", 1, 1)
	run(t, c, "create view vw as select n, default(n) from u where id = 1")
	want(t, c, "select * from vw", "9 9")
	want(t, c, "select default(n) from vw", "9")

	for q, number := range map[string]uint16{
		"select default(v)":                           1054,
		"select default(nope) from t":                 1054,
		"select default(x.v) from t":                  1054,
		"select default(w) from t":                    1364,
		"select default(id) from u":                   1364,
		"select default(y) from u":                    3773,
		"select default(1) from u":                    1064,
		"insert into t (v, w) values (default(w), 7)": 1364,
		"update t set v = default(w)":                 1364,
		"select v from t order by default(w)":         1364,
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, number, map[uint16]string{1054: "42S22", 1064: "42000", 1364: "HY000", 3773: "HY000"}[number])
	}
	want(t, c, "select 'alive'", "alive")
}

// TestStrayDefaults: DEFAULT and INTERVAL that are no values by themselves ended the connection.
func TestStrayDefaults(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int primary key, b int default 7)")
	for _, q := range []string{
		"select default", "select default from t", "select * from (select default) x",
		"select if(1, default, 2)", "select case when default then 1 end", "do default",
		"values row(default)", "update t set b = default + 1", "select interval 1 day",
		"update t set b = interval 1 day", "insert into t values (3, interval 1 day)",
		"set @x = interval 1 day", "create procedure p() select default",
		"create function f() returns int return default",
		"create event e on schedule every 1 day do select interval 1 day",
	} {
		wantError(t, c, q, 1064)
	}
	wantError(t, c, "create trigger x before insert on t for each row set new.b = default", 1235)
	wantError(t, c, "create procedure p() begin declare x int; set x = default; end", 1235)
	run(t, c, "insert into t values (1, default) on duplicate key update b = default",
		"replace t set a = 2, b = default",
		"update t set b = default", "set sql_mode = default, @x = 1", "do '2024-01-01' + interval 1 day")
	want(t, c, "select adddate('2024-01-01', interval 1 day), interval(3, 1, 2), group_concat(a, b) from t",
		"2024-01-02 2 17,27")
}

// TestTriggerNamesItsDatabase: a trigger is in its table's database, and cannot be put in another.
func TestTriggerNamesItsDatabase(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "create database other", "use d", "create table t (a int primary key)")
	wantError(t, c, "create trigger other.x before insert on t for each row set @a = 1", 1435)
	wantError(t, c, "create trigger mysql.x before insert on t for each row set @a = 1", 1435)
	run(t, c, "create trigger d.x before insert on t for each row set @a = 1", "use other",
		"create trigger y before insert on d.t for each row set @a = 1")
	want(t, c, "select trigger_schema, trigger_name from information_schema.triggers order by 2", "d x; d y")
}

// TestNegativeVariables: a negative number is none of a variable that takes only others. It was the greatest
// of all, and GROUP_CONCAT ended the connection.
func TestNegativeVariables(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	for _, q := range []string{
		"set group_concat_max_len = -1", "set @@group_concat_max_len = -9223372036854775808",
		"set group_concat_max_len = -1e0", "set global group_concat_max_len = -1",
		"set sort_buffer_size = -1",
		"set global max_connections = -1",
	} {
		wantError(t, c, q, 1231)
	}
	run(t, c, "set group_concat_max_len = 18446744073709551615")
	want(t, c, "select group_concat(x) from (select 1 x union select 2) t", "1,2")
}
