package raft

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.etcd.io/raft/v3"

	"moka/kv"
)

// ErrNotLeader refuses what was asked of a leadership that is over or has never been here. Nothing happened, and nothing will.
var ErrNotLeader = errors.New("raft: this replica does not lead the shard (any more); nothing happened")

// Fixed settings; all times derive from the election timeout.
const (
	electionTicks  = 10
	heartbeatTicks = 2

	turnMessages  = 4 << 20  // bytes of messages that one turn steps
	queueMessages = 64 << 20 // bytes of messages that wait; what comes above is dropped, as a network does
	queueCommands = 1024     // proposals of one shard that wait for an entry
	readRounds    = 4        // ReadIndex rounds of one shard under way
)

// Options of a Driver. Zero values are replaced by the ones in brackets.
type Options struct {
	ElectionTimeout time.Duration // [1 s]
	// TruncateEntries and TruncateBytes are how much log may be kept that every replica has. [4,096; 4 MiB]
	TruncateEntries uint64
	TruncateBytes   int
	// CacheBytes of each shard's newest entries stay in memory. [4 MiB]
	CacheBytes int
	// KeepBytes is how much log a shard keeps for replicas that are away; then they need a snapshot.
	// [64 MiB]
	KeepBytes int
	// LogBytes is how much it keeps for those that are there and slow, or are being given a snapshot.
	// [1 GiB]
	LogBytes int
	// UncommittedBytes is how much a leader takes in before a quorum has it; then proposals are refused as busy. [64 MiB]
	UncommittedBytes uint64
	// Leaseless answers reads by ReadIndex only, for those who believe no clock's rate.
	Leaseless bool
}

func (o Options) withDefaults() Options {
	o.ElectionTimeout = cmp.Or(o.ElectionTimeout, time.Second)
	o.TruncateEntries = cmp.Or(o.TruncateEntries, 4096)
	o.TruncateBytes = cmp.Or(o.TruncateBytes, 4<<20)
	o.CacheBytes = cmp.Or(o.CacheBytes, 4<<20)
	o.KeepBytes = cmp.Or(o.KeepBytes, 64<<20)
	o.LogBytes = cmp.Or(o.LogBytes, 1<<30)
	o.UncommittedBytes = cmp.Or(o.UncommittedBytes, 64<<20)
	return o
}

// Timeout is the election timeout, of which all times derive.
func (o Options) Timeout() time.Duration { return o.withDefaults().ElectionTimeout }

// Proposal is one evaluated command. Its outcome comes once: in Applied.Proposals, in Turn.Refused (nothing happened), or in
// Ended.Unknown. It is never proposed again.
type Proposal struct {
	Lead    *Leadership // in which it was evaluated
	Flags   byte
	Command Command
}

func (p *Proposal) size() int { return len(p.Command.Batch) + 16*len(p.Command.Tablets) + 16 }

// Read asks whether Lead was the shard's only leadership at some moment since now. It is for reads without a lease.
type Read struct{ Lead *Leadership }

// Transfer asks a leader to hand the shard to another replica. Its leadership ends at once; if the transfer fails another one of
// the same term begins, without a lease.
type Transfer struct {
	Shard kv.ShardID
	To    uint64
}

// Input is what has come since the last turn.
type Input struct {
	Messages  []Message
	Proposals []*Proposal
	Reads     []*Read
	Transfers []Transfer
	// Ended leaderships: nothing runs in them any more. Until then no new one begins on this replica.
	Ended   []*Leadership
	Changes []*Change
	// Snapshots that were Wanted and have been fetched. Each comes back in Turn.Installs or
	// Turn.Discarded.
	Snapshots []*Snapshot
	// Sends of snapshots to other replicas that begin or are over.
	Sends []Send
}

// Event is something that happened to a shard: *Begun, *Ended or *Applied.
type Event interface{ event() }

// Begun is a leadership whose barrier is applied: everything that any predecessor has committed is in the state.
type Begun struct{ Lead *Leadership }

// Ended is the end of a leadership that had begun. Forget the hooks of its proposals before anything that follows is applied.
type Ended struct {
	Lead *Leadership
	// Unknown are in the log of this replica; whether they will be committed others decide.
	Unknown []*Proposal
}

// Applied is a committed entry. Its effects belong into the turn's batch. A stale one (R7) has none.
type Applied struct {
	Shard kv.ShardID
	Index uint64
	Term  uint64
	Chain uint64 // over all entries so far: equal at equal index on all replicas
	Entry Entry  // without commands for entries of raft's own
	Stale bool   // evaluated in another term than it was logged in: never happens, or a rule is broken
	// Check: when the turn's batch is applied the shard's state is that behind this entry, and of no later
	// one. Of two entries that ask for it and come together the second has none.
	Check bool
	// Proposals of the present leadership of this replica whose commands these are, one for each.
	Proposals []*Proposal
}

func (*Begun) event()   {}
func (*Ended) event()   {}
func (*Applied) event() {}

// Refusal is a proposal to which nothing happened.
type Refusal struct {
	Proposal *Proposal
	Err      error
}

