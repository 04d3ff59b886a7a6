package itest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/txn/txntest"
)

// newCutTrio starts three nodes whose connections among each other can be cut.
func newCutTrio(t testing.TB, args ...string) (*trio, *links) {
	t.Helper()
	c := planTrio(t, args...)
	var pids [3]atomic.Int64
	l := newLinks(t, func(i int) int { return int(pids[i].Load()) })
	c.launched = func(i int, s *server) { pids[i].Store(int64(s.cmd.Process.Pid)) }
	for i, addr := range freePorts(t, 3) {
		c.listens[i] = addr
		l.forward(c.nodes[i], i, addr)
	}
	return c.begin(), l
}

// unavailable is what nodes under faults answer: that they cannot reach who leads, or that they stop.
func unavailable(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number != 1062
}

// TestClusterUnderFaults is the test of a cluster as its clients see it: three nodes are killed (SIGKILL),
// made to stand still, and cut off from each other, in both directions, in one, and on one link alone, while
// clients of all nodes append to lists and read them over three shards, move money, and an observer counts.
// The histories of lists are held against strong snapshot isolation, as Elle does (Kingsbury and Alvaro, VLDB
// 2020): nothing acknowledged is lost, what was refused has not happened, and nobody sees an old state
// behind a newer one. The sums are right in all snapshots, and the observer has run once for each change.
func TestClusterUnderFaults(t *testing.T) {
	t.Parallel()
	c, net := newCutTrio(t, "--shards", "3", "--gc-retention", "1s")
	load := newLoad(c)
	load.setUp()
	mustExec(t, c.pools[0], "CREATE DATABASE d")
	l := &lists{level: "REPEATABLE READ", history: &txntest.ListHistory{}, tables: 3, limit: time.Hour,
		pause: thinking, refused: unavailable}
	for i := range c.pools {
		db, err := sql.Open("mysql", "root@tcp("+c.sql[i]+")/d")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		l.dbs = append(l.dbs, db)
		mustExec(t, db, strings.Replace(listSchema, "lists", l.table(i), 1))
	}
	load.run()
	stop := make(chan struct{})
	load.wg.Go(func() { l.run(t, 1<<30, stop) })
	done := map[string]int{}
	for round := range soaked(len(clusterFaults), 100) {
		f, victim := clusterFaults[round%len(clusterFaults)], rand.IntN(3)
		load.await(20)
		f.inject(c, net, victim, func() {
			appended := l.committed.Load()
			load.await(20)
			eventually(t, "lists grow under "+f.name, 2*time.Minute, func() bool {
				return l.committed.Load() > appended+20 || l.failed.Load() != nil
			})
		})
		c.serves(victim)
		done[f.name]++
		t.Logf("round %d: %s of node %d; %d transfers, %d transactions on lists", round, f.name, victim+1,
			load.acknowledged(), l.committed.Load())
	}
	load.await(20)
	close(stop)
	close(load.stop)
	load.wg.Wait()
	load.verify()
	for _, db := range l.dbs {
		l.end(t, db)
	}
	l.verify(t, txntest.SnapshotIsolation)
	t.Logf("%v: %d transfers acknowledged, %d refused or unknown, %d snapshots, counter %v", done,
		len(load.transfers), load.refused, load.snapshots, load.counted)
	if load.snapshots == 0 || load.counted[0] == 0 {
		t.Error("too little happened")
	}
}

// clusterFaults are what happens to a node, here the victim, while the others go on.
var clusterFaults = []struct {
	name   string
	inject func(c *trio, l *links, victim int, meanwhile func())
}{
	{"kill -9", func(c *trio, _ *links, victim int, meanwhile func()) {
		c.kill(victim)
		meanwhile()
		c.start(victim)
	}},
	{"cut", func(c *trio, l *links, victim int, meanwhile func()) {
		l.cut(slices.Concat(from(victim), to(victim))...)
		meanwhile()
		c.separated(victim)
		l.heal()
	}},
	{"cut of what it hears", func(c *trio, l *links, victim int, meanwhile func()) {
		l.cut(to(victim)...)
		meanwhile()
		c.separated(victim)
		l.heal()
	}},
	{"SIGSTOP", func(c *trio, _ *links, victim int, meanwhile func()) { c.stand(victim, meanwhile) }},
	{"cut of what it says", func(c *trio, l *links, victim int, meanwhile func()) {
		l.cut(from(victim)...)
		meanwhile()
		c.separated(victim)
		l.heal()
	}},
	{"cut of one link", func(_ *trio, l *links, victim int, meanwhile func()) {
		l.cut(from(victim)[0])
		meanwhile()
		l.heal()
	}},
	{"kill -9 in a cut", func(c *trio, l *links, victim int, meanwhile func()) {
		l.cut(from(victim)...)
		meanwhile()
		c.kill(victim)
		meanwhile()
		l.heal()
		c.start(victim)
	}},
}

// from are the links on which a node speaks to the others, and to those on which it hears them.
func from(node int) [][2]int { return [][2]int{{node, (node + 1) % 3}, {node, (node + 2) % 3}} }

func to(node int) [][2]int { return [][2]int{{(node + 1) % 3, node}, {(node + 2) % 3, node}} }

// separated sees that a node that is cut off acknowledges nothing: that the cut is one.
func (c *trio) separated(i int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := c.pools[i].ExecContext(ctx, "UPDATE bank.account0 SET balance = balance WHERE id = 0")
	if err == nil {
		c.t.Errorf("node %d is cut off and acknowledges a write", i+1)
	}
}

// serves waits until a node serves transactions again.
func (c *trio) serves(i int) {
	c.t.Helper()
	var last error
	c.t.Cleanup(func() {
		if c.t.Failed() && last != nil {
			c.t.Logf("node %d said %v\n%s", i+1, last, c.logs())
		}
	})
	eventually(c.t, fmt.Sprintf("node %d serves again", i+1), 2*time.Minute, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, last = c.pools[i].ExecContext(ctx, "UPDATE bank.account0 SET balance = balance WHERE id = 0")
		return last == nil
	})
}

// acknowledged is how many transfers have been.
func (l *clusterLoad) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.transfers)
}
