package client

import (
	"context"
	"sync/atomic"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/rpc"
)

// lookAhead is how many tablets one look into METADATA brings. A client that touches one tablet of a table is likely to touch
// its neighbours; a description has about 60 bytes.
const lookAhead = 32

// Metadata is the Locator of a cluster: the root location says which shard serves METADATA, and that shard answers.
type Metadata struct {
	dispatcher
	cluster rpc.Cluster
	// root is the cluster as last seen; nil when it has proved wrong. The root location hardly ever changes.
	root atomic.Pointer[root]
}

type root struct {
	shard kv.ShardID // serves METADATA
	leads *leads
}

var _ Locator = (*Metadata)(nil)

// NewMetadata makes a Locator. It needs of o what says where nodes are: Node, Local and Remote. cluster is the node itself, or,
// in a process without one, the rpc.Pool that has joined.
func NewMetadata(cluster rpc.Cluster, c Commands, o Options) (*Metadata, error) {
	d, err := newDispatcher(c, o.Node, o.Local, o.Remote)
	if err != nil {
		return nil, err
	}
	return &Metadata{dispatcher: d, cluster: cluster}, nil
}

// Lookup implements Locator.
func (m *Metadata) Lookup(ctx context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	r := m.root.Load()
	if r == nil {
		var err error
		if r, err = m.refresh(ctx); err != nil {
			return nil, err
		}
	}
	node, ok := r.leads.node(r.shard)
	if !ok {
		node = r.leads.other(r.shard, nil) // it may say who leads
	}
	if node == 0 {
		m.root.Store(nil)
		return nil, kv.Errorf(kv.CodeUnavailable, "client.Lookup", "nobody leads shard %d, which serves METADATA", r.shard)
	}
	// No tablet is named: METADATA's own location is the root location, which has no generation.
	resp, _, err := m.send(ctx, r.leads, node, r.shard, nil, bigtable.CommandLookup, &bigtable.LookupRequest{Row: row, Limit: lookAhead})
	if err != nil {
		m.root.Store(nil)
		return nil, err
	}
	found, ok := resp.(*bigtable.LookupResponse)
	if !ok {
		return nil, kv.Errorf(kv.CodeInternal, "client.Lookup", "the response is a %T", resp)
	}
	return found.Tablets, nil
}

// Shards implements Locator.
func (m *Metadata) Shards(ctx context.Context) (map[kv.ShardID]Shard, error) {
	r, err := m.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return *r.leads.shards.Load(), nil
}

func (m *Metadata) refresh(ctx context.Context) (*root, error) {
	info, err := m.cluster.ClusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	shards := make(map[kv.ShardID]Shard, len(info.Shards))
	for _, s := range info.Shards {
		shards[s.ID] = Shard{Node: s.Node, Term: s.Term, Replicas: s.Replicas}
	}
	r := &root{shard: info.Root, leads: newLeads(shards)}
	m.root.Store(r)
	return r, nil
}
