package sim

import (
	"fmt"
	"slices"
	"time"

	"moka/kv"
)

// Keys of every shard. Raw ones hold a list that is read and written whole; the others hold a version for each transaction.
var (
	rawKeys  = []string{"a", "b"}
	mvccKeys = []string{"m", "n"}
	allKeys  = slices.Concat(rawKeys, mvccKeys)
)

// hint is what a client believes of a shard's leader.
type hint struct{ node, term uint64 }

// client does one thing after the other, and writes down what it was told.
type client struct {
	w     *world
	id    int
	hints map[kv.ShardID]hint
	seeds map[kv.ShardID][3]uint64 // a leadership's name, and a timestamp that was issued after it was told
	x     uint64
	op    string
	idle  bool
	last  int // operations after the healing
	pace  time.Duration
}

func newClient(w *world, id int) *client {
	return &client{w: w, id: id, hints: map[kv.ShardID]hint{}, seeds: map[kv.ShardID][3]uint64{}, pace: w.between(2*time.Millisecond, w.pace)}
}

func (c *client) start() { c.w.after(c.w.between(0, c.w.et), c.next) }

// next begins another operation, or rests if there have been enough after the healing.
func (c *client) next() {
	w := c.w
	if w.healed {
		if c.last++; c.last > 6 {
			c.idle, c.op = true, ""
			return
		}
	}
	shard := w.shards[w.rng.IntN(len(w.shards))]
	raw, key := rawKeys[w.rng.IntN(len(rawKeys))], mvccKeys[w.rng.IntN(len(mvccKeys))]
	c.x++
	x := uint64(c.id)<<32 | c.x
	p := w.rng.IntN(10)
	if w.reading && w.chance(0.9) {
		p = 6 * w.rng.IntN(2)
	}
	switch {
	case p < 2:
		c.rawRead(shard, raw)
	case p < 3:
		c.rawInsert(shard, raw, x)
	case p < 5:
		c.rawAppend(shard, raw, x)
	case p < 7:
		c.snapshotRead(shard, key)
	case p < 8:
		c.onePhase(shard, key, x)
	default:
		c.twoPhase(shard, key, x)
	}
}

// end of an operation: the next one comes after a while.
func (c *client) end() { c.w.after(c.w.between(0, c.pace), c.next) }

// try sends a request once. The answer is unknown if none comes in time.
func (c *client) try(q request, to uint64, then func(answer)) {
	w := c.w
	over := false
	once := func(a answer) {
		if !over {
			over = true
			w.note("answer", uint64(c.id), uint64(q.verb), uint64(a.code), a.ts, uint64(len(a.list)))
			then(a)
		}
	}
	q.deadline = w.between(w.et/4, 2*w.et)
	if w.chance(0.5) {
		q.deadline = w.between(2*w.et, 8*w.et)
	}
	n := w.nodes[to-1]
	w.net.call(func() {
		n.do(n.life, func() {
			life := n.life
			n.replica(q.shard).handle(q, func(a answer) {
				if n.life == life {
					w.net.call(func() { once(a) })
				}
			})
		})
	})
	w.after(q.deadline, func() { once(answer{code: unknown}) })
}

// learn takes a hint, unless it is older than what is known.
func (c *client) learn(s kv.ShardID, h hint) (news bool) {
	known := c.hints[s]
	if h.node == 0 || h == known || h.term < known.term && !planted(43) {
		return false
	}
	if h.term < known.term {
		c.w.fail("client %d goes back from the leader of term %d to that of term %d", c.id, known.term, h.term)
	}
	c.hints[s] = h
	return true
}

// call tries until there is an answer that says something, or the operation has taken too long: then it is unknown. An unknown outcome ends
// it too, unless the request may be repeated. unsure reports whether some try may take effect later.
func (c *client) call(q request, repeat bool, then func(a answer, unsure bool, asked time.Duration)) {
	w := c.w
	began := w.now
	unsure := false
	hops := 0
	var step func(to uint64)
	elsewhere := func() {
		to := 1 + uint64(w.rng.IntN(len(w.nodes)))
		w.after(w.between(w.et/50, w.et/5), func() { step(to) })
	}
	step = func(to uint64) {
		if !w.healed && w.now-began > 12*w.et {
			then(answer{code: unknown}, unsure, began)
			return
		}
		s := c.seeds[q.shard]
		q.lead, q.seed = [2]uint64{s[0], s[1]}, s[2]
		asked := w.now
		c.try(q, to, func(a answer) {
			switch a.code {
			case unknown:
				unsure = true
				if !repeat && !planted(42) {
					then(a, true, asked)
					return
				}
				elsewhere()
			case notLeader:
				if hops++; hops%4 != 0 && c.learn(q.shard, hint{a.node, a.term}) {
					step(a.node)
					return
				}
				elsewhere()
			case busy:
				w.after(w.between(w.et/50, w.et/10), func() { step(to) })
			case needSeed:
				c.seeds[q.shard] = [3]uint64{a.lead[0], a.lead[1], w.next()}
				step(to)
			default:
				then(a, unsure, asked)
			}
		})
	}
	if h := c.hints[q.shard]; h.node != 0 {
		step(h.node)
		return
	}
	step(1 + uint64(w.rng.IntN(len(w.nodes))))
}

