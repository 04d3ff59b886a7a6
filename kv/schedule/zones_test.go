package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"moka/kv"
	"moka/kv/raft"
)

// zoned has zones of three nodes each, in which the first three nodes are one zone.
func zoned(zones, shards int) *world {
	w := newWorld(3*zones, shards)
	for i := range w.Nodes {
		w.Nodes[i].Zone = fmt.Sprint("zone", i/3)
	}
	return w
}

// crowded are the shards of which a zone that is up has two replicas.
func (w *world) crowded() (ids []kv.ShardID) {
	for _, s := range w.Shards {
		seen := map[string]bool{}
		for _, v := range s.Members.Voters {
			z := w.node(raft.Node(v)).Zone
			if seen[z] {
				ids = append(ids, s.ID)
				break
			}
			seen[z] = true
		}
	}
	return ids
}

func (w *world) zoneDown(zone string, down bool) {
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Zone == zone {
			n.Dead, n.Here, w.down[n.ID] = down, !down, down
		}
	}
}

// Three zones of three nodes: each shard has a replica in each zone, whatever it began with, and every node
// as many as the others. With a zone down each has three replicas again in the other two, and when it is
// back they are spread again. No shard loses most of its replicas with any one zone.
func TestZones(t *testing.T) {
	w := zoned(3, 9)
	w.settle(t)
	spread := func(when string) {
		t.Helper()
		if c := w.crowded(); len(c) > 0 {
			t.Errorf("%s: shards %v have two replicas in a zone", when, c)
		}
		for n, k := range w.replicas() {
			if k != 3 {
				t.Errorf("%s: node %d has %d replicas of 27 on 9 nodes", when, n, k)
			}
		}
	}
	spread("at first")
	w.zoneDown("zone1", true)
	w.settle(t)
	for _, s := range w.Shards {
		if len(s.Members.Voters) != 3 {
			t.Errorf("shard %d has %d replicas", s.ID, len(s.Members.Voters))
		}
		for _, n := range s.Members.Nodes() {
			if w.node(n).Zone == "zone1" {
				t.Errorf("shard %d has a replica in the zone that is down", s.ID)
			}
		}
	}
	w.zoneDown("zone1", false)
	w.settle(t)
	spread("when the zone is back")
}

// A replica is replaced within its zone if that has another node, though others have fewer.
func TestReplacedWithinItsZone(t *testing.T) {
	w := zoned(3, 1)
	w.Shards[0].Members.Voters = []uint64{1, 4, 7}
	w.Shards = append(w.Shards, ShardView{ID: 2, Leader: 2,
		Members: raft.Members{Voters: []uint64{2, 5, 8}, Next: 1}})
	w.node(1).Dead, w.node(1).Here, w.down[1] = true, false, true
	w.node(3).Dead, w.node(3).Here, w.down[3] = true, false, true
	w.settle(t)
	if s := w.Shards[0]; s.Members.On(2) == 0 || len(w.crowded()) > 0 {
		t.Errorf("shard 1 is on nodes %v", s.Members.Nodes())
	}
}

// One node that is a zone, beside two large zones, has a replica of every shard: it is worth more than even
// counts. Nodes without a zone share none.
func TestUnevenZones(t *testing.T) {
	w := newWorld(7, 6)
	for i := range w.Nodes {
		w.Nodes[i].Zone = []string{"a", "a", "a", "b", "b", "b", "c"}[i]
	}
	w.settle(t)
	if c := w.crowded(); len(c) > 0 || w.replicas()[7] != 6 {
		t.Errorf("shards %v have two replicas in a zone; replicas %v", c, w.replicas())
	}
	w = newWorld(6, 4)
	w.settle(t)
	if got := fmt.Sprint(w.replicas()); got != "map[1:2 2:2 3:2 4:2 5:2 6:2]" {
		t.Errorf("without zones: %s", got)
	}
}

// Whatever happens to nodes and zones it settles, never takes a shard's quorum, and leaves no two replicas in
// a zone while there are three zones with nodes.
func TestZonesSettle(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	w := zoned(4, 12)
	w.settle(t)
	down := ""
	for range 150 {
		switch k := rng.IntN(4); {
		case down != "":
			w.zoneDown(down, false)
			down = ""
		case k == 0:
			down = fmt.Sprint("zone", rng.IntN(4))
			w.zoneDown(down, true)
		case k == 1:
			n := w.node(kv.NodeID(1 + rng.IntN(12)))
			n.State = []State{Up, Draining, Leaving}[rng.IntN(3)]
		default: // somebody is taken to another zone
			w.node(kv.NodeID(1 + rng.IntN(12))).Zone = fmt.Sprint("zone", rng.IntN(4))
		}
		w.settle(t)
		zones := map[string]bool{}
		for _, n := range w.Nodes {
			if n.Here && n.State == Up {
				zones[n.Zone] = true
			}
		}
		if c := w.crowded(); len(zones) >= 3 && len(c) > 0 && w.spreadable() {
			t.Fatalf("shards %v have two replicas in one of the zones %v", c, zones)
		}
	}
}

// spreadable reports whether no replica is stuck on a node that leaves and for whose replicas there is no
// room.
func (w *world) spreadable() bool {
	for n := range w.replicas() {
		if x := w.node(n); x.State == Leaving || x.Dead {
			return false
		}
	}
	return true
}
