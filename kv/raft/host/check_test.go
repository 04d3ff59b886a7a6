package host_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/raft/host"
)

// compare has the replicas of a shard look at their states, and returns what each has found, by node. away,
// if it is not nil, is told who is not to hear of it at once, and zero when everybody is.
func (c *cluster) compare(ctx context.Context, id kv.ShardID, away func(kv.NodeID)) []host.State {
	var index uint64
	c.until(ctx, "a check", func() (ok bool) {
		var err error
		leader := c.leader(ctx, id)
		if away != nil {
			away(leader.id%3 + 1)
		}
		if index, err = leader.host.Check(ctx, id); err != nil {
			c.t.Log(err) // the lead may have changed
		}
		return err == nil
	})
	if away != nil {
		away(0)
	}
	states := make([]host.State, len(c.nodes))
	for i, n := range c.nodes {
		c.until(ctx, "the state of a replica", func() bool {
			states[i] = n.host.Checked(id)
			return states[i].Index == index && states[i].Done
		})
	}
	return states
}

// While others write, the states of all replicas behind one entry are the same, time after time; and a byte
// that is another one on a node is found there, in the group and the tablet in which it is.
func TestReplicasAreCompared(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l := c.load(ctx)
	defer l.stop()
	c.until(ctx, "writes", func() bool { return l.n[0].Load() > 50 && l.n[1].Load() > 50 })
	for i := range 20 {
		id := kv.ShardID(i%shards + 1)
		states := c.compare(ctx, id, func(away kv.NodeID) {
			if away == 0 { // what it has missed comes to it at once: the entry, and others behind it
				was := l.n[id-1].Load()
				c.until(ctx, "more writes", func() bool { return l.n[id-1].Load() > was+5 })
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.cut = map[kv.NodeID]bool{away: away != 0 && i%2 == 0}
		})
		first := states[0]
		if first.Failed != "" || first.Keys == 0 || len(first.Sums) < 3 {
			t.Fatalf("%+v", first)
		}
		var total uint64
		for _, s := range first.Sums {
			total += s.Keys
		}
		if total != first.Keys {
			t.Errorf("the parts have %d keys, the whole %d", total, first.Keys)
		}
		for _, s := range states[1:] {
			first.Replica = s.Replica
			if !reflect.DeepEqual(s, first) {
				t.Fatalf("check %d: node %d has %+v, node 1 %+v", i, s.Replica, s, first)
			}
		}
	}
	// Not behind the shard's back alone: what reads or writes the row is not disturbed.
	n := c.nodes[1]
	key := keys.AppendVersion(keys.AppendColumn(nil, 2, disk(row(2, "planted"))), 1)
	b := n.e.NewBatch()
	if err := b.Set(key, []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	n.e.Commit(b)
	b.Close()
	states := c.compare(ctx, 2, nil)
	first := states[0].Sums
	if reflect.DeepEqual(first, states[1].Sums) || !reflect.DeepEqual(first, states[2].Sums) {
		t.Errorf("what differs is not on node 2: %+v", states)
	}
	for i, s := range states[1].Sums {
		if o := states[0].Sums[i]; (s != o) != (s.Group == groupDisk && s.Tablet == 2) {
			t.Errorf("a key of group %d in tablet 2 was planted: %+v, %+v", groupDisk, s, o)
		}
	}
	if states[0].Chain != states[1].Chain {
		t.Error("the logs are the same")
	}
	for _, s := range c.compare(ctx, 1, nil)[1:] {
		if s.Failed != "" {
			t.Error(s.Failed)
		}
	}
}
