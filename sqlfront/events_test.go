package sqlfront_test

import "testing"

// Events are kept and shown. Nobody runs them, the server says so, and no statement makes believe that it is
// otherwise.
func TestEventsAreNotRun(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (a int)", "create event e on schedule every 1 day do insert into t values (1)")
	script{
		{"select @@event_scheduler", "DISABLED"},
		{"select event_name from information_schema.events", "e"},
		{"set global event_scheduler = on", "error 1238"},
		{"set persist event_scheduler = on", "error 1238"},
		{"select @@event_scheduler", "DISABLED"},
	}.run(t, c)
}
