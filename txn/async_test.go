package txn_test

import (
	"fmt"
	"strings"
	"testing"

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
