package raft

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/btree"
	"go.etcd.io/raft/v3/raftpb"

	"moka/kv"
)

// table is a Store, with batches that are applied at once.
type table struct{ t btree.Map[string, []byte] }

func (s *table) Get(key []byte) ([]byte, bool, error) {
	v, ok := s.t.Get(string(key))
	return v, ok, nil
}

func (s *table) Scan(lower, upper []byte, f func(k, v []byte) error) (err error) {
	s.t.Ascend(string(lower), func(k string, v []byte) bool {
		if k >= string(upper) {
			return false
		}
		err = f([]byte(k), v)
		return err == nil
	})
	return err
}

type ops []func(*table)

func (o *ops) Set(key, value []byte) {
	k, v := string(key), bytes.Clone(value)
	*o = append(*o, func(s *table) { s.t.Set(k, v) })
}

func (o *ops) DeleteRange(lower, upper []byte) {
	lo, hi := string(lower), string(upper)
	*o = append(*o, func(s *table) {
		var gone []string
		s.t.Ascend(lo, func(k string, _ []byte) bool {
			if k < hi {
				gone = append(gone, k)
			}
			return k < hi
		})
		for _, k := range gone {
			s.t.Delete(k)
		}
	})
}

func (o ops) apply(s *table) {
	for _, f := range o {
		f(s)
	}
}

const shard kv.ShardID = 7

// host is one node of a test's cluster; all share a clock, which the test moves.
type host struct {
	id      uint64
	store   *table
	d       *Driver
	in      Input
	lead    *Leadership
	applied []string // batches of commands, in order
	chains  map[uint64]uint64
	last    *Applied
	ended   []*Ended
	began   []*Leadership
	refused []Refusal
	answers []Answer
	keepOld bool // do not say that ended leaderships are over

	checks    []checked
	wanted    []Wanted
	installed []*Install
	discarded []*Snapshot
	changed   []Changed
	removed   bool
}

type cluster struct {
	t     *testing.T
	now   Instant
	o     Options
	hosts []*host
	down  map[uint64]bool
	drop  func(m Message) bool
	sent  func(h *host, t *Turn, early bool, m Message)
}

func newCluster(t *testing.T, n int, o Options) *cluster {
	c := &cluster{t: t, o: o, down: map[uint64]bool{}}
	var voters []uint64
	for i := range n {
		voters = append(voters, uint64(i+1))
	}
	for _, id := range voters {
		h := &host{id: id, store: &table{}, chains: map[uint64]uint64{}}
		var b ops
		Bootstrap(&b, shard, voters)
		b.apply(h.store)
		c.hosts = append(c.hosts, h)
		c.open(h)
	}
	return c
}

// open starts a host's process anew.
func (c *cluster) open(h *host) {
	h.d, h.lead, h.in = NewDriver(c.now, c.o), nil, Input{}
	if _, err := h.d.Open(c.now, h.store, shard, h.id); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) turn(h *host) (more bool) {
	in := h.in
	h.in = Input{}
	var b ops
	t, err := h.d.Turn(c.now, &b, in)
	if err != nil {
		c.t.Fatal(err)
	}
	c.deliver(h, t, true, t.Early)
	h.wanted = append(h.wanted, t.Wanted...)
	h.discarded = append(h.discarded, t.Discarded...)
	h.changed = append(h.changed, t.Changed...)
	for _, r := range t.Removed {
		h.removed, h.store = true, &table{}
		h.d.Close(r.Shard)
	}
	for _, in := range t.Installs {
		h.installed = append(h.installed, in)
		var log ops
		log.DeleteRange(in.Lower, in.Upper)
		for _, r := range in.Records {
			log.Set(r.Key, r.Value)
		}
		log.apply(h.store)
	}
	b.apply(h.store)
	h.noteChecks(t)
	h.refused = append(h.refused, t.Refused...)
	h.answers = append(h.answers, t.Answers...)
	for _, e := range t.Events {
		switch e := e.(type) {
		case *Begun:
			if h.last == nil || h.last.Entry.Term != e.Lead.Term || h.last.Entry.Lead != e.Lead.N || h.last.Entry.Seq != 0 {
				c.t.Errorf("replica %d serves, and its barrier is not what was applied last", h.id)
			}
			h.lead = e.Lead
			h.began = append(h.began, e.Lead)
		case *Ended:
			h.ended = append(h.ended, e)
			if h.lead = nil; !h.keepOld {
				h.in.Ended = append(h.in.Ended, e.Lead)
			}
		case *Applied:
			h.last = e
			for _, cmd := range e.Entry.Commands {
				h.applied = append(h.applied, string(cmd.Batch))
			}
			h.chains[e.Index] = e.Chain
		}
	}
	late, more := h.d.Wrote(t)
	c.deliver(h, t, false, late)
	return more || len(h.in.Ended) > 0
}

