package itest

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// joined is a node with storage that has joined a cluster.
type joinedNode struct {
	*server
	dir, addr, sql string
}

// joinNode adds a node to the cluster.
func (c *trio) joinNode() *joinedNode {
	c.t.Helper()
	ports := freePorts(c.t, 2)
	n := &joinedNode{dir: filepath.Join(c.t.TempDir(), "data"), addr: ports[0], sql: ports[1]}
	n.start(c)
	return n
}

func (n *joinedNode) start(c *trio) {
	c.t.Helper()
	n.server = launch(c.t, n.command(c)...)
	if !n.waitReady() {
		c.t.Fatalf("a node that joins does not become ready:\n%s", n.logs())
	}
}

func (n *joinedNode) command(c *trio) []string {
	return []string{"start", "--join", c.nodes[0], "--data", n.dir, "--node-addr", n.addr,
		"--sql-addr", n.sql, "--http-addr", "127.0.0.1:0"}
}

func (n *joinedNode) pool(t *testing.T) *sql.DB {
	db, err := sql.Open("mysql", "root@tcp("+n.sql+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// nodeRow returns what "moka ctl nodes" says of a node, by its number.
func nodeRow(s *server, id string) (row []string) {
	for line := range strings.Lines(s.ctl("nodes")) {
		if f := strings.Fields(line); (len(f) == 7 || len(f) == 8) && f[0] == id { // the last may be empty
			row = f
		}
	}
	return row
}

// is waits for a node's state, and how many replicas it has.
func (c *trio) is(at *server, id, state, replicas string) {
	c.t.Helper()
	c.t.Cleanup(func() {
		if c.t.Failed() {
			out, _ := at.tryCtl("replicas")
			c.t.Logf("%s\n%s", out, c.logs())
		}
	})
	eventually(c.t, "node "+id+" is "+state+" with "+replicas+" replicas", time.Minute, func() bool {
		row := nodeRow(at, id)
		return row != nil && row[3] == state && row[5] == replicas
	})
}

// TestClusterNodeIsReplaced: a node is killed and its directory deleted, another one joins in its place, and
// the old one is taken out, while clients go on; then another of the old nodes is killed, so that the new one
// counts. Nothing acknowledged is lost. A copy of the old directory is refused, for good.
func TestClusterNodeIsReplaced(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "3", "--gc-retention", "1s")
	l := newLoad(c)
	l.setUp()
	l.run()
	l.await(30)
	c.kill(1)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(c.dirs[1])); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(c.dirs[1]); err != nil {
		t.Fatal(err)
	}
	l.await(20)
	out, err := c.servers[0].tryCtl("decommission", "2")
	if err == nil || !strings.Contains(out, "add one first") {
		t.Errorf("a node leaves that nobody can replace: %s", out)
	}
	n4 := c.joinNode()
	eventually(t, "the new node is counted", time.Minute, func() bool {
		row := nodeRow(c.servers[0], "4")
		return row != nil && row[4] == "up"
	})
	c.servers[0].ctl("decommission", "2")
	c.is(c.servers[0], "2", "removed", "0")
	c.is(c.servers[0], "4", "up", "3")
	l.await(20)
	// The directory with which it was removed, and the one that it never had.
	c.dirs[1] = copied
	refuses(t, []string{"node 2 was removed from cluster", "--join"}, c.command(1)...)
	c.dirs[1] = filepath.Join(t.TempDir(), "empty")
	refuses(t, []string{"members"}, c.command(1)...)
	// The new node is needed now, also behind a restart.
	n4.kill()
	n4.start(c)
	c.kill(2)
	l.await(20)
	c.servers[2] = c.launch(2)
	c.ready()
	l.await(20)
	close(l.stop)
	l.wg.Wait()
	c.pools[1] = n4.pool(t) // what the new node says counts as what the old one would have said
	l.verify()
	if l.snapshots == 0 || l.counted[0] == 0 {
		t.Error("too little happened")
	}
	t.Logf("%d transfers acknowledged, %d refused or unknown, %d snapshots, counter %v", len(l.transfers),
		l.refused, l.snapshots, l.counted)
}

// TestClusterGrowsAndShrinks: a fourth and a fifth node join and get their share; a living node is taken out,
// and ends by itself with a word; then another one that leads. Clients of the others go on.
func TestClusterGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "6", "--gc-retention", "1s")
	l := newLoad(c)
	l.setUp()
	l.run()
	l.await(10)
	n4, n5 := c.joinNode(), c.joinNode()
	// 6 shards with 3 replicas each on 5 nodes.
	few := func(id string) func() bool {
		return func() bool {
			row := nodeRow(c.servers[0], id)
			return row != nil && (row[5] == "3" || row[5] == "4")
		}
	}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		eventually(t, "node "+id+" has its share", 2*time.Minute, few(id))
	}
	l.await(20)
	c.servers[0].ctl("drain", "3")
	eventually(t, "node 3 leads nothing", time.Minute, func() bool {
		row := nodeRow(c.servers[0], "3")
		return row != nil && row[6] == "0"
	})
	c.servers[0].ctl("undrain", "3")
	n5.ctl("decommission", "3")
	c.is(c.servers[0], "3", "removed", "0")
	code, logs := c.servers[2].wait(), c.servers[2].logs()
	if code == 0 || !strings.Contains(logs, "was removed from the cluster") {
		t.Errorf("a node that was taken out ends with %d:\n%s", code, logs)
	}
	l.await(20)
	close(l.stop)
	l.wg.Wait()
	c.servers[2], c.pools[2] = nil, n5.pool(t)
	l.verify()
	c.pools[1] = n4.pool(t)
	l.verify()
	t.Logf("%d transfers acknowledged, %d refused or unknown, %d snapshots, counter %v", len(l.transfers),
		l.refused, l.snapshots, l.counted)
}

// TestZoneOfANode: a node is in the zone that its last start has named. (How replicas are spread over zones,
// package schedule tests.)
func TestZoneOfANode(t *testing.T) {
	t.Parallel()
	c := planTrio(t)
	c.grown = true
	for _, zone := range []string{"attic", "cellar"} {
		s := launch(t, append(c.command(0), "--zone", zone)...)
		if !s.waitReady() {
			t.Fatal(s.logs())
		}
		eventually(t, "node 1 is in zone "+zone, time.Minute, func() bool {
			row := nodeRow(s, "1")
			return row != nil && row[len(row)-1] == zone
		})
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
