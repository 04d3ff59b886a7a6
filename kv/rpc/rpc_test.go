package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moka/kv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// text is the message of the test commands. "junk" does not decode.
type text struct{ s string }

func (m *text) AppendTo(b []byte) []byte { return append(b, m.s...) }
func (m *text) Decode(b []byte) error {
	if string(b) == "junk" {
		return errors.New("junk")
	}
	m.s = string(b)
	return nil
}

const (
	readCmd  kv.CommandID = 1
	writeCmd kv.CommandID = 2
	alienCmd kv.CommandID = 3 // known to the caller only
)

type testCoprocessor struct{ commands []kv.Command }

func (testCoprocessor) Name() string                          { return "test" }
func (testCoprocessor) Groups() []kv.GroupSpec                { return nil }
func (c testCoprocessor) Commands() []kv.Command              { return c.commands }
func (testCoprocessor) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }
func newText() kv.Message                                     { return new(text) }
func testCommand(id kv.CommandID, name string, w bool) kv.Command {
	return kv.Command{ID: id, Name: name, Write: w, NewRequest: newText, NewResponse: newText}
}

func registry(t testing.TB, ids ...kv.CommandID) *Registry {
	t.Helper()
	names := map[kv.CommandID]string{readCmd: "test.Read", writeCmd: "test.Write", alienCmd: "test.Alien"}
	var cp testCoprocessor
	for _, id := range ids {
		cp.commands = append(cp.commands, testCommand(id, names[id], id == writeCmd))
	}
	r, err := NewRegistry(cp)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type handlerFunc func(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error)

func (f handlerFunc) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	return f(ctx, shard, tablets, cmd, req)
}

func echo(_ context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	return &text{fmt.Sprintf("%d %v %d %s", shard, tablets, cmd, req.(*text).s)}, nil
}

type staticCluster ClusterInfo

func (c staticCluster) ClusterInfo(context.Context) (ClusterInfo, error) { return ClusterInfo(c), nil }

// link is a served node and a pool that reaches it.
type link struct {
	server *Server
	pool   *Pool
	addr   string
}

const theNode kv.NodeID = 7

func serve(t testing.TB, addr string, h handlerFunc, o Options) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	info := staticCluster{ClusterID: "c1", Version: "v1", Node: theNode, Root: 1, Nodes: []NodeInfo{{theNode, l.Addr().String()}}, Shards: []ShardInfo{{ID: 1, Node: theNode}, {ID: 2, Node: theNode, Term: 7, Replicas: []kv.NodeID{theNode, 8}}}}
	s := NewServer(theNode, h, registry(t, readCmd, writeCmd), info, o)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		wg.Wait()
	})
	return s, l.Addr().String()
}

func newLink(t testing.TB, h handlerFunc, serverOptions, poolOptions Options) *link {
	t.Helper()
	s, addr := serve(t, "127.0.0.1:0", h, serverOptions)
	p := NewPool(registry(t, readCmd, writeCmd, alienCmd), poolOptions)
	t.Cleanup(p.Close)
	p.SetAddress(theNode, addr)
	return &link{server: s, pool: p, addr: addr}
}

func (l *link) call(ctx context.Context, cmd kv.CommandID, s string) (string, error) {
	resp, err := l.pool.Call(ctx, theNode, 1, nil, cmd, &text{s})
	if err != nil {
		return "", err
	}
	return resp.(*text).s, nil
}

func wantCode(t *testing.T, err error, sentinel *kv.Error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("got %v, want %v", err, sentinel)
	}
	var e *kv.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *kv.Error", err)
	}
}

func TestCallsMeetTheirResponses(t *testing.T) {
	l := newLink(t, echo, Options{}, Options{})
	var wg sync.WaitGroup
	for caller := range 32 {
		wg.Go(func() {
			for i := range 100 {
				refs := []kv.TabletRef{{ID: kv.TabletID(caller), Generation: uint64(i)}, {ID: 3, Generation: 4}}
				req := fmt.Sprintf("%d/%d", caller, i)
				resp, err := l.pool.Call(t.Context(), theNode, kv.ShardID(caller), refs, readCmd, &text{req})
				if err != nil {
					t.Errorf("%s: %v", req, err)
					return
				}
				if want := fmt.Sprintf("%d %v %d %s", caller, refs, readCmd, req); resp.(*text).s != want {
					t.Errorf("got %q, want %q", resp.(*text).s, want)
				}
			}
		})
	}
	wg.Wait()
	m := l.pool.Metrics()
	if m.Calls != 3200 || m.Streams != 1 || m.Batches > m.Calls || m.Lost != 0 {
		t.Errorf("metrics %+v", m)
	}
	if sm := l.server.Metrics(); sm.Calls != 3200 || sm.Batches != m.Batches {
		t.Errorf("server metrics %+v, pool %+v", sm, m)
	}
}

