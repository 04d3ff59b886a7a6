package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	groupDisk kv.GroupID = 200
	groupMem  kv.GroupID = 201

	cmdAppend kv.CommandID = 1
	cmdRead   kv.CommandID = 2
	cmdPoll   kv.CommandID = 3
)

// lists is a coprocessor of rows that are lists of numbers. Each number also leaves a mark in memory, and
// takes that of the one before away.
type lists struct{}

type message struct {
	Row  kv.RowKey
	X    uint64
	List []uint64
}

func (*message) AppendTo(b []byte) []byte { return b }
func (*message) Decode([]byte) error      { return nil }

func (lists) Name() string                          { return "lists" }
func (lists) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }
func (lists) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{{ID: groupDisk, Name: "disk"}, {ID: groupMem, Name: "mem", InMemory: true}}
}

func disk(row kv.RowKey) kv.Address {
	return kv.Address{Group: groupDisk, Column: kv.Column{Row: row, Family: 1}}
}
func mark(row kv.RowKey) kv.Address {
	return kv.Address{Group: groupMem, Column: kv.Column{Row: row, Family: 1}}
}

func numbers(b []byte) (xs []uint64) {
	for ; len(b) >= 8; b = b[8:] {
		xs = append(xs, binary.BigEndian.Uint64(b))
	}
	return xs
}

func (lists) Commands() []kv.Command {
	fresh := func() kv.Message { return new(message) }
	return []kv.Command{
		{
			ID: cmdAppend, Name: "append", Write: true, NewRequest: fresh, NewResponse: fresh,
			Rows: func(m kv.Message, rows []kv.RowKey) []kv.RowKey { return append(rows, m.(*message).Row) },
			Evaluate: func(e kv.Eval, m kv.Message) (kv.Message, error) {
				r := m.(*message)
				old, _, err := e.Get(disk(r.Row), 1)
				if err != nil {
					return nil, err
				}
				if n := uint64(len(old) / 8); n > 0 {
					if _, ok, err := e.Get(mark(r.Row), kv.Timestamp(n)); err != nil || !ok {
						return nil, errors.Join(fmt.Errorf("%d numbers, and no mark", n), err)
					}
					e.Delete(mark(r.Row), kv.Timestamp(n))
				}
				e.Set(disk(r.Row), 1, binary.BigEndian.AppendUint64(old, r.X))
				e.Set(mark(r.Row), kv.Timestamp(len(old)/8+1), []byte("here"))
				return &message{List: append(numbers(old), r.X)}, nil
			},
		},
		{
			ID: cmdRead, Name: "read", NewRequest: fresh, NewResponse: fresh,
			Evaluate: func(e kv.Eval, m kv.Message) (kv.Message, error) {
				b, _, err := e.Get(disk(m.(*message).Row), 1)
				return &message{List: numbers(b)}, err
			},
		},
		{
			ID: cmdPoll, Name: "poll", NewRequest: fresh, NewResponse: fresh,
			Evaluate: func(e kv.Eval, m kv.Message) (kv.Message, error) {
				<-e.Context().Done()
				return nil, context.Cause(e.Context())
			},
		},
	}
}

const shards = 2

// node is one process: an engine on a disk that forgets what was not synced, replicas of all shards, a host.
type node struct {
	id       kv.NodeID
	c        *cluster
	fs       *vfs.MemFS
	e        *engine.Engine
	registry *shard.Registry
	replicas []*shard.Replica
	host     *host.Host
}

// cluster is three nodes in one process, and the network between them.
type cluster struct {
	t     *testing.T
	o     raft.Options
	mu    sync.Mutex
	nodes []*node // nil: down
	cut   map[kv.NodeID]bool
	// chunk hears of each chunk of a snapshot that is on its way.
	chunk func(from, to kv.NodeID, id kv.ShardID)
	full  [8]atomic.Bool // the disks of nodes
	under [8]atomic.Int64
	slow  [8]sync.Mutex
	loss  float64 // how often a message is lost, and how often it comes twice
}

