package sim

import (
	"slices"
	"sort"
	"strings"
	"time"

	"moka/kv"
	"moka/kv/raft"
)

// checker sees everything, and compares it with what was promised.
type checker struct {
	w       *world
	entries map[kv.ShardID]map[uint64][2]uint64 // index: term and chain
	leaders map[[2]uint64]uint64                // shard and term: replica
	begun   map[[3]uint64]bool                  // leaderships by shard, term and n
	raws    map[place][]rawOp
	reads   []snapshotOp
	txns    []txnOp
	dead    []txnOp // rolled back, as somebody was told
}

// place is a key of a shard.
type place struct {
	shard kv.ShardID
	key   string
}

type rawOp struct {
	began, ended time.Duration
	x            uint64   // zero: a read
	list         []uint64 // what was read
	at           uint64   // where it was appended, if that is known
	none         bool     // refused: it must not be there
}

type snapshotOp struct {
	place
	ts   uint64
	list []uint64
}

type txnOp struct {
	place
	x, start uint64
	answer   code
	ts       uint64
}

func newChecker(w *world) *checker {
	c := &checker{w: w, entries: map[kv.ShardID]map[uint64][2]uint64{}, leaders: map[[2]uint64]uint64{}, begun: map[[3]uint64]bool{}, raws: map[place][]rawOp{}}
	for _, s := range w.shards {
		c.entries[s] = map[uint64][2]uint64{}
	}
	return c
}

// committed: what is applied at an index is the same on all replicas and for ever, and comes in order.
func (c *checker) committed(r *replica, a *raft.Applied) {
	if a.Stale {
		c.w.fail("shard %d, node %d: entry %d of term %d was evaluated in term %d (R7)", r.shard, r.n.id, a.Index, a.Term, a.Entry.Term)
	}
	if a.Index != r.applied+1 {
		c.w.fail("shard %d, node %d: entry %d is applied behind %d", r.shard, r.n.id, a.Index, r.applied)
	}
	have, seen := c.entries[r.shard][a.Index]
	now := [2]uint64{a.Term, a.Chain}
	if seen && have != now {
		c.w.fail("shard %d, node %d: entry %d is of term %d, chain %x; elsewhere of term %d, chain %x", r.shard, r.n.id, a.Index, a.Term, a.Chain, have[0], have[1])
	}
	c.entries[r.shard][a.Index] = now
}

// leads: a term has one leader, a leadership begins once.
func (c *checker) leads(r *replica, l *raft.Leadership) {
	c.leader(r, l.Term)
	name := [3]uint64{uint64(r.shard), l.Term, l.N}
	if c.begun[name] {
		c.w.fail("shard %d: leadership (%d, %d) begins again", r.shard, l.Term, l.N)
	}
	c.begun[name] = true
}

func (c *checker) leader(r *replica, term uint64) {
	name := [2]uint64{uint64(r.shard), term}
	if other, ok := c.leaders[name]; ok && other != r.n.id {
		c.w.fail("shard %d: nodes %d and %d lead term %d", r.shard, other, r.n.id, term)
	}
	c.leaders[name] = r.n.id
}

// turn looks at a node behind each of its turns.
func (c *checker) turn(n *node) {
	for _, r := range n.replicas {
		if s := n.d.Status(r.shard); s.Leading {
			c.leader(r, s.Term)
		}
		c.leases(r.shard)
	}
}

// leases: at every moment at most one replica of a shard has a valid one, by its own clock, standing still or not.
func (c *checker) leases(s kv.ShardID) {
	var holder *node
	for _, n := range c.w.nodes {
		if !n.up {
			continue
		}
		r := n.replica(s)
		if r.lead == nil || r.lead.l.Expires() <= n.now() {
			continue
		}
		if holder != nil {
			c.w.fail("shard %d: nodes %d and %d have a lease", s, holder.id, n.id)
		}
		holder = n
	}
}

func (c *checker) rawRead(s kv.ShardID, key string, began time.Duration, list []uint64) {
	p := place{s, key}
	c.raws[p] = append(c.raws[p], rawOp{began: began, ended: c.w.now, list: list})
}

func (c *checker) rawAppend(s kv.ShardID, key string, x uint64, began time.Duration, a answer, unsure bool) {
	p := place{s, key}
	op := rawOp{began: began, ended: c.w.now, x: x, at: a.ts}
	op.none = a.code != ok && !unsure
	c.raws[p] = append(c.raws[p], op)
}

func (c *checker) snapshot(s kv.ShardID, key string, ts uint64, list []uint64) {
	c.reads = append(c.reads, snapshotOp{place{s, key}, ts, list})
}

func (c *checker) transaction(s kv.ShardID, key string, x, start uint64, a answer) {
	c.txns = append(c.txns, txnOp{place{s, key}, x, start, a.code, a.ts})
}

func (c *checker) rolledBack(s kv.ShardID, key string, start uint64) {
	c.dead = append(c.dead, txnOp{place: place{s, key}, start: start})
}

// atTheEnd compares the state, equal on all nodes, with all that anybody was told.
func (c *checker) atTheEnd() {
	for _, s := range c.w.shards {
		rs := c.w.present(s)
		r := rs[0]
		for _, o := range rs[1:] {
			c.equal(r, o)
		}
		for _, o := range rs {
			c.image(o)
		}
		for _, key := range rawKeys {
			b, _ := r.get(rawKey + key)
			c.linear(place{s, key}, numbers(b))
		}
		for _, key := range mvccKeys {
			c.versions(r, place{s, key})
		}
	}
}

