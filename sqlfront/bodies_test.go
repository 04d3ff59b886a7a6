package sqlfront_test

import (
	"fmt"
	"testing"
)

// TestTriggersOfPlans: a plan of the cache fires the table's triggers, compiled once, and follows changes of what they are and what
// they use, on any server.
func TestTriggersOfPlans(t *testing.T) {
	d := newDatabase(t)
	s, other := d.serve(), d.serve()
	c, far := s.conn(""), other.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, n int)", "create table log (id int primary key, what varchar(20))",
		"create trigger a after insert on t for each row insert into log (id, what) values (new.id, concat('n is ', new.n))")
	run(t, far, "use d")
	id := 0
	insert := func() (hits, compiled int64) {
		t.Helper()
		before := s.Metrics()
		id++
		run(t, c, fmt.Sprintf("insert into t values (%d, %d)", id, 10*id))
		after := s.Metrics()
		return after.PlanBodyHits - before.PlanBodyHits, after.PlanBodyMisses - before.PlanBodyMisses
	}
	last := func(want string) {
		t.Helper()
		if got := text(t, c, fmt.Sprintf("select * from log where id = %d", id)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	insert()
	if _, n := insert(); n != 1 {
		t.Errorf("the first run by a plan compiled %d sets of triggers", n)
	}
	if n, _ := insert(); n != 1 {
		t.Errorf("the second run found %d sets of compiled triggers", n)
	}
	last("3 n is 30")
	run(t, far, "alter table log add column extra int default 7")
	insert()
	last("4 n is 40 7")
	run(t, far, "drop trigger a", "create trigger a after insert on t for each row insert into log values (new.id, 'new', new.n)")
	for range 3 {
		insert()
		last(fmt.Sprintf("%d new %d", id, 10*id))
	}
	run(t, far, "create trigger z before insert on t for each row precedes a set new.n = new.n + 1")
	for range 3 {
		insert()
		last(fmt.Sprintf("%d new %d", id, 10*id+1))
	}
	run(t, far, "drop trigger z", "drop trigger a")
	for range 3 {
		insert()
		last("")
	}
	run(t, far, "create trigger u after insert on t for each row set @seen = new.id")
	for range 3 {
		if n, m := insert(); n+m > 0 {
			t.Error("a trigger with a user variable was run from the cache")
		}
	}
	if got := text(t, c, "select @seen"); got != fmt.Sprint(id) {
		t.Errorf("@seen is %s", got)
	}
	run(t, c, "drop trigger u", "create trigger b before insert on t for each row set new.n = 0", "set moka_plan_cache = 0")
	for range 3 {
		if n, m := insert(); n+m > 0 {
			t.Error("the plan cache is off and has run a trigger")
		}
	}
}
