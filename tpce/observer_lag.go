package tpce

import (
	"context"
	"errors"
	"fmt"
	"moka/tpce/client"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// observerLag measures, from outside, how far the observer is behind: the sum in broker_total says how many
// of this run's contributions have been aggregated, and the driver knows when the next one was committed.
// It assumes that the observer works roughly in the order of commits, and that nobody else runs the
// workload on the same database.
type observerLag struct {
	db      *client.Pool
	base    int64 // aggregated before the run
	mu      sync.Mutex
	commits []time.Time
	lag     *hdrhistogram.Histogram
	backlog int64 // largest seen
	failure string
}

func newObserverLag(ctx context.Context, db *client.Pool) (*observerLag, error) {
	// A backlog of an earlier run would be taken for this run's.
	if err := waitForObserver(ctx, db, time.Minute); err != nil {
		return nil, err
	}
	o := &observerLag{db: db, lag: newHistogram()}
	var err error
	o.base, err = aggregated(ctx, db)
	return o, err
}

func aggregated(ctx context.Context, db *client.Pool) (int64, error) {
	n := int64(0)
	err := eachInt(ctx, db, "SELECT bo_num_trades FROM broker_total", func(v int64) { n += v })
	return n, err
}

func (o *observerLag) committed(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commits = append(o.commits, at)
}

const lagSampleInterval = 100 * time.Millisecond

func (o *observerLag) sample(ctx context.Context, stop <-chan struct{}) {
	t := time.NewTicker(lagSampleInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-stop:
			return
		case <-ctx.Done():
			return
		}
		n, err := aggregated(ctx, o.db)
		if err != nil {
			o.failure = err.Error() // read after sample has ended
			continue
		}
		o.observe(n-o.base, time.Now())
	}
}

func (o *observerLag) observe(n int64, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	behind := int64(len(o.commits)) - n
	o.backlog = max(o.backlog, behind)
	if behind > 0 && n >= 0 {
		record(o.lag, now.Sub(o.commits[n]))
	} else {
		record(o.lag, 0)
	}
}

// waitForObserver returns when every contribution in broker_trade has been aggregated.
func waitForObserver(ctx context.Context, db *client.Pool, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("observer backlog"))
	defer cancel()
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	var contributed, done int64
	for {
		var err error
		// The aggregate is read first, so that contributions which arrive between the reads cannot hide a
		// lag.
		if done, err = aggregated(ctx, db); err == nil {
			err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM broker_trade").Scan(&contributed)
		}
		if err == nil && done == contributed {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return fmt.Errorf("tpce: after %s the observer has aggregated %d of %d contributions", limit,
				done, contributed)
		}
	}
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	return Latency{Mean: h.Mean() / 1000, P50: at(50), P90: at(90), P99: at(99), Max: float64(h.Max()) / 1000}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
