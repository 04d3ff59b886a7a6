package rpc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"moka/kv"
	"moka/kv/kvpb"
)

// Pool reaches the nodes of a cluster: one connection and one stream for each, opened when first needed.
type Pool struct {
	commands Commands
	opts     Options
	dial     []grpc.DialOption
	metrics  metrics
	waiting  sync.Pool // of *call, for use again

	mu struct {
		sync.Mutex
		addrs  map[kv.NodeID]string
		peers  map[kv.NodeID]*Peer
		closed bool
	}
}

// NewPool makes a pool that knows no node yet; extra dial options are for tests and tracing.
func NewPool(c Commands, o Options, extra ...grpc.DialOption) *Pool {
	o = o.withDefaults()
	p := &Pool{commands: c, opts: o}
	p.dial = append(DialOptions(o), extra...)
	p.mu.addrs = make(map[kv.NodeID]string)
	p.mu.peers = make(map[kv.NodeID]*Peer)
	return p
}

// DialOptions is how connections between nodes are made, also for the other services that share the port.
func DialOptions(o Options) []grpc.DialOption {
	o = o.withDefaults()
	return []grpc.DialOption{
		grpc.WithTransportCredentials(o.Credentials),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithReadBufferSize(socketBuffer),
		grpc.WithWriteBufferSize(socketBuffer),
		grpc.WithSharedWriteBuffer(true),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(newCodec()),
			grpc.MaxCallRecvMsgSize(o.MaxMessage+frameOverhead),
			grpc.MaxCallSendMsgSize(o.MaxMessage+frameOverhead),
		),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: o.MaxBackoff},
			MinConnectTimeout: o.ConnectTimeout,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: o.KeepaliveInterval, Timeout: o.KeepaliveInterval / 3}),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
	}
}

// Target makes HOST:PORT what gRPC dials as it stands, without a name service in between. What has a scheme is left alone.
func Target(addr string) string {
	if strings.Contains(addr, ":///") {
		return addr
	}
	return "dns:///" + addr
}

// SetAddress tells where a node listens. When the address differs from the one in use, the old connection is closed and
// its outstanding calls end as with any lost stream.
func (p *Pool) SetAddress(node kv.NodeID, addr string) {
	p.mu.Lock()
	var old *Peer
	if p.mu.addrs[node] != addr {
		p.mu.addrs[node] = addr
		old = p.mu.peers[node]
		delete(p.mu.peers, node)
	}
	p.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

// Forget takes a node off the list that is none any more.
func (p *Pool) Forget(node kv.NodeID) {
	p.mu.Lock()
	old := p.mu.peers[node]
	delete(p.mu.peers, node)
	delete(p.mu.addrs, node)
	p.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

// Call runs a command on a shard of another node. See the package comment for what its errors promise.
func (p *Pool) Call(ctx context.Context, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error) {
	peer, err := p.peer(node)
	if err != nil {
		return nil, err
	}
	return peer.Call(ctx, shard, tablets, command, req)
}

func (p *Pool) peer(node kv.NodeID) (*Peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.mu.peers[node]; peer != nil {
		return peer, nil
	}
	addr, ok := p.mu.addrs[node]
	switch {
	case p.mu.closed:
		return nil, kv.Errorf(kv.CodeClosed, "rpc.Call", "the pool of connections is closed")
	case !ok:
		return nil, kv.Errorf(kv.CodeUnavailable, "rpc.Call", "no address is known for node %d", node)
	}
	conn, err := grpc.NewClient(Target(addr), p.dial...)
	if err != nil {
		return nil, &kv.Error{Code: kv.CodeInvalidArgument, Op: "rpc.Call", Msg: fmt.Sprintf("address %q of node %d", addr, node), Err: err}
	}
	peer := newPeer(p, node, conn)
	p.mu.peers[node] = peer
	return peer, nil
}

// Conn returns the connection to a node, for the other services that share its port. It is the pool's to close.
func (p *Pool) Conn(node kv.NodeID) (grpc.ClientConnInterface, error) {
	peer, err := p.peer(node)
	if err != nil {
		return nil, err
	}
	return peer.conn, nil
}

// Join asks the node at addr for the cluster that it belongs to, and learns the addresses of all nodes. It waits for the
// node to come up until ctx ends.
func (p *Pool) Join(ctx context.Context, addr, version string) (ClusterInfo, error) {
	conn, err := grpc.NewClient(Target(addr), p.dial...)
	if err != nil {
		return ClusterInfo{}, &kv.Error{Code: kv.CodeInvalidArgument, Op: "rpc.Join", Msg: fmt.Sprintf("address %q", addr), Err: err}
	}
	defer conn.Close()
	info, err := hello(ctx, conn, version, grpc.WaitForReady(true))
	if err != nil {
		return ClusterInfo{}, &kv.Error{
			Code: kv.CodeUnavailable, Op: "rpc.Join",
			Msg: fmt.Sprintf("no Moka node answers at %s; check the address and that the node is running", addr), Err: err,
		}
	}
	p.learn(info)
	p.SetAddress(info.Node, addr)
	return info, nil
}

// ClusterInfo asks the nodes that are known, one after the other, for the cluster as it is now.
func (p *Pool) ClusterInfo(ctx context.Context) (ClusterInfo, error) {
	p.mu.Lock()
	nodes := slices.Sorted(maps.Keys(p.mu.addrs))
	p.mu.Unlock()
	err := error(kv.Errorf(kv.CodeUnavailable, "rpc.ClusterInfo", "no node is known; join a cluster first"))
	for _, node := range nodes {
		var peer *Peer
		if peer, err = p.peer(node); err != nil {
			continue
		}
		var info ClusterInfo
		try, cancel := context.WithTimeout(ctx, p.opts.ConnectTimeout)
		info, err = hello(try, peer.conn, "")
		cancel()
		if err == nil {
			p.learn(info)
			return info, nil
		}
		err = peer.unavailable("rpc.ClusterInfo", err)
	}
	return ClusterInfo{}, err
}

func hello(ctx context.Context, conn grpc.ClientConnInterface, version string, o ...grpc.CallOption) (ClusterInfo, error) {
	pb, err := kvpb.NewClusterClient(conn).Hello(ctx, &kvpb.HelloRequest{Version: version}, o...)
	if err != nil {
		return ClusterInfo{}, err
	}
	return decodeClusterInfo(pb), nil
}

// learn takes in the addresses of the other nodes. That of the one that answered stays: it has just worked, while the node
// itself may know only that it listens on all interfaces.
func (p *Pool) learn(info ClusterInfo) {
	for _, n := range info.Nodes {
		if n.ID != info.Node && n.Address != "" {
			p.SetAddress(n.ID, n.Address)
		}
	}
}

// Close closes all connections and waits for their goroutines. Outstanding calls end as with a lost stream.
func (p *Pool) Close() {
	p.mu.Lock()
	p.mu.closed = true
	peers := p.mu.peers
	p.mu.peers = make(map[kv.NodeID]*Peer)
	p.mu.Unlock()
	for _, peer := range peers {
		peer.Close()
	}
}

// Metrics returns the counters of all peers together.
func (p *Pool) Metrics() Metrics { return p.metrics.snapshot() }