func TestErrorsSurviveTheWire(t *testing.T) {
	moved := kv.Errorf(kv.CodeMoved, "node.Handle", "split")
	moved.Tablets = []kv.Tablet{
		{ID: 1, Generation: 5, Span: kv.Span{Start: kv.RowKey("a"), End: kv.RowKey("m")}, Shard: 2, Node: 3},
		{ID: 9, Generation: 5, Span: kv.Span{Start: kv.RowKey("m")}, Shard: 4, Node: 5},
	}
	lead := kv.Lead{Shard: 3, Node: 4, Term: 1 << 40}
	cases := map[string]struct {
		err  error
		is   *kv.Error
		text string
	}{
		"moved":   {moved, kv.ErrMoved, "node.Handle: moved: split"},
		"cause":   {&kv.Error{Code: kv.CodeDisk, Op: "wal", Err: errors.New("no space")}, kv.ErrDisk, "wal: disk: no space"},
		"wrapped": {fmt.Errorf("while splitting: %w", kv.Errorf(kv.CodeBusy, "x", "y")), kv.ErrBusy, "busy: while splitting: x: busy: y"},
		"foreign": {errors.New("boom"), &kv.Error{Code: kv.CodeInternal}, "internal: boom"},
		"unknown": {kv.Errorf(kv.CodeOutcomeUnknown, "", "maybe"), kv.ErrOutcomeUnknown, "outcome unknown: maybe"},
		"led":     {kv.NotLeader("node.Handle", lead), kv.ErrNotLeader, "node.Handle: not the leader: shard 3 is led by node 4 in term 1099511627776, not here; nothing happened"},
		"newer":   {kv.Errorf(4711, "", "from the future"), &kv.Error{Code: 4711}, "code 4711: from the future"},
	}
	l := newLink(t, func(_ context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, req kv.Message) (kv.Message, error) {
		return nil, cases[req.(*text).s].err
	}, Options{}, Options{})
	for name, c := range cases {
		_, err := l.call(t.Context(), readCmd, name)
		wantCode(t, err, c.is)
		if err.Error() != c.text {
			t.Errorf("%s: got %q, want %q", name, err, c.text)
		}
	}
	_, err := l.call(t.Context(), writeCmd, "moved")
	var e *kv.Error
	if !errors.As(err, &e) || fmt.Sprint(e.Tablets) != fmt.Sprint(moved.Tablets) {
		t.Errorf("tablets %v, want %v", e.Tablets, moved.Tablets)
	}
	if _, err := l.call(t.Context(), writeCmd, "led"); !errors.As(err, &e) || e.Lead != lead {
		t.Errorf("%v, led by %+v, want %+v", err, e.Lead, lead)
	}
}

func TestRefusals(t *testing.T) {
	big := string(make([]byte, 2000))
	o := Options{MaxMessage: 1000}
	l := newLink(t, func(_ context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, req kv.Message) (kv.Message, error) {
		switch s := req.(*text).s; s {
		case "big":
			return &text{big}, nil
		case "junk back":
			return &text{"junk"}, nil
		case "nothing":
			return nil, nil
		}
		return req, nil
	}, o, o)
	for _, c := range []struct {
		cmd  kv.CommandID
		req  string
		want *kv.Error
	}{
		{99, "x", kv.ErrInvalidArgument},         // unknown here
		{alienCmd, "x", kv.ErrInvalidArgument},   // unknown there
		{writeCmd, big, kv.ErrInvalidArgument},   // too large a request
		{readCmd, "big", kv.ErrInvalidArgument},  // too large a response
		{writeCmd, "big", kv.ErrOutcomeUnknown},  // the same, but something happened
		{readCmd, "junk", kv.ErrInvalidArgument}, // request that does not decode
		{readCmd, "junk back", &kv.Error{Code: kv.CodeInternal}},
		{writeCmd, "junk back", kv.ErrOutcomeUnknown},
		{readCmd, "nothing", &kv.Error{Code: kv.CodeInternal}},
	} {
		_, err := l.call(t.Context(), c.cmd, c.req)
		wantCode(t, err, c.want)
	}
	if got, err := l.call(t.Context(), readCmd, "still fine"); err != nil || got != "still fine" {
		t.Errorf("after the refusals: %q, %v", got, err)
	}
}

