package observer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"moka/triggers"
)

func TestNotifyWakesForRowsOfItsCondition(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs,
		"insert into account (id, owner, balance) values (1, 'ann', 10), (2, 'bob', 20), (3, 'cat', 30)",
		"create observer n after notify on account for each row insert into log (what, id, is_now) values "+
			"(new.owner, new.id, new.balance)")
	const seen = "select what, id, is_now from log order by n"
	// Changes do not wake it.
	c.exec("update account set balance = balance + 1", "insert into account (id) values (4)",
		"delete from account where id = 4")
	c.rest()
	c.want(seen, "")
	c.exec("notify account where id = 2")
	c.eventually(seen, "bob 2 21")
	c.exec("notify account where balance > 30 and owner <> 'nobody'")
	c.eventually(seen, "bob 2 21; cat 3 31")
	// Twice is twice, if a run was between.
	c.rest()
	c.exec("notify account where id = 2")
	c.eventually(seen, "bob 2 21; cat 3 31; bob 2 21")
	c.exec("prepare p from 'notify account where id = ? and balance + 1 > ?'", "set @id = 3, @least = 5",
		"execute p using @id, @least")
	c.eventually(seen, "bob 2 21; cat 3 31; bob 2 21; cat 3 31")
	c.exec("delete from log where n = 4", "notify account where id > 100")
	c.rest()
	c.want("select count(*) from log", "3")
	c.exec("notify account")
	c.eventually("select count(*) from log", "6")
	c.want("select count(*) from moka.observer_errors", "0")
	c.want("select events from moka.observers where observer_name = 'n'", "NOTIFY")
	c.exec("alter observer n disable", "notify account where id = 1")
	c.rest()
	c.want("select count(*) from log", "6")
	c.exec("drop observer n", "notify account")
	c.want("show warnings", "Note 1360 Table 'account' has no observer AFTER NOTIFY that is enabled")
}

// TestNotifyConflictsWithNobody runs NOTIFY beside writers of the same rows: each sees them as they
// were, and both commit.
func TestNotifyConflictsWithNobody(t *testing.T) {
	n, c := start(t)
	c.exec(account, logs, "insert into account (id, balance) values (1, 10), (2, 20)",
		"create observer n after notify on account for each row insert into log (what, id, is_now) values "+
			"('seen', new.id, new.balance)")
	a, b := n.session("d"), n.session("d")
	a.exec("begin", "notify account", "select * from account")
	b.exec("begin", "notify account where id < 5", "select * from account")
	c.exec("update account set balance = balance + 1")
	c.want("select count(*) from log", "0") // nothing before the commit
	a.exec("commit")
	c.eventually("select id, is_now from log order by id, n", "1 11; 2 21")
	c.rest()
	b.exec("commit")
	c.eventually("select id, is_now from log order by id, n", "1 11; 1 11; 2 21; 2 21")
	// A transaction that is rolled back has notified nobody.
	a.exec("begin", "notify account", "rollback", "begin", "savepoint s", "notify account",
		"rollback to s", "commit")
	c.rest()
	c.want("select count(*) from log", "4")
	// With writes, both or none: the second loses against the first.
	a.exec("begin", "notify account where id = 1", "update account set balance = 0 where id = 2")
	c.want("select count(*) from log", "4")
	a.exec("commit")
	c.eventually("select id, is_now from log order by n desc limit 1", "1 11")
}

func TestNotifyOfARowThatIsGone(t *testing.T) {
	w := newWorld(t)
	idle := w.node(false) // nobody runs observers yet
	idle.session("").exec("create database d")
	c := idle.session("d")
	c.exec(account, logs, "insert into account (id, balance) values (1, 1), (2, 2)",
		"create observer n after notify on account for each row insert into log (what, id, is_now) values "+
			"('seen', new.id, new.balance)",
		"notify account", "delete from account where id = 1", "update account set balance = 3 where id = 2",
		"notify account")
	c.want("select observer_name, waiting from moka.observer_backlog", "n 2")
	w.node(true)
	c.rest()
	c.want("select id, is_now from log", "2 3")
	c.want("select count(*) from moka.observer_errors", "0")
}

