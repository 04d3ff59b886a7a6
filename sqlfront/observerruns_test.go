package sqlfront_test

import "testing"

// TestRunsAreProcesses: SHOW PROCESSLIST did not show runs of observers, and KILL could not end one (O10).
func TestRunsAreProcesses(t *testing.T) {
	d, s := observed(t)
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)", "create user `few@x`",
		"create user few", "grant insert, trigger on own.a to `few@x`", "grant insert on own.a to few")
	// A name may have an @: the runs of few@x were those of few, too.
	few, other := s.open("few@x", "own", ""), s.open("few", "own", "")
	few.SetMaxOpenConns(1)
	run(t, few, "create observer o after insert on a for each row with (attempts = 3, backoff_ms = 1) "+
		"begin set @x = sleep(1000000); end", "insert into a values (7)")
	const (
		from  = " from information_schema.processlist where state like 'running observer%'"
		shown = "select user, db, command, state, info" + from
		id    = "select id" + from
	)
	eventually(t, root, shown, "few@x own Query running observer o OBSERVER `o` ON `a` FOR ROW id=7")
	want(t, few, shown, "few@x own Query running observer o OBSERVER `o` ON `a`")
	want(t, other, shown, "")
	run(t, other, "show processlist")

	wantError(t, other, "kill query "+text(t, root, id), 1095)
	run(t, few, "kill query "+text(t, few, id))
	const failure = "select attempts, parked, error like '%Query execution was interrupted%' " +
		"from moka.observer_errors"
	eventually(t, root, failure, "1 0 1")

	eventually(t, root, "select state"+from, "running observer o, attempt 2")
	elsewhere := d.serve().conn("")
	want(t, elsewhere, shown, "")
	run(t, elsewhere, "kill "+text(t, root, id))
	eventually(t, root, failure, "2 0 1")

	eventually(t, root, "select state"+from, "running observer o, attempt 3")
	run(t, root, "kill "+text(t, root, id))
	eventually(t, root, failure, "3 1 1")
	wantError(t, root, "kill 1234567", 1094)
}
