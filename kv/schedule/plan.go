package schedule

import (
	"cmp"
	"slices"

	"moka/kv"
	"moka/kv/raft"
)

// View is what a scheduler sees at one moment.
type View struct {
	Nodes    []NodeView
	Shards   []ShardView
	Replicas int // that each shard is to have
}

// NodeView is a node, and whether it is there.
type NodeView struct {
	ID    kv.NodeID
	State State
	Zone  string // what it shares with others that may fail together; empty: nothing
	Here  bool
	Short bool // its disk has little room: others lead what it has, if most have room, and it gets nothing
	Dead  bool // not here for so long that its replicas are to be elsewhere
}

// ShardView is what a shard's leader knows.
type ShardView struct {
	ID      kv.ShardID
	Leader  kv.NodeID
	Term    uint64
	Members raft.Members
	Peers   []raft.Peer
}

// Step is an order to a shard's leader; see raft.Change. HandOver asks it to make another one lead.
type Step struct {
	Shard    kv.ShardID
	Version  uint64
	Learn    kv.NodeID
	Promote  uint64
	Remove   uint64
	HandOver kv.NodeID
	Why      string
}

// Plan says what is to be done next: at most one step for each shard, and at most one that is only for
// balance, when there is nothing else.
func Plan(v *View) []Step {
	p := &planner{View: v, nodes: map[kv.NodeID]NodeView{}, replicas: map[kv.NodeID]int{},
		leads: map[kv.NodeID]int{}, learning: map[kv.NodeID]bool{}}
	for _, n := range v.Nodes {
		p.nodes[n.ID] = n
	}
	for _, s := range v.Shards {
		for _, n := range s.Members.Nodes() {
			p.replicas[n]++
		}
		for _, l := range s.Members.Learners {
			p.learning[raft.Node(l)] = true
		}
		p.leads[s.Leader]++
	}
	// Those in the greatest danger first.
	order := slices.Clone(v.Shards)
	slices.SortStableFunc(order, func(a, b ShardView) int { return cmp.Compare(a.live(), b.live()) })
	var steps []Step
	busy := false
	for i := range order {
		s := &order[i]
		st, waits := p.step(s)
		busy = busy || waits || st != nil
		if st != nil {
			st.Shard, st.Version = s.ID, s.Members.Version
			steps = append(steps, *st)
		}
	}
	if !busy {
		if st := cmp.Or(p.balance(), p.balanceLeads()); st != nil {
			steps = append(steps, *st)
		}
	}
	return steps
}

type planner struct {
	*View
	nodes    map[kv.NodeID]NodeView
	replicas map[kv.NodeID]int
	leads    map[kv.NodeID]int
	learning map[kv.NodeID]bool // nodes that get a replica: one at a time
}

func (s *ShardView) peer(id uint64) raft.Peer {
	for _, p := range s.Peers {
		if p.Replica == id {
			return p
		}
	}
	return raft.Peer{}
}

func (s *ShardView) live() (n int) {
	for _, v := range s.Members.Voters {
		if s.peer(v).There {
			n++
		}
	}
	return n
}

// most is the greatest match of a replica: about where the log ends.
func (s *ShardView) most() (m uint64) {
	for _, p := range s.Peers {
		m = max(m, p.Match)
	}
	return m
}

// ready reports whether a replica has nearly all entries.
func (s *ShardView) ready(id uint64) bool {
	p := s.peer(id)
	return p.There && !p.Waits && p.Match+lag >= s.most()
}

// lag is how many entries a replica may lack that is to vote, or to lead.
const lag = 512

// goes reports whether a node's replicas are to be elsewhere. Of a node that nobody knows nothing is known:
// it stays.
func (p *planner) goes(id kv.NodeID) bool {
	n := p.nodes[id]
	return n.Dead || n.State == Leaving || n.State == Removed
}

// mayLead reports whether a node may lead.
func (p *planner) mayLead(id kv.NodeID) bool {
	n, known := p.nodes[id]
	return !p.goes(id) && n.State != Draining && (n.Here || !known)
}

// step is the next one of a shard; waits says that something is under way in it.
func (p *planner) step(s *ShardView) (st *Step, waits bool) {
	m := &s.Members
	if m.Joint() {
		return nil, true
	}
	if !p.mayLead(s.Leader) {
		if to := p.heir(s, 0, false); to != 0 {
			return &Step{HandOver: to, Why: "its node drains or leaves"}, true
		}
	} else if p.nodes[s.Leader].Short && p.mostHaveRoom(s) && !p.learnt(s) {
		if to := p.heir(s, 0, true); to != 0 {
			return &Step{HandOver: to, Why: "its node is short of disk room"}, true
		}
	}
	if len(m.Learners) > 0 {
		return p.learner(s, m.Learners[0]), true
	}
	bad := p.worst(s)
	if bad != 0 && len(m.Voters) > p.Replicas {
		return p.remove(s, bad, "there are enough others"), true
	}
	if bad == 0 && len(m.Voters) >= p.Replicas {
		return nil, false
	}
	if to := p.home(s, bad); to != 0 {
		p.learning[to] = true
		p.replicas[to]++
		return &Step{Learn: to, Why: "a replica is missing, or its node leaves"}, true
	}
	return nil, bad != 0
}

