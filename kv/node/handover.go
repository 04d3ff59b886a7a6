package node

import (
	"context"
	"slices"
	"time"

	"moka/kv"
	"moka/kv/raft"
	"moka/kv/shard"
)

const (
	// retireTime bounds the wait for commands that run: what comes later may have an unknown outcome.
	retireTime = time.Second
	// handOverPoll is how often a transfer is looked at: it takes some milliseconds.
	handOverPoll = 2 * time.Millisecond
)

// HandOver gives the shards that are led here to other members, METADATA's, with which coordination goes, as
// the last one. Who stops without it makes clients wait until the others have noticed, and have elected. It
// ends early when ctx does; then the rest is elected.
func (n *Node) HandOver(ctx context.Context) error {
	if n.host == nil {
		return nil
	}
	rs := n.here()
	for i := len(rs) - 1; i >= 0; i-- {
		if err := n.handOver(ctx, rs[i], nil, 0); err != nil {
			return err
		}
	}
	return nil
}

// handOver asks one voter after the other, of those named or, without any, of all: who is down, or far
// behind, does not take it, and then this node leads on.
// With most it gives up after so many have not.
func (n *Node) handOver(ctx context.Context, s *shard.Replica, others []kv.NodeID, most int) error {
	tick := time.NewTicker(handOverPoll)
	defer tick.Stop()
	if m := n.host.Status(s.ID()).Members; m != nil && len(others) == 0 {
		for _, v := range m.Voters {
			if raft.Node(v) != n.record.node {
				others = append(others, raft.Node(v))
			}
		}
	}
	if len(others) == 0 {
		return nil // nobody else has it
	}
	elsewhere := func() bool {
		st := n.host.Status(s.ID())
		return st.Leader != 0 && !st.Leading
	}
	if !n.host.Status(s.ID()).Leading {
		return nil
	}
	for try := 0; !elsewhere() && (most == 0 || try < most); try++ {
		to := others[(int(s.ID())+try)%len(others)]
		if m := n.host.Status(s.ID()).Members; m == nil || !slices.Contains(m.Voters, m.On(to)) {
			return nil // who has asked for it has seen other members
		}
		retired, cancel := context.WithTimeout(ctx, retireTime)
		if n.o.Cluster.Yield != nil {
			n.o.Cluster.Yield(retired, s.ID())
		}
		select {
		case <-s.Retire():
		case <-retired.Done():
		}
		cancel()
		n.logger.Info("handing a shard over", "shard", s.ID(), "node", to)
		n.host.Transfer(s.ID(), to)
		for !elsewhere() && !s.Serves() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return kv.Errorf(kv.CodeUnavailable, "node.HandOver",
					"nobody has taken shard %d in time; the others will elect a leader", s.ID())
			}
		}
	}
	return nil
}
