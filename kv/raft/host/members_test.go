package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
)

// step orders a change of a shard's members, wherever it is led, until it is taken.
func (c *cluster) step(
	ctx context.Context, id kv.ShardID, of func(*raft.Members) (x raft.Change, done bool),
) {
	c.t.Helper()
	c.until(ctx, "a change of members", func() bool {
		n := c.leader(ctx, id)
		h := n.host
		m := h.Status(id).Members
		x, done := of(m)
		switch {
		case done || m.Joint():
			return done
		case raft.Node(x.Remove) == n.id: // it hands over first
			h.Transfer(id, n.id%2+1)
			return false
		}
		x.Shard, x.Version = id, m.Version
		err := h.Change(ctx, x)
		if err != nil && !errors.Is(err, kv.ErrBusy) && !errors.Is(err, kv.ErrNotLeader) {
			c.t.Fatal(err)
		}
		return false
	})
}

// replace gives the replica of one node to another.
func (c *cluster) replace(ctx context.Context, id kv.ShardID, old, by kv.NodeID) {
	c.t.Helper()
	c.step(ctx, id, func(m *raft.Members) (x raft.Change, done bool) {
		fresh, gone := m.On(by), m.On(old)
		switch {
		case fresh == 0:
			return raft.Change{Learn: by}, false
		case slices.Contains(m.Learners, fresh):
			return raft.Change{Promote: fresh, Remove: gone}, false
		}
		return x, gone == 0
	})
}

// A node whose disk is lost is replaced by another one under load: nothing acknowledged is missing, the new
// one has the same state as the others, and what comes back with the old disk is removed for good, also
// when a later replica of the shard comes to its node.
func TestNodeIsReplacedUnderLoad(t *testing.T) {
	c := short(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := c.load(ctx)
	c.until(ctx, "writes", func() bool { return l.n[0].Load() > 300 && l.n[1].Load() > 300 })
	old := c.crash(3)
	c.mu.Lock()
	c.nodes = append(c.nodes, nil)
	c.mu.Unlock()
	c.start(4, vfs.NewCrashableMem())
	for id := kv.ShardID(1); id <= shards; id++ {
		c.replace(ctx, id, 3, 4)
	}
	// The new one is restarted, and another one of the old ones goes away: the new one counts.
	c.start(4, c.crash(4))
	was := l.n[0].Load() + l.n[1].Load()
	fs1 := c.crash(1)
	c.until(ctx, "writes without the first", func() bool { return l.n[0].Load()+l.n[1].Load() > was+200 })
	c.start(1, fs1)
	// The one that was removed comes back: nobody listens to it, and with proof it goes.
	c.start(3, old)
	back := c.nodes[2].host
	for id := kv.ShardID(1); id <= shards; id++ {
		c.until(ctx, "it is open", func() bool { return back.Status(id).Members != nil })
		back.Remove(id, 3)
		c.until(ctx, "the removed replica has gone", func() bool { return back.Status(id).Members == nil })
	}
	if n := leftOf(t, c.nodes[2].e); n != 0 {
		t.Errorf("%d keys of it are left", n)
	}
	for id := kv.ShardID(1); id <= shards; id++ {
		c.replace(ctx, id, 4, 3)
	}
	l.stop()
	c.until(ctx, "the replicas of node 4 have gone", func() bool {
		return c.nodes[3].host.Status(1).Members == nil && c.nodes[3].host.Status(2).Members == nil
	})
	c.mu.Lock()
	n4 := c.nodes[3]
	c.nodes = c.nodes[:3]
	c.mu.Unlock()
	n4.stop()
	c.settle(ctx)
	c.same(ctx)
}

// leftOf counts keys of shards and their logs.
func leftOf(t *testing.T, e *engine.Engine) (n int) {
	for id := kv.ShardID(1); id <= shards; id++ {
		for _, span := range [...]func(kv.ShardID) ([]byte, []byte){keys.LogSpan, keys.ShardSpan} {
			lower, upper := span(id)
			if err := e.Scan(lower, upper, func(_, _ []byte) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
