package sqlfront_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestTooManyColumns: a result has 4096 columns at most, those for which stars stand included, wherever in
// the statement it is; the planner made them all, 350 million in a text that fits a packet, and nothing ended
// it (usage-8 of the second trial).
func TestTooManyColumns(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (a int primary key, b int)",
		"create table s (a int primary key, c int)", "create view v as select t.a, t.b, s.c from t, s",
		"insert into t values (1, 2)", "insert into s values (1, 3)",
		"create user ann identified by ''", "create table e (a int)")
	times := func(n int, what string) string {
		return strings.TrimSuffix(strings.Repeat(what+", ", n), ", ")
	}
	for _, q := range []string{
		"select " + times(4097, "1"), "select " + times(2049, "t.*") + " from t",
		"select " + times(1366, "v.*") + " from v", "select " + times(1025, "*") + " from t, s",
		"select " + times(1366, "*") + " from t join s using (a)",
		"select 1 from dual where exists (select " + times(2049, "t.*") + " from t)",
		"select 1 union select " + times(2049, "t.*") + " from t",
		"insert into e select " + times(2049, "t.*") + " from t",
		"explain select " + times(2049, "t.*") + " from t",
		"with q as (select " + times(64, "t.*") + " from t), r as (select " + times(64, "q.*") +
			" from q) select 1 from r",
		"select " + times(400, "c.*") + " from information_schema.columns c",
		"prepare p from 'select " + times(2049, "t.*") + " from t'",
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, fmt.Sprintf("%.60s … %s", q, q[len(q)-20:]), err, 1117, "HY000")
	}
	for _, q := range []string{"select " + times(4096, "1"), "select " + times(2048, "t.*") + " from t"} {
		rows, err := c.QueryContext(context.Background(), q)
		if err != nil {
			t.Fatalf("%.60s: %v", q, err)
		}
		if columns, _ := rows.Columns(); len(columns) != 4096 {
			t.Errorf("%.60s: %d columns", q, len(columns))
		}
		_ = rows.Close()
	}
	// Who may not read a table does not learn how many columns it has.
	_, err := s.open("ann", "", "").ExecContext(context.Background(),
		"select "+times(2049, "t.*")+" from d.t")
	wantErr(t, "no right", err, 1142, "42000")
}
