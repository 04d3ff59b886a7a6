package page

import (
	"context"
	"sync"
	"time"
)

// The last quarter of an hour is kept in memory, a point for each second: 900 points of 15 numbers are 54 kB.
// What is older is Prometheus' business.
const (
	historyStep   = time.Second
	historyPoints = 15 * 60
)

// series are the lines that are kept.
type series int

const (
	onePhase series = iota
	async
	twoPhase
	conflicts
	statements
	failed
	p50 // of statements, in seconds
	p95
	p99
	syncs
	syncTime // mean, in seconds
	runs
	collapsed
	runFailures
	parked
	allSeries
)

type point struct {
	at     time.Time
	values [allSeries]float32
}

// history turns counters into rates.
type history struct {
	mu     sync.Mutex
	points [historyPoints]point // a ring
	next   int                  // where the next one goes
	n      int
	last   Figures // what the next point is the difference to
	lastAt time.Time
}

// run takes a point each second until ctx ends.
func (h *history) run(ctx context.Context, figures func() Figures) {
	t := time.NewTicker(historyStep)
	defer t.Stop()
	h.add(time.Now(), figures())
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			h.add(now, figures())
		}
	}
}

func (h *history) add(now time.Time, f Figures) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, since := h.last, now.Sub(h.lastAt).Seconds()
	first := h.lastAt.IsZero()
	h.last, h.lastAt = f, now
	if first || since <= 0 {
		return
	}
	p := point{at: now}
	for s, c := range map[series][2]uint64{
		onePhase: {was.OnePhase, f.OnePhase}, async: {was.Async, f.Async},
		twoPhase:  {was.TwoPhase, f.TwoPhase},
		conflicts: {was.Conflicts, f.Conflicts}, statements: {was.Statements, f.Statements},
		failed: {was.Errors, f.Errors}, syncs: {was.Syncs, f.Syncs}, runs: {was.Runs, f.Runs},
		collapsed: {was.Collapsed, f.Collapsed}, runFailures: {was.Failures, f.Failures},
		parked: {was.Parked, f.Parked},
	} {
		p.values[s] = float32(float64(grown(c[0], c[1])) / since)
	}
	if n := grown(was.Syncs, f.Syncs); n > 0 {
		p.values[syncTime] = float32((f.SyncSeconds - was.SyncSeconds) / float64(n))
	}
	for s, q := range map[series]float64{p50: 0.5, p95: 0.95, p99: 0.99} {
		p.values[s] = float32(percentile(was.Latency, f.Latency, f.LatencyUpTo, q))
	}
	h.points[h.next] = p
	h.next = (h.next + 1) % historyPoints
	h.n = min(h.n+1, historyPoints)
}

// grown is zero for a counter that began anew.
func grown(was, is uint64) uint64 {
	if is < was {
		return 0
	}
	return is - was
}

// percentile is where the part q of what came between two states of a histogram ends, in its buckets' unit;
// zero if nothing came.
func percentile(was, is []uint64, upTo func(int) float64, q float64) float64 {
	var all uint64
	diff := make([]uint64, len(is))
	for i := range is {
		diff[i] = is[i]
		if i < len(was) {
			diff[i] = grown(was[i], is[i])
		}
		all += diff[i]
	}
	if all == 0 {
		return 0
	}
	var seen uint64
	for i, n := range diff {
		if seen += n; float64(seen) >= q*float64(all) {
			return upTo(i)
		}
	}
	return upTo(len(diff) - 1)
}

// line returns a series, the oldest point first.
func (h *history) line(s series) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]float64, 0, h.n)
	for i := range h.n {
		out = append(out, float64(h.points[(h.next-h.n+i+historyPoints)%historyPoints].values[s]))
	}
	return out
}

// recent is the mean of a series over the last ten points, those that are zero left out if that means
// that nothing was measured.
func (h *history) recent(s series, zeros bool) float64 {
	line := h.line(s)
	sum, n := 0.0, 0
	for _, v := range line[max(0, len(line)-10):] {
		if v != 0 || zeros {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
