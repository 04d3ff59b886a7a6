package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeStatements: chains of UNION are planned in a time that their length justifies, joins of too many
// tables are refused, and what looks like a comment within a text is text.
func TestLargeStatements(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	var parts, tables []string
	for i := range 150 {
		parts = append(parts, fmt.Sprintf("select %d as n", i))
		tables = append(tables, fmt.Sprintf("(select 1 x) t%d", i))
	}
	want(t, c, "select count(*), min(n), max(n) from ("+strings.Join(parts, " union all ")+") u", "150 0 149")
	if got := results(t, c, strings.Join(parts[:20], " union all ")); got != "0;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19" {
		t.Errorf("in the order of the chain: %s", got)
	}
	if got := results(t, c, strings.Join(append(parts[:12:12], parts[:12]...), " union ")+" order by n desc limit 3"); got != "11;10;9" {
		t.Errorf("UNION with ORDER BY: %s", got)
	}
	if got := results(t, c, strings.Repeat("select 1 union ", 9)+"select 1 union all select 1"); got != "1;1" {
		t.Errorf("UNION, then UNION ALL: %s", got)
	}
	if got := results(t, c, "select 1 from "+strings.Join(tables[:62], ",")); got != "error 1116" {
		t.Errorf("62 tables: %s", got)
	}
	want(t, c, "select length('"+strings.Repeat("/*M!", 9000)+"') /*M! + 1 */", "36000")
}

// TestWholeUnions: what a rule about a statement is for holds in WITH, ORDER BY and LIMIT of a UNION and in
// WINDOW, too, which the library's walk leaves out.
func TestWholeUnions(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	var tables []string
	for i := range 62 {
		tables = append(tables, fmt.Sprintf("t t%d", i))
	}
	run(t, c, "create database d", "use d", "create table t (id int primary key)", "create table o (id int primary key)", "insert into t values (1), (2)", "insert into o values (7)")
	script{
		{"with q as (select 9223372036854775807 + 1 as x) select x from q union select 1", "error 1690"},
		{"select 1 as x union all select 2 order by x + 9223372036854775807", "error 1690"},
		{"with q as (select n1.id from " + strings.Join(tables, ", ") + ") select id from q union select 1", "error 1116"},
		{"with q as (select id from t) select id from q union select 1 order by 1", "1;2"},
		{"lock tables t read", ""},
		{"with q as (select max(id) as x from t) select x from q union select 9", "2;9"},
		{"with q as (select id from o) select id from q union select 9", "error 1100"},
		{"unlock tables", ""},
		{"create view v as with q as (select id from t) select id from q union select 9", ""},
		{"create user few", ""},
		{"grant select on d.v to few", ""},
	}.run(t, c)
	want(t, s.open("few", "d", ""), "select count(*) from v", "3") // t is asked of the view's definer
}

// TestNestedUnions: the parts of a set operation are bound twice, to learn their types, and set operations
// within others not once more for each level: this took 2^24 bindings, which never end.
func TestNestedUnions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	q := "select 1 a union all select 2.5"
	for range 24 {
		q = "select a from (" + q + ") x union all select 1"
	}
	want(t, c, "select count(*), sum(a), max(a) from ("+q+") y", "26 27.5 2.5")
}
