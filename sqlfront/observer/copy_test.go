package observer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"moka/sqlfront/catalog"
)

// TestCopyOfTheTableIsNoChange: a table is copied into another form while its observers rest. What they had
// not acknowledged is delivered as it would have been, what was not changed is not, and what changes
// afterwards is compared with what they have seen.
func TestCopyOfTheTableIsNoChange(t *testing.T) {
	for name, alter := range map[string]string{
		"nothing": "select 1",
		"same keys": "alter table account modify balance decimal(12, 0) not null, add column x int " +
			"default (id + 1)",
		"other keys": "alter table account drop primary key, add primary key (owner, id)",
		"no key":     "alter table account drop primary key",
		"numbered": "alter table account drop primary key, add column n int not null auto_increment " +
			"primary key, add unique key (id)",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := w.node(true)
			n.session("").exec("create database d")
			c := n.session("d")
			c.exec(account, logs,
				"create observer i after insert on account for each row insert into log (what, id, is_now) "+
					"values ('insert', new.id, new.balance)",
				"create observer u after update of balance on account for each row insert into log (what, "+
					"id, was, is_now) values ('update', new.id, old.balance, new.balance)",
				"create observer x after delete on account for each row insert into log (what, id, was) "+
					"values ('delete', old.id, old.balance)",
				"insert into account (id, balance) values (1, 10), (2, 20), (4, 40), (5, 50), (6, 60), (7, "+
					"70)")
			c.rest()
			c.exec("update account set balance = balance + 1")
			c.rest()
			c.exec("delete from log")
			n.stop()

			writer := w.node(false) // nobody runs observers
			c = writer.session("d")
			c.exec("update account set balance = 12 where id = 1",
				"update account set balance = 13 where id = 1", "delete from account where id = 2",
				"insert into account (id, balance) values (8, 80), (9, 90)",
				"delete from account where id = 9",
				"update account set owner = 'new' where id = 7", // which nobody asked for
				alter,
				"update account set balance = 14 where id = 1",
				"update account set balance = 42 where id = 4", "delete from account where id = 5",
				"insert into account (id, balance) values (10, 100)",
				"update account set balance = 82 where id = 8")
			w.node(true)
			c.rest()
			c.want("select what, id, was, is_now from log order by id, what",
				"update 1 11 14; delete 2 21 NULL; update 4 41 42; delete 5 51 NULL; insert 8 NULL 82; "+
					"update 8 80 82; delete 9 90 NULL; insert 10 NULL 100")
			c.want("select count(*) from moka.observer_errors", "0")
			c.exec("delete from log", "update account set balance = 1")
			c.rest()
			c.want("select what, id, was, is_now from log order by id",
				"update 1 14 1; update 4 42 1; update 6 61 1; update 7 71 1; update 8 82 1; update 10 100 1")
		})
	}
}

// TestCopyUnderObservers: changes go on, and are delivered, while the table is copied; each is counted once.
func TestCopyUnderObservers(t *testing.T) {
	n, c := start(t)
	const rows = 60
	c.exec(account, "create table sums (id int primary key, runs int not null, last int)")
	c.exec("insert into sums values (0, 0, 0)")
	for i := range rows {
		c.exec(fmt.Sprintf("insert into account (id, balance) values (%d, 0)", i),
			fmt.Sprintf("insert into sums values (%d, 0, 0)", i+1))
	}
	// The sum of what has changed is right if OLD is each time what was NEW before.
	c.exec("create observer o after update on account for each row update sums set runs = runs + " +
		"(new.balance - old.balance), last = new.balance where id = new.id + 1")
	done := make(chan error)
	go func() {
		s := n.session("d")
		for k := range 600 {
			if _, _, err := s.run(fmt.Sprintf("update account set balance = balance + 1 where id = %d",
				k*7%rows)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for _, alter := range []string{
		"alter table account drop primary key, add primary key (owner, id)",
		"alter table account modify balance bigint unsigned not null",
		"alter table account drop primary key, add unique key (id)",
		"alter table account add primary key (id)",
	} {
		c.exec(alter)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	c.rest()
	c.want("select count(*), sum(balance) from account", "60 600")
	c.want("select sum(runs), sum(runs = last), sum(last) from sums", "600 61 600")
}

// TestCopyKeepsWhatIsParked: a notification that was given up stays so, and is delivered once when it is
// asked for.
func TestCopyKeepsWhatIsParked(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs,
		"create observer o after update on account for each row with (attempts = 1) insert into log (n, "+
			"what, id, was) values (if(new.id = 1, 1, null), 'seen', new.id, old.balance)",
		"insert into log (n) values (1)",
		"insert into account (id, balance) values (1, 10), (2, 20), (3, 30)",
		"update account set balance = 11 where id < 3")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 1")
	c.exec("alter table account drop primary key, add primary key (owner, id)",
		"update account set balance = 12 where id > 1")
	c.eventually("select group_concat(id, ' ', was order by id, was) from log", "2 11,2 20,3 30")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 1")
	c.want("select attempts, parked, error like '%uplicate%' from moka.observer_errors", "1 1 1")
	c.exec("delete from log", "alter observer o retry failed")
	c.eventually("select what, id, was from log", "seen 1 10")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 0")
}

// TestNotesAreCarriedOverElsewhere kills the process that carries notifications over.
func TestNotesAreCarriedOverElsewhere(t *testing.T) {
	midway := 0
	for after := int64(20); after < 400; after += 25 {
		w := newWorld(t)
		w.lease = 40 * time.Millisecond
		n := w.node(false)
		n.session("").exec("create database d")
		c := n.session("d")
		c.exec(account, logs,
			"create observer o after insert or update on account for each row insert into log (what, id, "+
				"was, is_now) values ('seen', new.id, null, new.balance)")
		const rows = 20
		for i := range rows {
			c.exec(fmt.Sprintf("insert into account (id, balance) values (%d, %d)", i, i))
		}
		n.read.left.Store(after)
		_, _, err := c.run("alter table account drop primary key, add primary key (balance, id)")
		n.read.left.Store(1)
		other := w.node(true)
		c = other.session("d")
		if all, jerr := other.eng.Jobs(context.Background()); jerr != nil {
			t.Fatal(jerr)
		} else if err == nil && len(all) == 1 && !all[0].Ended() ||
			len(all) == 1 && all[0].Phase == catalog.PhaseObservers && !all[0].Ended() {
			midway++
		}
		c.eventually("select count(distinct id), count(*) from log", "20 20")
		c.rest()
		c.want("select count(*), sum(id = is_now) from log", "20 20")
		n.stop()
		other.stop()
	}
	if midway < 3 {
		t.Errorf("only %d of the processes died while they carried notifications over", midway)
	}
}
