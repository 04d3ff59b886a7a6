package oracle

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
	"moka/kv/node"
	"moka/kv/raft"
	rafthost "moka/kv/raft/host"
)

// members are the nodes of a cluster in one process, each with its part of the oracle, and a network between
// them that can be cut.
type members struct {
	t *testing.T

	mu      sync.Mutex
	nodes   [3]*node.Node
	oracles [3]*Host
	disks   [3]*vfs.MemFS
	cut     [3]bool
}

// link is the network as one of them sees it.
type link struct {
	c    *members
	from int
}

func (w link) Send(ms []raft.Message) {
	for _, m := range ms {
		b, err := m.Encode()
		if err != nil {
			w.c.t.Error(err)
			continue
		}
		sent, err := raft.DecodeMessage(m.Shard, b)
		if err != nil {
			w.c.t.Error(err)
			continue
		}
		to := int(m.GetTo()) - 1
		w.c.mu.Lock()
		n := w.c.nodes[to]
		if w.c.cut[to] || w.c.cut[w.from] {
			n = nil
		}
		w.c.mu.Unlock()
		if n != nil {
			n.Deliver([]raft.Message{sent})
		}
	}
}

func (link) Fetch(context.Context, kv.NodeID, kv.ShardID) (rafthost.Feed, error) {
	return nil, errors.New("no snapshots here")
}

func (c *members) start(i int) {
	oracles := NewHost(func() string { return "" })
	o := node.Options{
		Dir: "data", CacheBytes: 8 << 20, FS: c.disks[i], BalanceEvery: -1,
		Fatal: func(err error) { c.t.Error(err) },
		Coprocessors: []kv.Coprocessor{replicated.New(replicated.Options{
			Shard: node.MetaShard,
			Lead: func(svc coord.Service, lease replicated.Lease) func() {
				return oracles.Lead(Start(svc, Options{Lease: lease}))
			},
			TakeOver: func(func(local.Store, []byte) error) error {
				return errors.New("nothing to take over")
			},
		})},
		Cluster: &node.Cluster{
			Self: kv.NodeID(i + 1), Members: []kv.NodeID{1, 2, 3},
			Raft:  raft.Options{ElectionTimeout: 200 * time.Millisecond},
			Found: func(string) (node.Founding, error) { return node.Founding{ID: "c", Shards: 1}, nil },
		},
		Logger: slog.New(slog.DiscardHandler),
	}
	n, err := node.Open(o)
	if err != nil {
		c.t.Fatal(err)
	}
	// Before it takes part: messages that come earlier are for nobody.
	if err := n.Replicate(link{c, i}); err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i], c.oracles[i] = n, oracles
}

// stop ends a node; its disk keeps what a crash would leave.
func (c *members) stop(i int) {
	c.mu.Lock()
	n := c.nodes[i]
	c.nodes[i] = nil
	c.disks[i] = c.disks[i].CrashClone(vfs.CrashCloneCfg{})
	c.mu.Unlock()
	if err := n.Close(); err != nil {
		c.t.Error(err)
	}
}

func (c *members) isolate(i int, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[i] = cut
}

// leader is who hands out timestamps, or thinks so.
func (c *members) leader() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.oracles {
		if c.nodes[i] != nil && !c.cut[i] && o.leads() {
			return i
		}
	}
	return -1
}

// Timestamps of a cluster only grow, over all who ask any of its members, while leaders crash, hand over, and
// are cut off without knowing that others have elected another one. All are asked, leaders or not: what a
// deposed one gives away would be lower than what its successor has handed out already.
func TestTimestampsGrowOverLeaders(t *testing.T) {
	c := &members{t: t}
	for i := range c.disks {
		c.disks[i] = vfs.NewCrashableMem()
		c.start(i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var log orderLog
	var wg sync.WaitGroup
	stop, progress := make(chan struct{}), make(chan int, 1<<16)
	for i := range 3 {
		for range 2 {
			wg.Go(func() {
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					c.mu.Lock()
					o := c.oracles[i]
					c.mu.Unlock()
					call, done := context.WithTimeout(ctx, time.Second)
					err := log.do(i, func() (Batch, error) {
						if b, ok := o.tryNext(1); ok {
							return b, nil
						}
						return o.Next(call, 1+n%100)
					})
					done()
					if err == nil {
						select {
						case progress <- i:
						default:
						}
					}
					pause := time.Millisecond // nobody is asked all the time
					select {
					case <-time.After(pause):
					case <-stop:
						return
					}
				}
			})
		}
	}
	// some waits for timestamps of others than one that is out of reach.
	some := func(n, but int) {
		for n > 0 {
			select {
			case i := <-progress:
				if i != but {
					n--
				}
			case <-ctx.Done():
				t.Fatal("no timestamps")
			}
		}
	}
	drain := func() {
		for len(progress) > 0 {
			<-progress
		}
	}
	for round := range 9 {
		some(20, -1)
		at := c.leader()
		if at < 0 {
			at = rand.IntN(3)
		}
		switch round % 3 {
		case 0: // it is cut off, and goes on answering as long as it thinks that it may
			c.isolate(at, true)
			drain()
			some(20, at)
			c.isolate(at, false)
		case 1:
			c.stop(at)
			drain()
			some(20, at)
			c.start(at)
		case 2:
			if err := c.nodes[at].HandOver(ctx); err != nil {
				t.Error(err)
			}
			drain()
		}
	}
	some(20, -1)
	close(stop)
	wg.Wait()
	log.check(t)
	t.Logf("%d answers", len(log.ops))
	for i := range c.nodes {
		c.stop(i)
	}
}

// lease is one that somebody takes away.
type lease struct {
	mu   sync.Mutex
	lost bool
}

func (l *lease) Lease(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return errors.New("another one leads")
	}
	return nil
}

func (l *lease) Leased() bool { return l.Lease(context.Background()) == nil }

// The lease is asked for behind the taking: a server that is deposed in between keeps what it took, though
// its session, which is of the same process, knows nothing of it. (Mistake 41 of the design.)
func TestLeaseBehindTaking(t *testing.T) {
	svc, clock := newCoord(t)
	var l lease
	var lose bool
	s := lead(t, svc, Options{Clock: clock, Lease: &l, afterTake: func() {
		if lose {
			l.mu.Lock()
			l.lost = true
			l.mu.Unlock()
		}
	}})
	next(t, s, 1)
	if _, ok := s.tryNext(1); !ok {
		t.Error("a leader with a lease answers nothing")
	}
	lose = true
	if b, err := s.Next(t.Context(), 1); !errors.Is(err, ErrFenced) {
		t.Errorf("a deposed leader answers %v, %v", b, err)
	}
	if b, ok := s.tryNext(1); ok {
		t.Errorf("a deposed leader answers %v", b)
	}
	if m := s.Metrics(); m.Withheld == 0 {
		t.Error("the withheld answer was not counted")
	}
}
