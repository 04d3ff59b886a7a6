package raft

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/keys"
)

// join makes a host of another node, which has a replica of the number that the members give it, and
// nothing in it.
func (c *cluster) join(from *host) *host {
	n := kv.NodeID(len(c.hosts) + 1)
	c.change(from, Change{Learn: n})
	c.settle()
	h := &host{store: &table{}, chains: map[uint64]uint64{}}
	if h.id = from.members().On(n); h.id == 0 {
		c.t.Fatal("there is no learner on the node")
	}
	var b ops
	Create(&b, shard)
	b.apply(h.store)
	c.hosts = append(c.hosts, h)
	c.open(h)
	return h
}

func (h *host) members() *Members { return h.d.Status(shard).Members }

// change orders a step and returns its answer.
func (c *cluster) change(h *host, x Change) error {
	x.Shard = shard
	if x.Version == 0 {
		x.Version = h.members().Version
	}
	h.in.Changes = append(h.in.Changes, &x)
	c.settle()
	return h.changed[len(h.changed)-1].Err
}

// give fetches the state for a replica that wants it, and puts it in place.
func (c *cluster) give(from, to *host) {
	c.t.Helper()
	c.pass(time.Second)
	s := c.fetch(from, to)
	to.in.Snapshots = append(to.in.Snapshots, s)
	c.settle()
	to.applied = slices.Clone(from.applied)
	c.pass(500 * time.Millisecond)
}

// A node that is down for good is replaced: a learner elsewhere, its state, one joint step. What was
// acknowledged is on the new one, which may then lead, and the old one is nobody any more.
func TestDeadReplicaIsReplaced(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	for i := range 50 {
		c.write(h, fmt.Sprint("c", i))
	}
	dead := c.hosts[h.id%3]
	c.down[dead.id] = true
	c.pass(5 * time.Second)
	fresh := c.join(h)
	if m := h.members(); len(m.Learners) != 1 || Node(fresh.id) != 4 || Incarnation(fresh.id) != 1 {
		t.Fatalf("members %+v, the new one is %x", m, fresh.id)
	}
	if err := c.change(h, Change{Promote: fresh.id, Remove: dead.id}); !errors.Is(err, kv.ErrBusy) {
		t.Fatalf("a learner that has nothing becomes a voter: %v", err)
	}
	c.give(h, fresh)
	if err := c.change(h, Change{Promote: fresh.id, Remove: dead.id}); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	for _, x := range c.hosts {
		if x == dead {
			continue
		}
		m := x.members()
		if m.Joint() || len(m.Learners) != 0 || len(m.Voters) != 3 || m.Has(dead.id) || !m.Has(fresh.id) {
			t.Errorf("replica %x has members %+v", x.id, m)
		}
	}
	// The old leader goes as well: the new replica is half of what is left.
	c.write(h, "acknowledged")
	c.down[h.id] = true
	next := c.leader()
	if next == dead || !slices.Contains(next.applied, "acknowledged") {
		t.Fatalf("replica %x leads", next.id)
	}
	c.write(next, "later")
	c.pass(time.Second)
	if !slices.Contains(fresh.applied, "later") {
		t.Error("the new replica does not follow")
	}
	// Who comes back is listened to by nobody, and needs proof to go.
	c.down[dead.id], c.down[h.id] = false, false
	c.pass(10 * time.Second)
	if dead.lead != nil || dead.removed || c.leader() == dead {
		t.Error("a removed replica leads, or has gone without proof")
	}
	dead.d.Remove(shard, dead.id)
	c.settle()
	if !dead.removed {
		t.Error("it stays, with proof")
	}
}

// A replica that is there hears of its removal, and is over; its node gets another number the next time.
func TestRemovedReplicaIsOver(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	fresh := c.join(h)
	c.give(h, fresh)
	gone := c.hosts[h.id%3]
	if err := c.change(h, Change{Promote: fresh.id, Remove: gone.id}); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	if !gone.removed {
		t.Fatal("it has not heard of it")
	}
	if err := c.change(h, Change{Learn: Node(gone.id)}); err != nil {
		t.Fatal(err)
	}
	c.pass(200 * time.Millisecond)
	if id := h.members().On(Node(gone.id)); Incarnation(id) != 2 {
		t.Errorf("the node's next replica is %x", id)
	}
}

