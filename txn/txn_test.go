package txn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

var col = txntest.Column

func mustCommit(t *testing.T, tx *txn.Txn) kv.Timestamp {
	t.Helper()
	ts, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

func put(t *testing.T, c *txn.Client, pairs ...string) kv.Timestamp {
	t.Helper()
	tx := c.Begin(txn.TxnOptions{})
	for i := 0; i < len(pairs); i += 2 {
		tx.Put(col(pairs[i]), []byte(pairs[i+1]), txn.WriteOptions{})
	}
	return mustCommit(t, tx)
}

func scan(t *testing.T, tx *txn.Txn, o txn.ScanOptions) string {
	t.Helper()
	s := tx.Scan(t.Context(), o)
	defer s.Close()
	var b strings.Builder
	for s.Next() {
		fmt.Fprintf(&b, "%s=%s ", s.Column().Row.Row(), s.Value())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// layouts run a test with everything in one shard and with each row in another.
func layouts(t *testing.T, f func(t *testing.T, c *txn.Client, m *kvtest.Mem)) {
	for name, o := range map[string]kvtest.Options{
		"one shard":    {},
		"three shards": {Shards: 3, Splits: []kv.RowKey{txntest.Split("b"), txntest.Split("c"), txntest.Split("d"), txntest.Split("e"), txntest.Split("f")}},
	} {
		t.Run(name, func(t *testing.T) {
			c, m := txntest.NewStore(t, o, txn.Options{})
			f(t, c, m)
		})
	}
}

func TestReadsOwnWritesAndSnapshot(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		put(t, c, "a", "1", "b", "2", "c", "3", "d", "4")
		all := kv.Span{Start: txntest.Split("")}
		old := c.Begin(txn.TxnOptions{})
		if got, want := scan(t, old, txn.ScanOptions{Span: all}), "a=1 b=2 c=3 d=4"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		tx := c.Begin(txn.TxnOptions{})
		tx.Put(col("b"), []byte("22"), txn.WriteOptions{})
		tx.Delete(col("c"), txn.WriteOptions{})
		tx.Put(col("e"), []byte("5"), txn.WriteOptions{})
		tx.LockForUpdate(col("a"))
		if got, want := scan(t, tx, txn.ScanOptions{Span: all, Batch: 1}), "a=1 b=22 d=4 e=5"; got != want {
			t.Errorf("own writes forward: got %q, want %q", got, want)
		}
		if got, want := scan(t, tx, txn.ScanOptions{Span: all, Batch: 1, Reverse: true}), "e=5 d=4 b=22 a=1"; got != want {
			t.Errorf("own writes in reverse: got %q, want %q", got, want)
		}
		if got, want := scan(t, tx, txn.ScanOptions{Span: kv.Span{Start: txntest.Split("b"), End: txntest.Split("e")}, Reverse: true, Limit: 1}), "d=4"; got != want {
			t.Errorf("limit: got %q, want %q", got, want)
		}
		vs, err := tx.BatchGet(t.Context(), []kv.Column{col("a"), col("b"), col("c"), col("x")})
		if err != nil || string(vs[0].Data) != "1" || string(vs[1].Data) != "22" || vs[2].OK || vs[3].OK {
			t.Errorf("batch get: %v, %v", vs, err)
		}
		mustCommit(t, tx)
		if got, want := scan(t, old, txn.ScanOptions{Span: all}), "a=1 b=2 c=3 d=4"; got != want {
			t.Errorf("old snapshot: got %q, want %q", got, want)
		}
		if got, want := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: all}), "a=1 b=22 d=4 e=5"; got != want {
			t.Errorf("new snapshot: got %q, want %q", got, want)
		}
	})
}

