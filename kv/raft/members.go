package raft

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"moka/kv"
	"moka/kv/keys"
)

// Who has a replica changes one step at a time:
//
//	Change{Learn: node}      a learner, without a vote; it fetches the state whole
//	Change{Promote, Remove}  both in one joint step, which whoever leads then leaves
//	Change{Remove}           a learner that is given up, or a voter without a successor
//
// Each names the Version that it is meant for, so that who has slept changes nothing. A replica that is
// not among the members any more when it has applied a step is over (Turn.Removed).

// A replica's number names its node in the lower half, and says in the upper one the how manieth replica
// of its shard it is, of those that were added: a node that had one gets another number the next time. Who
// was a member from the beginning has its node's number.
const nodeBits = 32

// Node is the node of a replica.
func Node(replica uint64) kv.NodeID { return kv.NodeID(replica & (1<<nodeBits - 1)) }

// Incarnation grows with each replica that is added to a shard; zero for those from the beginning.
func Incarnation(replica uint64) uint64 { return replica >> nodeBits }

// Members are the replicas of a shard, as they are in the state of one of them. They are not changed.
type Members struct {
	Voters   []uint64 // ascending, as the others
	Outgoing []uint64 // voters until the joint step is left; none outside of one
	Learners []uint64
	Version  uint64 // the index of the entry that made them; zero from the beginning
	Next     uint64 // the incarnation of the next one that is added
}

// All lists the replicas.
func (m *Members) All() (all []uint64) {
	all = slices.Concat(m.Voters, m.Outgoing, m.Learners)
	slices.Sort(all)
	return slices.Compact(all)
}

// Has reports whether a replica is among them.
func (m *Members) Has(replica uint64) bool {
	return slices.Contains(m.Voters, replica) || slices.Contains(m.Outgoing, replica) ||
		slices.Contains(m.Learners, replica)
}

// Joint reports whether a step is to be left.
func (m *Members) Joint() bool { return len(m.Outgoing) > 0 }

// On returns the replica on a node, zero if there is none.
func (m *Members) On(n kv.NodeID) uint64 {
	for _, r := range m.All() {
		if Node(r) == n {
			return r
		}
	}
	return 0
}

