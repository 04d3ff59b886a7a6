package client

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"moka/kv"
)

// Shard says where a shard is, as far as somebody has heard.
type Shard struct {
	Node kv.NodeID // that leads it; zero if nobody knows
	Term uint64    // in which it does; zero if the shard has no terms
	// Replicas are the nodes that have a copy. Names none where there is but one.
	Replicas []kv.NodeID
}

// leads holds where shards are led. Like the map of tablets it is a guess that nodes correct, and is read
// without a lock.
//
//	L4  Of two hints the one with the greater term wins: terms only grow, and each has one leader at most. So a node that has slept, and names a
//	    leader of long ago, cannot send callers in circles.
type leads struct {
	shards atomic.Pointer[map[kv.ShardID]Shard]
	mu     sync.Mutex // of writers
}

func newLeads(m map[kv.ShardID]Shard) *leads {
	l := &leads{}
	if m == nil {
		m = map[kv.ShardID]Shard{}
	}
	l.shards.Store(&m)
	return l
}

// node returns who is thought to lead the shard.
func (l *leads) node(s kv.ShardID) (kv.NodeID, bool) {
	n := (*l.shards.Load())[s].Node
	return n, n != 0
}

// change publishes what f makes of the shards; f says whether anything is different.
func (l *leads) change(f func(map[kv.ShardID]Shard) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := maps.Clone(*l.shards.Load())
	if !f(m) {
		return false
	}
	l.shards.Store(&m)
	return true
}

// merge takes in what a node knows of all shards.
func (l *leads) merge(now map[kv.ShardID]Shard) {
	l.change(func(m map[kv.ShardID]Shard) (changed bool) {
		for id, s := range now {
			was := m[id]
			if s.Node == 0 || s.Term < was.Term {
				s.Node, s.Term = was.Node, was.Term
			}
			if s.Node != was.Node || s.Term != was.Term || !slices.Equal(s.Replicas, was.Replicas) {
				m[id], changed = s, true
			}
		}
		return changed
	})
}

// heard takes in what a node that does not lead a shard says of who does, and reports whether that is news.
func (l *leads) heard(lead kv.Lead) bool {
	if s := (*l.shards.Load())[lead.Shard]; lead.Node == 0 || lead.Term < s.Term || lead.Term == s.Term && lead.Node == s.Node {
		return false
	}
	return l.change(func(m map[kv.ShardID]Shard) bool {
		s := m[lead.Shard]
		if lead.Term < s.Term || lead.Term == s.Term && lead.Node == s.Node {
			return false
		}
		s.Node, s.Term = lead.Node, lead.Term
		m[lead.Shard] = s
		return true
	})
}

// led takes in that a node has answered as the shard's leader. It does not say in which term; whoever names a
// later one wins.
func (l *leads) led(shard kv.ShardID, node kv.NodeID) {
	l.change(func(m map[kv.ShardID]Shard) bool {
		s := m[shard]
		changed := s.Node != node
		s.Node = node
		m[shard] = s
		return changed
	})
}

// suggest takes in what a tablet's description says of its shard's node: something only where nobody has
// named a term.
func (l *leads) suggest(nodes map[kv.ShardID]kv.NodeID) {
	if len(nodes) == 0 {
		return
	}
	l.change(func(m map[kv.ShardID]Shard) (changed bool) {
		for id, n := range nodes {
			if s := m[id]; s.Term == 0 && s.Node != n {
				s.Node = n
				m[id], changed = s, true
			}
		}
		return changed
	})
}

// other returns a replica that is not among those asked, zero if there is none.
func (l *leads) other(shard kv.ShardID, asked []kv.NodeID) kv.NodeID {
	for _, n := range (*l.shards.Load())[shard].Replicas {
		if !slices.Contains(asked, n) {
			return n
		}
	}
	return 0
}
