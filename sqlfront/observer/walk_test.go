package observer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// filled is a table with n rows, and a total that knows nothing of them.
func filled(c *session, n int) {
	c.exec("create table base (id int primary key, a int)", "create table total (s int, n int)",
		"insert into total values (0, 0)")
	for from := 0; from < n; from += 500 {
		var rows []string
		for i := from; i < min(from+500, n); i++ {
			rows = append(rows, fmt.Sprintf("(%d, %d)", i, i%97))
		}
		c.exec("insert into base values " + strings.Join(rows, ", "))
	}
}

const sums = " after insert or update or delete on base for each row with (backoff_ms = 1) with backfill " +
	keepsSum

// exact compares what the observer has kept with what there is.
func exact(c *session) {
	c.t.Helper()
	c.want("wait for observers timeout 60", "")
	c.want("select s, n from total", c.text("select coalesce(sum(a), 0), count(*) from base"))
}

// TestBackfill: an observer created WITH BACKFILL runs once for each row that is there, while clients insert,
// change and delete rows before and behind the walk, and the processes that walk die.
func TestBackfill(t *testing.T) {
	w := newWorld(t)
	w.withheld, w.hold = 50*time.Millisecond, 50*time.Millisecond
	front := w.node(false)
	front.session("").exec("create database d")
	c := front.session("d")
	const rows = 1500
	filled(c, rows)
	c.exec("create observer o" + sums)
	var clients sync.WaitGroup
	done := make(chan struct{})
	leave := func() {
		close(done)
		clients.Wait()
	}
	var once sync.Once
	defer func() { once.Do(leave) }()
	for i := range 2 {
		s := front.session("d")
		r := rand.New(rand.NewPCG(uint64(i), 3))
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				id := r.IntN(rows + 100)
				switch r.IntN(4) {
				case 0:
					s.exec(fmt.Sprintf("delete from base where id = %d", id))
				case 1:
					s.exec(fmt.Sprintf("replace into base values (%d, %d)", id, r.IntN(100)))
				default:
					s.exec(fmt.Sprintf("update base set a = a + 1 where id = %d", id))
				}
			}
		})
	}
	// So many requests, and the process is dead. How many it spends on the walk, and how many on runs that
	// lose to the clients, is left to chance: so it is more and more, until a dead one has walked something.
	walked := "0"
	for after := int64(20); walked == "0" && after <= 20_000; after *= 2 {
		n := w.node(true)
		n.read.left.Store(after)
		for n.read.left.Load() != 1 {
			c.text("select 1")
		}
		n.stop()
		walked = c.text("select ifnull(rows_walked, 'all') from moka.observer_backlog")
	}
	if walked == "0" {
		t.Error("nothing has been walked by processes that died")
	}
	w.node(true)
	w.node(true)
	c.eventually("select rows_walked, rows_to_walk from moka.observer_backlog", "NULL NULL")
	once.Do(leave)
	exact(c)
}

// TestBackfillShowsHowFarItIs: progress is to be seen, a wait waits for it, and an ALTER that would store the
// rows anew does not lose what has not been walked yet: it is refused.
func TestBackfillShowsHowFarItIs(t *testing.T) {
	_, c := start(t)
	filled(c, 700)
	c.exec("create observer o after insert or update or delete on base for each row with (enabled = false) " +
		"with backfill " + keepsSum)
	c.want("select rows_walked, rows_to_walk >= 0 from moka.observer_backlog", "0 1")
	c.wantCode("wait for observers o", 9020, "is disabled and has rows to run for")
	c.exec("delete from base where id < 100", "update base set a = 5 where id = 650") // nobody is told
	c.wantCode("alter table base modify a decimal(20,0)", 1846, "WITH BACKFILL")
	c.exec("alter observer o enable")
	exact(c)
	c.want("select rows_walked from moka.observer_backlog", "NULL")
	c.exec("alter table base modify a decimal(20,0)", "update base set a = a + 1 where id < 300",
		"delete from base where id > 600")
	exact(c)
	c.exec("create observer again after notify on base for each row with backfill update total set n = n + 1",
		"wait for observers")
	c.want("select n from total", "1002") // 501 rows
	c.wantCode("create observer x after delete on base for each row with backfill delete from total", 1235,
		"")
	c.exec("create observer gone"+sums, "drop observer gone", "create observer emptied"+sums, "truncate base",
		"wait for observers timeout 20")
}

