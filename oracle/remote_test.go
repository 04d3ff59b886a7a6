package oracle

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"moka/kv"
	"moka/kv/coord/mem"
	"moka/oracle/oraclepb"
)

// network connects names to servers in memory.
type network struct {
	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
}

func (n *network) serve(t *testing.T, addr string, register func(grpc.ServiceRegistrar)) *grpc.Server {
	l := bufconn.Listen(1 << 16)
	n.mu.Lock()
	if n.listeners == nil {
		n.listeners = make(map[string]*bufconn.Listener)
	}
	n.listeners[addr] = l
	n.mu.Unlock()
	g := grpc.NewServer()
	register(g)
	var wg sync.WaitGroup
	wg.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() { g.Stop(); wg.Wait() })
	return g
}

// port is a Listener.
type port struct {
	grpc.ServiceRegistrar
	draining chan struct{}
}

func (p port) Registrar() grpc.ServiceRegistrar { return p.ServiceRegistrar }
func (p port) Draining() <-chan struct{}        { return p.draining }

// on is a port that never drains.
func on(r grpc.ServiceRegistrar) Listener { return port{ServiceRegistrar: r} }

func (n *network) dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			n.mu.Lock()
			l := n.listeners[addr]
			n.mu.Unlock()
			if l == nil {
				return nil, errors.New("no such host: " + addr)
			}
			return l.DialContext(ctx)
		}))
}

