package sqlfront_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestValuesOfGeneratedColumns is what INSERT and REPLACE do with values for generated columns: refused in
// each row in the strict modes (of several rows only the first was looked at), else ignored with MariaDB's
// warning, so that mariadb-dump's dumps restore.
func TestValuesOfGeneratedColumns(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "use d",
		"create table g (a int primary key, b int as (a + 1), c int as (a + 2) stored, e int default 5, key (c))",
		"create view v as select a, b, e from g",
		"create procedure p() insert into g values (90, 1, 2, 3)")
	refused := func(q string, args ...any) {
		t.Helper()
		_, err := c.ExecContext(context.Background(), q, args...)
		wantErr(t, q, err, 3105, "HY000")
	}
	refused("insert into g values (1, 2, 3, 4)")
	refused("insert into g values (1, default, default, 4), (2, 3, default, 4)")
	refused("insert into g values (1, default, null, 4)")
	refused("insert ignore into g values (1, 2, 3, 4)")
	refused("replace into d.g (c, a) values (default, 1), (7, 2)")
	run(t, c, "insert into g values (1, default, default, 4)", "set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")

	const ignored = "Warning 1906 The value specified for generated column '"
	run(t, c, "insert into g values (2, 3, 99, 4), (3, default, null, 4)")
	want(t, c, "show warnings", ignored+"b' in table 'g' has been ignored; "+ignored+"c' in table 'g' has been ignored")
	run(t, c, "replace into d.g (C, a) values (1 + 1, 2)")
	want(t, c, "show warnings", ignored+"c' in table 'g' has been ignored")
	run(t, c, "insert into g (a, b) values (3, 1) on duplicate key update e = values(e) + 10", "insert into g set a = 4, b = 0")
	want(t, c, "select * from g", "1 2 3 4; 2 3 4 5; 3 4 5 15; 4 5 6 5")
	want(t, c, "select a from g where c = 6", "4")
	run(t, c, "create temporary table g (a int, b int as (a * 2))", "insert into g values (1, 1), (2, 2)")
	want(t, c, "select * from g", "1 2; 2 4")
	run(t, c, "drop temporary table g")

	// As MySQL has it, whatever the mode is.
	refused("insert into g select 10, 1, 2, 3")
	refused("insert into g values (?, ?, ?, ?)", 10, 1, 2, 3)
	refused("insert into g values (?, 1, 2, 3)", 10)
	refused("update g set b = 1")
	refused("call p()")
	_, err := c.ExecContext(context.Background(), "insert into g values (10, 1)")
	wantErr(t, "too few values", err, 1136, "21S01")
	want(t, c, "select count(*) from g", "4")

	// The warnings of a statement that is refused before it runs are not the next one's; those that are not
	// kept are counted.
	run(t, c, "insert into g values (10, default, default, 1)")
	want(t, c, "show warnings", "")
	run(t, c, "insert into g values (100, 0, default, 1)"+manyRows(1500))
	want(t, c, "select @@warning_count", "1501")
	run(t, c, "insert into g values (11, 0, default, 1)")
	want(t, c, "show warnings", ignored+"b' in table 'g' has been ignored")
}

// manyRows are n rows more for a table with an id, a generated column and two others.
func manyRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", (%d, 0, default, 1)", 1000+i)
	}
	return b.String()
}
