package sqlfront_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"moka/sqlfront"
)

// TestNamesAndCommentsAreBounded: comments, names of databases, views, events, observers and the number of
// keys had no bound, and what is in the catalog is in the memory of every process (all-5 of the attackers'
// finds).
func TestNamesAndCommentsAreBounded(t *testing.T) {
	root := observing(t).conn("")
	long, name := strings.Repeat("n", 65), strings.Repeat("n", 64)
	text := func(n int) string { return "'" + strings.Repeat("ä", n) + "'" }
	run(t, root, "create database own", "use own", "create table t (a int primary key, b int, key kb (b))")
	list := func(n int, each, sep string) string {
		var out []string
		for i := range n {
			out = append(out, strings.ReplaceAll(each, "#", fmt.Sprint(i)))
		}
		return strings.Join(out, sep)
	}
	script{
		{"create database " + long, "error 1059"},
		{"create database `a\x00b`", "error 1102"},
	}.run(t, root)
	for _, what := range []string{
		"create table %s (a int)", "create table x (%s int)",
		"alter table t add %s int",
		"alter table t rename column b to %s", "alter table t rename to %s", "rename table t to %s",
		"create index %s on t (b)", "alter table t add key %s (b)", "alter table t rename index kb to %s",
		"create table x (a int, key %s (a))", "create table x (a int, constraint %s check (a > 0))",
		"create table x (a int, constraint %s foreign key (a) references t (a))",
		"alter table t add constraint %s check (b > 0)", "create view %s as select 1",
		"create trigger %s before insert on t for each row set @x = 1",
		"create observer %s after insert on t for each row set @x = 1", "create procedure %s() select 1",
		"create function %s() returns int return 1", "create event %s on schedule every 1 day do select 1",
	} {
		script{
			{fmt.Sprintf(what, long), "error 1059"},
			{fmt.Sprintf(what, "`a\x00b`"), "error 1300"}, // dumps are cut there
		}.run(t, root)
	}
	script{
		{"create trigger `` before insert on t for each row set @x = 1", "error 1458"},
		{"create trigger `a ` before insert on t for each row set @x = 1", "error 1458"},
		{"create user 'a\\0b'", "error 1300"},
		{"create role 'a\\0b'", "error 1300"},
		{"create view x as select 'a\\0b'", ""},
		{"drop view x", ""},
	}.run(t, root)
	script{
		{"create view x as select 1 as " + long, "error 1166"},
		{"create view x (" + long + ") as select 1", "error 1166"},
		{"create database " + name, ""},
		{"create view " + name + " as select 1 as " + name, ""},
		{"create view expression as select '" + long + "'", ""},
		{"create event " + name + " on schedule every 1 day do select 1", ""},
		{"create observer " + name + " after insert on t for each row set @x = 1", ""},
		{"create table x (a int) comment " + text(2049), "error 1628"},
		{"alter table t comment " + text(2049), "error 1628"},
		{"alter table t comment " + text(2048), ""},
		{"create table x (a int comment " + text(1025) + ")", "error 1629"},
		{"alter table t modify b int comment " + text(1025), "error 1629"},
		{"alter table t modify b int comment " + text(1024), ""},
		{"create table x (a int, key k (a) comment " + text(1025) + ")", "error 1688"},
		{"create index k on t (b) comment " + text(1025), "error 1688"},
		{"create index k on t (b) comment " + text(1024), ""},
		{"create table x (" + list(4097, "c# int", ",") + ")", "error 1117"},
		{"create table x (a int primary key, " + list(64, "key k# (a)", ",") + ")", "error 1069"},
		{"create table k64 (a int, " + list(64, "key k# (a)", ",") + ")", ""},
		{"alter table k64 add key one (a)", "error 1069"},
		{"create table x (" + list(17, "c# int", ",") + ", key k (" + list(17, "c#", ",") + "))",
			"error 1070"},
		{"create table x (" + list(17, "c# int", ",") + ", primary key (" + list(17, "c#", ",") + "))",
			"error 1070"},
		{"create table k16 (" + list(17, "c# int", ",") + ", key k (" + list(16, "c#", ",") + "))", ""},
		{"create view x as select '" + strings.Repeat("x", 1<<21) + "' as a", "error 1437"},
		{"create event x on schedule every 1 day do set @x = '" + strings.Repeat("x", 3<<20) + "'",
			"error 1437"},
		{"create table x (a longtext default ('" + strings.Repeat("x", 4<<20) + "'))", "error 1117"},
	}.run(t, root)
}

// TestCatalogMemoryIsBounded: what tables and bodies take in memory was nobody's, and a process whose memory
// they filled could not be started again (all-5, trig-7).
func TestCatalogMemoryIsBounded(t *testing.T) {
	root := newDatabase(t).serve(func(o *sqlfront.Options) { o.CatalogMemory = 2 << 20 }).conn("")
	run(t, root, "create database own", "create database other", "use own")
	long := strings.Repeat("x", 150_000)
	made := 0
	for ; made < 100; made++ {
		query := fmt.Sprintf("create procedure p%d() set @x = '%s'", made, long)
		_, err := root.ExecContext(t.Context(), query)
		if err != nil {
			wantErr(t, "past half of the catalog's memory", err, 3170, "HY000")
			break
		}
	}
	if made != 3 {
		t.Errorf("%d procedures of 150 KB in a catalog of 2 MiB", made)
	}
	script{
		{"create procedure small() set @x = 1", ""},
		{"create table t (a int primary key, b int)", ""},
		{"create procedure big() set @x = '" + long + "'", "error 3170"},
		// what others may have is not taken by who has most
		{"create procedure other.big() set @x = '" + long + "'", ""},
		{"alter table t drop column b", ""},
		{"alter table t comment '" + strings.Repeat("x", 500) + "'", "error 3170"},
		{"drop procedure p0", ""},
		{"drop procedure p1", ""},
		{"create procedure big() set @x = '" + long + "'", ""},
		{"drop database own", ""},
	}.run(t, root)
}