// equal compares two replicas' states, key by key.
func (c *checker) equal(a, b *replica) {
	dump := func(r *replica) (all []string) {
		r.n.disk.each(r.prefix, func(k string, v []byte) { all = append(all, k+"="+string(v)) })
		return all
	}
	if x, y := dump(a), dump(b); !slices.Equal(x, y) {
		i := 0
		for i < min(len(x), len(y)) && x[i] == y[i] {
			i++
		}
		at := "the end"
		if i < len(x) {
			at, _, _ = strings.Cut(x[i], "=")
		}
		c.w.fail("shard %d: nodes %d and %d have applied the same and differ at %s", a.shard, a.n.id, b.n.id, at)
	}
}

// image compares locks in memory with those on the disk.
func (c *checker) image(r *replica) {
	n := 0
	r.n.disk.each(r.prefix+lockKey, func(key string, v []byte) {
		n++
		if r.locks[key] != decodeLock(v) {
			c.w.fail("shard %d, node %d: the lock of %s in memory is not the one on the disk", r.shard, r.n.id, key)
		}
	})
	if n != len(r.locks) {
		c.w.fail("shard %d, node %d: %d locks in memory, %d on the disk", r.shard, r.n.id, len(r.locks), n)
	}
}

// linear checks a raw list, which shows the order of its appends: what was acknowledged is there once and where it was said to be, what was
// refused is not, every read is a beginning, and nothing that ended before something else began comes behind it.
func (c *checker) linear(p place, final []uint64) {
	where := map[uint64]uint64{}
	for i, x := range final {
		if where[x] != 0 {
			c.w.fail("shard %d: %x is in list %s twice", p.shard, x, p.key)
		}
		where[x] = uint64(i) + 1
	}
	type moment struct {
		at  time.Duration
		end bool
		op  *rawOp
	}
	var ms []moment
	ops := c.raws[p]
	for i := range ops {
		op := &ops[i]
		if op.x == 0 {
			op.at = uint64(len(op.list))
			if len(op.list) > len(final) || !slices.Equal(op.list, final[:len(op.list)]) {
				c.w.fail("shard %d: a read of list %s found %d items that are not its beginning", p.shard, p.key, len(op.list))
			}
		} else {
			switch at := where[op.x]; {
			case op.none && at != 0:
				c.w.fail("shard %d: %x was refused and is in list %s", p.shard, op.x, p.key)
			case op.at != 0 && op.at != at:
				c.w.fail("shard %d: %x was acknowledged as item %d of list %s, and is item %d (0: lost)", p.shard, op.x, op.at, p.key, at)
			case op.at == 0 && at == 0:
				continue
			case op.at == 0: // unknown, and there: it came at any time since
				op.at, op.ended = at, 1<<62
			}
		}
		ms = append(ms, moment{op.began, false, op}, moment{op.ended, true, op})
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].at < ms[j].at || ms[i].at == ms[j].at && !ms[i].end && ms[j].end })
	floors := map[*rawOp]uint64{}
	var floor uint64
	for _, m := range ms {
		if !m.end {
			floors[m.op] = floor
			continue
		}
		if f := floors[m.op]; m.op.at < f || m.op.x != 0 && m.op.at == f && f > 0 {
			c.w.fail("shard %d, list %s: item or read %d (%x) began when %d items had been seen", p.shard, p.key, m.op.at, m.op.x, f)
		}
		floor = max(floor, m.op.at)
	}
}

// versions checks a key of transactions: what was committed is there once, at its timestamp; what was not is not; and every snapshot read
// found exactly what its timestamp calls for.
func (c *checker) versions(r *replica, p place) {
	type version struct{ ts, x, start uint64 }
	var vs []version
	r.versions(p.key, func(ts, x, start uint64) { vs = append(vs, version{ts, x, start}) })
	for i, a := range vs {
		for _, b := range vs[i+1:] {
			if a.start == b.start {
				c.w.fail("shard %d: transaction %d is committed at %d and at %d", p.shard, a.start, a.ts, b.ts)
			}
		}
	}
	find := func(start uint64) (v version) {
		for _, x := range vs {
			if x.start == start {
				v = x
			}
		}
		return v
	}
	for _, t := range c.txns {
		if t.place != p {
			continue
		}
		v := find(t.start)
		switch t.answer {
		case ok:
			if v.x != t.x || v.ts != t.ts {
				c.w.fail("shard %d: transaction %d was told to be committed at %d, and is at %d (0: lost)", p.shard, t.start, t.ts, v.ts)
			}
		case conflict, rolledBack:
			if v.ts != 0 {
				c.w.fail("shard %d: transaction %d was told to have failed, and is committed at %d", p.shard, t.start, v.ts)
			}
		}
	}
	for _, t := range c.dead {
		if t.place == p && find(t.start).ts != 0 {
			c.w.fail("shard %d: transaction %d was told to be rolled back, and is committed", p.shard, t.start)
		}
	}
	for _, q := range c.reads {
		if q.place != p {
			continue
		}
		var want []uint64
		for _, v := range vs {
			if v.ts <= q.ts {
				want = append(want, v.x)
			}
		}
		if !slices.Equal(q.list, want) {
			c.w.fail("shard %d: key %s at snapshot %d had %d versions when it was read, and has %d", p.shard, p.key, q.ts, len(q.list), len(want))
		}
	}
}
