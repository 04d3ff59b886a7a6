package itest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestClusterFullDisk: one of three disks is full, that of the node which leads all. It gives up what it
// leads while the others have room, says so, and leads nothing until it has some; clients go on. It is killed
// on its full disk and started there. When another disk is full, too, what adds is refused, whoever leads,
// and deletes go on. With room both get what they have missed.
func TestClusterFullDisk(t *testing.T) {
	t.Parallel()
	disk, other := smallDisk(t, 256), smallDisk(t, 256)
	c := planTrio(t, "--shards", "3", "--gc-retention", "1s", "--cache-mib", "8", "--ballast-mib", "32")
	c.dirs[1], c.dirs[2] = filepath.Join(disk, "data"), filepath.Join(other, "data")
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
	is := func(id string, process ...string) func() bool {
		return func() bool {
			row := nodeRow(c.servers[0], id)
			return row != nil && slices.Contains(process, row[4]) && (row[4] == "up" || row[6] == "0")
		}
	}
	allLedBy := func(id string) bool {
		all := true
		for _, shard := range []string{"1", "2", "3"} {
			if ledBy(c.servers[0], shard) != id {
				_, _ = c.servers[0].tryCtl("transfer", shard, id)
				all = false
			}
		}
		return all
	}
	eventually(t, "node 2 leads all", time.Minute, func() bool { return allLedBy("2") })
	l.run()
	l.await(20)

	stop, foreign := fillUp(t, disk, 20<<20) // which is little: it is full below 16 MiB, until there are 64
	eventually(t, "node 2 leads nothing", time.Minute, is("2", "short", "full"))
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
	eventually(t, "node 2 is back, and leads nothing", time.Minute, is("2", "full"))
	l.await(20)

	stopOther, first := fillUp(t, other, 12<<20)
	eventually(t, "node 3 is full as well", time.Minute, func() bool {
		row := nodeRow(c.servers[0], "3")
		return row != nil && row[4] == "full"
	})
	stopOther()
	if err := os.Rename(first, first+"1"); err != nil {
		t.Fatal(err)
	}
	stopOther, second := fillUp(t, other, 36<<20) // but the ballast's room
	eventually(t, "what adds is refused by a node with room", time.Minute, func() bool {
		if !allLedBy("1") {
			return false
		}
		_, err := c.pools[0].Exec("INSERT INTO bank.large VALUES (100, 'x'), (101, 'y')")
		if err == nil {
			mustExec(t, c.pools[0], "DELETE FROM bank.large WHERE id >= 100")
		}
		var my *mysql.MySQLError
		return errors.As(err, &my) && my.Number == 1021 && strings.Contains(my.Message, "most of the nodes")
	})
	mustExec(t, c.pools[0], "DELETE FROM bank.large WHERE id < 8")

	stop()
	stopOther()
	for _, f := range []string{foreign, first + "1", second} {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "node 2 has room", time.Minute, is("2", "up"))
	eventually(t, "node 3 has room", time.Minute, is("3", "up"))
	c.servers[0].ctl("status", "--wait", "--timeout", "2m")
	l.await(20)
	close(l.stop)
	l.wg.Wait()
	l.verify()
	if n := one[int](t, c.pools[1], "SELECT COUNT(*) FROM bank.large WHERE LENGTH(v) = 1048576"); n != 40 {
		t.Errorf("node 2 finds %d rows of 40", n)
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