// Answer is that of a Read: nil, or ErrNotLeader.
type Answer struct {
	Read *Read
	Err  error
}

// Turn is what one turn has to write, send and tell.
type Turn struct {
	// Sync: what is in the batch must be durable before Wrote.
	Sync bool
	// Early messages promise nothing and leave while the batch is being written.
	Early []Message
	// Events in the order of the log, shard by shard.
	Events  []Event
	Refused []Refusal
	Answers []Answer
	// Installs come before the batch. Discarded snapshots are of no use: the replica has gone on
	// without.
	Installs  []*Install
	Discarded []*Snapshot
	Wanted    []Wanted
	Changed   []Changed
	// Removed replicas stay, and do nothing, until Close.
	Removed []Removed

	late  []Message
	ready []*group
}

// Driver runs the replicas of one node. It is a function of its inputs and, for elections, crypto/rand: it starts no goroutine, reads
// no clock, opens no file, and is not safe for concurrent use.
//
//		Turn(now, batch, input)  tick, messages, proposals → batch, early messages, events
//	           host: Installs; effects of Applied into the batch; send Early; apply the batch; hooks and
//
// replies; sync if Sync
//
//	Wrote(turn)              → the messages that promise what is now durable
type Driver struct {
	o      Options
	groups []*group // by shard
	tick   time.Duration
	ticked Instant
	queue  []Message
	queued int
	seq    uint64 // of ReadIndex rounds
	busy   bool   // between Turn and Wrote
	// Dropped counts messages that found the queue full.
	Dropped uint64
}

// NewDriver returns a driver without replicas.
func NewDriver(now Instant, o Options) *Driver {
	o = o.withDefaults()
	return &Driver{o: o, tick: o.ElectionTimeout / electionTicks, ticked: now}
}

// Open adds the replica of a shard, whose records are in the store. It returns how far the state has come.
func (d *Driver) Open(now Instant, s Store, shard kv.ShardID, replica uint64) (applied uint64, err error) {
	l, at, chain, err := openLog(s, shard, d.o.CacheBytes)
	if err != nil {
		return 0, err
	}
	g := &group{d: d, shard: shard, id: replica, log: l, applied: at, chain: chain, born: now, since: now}
	g.setMembers(l.members)
	g.rn, err = raft.NewRawNode(&raft.Config{
		ID: replica, Storage: l, Applied: at.index,
		ElectionTick: electionTicks, HeartbeatTick: heartbeatTicks,
		PreVote: true, CheckQuorum: true, StepDownOnRemoval: true,
		DisableProposalForwarding: !planted(13),
		MaxSizePerMsg:             1 << 20, MaxCommittedSizePerReady: 4 << 20,
		MaxInflightMsgs: 256, MaxInflightBytes: 16 << 20, MaxUncommittedEntriesSize: d.o.UncommittedBytes,
		Logger: quiet{},
	})
	if err != nil {
		return 0, err
	}
	i, found := d.find(shard)
	if found {
		return 0, kv.Errorf(kv.CodeInternal, "raft.Open", "shard %d is open already", shard)
	}
	d.groups = slices.Insert(d.groups, i, g)
	return at.index, nil
}

func (d *Driver) find(shard kv.ShardID) (int, bool) {
	return slices.BinarySearchFunc(d.groups, shard, func(g *group, s kv.ShardID) int { return cmp.Compare(g.shard, s) })
}

func (d *Driver) group(shard kv.ShardID) *group {
	if i, ok := d.find(shard); ok {
		return d.groups[i]
	}
	return nil
}

// NextTick is when the next turn is due even if nothing comes.
func (d *Driver) NextTick() Instant { return d.ticked + Instant(d.tick) }