// TestBackfillOfWhatIsGone: a row that is changed and deleted before the walk comes to it has never been
// added, so it is not taken away; nor is it where the table gets another form before the run.
func TestBackfillOfWhatIsGone(t *testing.T) {
	w := newWorld(t)
	c := w.node(false).session("")
	c.exec("create database d", "use d")
	filled(c, 10)
	c.exec("create observer o"+sums, "update base set a = 50 where id = 3", "delete from base where id < 5")
	n := w.node(true)
	exact(c)
	n.stop()
	c.exec("update base set a = a + 1 where id = 7", "delete from base where id = 8",
		"alter table base modify a decimal(20,0)", "delete from base where id = 9")
	w.node(true)
	exact(c)
}

// TestBackfillThenParkedThenMoved: rows whose run has failed are new to the observer also when their
// notifications are carried over to the table's new form.
func TestBackfillThenParkedThenMoved(t *testing.T) {
	w := newWorld(t)
	c := w.node(false).session("")
	c.exec("create database d", "use d", "create table refused (id int)", "insert into refused values (1)")
	filled(c, 10)
	c.exec("create observer o after insert or update or delete on base for each row with (attempts = 1) "+
		"with backfill begin if exists (select 1 from refused) then signal sqlstate '45000'; end if; "+
		keepsSum+"; end", "update base set a = 50 where id = 3", "delete from base where id < 5")
	w.node(true)
	c.eventually("select parked, waiting, rows_walked from moka.observer_backlog", "5 0 NULL")
	c.exec("alter table base modify a decimal(20,0)", "delete from refused", "alter observer o retry failed")
	exact(c)
}

// TestPause: a paused observer is notified and does not run; nothing is lost.
func TestPause(t *testing.T) {
	_, c := start(t)
	filled(c, 0)
	c.exec("create observer o"+sums, "insert into base values (1, 1)")
	exact(c)
	c.exec("alter observer o pause")
	c.want("select status from moka.observers", "PAUSED")
	c.exec("wait for observers", "update base set a = 7", "insert into base values (2, 2)",
		"update base set a = a + 1")
	c.wantCode("wait for observers", 9020, "ALTER OBSERVER `d`.`o` RESUME")
	c.want("select waiting from moka.observer_backlog", "2")
	c.want("select s, n from total", "1 1")
	c.exec("alter observer o resume")
	exact(c)
	c.want("select status from moka.observers", "ENABLED")
}

// TestReplay: an observer runs for all rows once more, and what it keeps of differences stays as it is.
func TestReplay(t *testing.T) {
	_, c := start(t)
	filled(c, 600)
	c.exec("create table seen (id int primary key, n int)", "create observer o"+sums,
		"create observer copy after insert or update on base for each row with (backoff_ms = 1) "+
			"replace into seen values (new.id, new.a)",
		"create observer gone after delete on base for each row delete from seen where id = old.id")
	exact(c)
	c.want("select count(*) from seen", "0") // it knows of nothing that was there before
	c.exec("replay observer copy", "replay observer o")
	exact(c)
	c.want("select count(*), sum(n) from seen", c.text("select count(*), sum(a) from base"))
	c.wantCode("replay observer gone", 1235, "AFTER DELETE only")
	c.wantCode("replay observer none", 1360, "")
	c.wantCode("replay copy", 1064, "")
	c.exec("alter observer o pause", "replay observer o")
	c.wantCode("replay observer o", 9020, "already")
	c.exec("alter observer o resume")
	exact(c)
}
