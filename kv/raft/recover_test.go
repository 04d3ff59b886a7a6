package raft

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"
)

// The replica that is left leads alone, with all that it has written down, committed or not; a change of the
// members that it had in its log, and that nobody may have committed, has no effect any more. It takes new
// members as any other.
func TestAlone(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	for i := range 5 {
		h.propose(fmt.Sprint("c", i))
	}
	c.pass(time.Second)
	// From here on nobody else hears of anything.
	for _, x := range c.hosts {
		c.down[x.id] = x != h
	}
	h.propose("late")
	h.in.Changes = append(h.in.Changes, &Change{Shard: shard, Version: h.members().Version, Learn: 4})
	c.turn(h)
	h.propose("later")
	c.turn(h)
	c.turn(h)
	before, err := Inspect(h.store, shard)
	if err != nil || before.LastIndex < before.Applied+3 || len(before.Members.Voters) != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	changes := func() (n int) {
		l, _, _, err := openLog(h.store, shard, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.read(l.truncated.index+1, ^uint64(0), func(e *raftpb.Entry) bool {
			if e.GetType() != raftpb.EntryNormal {
				n++
			}
			return true
		})
		return n
	}
	if changes() != 1 {
		t.Fatalf("%d changes of members in the log", changes())
	}
	number, had := Number(Node(h.id), 9), slices.Clone(h.applied)
	var b ops
	if err := Alone(&b, h.store, shard, number, before.Term+1); err != nil {
		t.Fatal(err)
	}
	b.apply(h.store)
	after, err := Inspect(h.store, shard)
	if err != nil || after.LastIndex != before.LastIndex || after.Applied != before.Applied ||
		changes() != 0 ||
		!slices.Equal(after.Members.Voters, []uint64{number}) || after.Members.Next != 10 {
		t.Fatalf("%+v, %d changes, %v", after, changes(), err)
	}
	h.id = number
	c.open(h)
	c.down[h.id] = false
	c.hosts = c.hosts[Node(h.id)-1 : Node(h.id)]
	for range 100 {
		if h.lead != nil {
			break
		}
		c.pass(100 * time.Millisecond)
	}
	if h.lead == nil {
		t.Fatal("it does not lead")
	}
	h.propose("new")
	c.settle()
	if want := append(had, "late", "later", "new"); !slices.Equal(h.applied, want) {
		t.Errorf("applied %q, want %q", h.applied, want)
	}
	if m := h.members(); len(m.All()) != 1 {
		t.Errorf("members %+v", m)
	}
	if err := c.change(h, Change{Learn: Node(h.id)%3 + 1}); err != nil { // whoever of the three has led
		t.Fatal(err)
	}
	if m := h.members(); len(m.Learners) != 1 || Incarnation(m.Learners[0]) != 10 {
		t.Errorf("members %+v", m)
	}
}
