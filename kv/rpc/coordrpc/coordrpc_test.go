package coordrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/mem"
	"moka/kv/rpc"
	"moka/kv/rpc/coordrpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const theNode kv.NodeID = 1

type noShards struct{}

func (noShards) Handle(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error) {
	return nil, kv.Errorf(kv.CodeNotFound, "test", "no shards here")
}
func (noShards) Command(kv.CommandID) (kv.Command, bool) { return kv.Command{}, false }
func (noShards) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	return rpc.ClusterInfo{}, errors.New("no cluster here")
}

// serve runs the port of a node that hosts svc; stop ends it as a planned stop does.
func serve(t *testing.T, addr string, svc coordrpc.Host) (_ string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer(theNode, noShards{}, noShards{}, noShards{}, rpc.Options{})
	coordrpc.Register(s, svc)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		wg.Wait()
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

func connect(t *testing.T, addr string) *coordrpc.Client {
	t.Helper()
	p := rpc.NewPool(noShards{}, rpc.Options{})
	p.SetAddress(theNode, addr)
	c := coordrpc.New(func() (grpc.ClientConnInterface, error) { return p.Conn(theNode) }, coordrpc.Options{WatchBuffer: 64})
	t.Cleanup(func() {
		c.Close()
		p.Close()
	})
	return c
}

func newMem(t *testing.T) (*mem.Service, *coordtest.Clock) {
	clock := coordtest.NewClock()
	svc := mem.New(mem.Options{Clock: clock, WatchBuffer: 256, History: 64})
	t.Cleanup(func() {
		if err := svc.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return svc, clock
}

func TestConformance(t *testing.T) {
	coordtest.Run(t, func(t *testing.T) coordtest.Setup {
		svc, clock := newMem(t)
		addr, _ := serve(t, "127.0.0.1:0", svc)
		return coordtest.Setup{Service: connect(t, addr), Advance: clock.Advance}
	})
}

// The host's process is restarted: calls fail without a doubt or with an honest one, the session lives on, and the watcher
// ends so that its consumer can list again.
func TestHostRestarts(t *testing.T) {
	svc, clock := newMem(t)
	addr, stop := serve(t, "127.0.0.1:0", svc)
	c := connect(t, addr)
	ctx := t.Context()
	sess, err := c.NewSession(ctx, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Txn(ctx, nil, []coord.Op{coord.PutEphemeral("e", []byte("x"), sess.ID())}); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(ctx, "e", 0)
	if err != nil {
		t.Fatal(err)
	}
	stop() // with a session awaited and a watch open: it must not hang
	seen := 0
	for range w.Events() {
		seen++
	}
	if seen > 1 || !errors.Is(w.Err(), coord.ErrUnavailable) {
		t.Errorf("the watcher ended with %v after %d events", w.Err(), seen)
	}
	if _, err := c.Get(ctx, "e"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("get without a host: %v", err)
	}
	if _, err := c.Txn(ctx, nil, []coord.Op{coord.Put("a", nil)}); !errors.Is(err, coord.ErrOutcomeUnknown) {
		t.Errorf("txn without a host: %v", err)
	}
	if _, err := c.Alive(ctx, sess.ID()); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("alive without a host, which must not be taken for dead: %v", err)
	}

	serve(t, addr, svc)
	limit, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if err = sess.KeepAlive(limit); err == nil {
			break
		}
		if !errors.Is(err, coord.ErrUnavailable) || limit.Err() != nil {
			t.Fatalf("keep alive after the restart: %v", err)
		}
	}
	if got, err := c.Get(ctx, "e"); err != nil || string(got.Value) != "x" || got.Session != sess.ID() {
		t.Errorf("after the restart: %+v, %v", got, err)
	}
	clock.Advance(4 * time.Second)
	<-sess.Done() // the new host tells, although nobody calls
	if sess.Valid() {
		t.Error("an ended session is valid")
	}
}

func TestClosedClient(t *testing.T) {
	svc, _ := newMem(t)
	addr, _ := serve(t, "127.0.0.1:0", svc)
	c := connect(t, addr)
	w, err := c.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	sess, err := c.NewSession(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, open := <-w.Events(); open || w.Err() != nil {
		t.Errorf("a watcher of a closed client: open %v, error %v", open, w.Err())
	}
	for name, f := range map[string]func() error{
		"get":   func() error { _, err := c.Get(t.Context(), "a"); return err },
		"watch": func() error { _, err := c.Watch(t.Context(), "a", 0); return err },
		"keep":  func() error { return sess.KeepAlive(t.Context()) },
		"new":   func() error { _, err := c.NewSession(t.Context(), time.Minute); return err },
	} {
		if err := f(); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("%s with a closed client: %v", name, err)
		}
	}
	if alive, err := svc.Alive(t.Context(), sess.ID()); err != nil || !alive {
		t.Errorf("the session went with the client: %v, %v", alive, err)
	}
	select {
	case <-sess.Done():
		t.Error("done although the session lives")
	default:
	}
}

func TestErrorsNameTheirKey(t *testing.T) {
	svc, _ := newMem(t)
	addr, _ := serve(t, "127.0.0.1:0", svc)
	c := connect(t, addr)
	_, there := svc.Get(t.Context(), "nobody")
	_, here := c.Get(t.Context(), "nobody")
	if fmt.Sprint(here) != fmt.Sprint(there) || !errors.Is(here, coord.ErrNotFound) {
		t.Errorf("here %v, there %v", here, there)
	}
}
