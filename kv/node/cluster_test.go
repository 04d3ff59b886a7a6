package node_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/client"
	"moka/kv/node"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/rpc"
)

// trio is a cluster of three nodes in one process; a network that loses nothing joins those that are up.
type trio struct {
	t      *testing.T
	o      node.Options
	shards int
	born   [3]string

	mu    sync.Mutex
	nodes [3]*node.Node
	disks [3]*vfs.MemFS
}

func newTrio(t *testing.T, o node.Options) *trio {
	c := &trio{t: t, o: o, shards: 2}
	for i := range c.disks {
		c.disks[i] = vfs.NewCrashableMem()
		if err := c.start(kv.NodeID(i + 1)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.stop(kv.NodeID(i + 1))
		}
	})
	return c
}

func (c *trio) start(id kv.NodeID) error {
	o := c.o
	o.Dir, o.CacheBytes, o.FS = "data", 8<<20, c.disks[id-1]
	o.Coprocessors = []kv.Coprocessor{scratch{}}
	o.Cluster = &node.Cluster{
		Self: id, Members: []kv.NodeID{1, 2, 3}, Splits: []kv.RowKey{txnRow("g"), txnRow("n")},
		Raft: raft.Options{ElectionTimeout: 300 * time.Millisecond},
		Found: func(directory string) (node.Founding, error) {
			if c.born[id-1] != "" {
				return node.Founding{}, fmt.Errorf("node %d is founded twice", id)
			}
			c.born[id-1] = directory
			return node.Founding{ID: "c", Shards: c.shards}, nil
		},
	}
	n, err := node.Open(o)
	if err != nil {
		return err
	}
	if err := n.Replicate(link{c, id}); err != nil {
		return err
	}
	n.UseStore(c.client(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[id-1] = n
	return nil
}

// stop ends a node; its disk keeps what a crash would leave.
func (c *trio) stop(id kv.NodeID) {
	c.mu.Lock()
	n := c.nodes[id-1]
	c.nodes[id-1] = nil
	c.disks[id-1] = c.disks[id-1].CrashClone(vfs.CrashCloneCfg{})
	c.mu.Unlock()
	if n != nil {
		closeNode(c.t, n)
	}
}

func (c *trio) node(id kv.NodeID) *node.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[id-1]
}

type link struct {
	c    *trio
	from kv.NodeID
}

func (w link) Send(ms []raft.Message) {
	for _, m := range ms {
		b, err := m.Encode()
		if err != nil {
			w.c.t.Error(err)
		}
		sent, err := raft.DecodeMessage(m.Shard, b)
		if err != nil {
			w.c.t.Error(err)
		}
		if n := w.c.node(kv.NodeID(m.GetTo())); n != nil && w.c.node(w.from) != nil {
			n.Deliver([]raft.Message{sent})
		}
	}
}

// Fetch implements host.Transport: these nodes are never away for that long.
func (w link) Fetch(context.Context, kv.NodeID, kv.ShardID) (host.Feed, error) {
	return nil, errors.New("no snapshots here")
}

// Call implements client.Remote. What dies meanwhile leaves outcomes unknown, as a lost stream does.
func (c *trio) Call(
	ctx context.Context, id kv.NodeID, s kv.ShardID, refs []kv.TabletRef, cmd kv.CommandID, req kv.Message,
) (kv.Message, error) {
	n := c.node(id)
	if n == nil {
		return nil, kv.Errorf(kv.CodeUnavailable, "test", "node %d is down", id)
	}
	return n.Handle(ctx, s, refs, cmd, req)
}

// view is the cluster as one node sees it.
type view struct {
	c *trio
	n *node.Node
}

func (v view) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	info := rpc.ClusterInfo{ClusterID: v.n.ClusterID(), Node: v.n.ID(), Root: node.MetaShard}
	for _, r := range v.n.Replicas() {
		info.Shards = append(info.Shards, rpc.ShardInfo{
			ID: r.Shard, Node: r.Lead.Node, Term: r.Lead.Term, Replicas: r.Members.Nodes(),
		})
	}
	return info, nil
}

