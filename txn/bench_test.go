package txn_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/node"
	"moka/txn"
	"moka/txn/txntest"
)

// openDisk is a node with one shard on a real disk, and a client.
func openDisk(b *testing.B) *txn.Client {
	b.Helper()
	n, err := node.Open(node.Options{
		Dir: b.TempDir(), FS: vfs.Default, BalanceEvery: -1, Shards: 1,
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{}), notifyGroups{}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.Close() })
	s, err := client.New(tabletsOf{n}, n, client.Options{Node: n.ID(), Local: n})
	if err != nil {
		b.Fatal(err)
	}
	c, err := txn.NewClient(s, &txntest.Clock{}, txn.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchRow(i uint64) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64([]byte{0xb1}, i*0x9e3779b97f4a7c15))}
}

// durable runs f from 64 goroutines and reports processor time for each.
func durable(b *testing.B, f func(ctx context.Context, i uint64) error) {
	var next atomic.Uint64
	b.ReportAllocs()
	b.SetParallelism(32) // times GOMAXPROCS, which is 2 where this is compared
	b.ResetTimer()
	before := processor()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(context.Background(), next.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64((processor()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkDurableCommit is a transaction of one new row, committed durably; BenchmarkDurableSet is the least that durability costs:
// Pebble's own synced set with the same options. `moka bench commit` compares them in turns.
func BenchmarkDurableCommit(b *testing.B) {
	c, value := openDisk(b), make([]byte, 100)
	durable(b, func(ctx context.Context, i uint64) error {
		t := c.Begin(txn.TxnOptions{Autocommit: true})
		t.Put(benchRow(i), value, txn.WriteOptions{MustNotExist: true})
		_, err := t.Commit(ctx)
		return err
	})
}

func BenchmarkDurableSet(b *testing.B) {
	e, err := engine.Open(b.TempDir(), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	value := make([]byte, 100)
	durable(b, func(_ context.Context, i uint64) error {
		e.Set(keys.AppendVersion(keys.AppendColumn(nil, 1, kv.Address{Group: kv.GroupTxnWrite, Column: benchRow(i)}), 1), value)
		return nil
	})
}

// BenchmarkGet reads one column in a snapshot, and without.
func BenchmarkGet(b *testing.B) {
	c, value := openDisk(b), make([]byte, 100)
	const rows = 10_000
	for i := uint64(0); i < rows; {
		t := c.Begin(txn.TxnOptions{})
		for range 1000 {
			t.Put(benchRow(i), value, txn.WriteOptions{})
			i++
		}
		if _, err := t.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			t := c.Begin(txn.TxnOptions{ReadOnly: true})
			if _, ok, err := t.Get(b.Context(), benchRow(i*7919%rows)); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("latest", func(b *testing.B) {
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			if vs, err := c.Latest(b.Context(), []kv.Column{benchRow(i * 7919 % rows)}); err != nil || !vs[0].OK {
				b.Fatal(vs, err)
			}
		}
	})
}

// BenchmarkBatchGet reads 100 columns of 200,000 at a time, as a join looks up the rows that belong to its batch: most are not
// remembered. Those of "near" stand beside each other, those of "far" anywhere.
func BenchmarkBatchGet(b *testing.B) {
	c, value := openDisk(b), make([]byte, 100)
	const rows, batch = 200_000, 100
	row := func(i uint64) kv.Column {
		return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64([]byte{0xb1}, i))}
	}
	for i := uint64(0); i < rows; {
		t := c.Begin(txn.TxnOptions{})
		for range 2000 {
			t.Put(row(i), value, txn.WriteOptions{})
			i++
		}
		if _, err := t.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for name, step := range map[string]uint64{"near": 3, "far": 7919} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			columns := make([]kv.Column, batch)
			for i := uint64(0); b.Loop(); i++ {
				for j := range columns {
					columns[j] = row((i*104729 + uint64(j)*step) % rows)
				}
				slices.SortFunc(columns, func(x, y kv.Column) int { return bytes.Compare(x.Row, y.Row) })
				t := c.Begin(txn.TxnOptions{ReadOnly: true})
				vs, err := t.BatchGet(b.Context(), columns)
				if err != nil || !vs[batch-1].OK {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDurablePut is the same without asking whether the row exists: what a set of Pebble's compares with.
func BenchmarkDurablePut(b *testing.B) {
	c, value := openDisk(b), make([]byte, 100)
	durable(b, func(ctx context.Context, i uint64) error {
		t := c.Begin(txn.TxnOptions{Autocommit: true})
		t.Put(benchRow(i), value, txn.WriteOptions{})
		_, err := t.Commit(ctx)
		return err
	})
}
