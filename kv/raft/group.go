package raft

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"moka/kv"
	"moka/kv/keys"
)

// group is one replica: the library's state machine, its log, and the leadership on top of it.
type group struct {
	d     *Driver
	shard kv.ShardID
	id    uint64
	rn    *raft.RawNode
	log   *log
	born  Instant

	applied position // the last entry in the state
	chain   uint64
	stale   uint64

	lead    *Leadership // the present one, which serves if its barrier is applied
	serving bool
	old     *Leadership // over, but the host still has commands of it running
	n       uint64      // leaderships so far
	seq     uint64      // of the next entry of lead

	queue      []*Proposal // not handed to raft
	queueBytes int
	pending    []handed // in the log, in its order

	transfer   transfer
	to         uint64
	leaseless  uint64 // the term in which a transfer was tried (R12)
	waiting    []*Read
	rounds     []round
	sinceRound int

	peers []peer  // all replicas
	since Instant // since when this replica is raft's leader

	rest    []*raftpb.Entry // committed, behind one that asked for a check: the next turn begins with them
	resumed bool            // this turn did

	changing    bool   // a change of members was proposed and is not applied
	confirmable uint64 // rounds up to it have asked those who were members before (R13)
	joined      uint64 // the leadership in which the members changed last
	removed     bool   // a member no more

	wanted     *Wanted   // told by the leader, not yet to the host
	offered    *Snapshot // by the host, not yet to raft
	installing *Snapshot // by raft's leave, from here to the next Ready
}

// handed is an entry that raft has taken.
type handed struct {
	seq       uint64
	proposals []*Proposal
}

// round is a ReadIndex under way.
type round struct {
	seq   uint64
	sent  Instant
	reads []*Read
}

type transfer uint8

const (
	noTransfer transfer = iota
	transferOrdered
	transferUnderWay
)

// silent reports whether the replica may neither vote nor campaign (R5): it may have supported a leader before it was started, and
// has forgotten until when. A shard of one voter has nobody to wait for.
func (g *group) silent(now Instant) bool {
	if now >= g.born+Instant(g.d.o.ElectionTimeout) || planted(6) {
		return false
	}
	m := g.members()
	alone := len(m.Voters) == 1 && !m.Joint() && !g.log.unsure // R19
	return !alone
}

// step gives raft a message that came over the network, if it is of a kind that may.
func (g *group) step(now Instant, m *raftpb.Message) {
	if m.GetTo() != g.id || g.removed {
		return // for a replica that was here before, or elsewhere
	}
	if p := g.peer(m.GetFrom()); p != nil {
		p.heard = now
	}
	switch m.GetType() {
	case raftpb.MsgVote, raftpb.MsgPreVote, raftpb.MsgTimeoutNow:
		if g.silent(now) {
			return
		}
	case raftpb.MsgAppResp:
		// Whoever gets an append of an older term says so with an answer that names no entry. If its sender leads again by then, the library
		// takes that for "I have nothing", goes back to the first entry, which may be gone, and asks for a snapshot.
		if m.GetIndex() == 0 && !m.GetReject() && m.GetTerm() <= g.rn.BasicStatus().GetTerm() {
			return
		}
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp, raftpb.MsgVoteResp, raftpb.MsgPreVoteResp:
	case raftpb.MsgSnap:
		g.want(m)
		return
	case raftpb.MsgProp:
		if !planted(13) {
			return
		}
	default:
		return
	}
	_ = g.rn.Step(m) // an answer of a stranger, or a proposal dropped: both as if it had been lost
}

// mine reports whether a proposal was evaluated in the leadership that is serving (R6, R18).
func (g *group) mine(p *Proposal) bool {
	if planted(12) && g.serving {
		return true
	}
	return g.serving && p.Lead == g.lead
}

func (g *group) orderTransfer(t *Turn, to uint64) {
	if !g.serving || to == g.id {
		return
	}
	if planted(8) {
		g.rn.TransferLeader(to)
		return
	}
	// R12: the one who is asked campaigns at once, and the others vote for it, whatever they have promised to us. So the lease goes first,
	// and a turn passes for those who have just asked for it.
	g.leaseless = g.lead.Term
	g.end(t)
	g.transfer, g.to = transferOrdered, to
}