// TestScanSince: a scan may ask for what has been written after a timestamp. Its snapshot, own writes, limits and requests are those of any scan.
func TestScanSince(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, _ *kvtest.Mem) {
		put(t, c, "a", "1", "b", "2", "c", "3", "d", "4", "e", "5")
		first := put(t, c, "b", "22")
		put(t, c, "d", "44")
		tx := c.Begin(txn.TxnOptions{})
		tx.Delete(col("c"), txn.WriteOptions{})
		tx.Put(col("f"), []byte("6"), txn.WriteOptions{})
		second := mustCommit(t, tx)
		put(t, c, "a", "1") // the same value is a write as well
		all := kv.Span{Start: txntest.Split("")}
		own := c.Begin(txn.TxnOptions{})
		own.Put(col("e"), []byte("55"), txn.WriteOptions{})
		own.Delete(col("d"), txn.WriteOptions{})
		for _, x := range []struct {
			tx   *txn.Txn
			o    txn.ScanOptions
			want string
		}{
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: first - 1}, "a=1 b=22 d=44 f=6"},
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: first}, "a=1 d=44 f=6"},
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: second}, "a=1"},
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: first, Batch: 1, Reverse: true}, "f=6 d=44 a=1"},
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: first, Limit: 2}, "a=1 d=44"},
			{c.Begin(txn.TxnOptions{StartTS: second, ReadOnly: true}), txn.ScanOptions{Since: first}, "d=44 f=6"},
			{c.Begin(txn.TxnOptions{StartTS: first, ReadOnly: true}), txn.ScanOptions{Since: first}, ""},
			{c.Begin(txn.TxnOptions{}), txn.ScanOptions{Since: first, Program: []byte("p")}, "a=1 d=44 f=6"},
			{own, txn.ScanOptions{Since: first}, "a=1 e=55 f=6"},
		} {
			x.o.Span = all
			for range 3 { // the third comes from what the shards remember
				if got := scan(t, x.tx, x.o); got != x.want {
					t.Errorf("since %v: got %q, want %q", x.o.Since, got, x.want)
				}
			}
		}
		s := own.Scan(t.Context(), txn.ScanOptions{Span: all, Since: first, Program: []byte("p"), Whole: true})
		defer s.Close()
		if s.Next(); !errors.Is(s.Err(), txn.ErrNoProgram) {
			t.Errorf("with a program that must run: %v", s.Err())
		}
	})
}

func TestSavepoints(t *testing.T) {
	c := txntest.New(t)
	tx := c.Begin(txn.TxnOptions{})
	tx.Put(col("a"), []byte("1"), txn.WriteOptions{})
	s1 := tx.Savepoint()
	tx.Put(col("a"), []byte("2"), txn.WriteOptions{})
	tx.Delete(col("b"), txn.WriteOptions{})
	bytes2, _ := tx.Size()
	s2 := tx.Savepoint()
	tx.Put(col("c"), []byte("3"), txn.WriteOptions{})
	tx.RollbackTo(s2)
	if b, n := tx.Size(); b != bytes2 || n != 2 {
		t.Errorf("size %d of %d keys, want %d of 2", b, n, bytes2)
	}
	tx.RollbackTo(s1)
	tx.Put(col("d"), []byte("4"), txn.WriteOptions{})
	tx.RollbackTo(s1) // a savepoint stays usable
	tx.Put(col("e"), []byte("5"), txn.WriteOptions{})
	mustCommit(t, tx)
	if got, want := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{}), "a=1 e=5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFirstCommitterWins(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		put(t, c, "a", "1", "c", "1")
		t1, t2 := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		for _, tx := range []*txn.Txn{t1, t2} {
			if _, _, err := tx.Get(t.Context(), col("a")); err != nil {
				t.Fatal(err)
			}
			tx.Put(col("a"), []byte("2"), txn.WriteOptions{})
			tx.Put(col("c"), []byte("2"), txn.WriteOptions{})
		}
		mustCommit(t, t1)
		_, err := t2.Commit(t.Context())
		var conflict *txn.ConflictError
		if !errors.Is(err, txn.ErrConflict) || !errors.As(err, &conflict) {
			t.Fatalf("second committer: %v", err)
		}
		if _, err := t2.Commit(t.Context()); !errors.Is(err, txn.ErrFinished) {
			t.Errorf("third time: %v", err)
		}
		put(t, c, "a", "3", "c", "3") // no lock of the loser is in the way
	})
}

func TestConstraints(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		ctx := t.Context()
		put(t, c, "a", "1", "z", "1")
		try := func(f func(tx *txn.Txn)) error {
			tx := c.Begin(txn.TxnOptions{})
			f(tx)
			tx.Put(col("z"), []byte("2"), txn.WriteOptions{})
			_, err := tx.Commit(ctx)
			return err
		}
		notExist := txn.WriteOptions{MustNotExist: true}
		if err := try(func(tx *txn.Txn) { tx.Put(col("a"), nil, notExist) }); !errors.Is(err, txn.ErrAlreadyExists) {
			t.Errorf("insert of a row that exists: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Delete(col("a"), txn.WriteOptions{}); tx.Put(col("a"), nil, notExist) }); err != nil {
			t.Errorf("insert after own delete: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Put(col("b"), nil, notExist); tx.Put(col("b"), nil, notExist) }); !errors.Is(err, txn.ErrAlreadyExists) {
			t.Errorf("insert twice: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Put(col("b"), nil, notExist); tx.Delete(col("b"), txn.WriteOptions{}) }); err != nil {
			t.Errorf("insert and delete: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Require(col("b")) }); !errors.Is(err, txn.ErrMustExist) {
			t.Errorf("require of nothing: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Require(col("a")) }); err != nil {
			t.Errorf("require: %v", err)
		}
		if err := try(func(tx *txn.Txn) { tx.Put(col("b"), nil, txn.WriteOptions{}); tx.Require(col("b")) }); err != nil {
			t.Errorf("require of an own row: %v", err)
		}
	})
}

func TestRequireAgainstDelete(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		ctx := t.Context()
		put(t, c, "a", "parent")
		begin := func() *txn.Txn {
			tx := c.Begin(txn.TxnOptions{})
			if _, err := tx.StartTS(ctx); err != nil {
				t.Fatal(err)
			}
			return tx
		}
		child1, child2, update, remove := begin(), begin(), begin(), begin()
		child1.Require(col("a"))
		child1.Put(col("b"), nil, txn.WriteOptions{})
		child2.Require(col("a"))
		child2.Put(col("c"), nil, txn.WriteOptions{})
		update.Put(col("a"), []byte("changed"), txn.WriteOptions{})
		remove.Delete(col("a"), txn.WriteOptions{})
		mustCommit(t, child1)
		mustCommit(t, update) // a put of the parent conflicts with nobody who requires it
		mustCommit(t, child2)
		if _, err := remove.Commit(ctx); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("delete with an older snapshot than its children: %v", err)
		}
		remove, child1 = begin(), begin()
		remove.Delete(col("a"), txn.WriteOptions{})
		child1.Require(col("a"))
		child1.Put(col("d"), nil, txn.WriteOptions{})
		mustCommit(t, remove)
		if _, err := child1.Commit(ctx); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("require of a row that was deleted after the snapshot: %v", err)
		}
	})
}

