package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"moka/kv"
	"moka/kv/kvpb"
)

// nodeHeader names, in a stream's request headers, the node that the caller means to reach.
const nodeHeader = "moka-node"

// clusterHeader names the cluster that the caller belongs to, if it knows.
const clusterHeader = "moka-cluster"

// Server answers commands for one node.
type Server struct {
	kvpb.UnimplementedStoreServer
	node     kv.NodeID
	handler  Handler
	commands Commands
	opts     Options
	grpc     *grpc.Server
	metrics  metrics
	drains   chan struct{} // closed by Shutdown and Close

	mu struct {
		sync.Mutex
		streams  map[*serverStream]struct{}
		draining bool
	}
}

// NewServer makes a server for a node. Register further services at Registrar, then call Serve.
func NewServer(node kv.NodeID, h Handler, c Commands, info Cluster, o Options) *Server {
	o = o.withDefaults()
	s := &Server{node: node, handler: h, commands: c, opts: o, drains: make(chan struct{})}
	s.mu.streams = make(map[*serverStream]struct{})
	s.grpc = grpc.NewServer(
		grpc.Creds(admitting{o.Credentials}),
		grpc.ConnectionTimeout(o.HandshakeTime),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connWindow),
		grpc.ReadBufferSize(socketBuffer),
		grpc.WriteBufferSize(socketBuffer),
		grpc.SharedWriteBuffer(true),
		grpc.MaxRecvMsgSize(o.MaxMessage+frameOverhead),
		grpc.MaxSendMsgSize(o.MaxMessage+frameOverhead),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: o.KeepaliveInterval, Timeout: o.KeepaliveInterval / 3}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: o.KeepaliveInterval / 2}),
		grpc.WaitForHandlers(true),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, i *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
			if err := s.allowed(ctx, i.FullMethod); err != nil {
				return nil, err
			}
			return h(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, st grpc.ServerStream, i *grpc.StreamServerInfo, h grpc.StreamHandler) error {
			if err := s.allowed(st.Context(), i.FullMethod); err != nil {
				return err
			}
			return h(srv, st)
		}),
	)
	kvpb.RegisterStoreServer(s.grpc, s)
	kvpb.RegisterClusterServer(s.grpc, clusterServer{info: info})
	return s
}

// allowed asks Options.Allow about a method.
func (s *Server) allowed(ctx context.Context, method string) error {
	if s.opts.Allow == nil {
		return nil
	}
	if may := s.opts.Allow(ctx); may != nil {
		if err := may(method); err != nil {
			return status.Error(codes.PermissionDenied, err.Error())
		}
	}
	return nil
}

// Registrar takes further services that share the port: the oracle's, the coordination service's. Only before Serve.
func (s *Server) Registrar() grpc.ServiceRegistrar { return s.grpc }

// Serve answers on l, behind a door, until Shutdown or Close, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	err := s.grpc.Serve(newDoor(l, s.opts))
	if errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// Shutdown drains: it accepts nothing more, lets writes that were accepted end and interrupts waiting reads, delivers
// all answers, and returns when every stream is closed. When ctx ends first, the rest is cut off as by Close.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.startDrainLocked()
	for st := range s.mu.streams {
		st.drain()
	}
	s.mu.Unlock()

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		s.grpc.Stop() // also makes GracefulStop return
		<-stopped
		return fmt.Errorf("commands were still running when the drain was cut off: %w", ctx.Err())
	}
}

// Close cuts all streams off and waits for the handlers, whose contexts it cancels.
func (s *Server) Close() {
	s.mu.Lock()
	s.startDrainLocked()
	s.mu.Unlock()
	s.grpc.Stop()
}

func (s *Server) startDrainLocked() {
	if !s.mu.draining {
		s.mu.draining = true
		close(s.drains)
	}
}

// Draining is closed when the server begins to go down. Services at Registrar end what waits or streams without end then;
// Shutdown waits for them.
func (s *Server) Draining() <-chan struct{} { return s.drains }

// Metrics returns the counters as they are now.
func (s *Server) Metrics() Metrics { return s.metrics.snapshot() }

// Batch implements the generated interface; gRPC calls it once for each stream.
func (s *Server) Batch(g grpc.BidiStreamingServer[kvpb.BatchRequest, kvpb.BatchResponse]) error {
	if err := s.admit(g.Context()); err != nil {
		return err
	}
	st := newServerStream(s, g)
	s.mu.Lock()
	if s.mu.draining {
		s.mu.Unlock()
		return status.Error(codes.Unavailable, "the node is shutting down")
	}
	s.mu.streams[st] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.mu.streams, st)
		s.mu.Unlock()
	}()
	// The header tells the caller that the stream stands: what it sends from now on reaches a handler.
	if err := g.SendHeader(nil); err != nil {
		return err
	}
	s.metrics.streams.Add(1)
	return st.run()
}

// admit refuses a caller that looks for another node, or another cluster: addresses are reused, node ids are
// not.
func (s *Server) admit(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, c := range md.Get(clusterHeader) {
		if s.opts.Cluster != "" && c != s.opts.Cluster {
			return status.Errorf(codes.FailedPrecondition,
				"this node belongs to cluster %s, the caller to %s", s.opts.Cluster, c)
		}
	}
	for _, want := range md.Get(nodeHeader) {
		if want != strconv.FormatUint(uint64(s.node), 10) {
			return status.Errorf(codes.FailedPrecondition, "this is node %d, not node %s", s.node, want)
		}
	}
	return nil
}

// statusOf is for the services whose answers are not commands.
func statusOf(err error) error { return status.Error(codes.Unavailable, err.Error()) }
