package raftrpc

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"moka/kv"
	"moka/kv/kvpb"
	"moka/kv/raft"
)

// Request headers of a stream.
const (
	clusterHeader = "moka-cluster"
	nodeHeader    = "moka-node" // that is called
	fromHeader    = "moka-from"
	livesHeader   = "moka-lives" // of both directions
	addrHeader    = "moka-addr"  // at which the one who calls is reached
	goneHeader    = "moka-gone"  // in the answer: the caller is no node of the cluster any more
)

// Member is a node of a cluster.
type Member struct {
	Cluster string
	Node    kv.NodeID
	// Lives keeps how often the members were started; nil: nobody asks.
	Lives Lives
	// Addr is where it is reached.
	Addr string
	// Book keeps who the others are; nil: those that Register was given.
	Book Book
}

// Book is what a node knows of the others.
type Book interface {
	// Gone reports whether a node was removed from the cluster. There is no way back.
	Gone(id kv.NodeID) bool
	// Met notes, durably, where a node is that has called, and what it is called.
	Met(from kv.NodeID, addr string) error
	// Dismissed is called when a node says that this one was removed.
	Dismissed(by kv.NodeID)
}

// Lives is told by both ends of a stream before either takes a message: who has an old directory is found
// out by it.
type Lives interface {
	// Lives is what this node knows of all members.
	Lives() string
	// HearLives takes what another one knows. An error refuses it.
	HearLives(from kv.NodeID, lives string) error
}

func (m Member) lives() string {
	if m.Lives == nil {
		return ""
	}
	return m.Lives.Lives()
}

func (m Member) hear(from kv.NodeID, md metadata.MD) error {
	if m.Lives == nil {
		return nil
	}
	return m.Lives.HearLives(from, strings.Join(md.Get(livesHeader), ","))
}

// Listener is the server whose port is shared; *rpc.Server is one.
type Listener interface {
	Registrar() grpc.ServiceRegistrar
	// Draining is closed when what waits without end has to stop.
	Draining() <-chan struct{}
}

// Replicas are what others talk to.
type Replicas interface {
	// Deliver takes messages and must not block.
	Deliver(ms []raft.Message)
	// Feed gives another node the state of a shard; host.Host says how.
	Feed(
		ctx context.Context, to kv.NodeID, id kv.ShardID, send func([]byte) error, wait func(context.Context),
	) error
}

// Register serves the replicas at the listener's port, for the peers, as the member that it is. Only
// before it serves.
func Register(l Listener, self Member, peers []kv.NodeID, r Replicas) {
	kvpb.RegisterRaftServer(l.Registrar(), &server{
		self: self, peers: slices.Clone(peers), replicas: r, draining: l.Draining(),
	})
}

type server struct {
	kvpb.UnimplementedRaftServer
	self     Member
	peers    []kv.NodeID
	replicas Replicas
	draining <-chan struct{}
}

// Messages implements the generated interface.
func (s *server) Messages(g grpc.BidiStreamingServer[kvpb.RaftFrame, kvpb.RaftEnd]) error {
	from, err := s.admit(g)
	if err != nil {
		return err
	}
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-s.draining:
			_ = g.Send(&kvpb.RaftEnd{})
		case <-over:
		}
	}()
	defer func() { close(over); <-told }()
	for {
		frame, err := g.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s.self.Book != nil && s.self.Book.Gone(from) {
			return status.Errorf(codes.FailedPrecondition, "node %d was removed from this cluster", from)
		}
		ms := make([]raft.Message, 0, len(frame.GetMessages()))
		for _, pb := range frame.GetMessages() {
			m, err := raft.DecodeMessage(kv.ShardID(pb.GetShard()), pb.GetMessage())
			if err != nil {
				return status.Error(codes.InvalidArgument, err.Error())
			}
			if raft.Node(m.GetFrom()) != from || raft.Node(m.GetTo()) != s.self.Node {
				return status.Errorf(codes.InvalidArgument,
					"a message from %d to %d, sent by node %d to node %d",
					m.GetFrom(), m.GetTo(), from, s.self.Node)
			}
			ms = append(ms, m)
		}
		s.replicas.Deliver(ms)
	}
}

// Snapshot implements the generated interface.
func (s *server) Snapshot(g grpc.BidiStreamingServer[kvpb.SnapshotRequest, kvpb.SnapshotChunk]) error {
	to, err := s.admit(g)
	if err != nil {
		return err
	}
	req, err := g.Recv()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(g.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() { // it ends with the handler at the latest
		defer close(ended)
		_, _ = g.Recv() // whatever it is, nothing more is read
	}()
	send := func(b []byte) error {
		select {
		case <-s.draining:
			return status.Error(codes.Unavailable, "the node stops")
		case <-ended:
			return status.Error(codes.Canceled, "the caller has left")
		default:
			return g.Send(&kvpb.SnapshotChunk{Data: b})
		}
	}
	return s.replicas.Feed(ctx, to, kv.ShardID(req.GetShard()), send, func(stop context.Context) {
		select {
		case <-ended:
		case <-s.draining:
		case <-stop.Done():
		}
	})
}

// admit refuses strangers, tells who is none what is known here, and says who calls.
func (s *server) admit(g grpc.ServerStream) (from kv.NodeID, err error) {
	md, _ := metadata.FromIncomingContext(g.Context())
	header := func(name string) string {
		if v := md.Get(name); len(v) == 1 {
			return v[0]
		}
		return ""
	}
	refuse := func(format string, args ...any) (kv.NodeID, error) {
		return 0, status.Errorf(codes.FailedPrecondition, format, args...)
	}
	if c := header(clusterHeader); c != s.self.Cluster {
		if err := g.SendHeader(metadata.Pairs(clusterHeader, s.self.Cluster)); err != nil {
			return 0, err
		}
		return refuse("this node belongs to cluster %s, the caller to %q", s.self.Cluster, c)
	}
	if n := header(nodeHeader); n != strconv.FormatUint(uint64(s.self.Node), 10) {
		return refuse("this is node %d, not node %q", s.self.Node, n)
	}
	n, err := strconv.ParseUint(header(fromHeader), 10, 32)
	from = kv.NodeID(n)
	known := s.self.Book != nil && from != 0 && from != s.self.Node || slices.Contains(s.peers, from)
	if err != nil || !known {
		return refuse("node %q is not a member of this cluster besides node %d",
			header(fromHeader), s.self.Node)
	}
	if s.self.Book != nil && s.self.Book.Gone(from) {
		if err := g.SendHeader(metadata.Pairs(goneHeader, header(fromHeader))); err != nil {
			return 0, err
		}
		return refuse("node %d was removed from this cluster", from)
	}
	heard := s.self.hear(from, md)
	// Also to who is refused: it should hear why.
	if err := g.SendHeader(metadata.Pairs(livesHeader, s.self.lives())); err != nil {
		return 0, err
	}
	if heard != nil {
		return refuse("%v", heard)
	}
	if s.self.Book != nil {
		if err := s.self.Book.Met(from, header(addrHeader)); err != nil {
			return refuse("%v", err)
		}
	}
	return from, nil
}
