package sqlfront_test

import (
	"testing"
)

// TestObserverStatementsEndNoTransactions: CREATE, ALTER and DROP OBSERVER, by who had no more than TRIGGER,
// ended every open transaction that had written the table with 1213 (trig-10). It commits behind them, as a
// writer that knows the new observers. Statements of the same SQL node and of another.
func TestObserverStatementsEndNoTransactions(t *testing.T) {
	d, s := observed(t)
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key, v int, w int)",
		"create table log (id bigint auto_increment primary key, what varchar(20), row_id int)",
		"insert into a values (1, 0, 0), (2, 0, 0), (3, 0, 0)")
	note := func(o, after string) string {
		row := "new.id"
		if after == "delete" {
			row = "old.id"
		}
		return "create observer own." + o + " after " + after + " on own.a for each row " +
			"insert into own.log (what, row_id) values ('" + o + "', " + row + ")"
	}
	for _, ddl := range []runner{root, d.serve().conn("own")} {
		for _, isolation := range []string{"repeatable read", "read committed"} {
			c := s.conn("own")
			run(t, c, "set session transaction isolation level "+isolation)
			// an observer that was not there when the rows were written
			run(t, c, "begin", "insert into a values (4, 0, 0)", "update a set v = v + 1 where id = 1",
				"savepoint x", "update a set v = v + 1 where id = 3", "rollback to x",
				"delete from a where id = 2")
			run(t, ddl, note("inserted", "insert"), note("updated", "update"), note("deleted", "delete"),
				note("other", "update of w"))
			run(t, c, "update a set v = v + 1 where id = 1", "commit")
			eventually(t, root, "select group_concat(what, row_id order by what) from log",
				"deleted2,inserted4,updated1")
			// one that comes and goes, and one that is gone
			run(t, c, "begin", "update a set v = v + 1 where id = 1")
			run(t, ddl, "alter observer own.updated disable", "drop observer own.deleted",
				"create trigger own.x before insert on own.a for each row set @x = 1", "drop trigger own.x")
			run(t, c, "delete from a where id = 4", "commit")
			run(t, c, "begin", "update a set w = w + 1 where id = 3")
			run(t, ddl, "alter observer own.updated enable")
			run(t, c, "commit")
			eventually(t, root, "select group_concat(what, row_id order by what, row_id) from log",
				"deleted2,inserted4,other3,updated1,updated3")
			eventually(t, root, "select count(*) from moka.observer_backlog where waiting > 0", "0")
			// what changes the table otherwise still ends it
			run(t, c, "begin", "update a set v = 0 where id = 1")
			run(t, ddl, "drop observer own.inserted", "alter table own.a add extra int",
				"alter table own.a drop extra")
			_, err := c.ExecContext(t.Context(), "commit")
			wantErr(t, "ALTER TABLE in between", err, 1213, "40001")
			run(t, root, "drop observer updated", "drop observer other", "delete from log",
				"insert into a values (2, 0, 0)")
		}
	}
}