// Send implements host.Transport.
func (n *node) Send(ms []raft.Message) {
	for _, m := range ms {
		// Over the wire, so that nobody shares memory.
		b, err := m.Encode()
		if err != nil {
			n.c.t.Error(err)
		}
		copied, err := raft.DecodeMessage(m.Shard, b)
		if err != nil {
			n.c.t.Error(err)
		}
		n.c.mu.Lock()
		to := n.c.nodes[raft.Node(m.GetTo())-1]
		if n.c.cut[n.id] || n.c.cut[raft.Node(m.GetTo())] || n.c.nodes[n.id-1] != n ||
			rand.Float64() < n.c.loss {
			to = nil
		}
		again := rand.Float64() < n.c.loss
		n.c.mu.Unlock()
		if to != nil {
			to.host.Deliver([]raft.Message{copied})
		}
		if to != nil && again {
			to.host.Deliver([]raft.Message{copied})
		}
	}
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, cut: map[kv.NodeID]bool{}, o: raft.Options{ElectionTimeout: 300 * time.Millisecond}}
	c.nodes = make([]*node, 3)
	for i := range c.nodes {
		fs := vfs.NewCrashableMem()
		e := openEngine(t, fs)
		b := e.NewBatch()
		var ids []kv.ShardID
		for id := kv.ShardID(1); id <= shards; id++ {
			ids = append(ids, id)
			tablet := kv.Tablet{ID: kv.TabletID(id), Generation: 1, Shard: id, Span: span(id)}
			if err := shard.PutTablet(b, tablet); err != nil {
				t.Fatal(err)
			}
		}
		host.Bootstrap(b, ids, []kv.NodeID{1, 2, 3})
		e.Commit(b)
		b.Close()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		c.start(kv.NodeID(i+1), fs)
	}
	t.Cleanup(func() {
		for _, n := range c.nodes {
			if n != nil {
				n.stop()
			}
		}
	})
	return c
}

func row(id kv.ShardID, name string) kv.RowKey {
	return kv.MakeRowKey(kv.TableTxn, append([]byte{byte(id)}, name...))
}

func refs(id kv.ShardID) []kv.TabletRef { return []kv.TabletRef{{ID: kv.TabletID(id), Generation: 1}} }

func span(id kv.ShardID) kv.Span { return kv.Span{Start: row(id, ""), End: row(id+1, "")} }

