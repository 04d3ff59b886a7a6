package schedule

import (
	"strconv"

	"moka/kv"
	"moka/kv/raft"
)

// Replicas of a shard are in as many zones as can be, so that a shard outlives a zone that fails whole;
// within that every node has about as many as any other. What is moved for either makes one of them better
// and the first never worse, so it comes to rest: the shards' crowds shrink, or the replicas' counts come
// together.

// zone is that of a node; who has none is one of its own.
func (p *planner) zone(id kv.NodeID) string {
	if z := p.nodes[id].Zone; z != "" {
		return z
	}
	return "\x00" + strconv.FormatUint(uint64(id), 10) // no name of a zone
}

// crowd counts the replicas of a shard that share a zone with another one: of its voters but one, of those
// that are to stay, and with one more on a node, unless that is zero.
func (p *planner) crowd(s *ShardView, but uint64, with kv.NodeID) (n int) {
	var zones [16]string
	seen := zones[:0]
	add := func(id kv.NodeID) {
		z := p.zone(id)
		for _, have := range seen {
			if have == z {
				n++
				return
			}
		}
		seen = append(seen, z)
	}
	for _, v := range s.Members.Voters {
		if v != but && !p.goes(raft.Node(v)) {
			add(raft.Node(v))
		}
	}
	if with != 0 {
		add(with)
	}
	return n
}

// balance moves a replica into a zone that has none of its shard, or else from the node that has the most to
// the one that has the fewest, if they differ by two: less would only change the roles. A cluster that is to
// have fewer than three replicas waits for nodes: spread over two its data would be gone with either.
func (p *planner) balance() *Step {
	if p.Replicas < fullReplicas {
		return nil
	}
	var best *Step
	spread, gap := 0, 1
	for i := range p.Shards {
		s := &p.Shards[i]
		if s.live() < len(s.Members.Voters) {
			continue
		}
		now := p.crowd(s, 0, 0)
		for _, n := range p.Nodes {
			if !p.open(s, n) {
				continue
			}
			for _, v := range s.Members.Voters {
				better, d := now-p.crowd(s, v, n.ID), p.replicas[raft.Node(v)]-p.replicas[n.ID]
				why := "it has the fewest"
				switch {
				case better > spread, better > 0 && better == spread && d > gap:
					why = "its zone has none"
				case spread > 0 || better < 0 || d <= gap:
					continue
				}
				spread, gap = better, d
				best = &Step{Shard: s.ID, Version: s.Members.Version, Learn: n.ID, Why: why}
			}
		}
	}
	return best
}

// replaced is the voter in whose place a node that was to balance comes: that without which the shard is
// spread best, of those the one whose node has the most replicas. Zero if nothing becomes better by it.
func (p *planner) replaced(s *ShardView, on kv.NodeID) (victim uint64) {
	now, least := p.crowd(s, 0, 0), 0
	for _, v := range s.Members.Voters {
		n, c := raft.Node(v), p.crowd(s, v, on)
		if c > now || c == now && p.replicas[n] <= p.replicas[on] {
			continue
		}
		if victim == 0 || c < least || c == least && p.replicas[n] > p.replicas[raft.Node(victim)] {
			victim, least = v, c
		}
	}
	return victim
}