// client is that of a process with a node.
func (c *trio) client(n *node.Node) *client.Client {
	o := client.Options{Node: n.ID(), Local: n, Remote: c, RetryFor: time.Minute}
	m, err := client.NewMetadata(view{c, n}, n, o)
	if err != nil {
		c.t.Fatal(err)
	}
	s, err := client.New(m, n, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// call runs a command on the tablet that holds a row.
func (c *trio) call(ctx context.Context, s *client.Client, row kv.RowKey, id kv.CommandID, req kv.Message) (
	kv.Message, error,
) {
	for {
		t, err := s.Locate(ctx, row)
		if err != nil {
			return nil, err
		}
		resp, err := s.Call(ctx, t.Shard, []kv.TabletRef{{ID: t.ID, Generation: t.Generation}}, id, req)
		if !errors.Is(err, kv.ErrMoved) {
			return resp, err
		}
	}
}

// A cluster of nodes is one store: clients of any node find every shard wherever it is led, while nodes die
// and come back, and tablets split; raw counters count what was acknowledged.
func TestThreeNodesAreOneStore(t *testing.T) {
	c := newTrio(t, node.Options{BalanceEvery: 50 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tables, err := c.client(c.node(1)).Call(ctx, node.MetaShard, nil, bigtable.CommandCreateTable,
		&bigtable.CreateTableRequest{Table: bigtable.Table{Name: "raw",
			Families: []bigtable.Family{{Name: "f"}}}})
	if err != nil {
		t.Fatal(err)
	}
	table := tables.(*bigtable.TablesResponse).Tables[0].ID
	rows := []kv.RowKey{
		kv.MakeRowKey(table, []byte("a")), kv.MakeRowKey(table, []byte("b")), kv.MakeRowKey(table,
			[]byte("c")),
	}
	var acked, unknown [3]uint64
	some := make(chan struct{}, 1024)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range rows {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := c.node(kv.NodeID(rand.IntN(3) + 1))
				if n == nil {
					continue
				}
				s := c.client(n)
				_, err := c.call(ctx, s, rows[w], bigtable.CommandReadModifyWriteRow,
					&bigtable.ReadModifyWriteRowRequest{
						Row: rows[w], Rules: []bigtable.Rule{{Family: "f", Counter: true, Add: 1}},
					})
				switch {
				case err == nil:
					acked[w]++
					select {
					case some <- struct{}{}:
					default:
					}
				case errors.Is(err, kv.ErrOutcomeUnknown):
					unknown[w]++
				case errors.Is(err, kv.ErrClosed): // its node has ended
				default:
					t.Errorf("counter %d: %v", w, err)
					return
				}
			}
		})
	}
	for k := range 4 {
		progress(ctx, t, some, 50)
		id := kv.NodeID(k%3 + 1)
		c.stop(id)
		progress(ctx, t, some, 50)
		if err := c.start(id); err != nil {
			t.Fatal(err)
		}
		if k == 1 { // by whoever leads
			c.split(ctx, rows[1])
		}
	}
	close(stop)
	wg.Wait()
	for w, row := range rows {
		s := c.client(c.node(kv.NodeID(w + 1)))
		resp, err := c.call(ctx, s, row, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: row})
		if err != nil {
			t.Fatal(err)
		}
		n := binary.BigEndian.Uint64(resp.(*bigtable.ReadRowResponse).Row.Cells[0].Value)
		if n < acked[w] || n > acked[w]+unknown[w] {
			t.Errorf("counter %d is %d: %d were acknowledged, of %d nobody knows", w, n, acked[w], unknown[w])
		}
	}
	// METADATA hears of the split, whoever leads now.
	s := c.client(c.node(1))
	for {
		s, err := s.Locate(ctx, rows[1])
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.client(c.node(1)).Call(ctx, node.MetaShard, nil, bigtable.CommandLookup,
			&bigtable.LookupRequest{Row: rows[1]})
		if err != nil {
			t.Fatal(err)
		}
		if found := resp.(*bigtable.LookupResponse).Tablets[0]; string(found.Span.Start) == string(rows[1]) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("METADATA has not heard of the split: %v", s)
		}
	}
	for id := kv.NodeID(1); id <= 3; id++ {
		for _, r := range c.node(id).Stats().Shards {
			if r.Stale != 0 {
				t.Errorf("node %d: %d entries had no effect", id, r.Stale)
			}
		}
	}
}