func TestNotifyIsRefusedWhere(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create table keyless (a int)")
	c.wantCode("create observer o after notify on account for each row insert into log (id) values (new.nix)",
		1054, "nix")
	c.wantCode("create observer o after notify or insert on account for each row delete from log", 1064,
		"insert on account")
	c.wantCode("create observer o after notify on keyless for each row delete from log", 1235, "primary key")
	c.wantCode("notify nix", 1146, "nix")
	c.wantCode("notify account where nix = 1", 1054, "nix")
	c.exec("start transaction read only")
	c.wantCode("notify account", 1792, "READ ONLY")
	c.exec("rollback")
	// It writes the table that it is declared on, and nothing wakes it by that.
	c.exec("create observer o after notify on account for each row update account set balance = balance + " +
		"1 where id = new.id")
	if got := c.text("show warnings"); strings.Contains(got, "cycle") {
		t.Error(got)
	}
}

// TestDroppedTablesLeaveNoNotifications: what observers of a table that is dropped had not done goes, waiting
// or parked, also what was left by a process that ended in between (O4, DROP TABLE leaked them, and they held
// garbage collection for ever).
func TestDroppedTablesLeaveNoNotifications(t *testing.T) {
	w := newWorld(t)
	idle := w.node(false)
	s := idle.session("")
	s.exec("create database d", "create database e", "create table e.gone (id int primary key)",
		"create observer e.o after insert on e.gone for each row set @x = 1",
		"insert into e.gone values (1), (2)", "drop database e")
	waiting := func(want int) { t.Helper(); w.notifications(want) }
	waiting(2) // nobody is there to remove them
	n := w.node(true)
	waiting(0)
	s = n.session("d")
	s.exec("create table t (id int primary key)", "create table kept (id int primary key)",
		"create observer bad after insert on t for each row with (attempts = 1) signal sqlstate '45000' "+
			"set message_text = 'no'",
		"create observer also after insert on kept for each row with (attempts = 1) signal sqlstate "+
			"'45000' set message_text = 'no'",
		"insert into t values (1), (2), (3)", "insert into kept values (1)")
	s.eventually("select sum(parked) from moka.observer_backlog", "4")
	s.exec("drop table t")
	waiting(1)
	s.eventually("select sum(parked) from moka.observer_backlog", "1")
}

// notifications waits until there are so many, waiting and parked.
func (w *world) notifications(want int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		n := 0
		list, err := triggers.Backlogs(ctx, w.mem)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, b := range list {
			n += int(b.Waiting + b.Parked)
		}
		if n == want {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("%d notifications, want %d", n, want)
		case <-tick.C:
		}
	}
}

// TestTruncateLeavesNoNotifications: what observers had not done of the rows that TRUNCATE takes goes with
// them, parked or waiting for an observer that is disabled; it stayed, was shown as parked, and held garbage
// collection. What is parked of later rows stays.
func TestTruncateLeavesNoNotifications(t *testing.T) {
	w := newWorld(t)
	n := w.node(true)
	s := n.session("")
	const body = " with (attempts = 1) signal sqlstate '45000' set message_text = 'no'"
	s.exec("create database d", "use d", "create table t (id int primary key)",
		"create table kept (id int primary key)",
		"create observer bad after insert on t for each row"+body,
		"create observer also after insert on kept for each row"+body,
		"insert into t values (1), (2), (3)", "insert into kept values (1)")
	s.eventually("select sum(parked) from moka.observer_backlog", "4")
	s.exec("truncate table t")
	w.notifications(1)
	s.exec("insert into t values (1)")
	s.eventually("select sum(parked) from moka.observer_backlog", "2")
	// new storage: what is parked is carried over
	s.exec("alter table t add c int not null auto_increment unique")
	s.eventually("select sum(parked) from moka.observer_backlog", "2")
	s.exec("truncate table kept", "create table other (id int)")
	w.notifications(1)
	s.want("select observer_name, parked from moka.observer_backlog where parked > 0", "bad 1")
}
