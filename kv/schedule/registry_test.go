package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/mem"
	"moka/kv/node"
)

func read(t *testing.T, c coord.Service) *Registry {
	t.Helper()
	r, err := Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Numbers are given once, also to nodes that join at the same time, and are greater than those of all
// nodes that anybody knows.
func TestNumbersAreGivenOnce(t *testing.T) {
	c := mem.New(mem.Options{})
	defer c.Close()
	var mu sync.Mutex
	seen := map[kv.NodeID]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id, err := Join(t.Context(), c, fmt.Sprint("a:", i), "", []kv.NodeID{1, 2, 3})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || id < 4 || seen[id] {
				t.Errorf("number %d: %v", id, err)
			}
			seen[id] = true
		})
	}
	wg.Wait()
	if err := SetState(t.Context(), c, 11, Removed, func(*Registry, Node) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if id, err := Join(t.Context(), c, "b:1", "", nil); err != nil || id != 12 {
		t.Errorf("number %d, %v: the last node's, which was removed, comes back", id, err)
	}
}

// A node is up for as long as its session; what it says of itself changes nothing of what is to become of
// it, and one that was removed hears that.
func TestRegister(t *testing.T) {
	ctx := t.Context()
	c := mem.New(mem.Options{})
	defer c.Close()
	session, err := c.NewSession(ctx, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	zone := ""
	register := func(addr string) error {
		return Register(ctx, c, read(t, c), Node{ID: 2, Addr: addr, SQL: "s", Zone: zone}, session.ID())
	}
	if err := register("a:1"); err != nil {
		t.Fatal(err)
	}
	_ = SetState(ctx, c, 2, Draining, func(*Registry, Node) error { return nil })
	if err := register("a:2"); err != nil {
		t.Fatal(err)
	}
	if n, _ := read(t, c).Node(2); n.Addr != "a:2" || n.State != Draining || !n.Here {
		t.Errorf("%+v", n)
	}
	for _, zone = range []string{"a", "b", ""} { // as its last start has said
		if err := register("a:2"); err != nil {
			t.Fatal(err)
		}
		if n, _ := read(t, c).Node(2); n.Zone != zone || n.State != Draining {
			t.Errorf("in zone %q it is %+v", zone, n)
		}
	}
	for _, disk := range []Disk{Short, Short, Full, Roomy, Full} {
		self := Node{ID: 2, Addr: "a:2", SQL: "s", Disk: disk}
		if err := Register(ctx, c, read(t, c), self, session.ID()); err != nil {
			t.Fatal(err)
		}
		if n, _ := read(t, c).Node(2); n.Disk != disk || !n.Here || n.State != Draining {
			t.Errorf("its disk is %q, and it is %+v", disk, n)
		}
	}
	if err := session.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if n, _ := read(t, c).Node(2); n.Here || n.Disk != Roomy {
		t.Errorf("it is up without a session: %+v", n)
	}
	_ = SetState(ctx, c, 2, Removed, func(*Registry, Node) error { return nil })
	if err := register("a:2"); !errors.Is(err, ErrRemoved) {
		t.Errorf("a node that was removed: %v", err)
	}
}

// A node in maintenance may be silent for longer than others, once: behind its next start it is as they are.
func TestMaintenance(t *testing.T) {
	ctx := t.Context()
	c := mem.New(mem.Options{})
	defer c.Close()
	w := newWorld(4, 2)
	sessions := map[kv.NodeID]coord.Session{}
	start := func(id kv.NodeID) {
		t.Helper()
		session, err := c.NewSession(ctx, time.Minute)
		for range 2 { // again and again, as nodes do
			if err == nil {
				err = Register(ctx, c, read(t, c), Node{ID: id, Addr: fmt.Sprint("a:", id)}, session.ID())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		sessions[id], w.down[id] = session, false
	}
	for _, n := range w.Nodes {
		start(n.ID)
	}
	now := time.Unix(1000, 0)
	s := New(Options{Coord: c, Store: store{t: t, w: w}, Shards: []kv.ShardID{1, 2}, DeadAfter: time.Minute,
		Now: func() time.Time { return now }})
	away := func(id kv.NodeID, d time.Duration) {
		t.Helper()
		w.down[id] = true
		_ = sessions[id].Close(ctx)
		for end := now.Add(d); now.Before(end); now = now.Add(time.Second) {
			if err := s.Turn(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := SetPatience(ctx, c, 2, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := Register(ctx, c, read(t, c), Node{ID: 2, Addr: "b:2"}, sessions[2].ID()); err != nil {
		t.Fatal(err) // that it moves is no start
	}
	has := w.replicas()[2]
	if away(2, 9*time.Minute); has == 0 || w.replicas()[2] != has {
		t.Fatalf("within its maintenance its replicas went: it has %d of %d", w.replicas()[2], has)
	}
	start(2)
	if n, _ := read(t, c).Node(2); n.Patience != 0 {
		t.Errorf("it is back, and may still be away for %v", n.Patience)
	}
	if away(2, 2*time.Minute); w.replicas()[2] != 0 {
		t.Errorf("it was away once more, and has %d replicas", w.replicas()[2])
	}
	if err := SetPatience(ctx, c, 99, time.Minute); err == nil {
		t.Error("a node that is none is maintained")
	}
}

// store answers for the leaders of a world's shards.
type store struct {
	kv.Store
	t *testing.T
	w *world
}

func (s store) Call(
	_ context.Context, id kv.ShardID, _ []kv.TabletRef, cmd kv.CommandID, req kv.Message,
) (kv.Message, error) {
	s.w.see()
	x := s.w.Shards[id-1]
	if cmd == node.CommandMembers {
		return &node.MembersResponse{Leader: x.Leader, Term: 7, Members: x.Members, Peers: x.Peers}, nil
	}
	o := req.(*node.OrderRequest)
	s.w.take(s.t, Step{Shard: id, Version: o.Version, Learn: o.Learn, Promote: o.Promote, Remove: o.Remove,
		HandOver: o.HandOver})
	return new(node.MembersRequest), nil
}

// A scheduler empties a node that is to leave, and only then removes it; and makes replicas elsewhere of
// one that is silent, when it has been so for long.
func TestScheduler(t *testing.T) {
	ctx := t.Context()
	c := mem.New(mem.Options{})
	defer c.Close()
	w := newWorld(5, 2)
	sessions := map[kv.NodeID]coord.Session{}
	for _, n := range w.Nodes {
		session, err := c.NewSession(ctx, time.Minute)
		if err == nil {
			err = Register(ctx, c, read(t, c), Node{ID: n.ID, Addr: fmt.Sprint("a:", n.ID)}, session.ID())
		}
		if err != nil {
			t.Fatal(err)
		}
		sessions[n.ID] = session
	}
	now := time.Unix(1000, 0)
	s := New(Options{Coord: c, Store: store{t: t, w: w}, Shards: []kv.ShardID{1, 2}, DeadAfter: time.Minute,
		Now: func() time.Time { return now }})
	turns := func(n int) {
		t.Helper()
		for range n {
			if err := s.Turn(ctx); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
	}
	turns(1)
	if r := read(t, c); r.Replicas != 3 || len(r.Shards) != 2 {
		t.Fatalf("it has not written down what it has seen: %+v", r)
	}
	if err := SetState(ctx, c, 1, Leaving, func(*Registry, Node) error { return nil }); err != nil {
		t.Fatal(err)
	}
	turns(2)
	if n, _ := read(t, c).Node(1); n.State != Leaving {
		t.Errorf("it is %s at once", n.State)
	}
	turns(20)
	if n, _ := read(t, c).Node(1); n.State != Removed || w.replicas()[1] != 0 {
		t.Errorf("node 1 is %s; replicas %v", n.State, w.replicas())
	}
	w.down[2] = true
	_ = sessions[2].Close(ctx)
	turns(30)
	if w.replicas()[2] != 2 {
		t.Errorf("after half a minute its replicas are %v", w.replicas())
	}
	turns(60)
	if n, _ := read(t, c).Node(2); n.State != Up || w.replicas()[2] != 0 {
		t.Errorf("node 2 is %s; replicas %v", n.State, w.replicas())
	}
	// A new scheduler has to see for itself how long somebody is silent.
	w.down[3] = true
	_ = sessions[3].Close(ctx)
	turns(50)
	s = New(s.o)
	turns(50)
	if w.replicas()[3] == 0 {
		t.Error("it believes what the one before has counted")
	}
}
