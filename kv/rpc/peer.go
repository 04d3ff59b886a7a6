package rpc

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"moka/kv"
	"moka/kv/kvpb"
)

// Peer is another node: one connection, and on it at most one stream at a time that takes new calls. A stream that was
// lost is opened again by the next call; gRPC spaces the attempts to connect, and calls in between fail at once.
type Peer struct {
	node    kv.NodeID
	pool    *Pool
	conn    *grpc.ClientConn
	current atomic.Pointer[clientStream]
	running sync.WaitGroup // goroutines of streams and of the attempt to open one

	mu struct {
		sync.Mutex
		opening *opening
		closed  bool
	}
	ctx    context.Context
	cancel context.CancelFunc
}

// opening is an attempt to open a stream, which all calls that need one wait for.
type opening struct {
	done   chan struct{}
	stream *clientStream
	err    error
}

func newPeer(p *Pool, node kv.NodeID, conn *grpc.ClientConn) *Peer {
	peer := &Peer{node: node, pool: p, conn: conn}
	peer.ctx, peer.cancel = context.WithCancel(context.Background())
	return peer
}

// Call runs a command on a shard of the node.
func (p *Peer) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error) {
	cmd, ok := p.pool.commands.Command(command)
	if !ok {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "rpc.Call", "command %d is not registered in this process", command)
	}
	r := &kvpb.Request{Shard: uint32(shard), Command: uint32(command), Tablets: encodeRefs(tablets), Message: encode(req)}
	if len(r.Message) > p.pool.opts.MaxMessage {
		return nil, kv.Errorf(kv.CodeInvalidArgument, cmd.Name, "the request has %d bytes, the limit is %d; send less at a time", len(r.Message), p.pool.opts.MaxMessage)
	}
	st, err := p.stream(ctx)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if left <= 0 {
			return nil, p.unavailable(cmd.Name, context.DeadlineExceeded)
		}
		r.TimeoutNanos = int64(left)
	}
	pb, err := st.call(ctx, cmd, r)
	if err != nil {
		return nil, err
	}
	return p.decode(cmd, pb)
}

func (p *Peer) decode(cmd kv.Command, pb *kvpb.Response) (kv.Message, error) {
	if pb.GetError() != nil {
		return nil, decodeError(pb.GetError())
	}
	resp := cmd.NewResponse()
	if err := decode(resp, pb.GetMessage()); err != nil {
		// The command was evaluated; only its answer is unreadable.
		code := kv.CodeInternal
		if cmd.Write {
			code = kv.CodeOutcomeUnknown
		}
		return nil, &kv.Error{Code: code, Op: cmd.Name, Msg: fmt.Sprintf("the response of node %d does not decode", p.node), Err: err}
	}
	return resp, nil
}

func (p *Peer) unavailable(op string, cause error) *kv.Error {
	return &kv.Error{Code: kv.CodeUnavailable, Op: op, Msg: fmt.Sprintf("node %d", p.node), Err: cause}
}

// stream returns the stream that takes calls, and opens it if need be.
func (p *Peer) stream(ctx context.Context) (*clientStream, error) {
	if st := p.current.Load(); st != nil {
		return st, nil
	}
	p.mu.Lock()
	if p.mu.closed {
		p.mu.Unlock()
		return nil, kv.Errorf(kv.CodeClosed, "rpc.Call", "the connection to node %d was closed", p.node)
	}
	if st := p.current.Load(); st != nil {
		p.mu.Unlock()
		return st, nil
	}
	o := p.mu.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		p.mu.opening = o
		// Not under the caller's context: others wait for the same attempt.
		p.running.Go(func() { p.open(o) })
	}
	p.mu.Unlock()
	select {
	case <-o.done:
		return o.stream, o.err
	case <-ctx.Done():
		return nil, p.unavailable("rpc.Call", ctx.Err())
	}
}

func (p *Peer) open(o *opening) {
	o.stream, o.err = p.connect()
	p.mu.Lock()
	p.mu.opening = nil
	if o.err == nil {
		p.current.Store(o.stream)
		o.stream.start()
	}
	p.mu.Unlock()
	close(o.done)
}

func (p *Peer) connect() (*clientStream, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	ctx = metadata.AppendToOutgoingContext(ctx, nodeHeader, strconv.FormatUint(uint64(p.node), 10))
	if c := p.pool.opts.Cluster; c != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, clusterHeader, c)
	}
	timeout := time.AfterFunc(p.pool.opts.ConnectTimeout, cancel)
	g, err := kvpb.NewStoreClient(p.conn).Batch(ctx)
	if err == nil {
		// Wait for the server's word that it admits us: a write must not be sent, and its outcome be unknown, only to find
		// out that the address belongs to somebody else.
		var header metadata.MD
		if header, err = g.Header(); err == nil && header == nil {
			err = g.RecvMsg(new(kvpb.BatchResponse)) // ended without a header: this has the status
		}
	}
	if !timeout.Stop() {
		err = fmt.Errorf("%s did not answer within %v", p.conn.Target(), p.pool.opts.ConnectTimeout)
	}
	if err != nil {
		cancel()
		p.pool.opts.Logger.Debug("no stream to node", "node", p.node, "err", err)
		return nil, p.unavailable("rpc.Call", err)
	}
	p.pool.metrics.streams.Add(1)
	p.pool.opts.Logger.Debug("stream to node is open", "node", p.node, "addr", p.conn.Target())
	return newClientStream(p, g, cancel), nil
}

// retire makes later calls open another stream.
func (p *Peer) retire(st *clientStream) { p.current.CompareAndSwap(st, nil) }

// Close closes the connection and waits for its goroutines. Outstanding calls end as with a lost stream.
func (p *Peer) Close() {
	p.mu.Lock()
	p.mu.closed = true
	p.mu.Unlock()
	p.cancel()
	_ = p.conn.Close() // its only error is that it was closed before
	p.running.Wait()
}
