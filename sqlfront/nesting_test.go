package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestViewRenamedOntoItsTable makes a view that reads itself, by names alone (K, recursive views), in the
// ways that there are.
func TestViewRenamedOntoItsTable(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int)", "insert into t values (1)", "create view v1 as select a from t", "create view v2 as select a from v1")
	for _, q := range []string{
		"create or replace view v1 as select a from v2", "alter view v1 as select a from v2", "create or replace view v1 as select a from d.V1",
		"alter view v1 as select a from t where exists (select 1 from v2)", "create view new as select * from new",
	} {
		if got := results(t, c, q); got != "error 1146" {
			t.Errorf("%s: %s", q, got)
		}
	}
	want(t, c, "select * from v2", "1")
	run(t, c, "rename table t to base", "rename table v1 to t")
	for _, q := range []string{"select * from t", "insert into t values (1)", "update t set a = 1", "delete from t", "select 1 from base where a in (select a from t)"} {
		if got := results(t, c, q); got != "error 1462" {
			t.Errorf("%s: %s", q, got)
		}
	}
	want(t, c, "select table_name from information_schema.columns where table_schema = 'd'", "base")
	run(t, c, "drop view t", "rename table base to t", "create view v1 as select a from t")
	want(t, c, "select * from v2", "1")
}

// TestDeepRoutines lets routines whose bodies are nested deep call each other: what each of them takes of the
// stack adds up.
func TestDeepRoutines(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create function f0() returns int deterministic return 1")
	const blocks = 1000
	for i := 1; i <= 60; i++ {
		run(t, c, fmt.Sprintf("create function f%d() returns int deterministic %s return f%d(); %s", i, strings.Repeat("begin ", blocks), i-1, strings.Repeat("end; ", blocks-1)+"end"))
	}
	want(t, c, "select f2()", "1")
	if got := results(t, c, "select f60()"); got != "error 1436" {
		t.Errorf("60 functions: %s", got)
	}
	want(t, c, "select f1()", "1")
}
