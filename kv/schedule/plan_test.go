package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"moka/kv"
	"moka/kv/raft"
)

// world plays what leaders do with a plan's steps, one turn after the other.
type world struct {
	View
	down map[kv.NodeID]bool
}

// newWorld has nodes 1 to n, and shards on the first three of them.
func newWorld(n, shards int) *world {
	w := &world{down: map[kv.NodeID]bool{}}
	w.Replicas = 3
	for i := range n {
		w.Nodes = append(w.Nodes, NodeView{ID: kv.NodeID(i + 1), Here: true})
	}
	for i := range shards {
		w.Shards = append(w.Shards, ShardView{ID: kv.ShardID(i + 1), Leader: 1,
			Members: raft.Members{Voters: []uint64{1, 2, 3}, Next: 1}})
	}
	return w
}

func (w *world) node(id kv.NodeID) *NodeView { return &w.Nodes[id-1] }

// see makes what leaders tell of their followers.
func (w *world) see() {
	for i := range w.Shards {
		s := &w.Shards[i]
		s.Peers = nil
		for _, r := range s.Members.All() {
			s.Peers = append(s.Peers, raft.Peer{Replica: r, Match: 1000, There: !w.down[raft.Node(r)]})
		}
	}
}

// take carries out a step as a leader would, which refuses what must not be.
func (w *world) take(t *testing.T, st Step) {
	s := &w.Shards[st.Shard-1]
	m := &s.Members
	on := func(r uint64) bool { return r != 0 && raft.Node(r) == s.Leader }
	switch {
	case st.HandOver != 0:
		if r := m.On(st.HandOver); !slices.Contains(m.Voters, r) || w.down[st.HandOver] {
			t.Fatalf("%+v: of members %+v", st, m)
		}
		s.Leader = st.HandOver
		return
	case st.Version != m.Version || m.Joint() || on(st.Remove):
		t.Fatalf("%+v: led by node %d, members %+v", st, s.Leader, m)
	case st.Learn != 0:
		if m.On(st.Learn) != 0 || w.down[st.Learn] || len(m.Learners) > 0 {
			t.Fatalf("%+v: members %+v", st, m)
		}
		m.Learners = []uint64{m.Next<<32 | uint64(st.Learn)}
		m.Next++
	default:
		least := min(3, len(m.Voters)) // a cluster that began with one node has fewer at first
		gone := func(r uint64) bool { return r == st.Remove }
		if st.Promote != 0 {
			m.Learners = nil
			m.Voters = append(m.Voters, st.Promote)
		}
		m.Voters = slices.DeleteFunc(m.Voters, gone)
		m.Learners = slices.DeleteFunc(m.Learners, gone)
		slices.Sort(m.Voters)
		if len(m.Voters) < least {
			t.Fatalf("%+v: %d voters are left", st, len(m.Voters))
		}
	}
	m.Version++
}

// settle plays turns until there is nothing to do.
func (w *world) settle(t *testing.T) (steps int) {
	t.Helper()
	for range 400 {
		for i := range w.Shards { // who leads and is down is replaced by election
			s := &w.Shards[i]
			for _, v := range s.Members.Voters {
				if w.down[s.Leader] && !w.down[raft.Node(v)] {
					s.Leader = raft.Node(v)
				}
			}
		}
		w.see()
		plan := Plan(&w.View)
		if len(plan) == 0 {
			return steps
		}
		seen := map[kv.ShardID]bool{}
		for _, st := range plan {
			if seen[st.Shard] {
				t.Fatalf("two steps at once for shard %d", st.Shard)
			}
			seen[st.Shard] = true
			w.take(t, st)
			steps++
		}
	}
	t.Fatalf("it does not settle: %+v", w.Shards)
	return 0
}

func (w *world) replicas() map[kv.NodeID]int {
	all := map[kv.NodeID]int{}
	for _, s := range w.Shards {
		for _, n := range s.Members.Nodes() {
			all[n]++
		}
	}
	return all
}

