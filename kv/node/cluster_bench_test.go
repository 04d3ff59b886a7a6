package node_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/kv/rpc/raftrpc"
)

// BenchmarkPut is a put of 100 bytes by 8 callers of one process, acknowledged when it is durable: on one node,
// and on three over TCP, each with a disk of its own, all in this process. CPU is that of all of it.
func BenchmarkPut(b *testing.B) {
	b.Run("nodes=1", func(b *testing.B) {
		n, err := node.Open(node.Options{Dir: filepath.Join(b.TempDir(), "d"), BalanceEvery: -1})
		if err != nil {
			b.Fatal(err)
		}
		defer n.Close()
		put(b, n)
	})
	b.Run("nodes=3", func(b *testing.B) { put(b, overTCP(b)) })
}

type handler interface {
	Handle(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error)
}

// put writes to the one shard, at its leader.
func put(b *testing.B, h handler) {
	ctx := b.Context()
	var table kv.TableID
	resp, err := h.Handle(ctx, 1, nil, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{
		Table: bigtable.Table{Name: "t", Families: []bigtable.Family{{Name: "f"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	table = resp.(*bigtable.TablesResponse).Tables[0].ID
	const callers = 8
	value := make([]byte, 100)
	var next atomic.Int64
	before := cpu()
	b.ResetTimer()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				row := kv.MakeRowKey(table, fmt.Appendf(nil, "%020d", i*7919%1_000_003))
				_, err := h.Handle(ctx, 1, nil, bigtable.CommandMutateRow, &bigtable.MutateRowRequest{
					RowMutations: bigtable.RowMutations{Row: row, Mutations: []bigtable.Mutation{
						{Kind: bigtable.SetCell, Family: "f", Value: value},
					}},
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/1e3, "cpu-µs/op")
}

// cpu is the processor time of this process so far, in nanoseconds.
func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// overTCP starts three nodes that reach each other as processes do, and returns the one that leads the shard.
func overTCP(b *testing.B) *node.Node {
	members := []kv.NodeID{1, 2, 3}
	var listeners []net.Listener
	addrs := map[kv.NodeID]string{}
	for _, id := range members {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		listeners = append(listeners, l)
		addrs[id] = l.Addr().String()
	}
	var nodes []*node.Node
	for i, id := range members {
		n, err := node.Open(node.Options{
			Dir: filepath.Join(b.TempDir(), fmt.Sprint(id)), BalanceEvery: -1,
			Cluster: &node.Cluster{Self: id, Members: members, Found: func(string) (node.Founding, error) {
				return node.Founding{ID: "bench", Shards: 1}, nil
			}},
		})
		if err != nil {
			b.Fatal(err)
		}
		self := raftrpc.Member{Cluster: "bench", Node: id}
		peers := map[kv.NodeID]string{}
		for _, other := range members {
			if other != id {
				peers[other] = addrs[other]
			}
		}
		t, err := raftrpc.New(self, peers, rpc.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := n.Replicate(t); err != nil {
			b.Fatal(err)
		}
		s := rpc.NewServer(id, n, n, view{n: n}, rpc.Options{})
		raftrpc.Register(s, self, members, n)
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(listeners[i]) })
		b.Cleanup(func() {
			s.Close()
			serving.Wait()
			if err := n.Close(); err != nil {
				b.Error(err)
			}
			t.Close()
		})
		nodes = append(nodes, n)
	}
	for {
		for _, n := range nodes {
			_, err := n.Handle(b.Context(), 1, nil, bigtable.CommandListTables, &bigtable.ListTablesRequest{})
			if err == nil {
				return n
			}
		}
		<-time.After(10 * time.Millisecond)
	}
}