func TestLockForUpdate(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		ctx := t.Context()
		put(t, c, "a", "1", "b", "1")
		// Write skew needs two transactions that each read what the other writes.
		for _, lock := range []bool{false, true} {
			var txs []*txn.Txn
			for _, rw := range [][2]string{{"a", "b"}, {"b", "a"}} {
				tx := c.Begin(txn.TxnOptions{})
				if _, _, err := tx.Get(ctx, col(rw[0])); err != nil {
					t.Fatal(err)
				}
				if lock {
					tx.LockForUpdate(col(rw[0]))
				}
				tx.Put(col(rw[1]), []byte("2"), txn.WriteOptions{})
				txs = append(txs, tx)
			}
			mustCommit(t, txs[0])
			_, err := txs[1].Commit(ctx)
			if lock != errors.Is(err, txn.ErrConflict) || !lock && err != nil {
				t.Errorf("locked %v: %v", lock, err)
			}
		}
		// A lock that another transaction's later writes must respect, too.
		reader, locker := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		if _, err := reader.StartTS(ctx); err != nil {
			t.Fatal(err)
		}
		locker.LockForUpdate(col("a"))
		locker.Put(col("c"), nil, txn.WriteOptions{})
		mustCommit(t, locker)
		reader.Put(col("a"), nil, txn.WriteOptions{})
		if _, err := reader.Commit(ctx); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("write over a later lock: %v", err)
		}
	})
}

func TestLimitsAndModes(t *testing.T) {
	ctx := t.Context()
	c, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{MaxBytes: 4096})
	tx := c.Begin(txn.TxnOptions{})
	s := tx.Savepoint()
	tx.Put(col("a"), make([]byte, 5000), txn.WriteOptions{})
	if err := tx.Err(); !errors.Is(err, txn.ErrTooLarge) {
		t.Errorf("over the cap: %v", err)
	}
	if _, _, err := tx.Get(ctx, col("a")); !errors.Is(err, txn.ErrTooLarge) {
		t.Errorf("read over the cap: %v", err)
	}
	tx.RollbackTo(s)
	tx.Put(col("a"), make([]byte, 3000), txn.WriteOptions{}) // long: goes to the data column
	at := mustCommit(t, tx)
	put(t, c, "a", "short")
	past := c.Begin(txn.TxnOptions{StartTS: at})
	if v, ok, err := past.Get(ctx, col("a")); err != nil || !ok || len(v) != 3000 {
		t.Errorf("AS OF: %d bytes, %v, %v", len(v), ok, err)
	}
	if _, err := c.Begin(txn.TxnOptions{StartTS: kv.MaxTimestamp - 1}).StartTS(ctx); !errors.Is(err, kv.ErrInvalidArgument) {
		t.Errorf("snapshot in the future: %v", err)
	}
	ro := c.Begin(txn.TxnOptions{ReadOnly: true})
	ro.Put(col("a"), nil, txn.WriteOptions{})
	if _, err := ro.Commit(ctx); !errors.Is(err, txn.ErrReadOnly) {
		t.Errorf("write in a read-only transaction: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	tx = c.Begin(txn.TxnOptions{})
	tx.Put(col("a"), nil, txn.WriteOptions{})
	if _, err := tx.Commit(cancelled); !errors.Is(err, context.Canceled) || errors.Is(err, txn.ErrOutcomeUnknown) {
		t.Errorf("commit of a cancelled context: %v", err)
	}
}
