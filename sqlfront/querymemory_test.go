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
