package sqlfront_test

import (
	"strings"
	"testing"
)

// TestTooManyDigits: CAST(x AS DATETIME(7)) panicked, which closed the connection, by whatever way it was
// said; NOW(7) was 1105.
func TestTooManyDigits(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key)",
		"create table h (a int)")
	script{{"alter table h add column b datetime(3) as (cast(a as datetime(7)))", "error 1426"}}.run(t, root)
	for _, cast := range []string{"cast('2020-01-01' as datetime(7))", "convert('2020-01-01', datetime(99))",
		"cast(null as datetime(100000000000))", "cast('10:00' as time(7))", "now(7)", "current_timestamp(7)",
		"sysdate(7)", "curtime(7)", "utc_timestamp(7)"} {
		for _, q := range []string{"select #", "prepare s from 'select @'", "create view v as select # a",
			"select 1 from t where # is null", "update t set id = # is null",
			"select date_add(#, interval 1 day)",
			"create procedure p() select #", "create event e on schedule every 1 day do select #",
			"create trigger x before insert on t for each row set new.id = #",
			"create table g (a int, b datetime(3) default (#))",
			"create table g (a int, check (# is null))"} {
			q = strings.NewReplacer("#", cast, "@", strings.ReplaceAll(cast, "'", "''")).Replace(q)
			// What is in the body of a routine may be bound when it runs.
			body := strings.HasPrefix(q, "create procedure") || strings.HasPrefix(q, "create event")
			if got := results(t, root, q); got != "error 1426" && (got != "" || !body) {
				t.Errorf("%s: %s", q, got)
			}
			run(t, root, "drop procedure if exists p", "drop event if exists e")
		}
	}
	want(t, root, "select cast('2020-01-01 00:00:00.1234567' as datetime(6)), "+
		"cast('2020-01-01' as datetime(0))",
		"2020-01-01 00:00:00.123457 2020-01-01 00:00:00")
}

// TestLeadingCharacters: ASCII and ORD of more than 64 KiB were errors, 240 MB long for a text of 60.
func TestLeadingCharacters(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database d", "use d",
		"create table t (e enum('xa', 'yb'), s set('m', 'n'), b blob, n int, j json)",
		"insert into t values ('yb', 'n', x'fffe', 57, '[1]')")
	script{
		{"select ascii(repeat('a', 100000)), ord(repeat('ä', 100000)), ascii(''), ord(''), ascii(null)",
			"97 50084 0 0 NULL"},
		{"select ascii('ä'), ord('€'), ord('\U0001F600'), ascii(-1), ord(57)",
			"195 14844588 4036991104 45 53"},
		{"select ascii(e), ord(s), ascii(b), ord(b), ascii(n), ord(j) from t", "121 110 255 255 53 91"},
		{"select find_in_set('zz', repeat('a,', 100000)), find_in_set('b', 'a,B,c')", "0 2"},
	}.run(t, root)
	if _, err := root.ExecContext(t.Context(), "select format(1, 2, repeat('x', 3000000))"); err == nil ||
		len(err.Error()) > 600 {
		t.Errorf("FORMAT in a language of 3 MB: %v", err)
	}
}
