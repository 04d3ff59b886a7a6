package itest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestClusterFromOneNode is the life of a database that outgrows its node (docs/cluster.md): a directory of
// one node, with a past, is started as the first node of a cluster; two nodes join, and get replicas; then
// the first one is killed, and in turn the others. Clients go on all the while, but for the restart itself.
// Nothing acknowledged is lost, old rows are on all nodes, and observers have run once for each change.
func TestClusterFromOneNode(t *testing.T) {
	t.Parallel()
	c := planTrio(t, "--gc-retention", "1s")
	c.grown = true
	c.connect()
	single := func() {
		c.servers[0] = launch(t, "start", "--data", c.dirs[0], "--sql-addr", c.sql[0], "--http-addr",
			"127.0.0.1:0", "--gc-retention", "1s", "--shards", "3")
		c.ready()
	}
	// Starts, each with sessions and elections: the coordination service's revisions go far beyond those of
	// a new one, and timestamps and the leads of the oracle are told apart by them.
	for range 3 {
		single()
		if err := c.servers[0].stop(); err != nil {
			t.Fatal(err)
		}
	}
	single()
	l := newLoad(c)
	l.setUp()
	for i, table := range []string{"account1", "account2"} { // on shards of their own, as a cluster has them
		c.servers[0].ctl("split", "bank."+table, "0")
		c.servers[0].ctl("move", "bank."+table, "0", strconv.Itoa(i+2))
	}
	mustExec(t, c.pools[0], "CREATE TABLE bank.old (id INT PRIMARY KEY, v LONGTEXT)")
	for id := range 20 {
		mustExec(t, c.pools[0], "INSERT INTO bank.old VALUES (?, REPEAT(?, 300000))", id, strconv.Itoa(id%10))
	}
	const sum = "SELECT CONCAT(COUNT(*), ' ', SUM(LENGTH(v)), ' ', MAX(CRC32(v))) FROM bank.old"
	before := one[string](t, c.pools[0], sum)
	l.run()
	l.await(50)
	if err := c.servers[0].stop(); err != nil {
		t.Fatal(err)
	}
	c.start(0)
	if !strings.Contains(c.servers[0].logs(), "this directory becomes that of the first node of a cluster") {
		t.Errorf("the log does not say what happens:\n%s", c.servers[0].logs())
	}
	l.await(30)
	c.start(1)
	l.await(20)
	c.is(c.servers[0], "1", "up", "3") // two nodes are no better than one
	c.is(c.servers[0], "2", "up", "0")
	c.start(2)
	for _, id := range []string{"1", "2", "3"} {
		c.is(c.servers[0], id, "up", "3")
	}
	for i := range c.servers {
		c.servers[i].ctl("status", "--wait", "--timeout", "1m")
		list := c.servers[i].ctl("replicas")
		if n := strings.Count(list, "voter") + strings.Count(list, "leader"); n != 9 {
			t.Errorf("all is there, and %d replicas vote:\n%s", n, list)
		}
		c.kill(i)
		l.await(20)
		silent, other := fmt.Sprintf("node %d is silent", i+1), c.servers[(i+1)%3]
		eventually(t, silent, time.Minute, func() bool {
			return strings.Contains(other.ctl("lacking"), silent)
		})
		if out, err := other.tryCtl("status", "--wait", "--timeout", "1s"); err == nil {
			t.Errorf("%s, and status --wait is content: %s", silent, out)
		}
		c.start(i)
		l.await(20)
	}
	close(l.stop)
	l.wg.Wait()
	l.verify()
	for i, db := range c.pools {
		if after := one[string](t, db, sum); after != before {
			t.Errorf("node %d: the old rows are %s, and were %s", i+1, after, before)
		}
	}
	c.kill(0)
	refuses(t, []string{"belongs to node", "--cluster"}, "start", "--data", c.dirs[0], "--sql-addr",
		"127.0.0.1:0", "--http-addr", "127.0.0.1:0")
	t.Logf("%d transfers acknowledged, %d refused or unknown, %d snapshots, counter %v", len(l.transfers),
		l.refused, l.snapshots, l.counted)
	if l.snapshots == 0 || l.counted[0] == 0 {
		t.Error("too little happened")
	}
}
