package sqlfront_test

import "testing"

// TestDefaultsOfVariables: DEFAULT brings back what the server begins with. It was the library's: texts
// compared by their bytes, and a mode that took '0000-00-00' and a division by zero.
func TestDefaultsOfVariables(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	for _, name := range []string{"sql_mode", "collation_server"} {
		var first, last string
		if err := c.QueryRowContext(t.Context(), "select @@global."+name).Scan(&first); err != nil {
			t.Fatal(err)
		}
		run(t, c, "set global "+name+" = default")
		if err := c.QueryRowContext(t.Context(), "select @@global."+name).Scan(&last); err != nil {
			t.Fatal(err)
		}
		if first != last {
			t.Errorf("%s was %s, and is %s by default", name, first, last)
		}
	}
	script{
		{"create database d", ""}, {"use d", ""}, {"create table t (d date, n int)", ""},
		{"set sql_mode = ''", ""}, {"set collation_connection = utf8mb4_bin", ""}, {"select 'a' = 'A'", "0"},
		{"set sql_mode = default", ""}, {"set collation_connection = default", ""}, {"select 'a' = 'A'", "1"},
		{"insert into t values ('0000-00-00', 1)", "error 1292"},
		{"insert into t values (null, 1 / 0)", "error 1365"},
	}.run(t, c)
}
