package raft

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"moka/kv"
	"moka/kv/keys"
)

// A replica that was away for longer than the log is kept gets the state whole:
//
//	leader: MsgSnap, no data ─► Turn.Wanted ─► host fetches the state of any moment since, into files
//	Input.Snapshots ─► raft takes it, or has more already ─► Turn.Installs: one step, before the batch
//	leader: Input.Sends, while a host reads: the log behind the snapshot stays until it has arrived

// Wanted says that the leader has no log any more that this replica could go on with. It is told again
// until the replica has a state from which it can.
type Wanted struct {
	Shard kv.ShardID
	From  uint64 // the leader
	ask   *raftpb.Message
}

// Snapshot is the state of a shard behind the entry at Index, as a host has fetched it.
type Snapshot struct {
	Wanted  Wanted
	Index   uint64
	Term    uint64 // of the entry
	Chain   uint64
	Members *Members
}

// Install asks for a snapshot to take the place of a replica's state and log, in one step that is
// durable when it is done, before the turn's batch is applied: the shard's state, and in [Lower,
// Upper) these records, of which nothing is the sender's own (R16).
type Install struct {
	Snapshot     *Snapshot
	Lower, Upper []byte
	Records      []Record
}

// Record is a key and what it holds.
type Record struct{ Key, Value []byte }

// Send says that a host gives a replica the state of a shard behind Index, or that it does not any
// more. The log behind it is kept meanwhile.
type Send struct {
	Shard kv.ShardID
	To    uint64
	Index uint64
	Over  bool
}

// How long, in election timeouts, a replica may be silent before it is away, and one that needs a
// snapshot may go without fetching it before it is told again.
const (
	awayTimeouts  = 5
	againTimeouts = 2
)

// State names the state of a shard's replica between two turns, as it may be given to another one.
func (d *Driver) State(shard kv.ShardID) (s Snapshot, ok bool) {
	g := d.group(shard)
	if g == nil {
		return s, false
	}
	return Snapshot{Index: g.applied.index, Term: g.applied.term, Chain: g.chain,
		Members: g.members()}, true
}

// want notes that the leader has only a snapshot for this replica.
func (g *group) want(m *raftpb.Message) {
	if m.GetTerm() >= g.rn.BasicStatus().GetTerm() && m.GetSnapshot() != nil {
		g.wanted = &Wanted{g.shard, m.GetFrom(), m}
	}
}

// offer gives raft what the host has fetched. It waits for the end of the last leadership here: what
// of it still runs reads the state that is about to be replaced (R15).
func (g *group) offer(t *Turn) {
	if g.wanted != nil {
		t.Wanted = append(t.Wanted, *g.wanted)
		g.wanted = nil
	}
	if g.offered == nil || g.lead != nil || g.old != nil {
		return
	}
	if g.resumed {
		return // the turn's batch has effects of entries before it, and is applied behind it
	}
	s := g.offered
	g.offered = nil
	if !s.Members.Has(g.id) {
		t.Discarded = append(t.Discarded, s)
		return
	}
	ask := s.Wanted.ask
	m := &raftpb.Message{Type: raftpb.MsgSnap.Enum(), To: &g.id, From: ask.From, Term: ask.Term,
		Snapshot: &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
			Index: &s.Index, Term: &s.Term, ConfState: s.Members.state()}}}
	// What is at or below the commit index is not taken (R17): then there is none in the next Ready.
	_ = g.rn.Step(m)
	g.installing = s
}

// installed notes what is about to be the state, if raft has taken what it was offered; entries and
// hard state of the same Ready come on top.
func (g *group) installed(t *Turn, rd raft.Ready) (*Install, error) {
	s := g.installing
	g.installing = nil
	if raft.IsEmptySnap(rd.Snapshot) {
		if s != nil {
			t.Discarded = append(t.Discarded, s)
		}
		return nil, nil
	}
	if s == nil || rd.Snapshot.GetMetadata().GetIndex() != s.Index {
		return nil, kv.Errorf(kv.CodeInternal, "raft", "shard %d takes a snapshot that nobody has fetched",
			g.shard)
	}
	g.applied, g.chain = position{s.Index, s.Term}, s.Chain
	g.log.reset(g.applied)
	g.setMembers(s.Members)
	in := &Install{Snapshot: s}
	in.Lower, in.Upper = keys.LogSpan(g.shard)
	t.Installs = append(t.Installs, in)
	t.Sync = true
	return in, nil
}

