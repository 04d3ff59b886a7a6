package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/client"
	"moka/kv/coord"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/kv/rpc/coordrpc"
	"moka/kv/rpc/raftrpc"
	"moka/oracle"
)

// joinTime is how long the storage may take to answer: it may have been started at the same moment.
const joinTime = 10 * time.Second

// join connects a process without storage to a node that has it: commands over one multiplexed stream,
// timestamps over another, coordination by proxy. What is built above cannot tell the difference.
func (s *stack) join(ctx context.Context) error {
	commands, err := rpc.NewRegistry(append([]kv.Coprocessor{bigtable.New(nil)}, coprocessors()...)...)
	if err != nil {
		return err
	}
	known, err := s.o.dialCredentials("join", s.o.Join)
	if err != nil {
		return err
	}
	pool := rpc.NewPool(commands, rpc.Options{Logger: s.o.Logger, Credentials: known})
	s.onClose(func(context.Context) error { pool.Close(); return nil })
	waiting, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	info, err := pool.Join(waiting, s.o.Join, version)
	if err != nil {
		return fmt.Errorf("no storage node answers at %s: %w; start one with 'moka start --node-addr %s', "+
			"or correct --join; if it runs, see that both are run by the same user, or have certificates "+
			"of the "+
			"same authority (--cert-dir)", s.o.Join, err, s.o.Join)
	}
	c := coordrpc.New(func() (grpc.ClientConnInterface, error) {
		return pool.Conn(info.Node)
	}, coordrpc.Options{})
	s.coord = c
	s.onClose(func(context.Context) error { c.Close(); return nil })
	if err := s.reachOracle(s.o.Join, known); err != nil {
		return err
	}
	co := client.Options{Remote: pool, Logger: s.o.Logger}
	if s.replicated = len(info.Shards) > 0 && len(info.Shards[0].Replicas) > 0; s.replicated {
		if info.Node != labNode {
			return fmt.Errorf("--join %s: that is node %d of a cluster, and coordination and the oracle "+
				"are on node %d: "+
				"join that one", s.o.Join, info.Node, labNode)
		}
		co.RetryFor = clusterRetry
	}
	if s.meta, err = client.NewMetadata(joined{pool, s.o.Join}, commands, co); err != nil {
		return err
	}
	s.store, err = client.New(s.meta, commands, co)
	return err
}

// reachOracle connects to the oracle of another process.
func (s *stack) reachOracle(addr string, known credentials.TransportCredentials) error {
	remote, err := oracle.NewRemote([]string{addr}, oracle.RemoteOptions{
		Dial: func(addr string) (*grpc.ClientConn, error) {
			return grpc.NewClient(addr, grpc.WithTransportCredentials(known))
		},
	})
	if err != nil {
		return err
	}
	s.raise = remote.SetSafePoint
	s.onClose(func(context.Context) error { return remote.Close() })
	s.clock = oracle.NewClient(remote, oracle.ClientOptions{})
	s.onClose(func(context.Context) error { s.clock.Close(); return nil })
	return nil
}

// joined asks the node that was joined how the cluster looks now.
type joined struct {
	pool *rpc.Pool
	addr string
}

func (j joined) ClusterInfo(ctx context.Context) (rpc.ClusterInfo, error) {
	return j.pool.Join(ctx, j.addr, version)
}

// serveNodes opens the storage to other processes.
func (s *stack) serveNodes() {
	if s.node == nil || s.listeners.node == nil {
		return
	}
	s.rpc = rpc.NewServer(s.node.ID(), s.node, s.node, cluster{s},
		rpc.Options{Logger: s.o.Logger, Credentials: s.trusted, Allow: allowRole,
			Cluster: s.node.ClusterID()})
	if s.o.Cluster {
		self := raftrpc.Member{Cluster: s.node.ClusterID(), Node: s.node.ID(), Lives: s.node}
		raftrpc.Register(s.rpc, self,
			s.node.Members(), s.node)
	}
	if s.oracle != nil {
		oracle.Register(s.rpc, s.oracle)
	}
	if host, ok := s.coord.(coordrpc.Host); ok {
		coordrpc.Register(s.rpc, host)
	}
	s.onClose(s.rpc.Shutdown)
	s.serve("nodes", func() error { return s.rpc.Serve(s.listeners.node) })
}

// cluster describes this node to those that join it.
type cluster struct{ s *stack }

// clusterKey names the cluster in the coordination service; the revision that made it is its identity.
const clusterKey = "moka/cluster"

func (c cluster) ClusterInfo(ctx context.Context) (rpc.ClusterInfo, error) {
	if c.s.o.Cluster {
		return c.s.clusterInfo(), nil
	}
	id, err := c.s.clusterID(ctx)
	if err != nil {
		return rpc.ClusterInfo{}, err
	}
	n := c.s.node
	info := rpc.ClusterInfo{
		ClusterID: id, Version: version, Node: n.ID(), Root: node.MetaShard,
		Nodes: []rpc.NodeInfo{{ID: n.ID(), Address: c.s.nodeAddr}},
	}
	for _, sh := range n.Shards() {
		info.Shards = append(info.Shards, rpc.ShardInfo{ID: sh, Node: n.ID()})
	}
	return info, nil
}

func (s *stack) clusterID(ctx context.Context) (string, error) {
	for {
		k, err := s.coord.Get(ctx, clusterKey)
		if err == nil {
			return string(k.Value), nil
		}
		if !errors.Is(err, coord.ErrNotFound) {
			return "", err
		}
		fresh := fmt.Sprintf("%x-%x", s.node.ID(), s.started.UnixNano())
		if _, err := s.coord.Txn(ctx, []coord.Cond{coord.Absent(clusterKey)},
			[]coord.Op{coord.Put(clusterKey, []byte(fresh))}); err != nil &&
			!errors.Is(err, coord.ErrConflict) {
			return "", err
		}
	}
}
