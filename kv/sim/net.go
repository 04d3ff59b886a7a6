package sim

import "time"

// network has a link for each ordered pair of nodes; clients reach all nodes by links of their own, which are never cut.
type network struct {
	w        *world
	cut      [][]bool // from, to: less one
	slow     [][]time.Duration
	lo, hi   time.Duration
	drop     float64
	twice    float64
	straggle float64 // messages that come much later
	late     float64 // requests and answers of clients that do
}

func (n *network) init(w *world, nodes int) {
	n.w = w
	for range nodes {
		n.cut = append(n.cut, make([]bool, nodes))
		n.slow = append(n.slow, make([]time.Duration, nodes))
	}
	n.lo, n.hi = 100*time.Microsecond, []time.Duration{2 * time.Millisecond, w.et / 20}[w.rng.IntN(2)]
	n.drop = []float64{0, 0, 0.02, 0.1}[w.rng.IntN(4)]
	n.twice = []float64{0, 0.02}[w.rng.IntN(2)]
	n.straggle = []float64{0, 0.01}[w.rng.IntN(2)]
	n.late = []float64{0, 0.01, 0.1}[w.rng.IntN(3)]
}

// send makes arrive happen at the other end, as often as the network likes.
func (n *network) send(from, to uint64, arrive func()) {
	times := 1
	if n.w.healed {
		n.w.after(n.lo, arrive)
		return
	}
	if n.cut[from-1][to-1] || n.w.chance(n.drop) {
		return
	}
	if n.w.chance(n.twice) {
		times = 2
	}
	for range times {
		d := n.w.between(n.lo, n.hi) + n.w.between(0, n.slow[from-1][to-1])
		if n.w.chance(n.straggle) {
			d += n.w.between(0, 10*n.w.et)
		}
		n.w.after(d, arrive)
	}
}

// call carries a request or an answer between a client and a node: it comes once, or never.
func (n *network) call(arrive func()) {
	if !n.w.healed && n.w.chance(n.drop/4) {
		return
	}
	d := n.w.between(n.lo, n.hi)
	if !n.w.healed && n.w.chance(n.late) {
		d += n.w.between(0, 4*n.w.et)
	}
	n.w.after(d, arrive)
}