// records are those beside the log of a replica whose state has just been replaced.
func (g *group) records() []Record {
	r := func(kind keys.LogRecord, v []byte) Record {
		return Record{keys.AppendLogRecord(nil, g.shard, kind), v}
	}
	h := g.log.hard
	rs := []Record{
		r(keys.LogHardState, record(h.GetTerm(), h.GetVote(), max(h.GetCommit(), g.applied.index))),
		r(keys.LogTruncated, record(g.applied.index, g.applied.term)),
		r(keys.LogApplied, record(g.applied.index, g.applied.term, g.chain)),
		r(keys.LogMembers, g.members().encode()),
	}
	slices.SortFunc(rs, func(a, b Record) int { return slices.Compare(a.Key, b.Key) })
	return rs
}

// peer is what a leader keeps of a replica beside what raft does.
type peer struct {
	id      uint64
	heard   Instant // when it sent something last
	sending uint64  // the index of the snapshot that it is being given
	idle    int     // for how many ticks it has not fetched the one that it needs
	match   uint64  // what it had when it last had something new, or had all,
	moved   Instant // and when that was
}

func (g *group) peer(id uint64) *peer {
	for i := range g.peers {
		if g.peers[i].id == id {
			return &g.peers[i]
		}
	}
	return nil
}

// send notes who is being given a snapshot. Behind it he is given time to say so.
func (g *group) send(now Instant, s Send) {
	if p := g.peer(s.To); p != nil {
		p.moved = now
		if p.sending = s.Index; s.Over {
			p.sending = 0
		}
	}
}

// remind tells a replica again that it needs a snapshot, if it does not fetch one: the message, or
// what it has fetched, may have been lost. Raft itself waits for ever.
func (g *group) remind() {
	if !g.serving {
		return
	}
	for i := range g.peers {
		p := &g.peers[i]
		if p.sending != 0 || g.progress(p.id).State != tracker.StateSnapshot {
			p.idle = 0
		} else if p.idle++; p.idle > againTimeouts*electionTicks {
			p.idle = 0
			g.rn.ReportSnapshot(p.id, raft.SnapshotFailure)
		}
	}
}

// progress is what raft knows of a replica.
func (g *group) progress(id uint64) (found tracker.Progress) {
	g.rn.WithProgress(func(of uint64, _ raft.ProgressType, p tracker.Progress) {
		if of == id {
			found = p
		}
	})
	return found
}

// truncatable returns the last index that may be forgotten, if that is worth the while. A log is kept
// for all replicas up to KeepBytes, beyond that for those that are there and take entries, or are being
// given a snapshot of what is before it; and beyond LogBytes the older half of it goes, whoever would have
// needed it: a write must not wait for the slowest. Who is there and takes nothing has a disk that is full,
// and that may last: other disks are not to be filled for it.
func (g *group) truncatable(now Instant) uint64 {
	first, size, o := g.log.truncated.index, g.log.size, &g.d.o
	if g.applied.index-first < o.TruncateEntries && size < o.TruncateBytes {
		return 0
	}
	least := g.applied.index
	for i := range g.peers {
		peer := &g.peers[i]
		if peer.id == g.id {
			continue
		}
		p := g.progress(peer.id)
		if p.Match > peer.match || p.Match >= g.applied.index {
			peer.match, peer.moved = p.Match, now
		}
		needs, last := p.Match, max(min(peer.heard, peer.moved), g.since)
		switch {
		case peer.sending != 0:
			needs = max(needs, peer.sending)
		case size > o.KeepBytes && now-last > awayTimeouts*Instant(o.ElectionTimeout):
			continue
		case p.State == tracker.StateSnapshot:
			needs = max(needs, p.PendingSnapshot)
		}
		least = min(least, needs)
	}
	if size > o.LogBytes {
		least = max(least, first+(g.applied.index-first)/2)
	}
	if least <= first {
		return 0
	}
	return least
}
