package sim

import (
	"time"

	"moka/kv"
	"moka/kv/raft"
)

// nemesis does harm, now and then, until it is told to heal. Which kinds of harm a run has is drawn: rare combinations come from runs that
// have few kinds and many of each.
type nemesis struct {
	w     *world
	kinds []func()
	over  bool
}

func newNemesis(w *world) *nemesis {
	n := &nemesis{w: w}
	all := []func(){n.isolate, n.isolateLeader, n.oneWay, n.swizzle, n.halves, n.kill, n.killLeader, n.killAll, n.killInTurn, n.stand,
		n.standLeader, n.slowDisk, n.slowLinks, n.transfers, n.transfers, n.lateTransfer, n.killVoters, n.bridge, n.lateAnswers, n.forgetfulVoter}
	for _, k := range all {
		if w.chance(0.4) {
			n.kinds = append(n.kinds, k)
		}
	}
	n.later()
	return n
}

func (n *nemesis) later() {
	w := n.w
	w.after(w.between(w.et/10, 6*w.et), func() {
		if n.over {
			return
		}
		if len(n.kinds) > 0 {
			n.kinds[w.rng.IntN(len(n.kinds))]()
		}
		n.later()
	})
}

// for a while, then undone.
func (n *nemesis) duration() time.Duration { return n.w.between(n.w.et/10, 6*n.w.et) }

func (n *nemesis) any() *node { return n.w.nodes[n.w.rng.IntN(len(n.w.nodes))] }

// leader returns a node that leads a shard, or any.
func (n *nemesis) leader() *node {
	w := n.w
	s := w.rng.IntN(len(w.shards))
	for _, x := range w.nodes {
		if x.up && x.replicas[s].lead != nil {
			return x
		}
	}
	return n.any()
}

func (n *nemesis) cut(from, to *node) { n.cutFor(from, to, n.duration()) }

func (n *nemesis) cutFor(from, to *node, d time.Duration) {
	w := n.w
	w.note("cut", from.id, to.id)
	w.net.cut[from.id-1][to.id-1] = true
	w.after(d, func() {
		w.note("join", from.id, to.id)
		w.net.cut[from.id-1][to.id-1] = false
	})
}

func (n *nemesis) alone(x *node) {
	for _, y := range n.w.nodes {
		if x != y {
			n.cut(x, y)
			n.cut(y, x)
		}
	}
}

func (n *nemesis) isolate()       { n.alone(n.any()) }
func (n *nemesis) isolateLeader() { n.alone(n.leader()) }

func (n *nemesis) oneWay() {
	x, out := n.leader(), n.w.chance(0.5)
	for _, y := range n.w.nodes {
		switch {
		case x == y || n.w.chance(0.3):
		case out:
			n.cut(x, y)
		default:
			n.cut(y, x)
		}
	}
}

// swizzle cuts the links of some one by one; they come back in any order.
func (n *nemesis) swizzle() {
	for range 1 + n.w.rng.IntN(4) {
		x, y := n.any(), n.any()
		n.w.after(n.w.between(0, n.w.et), func() {
			if x != y && !n.over {
				n.cut(x, y)
			}
		})
	}
}

func (n *nemesis) halves() {
	side := n.w.rng.IntN(1 << len(n.w.nodes))
	for i, x := range n.w.nodes {
		for j, y := range n.w.nodes {
			if i != j && side>>i&1 != side>>j&1 {
				n.cut(x, y)
			}
		}
	}
}

// down ends a process and starts it again later, or at once.
func (n *nemesis) down(x *node) {
	d := n.duration()
	if n.w.chance(0.4) {
		d = n.w.between(time.Millisecond, n.w.et/10)
	}
	n.downFor(x, d)
}

func (n *nemesis) downFor(x *node, d time.Duration) {
	x.crash()
	life := x.life
	n.w.after(d, func() {
		if !x.up && x.life == life {
			x.start()
		}
	})
}

func (n *nemesis) kill()       { n.down(n.any()) }
func (n *nemesis) killLeader() { n.down(n.leader()) }

func (n *nemesis) killAll() {
	for _, x := range n.w.nodes {
		n.down(x)
	}
}

// killInTurn lets a process die between two steps of a turn.
func (n *nemesis) killInTurn() {
	x := n.any()
	if n.w.chance(0.5) {
		x = n.leader()
	}
	x.crashAt = afterTurn + step(n.w.rng.IntN(4))
	n.w.after(n.w.between(n.w.et/5, 2*n.w.et), func() {
		if !x.up {
			x.start()
		}
	})
}

// killVoters makes a leader go away and its followers forget what they have not written, just when they elect another.
func (n *nemesis) killVoters() {
	x := n.leader()
	n.alone(x)
	for _, y := range n.w.nodes {
		if x != y {
			n.w.after(n.w.between(n.w.et, 3*n.w.et), func() {
				if !n.over {
					n.down(y)
				}
			})
		}
	}
}

func (n *nemesis) stand()       { n.any().stand(n.w.between(n.w.et/10, 3*n.w.et)) }
func (n *nemesis) standLeader() { n.leader().stand(n.w.between(n.w.et, 5*n.w.et)) }

func (n *nemesis) slowDisk() {
	x := n.any()
	x.slowDisk = n.w.between(n.w.et/50, n.w.et)
	n.w.note("slow disk", x.id, uint64(x.slowDisk))
	n.w.after(n.duration(), func() { x.slowDisk = 0 })
}

// fillDisks makes the disk of one node after the other full: until there is room again what comes for it is
// lost (Host.Deliver). What it writes by itself, as a leader or a candidate, has the ballast's room.
func (n *nemesis) fillDisks() {
	w := n.w
	w.after(w.between(w.et, 4*w.et), func() {
		if n.over {
			return
		}
		x := n.any()
		w.note("full disk", x.id)
		x.full = true
		w.stats.Full++
		w.after(w.between(w.et, 20*w.et), func() {
			w.note("room", x.id)
			x.full = false
			n.fillDisks()
		})
	})
}

