package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/node"
	"moka/kv/raft"
)

func TestReplicaMessages(t *testing.T) {
	for _, c := range []struct{ from, to kv.Message }{
		{&node.MembersRequest{}, &node.MembersRequest{}},
		{&node.OrderRequest{Version: 7, Learn: 4, Promote: 1<<32 | 4, Remove: 2, HandOver: 3},
			&node.OrderRequest{}},
		{&node.MembersResponse{Leader: 3, Term: 9, Applied: 77,
			Members: raft.Members{Voters: []uint64{1, 3}, Learners: []uint64{1<<32 | 4}, Version: 12,
				Next: 2},
			Peers: []raft.Peer{{Replica: 1, Match: 70, There: true}, {Replica: 1<<32 | 4, Waits: true}}},
			&node.MembersResponse{}},
	} {
		b := c.from.AppendTo(nil)
		if err := c.to.Decode(b); err != nil || fmt.Sprint(c.from) != fmt.Sprint(c.to) {
			t.Errorf("%v became %v: %v", c.from, c.to, err)
		}
		for i := range b {
			if c.to.Decode(b[:i]) == nil {
				t.Errorf("%d of %d bytes are a %T", i, len(b), c.to)
			}
		}
	}
}

// A node that joins has the number that it was given and no replica; who the others are it remembers, and
// of one that was removed for good.
func TestNodeThatJoins(t *testing.T) {
	fs := vfs.NewMem()
	var died error
	founded := 0
	o := node.Options{FS: fs, Fatal: func(err error) { died = err }, Cluster: &node.Cluster{
		Found: func(string) (node.Founding, error) {
			founded++
			return node.Founding{ID: "c1", Shards: 2, Node: 4}, nil
		},
	}}
	n := open(t, o)
	if n.ID() != 4 || n.ClusterID() != "c1" || len(n.Shards()) != 0 || n.ShardCount() != 2 {
		t.Errorf("node %d of cluster %q has shards %v of %d", n.ID(), n.ClusterID(), n.Shards(),
			n.ShardCount())
	}
	if _, err := n.Handle(t.Context(), 1, nil, node.CommandMembers, &node.MembersRequest{}); !errors.Is(err,
		kv.ErrNotLeader) {
		t.Errorf("a shard that is elsewhere: %v", err)
	}
	told := map[kv.NodeID]node.Known{}
	n.TellNodes(func(id kv.NodeID, k node.Known) { told[id] = k })
	for _, err := range []error{n.Met(1, "a:1"), n.LearnNode(1, "a:9"), n.LearnNode(2, "a:2"),
		n.Met(2, "a:22"), n.LearnNode(3, "a:3"), n.RemoveNode(3), n.Met(3, "a:33"), n.Met(4, "a:4")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprint(map[kv.NodeID]node.Known{1: {Addr: "a:1"}, 2: {Addr: "a:22"},
		3: {Addr: "a:3", Removed: true}})
	if fmt.Sprint(told) != want || fmt.Sprint(n.Nodes()) != want {
		t.Errorf("nodes %v, told %v", n.Nodes(), told)
	}
	closeNode(t, n)
	n = open(t, o)
	if fmt.Sprint(n.Nodes()) != want || founded != 1 || !n.Gone(3) || n.Gone(1) {
		t.Errorf("after a restart: nodes %v, founded %d times", n.Nodes(), founded)
	}
	n.Dismissed(2)
	const want4 = "node 4 was removed from cluster c1"
	if !errors.Is(died, kv.ErrForeignData) || !strings.Contains(died.Error(), want4) {
		t.Errorf("a node that hears that it was removed: %v", died)
	}
	closeNode(t, n)
}

// What adds is refused when no majority of replicas is on nodes that are up and have room, whoever leads:
// deletes are not, and nothing is when they have room again. What the leader's own disk is it knows itself.
func TestMostDisksAreFull(t *testing.T) {
	c := newTrio(t, node.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	row := txnRow("a")
	ask := func(g kv.Growth) (leader kv.NodeID, err error) {
		_, err = c.call(ctx, c.client(c.node(1)), row, cmdFunc, &funcRequest{Rows: []kv.RowKey{row},
			F: func(e kv.Eval) (kv.Message, error) {
				for id := kv.NodeID(1); id <= 3; id++ {
					if c.node(id).Leads(e.Shard().ID()) {
						leader = id
					}
				}
				return &readResponse{}, e.Room(g, 1)
			}})
		return leader, err
	}
	tell := func(room map[kv.NodeID]bool) {
		for id := kv.NodeID(1); id <= 3; id++ {
			c.node(id).LearnRoom(room)
		}
	}
	if _, err := ask(kv.Adds); err != nil {
		t.Fatal(err)
	}
	for _, room := range []map[kv.NodeID]bool{{}, {1: true}, {1: true, 2: true},
		{1: true, 2: true, 3: true}, nil} {
		tell(room)
		leader, err := ask(kv.Adds)
		take := len(room)
		if !room[leader] {
			take++
		}
		refused := errors.Is(err, kv.ErrDiskFull) && strings.Contains(err.Error(), "most of the nodes")
		if want := room != nil && take < 2; refused != want || !want && err != nil {
			t.Errorf("node %d leads, nodes %v have room: %v", leader, room, err)
		}
		for _, g := range []kv.Growth{kv.Deletes, kv.Collects, kv.Ends} {
			if _, err := ask(g); err != nil {
				t.Errorf("nodes %v have room: growth %d: %v", room, g, err)
			}
		}
	}
}
