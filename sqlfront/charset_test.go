package sqlfront_test

import "testing"

// TestCharacterSets: a column has the characters of its character set and no others, and what is made of them is text.
func TestCharacterSets(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a varchar(10) character set latin1, b varchar(10) character set ascii, c varchar(5))",
		"insert into t values (1, 'é€', 'e', '日本')")
	want(t, c, "select a, hex(a), b, c, hex(c) from t", "é€ E980 e 日本 E697A5E69CAC")
	for _, q := range []string{"insert into t values (2, '日', 'x', 'x')", "insert into t values (2, 'x', 'é', 'x')", "update t set a = '日'", "update t set b = 'é'",
		"insert into t values (1, 'x', 'x', 'x') on duplicate key update b = 'é'"} {
		if got := results(t, c, q); got != "error 1366" {
			t.Errorf("%s: %s", q, got)
		}
	}
	run(t, c, "insert ignore into t values (2, 'x日', 'é', 'toolong')")
	if got := results(t, c, "show warnings"); got != "Warning 1265 Data truncated for column 'c' at row 1;"+
		"Warning 1366 Incorrect string value: '\\xE6\\x97\\xA5' for column 'a' at row 1;Warning 1366 Incorrect string value: '\\xC3\\xA9' for column 'b' at row 1" {
		t.Errorf("warnings: %s", got)
	}
	want(t, c, "select a, b, c, hex(a) from t where id = 2", "x? ? toolo 783F")
	run(t, c, "insert ignore into t values (2, 'y', 'y', 'y')")
	if got := results(t, c, "show warnings"); got != "Warning 1062 Duplicate entry '2' for key 't.PRIMARY'" {
		t.Errorf("warnings: %s", got)
	}
	run(t, c, "set sql_mode = ''", "update t set a = '日z' where id = 2")
	want(t, c, "select a from t where id = 2", "?z")
	want(t, c, "select convert(5 using utf8mb4), convert(1.5 using latin1), convert(null using latin1), convert('日x' using latin1), hex(convert('é日' using latin1)), "+
		"convert(0xe9 using latin1), hex(convert('é' using utf16)), convert(0xe9 using utf8mb4)", "5 1.5 NULL ?x E93F é 00E9 NULL")
}
