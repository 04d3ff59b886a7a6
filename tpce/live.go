package tpce

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Live is how a run goes, for who watches it (Config.Watch). The report at its end is made from the same
// figures.
type Live struct {
	Target      string // without its password
	Elapsed, Of time.Duration
	TRTPS       float64 // Trade-Results a second since the last call
	Txns        []LiveTxn
}

// LiveTxn is one of the twelve transactions.
type LiveTxn struct {
	Name                  string
	Done, Retries, Errors int64
	Rate                  float64       // a second, since the last call
	P50, P95, P99         time.Duration // of the whole run so far
}

// watchEvery is between two calls of Config.Watch.
const watchEvery = time.Second

// watch calls Config.Watch until the run has ended.
func (d *runner) watch(ctx context.Context, finished <-chan struct{}) {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	was, at := map[string]int64{}, d.started
	for {
		select {
		case <-ctx.Done():
			return
		case <-finished:
			return
		case now := <-t.C:
			d.cfg.Watch(d.live(was, now.Sub(at), now))
			at = now
		}
	}
}

// live takes the figures; was is what had been done at the last call.
func (d *runner) live(was map[string]int64, since time.Duration, now time.Time) Live {
	l := Live{Target: d.cfg.Target, Elapsed: now.Sub(d.started)}
	if d.cfg.Transactions == 0 {
		l.Of = d.cfg.RampUp + d.cfg.Duration
	}
	if head, rest, ok := strings.Cut(l.Target, "://"); ok {
		l.Target = head + "://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	d.stats.mu.Lock()
	defer d.stats.mu.Unlock()
	for name, t := range d.stats.txns {
		x := LiveTxn{Name: name, Done: t.measured + t.outside}
		for _, n := range t.retries {
			x.Retries += n
		}
		for _, e := range t.errors {
			x.Errors += e.Count
		}
		x.Rate = float64(x.Done-was[name]) / max(since.Seconds(), 0.001)
		was[name] = x.Done
		at := func(q float64) time.Duration {
			return time.Duration(t.latency.ValueAtQuantile(q)) * time.Microsecond
		}
		x.P50, x.P95, x.P99 = at(50), at(95), at(99)
		if name == nameTradeResult {
			l.TRTPS = x.Rate
		}
		l.Txns = append(l.Txns, x)
	}
	slices.SortFunc(l.Txns, func(a, b LiveTxn) int { return strings.Compare(a.Name, b.Name) })
	return l
}
