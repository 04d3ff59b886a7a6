package sqlfront_test

import "testing"

// TestSnapshotOfTheFirstRead takes the snapshot of a transaction with the first read of a table, not with
// what comes before it (W, the snapshot of a transaction is pinned by SET, SHOW, …), whichever way the
// transaction has begun.
func TestSnapshotOfTheFirstRead(t *testing.T) {
	s := newDatabase(t).serve()
	c, other := s.conn(""), s.conn("")
	run(t, other, "create database d", "use d", "create table t (id int primary key, a int)", "insert into t values (1, 0)")
	run(t, c, "use d")
	before := []string{
		"set @v = 1", "set names utf8mb4", "set time_zone = '+00:00'", "use d", "show tables", "show columns from t", "show variables like 'version'", "select @@version",
		"select database()", "select 1", "select now()", "do 1", "set @w = (select 1)", "show status like 'Threads_running'", "select table_name from information_schema.tables where table_schema = 'd'",
		"savepoint s", "explain select * from t", "show create table t", "prepare p from 'select * from t'",
	}
	n := 0
	for _, begin := range [][]string{{"begin"}, {"start transaction read only"}, {"set autocommit = 0"}} {
		for _, q := range before {
			run(t, c, append(begin, q)...)
			n++
			run(t, other, "update t set a = a + 1", "create table if not exists new"+string(rune('a'+n%26))+" (a int)")
			want(t, c, "select count(*) from new"+string(rune('a'+n%26)), "0")
			first := text(t, c, "select a from t")
			if now := text(t, other, "select a from t"); first != now {
				t.Errorf("%s, %s: reads %s, there was %s when it read first", begin, q, first, now)
			}
			run(t, other, "update t set a = a + 1")
			run(t, c, q)
			want(t, c, "select a from t", first) // and keeps it
			run(t, c, "commit", "set autocommit = 1")
		}
	}
	// What has written, or locked, has its snapshot; WITH CONSISTENT SNAPSHOT takes one.
	run(t, c, "start transaction with consistent snapshot")
	first := text(t, other, "select a from t")
	run(t, other, "update t set a = a + 1")
	run(t, c, "select 1")
	want(t, c, "select a from t", first)
	run(t, c, "commit", "begin", "insert into t values (2, 7)", "select 1")
	want(t, c, "select a from t where id = 2", "7")
	run(t, c, "savepoint s", "update t set a = 8 where id = 2", "select 1", "rollback to s")
	want(t, c, "select a from t where id = 2", "7")
	run(t, c, "rollback")
	want(t, c, "select count(*) from t", "1")
}