func openEngine(t *testing.T, fs vfs.FS) *engine.Engine {
	e, err := engine.Open("data", engine.Options{FS: fs, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (c *cluster) start(id kv.NodeID, fs *vfs.MemFS) {
	n := &node{id: id, c: c, fs: fs, e: openEngine(c.t, fs)}
	c.under[id].Store(0)
	var err error
	if n.registry, err = shard.NewRegistry([]kv.Coprocessor{lists{}}); err != nil {
		c.t.Fatal(err)
	}
	n.replicas = make([]*shard.Replica, shards)
	var here []*shard.Replica
	for i := range n.replicas {
		has, err := host.Has(n.e, id, kv.ShardID(i+1))
		if has && err == nil {
			n.replicas[i], err = n.open(kv.ShardID(i + 1))
			here = append(here, n.replicas[i])
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	c.mu.Lock() // messages come as soon as it is there
	defer c.mu.Unlock()
	n.host, err = host.Start(host.Options{
		Engine: smallDisk{n.e, c.t, &c.full[id], &c.under[id], &c.slow[id]}, Node: id, Replicas: here,
		Transport: n,
		Raft:      c.o, Create: n.create, Gone: n.gone,
		Logger: slog.New(slog.DiscardHandler),
		Fatal:  func(err error) { c.t.Errorf("node %d: %v", id, err) },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.nodes[id-1] = n
}

func (n *node) open(id kv.ShardID) (*shard.Replica, error) {
	return shard.Open(shard.Options{ID: id, Engine: n.e, Registry: n.registry})
}

// create and gone are called by the host, whose replicas come and go.
func (n *node) create(id kv.ShardID) (*shard.Replica, error) {
	r, err := n.open(id)
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	n.replicas[id-1] = r
	return r, err
}

func (n *node) gone(id kv.ShardID) {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	n.replicas[id-1] = nil
}

// stop is a planned end.
func (n *node) stop() {
	n.c.mu.Lock()
	rs := slices.Clone(n.replicas)
	n.c.mu.Unlock()
	for _, r := range rs {
		if r == nil {
			continue
		}
		if err := r.Close(); err != nil {
			n.c.t.Error(err)
		}
	}
	n.host.Close()
	if err := n.e.Close(); err != nil {
		n.c.t.Error(err)
	}
}

// crash takes a node's disk as a power cut would leave it, and only then ends the process.
func (c *cluster) crash(id kv.NodeID) *vfs.MemFS {
	c.mu.Lock()
	n := c.nodes[id-1]
	c.nodes[id-1] = nil
	chance := rand.New(rand.NewPCG(rand.Uint64(), 1))
	fs := n.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rand.IntN(101), RNG: chance})
	c.mu.Unlock()
	n.stop()
	return fs
}

var nothingHappened = []kv.Code{kv.CodeNotLeader, kv.CodeUnavailable, kv.CodeClosed, kv.CodeBusy}

// call runs a command wherever the shard is led. What is refused is tried again.
func (c *cluster) call(ctx context.Context, id kv.ShardID, cmd kv.CommandID, m *message) (*message, error) {
	at := kv.NodeID(rand.IntN(len(c.nodes)) + 1)
	for {
		c.mu.Lock()
		n := c.nodes[at-1]
		var r *shard.Replica
		if n != nil {
			r = n.replicas[id-1]
		}
		c.mu.Unlock()
		err := error(kv.Errorf(kv.CodeUnavailable, "test", "down"))
		if r != nil {
			registered, _ := n.registry.Command(cmd)
			var resp kv.Message
			resp, err = r.Run(ctx, registered, refs(id), m)
			if err == nil {
				return resp.(*message), nil
			}
		}
		var e *kv.Error
		switch {
		case ctx.Err() != nil, !errors.As(err, &e):
			return nil, err
		case e.Code == kv.CodeNotLeader && e.Lead.Node != 0 && e.Lead.Node != at:
			at = e.Lead.Node
		case slices.Contains(nothingHappened, e.Code):
			at = at%kv.NodeID(len(c.nodes)) + 1
		default:
			return nil, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// What was acknowledged is there once, in order, and on all replicas alike, also in memory; whatever dies,
// and with what its disk had synced only, whoever is cut off, over a network that loses messages and brings
// others twice. What is unknown is there once or not at all. Who reads finds all that was acknowledged
// before.
func TestKillsUnderLoad(t *testing.T) {
	c := newCluster(t)
	const writers, kills = 6, 6
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stop := make(chan struct{})
	var acked, unknown [writers][]uint64
	var ackedOf [shards]atomic.Int64
	var reads atomic.Int64
	some := make(chan struct{}, 1024)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := uint64(1); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				x := uint64(w)<<32 | i
				id := kv.ShardID(w%shards + 1)
				resp, err := c.call(ctx, id, cmdAppend, &message{Row: row(id, "list"), X: x})
				switch {
				case err == nil && resp.List[len(resp.List)-1] == x:
					acked[w] = append(acked[w], x)
					ackedOf[id-1].Add(1)
					select {
					case some <- struct{}{}:
					default:
					}
				case errors.Is(err, kv.ErrOutcomeUnknown):
					unknown[w] = append(unknown[w], x)
				default:
					t.Errorf("writer %d: %v, %v", w, resp, err)
					return
				}
			}
		})
	}
	for id := kv.ShardID(1); id <= shards; id++ {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := ackedOf[id-1].Load()
				resp, err := c.call(ctx, id, cmdRead, &message{Row: row(id, "list")})
				if err != nil {
					t.Errorf("shard %d, a read: %v", id, err)
					return
				}
				reads.Add(1)
				if len(resp.List) < int(before) {
					t.Errorf("shard %d: a read finds %d, and %d were acknowledged before it", id,
						len(resp.List),
						before)
				}
			}
		})
	}
	c.mu.Lock()
	c.loss = 0.02
	c.mu.Unlock()
	for k := range kills {
		c.mu.Lock() // somebody else than who dies next is cut off for a while
		c.cut = map[kv.NodeID]bool{kv.NodeID((k+1)%3 + 1): true}
		c.mu.Unlock()
		for range 100 {
			select {
			case <-some:
			case <-ctx.Done():
				t.Fatal("no progress with a node that is cut off")
			}
		}
		c.mu.Lock()
		c.cut = map[kv.NodeID]bool{}
		c.mu.Unlock()
		for range 100 {
			select {
			case <-some:
			case <-ctx.Done():
				t.Fatal("no progress")
			}
		}
		id := kv.NodeID(k%3 + 1)
		fs := c.crash(id)
		for range 100 {
			select {
			case <-some:
			case <-ctx.Done():
				t.Fatal("no progress without a node")
			}
		}
		c.start(id, fs)
	}
	close(stop)
	wg.Wait()
	if reads.Load() == 0 {
		t.Error("nobody has read")
	}
	seen := map[uint64]int{}
	for id := kv.ShardID(1); id <= shards; id++ {
		resp, err := c.call(ctx, id, cmdRead, &message{Row: row(id, "list")})
		if err != nil {
			t.Fatal(err)
		}
		last := map[uint64]uint64{}
		for _, x := range resp.List {
			seen[x]++
			if w := x >> 32; last[w] >= x {
				t.Errorf("%x is behind %x", x, last[w])
			} else {
				last[w] = x
			}
		}
	}
	for w := range writers {
		for _, x := range acked[w] {
			if seen[x] != 1 {
				t.Errorf("%x was acknowledged and is there %d times", x, seen[x])
			}
			delete(seen, x)
		}
		for _, x := range unknown[w] {
			if seen[x] > 1 {
				t.Errorf("%x is there %d times", x, seen[x])
			}
			delete(seen, x)
		}
	}
	if len(seen) > 0 {
		t.Errorf("%d are there that nobody wrote, or that were refused", len(seen))
	}
	c.settle(ctx)
	var first string
	for _, n := range c.nodes {
		if image := n.image(t); first == "" {
			first = image
		} else if image != first {
			t.Errorf("node %d has another state than node 1", n.id)
		}
	}
}

// settle waits until all replicas have the same log in their state.
func (c *cluster) settle(ctx context.Context) {
	for {
		same := true
		for id := kv.ShardID(1); id <= shards; id++ {
			first := c.nodes[0].host.Status(id)
			for _, n := range c.nodes {
				s := n.host.Status(id)
				same = same && s.Applied == s.Last && s.Applied == first.Applied && s.Leader != 0
				if s.Stale != 0 {
					c.t.Fatalf("node %d, shard %d: %d entries had no effect", n.id, id, s.Stale)
				}
			}
		}
		if same {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			c.t.Fatal("the replicas do not come together")
		}
	}
}

// image is a node's state, and sees that what is in memory is what is on disk.
func (n *node) image(t *testing.T) string {
	var b bytes.Buffer
	for _, r := range n.replicas {
		lower, upper := keys.ShardSpan(r.ID())
		err := n.e.Scan(lower, upper, func(k, v []byte) error {
			fmt.Fprintf(&b, "%x=%x\n", k, v)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var onDisk, inMemory []string
		lower, upper = keys.GroupSpan(r.ID(), groupMem)
		err = n.e.Scan(lower, upper, func(k, _ []byte) error {
			onDisk = append(onDisk, fmt.Sprintf("%x", k))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.InMemory(groupMem).Ascend(0, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			key := keys.AppendVersion(keys.AppendColumn(nil, r.ID(), a), v.Timestamp)
			inMemory = append(inMemory, fmt.Sprintf("%x", key))
			return true
		})
		if !slices.Equal(onDisk, inMemory) || len(onDisk) != 1 {
			t.Errorf("node %d, shard %d: in memory are %v, on disk %v", n.id, r.ID(), inMemory, onDisk)
		}
	}
	return b.String()
}

// leader waits for a shard's, and returns its node.
func (c *cluster) leader(ctx context.Context, id kv.ShardID) *node {
	if _, err := c.call(ctx, id, cmdRead, &message{Row: row(id, "list")}); err != nil {
		c.t.Fatal(err)
	}
	for _, n := range c.nodes {
		if n != nil && n.host.Status(id).Leading {
			return n
		}
	}
	return c.leader(ctx, id)
}

// A leader that hears of nobody answers nothing any more, neither reads nor long polls nor writes, and says
// that it does not lead.
func TestLeaderThatIsCutOff(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.call(ctx, 1, cmdAppend, &message{Row: row(1, "list"), X: 1}); err != nil {
		t.Fatal(err)
	}
	n := c.leader(ctx, 1)
	run := func(cmd kv.CommandID) error {
		r, _ := n.registry.Command(cmd)
		_, err := n.replicas[0].Run(ctx, r, refs(1), &message{Row: row(1, "list"), X: 2})
		return err
	}
	polled := make(chan error, 1)
	go func() { polled <- run(cmdPoll) }()
	c.mu.Lock()
	c.cut[n.id] = true
	c.mu.Unlock()
	if err := run(cmdAppend); !errors.Is(err, kv.ErrOutcomeUnknown) && !errors.Is(err, kv.ErrNotLeader) {
		t.Errorf("a write at a leader that is alone: %v", err)
	}
	if err := <-polled; !errors.Is(err, kv.ErrNotLeader) {
		t.Errorf("a long poll: %v", err)
	}
	if err := run(cmdRead); !errors.Is(err, kv.ErrNotLeader) {
		t.Errorf("a read: %v", err)
	}
	c.mu.Lock()
	c.nodes[n.id-1] = nil // nobody asks it
	c.mu.Unlock()
	resp, err := c.call(ctx, 1, cmdAppend, &message{Row: row(1, "list"), X: 3})
	if err != nil || !slices.Equal(resp.List, []uint64{1, 3}) {
		t.Errorf("at the next leader: %v, %v", resp, err)
	}
	c.mu.Lock()
	c.nodes[n.id-1] = n
	c.cut = map[kv.NodeID]bool{}
	c.mu.Unlock()
	c.settle(ctx)
	if err := run(cmdRead); err != nil && !errors.Is(err, kv.ErrNotLeader) {
		t.Errorf("back again: %v", err)
	}
}

// Splits are entries: all replicas have the tablets that the leader has, also where many entries come at
// once.
func TestTabletsFollowTheLeader(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := c.leader(ctx, 1)
	away := n.id%3 + 1
	c.mu.Lock()
	c.cut[away] = true // it gets everything at once, later
	c.mu.Unlock()
	cmd, _ := n.registry.Command(cmdAppend)
	next := kv.TabletID(10)
	for _, at := range []string{"m", "g", "c"} {
		left, right, err := n.replicas[0].Split(ctx, 1, row(1, at), next)
		if err != nil {
			t.Fatal(err)
		}
		next++
		for name, tablet := range map[string]kv.Tablet{"a": left, at + "x": right} {
			ref := kv.TabletRef{ID: tablet.ID, Generation: tablet.Generation}
			m := &message{Row: row(1, name), X: 1}
			if _, err := n.replicas[0].Run(ctx, cmd, []kv.TabletRef{ref}, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.mu.Lock()
	c.cut = map[kv.NodeID]bool{}
	c.mu.Unlock()
	c.settle(ctx)
	want := fmt.Sprint(n.replicas[0].Tablets())
	for _, n := range c.nodes {
		if got := fmt.Sprint(n.replicas[0].Tablets()); got != want || len(n.replicas[0].Tablets()) != 4 {
			t.Errorf("node %d has tablets %v, want %v", n.id, got, want)
		}
		if n.replicas[0].Stats().Stale != 0 {
			t.Errorf("node %d: entries had no effect", n.id)
		}
	}
}

// A lead is handed on to who is asked for. (Who was just started keeps silent for a while, and does not take
// it.)
func TestTransfer(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := c.leader(ctx, 2)
	to := n.id%3 + 1
	for ; n.id != to; n = c.leader(ctx, 2) {
		n.host.Transfer(2, to)
	}
}

// A leader that is cut off does not know of its successor. What it has in its state may be read as long as
// the lease holds, and never behind what the successor has acknowledged.
func TestNoReadOfThePast(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for round := range uint64(4) {
		n := c.leader(ctx, 1)
		cmd, _ := n.registry.Command(cmdRead)
		var acked atomic.Uint64
		acked.Store(round)
		cut, gone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			for first := true; ; first = false {
				before := acked.Load()
				resp, err := n.replicas[0].Run(ctx, cmd, refs(1), &message{Row: row(1, "list")})
				if first {
					close(cut)
				}
				if err != nil {
					if before > round || ctx.Err() != nil {
						return
					}
					continue
				}
				if got := uint64(len(resp.(*message).List)); got < before {
					t.Errorf("round %d: a leader that is cut off reads %d, and %d were acknowledged "+
						"before", round, got, before)
					return
				}
			}
		}()
		<-cut
		c.mu.Lock()
		c.cut[n.id] = true
		c.nodes[n.id-1] = nil // nobody else asks it
		c.mu.Unlock()
		if _, err := c.call(ctx, 1, cmdAppend, &message{Row: row(1, "list"), X: round}); err != nil {
			t.Fatal(err)
		}
		acked.Store(round + 1)
		<-gone
		c.mu.Lock()
		c.cut = map[kv.NodeID]bool{}
		c.nodes[n.id-1] = n
		c.mu.Unlock()
		c.settle(ctx)
	}
}