// Three nodes that are there: nothing moves but leads.
func TestNothingToDo(t *testing.T) {
	w := newWorld(3, 3)
	if n := w.settle(t); n > 2 || fmt.Sprint(w.replicas()) != "map[1:3 2:3 3:3]" {
		t.Errorf("%d steps, replicas %v", n, w.replicas())
	}
}

// A node that is dead is replaced by one that has joined, one that leaves as well, also where it leads.
func TestReplaced(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		w := newWorld(4, 3)
		if w.node(1).Dead, w.node(1).Here, w.down[1] = !leaves, leaves, !leaves; leaves {
			w.node(1).State = Leaving
		}
		w.settle(t)
		if got := fmt.Sprint(w.replicas()); got != "map[2:3 3:3 4:3]" {
			t.Errorf("leaves: %v; replicas %v", leaves, got)
		}
	}
}

// Without a node for them replicas stay where they are.
func TestNobodyInItsPlace(t *testing.T) {
	w := newWorld(3, 3)
	w.node(2).State = Leaving
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:3 2:3 3:3]" {
		t.Errorf("replicas %v", got)
	}
	for _, s := range w.Shards {
		if s.Leader == 2 {
			t.Errorf("shard %d is led by a node that leaves", s.ID)
		}
	}
}

// Who drains leads nothing, and keeps its replicas.
func TestDrained(t *testing.T) {
	w := newWorld(3, 5)
	w.node(1).State = Draining
	w.settle(t)
	for _, s := range w.Shards {
		if s.Leader == 1 || s.Members.On(1) == 0 {
			t.Errorf("shard %d is led by node %d, members %v", s.ID, s.Leader, s.Members)
		}
	}
}

// Who is short of disk room leads nothing while most replicas have room, and gets neither leads nor replicas;
// it has its share again when it has room. Where most are short leads stay: nobody could go on without them.
func TestShortOfRoom(t *testing.T) {
	w := newWorld(3, 5)
	led := func() string {
		leads := map[kv.NodeID]int{}
		for _, s := range w.Shards {
			leads[s.Leader]++
		}
		return fmt.Sprint(leads)
	}
	w.node(1).Short = true
	w.settle(t)
	if got := led(); got != "map[2:3 3:2]" || w.Shards[0].Leader == 1 {
		t.Errorf("node 1 is short of room, and they lead %s", got)
	}
	w.node(2).Short = true
	if n := w.settle(t); n != 0 {
		t.Errorf("most are short of room, and %d steps are taken: %s", n, led())
	}
	w.node(3).Short = true
	if n := w.settle(t); n != 0 {
		t.Errorf("all are short of room, and %d steps are taken: %s", n, led())
	}
	w.node(3).State = Draining // somebody has said so: it leads nothing, whatever that means for writes
	w.settle(t)
	if got := led(); got != "map[1:2 2:3]" && got != "map[1:3 2:2]" {
		t.Errorf("node 3 drains: %s", got)
	}
	w.node(1).Short, w.node(2).Short = false, false
	w.settle(t)
	if got := led(); got != "map[1:2 2:3]" && got != "map[1:3 2:2]" {
		t.Errorf("nodes 1 and 2 have room again: %s", got)
	}
	w.node(3).Short, w.node(3).State = false, Up
	w.settle(t)
	if got := led(); got != "map[1:2 2:2 3:1]" && got != "map[1:2 2:1 3:2]" && got != "map[1:1 2:2 3:2]" {
		t.Errorf("all have room again: %s", got)
	}
}

// A node that is short of room is no home: neither for replicas of a dead one, nor for one that learns there,
// which goes to another node as soon as there is one with room.
func TestNoHomeWithoutRoom(t *testing.T) {
	w := newWorld(4, 2)
	w.node(4).Short = true
	w.node(2).Dead, w.node(2).Here, w.down[2] = true, false, true
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:2 2:2 3:2]" {
		t.Errorf("replicas %v", got)
	}
	m := &w.Shards[0].Members
	m.Learners = []uint64{m.Next<<32 | 4}
	m.Next++
	w.Nodes = append(w.Nodes, NodeView{ID: 5, Here: true})
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:2 3:2 5:2]" {
		t.Errorf("replicas %v", got)
	}
}

