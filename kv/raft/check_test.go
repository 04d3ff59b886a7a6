package raft

import (
	"fmt"
	"slices"
	"testing"

	"moka/kv/keys"
)

// checked is a check as a host sees it: the state that it can look at when the turn's batch is applied.
type checked struct {
	index   uint64
	chain   uint64
	state   uint64   // the index in the applied record
	applied []string // commands, those of the turn among them
}

func (h *host) noteChecks(t *Turn) {
	var check *Applied
	all := slices.Clone(h.applied)
	for _, e := range t.Events {
		a, ok := e.(*Applied)
		if !ok {
			continue
		}
		for _, cmd := range a.Entry.Commands {
			all = append(all, string(cmd.Batch))
		}
		if a.Check {
			check = a
		}
	}
	if check == nil {
		return
	}
	b, _, _ := h.store.Get(keys.AppendLogRecord(nil, shard, keys.LogApplied))
	f := &fields{b: b[1:]}
	h.checks = append(h.checks, checked{check.Index, check.Chain, f.uvarint(), all})
}

// Behind an entry that asks for a check every replica shows the state of exactly that entry, also one that
// gets it together with all that follows; and goes on with what follows at once. A crash in between loses
// nothing.
func TestCheckIsBehindOneEntry(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	late := c.hosts[0]
	if late == h {
		late = c.hosts[1]
	}
	c.down[late.id] = true
	var want []string
	put := func() {
		want = append(want, fmt.Sprint("command ", len(want)))
		h.propose(want[len(want)-1])
	}
	for range 3 {
		put()
	}
	c.settle()
	before := slices.Clone(want)
	want = append(want, "check")
	h.propose("check").Flags = Check
	before = append(before, "check")
	for range 3 {
		put()
	}
	want = append(want, "another")
	h.propose("another").Flags = Check
	put()
	c.settle()
	c.down[late.id] = false
	for len(late.checks) == 0 { // until the turn of the check, and no further
		c.pass(c.o.withDefaults().ElectionTimeout / 100)
		if c.now > Instant(100*c.o.withDefaults().ElectionTimeout) {
			t.Fatal("no check")
		}
	}
	c.pass(c.o.withDefaults().ElectionTimeout)
	first := h.checks[0]
	for _, x := range c.hosts {
		if len(x.checks) == 0 {
			t.Fatalf("replica %d has seen no check", x.id)
		}
		got := x.checks[0]
		if got.index != first.index || got.chain != first.chain || got.state != first.index ||
			!slices.Equal(got.applied, before) {
			t.Errorf("replica %d: check at %d, chain %x, the state behind %d, %q; want %d, %x and %q",
				x.id, got.index, got.chain, got.state, got.applied, first.index, first.chain, before)
		}
		if !slices.Equal(x.applied, want) {
			t.Errorf("replica %d has applied %q, want %q", x.id, x.applied, want)
		}
		if x.chains[x.last.Index] != h.chains[x.last.Index] {
			t.Errorf("replica %d has another chain", x.id)
		}
	}
	if len(h.checks) != 2 || len(late.checks) != 1 {
		t.Errorf("the leader has seen %d checks, who got both at once %d; want 2 and 1", len(h.checks),
			len(late.checks))
	}
}

// A process that dies between a check and the entries behind it finds them in its log.
func TestCrashBehindACheck(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	late := c.hosts[int(h.id)%3]
	c.down[late.id] = true
	h.propose("check").Flags = Check
	c.settle()
	want := []string{"check"}
	for i := range 3 {
		want = append(want, fmt.Sprint("command ", i))
		h.propose(want[i+1])
		c.settle()
	}
	c.down[late.id] = false
	for turns := 0; len(late.checks) == 0; turns++ {
		if turns > 10_000 {
			t.Fatal("no check")
		}
		for _, x := range c.hosts {
			if c.turn(x); len(late.checks) > 0 {
				break
			}
		}
		c.now += Instant(h.d.tick / 4)
	}
	if len(late.applied) != 1 {
		t.Fatalf("%q are applied with the check", late.applied)
	}
	c.open(late)
	c.pass(2 * c.o.withDefaults().ElectionTimeout)
	if !slices.Equal(late.applied, want) {
		t.Errorf("applied %q, want %q", late.applied, want)
	}
}
