package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/node"
	"moka/kv/wire"
)

// gate holds back the syncs of the log while it is closed.
type gate struct {
	mu      sync.Mutex
	closed  chan struct{} // non-nil while closed; closing it lets everybody through
	reached chan struct{} // gets one for each sync that is held back
}

func newGate() *gate { return &gate{reached: make(chan struct{}, 1000)} }

func (g *gate) fs(base vfs.FS) vfs.FS {
	return errorfs.Wrap(base, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			if filepath.Ext(op.Path) == ".log" {
				g.wait()
			}
		}
		return nil
	}))
}

func (g *gate) wait() {
	g.mu.Lock()
	c := g.closed
	g.mu.Unlock()
	if c != nil {
		g.reached <- struct{}{}
		<-c
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	g.closed = nil
}

// What others see of a write whose log record is not synced yet: its locks are there, those it removes are still there, nobody
// is told, no other writer gets at the row, and a raw reader who has seen it gets no answer.
func TestVisibility(t *testing.T) {
	g := newGate()
	var announced atomic.Int64
	n := open(t, node.Options{FS: g.fs(vfs.NewMem()), Shards: 2, BalanceEvery: -1, Coprocessors: []kv.Coprocessor{scratch{
		opened: func(h kv.ShardHandle) {
			h.InMemory(groupMem).OnSet(func(kv.Address, kv.Version) { announced.Add(1) })
		},
	}}})
	defer closeNode(t, n)
	ctx := context.Background()
	s, _ := n.Shard(1)
	mem := s.InMemory(groupMem)
	old, lock, guard, data := cell(groupMem, "a", "old"), cell(groupMem, "a", "new"), cell(groupMem, "a", "guard"), cell(groupDisk, "a", "v")
	if err := write(ctx, n, 1, nil, op{Addr: old, TS: 1, Value: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	announced.Store(0)
	has := func(a kv.Address, ts kv.Timestamp) bool {
		_, ok, err := s.Reader().Get(a, ts)
		if err != nil {
			t.Error(err)
		}
		return ok
	}

	g.close()
	var released, durable atomic.Bool
	wrote := make(chan error, 1)
	go func() {
		_, err := n.Handle(ctx, 1, nil, cmdFunc, &funcRequest{Rows: []kv.RowKey{old.Row}, F: func(e kv.Eval) (kv.Message, error) {
			e.Guard(guard, 9, []byte("guard"))
			if !has(guard, 9) {
				t.Error("a guard is not there at once")
			}
			e.Set(lock, 2, []byte("lock"))
			e.Delete(old, 1)
			e.Set(data, 2, []byte("value"))
			e.OnDurable(func() { durable.Store(true) })
			return &readResponse{}, nil
		}})
		if !released.Load() {
			t.Error("the write was answered before its sync")
		}
		wrote <- err
	}()
	<-g.reached
	if !has(lock, 2) || !has(guard, 9) || !has(old, 1) {
		t.Errorf("before the sync: set %v, guard %v, deleted still there %v; want all", has(lock, 2), has(guard, 9), has(old, 1))
	}
	if mem.Len() != 3 {
		t.Errorf("%d entries, want 3", mem.Len())
	}
	if announced.Load() != 0 || durable.Load() {
		t.Error("hooks ran before the sync")
	}
	read := make(chan []op, 1)
	go func() {
		resp, err := n.Handle(ctx, 1, nil, cmdRead, &readRequest{Opt: kv.IterOptions{Group: groupDisk, Span: kv.Span{Start: txnRow("a"), End: txnRow("b")}}, Await: true})
		if err != nil {
			t.Error(err)
		}
		if !released.Load() {
			t.Error("a raw read was answered from what is not durable")
		}
		read <- resp.(*readResponse).Cells
	}()
	// It would wait: one that is given up meanwhile fails instead of answering.
	gone, giveUp := context.WithCancel(ctx)
	giveUp()
	o := kv.IterOptions{Group: groupDisk, Span: kv.Span{Start: txnRow("a"), End: txnRow("b")}}
	if _, err := n.Handle(gone, 1, nil, cmdRead, &readRequest{Opt: o, Await: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("a raw read of what is not durable: %v", err)
	}
	if _, err := n.Handle(gone, 1, nil, cmdRead, &readRequest{Opt: o}); err != nil {
		t.Errorf("a read that asks for no durability waits: %v", err)
	}
	o.Span = kv.Span{Start: txnRow("b"), End: txnRow("c")}
	if _, err := n.Handle(gone, 1, nil, cmdRead, &readRequest{Opt: o, Await: true}); err != nil {
		t.Errorf("a raw read of other rows waits: %v", err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := n.Handle(ctx, 1, nil, cmdFunc, &funcRequest{Rows: []kv.RowKey{old.Row}, F: func(e kv.Eval) (kv.Message, error) {
			if !released.Load() || !durable.Load() {
				t.Error("another write of the row was evaluated before the sync")
			}
			if has(old, 1) || has(guard, 9) {
				t.Error("the next writer sees what the first removed")
			}
			return &readResponse{}, nil
		}})
		second <- err
	}()
	// Work that asks for no sync goes on meanwhile, also on a row of its own.
	if _, err := n.Handle(ctx, 1, nil, cmdWrite, &writeRequest{NoSync: true, Ops: []op{{Addr: cell(groupDisk, "z", ""), TS: 1}}}); err != nil {
		t.Fatal(err)
	}
	released.Store(true)
	g.open()
	for _, err := range []error{<-wrote, <-second} {
		if err != nil {
			t.Fatal(err)
		}
	}
	<-read
	if has(guard, 9) || has(old, 1) || !has(lock, 2) || announced.Load() != 1 {
		t.Errorf("afterwards: guard %v, deleted %v, set %v, %d announced", has(guard, 9), has(old, 1), has(lock, 2), announced.Load())
	}
}

// A command that fails, panics or is given up leaves nothing behind, not even a guard or a latch.
func TestFailedCommands(t *testing.T) {
	n := open(t, node.Options{})
	defer closeNode(t, n)
	s, _ := n.Shard(1)
	a := cell(groupMem, "a", "")
	boom := errors.New("no")
	ctx, cancel := context.WithCancel(context.Background())
	for name, c := range map[string]struct {
		f    func(e kv.Eval) (kv.Message, error)
		want func(error) bool
	}{
		"error": {func(e kv.Eval) (kv.Message, error) { return nil, boom }, func(err error) bool { return errors.Is(err, boom) }},
		"panic": {func(e kv.Eval) (kv.Message, error) { panic("bug") }, func(err error) bool { return kv.CodeOf(err) == kv.CodeInternal }},
		"cancel": {func(e kv.Eval) (kv.Message, error) { cancel(); return &readResponse{}, nil }, func(err error) bool {
			return errors.Is(err, context.Canceled) && errors.Is(err, kv.ErrUnavailable)
		}},
		"outside": {func(e kv.Eval) (kv.Message, error) {
			e.Set(kv.Address{Group: groupDisk}, 1, nil) // no table id: a row that no tablet can hold
			return &readResponse{}, nil
		}, func(err error) bool { return kv.CodeOf(err) == kv.CodeInternal }},
		"timestamp": {func(e kv.Eval) (kv.Message, error) {
			e.Set(a, kv.MaxTimestamp+1, nil)
			return &readResponse{}, nil
		}, func(err error) bool { return kv.CodeOf(err) == kv.CodeInternal }},
	} {
		call := context.Background()
		if name == "cancel" {
			call = ctx
		}
		_, err := n.Handle(call, 1, nil, cmdFunc, &funcRequest{Rows: []kv.RowKey{a.Row}, F: func(e kv.Eval) (kv.Message, error) {
			e.Set(a, 1, []byte("v"))
			e.Guard(a, 2, nil)
			e.OnDurable(func() { t.Errorf("%s: OnDurable ran", name) })
			return c.f(e)
		}})
		if !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.InMemory(groupMem).Len(); got != 0 {
			t.Errorf("%s: %d entries are left", name, got)
		}
	}
	if err := write(context.Background(), n, 1, nil, op{Addr: a, TS: 1}); err != nil {
		t.Fatal(err)
	}
	if st := n.Stats().Shards[0]; st.Latches != 0 || st.Panics != 1 {
		t.Fatalf("%+v", st)
	}
}

// A batch that sets and deletes the same entry leaves what it says last, in memory as on disk.
func TestSetAndDeleteInOneBatch(t *testing.T) {
	fs := vfs.NewMem()
	n := open(t, node.Options{FS: fs})
	for _, g := range []kv.GroupID{groupDisk, groupMem} {
		x, y := cell(g, "a", "x"), cell(g, "a", "y")
		err := write(context.Background(), n, 1, nil,
			op{Addr: x, TS: 1, Value: []byte("1")}, op{Addr: x, TS: 1, Delete: true}, op{Addr: x, TS: 1, Value: []byte("2")},
			op{Addr: y, TS: 1, Value: []byte("1")}, op{Addr: y, TS: 1, Delete: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s, _ := n.Shard(1)
		for _, g := range []kv.GroupID{groupDisk, groupMem} {
			if v, ok, err := s.Reader().Get(cell(g, "a", "x"), 1); !ok || err != nil || string(v) != "2" {
				t.Fatalf("group %d: x is %q %v %v", g, v, ok, err)
			}
			if _, ok, _ := s.Reader().Get(cell(g, "a", "y"), 1); ok {
				t.Fatalf("group %d: y is there", g)
			}
		}
		closeNode(t, n)
		n = open(t, node.Options{FS: fs})
	}
	closeNode(t, n)
}

// Close ends a read that blocks, waits for it, and refuses what comes later.
func TestClose(t *testing.T) {
	blocked := make(chan struct{})
	n := open(t, node.Options{Coprocessors: []kv.Coprocessor{blocker{blocked: blocked}}})
	done := make(chan error, 1)
	go func() {
		_, err := n.Handle(context.Background(), 1, nil, 125, &readRequest{})
		done <- err
	}()
	<-blocked
	closeNode(t, n)
	if err := <-done; !errors.Is(err, kv.ErrClosed) {
		t.Fatalf("the blocked read: %v", err)
	}
	if _, err := n.Handle(context.Background(), 1, nil, 125, &readRequest{}); !errors.Is(err, kv.ErrClosed) {
		t.Fatalf("a later read: %v", err)
	}
	if _, _, err := n.Split(context.Background(), txnRow("x")); !errors.Is(err, kv.ErrClosed) {
		t.Fatalf("a later split: %v", err)
	}
	closeNode(t, n)
}

type blocker struct {
	scratch
	blocked chan struct{}
	look    chan struct{} // nil: block until the context ends
}

func (b blocker) Commands() []kv.Command {
	return append(b.scratch.Commands(), kv.Command{
		ID: 125, Name: "blocker.Wait",
		NewRequest:  func() kv.Message { return new(readRequest) },
		NewResponse: func() kv.Message { return new(readResponse) },
		Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
			close(b.blocked)
			if b.look != nil {
				<-b.look
				return &readResponse{}, nil
			}
			<-e.Context().Done()
			return nil, e.Context().Err()
		},
	})
}

// What a crash in the middle of a move left at the destination is removed when it is opened: it must not come back to life
// when the tablet arrives later.
func TestInterruptedMove(t *testing.T) {
	fs := vfs.NewMem()
	o := node.Options{FS: fs, Shards: 2, BalanceEvery: -1}
	n := open(t, o)
	live, stale := cell(groupDisk, "a", "live"), cell(groupDisk, "a", "stale")
	if err := write(context.Background(), n, 1, nil, op{Addr: live, TS: 1, Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	tablet := n.Tablets()[1]
	closeNode(t, n)

	e, err := engine.Open("data", engine.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	announcement := wire.AppendTablet([]byte{1}, tablet)
	if err := b.Set(keys.AppendState(nil, 2, keys.StateMove, uint64(tablet.ID)), announcement, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Set(keys.AppendVersion(keys.AppendColumn(nil, 2, stale), 1), []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
	b.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	n = open(t, o)
	if _, err := n.Move(context.Background(), tablet.ID, 2); err != nil {
		t.Fatal(err)
	}
	s, _ := n.Shard(2)
	if _, ok, err := s.Reader().Get(live, 1); !ok || err != nil {
		t.Fatalf("the row did not move (%v)", err)
	}
	if _, ok, _ := s.Reader().Get(stale, 1); ok {
		t.Fatal("a leftover came back to life")
	}
	// A move that is given up leaves nothing either, and the tablet works on where it was.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	big := writeRequest{}
	for i := range 3000 {
		big.Ops = append(big.Ops, op{Addr: cell(groupDisk, "big", fmt.Sprint(i)), TS: 1, Value: make([]byte, 1000)})
	}
	if _, err := n.Handle(context.Background(), 2, nil, cmdWrite, &big); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Move(ctx, tablet.ID, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("the move was not given up: %v", err)
	}
	if err := write(context.Background(), n, 2, nil, op{Addr: live, TS: 2, Value: []byte("w")}); err != nil {
		t.Fatal(err)
	}
	s, _ = n.Shard(1)
	if _, ok, _ := s.Reader().Get(big.Ops[0].Addr, 1); ok {
		t.Fatal("the copy was not removed")
	}
	closeNode(t, n)
}

// crashPair is where write i of writer w goes: two rows in two groups at once.
func crashPair(w, i int) [4]kv.Address {
	name := func(part string) string { return fmt.Sprintf("%c%d", "amz"[(w+i)%3], w) + part }
	q := fmt.Sprintf("%06d", i)
	return [4]kv.Address{cell(groupDisk, name("x"), q), cell(groupDisk, name("y"), q), cell(groupMem, name("x"), q), cell(groupMem, name("y"), q)}
}

// The machine stops at any moment, also in the middle of splits, merges and moves. What was acknowledged is there; what was not is
// there whole or not at all; the tablets cover the key space and METADATA agrees.
func TestCrash(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			crashOnce(t, seed)
		})
	}
}

func crashOnce(t *testing.T, seed uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fs := vfs.NewCrashableMem()
	o := node.Options{FS: fs, Shards: 3, BalanceEvery: -1, MemTableBytes: 128 << 10}
	n := open(t, o)
	const writers = 6
	var acked [writers]atomic.Int64
	var total atomic.Int64
	progress := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if !crashWrite(t, ctx, n, w, i) {
					cancel()
					return
				}
				acked[w].Store(int64(i) + 1)
				total.Add(1)
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	wg.Go(func() {
		r := &world{t: t, r: rand.New(rand.NewPCG(seed, 2)), n: n, ctx: context.Background()}
		for ctx.Err() == nil {
			r.restructure()
		}
	})
	type crash struct {
		fs    *vfs.MemFS
		acked [writers]int64
	}
	var crashes []crash
	r := rand.New(rand.NewPCG(seed, 3))
	for next := int64(50); len(crashes) < 6 && ctx.Err() == nil; next += int64(r.IntN(400)) {
		for total.Load() < next && ctx.Err() == nil {
			select { // the writers set the pace
			case <-progress:
			case <-ctx.Done():
			}
		}
		var c crash
		for w := range writers {
			c.acked[w] = acked[w].Load() // before the clone: these must be in it
		}
		cfg := vfs.CrashCloneCfg{}
		if len(crashes)%2 == 1 {
			cfg = vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, uint64(next)))}
		}
		c.fs = fs.CrashClone(cfg)
		crashes = append(crashes, c)
	}
	cancel()
	wg.Wait()
	closeNode(t, n)
	for _, c := range crashes {
		o.FS = c.fs
		n := open(t, o)
		(&world{t: t, n: n, ctx: context.Background()}).checkMap()
		for w := range writers {
			crashVerify(t, n, w, int(c.acked[w]))
		}
		closeNode(t, n)
	}
}

// crashWrite makes write i of writer w, wherever its tablets are; false means the test is over. The four cells are one batch only
// while their two rows are in one tablet, which they always are: splits fall between the writers' rows.
func crashWrite(t *testing.T, ctx context.Context, n *node.Node, w, i int) bool {
	pair := crashPair(w, i)
	var ops []op
	for _, a := range pair {
		ops = append(ops, op{Addr: a, TS: kv.Timestamp(i + 1), Value: []byte("v")})
	}
	for ctx.Err() == nil {
		resp, err := n.Handle(ctx, node.MetaShard, nil, bigtable.CommandLookup, &bigtable.LookupRequest{Row: pair[0].Row})
		if err != nil {
			break
		}
		tab := resp.(*bigtable.LookupResponse).Tablets[0]
		err = write(ctx, n, tab.Shard, []kv.TabletRef{{ID: tab.ID, Generation: tab.Generation}}, ops...)
		if err == nil {
			return true
		}
		if !errors.Is(err, kv.ErrMoved) {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return false
		}
	}
	return false
}

func crashVerify(t *testing.T, n *node.Node, w, acked int) {
	t.Helper()
	missing := 0
	for i := 0; missing < 3; i++ {
		there := 0
		pair := crashPair(w, i)
		for _, a := range pair {
			for _, tab := range n.Tablets() {
				if tab.Span.Contains(a.Row) {
					s, _ := n.Shard(tab.Shard)
					if _, ok, err := s.Reader().Get(a, kv.Timestamp(i+1)); err != nil {
						t.Fatal(err)
					} else if ok {
						there++
					}
				}
			}
		}
		switch {
		case there != 0 && there != len(pair):
			t.Fatalf("writer %d: write %d is there in part, %d of %d cells", w, i, there, len(pair))
		case there == 0 && i < acked:
			t.Fatalf("writer %d: write %d is lost, %d were acknowledged", w, i, acked)
		case there == 0:
			missing++
		}
	}
}

// A read that was admitted before its tablet left, and looks after, says so instead of finding nothing.
func TestReadDuringMove(t *testing.T) {
	b := blocker{blocked: make(chan struct{}), look: make(chan struct{})}
	n := open(t, node.Options{Shards: 2, BalanceEvery: -1, Coprocessors: []kv.Coprocessor{b}})
	defer closeNode(t, n)
	ctx := context.Background()
	if err := write(ctx, n, 1, nil, op{Addr: cell(groupDisk, "a", ""), TS: 1}); err != nil {
		t.Fatal(err)
	}
	tablet := n.Tablets()[1]
	done := make(chan error, 1)
	go func() {
		refs := []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation}}
		_, err := n.Handle(ctx, 1, refs, 125, &readRequest{Opt: kv.IterOptions{Group: groupDisk}})
		done <- err
	}()
	<-b.blocked
	if _, err := n.Move(ctx, tablet.ID, 2); err != nil {
		t.Fatal(err)
	}
	close(b.look)
	var e *kv.Error
	if err := <-done; !errors.Is(err, kv.ErrMoved) || !errors.As(err, &e) || len(e.Tablets) != 1 || e.Tablets[0].Shard != 2 {
		t.Fatalf("the read: %v", err)
	}
}
