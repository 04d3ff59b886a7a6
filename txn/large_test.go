package txn_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// TestLargeTransaction: ten times the rows are ten times the work, over several shards and many tablets, and what is over the cap is
// refused by name before it takes memory. No request is larger than nodes accept.
func TestLargeTransaction(t *testing.T) {
	var splits []kv.RowKey
	for i := range 60 {
		splits = append(splits, col(fmt.Sprintf("row%05d", i*500)).Row)
	}
	_, mem := txntest.NewStore(t, kvtest.Options{Shards: 3, Splits: splits}, txn.Options{})
	var mu sync.Mutex
	largest := 0
	c, err := txn.NewClient(&interposed{mem, func(_ kv.CommandID, req kv.Message) error {
		mu.Lock()
		defer mu.Unlock()
		largest = max(largest, len(req.AppendTo(nil)))
		return nil
	}}, &txntest.Clock{}, txn.Options{MaxBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const rows = 30_000
	fill := func(tx *txn.Txn, size int) {
		for i := range rows {
			tx.Put(col(fmt.Sprintf("row%05d", i)), make([]byte, size), txn.WriteOptions{})
		}
	}
	tx := c.Begin(txn.TxnOptions{})
	fill(tx, 600)
	commitTS := mustCommit(t, tx)
	s := c.Begin(txn.TxnOptions{}).Scan(t.Context(), txn.ScanOptions{})
	defer s.Close()
	n := 0
	for s.Next() {
		n++
	}
	if s.Err() != nil || n != rows || commitTS == 0 {
		t.Errorf("%d of %d rows at %v: %v", n, rows, commitTS, s.Err())
	}
	if m := c.Metrics(); m.CommitsAsync != 0 {
		t.Error("a primary lists thirty thousand columns")
	}
	if largest > 5<<20 {
		t.Errorf("a request of %d bytes", largest)
	}
	over := c.Begin(txn.TxnOptions{})
	fill(over, 1200)
	if size, _ := over.Size(); size > 32<<20+2000 {
		t.Errorf("%d bytes are buffered over a cap of 32 MiB", size)
	}
	if _, err := over.Commit(t.Context()); !errors.Is(err, txn.ErrTooLarge) {
		t.Errorf("over the cap: %v", err)
	}
}
