package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"moka/kv"
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
	s.o.limitGarbage()
	commands, err := rpc.NewRegistry(remoteCoprocessors()...)
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
	co := client.Options{Remote: pool, Logger: s.o.Logger}
	asked := []kv.NodeID{info.Node}
	around := &rotation{pool: pool, nodes: func() []kv.NodeID { return asked }}
	addrs := []string{s.o.Join}
	var cr coordrpc.Options
	if s.replicated = len(info.Shards) > 0 && len(info.Shards[0].Replicas) > 0; s.replicated {
		for _, n := range info.Nodes {
			if n.ID != info.Node {
				asked, addrs = append(asked, n.ID), append(addrs, n.Address)
			}
		}
		co.RetryFor = clusterRetry
		cr.RetryFor, cr.Missed = clusterRetry, around.next
	}
	c := coordrpc.New(around.conn, cr)
	s.coord = c
	s.onClose(func(context.Context) error { c.Close(); return nil })
	if err := s.reachOracle(addrs, nil, known); err != nil {
		return err
	}
	if s.meta, err = client.NewMetadata(joined{pool, s.o.Join, s.replicated}, commands, co); err != nil {
		return err
	}
	s.store, err = client.New(s.meta, commands, co)
	return err
}

// rotation finds who leads coordination by asking one member after the other.
type rotation struct {
	pool  *rpc.Pool
	nodes func() []kv.NodeID
	at    atomic.Uint32
}

func (r *rotation) conn() (grpc.ClientConnInterface, error) {
	nodes := r.nodes()
	if len(nodes) == 0 {
		return nil, kv.Errorf(kv.CodeUnavailable, "coordination", "no other node is known")
	}
	return r.pool.Conn(nodes[int(r.at.Load())%len(nodes)])
}

func (r *rotation) next() { r.at.Add(1) }

// reachOracle connects to the oracle of other processes, and of this one whenever it leads; nil never does.
func (s *stack) reachOracle(addrs []string, here *oracle.Host, known credentials.TransportCredentials) error {
	o := oracle.RemoteOptions{
		Dial: func(addr string) (*grpc.ClientConn, error) {
			return grpc.NewClient(addr, grpc.WithTransportCredentials(known))
		},
	}
	var co oracle.ClientOptions
	if here != nil {
		o.Local = here
	}
	if s.replicated {
		co.MaxWait = clusterRetry
	}
	remote, err := oracle.NewRemote(addrs, o)
	if err != nil {
		return err
	}
	s.raise = remote.SetSafePoint
	s.onClose(func(context.Context) error { return remote.Close() })
	s.clock = oracle.NewClient(remote, co)
	s.onClose(func(context.Context) error { s.clock.Close(); return nil })
	return nil
}

// joined asks the node that was joined how the cluster looks now, and where it is one of several, another one
// if that is gone.
type joined struct {
	pool    *rpc.Pool
	addr    string
	several bool
}

func (j joined) ClusterInfo(ctx context.Context) (rpc.ClusterInfo, error) {
	if j.several {
		return j.pool.ClusterInfo(ctx)
	}
	return j.pool.Join(ctx, j.addr, version)
}

// serveNodes opens the storage to other processes.
func (s *stack) serveNodes() {
	if s.node == nil || s.listeners.node == nil {
		return
	}
	s.rpc = rpc.NewServer(s.node.ID(), s.node, s.node, cluster{s},
		rpc.Options{Logger: s.o.Logger, Credentials: s.trusted, Allow: allowRole,
			Cluster: s.node.ClusterID(), MaxConnections: s.files.nodes})
	if s.o.Cluster {
		raftrpc.Register(s.rpc, s.member(), nil, s.node)
	}
	if s.oracle != nil {
		oracle.Register(s.rpc, s.oracle)
	}
	switch host := s.coord.(type) {
	case coordrpc.Host:
		coordrpc.Register(s.rpc, host)
	default:
		coordrpc.Register(s.rpc, s.coordination)
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
