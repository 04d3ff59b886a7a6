package engine_test

import (
	"testing"

	"moka/sqlfront/engine"
)

// TestTriggersKeepNoSnapshots: an open transaction that writes between the statements of somebody who creates
// and drops triggers keeps one snapshot of the catalog, and not one for each of them: 40 such transactions
// filled the memory of the server.
func TestTriggersKeepNoSnapshots(t *testing.T) {
	s := newServer(t)
	root := s.session("")
	for _, q := range []string{"create database d", "create table d.t (id int auto_increment primary key)"} {
		if _, _, err := root.run(q); err != nil {
			t.Fatal(q, err)
		}
	}
	c, other := s.session("d"), s.session("d")
	run := func(c *session, q string) {
		t.Helper()
		if _, _, err := c.run(q); err != nil {
			t.Fatal(q, err)
		}
	}
	run(c, "begin")
	for range 20 {
		run(c, "insert into t values ()")
		run(other, "create trigger g after insert on t for each row set @z = 1")
		run(c, "insert into t values ()")
		run(other, "drop trigger g")
	}
	tx := c.sess.GetTransaction().(*engine.Tx)
	if tables, snapshots := tx.Written(); tables > 1 || snapshots > 1 {
		t.Errorf("the transaction keeps %d tables and %d snapshots", tables, snapshots)
	}
	run(c, "commit")
}
