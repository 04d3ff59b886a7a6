package sim

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"moka/kv"
	"moka/kv/raft"
)

// replica is a shard's state on one node: what is on the disk, and the locks, which are in memory and have an image there. It follows the
// log on every node alike. Whoever leads has a leadership besides.
type replica struct {
	n      *node
	shard  kv.ShardID
	id     uint64 // zero: the node has none
	prefix string

	applied, chain uint64
	count          uint64 // commands applied: an effect that depends on the state, so one that is applied twice shows
	locks          map[string]lock

	lead   *leadership
	old    map[*leadership]bool        // over, with commands still running
	asked  map[*raft.Proposal]*command // proposals at the driver
	reads  map[*raft.Read]*command     // questions at the driver
	strays map[string]*command         // guards that outlived their leadership: only by mistake
	late   []*command                  // commands whose hooks wait although the leadership is over: only by mistake
	memory *memory                     // that of the first leadership, kept by mistake
}

// lock is what a two-phase transaction leaves on a key until it is committed.
type lock struct {
	x, start uint64
}

// Keys of a shard's state, behind its prefix.
const (
	versionKey = "v/" // key / ts: x, start
	rawKey     = "w/" // key: all x
	lockKey    = "L/" // key: x, start
	tombKey    = "r/" // key / start: a transaction that may not commit any more
	countKey   = "n"
)

func openReplica(n *node, shard kv.ShardID, applied uint64) *replica {
	r := &replica{n: n, shard: shard, prefix: "S" + strconv.Itoa(int(shard)) + "/", applied: applied, locks: map[string]lock{},
		old: map[*leadership]bool{}, asked: map[*raft.Proposal]*command{}, reads: map[*raft.Read]*command{}, strays: map[string]*command{}}
	n.disk.each(r.prefix+lockKey, func(key string, v []byte) { r.locks[key] = decodeLock(v) })
	if v, ok := r.get(countKey); ok {
		r.count = binary.BigEndian.Uint64(v)
	}
	return r
}

func (n *node) replica(s kv.ShardID) *replica { return n.replicas[s-1] }

func (r *replica) get(key string) ([]byte, bool) { return r.n.disk.seen.Get(r.prefix + key) }

func pair(a, b uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, a), b)
}

func decodeLock(v []byte) lock {
	return lock{binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])}
}

func stamp(key string, ts uint64) string { return fmt.Sprintf("%s/%016x", key, ts) }

// effects is what a command wants to change: it travels as a command's batch.
type effects []change

func (e effects) encode() (b []byte) {
	for _, c := range e {
		kind := byte(1)
		if c.deleted {
			kind = 2
		}
		b = binary.AppendUvarint(append(b, kind), uint64(len(c.key)))
		b = binary.AppendUvarint(append(b, c.key...), uint64(len(c.value)))
		b = append(b, c.value...)
	}
	return b
}

func decodeEffects(b []byte) (e effects) {
	text := func() []byte {
		n, w := binary.Uvarint(b)
		s := b[w : w+int(n)]
		b = b[w+int(n):]
		return s
	}
	for len(b) > 0 {
		c := change{deleted: b[0] == 2}
		b = b[1:]
		c.key = string(text())
		c.value = text()
		e = append(e, c)
	}
	return e
}

// stage adds what a committed entry changes to the turn's batch.
func (r *replica) stage(b *batch, a *raft.Applied) {
	w := r.n.w
	w.note("apply", r.n.id, uint64(r.shard), a.Index, a.Term, a.Chain)
	w.check.committed(r, a)
	r.applied, r.chain = a.Index, a.Chain
	if a.Entry.Truncated > 0 {
		w.stats.Truncated++
	}
	for _, c := range a.Entry.Commands {
		for _, e := range decodeEffects(c.Batch) {
			if e.deleted {
				b.delete(r.prefix + e.key)
			} else {
				b.Set([]byte(r.prefix+e.key), e.value)
			}
		}
		r.count++
	}
	if len(a.Entry.Commands) > 0 {
		b.Set([]byte(r.prefix+countKey), binary.BigEndian.AppendUint64(nil, r.count))
	}
}

// applyMemory is the part of an entry's application that is in memory: the locks, and then the hooks of whoever waits for it here.
func (r *replica) applyMemory(a *raft.Applied) {
	for i, c := range a.Entry.Commands {
		for _, e := range decodeEffects(c.Batch) {
			key, ok := cutPrefix(e.key, lockKey)
			switch {
			case !ok:
			case e.deleted:
				delete(r.locks, key)
			default:
				r.locks[key] = decodeLock(e.value)
			}
		}
		switch {
		case i < len(a.Proposals):
			r.done(a.Proposals[i])
		case len(r.late) > 0:
			c := r.late[0]
			r.late = r.late[1:]
			c.finish(c.result)
		}
	}
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}

// done is the outcome that everybody hopes for.
func (r *replica) done(p *raft.Proposal) {
	if c := r.asked[p]; c != nil {
		delete(r.asked, p)
		c.finish(c.result)
	}
}

func (r *replica) refused(f raft.Refusal) {
	if c := r.asked[f.Proposal]; c != nil {
		delete(r.asked, f.Proposal)
		if f.Err == raft.ErrNotLeader {
			c.finish(r.notLeader())
		} else {
			c.finish(answer{code: busy})
		}
	}
}

func (r *replica) answered(a raft.Answer) {
	c := r.reads[a.Read]
	delete(r.reads, a.Read)
	switch {
	case c == nil:
	case a.Err != nil:
		c.finish(r.notLeader())
	default:
		r.n.w.stats.Leaseless++
		c.finish(c.result)
	}
}

// notLeader says who leads, as far as this node knows.
func (r *replica) notLeader() answer {
	s := r.n.d.Status(r.shard)
	return answer{code: notLeader, node: uint64(raft.Node(s.Leader)), term: s.Term}
}

// begin opens a leadership: everything in it is new.
func (r *replica) begin(l *raft.Leadership) {
	w := r.n.w
	w.note("begin", r.n.id, uint64(r.shard), l.Term, l.N)
	w.check.leads(r, l)
	w.stats.Leaderships++
	m := newMemory()
	if planted(16) {
		if r.memory != nil {
			m = r.memory
		}
		r.memory = m
	}
	r.lead = &leadership{r: r, l: l, memory: m, latches: map[string][]*command{}, guards: map[string]*command{}}
}

// end closes one: who waits is told, what is in the log is unknown, and what runs is waited for.
func (r *replica) end(e *raft.Ended) {
	ld := r.lead
	r.n.w.note("end", r.n.id, uint64(r.shard), e.Lead.Term, e.Lead.N)
	r.lead, ld.over = nil, true
	r.old[ld] = true
	if planted(17) {
		for _, key := range mvccKeys {
			if c := ld.guards[key]; c != nil {
				r.strays[key] = c
			}
		}
	}
	for _, key := range allKeys {
		if q := ld.latches[key]; len(q) > 1 {
			ld.latches[key] = q[:1]
			for _, c := range q[1:] {
				c.finish(r.notLeader())
			}
		}
	}
	blocked := ld.blocked
	ld.blocked = nil
	for _, c := range blocked {
		c.finish(r.notLeader())
	}
	for _, p := range e.Unknown {
		c := r.asked[p]
		delete(r.asked, p)
		switch {
		case c == nil:
		case planted(18):
			r.late = append(r.late, c)
		default:
			c.finish(answer{code: unknown})
		}
	}
	ld.leave()
}