// end ends the leadership: what was handed to raft has an unknown outcome, what was not has none.
func (g *group) end(t *Turn) {
	l := g.lead
	l.closed.Store(true)
	for _, r := range g.waiting {
		t.Answers = append(t.Answers, Answer{r, ErrNotLeader})
	}
	for _, round := range g.rounds {
		for _, r := range round.reads {
			t.Answers = append(t.Answers, Answer{r, ErrNotLeader})
		}
	}
	ended := &Ended{Lead: l}
	for _, h := range g.pending {
		ended.Unknown = append(ended.Unknown, h.proposals...)
	}
	if planted(58) {
		ended.Unknown = append(ended.Unknown, g.queue...)
	} else {
		for _, p := range g.queue {
			t.Refused = append(t.Refused, Refusal{p, ErrNotLeader})
		}
		g.queue, g.queueBytes = nil, 0
	}
	if planted(14) {
		g.queue = ended.Unknown
	}
	if g.serving {
		t.Events = append(t.Events, ended)
		g.old = l
	}
	g.lead, g.serving, g.pending, g.waiting, g.rounds = nil, false, nil, nil, nil
	g.changing = false
}

// begin starts a leadership: it serves when an entry that it proposed itself is applied (R18). Raft's own empty entry is not enough: a
// leadership of the same term may have left proposals in the log behind it.
func (g *group) begin(t *Turn, term uint64) {
	l := &Leadership{Shard: g.shard, Term: term, N: g.n + 1}
	e := Entry{Term: term, Lead: l.N}
	second := g.leaseless == term
	if err := g.rn.Propose(e.Append(nil)); err != nil {
		return // a full log, or a transfer: the next turn tries again
	}
	g.n++
	g.lead, g.seq = l, 1
	if planted(15) || planted(57) && second {
		g.serve(t)
	}
}

func (g *group) serve(t *Turn) {
	g.serving = true
	g.lead.used.Store(true) // a first round, so that there is a lease when the first read comes
	g.sinceRound = heartbeatTicks
	t.Events = append(t.Events, &Begun{g.lead})
}

// turn does what is to be done for one shard.
func (g *group) turn(now Instant, b Batch, t *Turn) error {
	if g.removed {
		g.away(t)
		return nil
	}
	s := g.rn.BasicStatus()
	leading := s.RaftState == raft.StateLeader
	if g.lead != nil && (!leading || s.GetTerm() != g.lead.Term) {
		g.end(t)
	}
	if g.transfer != noTransfer {
		switch {
		case !leading || s.GetTerm() != g.leaseless:
			g.transfer = noTransfer
		case g.transfer == transferOrdered:
			g.transfer = transferUnderWay
			g.rn.TransferLeader(g.to)
		case s.LeadTransferee == raft.None:
			g.transfer = noTransfer // it failed: lead on, without a lease
		}
	}
	if !leading {
		g.since = now
		for i := range g.peers {
			g.peers[i].sending, g.peers[i].idle, g.peers[i].match = 0, 0, 0
		}
	}
	if leading && g.lead == nil && g.old == nil && g.transfer == noTransfer {
		g.begin(t, s.GetTerm())
	}
	if g.serving {
		g.leave()
		g.hand(now, t)
		g.ask(now)
	}
	g.offer(t)
	if !g.rn.HasReady() {
		_, err := g.installed(t, raft.Ready{})
		return err
	}
	return g.take(now, b, t, g.rn.Ready())
}

