package node_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/node"
)

func benchRow(i uint64) kv.RowKey {
	var b [17]byte
	b[0] = 0x10
	binary.BigEndian.PutUint32(b[1:], 7)
	binary.BigEndian.PutUint32(b[5:], 1)
	binary.BigEndian.PutUint64(b[9:], i)
	return kv.MakeRowKey(kv.TableTxn, b[:])
}

// BenchmarkSyncedWrites is the whole path of a write command, from Handle to durable, with one set of 100 bytes.
func BenchmarkSyncedWrites(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			n := open(b, node.Options{Dir: b.TempDir(), FS: vfs.Default, BalanceEvery: -1})
			defer closeNode(b, n)
			var next atomic.Uint64
			value := make([]byte, 100)
			b.ReportAllocs()
			b.SetParallelism(writers)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				ctx := context.Background()
				for pb.Next() {
					i := next.Add(1)
					req := &writeRequest{Ops: []op{{Addr: kv.Address{Group: groupDisk, Column: kv.Column{Row: benchRow(i * 7919 % 1000003)}}, TS: kv.Timestamp(i), Value: value}}}
					if _, err := n.Handle(ctx, 1, nil, cmdWrite, req); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// BenchmarkPointRead is the newest version of a column, as a transaction reads it.
func BenchmarkPointRead(b *testing.B) {
	n := open(b, node.Options{Dir: b.TempDir(), FS: vfs.Default, BalanceEvery: -1, CacheBytes: 256 << 20})
	defer closeNode(b, n)
	const rows = 200_000
	load(b, n, rows)
	s, _ := n.Shard(1)
	r := s.Reader()
	addr := func(i uint64) kv.Address {
		return kv.Address{Group: groupDisk, Column: kv.Column{Row: benchRow(i)}}
	}
	b.Run("Latest", func(b *testing.B) {
		b.ReportAllocs()
		var i uint64
		for b.Loop() {
			i += 7919
			if _, ok, err := r.Latest(addr(i%rows), kv.MaxTimestamp); !ok || err != nil {
				b.Fatal(i%rows, err)
			}
		}
	})
	b.Run("Latest absent", func(b *testing.B) {
		b.ReportAllocs()
		var i uint64
		for b.Loop() {
			i += 7919
			if _, ok, err := r.Latest(addr(rows+i%rows), kv.MaxTimestamp); ok || err != nil {
				b.Fatal(i%rows, err)
			}
		}
	})
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		var i uint64
		for b.Loop() {
			i += 7919
			if _, ok, err := r.Get(addr(i%rows), 1); !ok || err != nil {
				b.Fatal(i%rows, err)
			}
		}
	})
	b.Run("empty memory", func(b *testing.B) {
		b.ReportAllocs()
		a := addr(1)
		a.Group = groupMem
		for b.Loop() {
			if _, ok, _ := r.Latest(a, kv.MaxTimestamp); ok {
				b.Fatal("there is one")
			}
		}
	})
	b.Run("Scan 100", func(b *testing.B) {
		b.ReportAllocs()
		var i uint64
		for b.Loop() {
			i += 7919
			it, err := r.Iter(kv.IterOptions{Group: groupDisk, Span: kv.Span{Start: benchRow(i % (rows - 100)), End: benchRow(i%(rows-100) + 100)}})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for it.NextColumn() {
				n++
			}
			if it.Close(); n != 100 {
				b.Fatal(n)
			}
		}
	})
}

// load writes rows of 100 bytes and flushes them.
func load(b testing.TB, n *node.Node, rows uint64) {
	b.Helper()
	value := make([]byte, 100)
	for i := uint64(0); i < rows; {
		req := &writeRequest{NoSync: true}
		for ; i < rows && len(req.Ops) < 1000; i++ {
			req.Ops = append(req.Ops, op{Addr: kv.Address{Group: groupDisk, Column: kv.Column{Row: benchRow(i)}}, TS: 1, Value: value})
		}
		if _, err := n.Handle(context.Background(), 1, nil, cmdWrite, req); err != nil {
			b.Fatal(err)
		}
	}
	if err := n.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
}