func (n *nemesis) slowLinks() {
	w, x := n.w, n.any()
	d := w.between(w.et/20, 3*w.et)
	w.note("slow links", x.id, uint64(d))
	for i := range w.nodes {
		w.net.slow[x.id-1][i] = d
		if w.chance(0.5) {
			w.net.slow[i][x.id-1] = d
		}
	}
	w.after(n.duration(), func() {
		for i := range w.nodes {
			w.net.slow[x.id-1][i], w.net.slow[i][x.id-1] = 0, 0
		}
	})
}

// transfers hands a lead over, a few times in a row; now and then to somebody who is not there.
func (n *nemesis) transfers() {
	w := n.w
	s := w.shards[w.rng.IntN(len(w.shards))]
	at := time.Duration(0)
	for range 1 + w.rng.IntN(5) {
		w.after(at, func() { n.transfer(s, n.any()) })
		at += w.between(w.et/50, w.et)
	}
}

func (n *nemesis) transfer(s kv.ShardID, to *node) {
	w := n.w
	if n.over {
		return
	}
	for _, x := range w.nodes {
		if !x.up || x.standing || x.replica(s).lead == nil {
			continue
		}
		id := to.id
		if x == to || w.chance(0.2) {
			id = 99
		}
		w.note("transfer", uint64(s), x.id, id)
		w.stats.Transfers++
		order := raft.Transfer{Shard: s, To: id}
		if w.chance(0.5) {
			x.trap = &order
		} else {
			x.in.Transfers = append(x.in.Transfers, order)
			x.kick()
		}
		return
	}
}

// lateTransfer hands a lead over while answers to the leader are late, so that it fails, or succeeds long after everybody has given it up.
func (n *nemesis) lateTransfer() {
	n.slowTo(n.leader(), n.w.between(n.w.et/2, 3*n.w.et), n.duration())
	n.w.after(n.w.between(0, n.w.et/5), n.transfers)
}

// slowTo makes what others send to a node late.
func (n *nemesis) slowTo(x *node, d, duration time.Duration) {
	w := n.w
	w.note("slow to", x.id, uint64(d))
	for i := range w.nodes {
		w.net.slow[i][x.id-1] = d
	}
	w.after(duration, func() {
		for i := range w.nodes {
			w.net.slow[i][x.id-1] = 0
		}
	})
}

// lateAnswers makes the answers to a leader late, and then cuts what it says to the others: what it gets now is old.
func (n *nemesis) lateAnswers() {
	w, x := n.w, n.leader()
	n.slowTo(x, w.between(w.et, 3*w.et), 4*w.et)
	w.after(w.between(w.et/5, w.et), func() {
		for _, y := range w.nodes {
			if x != y && !n.over {
				n.cutFor(x, y, 3*w.et)
			}
		}
	})
}

// bridge leaves a leader one follower that hears it, and lets that one stand still or start anew, again and again, while the others, who
// do not hear the leader, want its vote.
func (n *nemesis) bridge() {
	w, x, y := n.w, n.leader(), n.any()
	d := w.between(3*w.et, 8*w.et)
	for _, z := range w.nodes {
		if z != x && z != y {
			n.cutFor(x, z, d)
			n.cutFor(z, x, d)
		}
	}
	w.campaigned = func(c *node) { // the one who has led is the last to hear of it
		if c != x && !n.over {
			n.cutFor(c, x, 2*w.et)
		}
	}
	w.after(d, func() { w.campaigned = nil })
	stand := w.chance(0.5)
	for at := w.between(w.et/2, w.et); at < d; at += w.between(w.et/10, 2*w.et) {
		w.after(at, func() {
			switch {
			case n.over || x == y:
			case stand:
				y.stand(w.between(w.et/5, w.et) + w.between(0, w.et))
			case y.up:
				n.downFor(y, w.between(time.Millisecond, w.et/20))
			}
		})
	}
}

// forgetfulVoter cuts a leader off; whoever votes for the next one dies as soon as the vote is out, the next one is cut off, and the old one
// comes back: it may get that vote for the same term, if the voter has not written it down.
func (n *nemesis) forgetfulVoter() {
	w, x := n.w, n.leader()
	for _, y := range w.nodes {
		if x != y {
			n.cutFor(x, y, 6*w.et)
			n.cutFor(y, x, 6*w.et)
		}
	}
	w.voted = func(voter, candidate *node) {
		if n.over || candidate == x || voter == x || voter == candidate {
			return
		}
		w.voted = nil
		w.after(w.between(0, w.net.lo), func() {
			if n.over {
				return
			}
			n.downFor(voter, w.et/20)
			for _, y := range w.nodes {
				if y != candidate {
					n.cutFor(candidate, y, 5*w.et)
					n.cutFor(y, candidate, 5*w.et)
				}
				if y != x && y != candidate {
					w.net.cut[x.id-1][y.id-1], w.net.cut[y.id-1][x.id-1] = false, false
				}
			}
		})
	}
	w.after(5*w.et, func() { w.voted = nil })
}

// heal undoes everything.
func (n *nemesis) heal() {
	n.over = true
	w := n.w
	w.note("heal")
	w.healed, w.voted, w.campaigned = true, nil, nil
	for i, x := range w.nodes {
		x.slowDisk, x.full, x.crashAt, x.trap = 0, false, nowhere, nil
		clear(w.net.cut[i])
		clear(w.net.slow[i])
		x.wake()
		if !x.up {
			x.start()
		}
	}
}
