package txn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

func now(t *testing.T, c *txn.Client) kv.Timestamp {
	t.Helper()
	ts, err := txn.ClockOf(c).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// versions prints what is stored of the columns' histories: name@commit, a delete with a minus.
func versions(t *testing.T, m *kvtest.Mem) string {
	t.Helper()
	shards, _ := m.Shards(t.Context())
	count := map[string]int{}
	var order []string
	for _, id := range shards {
		vs, err := txn.StoredVersions(m.Reader(id))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			n := columnName(v.Column)
			if count[n] == 0 {
				order = append(order, n)
			}
			count[n]++
		}
	}
	s := ""
	slices.Sort(order)
	for _, n := range order {
		s += fmt.Sprintf("%s:%d ", n, count[n])
	}
	return strings.TrimSpace(s)
}

func collect(t *testing.T, c *txn.Client, safePoint kv.Timestamp) txn.GarbageStats {
	t.Helper()
	stats, err := c.CollectGarbage(t.Context(), safePoint)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestGarbageCollection: of each column the newest version below the safe point stays, unless it is a delete; snapshots from the
// safe point on see no difference, older ones are refused.
func TestGarbageCollection(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		long := strings.Repeat("x", 5000)
		put(t, c, "a", "1", "b", long, "c", "1", "d", "1")
		put(t, c, "a", "2", "b", long+"2", "e", "1")
		gone := c.Begin(txn.TxnOptions{})
		gone.Delete(col("c"), txn.WriteOptions{})
		mustCommit(t, gone)
		before := now(t, c)
		put(t, c, "a", "3")
		safePoint := now(t, c)
		put(t, c, "a", "4", "b", "short")
		last := c.Begin(txn.TxnOptions{})
		last.Delete(col("d"), txn.WriteOptions{})
		mustCommit(t, last)

		all := txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}
		at := func(ts kv.Timestamp) string {
			return scan(t, c.Begin(txn.TxnOptions{StartTS: ts, ReadOnly: true}), all)
		}
		want := at(safePoint)
		newest := scan(t, c.Begin(txn.TxnOptions{}), all)
		stats := collect(t, c, safePoint)
		if got := versions(t, m); got != "a:2 b:2 d:2 e:1" {
			t.Errorf("left: %s", got)
		}
		if stats.Versions != 5 {
			t.Errorf("%+v, want 5 versions", stats)
		}
		if got := at(safePoint); got != want {
			t.Errorf("at the safe point: %.80q, want %.80q", got, want)
		}
		if got := scan(t, c.Begin(txn.TxnOptions{}), all); got != newest {
			t.Errorf("now: %.80q, want %.80q", got, newest)
		}
		for _, id := range []kv.ShardID{0, 1} { // as it is, and after a restart of all shards
			if id == 1 {
				shards, _ := m.Shards(t.Context())
				for _, s := range shards {
					m.Restart(s)
				}
			}
			old := c.Begin(txn.TxnOptions{StartTS: before, ReadOnly: true})
			if _, _, err := old.Get(t.Context(), col("a")); !errors.Is(err, txn.ErrSnapshotTooOld) {
				t.Errorf("read below the safe point: %v", err)
			}
			s := old.Scan(t.Context(), all)
			if s.Next() || !errors.Is(s.Err(), txn.ErrSnapshotTooOld) {
				t.Errorf("scan below the safe point: %v", s.Err())
			}
			_ = s.Close()
		}
		if again := collect(t, c, safePoint); again.Versions != 0 {
			t.Errorf("a second time: %+v", again)
		}
	})
}

// TestGarbageKeepsLateWritersOut: a transaction that fell behind the safe point can neither commit nor lock.
func TestGarbageKeepsLateWritersOut(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		put(t, c, "a", "1", "c", "1")
		late := c.Begin(txn.TxnOptions{})
		if _, _, err := late.Get(t.Context(), col("a")); err != nil {
			t.Fatal(err)
		}
		del := c.Begin(txn.TxnOptions{})
		del.Delete(col("a"), txn.WriteOptions{})
		mustCommit(t, del)
		collect(t, c, now(t, c))
		if got := versions(t, m); got != "c:1" {
			t.Errorf("left: %s", got)
		}
		if _, err := lock(t, late, txn.LockOptions{NoWait: true}, "a"); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("lock: %v", err)
		}
		// The delete that it conflicts with has left no trace.
		late.Put(col("a"), []byte("2"), txn.WriteOptions{})
		late.Put(col("c"), []byte("2"), txn.WriteOptions{})
		if _, err := late.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("commit: %v", err)
		}
		if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "c=1" {
			t.Errorf("stored: %s", got)
		}
	})
}

// TestGarbageResolvesLocksFirst: a transaction whose owner died after the commit point still has a lock on a secondary, and all that
// says that it has committed is the primary's record. Its locks go before that does; while an owner lives, nothing goes.
func TestGarbageResolvesLocksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := kvtest.NewMem(kvtest.Options{
			Shards: 2, Splits: []kv.RowKey{txntest.Split("m")}, Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
		})
		defer mem.Close()
		mem.Move(txntest.Split("m"), 2)
		lossy := kvtest.NewFaulty(mem, kvtest.Faults{Hook: func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message) kvtest.Fault {
			if cmd == txn.CmdResolve {
				return kvtest.DropRequest
			}
			return kvtest.Pass
		}})
		clock := &txntest.Clock{}
		dying, err := txn.NewClient(lossy, clock, txn.Options{NoAsyncCommit: true})
		if err != nil {
			t.Fatal(err)
		}
		put(t, dying, "a", "1", "b", "1", "z", "1") // the primary is a; z stays locked
		_ = dying.Close()
		c, err := txn.NewClient(mem, clock, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		del := c.Begin(txn.TxnOptions{})
		del.Delete(col("a"), txn.WriteOptions{}) // the primary's record is garbage after this
		mustCommit(t, del)
		collect(t, c, now(t, c))
		if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "b=1 z=1" {
			t.Errorf("after collection: %s", got)
		}
		if got := versions(t, mem); got != "b:1 z:1" {
			t.Errorf("left: %s", got)
		}
	})
}