func (c *cluster) deliver(h *host, t *Turn, early bool, ms []Message) {
	for _, m := range ms {
		if c.sent != nil {
			c.sent(h, t, early, m)
		}
		n := int(Node(m.GetTo()))
		if n > len(c.hosts) || c.down[h.id] || c.drop != nil && c.drop(m) {
			continue
		}
		if to := c.hosts[n-1]; !c.down[to.id] {
			to.in.Messages = append(to.in.Messages, m)
		}
	}
}

// settle gives turns until nothing is left to do at this moment.
func (c *cluster) settle() {
	for range 1000 {
		more := false
		for _, h := range c.hosts {
			if !c.down[h.id] {
				more = c.turn(h) || more
			}
		}
		for _, h := range c.hosts {
			more = more || !c.down[h.id] && len(h.in.Messages)+len(h.in.Proposals)+len(h.in.Reads) > 0
		}
		if !more {
			return
		}
	}
	c.t.Fatal("the cluster does not come to rest")
}

// pass lets time go by in steps of half a tick.
func (c *cluster) pass(d time.Duration) {
	step := c.hosts[0].d.tick / 2
	for ; d > 0; d -= step {
		c.now += Instant(step)
		c.settle()
	}
}

func (c *cluster) leader() *host {
	for range 200 {
		for _, h := range c.hosts {
			if h.lead != nil && !c.down[h.id] && h.lead.Valid(c.now) {
				return h
			}
		}
		c.pass(50 * time.Millisecond)
	}
	c.t.Fatal("nobody leads")
	return nil
}

func (h *host) propose(s string) *Proposal {
	p := &Proposal{Lead: h.lead, Command: Command{Batch: []byte(s)}}
	h.in.Proposals = append(h.in.Proposals, p)
	return p
}

func TestReplicasApplyTheSame(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		c := newCluster(t, n, Options{})
		h := c.leader()
		var want []string
		for i := range 300 {
			want = append(want, fmt.Sprint("command ", i))
			h.propose(want[i])
			if i%7 == 0 {
				c.settle()
			}
		}
		c.settle()
		c.pass(300 * time.Millisecond)
		for _, other := range c.hosts {
			if !slices.Equal(other.applied, want) {
				t.Errorf("%d members: replica %d applied %d commands, or others", n, other.id, len(other.applied))
			}
			for index, chain := range other.chains {
				if h.chains[index] != chain {
					t.Fatalf("chains differ at %d", index)
				}
			}
		}
	}
}

// R1: whatever promises something waits for the sync of the turn, in every turn that has one.
func TestPromisesLeaveBehindTheSync(t *testing.T) {
	c := newCluster(t, 3, Options{})
	late := 0
	c.sent = func(_ *host, _ *Turn, early bool, m Message) {
		switch m.GetType() {
		case raftpb.MsgAppResp, raftpb.MsgVoteResp, raftpb.MsgPreVoteResp, raftpb.MsgHeartbeatResp, raftpb.MsgVote:
			late++
			if early {
				t.Errorf("%v left before the sync", m.GetType())
			}
		}
	}
	c.leader().propose("x")
	c.settle()
	if late == 0 {
		t.Fatal("nothing was promised")
	}
}

// R18: a leadership begins behind its own barrier, and what a predecessor has committed is applied by then.
func TestLeadershipBeginsBehindItsBarrier(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	if s := h.d.Status(shard); s.Applied < firstIndex+2 {
		t.Fatalf("serves with index %d applied: raft's own entry and the barrier come first", s.Applied)
	}
	h.propose("acknowledged")
	c.settle()
	c.down[h.id] = true
	next := c.leader()
	if next == h || !slices.Contains(next.applied, "acknowledged") {
		t.Fatalf("replica %d serves without what was acknowledged", next.id)
	}
	if next.lead.Term <= h.began[0].Term {
		t.Fatal("the next leadership has no greater term")
	}
}

