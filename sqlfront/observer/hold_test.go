package observer_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
)

const (
	commitOnePhase kv.CommandID = 35 // package txn's
	settle         kv.CommandID = 65 // package triggers'
)

// atFence calls f before each commit of this node that depends on a table, or changes it.
func (n *node) atFence(f func()) {
	asked := func(c kv.CommandID, req kv.Message) {
		if c == commitOnePhase && bytes.Contains(req.AppendTo(nil), catalog.Fences().Start) {
			f()
		}
	}
	n.read.asked.Store(&asked)
}

// running waits until there are so many runs on the node.
func (n *node) running(most int) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); n.reg.Running() != most; <-tick.C {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d runs on a node, want %d", n.reg.Running(), most)
		}
	}
	return nil
}

// TestSchemaChangesGoBeforeRuns: root could not end an observer that fills its own table (trig-8). A schema
// change that is about to commit meets no run that writes to the table, nor, once it has lost against a
// writer, one of another node. The run here never ends by itself.
func TestSchemaChangesGoBeforeRuns(t *testing.T) {
	for _, change := range []string{"alter observer o disable", "drop observer o",
		"alter table chain add b int", "drop table chain", "alter table l add b int", "drop table l"} {
		for _, elsewhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/elsewhere=%v", change, elsewhere), func(t *testing.T) {
				runsOn := newWorld(t).node(true)
				at := runsOn
				if elsewhere {
					at = runsOn.node(false)
				}
				at.session("").exec("create database d")
				root, writer := at.session("d"), at.session("d")
				root.exec("create table chain (id int primary key, a int)", "create table l (a int)",
					"create observer o after insert on chain for each row begin insert into l values (1); "+
						"if new.id = 1 then insert into chain values (2, 1); end if; "+
						"if new.id = 2 then set @x = sleep(1000000); end if; end",
					"insert into chain values (1, 1)")
				root.eventually("select count(*) from chain", "2")
				if err := runsOn.running(1); err != nil {
					t.Fatal(err)
				}
				lost := !elsewhere
				at.atFence(func() {
					if !lost { // somebody was first
						lost = true
						asked := at.read.asked.Swap(nil)
						writer.exec("insert into chain values (3, 1)", "insert into l values (2)")
						at.read.asked.Store(asked)
						return
					}
					if err := runsOn.running(0); err != nil {
						t.Error(err)
					}
				})
				root.exec(change)
				at.read.asked.Store(nil)
			})
		}
	}
}

// TestHeldRunsGoOn: what a schema change has held runs after it, though the process that made it has died.
func TestHeldRunsGoOn(t *testing.T) {
	w := newWorld(t)
	w.hold = 200 * time.Millisecond
	n, other := w.node(true), w.node(false)
	n.session("").exec("create database d")
	s := n.session("d")
	s.exec("create table t (id int primary key)", "create table l (id int primary key)",
		"create observer o after insert on t for each row insert into l values (new.id)",
		"insert into t values (1)")
	s.eventually("select count(*) from l", "1")
	for _, table := range []string{"t", "l"} {
		ctx := sql.NewContext(t.Context(), sql.WithSession(other.session("d").sess))
		snap, err := other.eng.CatalogSnapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		db, _ := snap.Database("d")
		d, _ := db.Table(table)
		if _, err := other.reg.Hold(t.Context(), d.ID, true); err != nil {
			t.Fatal(err)
		}
		release, err := n.reg.Hold(t.Context(), d.ID, true)
		if err != nil {
			t.Fatal(err)
		}
		s.exec("insert into t select max(id) + 1 from t")
		release()
	}
	other.stop()
	s.eventually("select count(*) from l", "3")
}

// TestDropObserverLeavesItsBacklogBehind: DROP OBSERVER took minutes with many rows pending, each of which
// it removed (O5).
func TestDropObserverLeavesItsBacklogBehind(t *testing.T) {
	n, s := start(t)
	s.exec("create table t (id int primary key)",
		"create observer o after insert on t for each row signal sqlstate '45000'",
		"insert into t values (1), (2), (3)")
	dropped := make(chan struct{})
	asked := func(c kv.CommandID, _ kv.Message) {
		if c == settle {
			<-dropped
		}
	}
	done, err := make(chan struct{}), error(nil)
	n.read.asked.Store(&asked)
	go func() {
		defer close(done)
		_, _, err = s.run("drop observer o")
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("DROP OBSERVER waits until what is pending has been removed")
	}
	close(dropped)
	if <-done; err != nil {
		t.Error(err)
	}
	n.session("").want("select count(*) from moka.observers", "0")
}
