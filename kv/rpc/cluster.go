package rpc

import (
	"context"

	"moka/kv"
	"moka/kv/kvpb"
)

// ClusterInfo is what a newcomer needs before it can route anything.
type ClusterInfo struct {
	ClusterID string
	Version   string    // of the node that answers
	Node      kv.NodeID // the node that answers
	Nodes     []NodeInfo
	Shards    []ShardInfo
	// Root is the shard that serves the first METADATA tablet.
	Root kv.ShardID
}

// NodeInfo says where a node listens.
type NodeInfo struct {
	ID      kv.NodeID
	Address string
}

// ShardInfo says where a shard's leader was last seen, in which term, and which nodes have a replica. A shard
// that lives on one node has term zero and names no replicas.
type ShardInfo struct {
	ID       kv.ShardID
	Node     kv.NodeID
	Term     uint64
	Replicas []kv.NodeID
}

// Cluster answers Hello; the node that serves implements it.
type Cluster interface {
	ClusterInfo(ctx context.Context) (ClusterInfo, error)
}

type clusterServer struct {
	kvpb.UnimplementedClusterServer
	info Cluster
}

func (s clusterServer) Hello(ctx context.Context, _ *kvpb.HelloRequest) (*kvpb.HelloResponse, error) {
	info, err := s.info.ClusterInfo(ctx)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &kvpb.HelloResponse{
		ClusterId: info.ClusterID, Version: info.Version, Node: uint64(info.Node), RootShard: uint32(info.Root),
	}
	for _, n := range info.Nodes {
		out.Nodes = append(out.Nodes, &kvpb.Node{Id: uint64(n.ID), Address: n.Address})
	}
	for _, sh := range info.Shards {
		pb := &kvpb.Shard{Id: uint32(sh.ID), Node: uint64(sh.Node), Term: sh.Term}
		for _, n := range sh.Replicas {
			pb.Replicas = append(pb.Replicas, uint64(n))
		}
		out.Shards = append(out.Shards, pb)
	}
	return out, nil
}

func decodeClusterInfo(pb *kvpb.HelloResponse) ClusterInfo {
	info := ClusterInfo{
		ClusterID: pb.GetClusterId(), Version: pb.GetVersion(), Node: kv.NodeID(pb.GetNode()), Root: kv.ShardID(pb.GetRootShard()),
	}
	for _, n := range pb.GetNodes() {
		info.Nodes = append(info.Nodes, NodeInfo{ID: kv.NodeID(n.GetId()), Address: n.GetAddress()})
	}
	for _, sh := range pb.GetShards() {
		s := ShardInfo{ID: kv.ShardID(sh.GetId()), Node: kv.NodeID(sh.GetNode()), Term: sh.GetTerm()}
		for _, n := range sh.GetReplicas() {
			s.Replicas = append(s.Replicas, kv.NodeID(n))
		}
		info.Shards = append(info.Shards, s)
	}
	return info
}