// R6: what was evaluated in a leadership that is over is refused, and leaves no trace.
func TestStaleProposalsAreRefused(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	old := h.lead
	c.down[h.id] = true
	next := c.leader()
	c.down[h.id] = false
	c.pass(time.Second)
	for _, h := range []*host{h, next} {
		h.in.Proposals = append(h.in.Proposals, &Proposal{Lead: old, Command: Command{Batch: []byte("stale")}})
	}
	c.settle()
	for _, h := range []*host{h, next} {
		if len(h.refused) != 1 || !errors.Is(h.refused[0].Err, ErrNotLeader) {
			t.Errorf("replica %d: refused %v", h.id, h.refused)
		}
	}
	for _, h := range c.hosts {
		if slices.Contains(h.applied, "stale") || h.d.Status(shard).Stale != 0 {
			t.Errorf("replica %d has logged it", h.id)
		}
	}
}

// A leader that hears from nobody gives up, and says of each proposal what it knows; it has no lease in that time.
func TestLeaderWithoutQuorumGivesUp(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	lead := h.lead
	for _, other := range c.hosts {
		c.down[other.id] = other != h
	}
	h.propose("unknown")
	c.turn(h)
	c.pass(850 * time.Millisecond)
	if lead.Valid(c.now) {
		t.Error("the lease outlives its time without anybody's answer")
	}
	c.pass(1500 * time.Millisecond)
	if len(h.ended) != 1 || len(h.ended[0].Unknown) != 1 || string(h.ended[0].Unknown[0].Command.Batch) != "unknown" {
		t.Fatalf("ended: %v", h.ended)
	}
	h.lead = lead
	h.propose("late")
	c.turn(h)
	if len(h.refused) != 1 || !errors.Is(h.refused[0].Err, ErrNotLeader) {
		t.Fatalf("refused: %v", h.refused)
	}
}

// The lease counts from when the round was sent, not from when its answer came.
func TestLeaseCountsFromSending(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	until := Instant(h.lead.until.Load())
	c.drop = func(m Message) bool { return m.GetType() == raftpb.MsgHeartbeatResp }
	var held []Message
	c.sent = func(from *host, _ *Turn, _ bool, m Message) {
		if m.GetType() == raftpb.MsgHeartbeatResp && len(m.GetContext()) > 0 {
			held = append(held, m)
		}
	}
	h.lead.Valid(c.now)
	c.pass(200 * time.Millisecond) // a round is sent
	if len(held) == 0 {
		t.Fatal("no round was sent")
	}
	sent := c.now
	c.pass(500 * time.Millisecond)
	h.in.Messages = append(h.in.Messages, held[0])
	c.drop = nil
	c.turn(h)
	now := Instant(h.lead.until.Load())
	if now <= until || now > sent+Instant(800*time.Millisecond) {
		t.Fatalf("sent by %v, lease until %v (before: %v)", sent, now, until)
	}
}

// R12: the lease goes before the transfer, and does not come back in the term in which it failed.
func TestTransferEndsTheLease(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	first, to := h.lead, h.id%3+1
	c.down[to] = true
	h.in.Transfers = []Transfer{{shard, to}}
	c.turn(h)
	if first.Valid(c.now) || !first.Closed() || len(h.ended) != 1 {
		t.Fatal("the leadership goes on while the lead is being handed over")
	}
	for range 300 {
		if c.pass(50 * time.Millisecond); h.lead != nil {
			break
		}
	}
	if h.lead == nil || h.lead.Term != first.Term || h.lead.N <= first.N {
		t.Fatalf("after a failed transfer: %+v, before %+v", h.lead, first)
	}
	c.pass(500 * time.Millisecond)
	if h.lead.Valid(c.now) {
		t.Error("a lease in the term of a failed transfer")
	}
	r := &Read{h.lead}
	h.in.Reads = []*Read{r}
	c.settle()
	if len(h.answers) != 1 || h.answers[0] != (Answer{r, nil}) {
		t.Errorf("a read without a lease: %v", h.answers)
	}

	c.down[to] = false
	c.pass(time.Second)
	h.in.Transfers = []Transfer{{shard, to}}
	c.pass(500 * time.Millisecond)
	if next := c.leader(); next.id != to {
		t.Errorf("%d leads; the lead was handed to %d", next.id, to)
	}
}

