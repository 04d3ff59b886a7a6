package raft

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"moka/kv/keys"
)

// away makes a cluster with a replica that is down, and a log that does not go back to what it has.
func away(t *testing.T) (c *cluster, h, slow *host) {
	c = newCluster(t, 3, Options{TruncateEntries: 10, KeepBytes: 2000, CacheBytes: 500})
	h = c.leader()
	slow = c.hosts[h.id%3]
	c.down[slow.id] = true
	have := slow.d.Status(shard).Last
	for i := 0; h.d.Status(shard).First <= have+1; i++ {
		if i > 300 {
			t.Fatal("the log is not cut")
		}
		c.write(h, fmt.Sprint("c", i))
		c.pass(50 * time.Millisecond)
		if s := h.d.Status(shard); i < 20 && s.First > have+1 {
			t.Fatalf("after %d entries and one second the log begins at %d, and a replica that has %d was "+
				"there until then", i, s.First, have)
		}
	}
	return c, h, slow
}

func (c *cluster) write(h *host, s string) {
	h.propose(s)
	c.settle()
}

// fetch is what a host does for one that wants a snapshot: it takes another one's state.
func (c *cluster) fetch(from, to *host) *Snapshot {
	s, ok := from.d.State(shard)
	if !ok || len(to.wanted) == 0 {
		c.t.Fatal("nothing is wanted, or nobody has it")
	}
	s.Wanted = to.wanted[len(to.wanted)-1]
	to.applied = slices.Clone(from.applied)
	return &s
}

// A replica whose log was cut wants a snapshot, again and again until it has one, and goes on behind
// that. What is being sent holds the log (mistake 23), however long it takes; what is behind the state
// is kept by the disk, with this replica's vote and not the sender's (R16, mistake 22).
func TestSnapshotForWhoWasAway(t *testing.T) {
	c, h, slow := away(t)
	c.down[slow.id] = false
	c.pass(time.Second)
	if len(slow.wanted) == 0 {
		t.Fatal("no snapshot is wanted")
	}
	n := len(slow.wanted)
	c.pass(5 * time.Second)
	if len(slow.wanted) < n+2 {
		t.Errorf("it was told %d times, and %d times before: nobody says it again", len(slow.wanted), n)
	}
	s := c.fetch(h, slow)
	h.in.Sends = append(h.in.Sends, Send{shard, slow.id, s.Index, false})
	n = len(slow.wanted)
	c.down[slow.id] = true // too busy to say anything
	for i := range 100 {
		c.write(h, fmt.Sprint("d", i))
		c.pass(100 * time.Millisecond)
	}
	c.down[slow.id] = false
	if first := h.d.Status(shard).First; first > s.Index+1 {
		t.Fatalf("the log begins at %d, and a snapshot at %d is under way", first, s.Index)
	}
	if len(slow.wanted) > n {
		t.Error("it is told to fetch what it is fetching")
	}
	hard := slow.d.group(shard).log.hard
	term, vote := hard.GetTerm(), hard.GetVote()
	slow.in.Snapshots = append(slow.in.Snapshots, s)
	c.settle()
	h.in.Sends = append(h.in.Sends, Send{shard, slow.id, s.Index, true})
	c.pass(3 * time.Second)
	if len(slow.installed) != 1 || !slices.Equal(slow.applied, h.applied) || len(h.applied) < 120 {
		t.Fatalf("%d snapshots; it has applied %d commands, and the leader %d", len(slow.installed),
			len(slow.applied), len(h.applied))
	}
	a, b := slow.d.Status(shard), h.d.Status(shard)
	if a.Applied != b.Applied || a.Chain != b.Chain || a.Stale != 0 {
		t.Errorf("it is at %+v, the leader at %+v", a, b)
	}
	kept := keys.AppendLogRecord(nil, shard, keys.LogHardState)
	rs := slow.installed[0].Records
	i := slices.IndexFunc(rs, func(r Record) bool { return slices.Equal(r.Key, kept) })
	if got := rs[i].Value; vote == 0 || !slices.Equal(got, record(term, vote, s.Index)) {
		t.Errorf("its hard state is %x, with a vote for %d in term %d", got, vote, term)
	}
	c.open(slow) // its disk says the same
	again := slow.d.Status(shard)
	if again.Applied != a.Applied || again.Chain != a.Chain || again.Last != a.Last {
		t.Errorf("after a restart it is at %+v, and was at %+v", again, a)
	}
	for i := range 100 { // and holds the log no more
		c.write(h, fmt.Sprint("e", i))
	}
	if s := h.d.Status(shard); s.Last-s.First > 40 {
		t.Errorf("%d entries are kept", s.Last-s.First)
	}
}

