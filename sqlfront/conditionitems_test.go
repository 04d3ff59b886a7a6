package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestConditionItemsAreShort: an item of SIGNAL has 64 characters, the text 128, as in MySQL. They were as
// long as values are, and each handler that runs keeps those of its condition: ten of 20 MB each, for ten
// handlers in one another, were 2 GB that nobody was charged for.
func TestConditionItemsAreShort(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int)")
	items := []string{"class_origin", "subclass_origin", "constraint_catalog", "constraint_schema",
		"constraint_name", "catalog_name", "schema_name", "table_name", "column_name", "cursor_name",
		"message_text"}
	for i, item := range items {
		most := 64
		if i == len(items)-1 {
			most = 128
		}
		create := "create procedure %s(c longtext) begin declare got text; " +
			"declare exit handler for 1648 begin get stacked diagnostics condition 1 got = message_text; " +
			"select got; end; " +
			"begin declare continue handler for sqlstate '45000' begin " +
			"declare again text; declare exit handler for sqlstate '45001' begin " +
			"get stacked diagnostics condition 1 again = " + item + "; " +
			"select char_length(got), again = got; end; " +
			"get stacked diagnostics condition 1 got = " + item + "; " +
			"resignal sqlstate '45001' set " + item + " = got; end; " +
			"signal sqlstate '45000' set " + item + " = c; end; end"
		run(t, c, "drop procedure if exists p", "drop procedure if exists lax", fmt.Sprintf(create, "p"),
			"set sql_mode = ''", fmt.Sprintf(create, "lax"), "set sql_mode = default")
		fits, long := strings.Repeat("ä", most), strings.Repeat("ä", most+1)
		for _, q := range []struct{ query, want string }{
			{"call p('" + fits + "')", map[int]string{64: "64 1", 128: "128 1"}[most]},
			{"call p('" + long + "')", "Data too long for condition item '" + strings.ToUpper(item) + "'"},
		} {
			if got := results(t, c, q.query); got != q.want {
				t.Errorf("%s: %.60s: %.120q, want %q", item, q.query, got, q.want)
			}
		}
		want := map[int]string{64: "64 1", 128: "128 1"}[most]
		if got := results(t, c, "call lax('"+long+"')"); got != want {
			t.Errorf("%s, lax: %.120q, want %q", item, got, want)
		}
	}
}

// TestVariablesOfBodiesAreCharged: what the variables of routines hold that call each other counts for the
// statement's memory, as does what a CASE has been given, until the routine ends.
func TestVariablesOfBodiesAreCharged(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	var names, sets []string
	for i := range 400 {
		names = append(names, fmt.Sprintf("v%d", i))
		sets = append(sets, fmt.Sprintf("v%d = repeat('x', %d)", i, 60000+i))
	}
	run(t, c, "create database d", "use d", "set max_sp_recursion_depth = 20",
		"create procedure r(a longtext, n int) begin declare b longtext; set b = concat(a, n); "+
			"if n > 0 then call r(b, n - 1); end if; end",
		"create procedure k(a longtext, n int) begin case concat(a, n) when 'x' then set @q = 1; "+
			"else if n > 0 then call k(a, n - 1); end if; end case; end",
		"create procedure many() begin declare i int default 0; declare "+
			strings.Join(names, ", ")+" text; set "+strings.Join(sets, ", ")+"; end",
		"create procedure again() begin declare i int default 0; declare b longtext; while i < 40 do "+
			"set i = i + 1; set b = @x; end while; end",
		"create procedure same(a longtext) begin declare b longtext default a; end",
		"create procedure calls() begin declare i int default 0; while i < 20 do set i = i + 1; "+
			"call same(@x); end while; end",
		"set @x = repeat('x', 1000000)",
		"set moka_query_memory = 16000000")
	for _, q := range []struct{ query, want string }{
		{"call r(repeat('x', 1000000), 20)", "error 3170"},
		{"call k(repeat('x', 1000000), 20)", "error 3170"},
		{"call many()", "error 3170"},
		{"call r(repeat('x', 1000000), 2)", ""}, {"call k(repeat('x', 1000000), 2)", ""},
		{"call again()", ""}, {"call calls()", ""},
	} {
		if got := results(t, c, q.query); got != q.want {
			t.Errorf("%s: %s, want %s", q.query, got, q.want)
		}
	}
}