// TestCompiledBodiesAreCharged: a compiled body takes a hundred times its text. Sessions kept up to 512 of
// routines, and statements had those of triggers, charged to nobody (beside trig-4).
func TestCompiledBodiesAreCharged(t *testing.T) {
	s := newDatabase(t).serve()
	root, c := s.conn(""), s.conn("")
	run(t, root, "set global moka_session_memory = 15000000")
	defer run(t, root, "set global moka_session_memory = default")
	long := "begin if 0 then " + strings.Repeat("set @a = 1; ", 10_000) + "end if; end"
	longer := strings.Replace(long, "set @a", strings.Repeat("set @b = 1; ", 5000)+"set @a", 1)
	run(t, c, "create database own", "use own", "create table t (id int primary key)")
	for i := range 2 {
		run(t, c, fmt.Sprintf("create procedure p%d() %s", i, long))
	}
	run(t, c, "create trigger x before insert on t for each row "+long)
	script{
		{"call p0()", ""},
		{"set @v = repeat('x', 4000000)", "error 3170"}, // the session has 12 MB of a routine
		{"call p1()", ""}, // in the place of the other
		{"set @v = repeat('x', 4000000)", "error 3170"},
		{"call p0()", ""},
		{"drop procedure p0", ""},
		{"create procedure p0() " + longer, ""},
		{"call p0()", ""}, // not kept, as it is too large
		{"set @v = repeat('x', 14000000)", ""},
		{"set moka_query_memory = 4000000", ""},
		{"call p0()", "error 3170"},
		{"insert into t values (1)", "error 3170"},
		{"create procedure q() " + long, "error 3170"},
		{"create trigger y before insert on t for each row " + long, "error 3170"},
		{"set moka_query_memory = 100000000", ""},
		{"call p0()", ""},
		{"insert into t values (1)", ""},
	}.run(t, c)
}

// TestPairsOfPointsAreBounded: what compares each point of one geometry with each of another hears no KILL,
// so it refuses what would take long: two statements of 200,000 points each took a machine's cores for hours.
func TestPairsOfPointsAreBounded(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "set @l = st_geomfromtext(concat('linestring(', repeat('1 1,2 3,', 20000), '0 0)'))",
		"set @k = st_geomfromtext(concat('linestring(', repeat('5 1,2 9,', 20000), '7 8)'))")
	for _, f := range []string{"st_intersects", "st_disjoint", "st_within", "st_distance"} {
		wantError(t, c, "select "+f+"(@l, @k)", 3134)
	}
	script{
		{"select st_intersects(@l, point(0, 0)), st_disjoint(@l, point(9, 9)), st_within(point(1, 1), @l)",
			"1 1 0"},
		{"select st_distance(point(0, 0), point(3, 4)), st_intersects(null, @l)", "5 NULL"},
	}.run(t, c)
}

// TestNamesOfZonesAreShort: names of time zones have at most 64 characters. Longer ones took 25 times their
// bytes, charged to nobody.
func TestNamesOfZonesAreShort(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	want(t, c, "select convert_tz('2024-01-01', '+00:00', repeat('a/', 1000000)), "+
		"convert_tz('2024-01-01 12:00:00', 'UTC', 'Europe/Berlin')", "NULL 2024-01-01 13:00:00")
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("a name of 2 MB took %d bytes", took)
	}
	wantError(t, c, "set time_zone = 'Europe/"+strings.Repeat("a/", 40)+"'", 1298)
}

// TestNestedFunctionsAreLinear: each function asked all below it for their types three times, so that CONCATs
// in 300 bytes, or fourteen IFs of an ordinary program, took hours unheard by KILL. 3 to the power of 60 does
// not end.
func TestNestedFunctionsAreLinear(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table n (id int primary key, s varchar(20))", "insert into n values (1, 'a')",
		"set @a = 'a'")
	for _, f := range []string{"concat(%s)", "if(id = 0, 'v', %s)", "ifnull(%s, 'x')", "lower(%s)",
		"left(%s, 3)",
		"case when id = 0 then 'v' else %s end", "replace(%s, 1, 2)", "coalesce(%s, 2)", "greatest(%s, 'a')",
		"concat(%s, @a)", "regexp_replace(%s, 'b', 'c')", "rpad(%s, 1, 'x')",
		"if(id = 1, lower(concat(%s)), @a)",
		"convert(%s using utf8mb4)", "@v := concat(%s)"} {
		e := "s"
		for range 60 {
			e = strings.Replace(f, "%s", e, 1)
		}
		for range 3 {
			if got := text(t, c, "select "+e+" from n"); !strings.HasPrefix(got, "a") {
				t.Errorf("%s: %s", f, got)
			}
		}
	}
}
