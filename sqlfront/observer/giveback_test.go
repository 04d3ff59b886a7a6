package observer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/txn"
)

// collect removes every version that nobody sees from now on.
func (w *world) collect(at kv.Timestamp) {
	w.t.Helper()
	c, err := txn.NewClient(w.mem, w.clock, txn.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CollectGarbage(w.t.Context(), at, txn.GarbageOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) now() kv.Timestamp {
	w.t.Helper()
	ts, err := w.clock.Next(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return ts
}

// held reports whether garbage collection is held back for an observer that is being given back what it
// missed.
func (w *world) held() bool {
	w.t.Helper()
	client, err := txn.NewClient(w.mem, w.clock, txn.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	tx := client.Begin(txn.TxnOptions{ReadOnly: true})
	defer tx.Rollback()
	ts, err := catalog.OldestMissed(w.t.Context(), tx)
	if err != nil {
		w.t.Fatal(err)
	}
	return ts != 0
}

// released waits until it is not.
func (w *world) released() {
	w.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); w.held(); <-tick.C {
		if time.Now().After(deadline) {
			w.t.Fatal("versions are held though all is done")
		}
	}
}

// TestEnableWithReplay: an observer that was disabled runs for each row that has changed meanwhile, once, and
// for no other; what it keeps of differences is right, of rows that it had never acknowledged, too.
func TestEnableWithReplay(t *testing.T) {
	w := newWorld(t)
	c := w.node(true).session("")
	c.exec("create database d", "use d")
	filled(c, 600) // of which the observer has seen none
	c.exec("create table runs (what varchar(10), id int, old int, new int)",
		"update total set s = (select sum(a) from base), n = 600",
		"create observer o after insert or update or delete on base for each row with (backoff_ms = 1) "+
			"begin "+
			"insert into runs values (case when inserting then 'i' when updating then 'u' else 'd' end, "+
			"coalesce(new.id, old.id), old.a, new.a); "+keepsSum+"; end",
		"update base set a = a + 1 where id in (3, 4)", "wait for observers", "delete from runs",
		"alter observer o disable",
		"update base set a = 500 where id = 3", "update base set a = 501 where id = 500",
		"update base set a = 7 where id = 7", "delete from base where id in (4, 400)",
		"insert into base values (700, 1), (701, 1)", "delete from base where id = 701",
		"delete from base where id = 8", "insert into base values (8, 80)",
		"update base set a = a + 1 where id = 9", "update base set a = a - 1 where id = 9")
	c.exec("alter observer o enable with replay")
	c.want("show warnings", "")
	exact(c)
	c.want("select * from runs order by id", "u 3 4 500; d 4 5 NULL; u 8 8 80; d 400 12 NULL; u 500 15 501; "+
		"i 700 NULL 1")
	// What was missed is in OLD of a run for a later change, whichever comes first.
	c.exec("delete from runs", "alter observer o disable", "update base set a = 1000 where id = 100",
		"delete from base where id = 101", "alter observer o pause", "alter observer o enable with replay",
		"update base set a = 1001 where id = 100", "insert into base values (101, 5)",
		"alter observer o resume")
	exact(c)
	c.want("select * from runs order by id", "u 100 3 1001; u 101 4 5")
	c.eventually("select rows_walked from moka.observer_backlog", "NULL")
}

// TestAfterReplay: when all is done, and what was when the observer was disabled is collected, rows that it
// has never acknowledged are what they were before they change.
func TestAfterReplay(t *testing.T) {
	w := newWorld(t)
	c := w.node(true).session("")
	c.exec("create database d", "use d")
	filled(c, 20)
	c.exec("update total set s = (select sum(a) from base), n = 20",
		"create observer o after insert or update or delete on base for each row with (attempts = 1) "+
			""+keepsSum,
		"alter observer o disable", "update base set a = a + 1 where id < 5", "alter observer o enable with "+
			"replay")
	exact(c)
	w.released()
	c.exec("update base set a = a + 1 where id = 10") // no change of the time when it was disabled
	exact(c)
	w.collect(w.now())
	c.exec("insert into base values (100, 5)", "update base set a = 70 where id in (3, 11, 100)",
		"delete from base where id in (4, 12)", "insert into base values (4, 8)")
	exact(c)
	w.collect(w.now())
	c.exec("update base set a = a + 1", "delete from base where id = 13", "insert into base values (13, 1)")
	exact(c)
}

// TestReplayOfWhatEventsAreFor: an observer is given back what its events and columns are for.
func TestReplayOfWhatEventsAreFor(t *testing.T) {
	_, c := start(t)
	c.exec("create table t (id int primary key, a int, b int)", "create table l (who varchar(20), id int)",
		"insert into t values (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)")
	all := []string{"insert", "update", "delete", "update of b", "insert or delete"}
	for i, events := range all {
		id := "new.id"
		if events == "delete" {
			id = "old.id"
		}
		if events == "insert or delete" {
			id = "coalesce(new.id, old.id)"
		}
		c.exec(fmt.Sprintf("create observer o%d after %s on t for each row insert into l values ('%s', %s)",
			i,
			events, events, id), fmt.Sprintf("alter observer o%d disable", i))
	}
	c.exec("update t set a = 10 where id = 1", "update t set b = 10 where id = 2", "delete from t where id "+
		"= 3",
		"insert into t values (5, 5, 5)")
	for i := range all {
		c.exec(fmt.Sprintf("alter observer o%d enable with replay", i))
	}
	c.exec("wait for observers")
	c.want("select * from l order by who, id", "delete 3; insert 5; insert or delete 3; insert or delete 5; "+
		"update 1; update 2; update of b 2")
}

// TestReplayOfWhatCameAndWent: a row that is in neither of the two snapshots that are compared, and that the
// observer has seen between them, while it was being given back what it had missed before.
func TestReplayOfWhatCameAndWent(t *testing.T) {
	w := newWorld(t)
	c := w.node(true).session("")
	c.exec("create database d", "use d")
	filled(c, 20)
	c.exec("create table broken (id int primary key)", "insert into broken values (1)",
		"update total set s = (select sum(a) from base), n = 20",
		"create observer o after insert or update or delete on base for each row with (attempts = 100000, "+
			"backoff_ms = 1) begin if exists (select * from broken where id = new.id) then signal sqlstate "+
			"'45000'; end if; "+keepsSum+"; end",
		"alter observer o disable", "update base set a = a + 1 where id = 1",
		"alter observer o enable with replay", "insert into base values (100, 5), (101, 6)")
	c.eventually("select n from total", "22")
	if !w.held() {
		t.Error("it is through, though row 1 fails")
	}
	c.exec("alter observer o disable", "delete from base where id in (7, 100)", "delete from broken",
		"alter observer o enable with replay")
	exact(c)
}

// TestReplayIsRefused: what is not known any more is an error that says so, and changes nothing.
func TestReplayIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.node(true).session("")
	c.exec("create database d", "use d", "create table t (id int primary key)", "create table l (id int)",
		"create observer o after insert on t for each row insert into l values (new.id)",
		"create observer n after notify on t for each row insert into l values (new.id)")
	c.wantCode("alter observer o enable with replay", 9020, "has missed nothing")
	c.wantCode("alter observer o enable with backfill", 1064, "")
	c.wantCode("alter observer o disable with replay", 1064, "")
	c.exec("alter observer n disable", "alter observer o disable", "insert into t values (1)")
	c.wantCode("alter observer n enable with replay", 1235, "NOTIFY")
	c.exec("truncate t", "insert into t values (2)")
	c.wantCode("alter observer o enable with replay", 9020, "emptied since")
	c.exec("alter observer o enable", "alter observer o disable", "insert into t values (3)")
	w.collect(w.now())
	c.wantCode("alter observer o enable with replay", 9006, "REPLAY OBSERVER `o`")
	c.want("select status from moka.observers where observer_name = 'o'", "DISABLED")
	c.exec("alter observer o enable", "replay observer o", "wait for observers o")
	c.want("select * from l order by id", "2; 3")
}

// TestReplayTooLate: where garbage collection passes the walk none the less, it is not said to be done.
func TestReplayTooLate(t *testing.T) {
	w := newWorld(t)
	c := w.node(false).session("")
	c.exec("create database d", "use d", "create table t (id int primary key, a int)", "create table l (id "+
		"int)",
		"create observer o after insert on t for each row insert into l values (new.id)",
		"alter observer o disable", "insert into t values (1, 1), (2, 2)", "alter observer o enable with "+
			"replay")
	c.wantCode("alter table t modify a decimal(20,0)", 1846, "WITH REPLAY")
	w.collect(w.now())
	w.node(true)
	c.wantCode("wait for observers o", 9020, "REPLAY OBSERVER `d`.`o` has it run for all rows")
	c.exec("replay observer o", "wait for observers o", "alter table t modify a decimal(20,0)")
	c.want("select * from l order by id", "1; 2")
}

// TestReplayHoldsVersions: from the statement until the runs are over, what the observer has seen is kept.
func TestReplayHoldsVersions(t *testing.T) {
	w := newWorld(t)
	n := w.node(true)
	c := n.session("")
	c.exec("create database d", "use d")
	filled(c, 10)
	c.exec("create observer o"+sums, "wait for observers", "alter observer o disable",
		"update base set a = a + 5", "alter observer o pause", "alter observer o enable with replay")
	if !w.held() {
		t.Error("nothing is held")
	}
	c.exec("alter observer o resume")
	exact(c)
	w.released()
}

// TestReplayUnderLoad: the observer is disabled and given back what it missed again and again, while clients
// write and processes die; the sum is exact when all is done.
func TestReplayUnderLoad(t *testing.T) {
	w := newWorld(t)
	w.withheld, w.hold = 50*time.Millisecond, 50*time.Millisecond
	front := w.node(false)
	front.session("").exec("create database d")
	c := front.session("d")
	const rows = 400
	filled(c, rows)
	c.exec(fmt.Sprintf("update total set s = (select sum(a) from base), n = %d", rows),
		"create observer o after insert or update or delete on base for each row with (backoff_ms = 1) "+
			""+keepsSum)
	w.node(true)
	var clients sync.WaitGroup
	done := make(chan struct{})
	for i := range 2 {
		s := front.session("d")
		r := rand.New(rand.NewPCG(uint64(i), 15))
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
	for round := range 6 {
		c.exec("alter observer o disable")
		before := c.text("select count(*), sum(a) from base")
		c.eventually(fmt.Sprintf("select (count(*), sum(a)) <> (%s) from base",
			strings.ReplaceAll(before, " ", ", ")), "1")
		c.exec("alter observer o enable with replay")
		if round%2 == 0 { // so many requests, and the process is dead
			n := w.node(true)
			n.read.left.Store(int64(20 << round))
			for n.read.left.Load() != 1 {
				c.text("select 1")
			}
			n.stop()
		}
	}
	close(done)
	clients.Wait()
	exact(c)
}
