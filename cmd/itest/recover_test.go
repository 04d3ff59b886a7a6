package itest

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runMoka runs a command that is over soon.
func runMoka(args ...string) (string, error) {
	out, err := exec.Command(mokaBinary, args...).CombinedOutput()
	return string(out), err
}

// TestRecover: two of three nodes are lost with their disks, and the third goes on alone after moka
// recover. What it had is there and consistent, also for observers; new nodes join, and get replicas; and a
// lost node that comes back after all is listened to by nobody.
func TestRecover(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "3")
	l := newLoad(c)
	l.setUp()
	l.run()
	l.await(60)
	close(l.stop)
	l.wg.Wait()
	// What is acknowledged most of them have; the one that stays, as well, when all have come to one entry.
	eventually(t, "all replicas are equal", time.Minute, func() bool {
		_, err := c.servers[0].tryCtl("checksum")
		return err == nil
	})
	for i := range c.servers {
		c.kill(i)
	}
	if out, err := runMoka("recover", "plan", c.dirs[0], c.dirs[1]); err == nil ||
		!strings.Contains(out, "start these nodes, and nothing is lost") {
		t.Errorf("two of three nodes are there: %v\n%s", err, out)
	}
	lost := filepath.Join(t.TempDir(), "lost")
	if err := os.Rename(c.dirs[1], lost); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(c.dirs[2]); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(t.TempDir(), "plan.json")
	out, err := runMoka("recover", "plan", "--to", plan, c.dirs[0])
	if err != nil || !strings.Contains(out, "UNSAFE RECOVERY") || strings.Count(out, "MAY BE LOST") != 3 ||
		!strings.Contains(out, "Nodes [2 3] are given up for good") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{", of node 1, is part of the new cluster", ", of node 1, was so already"} {
		out, err = runMoka("recover", "apply", plan, c.dirs[0])
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("%v, want %q\n%s", err, want, out)
		}
	}
	c.start(0)
	recovered(t, l, c.pools[0])
	mustExec(t, c.pools[0], "INSERT INTO bank.journal VALUES (-1)")
	n4, n5 := c.joinNode(), c.joinNode()
	c.is(c.servers[0], "4", "up", "3")
	c.is(c.servers[0], "5", "up", "3")
	c.is(c.servers[0], "2", "removed", "0")
	c.servers[0].ctl("status", "--wait")
	if out, err := c.servers[0].tryCtl("checksum"); err != nil || strings.Count(out, "  equal\n") != 9 {
		t.Errorf("%v\n%s", err, out)
	}
	c.dirs[1] = lost
	refuses(t, []string{"belongs to cluster"}, c.command(1)...)
	c.kill(0)
	mustExec(t, n4.pool(t), "INSERT INTO bank.journal VALUES (-2)")
	recovered(t, l, n5.pool(t))
}

// recovered sees that what was acknowledged is there, and everything agrees with everything.
func recovered(t *testing.T, l *clusterLoad, db *sql.DB) {
	t.Helper()
	const total = "SELECT SUM(balance) FROM (SELECT balance FROM bank.account0 UNION ALL SELECT balance " +
		"FROM bank.account1 UNION ALL SELECT balance FROM bank.account2) a"
	if sum := one[int](t, db, total); sum != 3*clusterAccounts*100 {
		t.Errorf("the accounts have %d", sum)
	}
	for id := range l.transfers {
		if one[int](t, db, "SELECT COUNT(*) FROM bank.journal WHERE id = ?", id) != 1 {
			t.Errorf("transfer %d was acknowledged, and is lost", id)
		}
	}
	for _, table := range []string{"account0", "account1", "account2", "journal", "counter", "seen"} {
		var name, op, kind, text string
		row := db.QueryRow("CHECK TABLE bank." + table)
		if err := row.Scan(&name, &op, &kind, &text); err != nil || text != "OK" {
			t.Errorf("%s: %s %s, %v", table, kind, text, err)
		}
	}
	eventually(t, "observers have run for every change", time.Minute, func() bool {
		return one[int](t, db, "SELECT (SELECT COUNT(*) FROM bank.journal) - (SELECT n FROM bank.seen)") == 0
	})
}