// A leadership does not begin while commands of the one before run on the same replica.
func TestNextLeadershipWaitsForTheHost(t *testing.T) {
	c := newCluster(t, 1, Options{})
	h := c.leader()
	h.keepOld = true
	h.in.Transfers = []Transfer{{shard, 9}} // nobody: it fails at once
	c.pass(3 * time.Second)
	if h.lead != nil || len(h.ended) != 1 {
		t.Fatalf("leads %v", h.lead)
	}
	h.in.Ended = []*Leadership{h.ended[0].Lead}
	c.settle()
	if h.lead == nil || h.lead.N != 2 || len(h.began) != 2 {
		t.Fatalf("leads %+v", h.lead)
	}
}

// R5: who was just started has forgotten whom it supported, and keeps silent for an election timeout.
func TestRestartedReplicaKeepsSilent(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	other := c.hosts[h.id%3]
	c.open(other)
	third := c.hosts[(h.id+1)%3]
	vote := func() (granted bool) {
		term := third.d.Status(shard).Term + 1
		last, _ := third.d.groups[0].log.LastIndex()
		logTerm, _ := third.d.groups[0].log.Term(last)
		other.in.Messages = []Message{{shard, &raftpb.Message{Type: raftpb.MsgPreVote.Enum(), From: &third.id, To: &other.id,
			Term: &term, Index: &last, LogTerm: &logTerm}}}
		c.sent = func(_ *host, _ *Turn, _ bool, m Message) {
			granted = granted || m.GetType() == raftpb.MsgPreVoteResp && !m.GetReject()
		}
		c.turn(other)
		c.sent = nil
		return granted
	}
	c.now += Instant(900 * time.Millisecond)
	if vote() {
		t.Error("voted within an election timeout of its start")
	}
	c.now += Instant(200 * time.Millisecond)
	if !vote() {
		t.Error("does not vote later either")
	}
}

// R4: ticks that were missed are not made up for.
func TestMissedTicksAreMissed(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.hosts[c.leader().id%3]
	c.now += Instant(10 * time.Second)
	h.in = Input{}
	c.sent = func(_ *host, _ *Turn, _ bool, m Message) { t.Errorf("sends %v", m.GetType()) }
	c.turn(h)
	c.turn(h)
	if h.d.ticked != c.now {
		t.Fatal("no tick was delivered")
	}
	if h.d.NextTick() != c.now+Instant(100*time.Millisecond) {
		t.Fatal("the next tick is due at once")
	}
}

// A restart finds what was written, and R3: what is applied counts as committed.
func TestRestartFindsLogAndState(t *testing.T) {
	c := newCluster(t, 3, Options{CacheBytes: 300})
	h := c.leader()
	for i := range 100 {
		h.propose(fmt.Sprint("c", i))
		c.settle()
	}
	before := h.d.Status(shard)
	for _, h := range c.hosts {
		c.open(h)
	}
	if s := h.d.Status(shard); s.Applied != before.Applied || s.Chain != before.Chain || s.Last != before.Last || s.Committed < s.Applied {
		t.Fatalf("%+v, before %+v", s, before)
	}
	n := len(h.applied)
	h = c.leader()
	h.propose("after")
	c.pass(time.Second)
	for _, h := range c.hosts {
		if len(h.applied) != n+1 {
			t.Errorf("replica %d applied %d commands, want %d", h.id, len(h.applied), n+1)
		}
	}
}

