package sqlfront_test

import (
	"strings"
	"testing"
)

// TestOddExpressions: what a generator over all functions found: each ended the process (the first: for
// anybody who may log in) or the connection, or did not hear of KILL.
func TestOddExpressions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (x int, j json)", "insert into t values (1, '1.5'), (2, '2')")
	for _, q := range []string{"select avg(sum(x) over ()) from t", "select sum(max(x) over ()), x from t group by x", "select group_concat(count(*) over ()) from t",
		"select round(point(1, 2))", "select curtime(7)", "select curtime(x) from t", "select convert(x using cp1251) from t"} {
		if got := results(t, c, q); !strings.HasPrefix(got, "error ") || got == "error 1105" && !strings.Contains(q, "over") {
			t.Errorf("%s: %s", q, got)
		}
	}
	for _, q := range []string{"select json_value(cast('[1]' as json), cast('null' as json))", "select json_value(j, x) from t"} {
		if got := results(t, c, q); got != "error 3143" {
			t.Errorf("%s: %s", q, got)
		}
	}
	want(t, c, "select json_value('[7]', '$[0]'), json_value('[7]', null), unix_timestamp(x'ff')", "7 NULL 0.000000")
	want(t, c, "select o.x from t o join t on o.j = cast((@@sql_mode) as binary)", "")
	want(t, c, "select round(j), length(space(70000)), length(curtime(3)) > 7 from t where x = 1", "2 70000 1")
	want(t, c, "select 1", "1")
}
