package client

import (
	"context"
	"slices"
	"testing"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/rpc"
)

// sleeper is what a node that has slept tells a newcomer.
type sleeper rpc.ClusterInfo

func (s sleeper) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	return rpc.ClusterInfo(s), nil
}

type answers struct {
	failures []error
	asked    []kv.NodeID
}

func (a *answers) Call(_ context.Context, n kv.NodeID, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, _ kv.Message) (kv.Message, error) {
	a.asked = append(a.asked, n)
	if len(a.failures) > 0 {
		err := a.failures[0]
		a.failures = a.failures[1:]
		return nil, err
	}
	return &bigtable.LookupResponse{Tablets: []kv.Tablet{tablet(1, 1, "", "", 1, 0)}}, nil
}

// The shard of METADATA is found as any other, although nobody but the nodes themselves can say where it is.
func TestLookupFollowsTheLead(t *testing.T) {
	a := &answers{failures: []error{notLeader(3, 6)}}
	m, err := NewMetadata(sleeper{Root: 1, Shards: []rpc.ShardInfo{{ID: 1, Node: 1, Term: 5, Replicas: []kv.NodeID{1, 2, 3}}}}, testCommands, Options{Remote: a})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := m.Lookup(t.Context(), kv.RowKey("x")); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(a.asked, []kv.NodeID{1, 3, 3}) {
		t.Errorf("asked %v", a.asked)
	}
	a.asked, a.failures = nil, []error{notLeader(0, 0), notLeader(0, 0), notLeader(0, 0)}
	if _, err := m.Lookup(t.Context(), kv.RowKey("x")); err == nil {
		t.Error("an answer without a leader")
	}
	if _, err := m.Lookup(t.Context(), kv.RowKey("x")); err != nil || !slices.Equal(a.asked, []kv.NodeID{3, 1, 2, 1}) {
		t.Errorf("asked %v, %v", a.asked, err)
	}
}