// Nodes lists the nodes that have a replica.
func (m *Members) Nodes() (ns []kv.NodeID) {
	for _, r := range m.All() {
		ns = append(ns, Node(r))
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

func (m *Members) state() *raftpb.ConfState {
	return &raftpb.ConfState{Voters: m.Voters, VotersOutgoing: m.Outgoing, Learners: m.Learners}
}

// maxReplicas bounds the replicas of a shard, learners among them.
const maxReplicas = 16

const membersVersion = 2

// encode writes the record: | 1 | n | voter … | as long as nothing has changed, as a release without changes
// knows it, or | 2 | n | voter … | n | outgoing … | n | learner … | version | next |.
func (m *Members) encode() []byte {
	if m.Version == 0 && m.Next == 0 && len(m.Voters) > 0 {
		return record(append([]uint64{uint64(len(m.Voters))}, m.Voters...)...)
	}
	var ns []uint64
	for _, l := range [...][]uint64{m.Voters, m.Outgoing, m.Learners} {
		ns = append(append(ns, uint64(len(l))), l...)
	}
	b := record(append(ns, m.Version, m.Next)...)
	b[0] = membersVersion
	return b
}

// AppendMembers appends what DecodeMembers reads.
func AppendMembers(b []byte, m *Members) []byte { return append(b, m.encode()...) }

// DecodeMembers reads what is left of b as members.
func DecodeMembers(b []byte) (*Members, error) {
	if len(b) == 0 || b[0] != recordVersion && b[0] != membersVersion {
		return nil, corrupt("the members of a shard are written in a way that this binary does not know")
	}
	f := &fields{b: b[1:]}
	list := func() (l []uint64) {
		n := f.uvarint()
		if n > maxReplicas {
			f.bad = true
		}
		for ; n > 0 && !f.bad; n-- {
			l = append(l, f.uvarint())
		}
		return l
	}
	m := &Members{Voters: list()}
	if b[0] == membersVersion {
		m.Outgoing, m.Learners = list(), list()
		m.Version, m.Next = f.uvarint(), f.uvarint()
	}
	if f.bad || len(f.b) != 0 {
		return nil, corrupt("the members of a shard do not end where they should")
	}
	return m, nil
}

// Create writes the records of a replica that has nothing yet: it waits for the leader to tell it that it
// needs the state.
func Create(b Batch, shard kv.ShardID) {
	set := func(kind keys.LogRecord, v []byte) { b.Set(keys.AppendLogRecord(nil, shard, kind), v) }
	set(keys.LogHardState, record(0, 0, 0))
	set(keys.LogTruncated, record(0, 0))
	set(keys.LogApplied, record(0, 0, 0))
	set(keys.LogMembers, (&Members{Next: 1}).encode())
}

// Change asks a leader for the next step. It answers in Turn.Changed; that it was proposed does not say
// that it will be committed.
type Change struct {
	Shard   kv.ShardID
	Version uint64    // of the members that it is meant for
	Learn   kv.NodeID // gets a learner
	Promote uint64    // a learner that is to vote
	Remove  uint64    // a replica that is to go
}

// Changed is the answer to a Change.
type Changed struct {
	Change *Change
	Err    error
}

// Removed says that a replica is a member no more: it has no further part in anything, and what the node
// has of it goes.
type Removed struct {
	Shard   kv.ShardID
	Replica uint64
}

const (
	// behind is how many committed entries a learner may lack when it becomes a voter.
	behind = 1024
	// heardTimeouts is for how many election timeouts a replica counts as there that was heard of.
	heardTimeouts = 2
)

func refuse(format string, args ...any) error {
	return kv.Errorf(kv.CodeBusy, "raft.Change", format, args...)
}

// change takes the next step, if it is one.
func (g *group) change(now Instant, c *Change) error {
	m := g.members()
	switch {
	case !g.serving:
		return ErrNotLeader
	case c.Version != m.Version:
		return refuse("the members of shard %d have changed meanwhile; nothing happened", g.shard)
	case m.Joint() || g.changing:
		return refuse("the members of shard %d are changing; nothing happened", g.shard)
	case c.Remove == g.id:
		return refuse("replica %d of shard %d leads it; it hands it over first", g.id, g.shard)
	}
	var cc raftpb.ConfChangeV2
	step := func(kind raftpb.ConfChangeType, id uint64) {
		cc.Changes = append(cc.Changes, &raftpb.ConfChangeSingle{Type: kind.Enum(), NodeId: &id})
	}
	switch {
	case c.Learn != 0:
		if c.Promote != 0 || c.Remove != 0 || m.On(c.Learn) != 0 || len(m.All()) >= maxReplicas-1 {
			return refuse("node %d has a replica of shard %d already, or there are too many", c.Learn,
				g.shard)
		}
		id := max(m.Next, 1)<<nodeBits | uint64(c.Learn)
		if planted(24) {
			id = uint64(c.Learn)
		}
		step(raftpb.ConfChangeAddLearnerNode, id)
	case c.Promote != 0:
		if err := g.promotable(now, c.Promote); err != nil {
			return err
		}
		step(raftpb.ConfChangeAddNode, c.Promote)
		fallthrough
	default:
		if c.Remove != 0 && !m.Has(c.Remove) || c.Promote == 0 && c.Remove == 0 {
			return refuse("replica %d of shard %d is no member", c.Remove, g.shard)
		}
		if err := g.leavesQuorum(now, c); err != nil {
			return err
		}
		if c.Remove != 0 {
			step(raftpb.ConfChangeRemoveNode, c.Remove)
		}
	}
	if len(cc.Changes) > 1 {
		// Not left by itself: a leader that goes before would leave it for ever.
		cc.Transition = raftpb.ConfChangeTransitionJointExplicit.Enum()
	}
	return g.proposeChange(&cc)
}

func (g *group) proposeChange(cc *raftpb.ConfChangeV2) error {
	if err := g.rn.ProposeConfChange(cc); err != nil {
		return refuse("shard %d takes no changes now: %v", g.shard, err)
	}
	g.changing = true
	g.lead.until.Store(0) // R13
	return nil
}

// there reports whether a replica was heard of lately.
func (g *group) there(now Instant, id uint64) bool {
	p := g.peer(id)
	return id == g.id || p != nil && p.heard != 0 &&
		now-p.heard < heardTimeouts*Instant(g.d.o.ElectionTimeout)
}

// promotable sees that a learner has nearly everything.
func (g *group) promotable(now Instant, id uint64) error {
	m := g.members()
	if !slices.Contains(m.Learners, id) {
		return refuse("replica %d of shard %d is no learner", id, g.shard)
	}
	p, commit := g.progress(id), g.rn.BasicStatus().GetCommit()
	if p.State != tracker.StateReplicate || p.Match+behind < commit || !g.there(now, id) {
		return refuse("replica %d of shard %d has not caught up yet: it has entries up to %d of %d", id,
			g.shard, p.Match, commit)
	}
	return nil
}

// leavesQuorum sees that most of those that will vote are there, and that nobody who is there goes while
// another voter is silent.
func (g *group) leavesQuorum(now Instant, c *Change) error {
	silent, voters, live := false, 0, 0
	for _, v := range append(slices.Clone(g.members().Voters), c.Promote) {
		if v == 0 || v == c.Remove {
			continue
		}
		voters++
		if g.there(now, v) {
			live++
		} else {
			silent = true
		}
	}
	if live <= voters/2 {
		return refuse("too few of the replicas of shard %d that would be left are there", g.shard)
	}
	if silent && slices.Contains(g.members().Voters, c.Remove) && g.there(now, c.Remove) {
		return refuse("another replica of shard %d is silent, and the one that is to go is not", g.shard)
	}
	return nil
}

// leave ends a joint step, whoever has begun it.
func (g *group) leave() {
	if g.members().Joint() && !g.changing && !(planted(26) && g.lead.N != g.joined) {
		_ = g.proposeChange(&raftpb.ConfChangeV2{}) // a full log: the next turn tries again
	}
}

func (g *group) members() *Members { return g.log.members }

// reconfigure applies a change of members. The record is in the batch of the entry (R2).
func (g *group) reconfigure(b Batch, e *raftpb.Entry) error {
	cc := &raftpb.ConfChangeV2{}
	if e.GetType() == raftpb.EntryConfChange {
		return kv.Errorf(kv.CodeCorrupt, "raft", "shard %d, entry %d: a change of members of an old kind",
			g.shard, e.GetIndex())
	}
	if err := proto.Unmarshal(e.GetData(), cc); err != nil {
		return kv.Errorf(kv.CodeCorrupt, "raft", "shard %d, entry %d: %v", g.shard, e.GetIndex(), err)
	}
	was := g.members()
	g.setMembers(was.next(e.GetIndex(), g.rn.ApplyConfChange(cc)))
	b.Set(keys.AppendLogRecord(nil, g.shard, keys.LogMembers), g.members().encode())
	// Rounds that were begun before have asked others (R13).
	g.changing, g.confirmable = false, g.d.seq
	if g.lead != nil {
		g.joined = g.lead.N
	}
	if was.Has(g.id) && !g.members().Has(g.id) {
		g.removed = true
	}
	return nil
}

// next are the members behind an entry.
func (m *Members) next(index uint64, s *raftpb.ConfState) *Members {
	sorted := func(l []uint64) []uint64 {
		l = slices.Clone(l)
		slices.Sort(l)
		return l
	}
	n := &Members{Voters: sorted(s.Voters), Outgoing: sorted(s.VotersOutgoing), Learners: sorted(s.Learners),
		Version: index, Next: max(m.Next, 1)}
	for _, r := range n.All() {
		n.Next = max(n.Next, Incarnation(r)+1)
	}
	return n
}

// setMembers keeps what is known of replicas that stay.
func (g *group) setMembers(m *Members) {
	g.log.members = m
	var ps []peer
	for _, id := range m.All() {
		if p := g.peer(id); p != nil {
			ps = append(ps, *p)
		} else {
			ps = append(ps, peer{id: id})
		}
	}
	g.peers = ps
}

// Peer is what a leader knows of a replica.
type Peer struct {
	Replica uint64
	Match   uint64 // entries that it has written down
	There   bool   // it was heard of lately
	Waits   bool   // it needs a snapshot
}

// Peers lists what the leader of a shard knows of its replicas, nothing if it is not here.
func (d *Driver) Peers(now Instant, shard kv.ShardID) (ps []Peer) {
	g := d.group(shard)
	if g == nil || g.rn.BasicStatus().RaftState != raft.StateLeader {
		return nil
	}
	for _, id := range g.members().All() {
		p := g.progress(id)
		ps = append(ps, Peer{id, p.Match, g.there(now, id), p.State == tracker.StateSnapshot})
	}
	return ps
}

// away says that a removed replica is over, once nothing runs any more in its last leadership.
func (g *group) away(t *Turn) {
	if g.lead != nil {
		g.end(t)
	}
	if g.old == nil {
		t.Removed = append(t.Removed, Removed{g.shard, g.id})
	}
}

// Remove ends a replica of which the host has proof that it is a member no more.
func (d *Driver) Remove(shard kv.ShardID, replica uint64) {
	if g := d.group(shard); g != nil && g.id == replica {
		g.removed = true
	}
}

// Close forgets a replica that was Removed, with whose records the host has done away.
func (d *Driver) Close(shard kv.ShardID) {
	if i, ok := d.find(shard); ok {
		d.groups = slices.Delete(d.groups, i, i+1)
	}
}
