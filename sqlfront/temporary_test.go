package sqlfront_test

import "testing"

// TestRenamingTemporaryTables: a temporary table goes into another database by ALTER TABLE … RENAME for who
// may make one there; in a body and a prepared statement it is what has the name by then.
func TestRenamingTemporaryTables(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create database e", "create user ann",
		"grant create temporary tables on d.* to ann")
	ann := s.open("ann", "d", "")
	ann.SetMaxOpenConns(1)
	run(t, ann, "create temporary table t (id int)", "insert into t values (1)")
	wantError(t, ann, "alter table t rename e.t", 1044)
	run(t, root, "grant create temporary tables on e.* to ann")
	run(t, ann, "alter table t rename e.u")
	want(t, ann, "select * from e.u", "1")
	wantError(t, ann, "alter table e.u rename mysql.user", 1044)

	run(t, root, "use d", "create table t (id int primary key)", "insert into t values (5)",
		"create temporary table t (id int)", "prepare p from 'alter table t rename u'",
		"create procedure r() alter table t rename v", "call r()")
	want(t, root, "select * from v", "")
	run(t, root, "call r()") // the stored one, below the name of the temporary one
	want(t, root, "select * from v", "")
	run(t, root, "drop temporary table v")
	want(t, root, "select * from v", "5")
	run(t, root, "rename table v to t", "execute p")
	want(t, root, "select * from u", "5")
}
