package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"moka/tpce/plot"
)

// worker is one caller of a closed loop.
type worker struct {
	id   int
	rng  *rand.Rand
	done uint64 // operations of this slice
	hist *hdrhistogram.Histogram
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(100, int64(time.Minute), 2) }

// operation does something and returns how many operations it was.
type operation func(ctx context.Context, w *worker) (int, error)

// slice is what one measured slice came to.
type slice struct {
	ops     uint64
	elapsed time.Duration
	cpu     time.Duration
	hist    *hdrhistogram.Histogram // of calls, in nanoseconds
}

func (s slice) rate() float64 { return float64(s.ops) / s.elapsed.Seconds() }

// series is all slices of one operation.
type series []slice

// row sums a series up.
func (s series) row(name string) Row {
	var rates []float64
	var ops uint64
	var cpu time.Duration
	h := newHistogram()
	for _, x := range s {
		rates = append(rates, x.rate())
		ops += x.ops
		cpu += x.cpu
		h.Merge(x.hist)
	}
	slices.Sort(rates)
	r := Row{
		Name: name, Value: median(rates), P50: float64(h.ValueAtQuantile(50)) / 1000,
		P99: float64(h.ValueAtQuantile(99)) / 1000,
	}
	if len(rates) > 1 {
		r.Low, r.High = rates[0], rates[len(rates)-1]
	}
	if ops > 0 {
		r.CPU = float64(cpu.Microseconds()) / float64(ops)
	}
	return r
}

func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// loop runs op in as many callers as asked for, each beginning its next call when the last has ended, for
// about d. Without a store no processor time is counted.
func loop(ctx context.Context, s *Store, callers int, d time.Duration, op operation) (slice, error) {
	var before time.Duration
	var err error
	if s != nil {
		if before, err = s.CPU(); err != nil {
			return slice{}, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var over atomic.Bool
	timer := time.AfterFunc(d, func() { over.Store(true) })
	defer timer.Stop()
	ws := make([]*worker, callers)
	errs := make([]error, callers)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range ws {
		w := &worker{id: i, rng: rand.New(rand.NewPCG(uint64(i), uint64(begin.UnixNano()))),
			hist: newHistogram()}
		ws[i] = w
		wg.Go(func() {
			for !over.Load() && errs[i] == nil {
				from := time.Now()
				n, err := op(ctx, w)
				if err != nil {
					errs[i] = err
					cancel()
					return
				}
				_ = w.hist.RecordValue(int64(time.Since(from))) // longer than a minute is not counted
				w.done += uint64(n)
			}
		})
	}
	wg.Wait()
	out := slice{elapsed: time.Since(begin), hist: newHistogram()}
	for _, w := range ws {
		out.ops += w.done
		out.hist.Merge(w.hist)
	}
	if s != nil {
		var after time.Duration
		after, err = s.CPU()
		out.cpu = after - before
	}
	// The first error is the cause; those behind it are of the context it cancelled.
	return out, firstCause(append(errs, err))
}

func firstCause(errs []error) error {
	var cancelled error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			cancelled = err
		default:
			return err
		}
	}
	return cancelled
}

// contest measures several operations in slices that take turns, each round beginning with another one.
func contest(ctx context.Context, s *Store, callers, rounds int, d time.Duration, progress io.Writer,
	names []string, ops []operation) ([]series, error) {
	all := make([]series, len(ops))
	for round := range rounds + 1 {
		for i := range ops {
			i := (i + round) % len(ops)
			length := d
			if round == 0 {
				length = min(d, 500*time.Millisecond) // warm up
			}
			x, err := loop(ctx, s, callers, length, ops[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", names[i], err)
			}
			if round == 0 {
				continue
			}
			fmt.Fprintf(progress, "round %d  %-34s %12s /s\n", round, names[i], plot.Figure(x.rate()))
			all[i] = append(all[i], x)
		}
	}
	return all, nil
}