func progress(ctx context.Context, t *testing.T, some <-chan struct{}, n int) {
	t.Helper()
	for range n {
		select {
		case <-some:
		case <-ctx.Done():
			t.Fatal("no progress")
		}
	}
}

// split cuts in front of a row, at whatever node leads its shard.
func (c *trio) split(ctx context.Context, row kv.RowKey) {
	for ctx.Err() == nil {
		for id := kv.NodeID(1); id <= 3; id++ {
			_, _, err := c.node(id).Split(ctx, row)
			if err == nil {
				return
			}
			if !errors.Is(err, kv.ErrNotLeader) && !errors.Is(err, kv.ErrOutcomeUnknown) {
				c.t.Errorf("split: %v", err)
				return
			}
		}
	}
	c.t.Error("nobody splits")
}

// The tablets of the transactions' key space are dealt to the shards when the cluster is founded, and
// METADATA knows them at once; both shards are written to from any node.
func TestFoundingTablets(t *testing.T) {
	c := newTrio(t, node.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, at := range map[string]kv.ShardID{"a": 1, "g": 2, "m": 2, "n": 1, "z": 1} {
		s := c.client(c.node(kv.NodeID(at)))
		tablet, err := s.Locate(ctx, txnRow(i))
		if err != nil || tablet.Shard != at {
			t.Errorf("row %s is at %v, %v; want shard %d", i, tablet, err, at)
		}
		o := op{Addr: cell(groupMem, i, "q"), TS: 1, Value: []byte("v")}
		if _, err := c.call(ctx, s, txnRow(i), cmdWrite, &writeRequest{Ops: []op{o}}); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.node(1).Move(ctx, c.node(1).Tablets()[0].ID, 2); !errors.Is(err, kv.ErrInvalidArgument) {
		t.Errorf("a move between shards: %v", err)
	}
}

// A directory is opened as what it is, and says how.
func TestDirectoriesOfClusters(t *testing.T) {
	found := func(string) (node.Founding, error) { return node.Founding{ID: "c1", Shards: 2}, nil }
	ours := func(self kv.NodeID, members ...kv.NodeID) *node.Cluster {
		return &node.Cluster{Self: self, Members: members, Found: found}
	}
	member, alone := vfs.NewMem(), vfs.NewMem()
	closeNode(t, open(t, node.Options{FS: alone}))
	closeNode(t, open(t, node.Options{FS: member, Cluster: ours(2, 1, 2, 3)}))
	for name, c := range map[string]struct {
		o    node.Options
		want string
	}{
		"a member's, alone": {node.Options{FS: member}, "belongs to node 2 of cluster c1"},
		"another member's": {node.Options{FS: member, Cluster: ours(3, 1, 2, 3)},
			"is started as node 3"},
		"with other members": {node.Options{FS: member, Cluster: ours(2, 1, 2, 4)},
			"founded by nodes [1 2 3]"},
		"one node's, in a cluster": {node.Options{FS: alone, Cluster: ours(1, 1, 2, 3)},
			"without --members"},
	} {
		c.o.Dir, c.o.CacheBytes = "data", 8<<20
		c.o.Coprocessors = []kv.Coprocessor{scratch{}}
		if _, err := node.Open(c.o); !errors.Is(err, kv.ErrForeignData) || !strings.Contains(err.Error(),
			c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := open(t, node.Options{FS: member, Cluster: ours(2, 1, 2, 3)})
	if n.ID() != 2 || n.ClusterID() != "c1" || len(n.Shards()) != 2 {
		t.Errorf("node %d of cluster %q with shards %v", n.ID(), n.ClusterID(), n.Shards())
	}
	closeNode(t, n)
	// Alone it becomes the first of a cluster, once and for good, whatever it is named later.
	for range 2 {
		n = open(t, node.Options{FS: alone, Cluster: ours(1, 1)})
		if n.ID() != 1 || n.ClusterID() != "c1" || len(n.Shards()) != 1 {
			t.Errorf("node %d of cluster %q with shards %v", n.ID(), n.ClusterID(), n.Shards())
		}
		closeNode(t, n)
	}
	for want, c := range map[string]*node.Cluster{"belongs to node 1 of cluster c1": nil,
		"was founded by nodes [1]": ours(1, 1, 2, 3)} {
		o := node.Options{FS: alone, Cluster: c, Dir: "data", CacheBytes: 8 << 20}
		o.Coprocessors = []kv.Coprocessor{scratch{}}
		if _, err := node.Open(o); !errors.Is(err, kv.ErrForeignData) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("one node's that has become a cluster's: %v, want %q", err, want)
		}
	}
}

// TestHandOver: a member that is to stop gives its shards away, and no command that runs meanwhile has an
// unknown outcome. A member that is down is passed over.
func TestHandOver(t *testing.T) {
	c := newTrio(t, node.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	led := func(n *node.Node) map[kv.ShardID]uint64 {
		terms := map[kv.ShardID]uint64{}
		for _, r := range n.Replicas() {
			if r.Leading {
				terms[r.Shard] = r.Term
			}
		}
		return terms
	}
	elections := func() (sum uint64) { // of all shards since they began
		for s := range c.shards {
			newest := uint64(0)
			for id := kv.NodeID(1); id <= 3; id++ {
				if n := c.node(id); n != nil {
					newest = max(newest, n.Replicas()[s].Term)
				}
			}
			sum += newest
		}
		return sum
	}
	for round := range 6 {
		var from *node.Node
		for from == nil {
			for id := kv.NodeID(1); id <= 3; id++ {
				if n := c.node(id); n != nil && len(led(n)) > 0 {
					from = n
				}
			}
			if ctx.Err() != nil {
				t.Fatal("nobody leads")
			}
		}
		down := kv.NodeID(0)
		if round%2 == 1 {
			down = from.ID()%3 + 1
			c.stop(down)
		}
		s := c.client(c.node((from.ID()+1)%3 + 1))
		stop, over := make(chan struct{}), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					over <- nil
					return
				default:
				}
				row := txnRow(fmt.Sprint("a", i%7))
				write := &writeRequest{Ops: []op{{Addr: kv.Address{Group: groupDisk,
					Column: kv.Column{Row: row, Family: 1}}, TS: kv.Timestamp(i + 1)}}}
				if _, err := c.call(ctx, s, row, cmdWrite, write); err != nil {
					over <- err
					return
				}
			}
		}()
		before, elected := led(from), elections()
		if err := from.HandOver(ctx); err != nil {
			t.Fatal(err)
		}
		for id, term := range led(from) { // it may have been elected anew meanwhile
			if term == before[id] {
				t.Errorf("node %d leads shard %d after it has handed its shards over", from.ID(), id)
			}
		}
		close(stop)
		err := <-over
		if errors.Is(err, kv.ErrOutcomeUnknown) && elections() > elected+uint64(len(before)) {
			err = nil // on a busy machine somebody was elected who was not asked to lead
		}
		if err != nil {
			t.Errorf("a command beside it: %v", err)
		}
		if down != 0 {
			if err := c.start(down); err != nil {
				t.Fatal(err)
			}
		}
	}
}
