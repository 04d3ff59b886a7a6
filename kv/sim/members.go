package sim

import (
	"encoding/binary"
	"slices"
	"strconv"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/raft"
)

// With Options.Members there are nodes without replicas, and members change all the while: replicas come
// to nodes and go, by the host's rules (kv/raft/host), whose part the nodes here play. New ones, and those
// that were away for long, get the state whole.

// numbered is what a node has of a shard: a replica, zero for none, and the least incarnation that may come.
type numbered struct{ replica, least uint64 }

func (n *node) numberKey(s kv.ShardID) string { return "N" + strconv.Itoa(int(s)) }

func (n *node) number(s kv.ShardID) numbered {
	v, ok := n.disk.seen.Get(n.numberKey(s))
	if !ok {
		return numbered{}
	}
	return numbered{binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])}
}

func (x numbered) put(b *batch, n *node, s kv.ShardID) {
	b.Set([]byte(n.numberKey(s)), pair(x.replica, x.least))
}

// durable applies a batch that is synced before anything else happens.
func (n *node) durable(b batch) { n.disk.sync(n.disk.apply(b)) }

// open opens what a node has of a shard, in the place of what it had in memory.
func (n *node) open(s kv.ShardID) {
	var applied uint64
	id := n.number(s).replica
	if id != 0 {
		var err error
		if applied, err = n.d.Open(n.now(), n.disk, s, id); err != nil {
			n.w.fail("node %d: %v", n.id, err)
		}
	}
	r := openReplica(n, s, applied)
	r.id = id
	r.chain = n.d.Status(s).Chain
	n.replicas[s-1] = r
}

// admit makes room for replicas that leaders have given to this node.
func (n *node) admit(ms []raft.Message) {
	for _, m := range ms {
		r, to := n.replica(m.Shard), m.GetTo()
		i := raft.Incarnation(to)
		reused := planted(24) && to == n.id
		switch {
		case r.id != 0 && i > raft.Incarnation(r.id):
			n.d.Remove(m.Shard, r.id)
		case r.id == 0 && (reused || i > 0 && i >= n.number(m.Shard).least):
			n.w.note("create", n.id, uint64(m.Shard), to)
			var b batch
			raft.Create(&b, m.Shard)
			numbered{to, n.number(m.Shard).least}.put(&b, n, m.Shard)
			n.durable(b)
			n.open(m.Shard)
		}
	}
}

// remove does away with a replica that is a member no more.
func (n *node) remove(x raft.Removed) {
	n.w.note("remove", n.id, uint64(x.Shard), x.Replica)
	n.w.stats.Removed++
	r := n.replica(x.Shard)
	var b batch
	numbered{0, raft.Incarnation(x.Replica) + 1}.put(&b, n, x.Shard)
	lower, upper := keys.LogSpan(x.Shard)
	b.DeleteRange(lower, upper)
	b.DeleteRange([]byte(r.prefix), []byte(r.prefix+"\xff"))
	n.durable(b)
	n.d.Close(x.Shard)
	n.open(x.Shard)
}

// want fetches the state of a shard from another node, over a network that may lose it: the leader says
// again that it is wanted.
func (n *node) want(q raft.Wanted) {
	w := n.w
	from := w.nodes[raft.Node(q.From)-1]
	w.net.send(n.id, from.id, func() {
		from.do(from.life, func() {
			s, ok := from.d.State(q.Shard)
			if !ok {
				return
			}
			s.Wanted = q
			var state batch
			r := from.replica(q.Shard)
			from.disk.each(r.prefix, func(k string, v []byte) { state.Set([]byte(r.prefix+k), v) })
			to := s.Members.On(kv.NodeID(n.id))
			send := raft.Send{Shard: q.Shard, To: to, Index: s.Index}
			from.in.Sends = append(from.in.Sends, send)
			from.kick()
			from.after(w.between(0, 2*w.et), func() {
				send.Over = true
				from.in.Sends = append(from.in.Sends, send)
				from.kick()
			})
			w.net.send(from.id, n.id, func() {
				n.do(n.life, func() {
					if planted(21) {
						state = nil
					}
					n.arrived[&s] = state
					n.in.Snapshots = append(n.in.Snapshots, &s)
					n.kick()
				})
			})
		})
	})
}

