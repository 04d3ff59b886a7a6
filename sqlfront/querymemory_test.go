package sqlfront_test

import (
	"strings"
	"testing"

	"moka/sqlfront/sqlerr"
)

// TestTreesAreCharged: a list of numbers takes ninety times its text as a tree and a plan, and was charged
// eight times it: one statement of 20 MB was in memory with 1.7 GB (usage-13). Of a long text it is eight
// times.
func TestTreesAreCharged(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	list := func(n int) string { return "select 1 in (1" + strings.Repeat(",1", n) + ")" }
	script{
		{"set moka_query_memory = 4000000", ""},
		{list(10_000), "1"},
		{list(30_000), "error 3170"},
		{"select length('" + strings.Repeat("x", 400_000) + "')", "400000"},
		{"set moka_query_memory = 40000000", ""},
		{list(30_000), "1"},
	}.run(t, c)
	_, err := c.PrepareContext(t.Context(), list(1_000_000))
	wantNumber(t, "COM_STMT_PREPARE", err, sqlerr.CapacityExceeded)
}

// TestPreparedTextsAreCharged: a statement that PREPARE takes from a user variable, and the one that EXECUTE
// runs, were charged to nobody: the client sends a line, and the tree is as large as he likes (40 connections
// brought a process with a limit of 2 GiB to 13 GiB). In a procedure the last one of many counts.
func TestPreparedTextsAreCharged(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	long := func(n string) string { return "set @s = concat('select 1 in (1', repeat(',1', " + n + "), ')')" }
	script{
		{"create database d", ""}, {"use d", ""},
		{"create procedure many() begin declare n int default 0; while n < 30 do prepare p from @s; " +
			"execute p; set n = n + 1; end while; end", ""},
		{"set moka_query_memory = 4000000", ""},
		{long("10000"), ""}, {"prepare p from @s", ""}, {"execute p", "1"}, {"prepare q from @S", ""},
		{long("30000"), ""}, {"prepare r from @s", "error 3170"}, {"execute r", "error 1243"},
		{"execute p", "1"},
		{"create procedure one() begin prepare p from @s; execute p; end", ""}, {"call one()", "error 3170"},
		{"set moka_query_memory = 40000000", ""}, {"prepare r from @s", ""}, {"execute r", "1"},
		{"set moka_query_memory = 4000000", ""}, {"execute r", "error 3170"},
		{long("10000"), ""}, {"call many()", strings.TrimSuffix(strings.Repeat("1|", 30), "|")},
	}.run(t, c)
}

// TestQueryMemoryIsNotRaised: who may not administer variables gives his statements less memory than the
// server gives everybody, never more nor without limit (he could have all there is); over a routine and
// PREPARE as well.
func TestQueryMemoryIsNotRaised(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create user few", "create database d", "grant all on d.* to few", "create user some", "grant session_variables_admin on *.* to some")
	few := s.open("few", "d", "")
	few.SetMaxOpenConns(1)
	most := text(t, few, "select @@global.moka_query_memory")
	script{
		{"set moka_query_memory = 1000000", ""}, {"select @@moka_query_memory", "1000000"},
		{"set moka_query_memory = 0", "error 1227"}, {"set session moka_query_memory = 100000000000", "error 1227"},
		{"set @@session.moka_query_memory = @@global.moka_query_memory + 1", "error 1227"},
		{"select @@moka_query_memory", "1000000"},
		{"create procedure more() set moka_query_memory = 0", ""}, {"call more()", "error 1227"},
		{"prepare p from 'set moka_query_memory = 0'", ""}, {"execute p", "error 1227"},
		{"set moka_query_memory = 2000000", ""}, // and up again, below
		{"set @@moka_query_memory = @@global.moka_query_memory", ""}, {"set moka_query_memory = default", ""},
		{"select @@moka_query_memory", most},
	}.run(t, few)
	script{{"set moka_query_memory = 0", ""}, {"select @@moka_query_memory", "0"}}.run(t, s.open("some", "", ""))
	run(t, root, "set moka_query_memory = 0")
}
