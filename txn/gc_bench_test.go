package txn_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/txn"
	"moka/txn/txntest"
)

// BenchmarkHotRow: what a read of the newest version costs with many versions beneath it, and what it costs to remove them.
func BenchmarkHotRow(b *testing.B) {
	for _, versions := range []int{1, 100_000} {
		for _, where := range []string{"memtable", "tables"} {
			for _, spread := range []bool{false, true} {
				b.Run(fmt.Sprintf("versions=%d/%s/spread=%v", versions, where, spread), func(b *testing.B) { hotRow(b, versions, where == "tables", spread) })
			}
		}
	}
}

func hotRow(b *testing.B, versions int, flush, spread bool) {
	ctx := b.Context()
	s := openRealCache(b, vfs.NewMem(), 128<<20)
	defer func() { _ = s.n.Close() }()
	c, err := txn.NewClient(s, &txntest.Clock{}, txn.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	write := func(name, v string) {
		tx := c.Begin(txn.TxnOptions{Autocommit: true})
		tx.Put(col(name), []byte(v), txn.WriteOptions{})
		if _, err := tx.Commit(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 100 {
		write(fmt.Sprintf("row%02d", i), "cold")
	}
	value := string(make([]byte, 150))
	for i := range versions {
		if spread {
			write(fmt.Sprintf("row%02d", i%100), value)
			continue
		}
		write("row50", value)
	}
	if flush {
		if err := s.n.Flush(ctx); err != nil {
			b.Fatal(err)
		}
	}
	hot := col("row50")
	span := kv.Span{Start: txntest.Split("row00"), End: txntest.Split("row99")}
	b.Run("latest", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Latest(ctx, []kv.Column{hot}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			tx := c.Begin(txn.TxnOptions{ReadOnly: true})
			if _, _, err := tx.Get(ctx, hot); err != nil {
				b.Fatal(err)
			}
			tx.Rollback()
		}
	})
	b.Run("scan100", func(b *testing.B) {
		for b.Loop() {
			tx := c.Begin(txn.TxnOptions{ReadOnly: true})
			sc := tx.Scan(ctx, txn.ScanOptions{Span: span, Batch: 128})
			for sc.Next() {
			}
			if err := sc.Err(); err != nil {
				b.Fatal(err)
			}
			tx.Rollback()
		}
	})
	b.Run("scan100reverse", func(b *testing.B) {
		for b.Loop() {
			tx := c.Begin(txn.TxnOptions{ReadOnly: true})
			sc := tx.Scan(ctx, txn.ScanOptions{Span: span, Reverse: true, Batch: 128})
			for sc.Next() {
			}
			if err := sc.Err(); err != nil {
				b.Fatal(err)
			}
			tx.Rollback()
		}
	})
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			write("row50", value)
		}
	})
}

// BenchmarkCollect: a first collection goes through everything, later ones through what was written since.
func BenchmarkCollect(b *testing.B) {
	const rows = 200_000
	for _, changed := range []int{0, rows / 100, rows} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			ctx := b.Context()
			s := openRealCache(b, vfs.NewMem(), 128<<20)
			defer func() { _ = s.n.Close() }()
			c, err := txn.NewClient(s, &txntest.Clock{}, txn.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			value := make([]byte, 150)
			write := func(n int) {
				for i := 0; i < n; {
					tx := c.Begin(txn.TxnOptions{})
					for k := 0; k < 1000 && i < n; k++ {
						tx.Put(col(fmt.Sprintf("row%08d", i*(rows/n))), value, txn.WriteOptions{})
						i++
					}
					if _, err := tx.Commit(ctx); err != nil {
						b.Fatal(err)
					}
				}
			}
			collect := func() (st txn.GarbageStats) {
				ts, err := txn.ClockOf(c).Next(ctx)
				if err == nil {
					st, err = c.CollectGarbage(ctx, ts, txn.GarbageOptions{})
				}
				if err != nil {
					b.Fatal(err)
				}
				return st
			}
			write(rows)
			if changed < rows {
				collect()
			}
			for b.Loop() {
				b.StopTimer()
				if changed > 0 {
					write(changed)
				}
				if err := s.n.Flush(ctx); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				st := collect()
				if st.Versions != int64(changed) {
					b.Fatalf("%+v", st)
				}
			}
		})
	}
}