// install puts a state in the place of a replica's, in one step.
func (n *node) install(in *raft.Install) {
	shard := in.Snapshot.Wanted.Shard
	r := n.replica(shard)
	n.w.note("install", n.id, uint64(shard), in.Snapshot.Index)
	n.w.stats.Installs++
	var b batch
	b.DeleteRange(in.Lower, in.Upper)
	b.DeleteRange([]byte(r.prefix), []byte(r.prefix+"\xff"))
	for _, x := range in.Records {
		b.Set(x.Key, x.Value)
	}
	b = append(b, n.arrived[in.Snapshot]...)
	delete(n.arrived, in.Snapshot)
	n.durable(b)
	r.applied, r.chain = in.Snapshot.Index, in.Snapshot.Chain
	if !planted(20) {
		r.load()
	}
}

// load reads what is in memory of a state.
func (r *replica) load() {
	clear(r.locks)
	r.n.disk.each(r.prefix+lockKey, func(key string, v []byte) { r.locks[key] = decodeLock(v) })
	r.count = 0
	if v, ok := r.get(countKey); ok {
		r.count = binary.BigEndian.Uint64(v)
	}
}

// watch looks now and then for replicas without a leader, which ask whether they are members still.
func (n *node) watch() {
	w := n.w
	w.after(w.between(w.et, 6*w.et), func() {
		for _, s := range w.shards {
			if n.up && !n.standing && n.replica(s).id != 0 && n.d.Status(s).Leader == 0 {
				n.prove(s)
			}
		}
		n.watch()
	})
}

// prove asks another node, which answers if it leads the shard and has a valid lease at that moment.
func (n *node) prove(s kv.ShardID) {
	w := n.w
	id := n.replica(s).id
	x := w.nodes[w.rng.IntN(len(w.nodes))]
	w.net.call(func() {
		x.do(x.life, func() {
			r := x.replica(s)
			m := x.d.Status(s).Members
			leads := r.lead != nil && r.lead.l.Valid(x.now())
			proof := leads && m != nil && m.Next > raft.Incarnation(id) || planted(27)
			if m == nil || m.Has(id) || !proof {
				return
			}
			w.net.call(func() {
				n.do(n.life, func() {
					if n.replica(s).id == id {
						n.d.Remove(s, id)
						n.kick()
					}
				})
			})
		})
	})
}

// changeMembers takes steps all the while, for the shards' leaders.
func (n *nemesis) changeMembers() {
	w := n.w
	w.after(w.between(w.et/10, 2*w.et), func() {
		if !n.over {
			n.changeOne(w.shards[w.rng.IntN(len(w.shards))])
			n.changeMembers()
		}
	})
}

func (n *nemesis) changeOne(s kv.ShardID) {
	w := n.w
	for _, x := range w.nodes {
		if !x.up || x.standing || x.replica(s).lead == nil {
			continue
		}
		m := x.d.Status(s).Members
		c := &raft.Change{Shard: s, Version: m.Version}
		victim := m.Voters[w.rng.IntN(len(m.Voters))]
		switch {
		case len(m.Learners) > 0 && w.chance(0.9):
			c.Promote = m.Learners[0]
			if len(m.Voters) >= 3 {
				c.Remove = victim
			}
		case len(m.Learners) > 0:
			c.Remove = m.Learners[0]
		case len(m.Voters) > 3 && w.chance(0.5):
			c.Remove = victim
		default:
			c.Learn = kv.NodeID(1 + w.rng.IntN(len(w.nodes)))
		}
		w.note("change", uint64(s), x.id, m.Version, uint64(c.Learn), c.Promote, c.Remove)
		x.in.Changes = append(x.in.Changes, c)
		x.kick()
		return
	}
}

// present are the replicas of a shard that its leader counts as members.
func (w *world) present(s kv.ShardID) (rs []*replica) {
	if !w.o.Members {
		for _, n := range w.nodes {
			rs = append(rs, n.replica(s))
		}
		return rs
	}
	for _, n := range w.nodes {
		if r := n.replica(s); r.lead != nil {
			for _, id := range n.d.Status(s).Members.All() {
				rs = append(rs, w.nodes[raft.Node(id)-1].replica(s))
			}
			return rs
		}
	}
	return nil
}

// membersRest says what is still going on with the members of a shard.
func (w *world) membersRest(s kv.ShardID) string {
	if !w.o.Members {
		return ""
	}
	rs := w.present(s)
	if rs == nil {
		return "nobody leads"
	}
	for _, r := range rs {
		m := r.n.d.Status(s).Members
		if m == nil || m.Joint() || !m.Has(r.id) {
			return "a member is none, or a joint step is not left"
		}
		if r.lead == nil {
			continue
		}
		var want []uint64
		for _, o := range rs {
			want = append(want, o.id)
		}
		if !slices.Equal(m.All(), want) {
			return "the nodes have other replicas than the leader counts"
		}
	}
	return ""
}