func TestEndOfCallersContextReachesHandler(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error)
	l := newLink(t, func(ctx context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, _ kv.Message) (kv.Message, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}, Options{}, Options{})
	for _, c := range []struct {
		cmd  kv.CommandID
		want *kv.Error
	}{{readCmd, kv.ErrUnavailable}, {writeCmd, kv.ErrOutcomeUnknown}} {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { _, err := l.call(ctx, c.cmd, "x"); result <- err }()
		<-started
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("handler saw %v", err)
		}
		err := <-result
		wantCode(t, err, c.want)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not say that the caller cancelled", err)
		}
	}
}

func TestDeadlineReachesHandler(t *testing.T) {
	seen := make(chan time.Duration, 1)
	l := newLink(t, func(ctx context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, _ kv.Message) (kv.Message, error) {
		d, ok := ctx.Deadline()
		if !ok {
			return nil, errors.New("no deadline")
		}
		seen <- time.Until(d)
		return &text{}, nil
	}, Options{}, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := l.call(ctx, readCmd, ""); err != nil {
		t.Fatal(err)
	}
	if d := <-seen; d > time.Hour || d < 50*time.Minute {
		t.Errorf("the handler had %v left", d)
	}
	past, cancel2 := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel2()
	_, err := l.call(past, writeCmd, "")
	wantCode(t, err, kv.ErrUnavailable)
}

// blockingHandler reports that a command has started and waits: writes for release, reads for their context.
func blockingHandler(started chan<- struct{}, release <-chan struct{}) handlerFunc {
	return func(ctx context.Context, _ kv.ShardID, _ []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
		started <- struct{}{}
		if cmd == readCmd {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		<-release
		return req, nil
	}
}

func TestLostStream(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	l := newLink(t, blockingHandler(started, release), Options{}, Options{})
	results := map[kv.CommandID]chan error{readCmd: make(chan error, 1), writeCmd: make(chan error, 1)}
	for cmd, result := range results {
		go func() { _, err := l.call(context.Background(), cmd, "x"); result <- err }()
		<-started
	}
	closed := make(chan struct{})
	go func() { l.server.Close(); close(closed) }() // waits for the handlers
	wantCode(t, <-results[readCmd], kv.ErrUnavailable)
	wantCode(t, <-results[writeCmd], kv.ErrOutcomeUnknown)
	close(release)
	<-closed

	_, err := l.call(t.Context(), writeCmd, "x")
	wantCode(t, err, kv.ErrUnavailable) // nobody is there: not a matter of doubt

	serve(t, l.addr, echo, Options{}) // and the node comes back at its address
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err = l.call(ctx, readCmd, "x"); err == nil {
			break
		}
		wantCode(t, err, kv.ErrUnavailable)
		if ctx.Err() != nil {
			t.Fatalf("no reconnect: %v", err)
		}
	}
}

func TestBusy(t *testing.T) {
	for name, o := range map[string][2]Options{"server": {{MaxInFlight: 1}, {}}, "pool": {{}, {MaxInFlight: 1}}} {
		t.Run(name, func(t *testing.T) {
			started, release := make(chan struct{}), make(chan struct{})
			l := newLink(t, blockingHandler(started, release), o[0], o[1])
			first := make(chan error, 1)
			go func() { _, err := l.call(t.Context(), writeCmd, "x"); first <- err }()
			<-started
			_, err := l.call(t.Context(), writeCmd, "y")
			wantCode(t, err, kv.ErrBusy)
			close(release)
			if err := <-first; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestShutdownAnswersWhatItAccepted(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	l := newLink(t, blockingHandler(started, release), Options{}, Options{})
	results := map[kv.CommandID]chan error{readCmd: make(chan error, 1), writeCmd: make(chan error, 1)}
	for cmd, result := range results {
		go func() { _, err := l.call(t.Context(), cmd, "x"); result <- err }()
		<-started
	}
	done := make(chan error, 1)
	go func() { done <- l.server.Shutdown(t.Context()) }()
	wantCode(t, <-results[readCmd], kv.ErrUnavailable) // the long poll is interrupted, which proves that draining began
	_, err := l.call(t.Context(), writeCmd, "late")
	if !errors.Is(err, kv.ErrClosed) && !errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("a late write got %v", err)
	}
	close(release)
	if err := <-results[writeCmd]; err != nil {
		t.Errorf("the accepted write got %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// R6 under load: a planned stop leaves no write in doubt.
func TestShutdownLeavesNothingUnknown(t *testing.T) {
	reached := make(chan struct{}, 1<<20)
	l := newLink(t, func(_ context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, req kv.Message) (kv.Message, error) {
		reached <- struct{}{}
		return req, nil
	}, Options{}, Options{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				_, err := l.call(t.Context(), writeCmd, "x")
				switch {
				case err == nil:
				case errors.Is(err, kv.ErrClosed), errors.Is(err, kv.ErrUnavailable):
					return
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2000 {
		<-reached
	}
	if err := l.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestShutdownGivesUpWithItsContext(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	l := newLink(t, blockingHandler(started, release), Options{}, Options{})
	result := make(chan error, 1)
	go func() { _, err := l.call(t.Context(), writeCmd, "x"); result <- err }()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.server.Shutdown(ctx) }()
	cancel()
	wantCode(t, <-result, kv.ErrOutcomeUnknown)
	close(release)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("shutdown: %v", err)
	}
}

func TestAddressOfAnotherNode(t *testing.T) {
	l := newLink(t, echo, Options{}, Options{})
	l.pool.SetAddress(8, l.addr)
	_, err := l.pool.Call(t.Context(), 8, 1, nil, writeCmd, &text{"x"})
	wantCode(t, err, kv.ErrUnavailable)
	if _, err := l.call(t.Context(), writeCmd, "x"); err != nil {
		t.Error(err)
	}
	_, err = l.pool.Call(t.Context(), 9, 1, nil, writeCmd, &text{"x"})
	wantCode(t, err, kv.ErrUnavailable) // no address at all
}

// A node of another cluster sends no commands here, whatever address it was given; who knows of no cluster
// may.
func TestForeignClusterIsRefused(t *testing.T) {
	for callers, allowed := range map[string]bool{"": true, "ours": true, "theirs": false} {
		l := newLink(t, echo, Options{Cluster: "ours"}, Options{Cluster: callers})
		_, err := l.call(t.Context(), writeCmd, "x")
		if allowed && err != nil || !allowed && !errors.Is(err, kv.ErrUnavailable) {
			t.Errorf("a caller of cluster %q: %v", callers, err)
		}
		if !allowed && !strings.Contains(err.Error(), "belongs to cluster ours") {
			t.Errorf("the refusal does not say why: %v", err)
		}
	}
}

func TestJoin(t *testing.T) {
	_, addr := serve(t, "127.0.0.1:0", echo, Options{})
	p := NewPool(registry(t, readCmd), Options{})
	defer p.Close()
	info, err := p.Join(t.Context(), addr, "v2")
	if err != nil {
		t.Fatal(err)
	}
	if info.ClusterID != "c1" || info.Node != theNode || info.Root != 1 || len(info.Nodes) != 1 || len(info.Shards) != 2 || info.Shards[1].Node != theNode {
		t.Errorf("info %+v", info)
	}
	if _, err := p.Call(t.Context(), theNode, 1, nil, readCmd, &text{"x"}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Join(ctx, "127.0.0.1:1", "v2")
	wantCode(t, err, kv.ErrUnavailable)
	p.Close()
	_, err = p.Call(t.Context(), theNode, 1, nil, readCmd, &text{"x"})
	wantCode(t, err, kv.ErrClosed)
}

func TestRegistryRefusesTwins(t *testing.T) {
	_, err := NewRegistry(testCoprocessor{[]kv.Command{testCommand(1, "a", false)}}, testCoprocessor{[]kv.Command{testCommand(1, "b", false)}})
	if err == nil {
		t.Error("two commands of one number")
	}
}
