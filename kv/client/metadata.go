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
	// info is the cluster as last seen; nil when it has proved wrong. The root location hardly ever changes.
	info atomic.Pointer[rpc.ClusterInfo]
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
	info := m.info.Load()
	if info == nil {
		var err error
		if info, err = m.refresh(ctx); err != nil {
			return nil, err
		}
	}
	node, ok := leaders(info)[info.Root]
	if !ok {
		m.info.Store(nil)
		return nil, kv.Errorf(kv.CodeUnavailable, "client.Lookup", "nobody leads shard %d, which serves METADATA", info.Root)
	}
	// No tablet is named: METADATA's own location is the root location, which has no generation.
	resp, err := m.dispatch(ctx, node, info.Root, nil, bigtable.CommandLookup, &bigtable.LookupRequest{Row: row, Limit: lookAhead})
	if err != nil {
		m.info.Store(nil)
		return nil, err
	}
	found, ok := resp.(*bigtable.LookupResponse)
	if !ok {
		return nil, kv.Errorf(kv.CodeInternal, "client.Lookup", "the response is a %T", resp)
	}
	return found.Tablets, nil
}

// Shards implements Locator.
func (m *Metadata) Shards(ctx context.Context) (map[kv.ShardID]kv.NodeID, error) {
	info, err := m.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return leaders(info), nil
}

func (m *Metadata) refresh(ctx context.Context) (*rpc.ClusterInfo, error) {
	info, err := m.cluster.ClusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	m.info.Store(&info)
	return &info, nil
}

func leaders(info *rpc.ClusterInfo) map[kv.ShardID]kv.NodeID {
	nodes := make(map[kv.ShardID]kv.NodeID, len(info.Shards))
	for _, s := range info.Shards {
		nodes[s.ID] = s.Node
	}
	return nodes
}
