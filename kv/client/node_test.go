package client_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/client"
	"moka/kv/node"
	"moka/kv/rpc"
)

const shards = 3

// inProcess describes a cluster of one node.
type inProcess struct {
	n    *node.Node
	addr string
}

func (c inProcess) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	info := rpc.ClusterInfo{ClusterID: "test", Node: c.n.ID(), Root: node.MetaShard, Nodes: []rpc.NodeInfo{{ID: c.n.ID(), Address: c.addr}}}
	for _, s := range c.n.Shards() {
		info.Shards = append(info.Shards, rpc.ShardInfo{ID: s, Node: c.n.ID()})
	}
	return info, nil
}

// storage is a node and two ways to it: a client in its process, and one that joined from outside.
type storage struct {
	node          *node.Node
	local, joined *client.Client
	table         bigtable.Table
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	n, err := node.Open(node.Options{Dir: "data", FS: vfs.NewMem(), Shards: shards, CacheBytes: 8 << 20, BalanceEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	here := inProcess{n, l.Addr().String()}
	srv := rpc.NewServer(n.ID(), n, n, here, rpc.Options{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		srv.Close()
		wg.Wait()
	})

	s := &storage{node: n}
	s.local = newClient(t, here, n, client.Options{Node: n.ID(), Local: n})
	commands, err := rpc.NewRegistry(bigtable.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	pool := rpc.NewPool(commands, rpc.Options{})
	t.Cleanup(pool.Close)
	if _, err := pool.Join(t.Context(), here.addr, "test"); err != nil {
		t.Fatal(err)
	}
	s.joined = newClient(t, pool, commands, client.Options{Remote: pool})

	req := &bigtable.CreateTableRequest{Table: bigtable.Table{Name: "counters", Families: []bigtable.Family{{Name: "n", MaxVersions: 1}}}}
	resp, err := s.joined.Call(t.Context(), node.MetaShard, nil, bigtable.CommandCreateTable, req)
	if err != nil {
		t.Fatal(err)
	}
	s.table = resp.(*bigtable.TablesResponse).Tables[0]
	return s
}

func newClient(t *testing.T, info rpc.Cluster, c client.Commands, o client.Options) *client.Client {
	t.Helper()
	meta, err := client.NewMetadata(info, c, o)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := client.New(meta, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// onRow runs a command on a row's shard, and again as long as the tablet has moved meanwhile.
func onRow(ctx context.Context, c *client.Client, row kv.RowKey, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	for {
		at, err := c.Locate(ctx, row)
		if err != nil {
			return nil, err
		}
		resp, err := c.Call(ctx, at.Shard, []kv.TabletRef{{ID: at.ID, Generation: at.Generation}}, cmd, req)
		if !errors.Is(err, kv.ErrMoved) || ctx.Err() != nil {
			return resp, err
		}
	}
}

const rows = 40

func (s *storage) row(i int) kv.RowKey {
	return kv.MakeRowKey(s.table.ID, fmt.Appendf(nil, "row%03d", i))
}

// reshape splits, merges and moves tablets of the table at random until ctx ends, and at least count times.
func (s *storage) reshape(ctx context.Context, t *testing.T, seed uint64, count int) {
	r := rand.New(rand.NewPCG(seed, 1))
	table := kv.Span{Start: s.row(0), End: kv.MakeRowKey(s.table.ID+1, nil)}
	for done := 0; done < count || ctx.Err() == nil; done++ {
		var ours []kv.Tablet
		for _, at := range s.node.Tablets() {
			if table.Contains(at.Span.Start) {
				ours = append(ours, at)
			}
		}
		var err error
		switch step := r.IntN(4); {
		case step == 0 || len(ours) == 0:
			if len(ours) < 12 {
				_, _, err = s.node.Split(t.Context(), s.row(r.IntN(rows)))
			}
		case step == 1:
			_, err = s.node.Merge(t.Context(), ours[r.IntN(len(ours))].ID)
		default:
			_, err = s.node.Move(t.Context(), ours[r.IntN(len(ours))].ID, kv.ShardID(1+r.IntN(shards)))
		}
		// To split at a start, or to merge across shards, makes no sense and does nothing.
		if err != nil && !errors.Is(err, kv.ErrInvalidArgument) {
			t.Errorf("reshaping: %v", err)
			return
		}
	}
}

// Counters are incremented from inside and outside of the process while tablets split, merge and move under them. An
// increment is not idempotent: whatever was done twice, or was acknowledged and not done, shows in the sum.
func TestCountersWhileTabletsMove(t *testing.T) {
	const callers, each = 4, 150
	s := newStorage(t)
	ctx, stop := context.WithCancel(t.Context())
	var reshaping, counting sync.WaitGroup
	reshaping.Go(func() { s.reshape(ctx, t, 1, 100) })
	for _, c := range []*client.Client{s.local, s.joined} {
		for i := range callers {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			counting.Go(func() {
				for range each {
					row := s.row(r.IntN(rows))
					req := &bigtable.ReadModifyWriteRowRequest{Row: row, Rules: []bigtable.Rule{{Family: "n", Qualifier: []byte("q"), Counter: true, Add: 1}}}
					if _, err := onRow(t.Context(), c, row, bigtable.CommandReadModifyWriteRow, req); err != nil {
						t.Errorf("increment: %v", err)
						return
					}
				}
			})
		}
	}
	counting.Wait()
	stop()
	reshaping.Wait()

	for name, c := range map[string]*client.Client{"local": s.local, "joined": s.joined} {
		sum := uint64(0)
		for i := range rows {
			resp, err := onRow(t.Context(), c, s.row(i), bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: s.row(i)})
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range resp.(*bigtable.ReadRowResponse).Row.Cells {
				sum += binary.BigEndian.Uint64(cell.Value)
			}
		}
		if sum != 2*callers*each {
			t.Errorf("%s: the counters make %d, acknowledged were %d", name, sum, 2*callers*each)
		}
		m := c.Metrics()
		t.Logf("%s: %v", name, m)
		if m.Moved == 0 {
			t.Errorf("%s: nothing moved under the client; the test proves nothing", name)
		}
	}
	if m := s.joined.Metrics(); m.Local != 0 || m.Remote == 0 {
		t.Errorf("the joined client did not go over the wire: %v", m)
	}
}
