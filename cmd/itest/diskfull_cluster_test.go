package itest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClusterFullDisk: one of three disks is full, that of the node which leads all. It gives up what it leads
// while the others have room, says so, and leads nothing until it has room again; clients go on. It is killed on
// its full disk and started there, and gets what it has missed when there is room.
func TestClusterFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 256)
	c := planTrio(t, "--shards", "3", "--gc-retention", "1s", "--cache-mib", "8", "--ballast-mib", "32")
	c.dirs[1] = filepath.Join(disk, "data")
	c.begin()
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := c.servers[0].tryCtl("nodes")
			replicas, _ := c.servers[0].tryCtl("replicas")
			t.Logf("%s\n%s\n%s", out, replicas, c.logs())
		}
	})
	l := newLoad(c)
	l.setUp()
	leads := func(at *server, id, process, want string) func() bool {
		return func() bool {
			row := nodeRow(at, id)
			return row != nil && row[4] == process && (want == "" || row[6] == want)
		}
	}
	for _, shard := range []string{"1", "2", "3"} {
		eventually(t, "node 2 leads shard "+shard, time.Minute, func() bool {
			_, _ = c.servers[0].tryCtl("transfer", shard, "2")
			return ledBy(c.servers[0], shard) == "2"
		})
	}
	l.run()
	l.await(20)

	stop, foreign := fillUp(t, disk, 20<<20) // which is little: it is full below 16 MiB, until there are 64
	eventually(t, "node 2 leads nothing", time.Minute, leads(c.servers[0], "2", "full", "0"))
	l.await(50)
	if log := c.servers[1].logs(); strings.Count(log, "this node's disk is nearly full") != 1 {
		t.Errorf("node 2 says:\n%s", log)
	}
	// More than its ballast leaves: the other two go on without it.
	mustExec(t, c.pools[0], "CREATE TABLE bank.large (id INT PRIMARY KEY, v MEDIUMBLOB)")
	for id := range 48 {
		mustExec(t, c.pools[0], "INSERT INTO bank.large VALUES (?, ?)", id, scramble(make([]byte, 1<<20), id))
	}
	c.kill(1)
	l.await(20)
	c.start(1)
	eventually(t, "node 2 is back, and leads nothing", time.Minute, leads(c.servers[0], "2", "full", "0"))
	l.await(20)

	stop()
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	eventually(t, "node 2 has room", time.Minute, leads(c.servers[0], "2", "up", ""))
	c.servers[0].ctl("status", "--wait", "--timeout", "2m")
	l.await(20)
	close(l.stop)
	l.wg.Wait()
	l.verify()
	if n := one[int](t, c.pools[1], "SELECT COUNT(*) FROM bank.large WHERE LENGTH(v) = 1048576"); n != 48 {
		t.Errorf("node 2 finds %d rows of 48", n)
	}
}

// ledBy is the node that leads a shard.
func ledBy(at *server, shard string) string {
	for line := range strings.Lines(at.ctl("replicas")) {
		if f := strings.Fields(line); len(f) >= 4 && f[0] == shard && f[3] == "leader" {
			return f[1]
		}
	}
	return ""
}