func (n *network) remote(t *testing.T, addrs ...string) *Remote {
	r, err := NewRemote(addrs, RemoteOptions{Dial: n.dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestErrorsSurviveGRPC(t *testing.T) {
	for code, want := range map[Code]*Error{
		CodeNotLeader: ErrNotLeader, CodeFenced: ErrFenced, CodeUnavailable: ErrUnavailable,
		CodeInvalid: ErrInvalid,
	} {
		in := &Error{Code: code, Leader: "host:1", Epoch: 7, Err: errors.New("the cause")}
		wire := toStatus(in)
		if got := status.Code(wire); got != grpcCodes[code] || got == codes.OK {
			t.Errorf("%v travels as %v", code, got)
		}
		out := fromStatus(wire)
		var e *Error
		if !errors.As(out, &e) || !errors.Is(out, want) || e.Leader != in.Leader || e.Epoch != in.Epoch ||
			e.Error() != in.Error() {
			t.Errorf("%v became %v", in, out)
		}
	}
	if err := fromStatus(status.Error(codes.Unavailable, "connection refused")); !errors.Is(err,
		ErrUnavailable) {
		t.Errorf("gRPC's own error became %v", err)
	}
	if status.Code(toStatus(context.Canceled)) != codes.Canceled ||
		status.Code(toStatus(errors.New("x"))) != codes.Internal {
		t.Error("other errors have no fitting code")
	}
	if toStatus(nil) != nil || fromStatus(nil) != nil {
		t.Error("nil is an error")
	}
}

func TestRemoteConcurrent(t *testing.T) {
	svc := mem.New(mem.Options{})
	t.Cleanup(func() { svc.Close() })
	var n network
	s := lead(t, svc, Options{Address: "a"})
	n.serve(t, "a", func(r grpc.ServiceRegistrar) { Register(on(r), s) })
	c := NewClient(n.remote(t, "a"), ClientOptions{})
	defer c.Close()
	callers(t, 64, 30, c)
	if m := c.Metrics(); m.Requests >= m.Timestamps {
		t.Errorf("%d requests for %d timestamps: nothing was batched", m.Requests, m.Timestamps)
	}
}

// A server that goes down does not wait for clients, who keep their streams for ever; and they are told
// nothing wrong. (It waited until its drain was cut off, and the process ended with status 1.)
func TestDrainEndsStreams(t *testing.T) {
	svc := mem.New(mem.Options{})
	t.Cleanup(func() { svc.Close() })
	var n network
	s := lead(t, svc, Options{Address: "a"})
	draining := make(chan struct{})
	g := n.serve(t, "a", func(r grpc.ServiceRegistrar) { Register(port{r, draining}, s) })
	r := n.remote(t, "a")
	if _, err := r.Next(bounded(t), 1); err != nil {
		t.Fatal(err)
	}
	close(draining)
	g.GracefulStop()
	if _, err := r.Next(bounded(t), 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("of a server that is gone: %v", err)
	}
}

// The client knows a follower and a dead address; the follower's hint leads to the leader, also after
// the leadership has moved.
func TestRemoteFindsLeader(t *testing.T) {
	svc := mem.New(mem.Options{})
	t.Cleanup(func() { svc.Close() })
	var n network
	a := Start(svc, Options{Address: "a"})
	defer a.Close()
	if err := a.WaitLeading(bounded(t)); err != nil {
		t.Fatal(err)
	}
	b := Start(svc, Options{Address: "b"})
	defer b.Close()
	ga := n.serve(t, "a", func(r grpc.ServiceRegistrar) { Register(on(r), a) })
	n.serve(t, "b", func(r grpc.ServiceRegistrar) { Register(on(r), b) })
	r := n.remote(t, "nobody", "b")
	c := NewClient(r, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	ctx := bounded(t)
	one, err := c.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if r.target != "a" {
		t.Errorf("asks %s, the leader is a", r.target)
	}
	if sp, err := r.SetSafePoint(ctx, one); err != nil || sp != one {
		t.Errorf("safe point %v, %v", sp, err)
	}
	if _, err := r.SetSafePoint(ctx, kv.MaxTimestamp); !errors.Is(err, ErrInvalid) {
		t.Errorf("safe point in the future: %v", err)
	}
	if _, err := r.Next(ctx, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("asked for nothing: %v", err)
	}
	a.Close()
	ga.Stop()
	two, err := c.Next(ctx)
	if err != nil || two <= one {
		t.Fatalf("after the leader died: %v, %v; before %v", two, err, one)
	}
	if c.SafePoint() != one {
		t.Errorf("safe point %v, want %v", c.SafePoint(), one)
	}
}

// A caller that gives up leaves an answer on the stream; nobody may take it for his own.
func TestRemoteAbandonedAnswer(t *testing.T) {
	src := newScript()
	var n network
	n.serve(t, "a", func(r grpc.ServiceRegistrar) { oraclepb.RegisterOracleServer(r, &scripted{src: src}) })
	r := n.remote(t, "a")
	ctx, cancel := context.WithCancel(bounded(t))
	failed := make(chan error, 1)
	go func() { _, err := r.Next(ctx, 1); failed <- err }()
	<-src.asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatalf("abandoned call: %v", err)
	}
	got := make(chan Batch, 1)
	go func() {
		b, err := r.Next(bounded(t), 2)
		if err != nil {
			t.Error(err)
		}
		got <- b
	}()
	if n := <-src.asked; n != 2 {
		t.Fatalf("asked for %d", n)
	}
	src.answer <- answerOf{b: Batch{First: 50, N: 2}}
	if b := <-got; b.First != 50 || b.N != 2 {
		t.Fatalf("%+v", b)
	}
	// An answer that does not fit the question is not passed on.
	go func() { _, err := r.Next(bounded(t), 3); failed <- err }()
	<-src.asked
	src.answer <- answerOf{b: Batch{First: 60, N: 2}}
	if err := <-failed; !errors.Is(err, ErrUnavailable) {
		t.Fatalf("2 timestamps for 3: %v", err)
	}
}

// scripted serves a script, for answers that a real server never gives.
type scripted struct {
	oraclepb.UnimplementedOracleServer
	src *script
}

func (s *scripted) Next(stream grpc.BidiStreamingServer[oraclepb.NextRequest, oraclepb.NextResponse]) error {
	for {
		req, err := stream.Recv()
		if err != nil {
			return err
		}
		b, err := s.src.Next(stream.Context(), int(req.GetN()))
		if err != nil {
			return toStatus(err)
		}
		if err := stream.Send(&oraclepb.NextResponse{First: uint64(b.First), N: uint32(b.N)}); err != nil {
			return err
		}
	}
}

// A node with a server of its own uses it while it leads, and the network otherwise; the order of
// timestamps holds across both.
func TestRemoteWithLocal(t *testing.T) {
	svc := mem.New(mem.Options{})
	t.Cleanup(func() { svc.Close() })
	var n network
	a := Start(svc, Options{Address: "a"})
	defer a.Close()
	if err := a.WaitLeading(bounded(t)); err != nil {
		t.Fatal(err)
	}
	b := Start(svc, Options{Address: "b"})
	defer b.Close()
	n.serve(t, "a", func(r grpc.ServiceRegistrar) { Register(on(r), a) })
	r, err := NewRemote([]string{"a"}, RemoteOptions{Local: b, Dial: n.dial})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := NewClient(r, ClientOptions{MaxWait: time.Minute})
	defer c.Close()
	one, err := c.Next(bounded(t))
	if err != nil || b.Metrics().Issued != 0 {
		t.Fatal(one, err)
	}
	a.Close()
	two, err := c.Next(bounded(t))
	if err != nil || two <= one || b.Metrics().Issued == 0 {
		t.Fatalf("%v after %v, %v", two, one, err)
	}
	if _, err := NewRemote(nil, RemoteOptions{}); err == nil {
		t.Error("a remote without any server was made")
	}
}
