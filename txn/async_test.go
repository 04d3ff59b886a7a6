package txn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// TestAsyncLimits: what commits asynchronously is what its primary can list; everything else takes two phases, and says the same.
func TestAsyncLimits(t *testing.T) {
	long := strings.Repeat("x", 400)
	for name, c := range map[string]struct {
		rows  int
		row   string
		more  func(tx *txn.Txn)
		async bool
	}{
		"two rows":             {2, "r", nil, true},
		"256 rows":             {256, "r", nil, true},
		"257 rows":             {257, "r", nil, false},
		"names of 4 KiB":       {10, long, nil, false},
		"a row that is locked": {2, "r", func(tx *txn.Txn) { tx.LockForUpdate(col("b-locked")) }, true},
		"a row that is required": {2, "r", func(tx *txn.Txn) {
			tx.Require(col("b-parent"))
		}, false},
		"a weak notification": {2, "r", func(tx *txn.Txn) { tx.NotifyWeak(col("b-parent"), []uint32{1}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := txntest.NewStore(t, kvtest.Options{Shards: 2, Splits: []kv.RowKey{txntest.Split("m")}}, txn.Options{})
			put(t, client, "b-parent", "1")
			tx := client.Begin(txn.TxnOptions{})
			row := func(i int) string { return fmt.Sprintf("%c%s%03d", "az"[i%2], c.row, i) }
			for i := range c.rows {
				tx.Put(col(row(i)), []byte("v"), txn.WriteOptions{})
			}
			if c.more != nil {
				c.more(tx)
			}
			mustCommit(t, tx)
			if got := client.Metrics().CommitsAsync == 1; got != c.async {
				t.Errorf("asynchronous: %v, want %v", got, c.async)
			}
			read := client.Begin(txn.TxnOptions{ReadOnly: true})
			for i := range c.rows {
				if v, ok, err := read.Get(t.Context(), col(row(i))); err != nil || !ok || string(v) != "v" {
					t.Fatalf("row %d: %q, %v, %v", i, v, ok, err)
				}
			}
		})
	}
}

// TestLatest: the newest commits, whatever is in the way, and from wherever they are.
func TestLatest(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, _ *kvtest.Mem) {
		check := func(want ...string) {
			t.Helper()
			vs, err := c.Latest(t.Context(), []kv.Column{col("a"), col("c"), col("x")})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range vs {
				if string(v.Data) != want[i] || v.OK != (want[i] != "") {
					t.Errorf("column %d: %q, %v; want %q", i, v.Data, v.OK, want[i])
				}
			}
		}
		check("", "", "")
		put(t, c, "a", "1", "c", strings.Repeat("long", 1000))
		check("1", strings.Repeat("long", 1000), "")
		tx := c.Begin(txn.TxnOptions{})
		tx.Delete(col("c"), txn.WriteOptions{})
		tx.Put(col("x"), []byte("2"), txn.WriteOptions{})
		check("1", strings.Repeat("long", 1000), "")
		mustCommit(t, tx)
		check("1", "", "2")
	})
}

// calling does something else instead of a call, or around it.
type calling struct {
	kv.Store
	call func(shard kv.ShardID, cmd kv.CommandID, req kv.Message, next func() (kv.Message, error)) (kv.Message, error)
}

func (c *calling) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	return c.call(shard, cmd, req, func() (kv.Message, error) { return c.Store.Call(ctx, shard, tablets, cmd, req) })
}

// unconfirmed is a store of an owner who does not hear of its primary's first prewrite, and whose commits come to nothing.
func (w *paperWorld) unconfirmed(commit func(), rollback func(shard kv.ShardID, next func() (kv.Message, error)) (kv.Message, error)) kv.Store {
	heard := false
	return &calling{w.mem, func(shard kv.ShardID, cmd kv.CommandID, req kv.Message, next func() (kv.Message, error)) (kv.Message, error) {
		switch {
		case cmd == txn.CmdPrewrite && txn.LocksPrimary(req) && !heard:
			heard = true
			_, err := next()
			return nil, errors.Join(err, kv.Errorf(kv.CodeOutcomeUnknown, "test", "the answer was lost"))
		case cmd == txn.CmdCommit:
			commit()
			return nil, kv.Errorf(kv.CodeUnavailable, "test", "nobody leads the shard")
		case cmd == txn.CmdRollback:
			return rollback(shard, next)
		}
		return next()
	}}
}

// TestAsyncCommitDecidedByOthers: all locks are there, and whoever meets one commits the transaction; its owner, who must ask the primary
// (A4) and cannot commit there, does not call it refused.
func TestAsyncCommitDecidedByOthers(t *testing.T) {
	paper(t, func(w *paperWorld) {
		w.async = true
		looked := false
		s := w.unconfirmed(func() {
			if !looked {
				looked = true
				if joe := w.read("joe"); joe != "9" {
					t.Errorf("joe has %s", joe)
				}
			}
		}, func(_ kv.ShardID, next func() (kv.Message, error)) (kv.Message, error) {
			t.Error("it is rolled back")
			return next()
		})
		if _, err := w.transfer(s, txn.Options{}).Commit(w.Context()); err != nil || !looked {
			t.Errorf("committed by another, and yet: %v", err)
		}
		if bob, joe := w.read("bob"), w.read("joe"); bob+joe != "39" {
			t.Errorf("bob %s, joe %s", bob, joe)
		}
	})
}

// TestAsyncCommitIsRolledBackAtPrimaryFirst (A5): the owner gives up while somebody who has found all locks is about to commit. No
// secondary's lock goes before the primary has said what becomes of them.
func TestAsyncCommitIsRolledBackAtPrimaryFirst(t *testing.T) {
	paper(t, func(w *paperWorld) {
		w.async = true
		found, gone, read := make(chan struct{}), make(chan struct{}), make(chan string, 1)
		late := w.client(&calling{w.mem, func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message, next func() (kv.Message, error)) (kv.Message, error) {
			if cmd == txn.CmdCommit {
				close(found)
				<-gone
			}
			return next()
		}}, txn.Options{})
		looking := false
		settled := make(chan struct{})
		s := w.unconfirmed(func() {
			if !looking {
				looking = true
				go func() {
					defer close(settled)
					read <- w.get(late.Begin(txn.TxnOptions{}), "joe")
				}()
				<-found
			}
		}, func(shard kv.ShardID, next func() (kv.Message, error)) (kv.Message, error) {
			if shard == 1 { // the primary's
				<-settled
				return next()
			}
			defer close(gone)
			return next()
		})
		if _, err := w.transfer(s, txn.Options{RetryTime: time.Second}).Commit(w.Context()); err == nil {
			t.Error("nobody committed it")
		}
		joe := <-read
		if bob, again := w.read("bob"), w.read("joe"); bob != "10" || joe != "2" || again != "2" {
			t.Errorf("bob %s, joe %s and %s", bob, joe, again)
		}
	})
}