// Logs are cut where everybody has them, and only there.
func TestLogIsTruncatedBehindTheSlowest(t *testing.T) {
	c := newCluster(t, 3, Options{TruncateEntries: 20, CacheBytes: 500})
	h := c.leader()
	slow := h.id%3 + 1
	write := func(n int) {
		for i := range n {
			h.propose(fmt.Sprint("c", i))
			c.settle()
		}
		c.pass(300 * time.Millisecond)
	}
	write(100)
	if s := h.d.Status(shard); s.Last-s.First > 50 {
		t.Errorf("%d entries are kept", s.Last-s.First)
	}
	c.down[slow] = true
	have := c.hosts[slow-1].d.Status(shard).Last
	write(100)
	if s := h.d.Status(shard); s.First > have+1 {
		t.Errorf("the log begins at %d, and replica %d has it to %d", s.First, slow, have)
	}
	c.down[slow] = false
	c.pass(3 * time.Second)
	h = c.leader()
	write(30)
	for _, other := range c.hosts {
		s := other.d.Status(shard)
		stored := 0
		other.store.t.Scan(func(k string, _ []byte) bool { stored++; return true })
		if s.Last-s.First > 60 || stored > 70 {
			t.Errorf("replica %d keeps %d entries, %d records", other.id, s.Last-s.First, stored)
		}
		if !slices.Equal(other.applied, h.applied) {
			t.Errorf("replica %d has another state", other.id)
		}
	}
}

// Queues and entries have limits, and what is above them is refused whole.
func TestLimits(t *testing.T) {
	c := newCluster(t, 3, Options{UncommittedBytes: 4096})
	h := c.leader()
	p := &Proposal{Lead: h.lead, Command: Command{Batch: make([]byte, MaxEntry)}}
	h.in.Proposals = append(h.in.Proposals, p)
	c.settle()
	if len(h.refused) != 1 || !errors.Is(h.refused[0].Err, kv.ErrInvalidArgument) {
		t.Fatalf("refused: %v", h.refused)
	}
	h.refused = nil
	for _, other := range c.hosts {
		c.down[other.id] = other != h
	}
	for i := range 3 * queueCommands {
		h.propose(fmt.Sprintf("%0100d", i))
	}
	c.turn(h)
	if len(h.refused) < queueCommands {
		t.Errorf("%d refused of %d", len(h.refused), 3*queueCommands)
	}
	for _, r := range h.refused {
		if !errors.Is(r.Err, kv.ErrBusy) {
			t.Fatal(r.Err)
		}
	}
	c.pass(3 * time.Second)
	if n := len(h.refused) + len(h.ended[0].Unknown); n != 3*queueCommands {
		t.Errorf("%d proposals have an outcome, of %d", n, 3*queueCommands)
	}
}

// A message of a kind that no replica sends to another is not stepped.
func TestOnlyReplicasMessagesAreStepped(t *testing.T) {
	c := newCluster(t, 3, Options{})
	h := c.leader()
	from, to := uint64(2), h.id
	for kind := range raftpb.MessageType_name {
		k := raftpb.MessageType(kind)
		switch k {
		case raftpb.MsgProp, raftpb.MsgHup, raftpb.MsgBeat, raftpb.MsgCheckQuorum, raftpb.MsgTransferLeader, raftpb.MsgReadIndex, raftpb.MsgSnap,
			raftpb.MsgUnreachable, raftpb.MsgForgetLeader, raftpb.MsgStorageAppend, raftpb.MsgStorageAppendResp, raftpb.MsgStorageApplyResp:
			h.in.Messages = append(h.in.Messages, Message{shard, &raftpb.Message{Type: &k, From: &from, To: &to,
				Entries: []*raftpb.Entry{{Data: []byte("intruder")}}}})
		}
	}
	before := h.d.Status(shard)
	c.turn(h)
	if s := h.d.Status(shard); s != before {
		t.Fatalf("%+v, before %+v", s, before)
	}
}

// A follower that gets an old append says so without naming an entry. That is no reason to begin with the first entry, which is gone.
func TestAnswerToAnOldAppend(t *testing.T) {
	c := newCluster(t, 3, Options{TruncateEntries: 10})
	h := c.leader()
	for i := range 50 {
		h.propose(fmt.Sprint("c", i))
		c.settle()
	}
	c.down[h.id] = true
	next := c.leader() // it has not heard of h in its term
	if next.d.Status(shard).First <= firstIndex+1 {
		t.Fatal("the log was not cut")
	}
	next.in.Messages = append(next.in.Messages, Message{shard, &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), From: &h.id, To: &next.id,
		Term: &next.lead.Term}})
	c.settle()
	c.down[h.id] = false
	next.propose("for all")
	c.pass(3 * time.Second)
	if !slices.Equal(h.applied, c.leader().applied) {
		t.Errorf("replica %d has applied %d commands, the leader %d", h.id, len(h.applied), len(c.leader().applied))
	}
}