// What is refused: a step for other members, two at once, one that leaves too few or that takes one who is
// there while another is silent, and the leader's own end.
func TestStepsThatAreRefused(t *testing.T) {
	c := newCluster(t, 5, Options{})
	h := c.leader()
	other, third := c.hosts[h.id%5], c.hosts[(h.id+1)%5]
	refused := func(what string, x Change) {
		t.Helper()
		was := h.members()
		if err := c.change(h, x); !errors.Is(err, kv.ErrBusy) || h.members() != was {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a stale step", Change{Version: 99, Remove: other.id})
	refused("the leader", Change{Remove: h.id})
	refused("a stranger", Change{Remove: 77})
	refused("a node that has one", Change{Learn: 3})
	refused("a voter", Change{Promote: other.id})
	if err := c.change(other, Change{Remove: third.id}); !errors.Is(err, ErrNotLeader) {
		t.Errorf("a follower: %v", err)
	}
	c.down[other.id] = true
	c.pass(5 * time.Second)
	refused("one who is there", Change{Remove: third.id})
	if err := c.change(h, Change{Remove: other.id}); err != nil {
		t.Error(err)
	}
	c.pass(time.Second)
	if n := len(h.members().Voters); n != 4 {
		t.Errorf("%d voters", n)
	}
}

// R13, mistake 29: a change of members ends the lease, until a round that began behind it.
func TestChangeEndsTheLease(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	l := h.lead
	silence := true
	c.drop = func(m Message) bool { return silence && m.GetFrom() != h.id }
	if !l.Valid(c.now) {
		t.Fatal("no lease")
	}
	if err := c.change(h, Change{Learn: 4}); err != nil {
		t.Fatal(err)
	}
	if l.Valid(c.now) {
		t.Error("the lease is kept while the members change")
	}
	silence = false
	again := false
	for range 20 {
		c.pass(100 * time.Millisecond)
		again = again || l.Valid(c.now)
	}
	if !again {
		t.Error("there is no lease with the new members")
	}
}

// A joint step is left by whoever leads, also by one who has not begun it (mistake 26).
func TestJointStepIsLeftByTheNextLeader(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	fresh := c.join(h)
	c.give(h, fresh)
	gone := c.hosts[h.id%3]
	// The leader dies when the others have the step, and before it is left.
	h.in.Changes = append(h.in.Changes, &Change{Shard: shard, Version: h.members().Version,
		Promote: fresh.id, Remove: gone.id})
	for i := 0; !h.members().Joint(); i++ {
		if i > 100 {
			t.Fatal("the step is not taken")
		}
		for _, x := range c.hosts {
			c.turn(x)
		}
	}
	c.down[h.id] = true
	c.leader()
	c.pass(3 * time.Second)
	for _, x := range c.hosts {
		if x == h || x == gone {
			continue
		}
		if m := x.members(); m.Joint() || m.Has(gone.id) || len(m.Voters) != 3 {
			t.Errorf("replica %x: members %+v", x.id, m)
		}
	}
}

// R19, mistake 59: an alone voter campaigns at once, unless its log has a step that is not applied.
func TestAloneOnlyWithoutAStepAbove(t *testing.T) {
	c := newCluster(t, 1, Options{})
	h := c.hosts[0]
	if h.d.group(shard).silent(c.now) {
		t.Error("a replica that is alone waits")
	}
	h = c.leader()
	if err := c.change(h, Change{Learn: 2}); err != nil {
		t.Fatal(err)
	}
	// The record of what is applied is not synced: it may be older than the log.
	var b ops
	b.Set(keys.AppendLogRecord(nil, shard, keys.LogApplied), record(firstIndex+1, 6, 0))
	b.Set(keys.AppendLogRecord(nil, shard, keys.LogMembers), (&Members{Voters: []uint64{1}}).encode())
	b.apply(h.store)
	c.open(h)
	if !h.d.group(shard).silent(c.now) {
		t.Error("a replica that may not be alone any more does not wait")
	}
}

func TestMembersRecord(t *testing.T) {
	for _, m := range []*Members{
		{Voters: []uint64{1, 2, 3}},
		{Next: 1},
		{Voters: []uint64{1, 3, 1<<32 | 4}, Outgoing: []uint64{1, 2, 3}, Learners: []uint64{2<<32 | 5},
			Version: 77, Next: 3},
	} {
		b := AppendMembers(nil, m)
		got, err := DecodeMembers(b)
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(*m) {
			t.Errorf("%+v became %+v: %v", m, got, err)
		}
		for i := range b {
			if _, err := DecodeMembers(b[:i]); err == nil {
				t.Errorf("%d of %d bytes are members", i, len(b))
			}
		}
	}
	// As the releases write it that know no changes.
	if b := AppendMembers(nil, &Members{Voters: []uint64{1, 2, 3}}); string(b) != "\x01\x03\x01\x02\x03" {
		t.Errorf("%x", b)
	}
}
