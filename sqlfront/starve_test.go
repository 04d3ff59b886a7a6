package sqlfront_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestInsertIntoManyColumns: an INSERT was planned in the square of the columns that it does not name, 27 s
// for as many as a table may have, and KILL was not heard.
func TestInsertIntoManyColumns(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	columns := make([]string, 1500)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d int default %d", i, i)
	}
	columns[700] = "c700 int default (c3 + c1400)"
	columns[701] = "c701 int as (c3 * 2)"
	run(t, c, "create database d", "use d", "create table few (a int)",
		"create table t (id int auto_increment primary key, "+strings.Join(columns, ", ")+")")
	allocated := func(q string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run(t, c, q)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	for _, q := range []string{"insert into t (c1, C3) values (7, 8)",
		"insert into t (c1, c3) select 7, 8 from dual"} {
		if n := allocated(q); n > 2_000_000 {
			t.Errorf("%s: %d objects were made", q, n)
		}
	}
	want(t, c, "select id, c1, c3, c700, c701, c1499 from t", "1 7 8 1408 16 1499; 2 7 8 1408 16 1499")
}

// TestManyConstraints: each CHECK and each foreign key of a CREATE TABLE is a step that stores the whole
// table; three thousand took more than a minute, most of it to find names that are free.
func TestManyConstraints(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	list := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "N", strconv.Itoa(i))
		}
		return strings.Join(all, ", ")
	}
	checks, keys := list(1001, "check (a <> N)"), list(257, "foreign key (a) references p (a)")
	run(t, c, "create database d", "use d", "create table p (a int primary key)",
		"create table t (a int, constraint t_chk_2 check (a > -9), check (a > -8), check (a > -7))")
	for _, q := range []struct{ query, want string }{
		{"create table many (a int, " + checks + ")", "error 1117"},
		{"create temporary table other (a int, " + checks + ")", "error 1117"},
		{"create table many (a int, key (a), " + keys + ")", "error 1069"},
		{"alter table t add check (a > -6)", ""},
		{"select group_concat(constraint_name order by constraint_name) " +
			"from information_schema.check_constraints", "t_chk_1,t_chk_2,t_chk_3,t_chk_4"},
		{"insert into t values (-7)", "error 3819"},
		{"create table many (a int)", ""},
	} {
		if got := results(t, c, q.query); got != q.want {
			t.Errorf("%.80s: %.80s, want %s", q.query, got, q.want)
		}
	}
}
