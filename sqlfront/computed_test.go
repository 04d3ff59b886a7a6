package sqlfront_test

import (
	"context"
	"strings"
	"testing"
)

// TestComputedColumnsStandBehindWhatTheyName: a generated column that named one behind it, or itself, had the
// value of the old row, or NULL; a default that did failed at each INSERT.
func TestComputedColumnsStandBehindWhatTheyName(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"create database d", ""},
		{"use d", ""},
		{"create table t (g int as (h + 1) stored, h int as (a + 1), a int, key (g), key (h))", "error 3107"},
		{"create table t (a int, g int as (h + 1), h int as (g + 1))", "error 3107"},
		{"create table t (a int, g int as (g + 1))", "error 3107"},
		{"create temporary table t (a int, g int as (`G` + 1))", "error 3107"},
		{"create table t (a int default (g), g int as (a + 1))", "error 3767"},
		{"create table t (a int default (b), b int default (1 + 1))", "error 3767"},
		{"create table t (g int as (a + 1) stored, a int default (b), b int default 4, " +
			"h int as (g + 1))", ""},
		{"insert into t values ()", ""},
		{"select * from t", "5 4 4 6"},
		{"alter table t modify g int as (h + 1) stored", "error 3107"},
		{"alter table t modify h int as (g + 1) first", "error 3107"},
		{"alter table t add i int as (j + 1), add j int as (a) first", "error 1054"},
		{"alter table t add j int as (h + 1) stored first", "error 3107"},
		{"alter table t add j int as (h + 1) stored after h, modify g int as (b) first", ""},
		{"select * from t", "4 4 4 5 6"},
		{"create table u like t", ""},
		{"create temporary table t (a int, g int as (a + 1))", ""},
		{"alter table t add h int as (k) first", "error 1054"},
		{"alter table t add h int as (g) first", "error 3107"},
	}.run(t, c)
}

// TestRowsOfDefaults is VALUES () in tables whose columns are computed of one another: 1105 with a VIRTUAL
// column, and the value of another column where a default is an expression. So was DEFAULT in a statement
// that does not name the column that it is computed of.
func TestRowsOfDefaults(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"create database d", ""},
		{"use d", ""},
		{"create table t (id int auto_increment primary key, a int default 3, v int as (a + 1), " +
			"s int as (v + 1) stored, check (v > 2))", ""},
		{"create procedure p() insert into t values ()", ""},
		{"insert into t values ()", ""},
		{"insert into t () values (), ()", ""},
		{"call p()", ""},
		{"replace into t values ()", ""},
		{"insert into t (v) values (default)", ""},
		{"insert into t (s, a) values (default, 10), (default, default)", ""},
		{"insert into t (a) values (0)", "error 3819"},
		{"select * from t", "1 3 4 5;2 3 4 5;3 3 4 5;4 3 4 5;5 3 4 5;6 3 4 5;7 10 11 12;8 3 4 5"},
		{"create table e (b int default (a + c), a int default 3, c int default (a * 2))", "error 3767"},
		{"create table e (a int default 3, c int default (a * 2), b int default (a + c))", ""},
		{"insert into e values ()", ""},
		{"insert into e () values (), ()", ""},
		{"insert into e (b) values (default), (1)", ""},
		{"insert into e (b, a) values (default, 5)", ""},
		{"insert into e (b, c) values (default, 5)", ""},
		{"insert into e (a) values (7)", ""},
		{"select a, c, b from e",
			"3 6 9;3 6 9;3 6 9;3 6 9;3 6 1;5 10 15;3 5 8;7 14 21"},
		{"create table n (a int not null, b int default (a))", ""},
		{"insert into n (b) values (default)", "error 1364"},
		{"insert into n values ()", "error 1364"},
	}.run(t, c)
}

// TestNamesAlikeButForCase: columns that differ in case only are one; letters that only look alike are
// others.
func TestNamesAlikeButForCase(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"create database d", ""},
		{"use d", ""},
		{"create table t (s int, `S` int)", "error 1060"},
		{"create table t as select 1 as s, 2 as `S`", "error 1060"},
		{"create temporary table t (`É` int, é int)", "error 1060"},
		{"create table t (s int, é int, è int, `e\u0301` int)", ""}, // which is another name
		{"alter table t add `É` int", "error 1060"},
		{"alter table t rename column é to `S`", "error 1060"},
		{"alter table t change é `È` bigint", "error 1060"},
		{"alter table t rename column s to `S`", ""},
		{"insert into t values (1, 2, 3, 4)", ""},
		{"select `S`, È from t", "1 3"},
	}.run(t, c)
}

// TestUnnamedChecksAreNamed: the error of ADD CHECK named no check.
func TestUnnamedChecksAreNamed(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int check (a < 100))",
		"insert into t values (1)")
	for q, name := range map[string]string{
		"alter table t add check (a > 6)":                    "t_chk_2",
		"alter table t add check (a > 0), add check (a > 6)": "t_chk_3",
		"alter table t add constraint q check (a > 6)":       "q",
	} {
		_, err := c.ExecContext(context.Background(), q)
		if err == nil || !strings.Contains(err.Error(), "Check constraint '"+name+"' is violated") {
			t.Errorf("%s: %v, want one of %s", q, err, name)
		}
	}
	run(t, c, "alter table t add check (a > 0), add check (a < 50)")
	want(t, c, "select constraint_name from information_schema.check_constraints where "+
		"constraint_schema = 'd' order by 1", "t_chk_1; t_chk_2; t_chk_3")
}

// TestAddedDatesOfZeros: ADD c DATETIME NOT NULL filled the rows with dates that the SQL mode refuses.
func TestAddedDatesOfZeros(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"create database d", ""},
		{"use d", ""},
		{"create table t (a int)", ""},
		{"alter table t add e datetime not null", ""},
		{"insert into t values (1, '2020-01-01')", ""},
		{"alter table t add c datetime not null", "error 1292"},
		{"alter table t add c date not null first", "error 1292"},
		{"alter table t add c timestamp not null", "error 1292"},
		{"alter table t add b time not null, add c datetime", ""},
		{"select * from t as of timestamp null", "error 1525"},
		{"select * from t as of timestamp now() - interval 300000 year", "error 1525"},
		{"set sql_mode = 'STRICT_TRANS_TABLES'", ""},
		{"alter table t add f datetime not null", ""},
		{"select a, b, c, f from t", "1 00:00:00 NULL 0000-00-00 00:00:00"},
	}.run(t, c)
}
