package recovery

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/node"
	"moka/kv/raft"
	"moka/kv/raft/host"
)

func found(shard kv.ShardID, replica, term, index uint64, voters ...uint64) node.FoundReplica {
	at := raft.Place{Term: term + 1, LastTerm: term, LastIndex: index, Applied: index,
		Members: &raft.Members{Voters: voters, Next: 1}}
	return node.FoundReplica{Shard: shard, Found: host.Found{Replica: replica, Place: at}}
}

func directory(n kv.NodeID, shards int, rs ...node.FoundReplica) *node.Directory {
	return &node.Directory{Node: n, Cluster: "c", Shards: shards, Replicas: rs}
}

// Of each shard the replica stays that a vote would have chosen: the last entry's term first, then its index.
func TestWhoStays(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	a := directory(1, 3, found(1, 1, 6, 100, 1, 3, 4), found(2, 1, 7, 10, 1, 2, 3),
		found(3, 1, 6, 9, 1, 3, 4))
	b := directory(2, 3, found(2, 2, 6, 50, 1, 2, 3), found(3, 5<<32|2, 6, 10, 1, 3, 4))
	a.Others, b.Others = []kv.NodeID{2, 6}, []kv.NodeID{1}
	b.Newest = kv.TimestampAt(now.Add(time.Hour))
	p, err := Make([]*node.Directory{b, a}, "d", now)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		node    kv.NodeID
		whole   bool
		missing []kv.NodeID
	}{{1, false, []kv.NodeID{3, 4}}, {1, true, []kv.NodeID{3}}, {2, false, []kv.NodeID{3, 4}}} {
		s := p.Shards[i]
		if s.Node != want.node || s.Whole != want.whole || !reflect.DeepEqual(s.Missing, want.missing) ||
			raft.Node(s.Replica) != s.Node || raft.Incarnation(s.Replica) < 7 && i == 2 || s.Term < 8 {
			t.Errorf("shard %d: %+v, want %+v", s.Shard, s, want)
		}
	}
	if !reflect.DeepEqual(p.Lost, []kv.NodeID{3, 4, 6}) || p.NextNode != 7 ||
		!reflect.DeepEqual(p.Nodes, []kv.NodeID{1, 2}) || p.Ceiling <= b.Newest {
		t.Errorf("%+v", p)
	}
	var text strings.Builder
	if err := p.Write(&text); err != nil || strings.Count(text.String(), "MAY BE LOST") != 2 ||
		!strings.Contains(text.String(), "shard 2  most of its replicas are here") {
		t.Errorf("%v\n%s", err, text.String())
	}
	var again Plan
	if b, err := json.Marshal(p); err != nil || json.Unmarshal(b, &again) != nil ||
		!reflect.DeepEqual(&again, p) {
		t.Errorf("the plan is not read back as it was written: %v", err)
	}
}

// What needs no recovery, what cannot be recovered, and what does not belong together is refused.
func TestRefusals(t *testing.T) {
	one := directory(1, 1, found(1, 1, 6, 9, 1, 2, 3))
	other := directory(2, 1, found(1, 2, 6, 9, 1, 2, 3))
	stranger := directory(3, 1)
	stranger.Cluster = "x"
	for want, ds := range map[string][]*node.Directory{
		"name the directories":        nil,
		"nothing is lost":             {one, other},
		"are of different clusters":   {one, stranger},
		"two directories":             {one, one},
		"shard 2 has no replica":      {directory(1, 2, found(1, 1, 6, 9, 1, 2, 3))},
		"its rows are lost, and a da": {directory(1, 1)},
	} {
		if p, err := Make(ds, "d", time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v, %v", want, p, err)
		}
	}
}