// Nodes that join get their share of replicas and of leads.
func TestBalanced(t *testing.T) {
	w := newWorld(5, 9)
	w.settle(t)
	leads := map[kv.NodeID]int{}
	for _, s := range w.Shards[1:] {
		leads[s.Leader]++
	}
	for n, k := range w.replicas() {
		if k < 5 || k > 6 || leads[n] > 3 {
			t.Errorf("node %d has %d replicas of 27 on 5 nodes, and leads %d", n, k, leads[n])
		}
	}
}

// A learner whose node goes, or of which there is no need any more, is given up.
func TestLearnerIsGivenUp(t *testing.T) {
	w := newWorld(4, 1)
	w.Shards[0].Members.Learners = []uint64{1<<32 | 4}
	w.Shards[0].Members.Next = 2
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:1 2:1 3:1]" {
		t.Errorf("replicas %v", got)
	}
	w.node(2).Dead, w.node(2).Here, w.down[2] = true, false, true
	w.Shards[0].Members.Learners = []uint64{2<<32 | 4}
	w.node(4).Dead, w.node(4).Here, w.down[4] = true, false, true
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:1 2:1 3:1]" {
		t.Errorf("replicas %v", got)
	}
}

// A cluster that began with one node keeps one replica until there are three nodes, of which one is not
// counted that is down or leaves; and has three of each shard then.
func TestGrowsToThree(t *testing.T) {
	w := newWorld(4, 3)
	for i := range w.Shards {
		w.Shards[i].Members = raft.Members{Voters: []uint64{1}, Next: 1}
	}
	w.Replicas = 0 // nobody has said yet
	w.down[3], w.Nodes[2].Here, w.Nodes[3].State = true, false, Leaving
	for range 2 {
		w.Replicas = w.wanted()
		if w.settle(t); w.Replicas != 1 || fmt.Sprint(w.replicas()) != "map[1:3]" {
			t.Fatalf("with two nodes %d replicas are wanted: %v", w.Replicas, w.replicas())
		}
	}
	w.down[3], w.Nodes[2].Here = false, true
	w.Replicas = w.wanted()
	if w.settle(t); w.Replicas != 3 || fmt.Sprint(w.replicas()) != "map[1:3 2:3 3:3]" {
		t.Errorf("with three nodes %d replicas are wanted: %v", w.Replicas, w.replicas())
	}
	w.down[2], w.Nodes[1].Here = true, false // and it never goes back
	if w.Replicas = w.wanted(); w.Replicas != 3 {
		t.Errorf("with a node down %d replicas are wanted", w.Replicas)
	}
}

// Whatever happens to nodes, it settles, and never takes a shard's quorum.
func TestItSettles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	w := newWorld(20, 40)
	gone := map[kv.NodeID]bool{}
	for range 300 {
		id := kv.NodeID(1 + rng.IntN(20))
		n := w.node(id)
		switch k := rng.IntN(4); {
		case gone[id]:
			*n, w.down[id] = NodeView{ID: id, Here: true}, false
			delete(gone, id)
		case k == 0 && len(gone) < 5:
			n.State, gone[id] = Leaving, true
		case k == 1 && len(gone) < 5:
			n.Dead, n.Here, w.down[id], gone[id] = true, false, true, true
		case k == 2 && rng.IntN(2) == 0:
			n.Short = !n.Short
		case k == 2:
			n.State = Draining
		default:
			n.State, n.Short = Up, false
		}
		w.settle(t)
		for id := range gone {
			if w.replicas()[id] != 0 {
				for _, s := range w.Shards {
					if s.Members.On(id) != 0 {
						t.Errorf("shard %d, led by node %d: %+v", s.ID, s.Leader, s.Members)
					}
				}
				t.Fatalf("node %d is to have no replicas: %v; nodes %+v", id, w.replicas(), w.Nodes)
			}
		}
	}
}