// Turn takes what has come and says what is to be done. b is an empty batch; a turn that fails must not be written, and the node
// must stop: the error says which replica cannot go on.
func (d *Driver) Turn(now Instant, b Batch, in Input) (*Turn, error) {
	if d.busy {
		panic("raft: Turn before the last one was written")
	}
	d.busy = true
	t := &Turn{}
	for _, g := range d.groups {
		if err := g.resume(b, t); err != nil {
			return nil, err
		}
	}
	if !planted(5) {
		d.tickOnce(now)
	}
	d.step(now, in.Messages)
	if planted(5) {
		for ; now >= d.NextTick(); d.ticked = d.NextTick() {
			d.tickAll()
		}
	}
	for _, l := range in.Ended {
		if g := d.group(l.Shard); g != nil && g.old == l {
			g.old = nil
		}
	}
	for _, p := range in.Proposals {
		if err := d.take(p); err != nil {
			t.Refused = append(t.Refused, Refusal{p, err})
		}
	}
	for _, r := range in.Reads {
		if g := d.group(r.Lead.Shard); g != nil && g.serving && g.lead == r.Lead {
			g.waiting = append(g.waiting, r)
		} else {
			t.Answers = append(t.Answers, Answer{r, ErrNotLeader})
		}
	}
	for _, o := range in.Transfers {
		if g := d.group(o.Shard); g != nil {
			g.orderTransfer(t, o.To)
		}
	}
	for _, c := range in.Changes {
		err := ErrNotLeader
		if g := d.group(c.Shard); g != nil {
			err = g.change(now, c)
		}
		t.Changed = append(t.Changed, Changed{c, err})
	}
	for _, s := range in.Snapshots {
		if g := d.group(s.Wanted.Shard); g != nil && g.offered == nil {
			g.offered = s
		} else {
			t.Discarded = append(t.Discarded, s)
		}
	}
	for _, s := range in.Sends {
		if g := d.group(s.Shard); g != nil {
			g.send(now, s)
		}
	}
	for _, g := range d.groups {
		if err := g.turn(now, b, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// tickOnce delivers a tick if one is due, and never makes up for one that was missed (R4): a follower that stood still has to keep
// silent for longer, not shorter.
func (d *Driver) tickOnce(now Instant) {
	if now < d.NextTick() {
		return
	}
	d.ticked = now
	d.tickAll()
}

func (d *Driver) tickAll() {
	for _, g := range d.groups {
		if g.removed {
			continue
		}
		g.rn.Tick()
		g.sinceRound++
		g.remind()
	}
}

// step hands messages to their replicas, up to a turn's share.
func (d *Driver) step(now Instant, more []Message) {
	for _, m := range more {
		if d.queued > queueMessages {
			d.Dropped++
			continue
		}
		d.queue = append(d.queue, m)
		d.queued += m.Size()
	}
	n, bytes := 0, 0
	for n < len(d.queue) && bytes < turnMessages {
		m := d.queue[n]
		n++
		bytes += m.Size()
		if g := d.group(m.Shard); g != nil {
			g.step(now, m.Message)
		}
	}
	d.queued -= bytes
	clear(d.queue[:n])
	if d.queue = d.queue[n:]; len(d.queue) == 0 {
		d.queue = nil
	}
}

// take puts a proposal into its shard's queue.
func (d *Driver) take(p *Proposal) error {
	g := d.group(p.Lead.Shard)
	switch {
	case g == nil:
		return ErrNotLeader
	case !g.mine(p):
		if planted(13) && g.lead == nil {
			e := Entry{Flags: p.Flags, Term: p.Lead.Term, Lead: p.Lead.N, Seq: 1 << 40, Commands: []Command{p.Command}}
			_ = g.rn.Propose(e.Append(nil))
		}
		return ErrNotLeader
	case p.size() > MaxEntry-256:
		return kv.Errorf(kv.CodeInvalidArgument, "raft.Propose", "a change of %d bytes; the most is %d: make it in parts", p.size(), MaxEntry-256)
	case len(p.Command.Tablets) > commandRefs:
		return kv.Errorf(kv.CodeInvalidArgument, "raft.Propose", "a change of %d tablets; the most is %d: make it in parts",
			len(p.Command.Tablets), commandRefs)
	case len(g.queue) >= queueCommands || g.queueBytes > int(d.o.UncommittedBytes):
		return errBusy
	}
	g.queue = append(g.queue, p)
	g.queueBytes += p.size()
	return nil
}

var errBusy = kv.Errorf(kv.CodeBusy, "raft.Propose", "the shard's replicas do not keep up; try again")

// Wrote says that the turn's batch is applied and, if it asked for that, durable. It returns what may be sent now, and whether
// there is work for another turn at once.
func (d *Driver) Wrote(t *Turn) (late []Message, more bool) {
	d.busy = false
	for _, g := range t.ready {
		g.rn.Advance(raft.Ready{})
	}
	for _, g := range d.groups {
		more = more || g.hasWork()
	}
	return t.late, more || len(d.queue) > 0
}

// Waiting is about how many bytes of messages wait for a turn, and of entries to be applied. Those of a
// leadership that serves are its own proposals.
func (d *Driver) Waiting() (messages, entries int) {
	for _, g := range d.groups {
		if !g.serving && !g.removed {
			entries += g.log.unapplied
		}
	}
	return d.queued, entries
}

// Status is what a replica knows of its shard.
type Status struct {
	Replica   uint64
	Term      uint64
	Leader    uint64 // zero: none known
	Leading   bool   // raft's leader; whether it serves is told by Begun and Ended
	Applied   uint64
	Committed uint64
	First     uint64
	Last      uint64
	LogBytes  int // about, from First to Last
	Chain     uint64
	Members   *Members
	Stale     uint64 // entries that R7 has made void; never but for a broken rule
}

// Status returns what the replica of a shard knows; zero if there is none.
func (d *Driver) Status(shard kv.ShardID) Status {
	g := d.group(shard)
	if g == nil {
		return Status{}
	}
	s := g.rn.BasicStatus()
	return Status{Replica: g.id, Term: s.GetTerm(), Leader: s.Lead, Leading: s.RaftState == raft.StateLeader, Applied: g.applied.index,
		Committed: s.GetCommit(), First: g.log.truncated.index + 1, Last: g.log.last.index, Chain: g.chain,
		Stale: g.stale, LogBytes: g.log.size, Members: g.members()}
}
