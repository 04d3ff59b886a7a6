package raftrpc_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moka/kv"
	"moka/kv/raft"
	"moka/kv/rpc"
	"moka/kv/rpc/raftrpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type nothing struct{}

func (nothing) Handle(
	context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message,
) (kv.Message, error) {
	return nil, kv.Errorf(kv.CodeNotFound, "test", "no shards here")
}
func (nothing) Command(kv.CommandID) (kv.Command, bool) { return kv.Command{}, false }
func (nothing) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	return rpc.ClusterInfo{}, errors.New("no cluster here")
}

// replicas take messages, and have a state of three chunks.
type replicas func([]raft.Message)

func (r replicas) Deliver(ms []raft.Message) { r(ms) }

func (r replicas) Feed(
	ctx context.Context, to kv.NodeID, id kv.ShardID, send func([]byte) error, wait func(context.Context),
) error {
	if to != 1 || id != 7 {
		return kv.Errorf(kv.CodeNotFound, "test", "shard %d for node %d", id, to)
	}
	for i := range byte(3) {
		if err := send(bytes.Repeat([]byte{i}, 2<<20)); err != nil {
			return err
		}
	}
	wait(ctx)
	r(nil) // the caller has taken it
	return nil
}

// serve runs the port of a member whose only peer is node 1; stop ends it as a planned stop does.
func serve(
	t *testing.T, addr string, self raftrpc.Member, deliver func([]raft.Message),
) (_ string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer(self.Node, nothing{}, nothing{}, nothing{}, rpc.Options{})
	raftrpc.Register(s, self, []kv.NodeID{1}, replicas(deliver))
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

// logs is a log that tests read.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func dial(t *testing.T, self raftrpc.Member, addr string) (*raftrpc.Transport, *logs) {
	t.Helper()
	l := &logs{}
	tr, err := raftrpc.New(self, map[kv.NodeID]string{2: addr},
		rpc.Options{Logger: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr, l
}

// message is one of replica from's to replica to's, with a number in it.
func message(t *testing.T, from, to, number uint64, data []byte) raft.Message {
	t.Helper()
	m, err := raft.DecodeMessage(7, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.From, m.To, m.Index, m.Context = &from, &to, &number, data
	return m
}

// until sends message after message until one has come, for those that come before the stream stands are
// lost.
func until(t *testing.T, tr *raftrpc.Transport, came <-chan raft.Message) raft.Message {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for n := uint64(1); ; n++ {
		tr.Send([]raft.Message{message(t, 1, 2, n, []byte("hello"))})
		select {
		case m := <-came:
			return m
		case <-tick.C:
		case <-deadline:
			t.Fatal("no message comes")
		}
	}
}

// What is sent comes, whole and with its shard; also over a server that went, and came back.
func TestMessagesCome(t *testing.T) {
	came := make(chan raft.Message, 1024)
	deliver := func(ms []raft.Message) {
		for _, m := range ms {
			came <- m
		}
	}
	self := raftrpc.Member{Cluster: "c", Node: 2}
	addr, stop := serve(t, "127.0.0.1:0", self, deliver)
	tr, _ := dial(t, raftrpc.Member{Cluster: "c", Node: 1}, addr)
	m := until(t, tr, came)
	if m.Shard != 7 || m.GetFrom() != 1 || m.GetTo() != 2 || string(m.GetContext()) != "hello" {
		t.Errorf("what came is %v", m)
	}
	stop()
	for len(came) > 0 {
		<-came
	}
	serve(t, addr, self, deliver)
	until(t, tr, came)
	tr.Send([]raft.Message{message(t, 1, 3, 1, nil)}) // nobody is there
}

// Strangers are turned away, and the log of who calls says who answers.
func TestStrangersAreTurnedAway(t *testing.T) {
	for name, c := range map[string]struct {
		self raftrpc.Member
		want string
	}{
		"another cluster": {raftrpc.Member{Cluster: "foreign", Node: 1}, "this node belongs to cluster c"},
		"no member":       {raftrpc.Member{Cluster: "c", Node: 9}, "is not a member"},
	} {
		t.Run(name, func(t *testing.T) {
			self := raftrpc.Member{Cluster: "c", Node: 2}
			addr, _ := serve(t, "127.0.0.1:0", self, func(ms []raft.Message) {
				t.Errorf("%d messages of a stranger", len(ms))
			})
			_, l := dial(t, c.self, addr)
			wait(t, l, c.want)
		})
	}
	t.Run("another node's address", func(t *testing.T) {
		addr, _ := serve(t, "127.0.0.1:0", raftrpc.Member{Cluster: "c", Node: 3}, func([]raft.Message) {})
		_, l := dial(t, raftrpc.Member{Cluster: "c", Node: 1}, addr)
		wait(t, l, "this is node 3, not node")
	})
	t.Run("in another's name", func(t *testing.T) {
		addr, _ := serve(t, "127.0.0.1:0", raftrpc.Member{Cluster: "c", Node: 2}, func([]raft.Message) {
			t.Error("a message that says another sender")
		})
		tr, l := dial(t, raftrpc.Member{Cluster: "c", Node: 1}, addr)
		wait(t, l, "can be reached")
		tr.Send([]raft.Message{message(t, 3, 2, 1, nil)})
		wait(t, l, "a message from 3 to 2")
	})
}

func wait(t *testing.T, l *logs, what string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !strings.Contains(l.String(), what) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the log does not say %q:\n%s", what, l)
		}
	}
}

// A peer that takes nothing costs a bounded queue, and nobody waits for it.
func TestSlowPeer(t *testing.T) {
	block := make(chan struct{})
	first := make(chan struct{})
	var once sync.Once
	addr, _ := serve(t, "127.0.0.1:0", raftrpc.Member{Cluster: "c", Node: 2}, func([]raft.Message) {
		once.Do(func() { close(first) })
		<-block
	})
	defer close(block)
	tr, l := dial(t, raftrpc.Member{Cluster: "c", Node: 1}, addr)
	wait(t, l, "can be reached")
	data := make([]byte, 1<<20)
	tr.Send([]raft.Message{message(t, 1, 2, 0, nil)})
	<-first
	for n := range uint64(300) {
		m := message(t, 1, 2, n, data)
		tr.Send([]raft.Message{m})
	}
	if q := tr.Queued(2); q > 64<<20 {
		t.Errorf("%d bytes wait for a peer that takes nothing", q)
	}
}

// A snapshot comes chunk after chunk, larger than a window of the connection; the sender hears when it
// was taken. What goes wrong is said, and strangers get none.
func TestSnapshotComes(t *testing.T) {
	taken := make(chan bool, 8)
	addr, _ := serve(t, "127.0.0.1:0", raftrpc.Member{Cluster: "c", Node: 2}, func(ms []raft.Message) {
		if ms == nil {
			taken <- true
		}
	})
	tr, _ := dial(t, raftrpc.Member{Cluster: "c", Node: 1}, addr)
	f, err := tr.Fetch(t.Context(), 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range byte(3) {
		if b, err := f.Recv(); err != nil || !bytes.Equal(b, bytes.Repeat([]byte{i}, 2<<20)) {
			t.Fatalf("chunk %d has %d bytes, %v", i, len(b), err)
		}
	}
	if len(taken) > 0 {
		t.Error("the sender takes the snapshot for taken while it is put in place")
	}
	f.Close()
	<-taken
	for name, c := range map[string]struct {
		self raftrpc.Member
		id   kv.ShardID
		want string
	}{
		"no replica": {raftrpc.Member{Cluster: "c", Node: 1}, 8, "shard 8 for node 1"},
		"a stranger": {raftrpc.Member{Cluster: "foreign", Node: 1}, 7, "belongs to cluster c"},
		"no member":  {raftrpc.Member{Cluster: "c", Node: 9}, 7, "is not a member"},
	} {
		tr, _ := dial(t, c.self, addr)
		f, err := tr.Fetch(t.Context(), 2, c.id)
		if err == nil {
			_, err = f.Recv()
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tr.Fetch(t.Context(), 3, 7); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
}

// diary is what a node knows of starts: it refuses those whom it is told to.
type diary struct {
	knows string
	bad   string // is refused
	mu    sync.Mutex
	heard []string
}

func (d *diary) Lives() string { return d.knows }
func (d *diary) HearLives(_ kv.NodeID, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = append(d.heard, text)
	if text == d.bad {
		return errors.New("put back from a copy")
	}
	return nil
}

// Both ends tell how often nodes were started before a message is taken, and who is refused for it hears
// what the other knows (R20).
func TestOldDirectoriesAreTurnedAway(t *testing.T) {
	for name, c := range map[string]struct{ caller, called *diary }{
		"the caller's is old": {&diary{knows: "old", bad: "none"}, &diary{knows: "new", bad: "old"}},
		"the called's is old": {&diary{knows: "new", bad: "old"}, &diary{knows: "old", bad: "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			addr, _ := serve(t, "127.0.0.1:0", raftrpc.Member{Cluster: "c", Node: 2, Lives: c.called},
				func([]raft.Message) { t.Error("a message of an old directory, or for one") })
			tr, l := dial(t, raftrpc.Member{Cluster: "c", Node: 1, Lives: c.caller}, addr)
			wait(t, l, "put back from a copy")
			tr.Send([]raft.Message{message(t, 1, 2, 1, nil)})
			for who, d := range map[string]*diary{"the caller": c.caller, "the called": c.called} {
				d.mu.Lock()
				if len(d.heard) == 0 || d.heard[0] == d.knows || d.heard[0] == "" {
					t.Errorf("%s has heard %q", who, d.heard)
				}
				d.mu.Unlock()
			}
		})
	}
}