// learner is the step for a replica that learns.
func (p *planner) learner(s *ShardView, l uint64) *Step {
	on := raft.Node(l)
	switch {
	case p.goes(on):
		return &Step{Remove: l, Why: "its node is gone before it has learnt all"}
	case p.nodes[on].Short:
		return &Step{Remove: l, Why: "its node is short of disk room before it has learnt all"}
	case !s.ready(l):
		return nil
	}
	victim := p.worst(s)
	if victim == 0 && len(s.Members.Voters) >= p.Replicas {
		if victim = p.replaced(s, on); victim == 0 {
			return &Step{Remove: l, Why: "there are enough others"}
		}
	}
	if victim != 0 && raft.Node(victim) == s.Leader {
		if to := p.heir(s, victim, false); to != 0 {
			return &Step{HandOver: to, Why: "its replica goes"}
		}
		victim = 0 // the new one will take it over
	}
	return &Step{Promote: l, Remove: victim, Why: "it has learnt all"}
}

func (p *planner) remove(s *ShardView, id uint64, why string) *Step {
	if raft.Node(id) == s.Leader {
		if to := p.heir(s, id, false); to != 0 {
			return &Step{HandOver: to, Why: "its replica goes"}
		}
		return nil
	}
	return &Step{Remove: id, Why: why}
}

// worst is a voter whose node is to have none, those that are not there first.
func (p *planner) worst(s *ShardView) (worst uint64) {
	for _, v := range s.Members.Voters {
		if p.goes(raft.Node(v)) && (worst == 0 || s.peer(worst).There && !s.peer(v).There) {
			worst = v
		}
	}
	return worst
}

// heir is a voter's node that may lead the shard: one that is short of room only if there is no other, and
// not even then with room.
func (p *planner) heir(s *ShardView, but uint64, room bool) (to kv.NodeID) {
	less := func(n, to kv.NodeID) bool {
		if a, b := p.nodes[n].Short, p.nodes[to].Short; a != b {
			return b
		}
		return p.leads[n] < p.leads[to]
	}
	for _, v := range s.Members.Voters {
		n := raft.Node(v)
		if v == but || n == s.Leader || !s.ready(v) || !p.mayLead(n) || room && p.nodes[n].Short {
			continue
		}
		if to == 0 || less(n, to) {
			to = n
		}
	}
	if to != 0 {
		p.leads[to]++
	}
	return to
}

// mostHaveRoom reports whether a quorum of a shard's replicas follows, on nodes with room. Without one nobody
// can lead for long, and it is better that the leader itself knows it, and refuses what adds.
func (p *planner) mostHaveRoom(s *ShardView) bool {
	room := 0
	for _, v := range s.Members.Voters {
		if n := p.nodes[raft.Node(v)]; s.ready(v) && n.Here && !n.Short {
			room++
		}
	}
	return room > len(s.Members.Voters)/2
}

// learnt reports whether a replica is about to get the vote of another one. If that one leads, it may have to
// hand over to a node without room, and that one must not give it back before.
func (p *planner) learnt(s *ShardView) bool {
	l := s.Members.Learners
	return len(l) > 0 && s.ready(l[0]) && !p.nodes[raft.Node(l[0])].Short
}

// home is the node for another replica of a shard, in the place of bad if that is one: in a zone that has
// none, of those the one with the fewest replicas, which gets none just now.
func (p *planner) home(s *ShardView, bad uint64) (to kv.NodeID) {
	least := 0
	for _, n := range p.Nodes {
		if !p.open(s, n) {
			continue
		}
		c := p.crowd(s, bad, n.ID)
		if to == 0 || c < least || c == least && p.replicas[n.ID] < p.replicas[to] {
			to, least = n.ID, c
		}
	}
	return to
}

// open reports whether a node can be given a replica of a shard.
func (p *planner) open(s *ShardView, n NodeView) bool {
	return n.Here && n.State == Up && !n.Dead && !n.Short && !p.learning[n.ID] && s.Members.On(n.ID) == 0
}

// leadsWhy is the reason of steps that could as well be left.
const leadsWhy = "it leads the fewest"

// balanceLeads hands a shard from the node that leads the most to the one that leads the fewest. The first
// stays: with it go coordination and timestamps.
func (p *planner) balanceLeads() *Step {
	var best *Step
	gap := 1
	for i := range p.Shards {
		s := &p.Shards[i]
		if s.ID == 1 || s.live() < len(s.Members.Voters) {
			continue
		}
		for _, v := range s.Members.Voters {
			n := raft.Node(v)
			d := p.leads[s.Leader] - p.leads[n]
			if d > gap && s.ready(v) && p.mayLead(n) && !p.nodes[n].Short {
				gap = d
				best = &Step{Shard: s.ID, HandOver: n, Why: leadsWhy}
			}
		}
	}
	return best
}