// hand proposes the queue's next commands as one entry. Where nobody writes, an entry without commands
// cuts a log that has grown too long.
func (g *group) hand(now Instant, t *Turn) {
	if len(g.queue) == 0 && (g.log.size <= g.d.o.KeepBytes || len(g.pending) > 0) {
		return
	}
	cut := g.truncatable(now)
	if len(g.queue) == 0 && cut == 0 {
		return
	}
	e := Entry{Term: g.lead.Term, Lead: g.lead.N, Seq: g.seq, Truncated: cut}
	n, bytes := 0, 0
	for n < len(g.queue) && n < entryCommands && (n == 0 || bytes+g.queue[n].size() <= entryBytes) {
		p := g.queue[n]
		if n > 0 && p.Flags != e.Flags {
			break
		}
		if planted(58) && p.Lead.Term != g.lead.Term {
			g.queue = g.queue[1:] // its outcome was told as unknown
			return
		}
		if p.Lead != g.lead && !planted(12) && !planted(14) && !planted(58) {
			panic("raft: a proposal of another leadership in the queue")
		}
		e.Flags = p.Flags
		e.Commands = append(e.Commands, p.Command)
		bytes += p.size()
		n++
	}
	proposals := g.queue[:n:n]
	g.queue = g.queue[n:]
	g.queueBytes -= bytes
	if err := g.rn.Propose(e.Append(make([]byte, 0, bytes+64))); err != nil {
		for _, p := range proposals {
			t.Refused = append(t.Refused, Refusal{p, errBusy})
		}
		return
	}
	g.seq++
	g.pending = append(g.pending, handed{e.Seq, proposals})
}

// ask begins a ReadIndex round if there is reason to.
func (g *group) ask(now Instant) {
	if !g.asks() {
		return
	}
	g.lead.used.Store(false)
	g.sinceRound = 0
	g.d.seq++
	g.rounds = append(g.rounds, round{g.d.seq, now, g.waiting})
	g.waiting = nil
	g.rn.ReadIndex(binary.BigEndian.AppendUint64(nil, g.d.seq))
}

// confirmed is called when a quorum has answered a round: everybody in it has heard from this leader since it began.
func (g *group) confirmed(now Instant, seq uint64, t *Turn) {
	for len(g.rounds) > 0 && g.rounds[0].seq <= seq {
		r := g.rounds[0]
		g.rounds = g.rounds[1:]
		for _, read := range r.reads {
			t.Answers = append(t.Answers, Answer{read, nil})
		}
		asked := r.seq > g.confirmable && !g.changing
		if g.d.o.Leaseless || g.leaseless == g.lead.Term || !asked {
			continue
		}
		if planted(7) {
			r.sent = now
		}
		g.lead.extend(r.sent, int64(g.d.o.ElectionTimeout)/10*8)
	}
}

// take turns a Ready into the turn's batch, messages and events.
func (g *group) take(now Instant, b Batch, t *Turn, rd raft.Ready) error {
	t.ready = append(t.ready, g)
	t.Sync = t.Sync || rd.MustSync
	install, err := g.installed(t, rd)
	if err != nil {
		return err
	}
	if len(rd.Entries) > 0 {
		g.log.append(b, rd.Entries)
	}
	if !raft.IsEmptyHardState(rd.HardState) {
		h := rd.HardState
		if planted(2) {
			h = &raftpb.HardState{Term: h.Term, Commit: h.Commit}
		}
		g.log.setHard(b, h)
	}
	if install != nil {
		install.Records = g.records()
	}
	for _, m := range rd.Messages {
		// Entries travel while the leader itself writes them (thesis 10.2.1); whatever promises something waits for the sync (R1).
		if k := m.GetType(); k == raftpb.MsgApp || k == raftpb.MsgHeartbeat || planted(1) {
			t.Early = append(t.Early, Message{g.shard, m})
		} else {
			t.late = append(t.late, Message{g.shard, m})
		}
	}
	if planted(25) {
		for _, e := range rd.Entries {
			if e.GetType() != raftpb.EntryNormal {
				if err := g.reconfigure(b, e); err != nil {
					return err
				}
			}
		}
	}
	entries := rd.CommittedEntries
	if planted(3) {
		entries = rd.Entries
	}
	before, chain := g.applied, g.chain
	if err := g.applyAll(b, t, entries, true); err != nil {
		return err
	}
	if len(entries) > 0 {
		// R2: in the batch of the effects, or a crash would take one without the other.
		if !planted(4) {
			before, chain = g.applied, g.chain
		}
		b.Set(keys.AppendLogRecord(nil, g.shard, keys.LogApplied), record(before.index, before.term, chain))
	}
	for _, r := range rd.ReadStates {
		if g.lead != nil {
			g.confirmed(now, binary.BigEndian.Uint64(r.RequestCtx), t)
		}
	}
	return nil
}

