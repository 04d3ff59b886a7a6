package bench

import (
	"context"
	"testing"

	"moka/kv"
	"moka/triggers"
	"moka/txn"
)

// Percolator §2.4: notifications lie in a locality group of their own, so that the search for them "reads
// only the few dirty cells and not all data cells". With transactions that notify, their values beside:
// looking through all notifications touches no block of any table, by Pebble's own counters, where looking
// through the cells touches hundreds.
func TestPaper_Percolator24_NotifyScanTouchesNoData(t *testing.T) {
	const observer, rows, batch = 7, 5000, 250
	ctx, o := t.Context(), ServerOptions{Dir: t.TempDir(), CacheMiB: 16}
	s, err := OpenStore(ctx, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	c := &cells{s: s, n: rows, size: 1000}
	for from := 0; from < rows; from += batch {
		tx := s.Txn.Begin(txn.TxnOptions{})
		for i := from; i < from+batch; i++ {
			tx.Put(c.txnColumn(i), c.value(i), txn.WriteOptions{Observers: []uint32{observer}})
		}
		if _, err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.server.node.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.server.node.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenStore(ctx, nil, o); err != nil { // with an empty cache
		t.Fatal(err)
	}
	defer s.Close()

	blocks := func(f func()) int64 {
		before := s.server.Stats().Engine
		f()
		after := s.server.Stats().Engine
		return after.CacheHits + after.CacheMisses - before.CacheHits - before.CacheMisses
	}
	notify := blocks(func() {
		all, err := triggers.Backlogs(ctx, s.KV)
		if err != nil || len(all) != 1 || all[0].Observer != observer || all[0].Waiting != rows {
			t.Fatalf("waiting: %v, %v", all, err)
		}
	})
	data := blocks(func() {
		if n := readAll(ctx, t, s); n != rows {
			t.Fatalf("%d of %d rows", n, rows)
		}
	})
	t.Logf("blocks looked at: %d for %d notifications, %d for the cells", notify, rows, data)
	if notify != 0 || data < 100 {
		t.Errorf("the scan of notifications looked at %d blocks, that of the cells at %d", notify, data)
	}
}

func readAll(ctx context.Context, t *testing.T, s *Store) (n int) {
	t.Helper()
	it := s.Txn.Begin(txn.TxnOptions{ReadOnly: true}).Scan(ctx, txn.ScanOptions{
		Span: kv.Span{Start: kv.MakeRowKey(kv.TableTxn, nil), End: kv.MakeRowKey(kv.TableTxn+1, nil)},
	})
	defer it.Close()
	for it.Next() {
		n++
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
