package txn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// What a collection must not overtake, and what must not stop it.

// overtaken has somebody delete x behind a snapshot, and a collection pass, deletion and all, while a command of a transaction with that snapshot
// is about to look at x.
func overtaken(t *testing.T, command kv.CommandID, write func(tx *txn.Txn) error) (c *txn.Client, err error) {
	t.Helper()
	p := newPause(kv.GroupTxnWrite, "x")
	p.before = true
	c, _ = newPlanted(t, kvtest.Options{}, txn.Options{}, p.during(command))
	put(t, c, "x", "1")
	old := c.Begin(txn.TxnOptions{})
	if got := scan(t, old, txn.ScanOptions{Span: kv.Span{Start: col("x").Row}}); got != "x=1" {
		t.Fatal(got)
	}
	del := c.Begin(txn.TxnOptions{})
	del.Delete(col("x"), txn.WriteOptions{})
	mustCommit(t, del)
	put(t, c, "y", "1")
	p.armed.Store(true)
	done := make(chan error)
	go func() { done <- write(old) }()
	<-p.in
	if _, err := c.CollectGarbage(t.Context(), now(t, c)-1, txn.GarbageOptions{}); err != nil {
		t.Fatal(err)
	}
	close(p.hold)
	return c, <-done
}

// TestOnePhaseCommitOvertakenByCollection: a row that somebody has deleted since the snapshot is not written, whatever a collection has removed
// meanwhile.
func TestOnePhaseCommitOvertakenByCollection(t *testing.T) {
	c, err := overtaken(t, txn.CmdCommitOnePhase, func(tx *txn.Txn) error {
		tx.Put(col("x"), []byte("1+1"), txn.WriteOptions{})
		_, err := tx.Commit(context.Background())
		return err
	})
	if !errors.Is(err, txn.ErrSnapshotTooOld) {
		t.Errorf("an update of a row that was deleted after its snapshot: %v; x=%q", err, getAt(t, c, now(t, c), "x"))
	}
}

// TestRowLockOvertakenByCollection: nor does a row lock say that such a row has not changed.
func TestRowLockOvertakenByCollection(t *testing.T) {
	_, err := overtaken(t, txn.CmdLock, func(tx *txn.Txn) error {
		defer tx.Rollback()
		_, err := tx.Lock(context.Background(), []kv.Column{col("x")}, txn.LockOptions{})
		return err
	})
	if !errors.Is(err, txn.ErrConflict) {
		t.Errorf("a row that was deleted after the snapshot is locked: %v", err)
	}
}

// collecting notes the steps of collections.
type collecting struct {
	kv.Store
	mu    sync.Mutex
	steps []string
}

func (r *collecting) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	resp, err := r.Store.Call(ctx, shard, tablets, cmd, req)
	if err == nil && (cmd == txn.CmdSafePoint || cmd == txn.CmdCollect) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.steps = append(r.steps, fmt.Sprintf("%s@%d", txn.CommandName(cmd), shard))
	}
	return resp, err
}

// TestSafePointBehindSplit: a collector whose idea of the tablets is from before a split and a move tells the shard of what was split off, too, before
// the first version goes.
func TestSafePointBehindSplit(t *testing.T) {
	s := openReal(t, vfs.NewMem())
	defer s.n.Close()
	r := &collecting{Store: s}
	c, err := txn.NewClient(r, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	put(t, c, "a", "1", "z", "1")
	if _, err := c.CollectGarbage(t.Context(), now(t, c)-1, txn.GarbageOptions{}); err != nil {
		t.Fatal(err)
	}
	_, right, err := s.n.Split(t.Context(), col("m").Row)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.n.Move(t.Context(), right.ID, 2); err != nil {
		t.Fatal(err)
	}
	r.steps = nil
	stats, err := c.CollectGarbage(t.Context(), now(t, c)-1, txn.GarbageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := slices.Index(r.steps, "SafePoint@2")
	first := slices.IndexFunc(r.steps, func(s string) bool { return strings.HasPrefix(s, "Collect") })
	if told < 0 || told > first || stats.Tablets != 2 {
		t.Errorf("%d tablets, want 2; the first version may go before shard 2 is told: %s", stats.Tablets, strings.Join(r.steps, " "))
	}
}

// lockKeeper keeps the last lock that was written for a row, and has a command that writes it again.
type lockKeeper struct {
	row   string
	a     kv.Address
	ts    kv.Timestamp
	value []byte
}

type keepingEval struct {
	kv.Eval
	k *lockKeeper
}

func (e keepingEval) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	if a.Group == kv.GroupTxnLock && columnName(a.Column) == e.k.row {
		e.k.a, e.k.ts, e.k.value = a, ts, slices.Clone(value)
		e.k.a.Column = kv.Column{Row: slices.Clone(a.Row)}
	}
	e.Eval.Set(a, ts, value)
}

const cmdRestoreLock kv.CommandID = 121

func (k *lockKeeper) Name() string                          { return "lock keeper" }
func (k *lockKeeper) Groups() []kv.GroupSpec                { return nil }
func (k *lockKeeper) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }
func (k *lockKeeper) Commands() []kv.Command {
	return []kv.Command{{
		ID: cmdRestoreLock, Name: "restore a lock", Write: true,
		NewRequest: func() kv.Message { return new(nothing) }, NewResponse: func() kv.Message { return new(nothing) },
		Rows: func(_ kv.Message, rows []kv.RowKey) []kv.RowKey { return rows },
		Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
			e.Set(k.a, k.ts, k.value)
			return new(nothing), nil
		},
	}}
}

// TestLockOfForgottenTransaction: a lock that was settled before the safe point and is there again, as shards of older releases could have it after a
// restart, stops no collection, and is gone after it.
func TestLockOfForgottenTransaction(t *testing.T) {
	k := &lockKeeper{row: "z"}
	m := kvtest.NewMem(kvtest.Options{Shards: 2, Splits: []kv.RowKey{txntest.Split("m")}, Coprocessors: []kv.Coprocessor{
		k, txn.Plant(func(_ kv.CommandID, e kv.Eval) kv.Eval { return keepingEval{e, k} }),
	}})
	defer m.Close()
	clock := &txntest.Clock{}
	for _, async := range []bool{false, true} {
		c, err := txn.NewClient(m, clock, txn.Options{NoAsyncCommit: !async})
		if err != nil {
			t.Fatal(err)
		}
		put(t, c, "a", "1", "b", "1", "z", "1") // the primary is where most are
		if _, err := c.ResolveOrphans(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "z"} {
			put(t, c, name, "2")
		}
		collect := func() {
			t.Helper()
			if _, err := c.CollectGarbage(t.Context(), now(t, c)-1, txn.GarbageOptions{}); err != nil {
				t.Errorf("async %v: %v", async, err)
			}
		}
		collect()
		c.Close()
		if c, err = txn.NewClient(m, clock, txn.Options{}); err != nil { // one that knows nothing
			t.Fatal(err)
		}
		if _, err := m.Call(t.Context(), 2, nil, cmdRestoreLock, new(nothing)); err != nil {
			t.Fatal(err)
		}
		collect()
		for _, name := range []string{"a", "b", "z"} {
			if got := getAt(t, c, now(t, c), name); got != "2" {
				t.Errorf("async %v: %s=%q, want 2", async, name, got)
			}
		}
		if n := c.Metrics().LocksForgotten; n != 1 {
			t.Errorf("async %v: %d locks were forgotten, want 1", async, n)
		}
		c.Close()
	}
}
