package raftrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"moka/kv"
	"moka/kv/kvpb"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/rpc"
)

const (
	queueBytes = 64 << 20 // that wait for one peer; what comes above is dropped
	frameBytes = 1 << 20  // after which a frame takes no further message

	connectTime = 3 * time.Second
	minPause    = 50 * time.Millisecond // between attempts
	maxPause    = time.Second
)

// Transport sends messages to the other nodes of a cluster.
type Transport struct {
	self   Member
	o      rpc.Options
	logger *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.RWMutex
	peers  map[kv.NodeID]*peer
	closed bool
	// foreign says at whose address a node of another cluster has answered, and of which.
	foreign map[kv.NodeID]string
}

var _ host.Transport = (*Transport)(nil)

// New begins to connect to the peers.
func New(self Member, peers map[kv.NodeID]string, o rpc.Options) (*Transport, error) {
	ctx, cancel := context.WithCancel(context.Background())
	t := &Transport{self: self, o: o, logger: o.Logger, peers: map[kv.NodeID]*peer{}, ctx: ctx,
		cancel: cancel}
	if t.logger == nil {
		t.logger = slog.New(slog.DiscardHandler)
	}
	for id, addr := range peers {
		if err := t.SetPeer(id, addr); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// SetPeer tells where a node is reached, in the place of where it was; nowhere, if the address is empty.
func (t *Transport) SetPeer(id kv.NodeID, addr string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.peers[id]
	if t.closed || old != nil && old.addr == addr || old == nil && addr == "" {
		return nil
	}
	var p *peer
	if addr != "" {
		conn, err := grpc.NewClient(rpc.Target(addr), rpc.DialOptions(t.o)...)
		if err != nil {
			return &kv.Error{Code: kv.CodeInvalidArgument, Op: "raftrpc.New", Err: err,
				Msg: fmt.Sprintf("address %q of node %d", addr, id)}
		}
		p = &peer{t: t, id: id, addr: addr, conn: conn, wake: make(chan struct{}, 1)}
	}
	if old != nil {
		old.cancel() // run closes its connection
	}
	if delete(t.peers, id); p != nil {
		ctx, cancel := context.WithCancel(t.ctx)
		p.cancel, t.peers[id] = cancel, p
		t.wg.Go(func() { p.run(ctx) })
	}
	return nil
}

// Foreign returns a node at whose address one of another cluster has answered, and that cluster; empty if
// there was none.
func (t *Transport) Foreign() (id kv.NodeID, cluster string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for id, cluster = range t.foreign {
		return id, cluster
	}
	return 0, ""
}

func (t *Transport) metForeign(id kv.NodeID, cluster string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.foreign == nil {
		t.foreign = map[kv.NodeID]string{}
	}
	t.foreign[id] = cluster
}

func (t *Transport) peer(id kv.NodeID) *peer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.peers[id]
}

// Send implements host.Transport.
func (t *Transport) Send(ms []raft.Message) {
	for _, m := range ms {
		if p := t.peer(raft.Node(m.GetTo())); p != nil {
			p.put(m)
		}
	}
}

// Fetch implements host.Transport, on a connection of its own: megabytes must not lie before
// heartbeats.
func (t *Transport) Fetch(ctx context.Context, from kv.NodeID, id kv.ShardID) (host.Feed, error) {
	p := t.peer(from)
	if p == nil {
		return nil, kv.Errorf(kv.CodeNotFound, "raftrpc.Fetch", "node %d is not a member", from)
	}
	conn, err := grpc.NewClient(rpc.Target(p.addr), rpc.DialOptions(t.o)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.headers(ctx))
	g, err := kvpb.NewRaftClient(conn).Snapshot(ctx)
	if err == nil {
		err = g.Send(&kvpb.SnapshotRequest{Shard: uint32(id)})
	}
	f := &feed{g, conn, cancel}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// feed is a snapshot on its way.
type feed struct {
	g      grpc.BidiStreamingClient[kvpb.SnapshotRequest, kvpb.SnapshotChunk]
	conn   *grpc.ClientConn
	cancel context.CancelFunc
}

// Recv implements host.Feed.
func (f *feed) Recv() ([]byte, error) {
	c, err := f.g.Recv()
	return c.GetData(), err
}

// Close implements host.Feed.
func (f *feed) Close() {
	f.cancel()
	_ = f.conn.Close() // its only error is that it was closed before
}

// Close ends all connections and waits for their goroutines.
func (t *Transport) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.wg.Wait()
}

// peer is another node, and what waits to be sent there.
type peer struct {
	t      *Transport
	id     kv.NodeID
	addr   string
	conn   *grpc.ClientConn
	wake   chan struct{}
	cancel context.CancelFunc

	mu    sync.Mutex
	up    bool // there is a stream; without one nothing is kept
	queue []raft.Message
	bytes int
}

func (p *peer) put(m raft.Message) {
	n := m.Size()
	p.mu.Lock()
	if !p.up || p.bytes+n > queueBytes {
		p.mu.Unlock()
		return
	}
	p.queue = append(p.queue, m)
	p.bytes += n
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, up to a frame's worth.
func (p *peer) take() (ms []raft.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, bytes := 0, 0
	for n < len(p.queue) && bytes < frameBytes {
		bytes += p.queue[n].Size()
		n++
	}
	ms = p.queue[:n:n]
	p.queue = p.queue[n:]
	p.bytes -= bytes
	return ms
}

// stands says whether there is a stream; what waited for the last one is out of date.
func (p *peer) stands(up bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.queue, p.bytes = up, nil, 0
}

func (p *peer) run(ctx context.Context) {
	defer func() { _ = p.conn.Close() }() // its only error is that it was closed before
	pause := minPause
	said := "" // what was last told of why there is no stream
	for ctx.Err() == nil {
		began := time.Now()
		err := p.stream(ctx, func() {
			p.t.logger.Info("another node can be reached", "node", p.id, "addr", p.addr)
			said = ""
		})
		p.stands(false)
		if ctx.Err() != nil {
			return
		}
		switch why := status.Convert(err).Message(); {
		case status.Code(err) == codes.FailedPrecondition:
			// Somebody has answered, and it is not who was meant.
			if why != said {
				p.t.logger.Error("at the address of another node somebody else answers",
					"node", p.id, "addr", p.addr, "err", why)
			}
			said = why
		case said == "":
			p.t.logger.Warn("another node cannot be reached; trying on",
				"node", p.id, "addr", p.addr, "err", err)
			said = why
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, maxPause)
	}
}

// headers say who calls whom.
func (p *peer) headers(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx,
		clusterHeader, p.t.self.Cluster,
		nodeHeader, strconv.FormatUint(uint64(p.id), 10),
		fromHeader, strconv.FormatUint(uint64(p.t.self.Node), 10),
		livesHeader, p.t.self.lives(), addrHeader, p.t.self.Addr)
}

var errEnded = errors.New("the other node stops")

// stream sends until it cannot; stands is called when the other end has let us in.
func (p *peer) stream(ctx context.Context, stands func()) error {
	ctx, cancel := context.WithCancel(p.headers(ctx))
	defer cancel()
	timeout := time.AfterFunc(connectTime, cancel)
	defer timeout.Stop()
	g, err := kvpb.NewRaftClient(p.conn).Messages(ctx)
	if err != nil {
		return err
	}
	md, err := g.Header()
	if err == nil && md == nil {
		_, err = g.Recv() // it has ended without a header: this has the status
	}
	if c := md.Get(clusterHeader); len(c) == 1 && c[0] != p.t.self.Cluster {
		p.t.metForeign(p.id, c[0])
	}
	self := strconv.FormatUint(uint64(p.t.self.Node), 10)
	if b := p.t.self.Book; b != nil && slices.Contains(md.Get(goneHeader), self) {
		b.Dismissed(p.id)
	}
	if err == nil {
		err = p.t.self.hear(p.id, md)
	}
	if err != nil {
		return err
	}
	if !timeout.Stop() {
		return context.DeadlineExceeded
	}
	p.stands(true)
	stands()
	ended := make(chan error, 1)
	go func() {
		_, err := g.Recv()
		if err == nil {
			err = errEnded
		}
		ended <- err
	}()
	err = p.send(ctx, g, ended)
	if errors.Is(err, errEnded) {
		_ = g.CloseSend()
		return err
	}
	cancel()
	if err == nil {
		err = <-ended
	}
	return err
}

// send returns nil if the stream is broken, and Recv has the reason.
func (p *peer) send(
	ctx context.Context, g grpc.BidiStreamingClient[kvpb.RaftFrame, kvpb.RaftEnd], ended chan error,
) error {
	for {
		ms := p.take()
		if len(ms) == 0 {
			select {
			case <-p.wake:
				continue
			case err := <-ended:
				return err
			case <-ctx.Done():
				return nil
			}
		}
		frame := &kvpb.RaftFrame{Messages: make([]*kvpb.RaftMessage, len(ms))}
		for i, m := range ms {
			b, err := m.Encode()
			if err != nil {
				return err
			}
			frame.Messages[i] = &kvpb.RaftMessage{Shard: uint32(m.Shard), Message: b}
		}
		if g.Send(frame) != nil {
			return nil
		}
	}
}
