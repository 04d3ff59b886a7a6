package sqlfront_test

import "testing"

// TestExplainRefuses: what is refused is refused under EXPLAIN. The planner panicked there, as where the
// query stands in a view.
func TestExplainRefuses(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a text)")
	for _, set := range []string{"gbk", "sjis", "euckr", "cp932", "big5"} {
		query := "select convert('a' using " + set + ") union select 1"
		for _, before := range []string{
			"", "explain ", "desc ", "explain format=json ", "explain format=tree ", "explain analyze ",
			"create view v as ", "create table n as ", "insert into t ", "explain insert into t ",
			"create procedure p() ", "create event e on schedule every 1 day do ",
			"explain with w as (select 1) select * from w union ",
		} {
			refused(t, c, before+query, 1115)
		}
		refused(t, c, "explain select * from ("+query+") q", 1115)
	}
	refused(t, c, "explain select default", 1064)
	refused(t, c, "explain select interval 1 day", 1064)
	want(t, c, "select 1", "1")
}

// TestQualifiedFunctions: db.f(…) calls the stored function of that database, whatever the library has of the
// name.
func TestQualifiedFunctions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database own", "create database other", "use other",
		"create function own.abs(x int) returns int deterministic return 42",
		"create function own.f(x int) returns int deterministic return abs(x) + own.abs(x)",
		"create view own.v as select own.abs(-1) a, abs(-1) b")
	script{
		{"select own.abs(-1), abs(-1), own.f(-3)", "42 1 45"},
		{"select other.abs(-1)", "error 1305"},
		{"select nosuch.abs(-1)", "error 1305"},
		{"select mysql.concat('a', 'b')", "error 1305"},
		{"select a, b from own.v", "42 1"},
		{"drop function own.abs", ""},
		{"select own.abs(-1)", "error 1305"},
		{"select a from own.v", "error 1356"},
	}.run(t, c)
}

// TestEventIntervals: an event that is to run every nothing is refused. NULL ended the connection, and the
// others were kept as what nobody could read: SHOW EVENTS and information_schema.events failed for everybody.
func TestEventIntervals(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create event good on schedule every '1:30' minute_second do "+
		"select 1")
	for _, every := range []string{
		"null second", "0 second", "'' second", "0.1 second", "'0:0' minute_second", "'-1' " +
			"day", "1000000001 hour",
		"0 year",
	} {
		refused(t, c, "create event e on schedule every "+every+" do select 1", 1542)
		refused(t, c, "alter event good on schedule every "+every, 1542)
	}
	script{
		{"select event_name, interval_value, interval_field from information_schema.events",
			"good '1:30' MINUTE_SECOND"},
		{"alter event good on schedule every 2 hour", ""},
		{"select event_name, interval_value, interval_field from information_schema.events", "good 2 HOUR"},
	}.run(t, c)
}

// TestBoundsOfJSONPaths: a path has at most a hundred legs, as deep as documents are. Each of thirty million
// legs took 64 bytes, which nobody was charged for, and nobody heard KILL.
func TestBoundsOfJSONPaths(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	const path = "concat('$', repeat('.a', 20000000))"
	for _, call := range []string{
		"json_extract('{}', " + path + ")", "json_value('{}', " + path + ")", "json_set('{}', " +
			"" + path + ", 1)",
		"json_insert('{}', '$.a', 1, " + path + ", 1)", "json_replace('{}', " + path + ", 1)",
		"json_remove('{}', " + path + ")", "json_contains_path('{}', 'all', '$', " + path + ")",
		"json_contains('{}', '1', " + path + ")", "json_keys('{}', " + path + ")",
		"json_length('{}', " + path + ")", "json_array_append('[]', " + path + ", 1)",
		"json_array_insert('[]', " + path + ", 1)", "json_search('{}', 'one', 'a', null, " + path + ")",
		"json_extract('{}', concat('$', repeat('.a', 101)))",
	} {
		refused(t, c, "select "+call, 3157)
	}
	script{
		{"select json_extract('{}', concat('$', repeat('.a', 100)))", "NULL"},
		{`select json_contains_path('{"a":1}', 'one', '$**.a'),
			json_contains_path('{"a":{"b":1}}', 'all', '$**.b', '$.a'),
			json_contains_path('[1,2]', 'one', '$[last]', '$.x'),
			json_contains_path('{"a":1}', 'all', '$.a', '$**.c'),
			json_contains_path('{"a":null}', 'one', '$.a'), json_contains_path('{}', 'one', '$.*')`,
			"1 1 1 0 1 0"},
		{`select json_contains_path('{"a":1}', 'one', '$.a', null),
			json_contains_path('{"a":1}', 'all', '$.a', null), json_contains_path(null, 'one', '$')`,
			"1 NULL NULL"},
		{`select json_contains_path('{"a":1}', 'some', '$.a')`, "error 3154"},
		{`select json_contains_path('{"a":1}', 'one', 'a')`, "error 3143"},
	}.run(t, c)
}
