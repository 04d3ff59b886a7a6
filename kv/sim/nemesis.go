package sim

import (
	"time"

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
		n.standLeader, n.slowDisk, n.slowLinks, n.transfer, n.transfer, n.transferAndCut, n.killVoters}
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

func (n *nemesis) cut(from, to *node) {
	w := n.w
	w.note("cut", from.id, to.id)
	w.net.cut[from.id-1][to.id-1] = true
	w.after(n.duration(), func() {
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
	x.crash()
	d := n.duration()
	if n.w.chance(0.4) {
		d = n.w.between(time.Millisecond, n.w.et/10)
	}
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
func (n *nemesis) standLeader() { n.leader().stand(n.w.between(n.w.et/10, 3*n.w.et)) }

func (n *nemesis) slowDisk() {
	x := n.any()
	x.slowDisk = n.w.between(n.w.et/50, n.w.et)
	n.w.note("slow disk", x.id, uint64(x.slowDisk))
	n.w.after(n.duration(), func() { x.slowDisk = 0 })
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

func (n *nemesis) transfer() {
	w := n.w
	s := w.shards[w.rng.IntN(len(w.shards))]
	to := n.any()
	for _, x := range w.nodes {
		if x.up && !x.standing && x.replica(s).lead != nil && x != to {
			w.note("transfer", uint64(s), x.id, to.id)
			w.stats.Transfers++
			x.in.Transfers = append(x.in.Transfers, raft.Transfer{Shard: s, To: to.id})
			x.kick()
			return
		}
	}
}

// transferAndCut hands the lead over, and lets the word of it be late.
func (n *nemesis) transferAndCut() {
	n.slowLinks()
	n.transfer()
}

// heal undoes everything.
func (n *nemesis) heal() {
	n.over = true
	w := n.w
	w.note("heal")
	w.healed = true
	for i, x := range w.nodes {
		x.slowDisk, x.crashAt = 0, nowhere
		clear(w.net.cut[i])
		clear(w.net.slow[i])
		x.wake()
		if !x.up {
			x.start()
		}
	}
}
