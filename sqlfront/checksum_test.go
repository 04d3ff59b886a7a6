package sqlfront_test

import (
	"strings"
	"testing"
)

// TestChecksumTable: rows decide, not their order nor how they came to be what they are.
func TestChecksumTable(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table a (id int primary key, v varchar(20), n decimal(8,2), at datetime(3), j json)", "create table b like a", "alter table b drop column j", "create table e like a",
		"insert into a values (1, 'x', 1.5, '2024-01-01 10:00:00.123', '{\"a\": 1}'), (2, null, null, null, null), (3, '', 0, null, '[]')",
		"insert into b values (3, '', 0, null), (2, 'later', null, null)", "alter table b add column j json", "update b set j = '[]' where id = 3", "update b set v = null where id = 2",
		"insert into b values (1, 'x', 1.50, '2024-01-01 10:00:00.123', '{\"a\":1}')",
		"create table nokey (id int, v varchar(20))", "create table nokey2 (id int, v varchar(20))", "insert into nokey values (1, 'a'), (1, 'a'), (2, 'b')", "insert into nokey2 values (2, 'b'), (1, 'a'), (1, 'a')",
		"create view w as select * from a")
	sum := func(what string) string {
		t.Helper()
		got := strings.Fields(text(t, c, "checksum table "+what))
		return got[len(got)-1]
	}
	if a, b := sum("a"), sum("d.b extended"); a != b || a == "0" || a == "NULL" {
		t.Errorf("%s, and %s of the same rows", a, b)
	}
	if a, b := sum("nokey"), sum("nokey2"); a != b || a == "0" {
		t.Errorf("%s, and %s of the same rows without a key", a, b)
	}
	want(t, c, "checksum tables e, d.e", "d.e 0; d.e 0")
	want(t, c, "checksum table a quick", "d.a NULL")
	was := sum("a")
	run(t, c, "begin", "update a set v = '' where id = 2")
	if now := sum("a"); now == was {
		t.Error("NULL and '' are the same")
	}
	run(t, c, "rollback")
	if now := sum("a"); now != was {
		t.Errorf("%s after the rollback, %s before", now, was)
	}
	want(t, c, "checksum table nowhere, e", "d.nowhere NULL; d.e 0")
	want(t, c, "checksum table nowhere", "d.nowhere NULL")
	want(t, c, "show warnings", "Error 1146 Table 'd.nowhere' doesn't exist")
	want(t, c, "checksum table w", "d.w NULL")
	want(t, c, "show warnings", "Error 1347 'd.w' is not BASE TABLE")
	run(t, c, "create user u")
	u := s.open("u", "", "")
	_, err := u.Exec("checksum table d.a")
	wantErr(t, "CHECKSUM TABLE without a right to read", err, 1142, "42000")
	_, err = c.ExecContext(t.Context(), "checksum table a fast")
	wantErr(t, "CHECKSUM TABLE … FAST", err, 1064, "42000")
}
