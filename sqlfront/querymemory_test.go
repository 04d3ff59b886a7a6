package sqlfront_test

import "testing"

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