// applyAll takes committed entries. With cut it stops behind the first one at which replicas are to be
// compared: raft believes that the rest is applied, too, so that comes before anything else is told to it.
func (g *group) applyAll(b Batch, t *Turn, entries []*raftpb.Entry, cut bool) error {
	for i, e := range entries {
		if err := g.apply(b, t, e); err != nil {
			return err
		}
		a, ok := t.Events[len(t.Events)-1].(*Applied)
		if cut && ok && a.Entry.Flags&Check != 0 && !a.Stale {
			a.Check = true
			g.rest = entries[i+1:]
			return nil
		}
	}
	return nil
}

// resume takes what was left behind a check.
func (g *group) resume(b Batch, t *Turn) error {
	rest := g.rest
	g.rest, g.resumed = nil, len(rest) > 0
	if !g.resumed {
		return nil
	}
	err := g.applyAll(b, t, rest, false)
	at := record(g.applied.index, g.applied.term, g.chain)
	b.Set(keys.AppendLogRecord(nil, g.shard, keys.LogApplied), at)
	return err
}

// apply takes one committed entry.
func (g *group) apply(b Batch, t *Turn, e *raftpb.Entry) error {
	g.applied = position{e.GetIndex(), e.GetTerm()}
	g.log.apply(e)
	g.chain = link(g.chain, e)
	a := &Applied{Shard: g.shard, Index: e.GetIndex(), Term: e.GetTerm(), Chain: g.chain}
	if e.GetType() != raftpb.EntryNormal {
		t.Events = append(t.Events, a)
		if planted(25) {
			return nil
		}
		return g.reconfigure(b, e)
	}
	if len(e.GetData()) == 0 { // raft's own, at the beginning of a term
		t.Events = append(t.Events, a)
		return nil
	}
	var err error
	if a.Entry, err = DecodeEntry(e.GetData()); err != nil {
		return kv.Errorf(kv.CodeCorrupt, "raft", "shard %d, entry %d: %v", g.shard, e.GetIndex(), err)
	}
	if a.Entry.Term != e.GetTerm() {
		g.stale++
		a.Stale = true
	}
	own := g.lead != nil && a.Entry.Term == g.lead.Term && a.Entry.Lead == g.lead.N
	if own && a.Entry.Seq > 0 {
		if len(g.pending) == 0 || g.pending[0].seq != a.Entry.Seq {
			if planted(3) || planted(13) {
				t.Events = append(t.Events, a)
				return nil
			}
			panic("raft: an entry of this leadership that it does not wait for")
		}
		a.Proposals = g.pending[0].proposals
		g.pending = g.pending[1:]
	}
	t.Events = append(t.Events, a)
	if own && a.Entry.Seq == 0 && !g.serving {
		g.serve(t)
	}
	if a.Entry.Truncated != 0 && a.Entry.Truncated < e.GetIndex() {
		return g.log.truncate(b, a.Entry.Truncated)
	}
	return nil
}

// link is the chain's next value.
func link(chain uint64, e *raftpb.Entry) uint64 {
	h := xxhash.New()
	var head [24]byte
	binary.BigEndian.PutUint64(head[:], chain)
	binary.BigEndian.PutUint64(head[8:], e.GetIndex())
	binary.BigEndian.PutUint64(head[16:], e.GetTerm())
	_, _ = h.Write(head[:])
	_, _ = h.Write(e.GetData())
	return h.Sum64()
}

// asks reports whether a ReadIndex round is to be begun: somebody waits for one, or the lease was asked for since the last.
func (g *group) asks() bool {
	return len(g.rounds) < readRounds && (len(g.waiting) > 0 || g.sinceRound >= heartbeatTicks && g.lead.used.Load())
}

func (g *group) hasWork() bool {
	if g.removed {
		return g.old == nil
	}
	if len(g.rest) > 0 || g.rn.HasReady() || g.transfer == transferOrdered || g.wanted != nil ||
		g.offered != nil && g.lead == nil && g.old == nil || g.serving && (len(g.queue) > 0 || g.asks()) {
		return true
	}
	if g.lead != nil || g.old != nil || g.transfer != noTransfer {
		return false
	}
	return g.rn.BasicStatus().RaftState == raft.StateLeader
}