// A snapshot of what the replica has already, or of other members, is not put in place (R17); nor is
// one while something of a leadership runs here (R15).
func TestSnapshotsThatAreNotTaken(t *testing.T) {
	c, h, slow := away(t)
	c.down[slow.id] = false
	c.pass(time.Second)
	old, foreign := c.fetch(h, slow), c.fetch(h, slow)
	old.Index = slow.d.Status(shard).Applied
	foreign.Members = &Members{Voters: slices.DeleteFunc([]uint64{1, 2, 3},
		func(id uint64) bool { return id == slow.id })}
	for _, s := range []*Snapshot{old, foreign} {
		slow.in.Snapshots = append(slow.in.Snapshots, s)
		c.settle()
	}
	if len(slow.installed) != 0 || len(slow.discarded) != 2 {
		t.Errorf("%d were taken, %d not", len(slow.installed), len(slow.discarded))
	}
	l := &Leadership{Shard: shard, Term: 1, N: 1}
	slow.d.group(shard).old = l
	s := c.fetch(h, slow)
	slow.in.Snapshots = append(slow.in.Snapshots, s)
	c.settle()
	if len(slow.installed) != 0 {
		t.Fatal("a snapshot takes the place of what a leadership reads")
	}
	slow.in.Ended = append(slow.in.Ended, l)
	c.settle()
	if len(slow.installed) != 1 {
		t.Error("it is not taken afterwards")
	}
	c.pass(3 * time.Second)
	if !slices.Equal(slow.applied, c.leader().applied) {
		t.Error("it has another state")
	}
	// A message of a leader that is over is no reason to fetch anything.
	n, stale := len(slow.wanted), uint64(1)
	m := &raftpb.Message{Type: raftpb.MsgSnap.Enum(), From: &h.id, To: &slow.id, Term: &stale,
		Snapshot: &raftpb.Snapshot{}}
	slow.in.Messages = append(slow.in.Messages, Message{shard, m})
	c.settle()
	if len(slow.wanted) != n {
		t.Error("a leader of an older term was believed")
	}
}

// Who is there and slow keeps the log up to a limit, and then the older half goes all the same. (It takes one
// entry now and then.)
func TestSlowReplicaIsLeftBehindAtLast(t *testing.T) {
	c := newCluster(t, 3, Options{TruncateEntries: 10, KeepBytes: 1000, LogBytes: 20_000})
	h := c.leader()
	slow := c.hosts[h.id%3]
	took := c.now
	c.drop = func(m Message) bool {
		if m.GetTo() != slow.id || m.GetType() != raftpb.MsgApp {
			return false
		}
		if len(m.GetEntries()) > 1 {
			m.Entries = m.Entries[:1]
		}
		if len(m.GetEntries()) == 0 || c.now-took < Instant(time.Second) {
			return true
		}
		took = c.now
		return false
	}
	for i := range 1000 {
		c.write(h, fmt.Sprint("c", i))
		c.pass(50 * time.Millisecond)
		s, has := h.d.Status(shard), slow.d.Status(shard).Last
		if s.LogBytes < 15_000 && i < 200 && s.First > has+1 {
			t.Fatalf("the log of %d bytes begins at %d, and a replica that is there has %d", s.LogBytes,
				s.First, has)
		}
		if s.LogBytes > 25_000 {
			t.Fatalf("the log grows to %d bytes", s.LogBytes)
		}
	}
	if h.d.Status(shard).First <= slow.d.Status(shard).Last+1 {
		t.Error("the log was not cut")
	}
}

// Who is there and takes nothing, as one whose disk is full, is given as long as who is away; and gets a
// snapshot when it takes entries again.
func TestFullReplicaIsLeftBehind(t *testing.T) {
	c := newCluster(t, 3, Options{TruncateEntries: 10, KeepBytes: 2000})
	h := c.leader()
	full := c.hosts[h.id%3]
	c.drop = func(m Message) bool { return m.GetTo() == full.id && m.Adds() }
	have := full.d.Status(shard).Last
	for i := range 300 {
		c.write(h, fmt.Sprint("c", i))
		c.pass(50 * time.Millisecond)
		s := h.d.Status(shard)
		if i < 40 && s.First > have+1 {
			t.Fatalf("after %d entries the log begins at %d, and a replica that had room until then has %d",
				i, s.First, have)
		}
		if i > 120 && s.LogBytes > 4000 {
			t.Fatalf("the log grows to %d bytes for one that takes nothing", s.LogBytes)
		}
	}
	c.drop = nil
	c.pass(3 * time.Second)
	s := c.fetch(h, full)
	h.in.Sends = append(h.in.Sends, Send{shard, full.id, s.Index, false})
	for i := range 150 { // it is being sent for longer than it may be silent, and is given time behind that
		c.write(h, fmt.Sprint("d", i))
		c.pass(50 * time.Millisecond)
	}
	h.in.Sends = append(h.in.Sends, Send{shard, full.id, s.Index, true})
	c.write(h, "e")
	full.in.Snapshots = append(full.in.Snapshots, s)
	c.pass(3 * time.Second)
	if len(full.installed) != 1 || !slices.Equal(full.applied, h.applied) {
		t.Errorf("%d snapshots; it has applied %d commands, and the leader %d", len(full.installed),
			len(full.applied), len(h.applied))
	}
}