func (c *client) rawRead(s kv.ShardID, key string) {
	c.op = fmt.Sprint("raw read of ", key)
	c.call(request{verb: rawRead, shard: s, key: key}, true, func(a answer, _ bool, asked time.Duration) {
		if a.code == ok {
			c.w.stats.Reads++
			c.w.check.rawRead(s, key, asked, a.list)
		}
		c.end()
	})
}

func (c *client) rawAppend(s kv.ShardID, key string, x uint64) {
	c.op = fmt.Sprint("raw append to ", key)
	began := c.w.now
	c.call(request{verb: rawAppend, shard: s, key: key, x: x}, false, func(a answer, unsure bool, _ time.Duration) {
		c.told(a)
		c.w.check.rawAppend(s, key, x, began, a, unsure)
		c.end()
	})
}

// rawInsert appends to an empty list; to another it does not, and tells what it has found, which has to be as good as a read.
func (c *client) rawInsert(s kv.ShardID, key string, x uint64) {
	c.op = fmt.Sprint("raw insert into ", key)
	began := c.w.now
	c.call(request{verb: rawInsert, shard: s, key: key, x: x}, false, func(a answer, unsure bool, asked time.Duration) {
		if a.code == exists {
			c.w.stats.Reads++
			c.w.check.rawRead(s, key, asked, a.list)
		} else {
			c.told(a)
		}
		c.w.check.rawAppend(s, key, x, began, a, unsure)
		c.end()
	})
}

func (c *client) told(a answer) {
	switch a.code {
	case ok:
		c.w.stats.Acked++
	case unknown:
		c.w.stats.Unknown++
	}
}

// snapshotRead reads a key as of now, past the locks that are in the way.
func (c *client) snapshotRead(s kv.ShardID, key string) {
	c.op = fmt.Sprint("snapshot read of ", key)
	ts := c.w.next()
	began := c.w.now
	var pass []uint64
	var step func()
	step = func() {
		c.call(request{verb: snapshotRead, shard: s, key: key, ts: ts, pass: slices.Clone(pass)}, true, func(a answer, _ bool, _ time.Duration) {
			switch {
			case a.code == ok:
				c.w.stats.Reads++
				c.w.check.snapshot(s, key, ts, a.list)
				c.end()
			case a.code != locked || !c.w.healed && c.w.now-began > 12*c.w.et:
				c.end()
			default:
				c.resolve(s, key, a.lock, ts, func(b answer) {
					if b.code == pushed {
						pass = append(pass, a.lock.start)
					}
					step()
				})
			}
		})
	}
	step()
}

// resolve asks what has become of a transaction whose lock is in the way; one in three is taken for dead.
func (c *client) resolve(s kv.ShardID, key string, l lock, ts uint64, then func(answer)) {
	force := c.w.healed || c.w.chance(0.3)
	c.call(request{verb: checkStatus, shard: s, key: key, start: l.start, ts: ts, force: force}, true,
		func(a answer, _ bool, _ time.Duration) {
			if a.code == rolledBack {
				c.w.check.rolledBack(s, key, l.start)
			}
			then(a)
		})
}

func (c *client) onePhase(s kv.ShardID, key string, x uint64) {
	c.op = fmt.Sprint("one-phase commit to ", key)
	start := c.w.next()
	began := c.w.now
	var step func(unsure bool)
	step = func(before bool) {
		c.call(request{verb: onePhase, shard: s, key: key, x: x, start: start}, true, func(a answer, unsure bool, _ time.Duration) {
			unsure = unsure || before
			switch {
			case a.code == locked && (c.w.healed || c.w.now-began < 12*c.w.et):
				c.resolve(s, key, a.lock, c.w.next(), func(answer) { step(unsure) })
			default:
				if a.code == locked {
					a.code = unknown
				}
				c.told(a)
				c.w.check.transaction(s, key, x, start, a)
				c.end()
			}
		})
	}
	step(false)
}

// twoPhase prewrites, takes a commit timestamp, and commits; some clients die in between.
func (c *client) twoPhase(s kv.ShardID, key string, x uint64) {
	c.op = fmt.Sprint("two-phase commit to ", key)
	start := c.w.next()
	began := c.w.now
	finish := func(a answer) {
		c.told(a)
		c.w.check.transaction(s, key, x, start, a)
		c.end()
	}
	var second func()
	second = func() {
		ts := c.w.next()
		c.call(request{verb: commit, shard: s, key: key, x: x, start: start, ts: ts}, true, func(a answer, _ bool, _ time.Duration) {
			if a.code == tooSmall {
				second()
				return
			}
			finish(a)
		})
	}
	var first func()
	first = func() {
		c.call(request{verb: prewrite, shard: s, key: key, x: x, start: start}, true, func(a answer, _ bool, _ time.Duration) {
			switch {
			case a.code == locked && (c.w.healed || c.w.now-began < 12*c.w.et):
				c.resolve(s, key, a.lock, c.w.next(), func(answer) { first() })
			case a.code != ok:
				if a.code == locked {
					a.code = unknown
				}
				finish(a)
			case !c.w.healed && c.w.chance(0.2):
				finish(answer{code: unknown}) // the client is gone; what it has locked is found by others
			default:
				c.w.after(c.w.between(0, c.w.et/10), second)
			}
		})
	}
	first()
}
