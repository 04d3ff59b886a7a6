package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/oracle"
)

// OracleConfig configures Oracle. Zero values mean the defaults.
type OracleConfig struct {
	Server   []string      `json:"-"` // command of the server's process
	Dir      string        `json:"-"` // of its data
	Callers  int           // default 64
	InFlight int           // transactions that a caller with several has begun at a time; default 64
	Rounds   int           // default 5
	Slice    time.Duration // default 2s
	Progress io.Writer     `json:"-"`
}

func (c OracleConfig) withDefaults() OracleConfig {
	if c.Callers <= 0 {
		c.Callers = 64
	}
	if c.InFlight <= 0 {
		c.InFlight = 64
	}
	if c.Rounds <= 0 {
		c.Rounds = 5
	}
	if c.Slice <= 0 {
		c.Slice = 2 * time.Second
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

// Oracle measures timestamps a second over loopback gRPC, server and callers in two processes, the ceiling on
// disk.
//
// What a caller is decides the figure, so three kinds are measured:
//
//	one at a time   asks for one timestamp and waits for it. Bounded by callers ÷ round trip, whatever the
//	                oracle can do.
//	in flight       begins many transactions before it waits for the first, as a server process with many
//	                sessions does; each asks for its own timestamp by a call of its own. This is what the
//	                paper's workers do: one request pending for each worker, for all of its transactions
//	                (§2.3).
//	range           begins them with one call that names how many.
//
// In all three there is one request under way from the process at a time, and every timestamp
// goes to one transaction.
func Oracle(ctx context.Context, c OracleConfig) (*Report, error) {
	c = c.withDefaults()
	s, err := OpenStore(ctx, c.Server, ServerOptions{Dir: c.Dir})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t := newTimestampCheck(c.Callers)
	names := []string{"one at a time", fmt.Sprintf("%d in flight", c.InFlight),
		fmt.Sprintf("range of %d", c.InFlight)}
	ops := []operation{
		t.watch(func(ctx context.Context, out []kv.Timestamp) ([]kv.Timestamp, error) {
			ts, err := s.Clock.Next(ctx)
			return append(out, ts), err
		}),
		t.watch(func(ctx context.Context, out []kv.Timestamp) ([]kv.Timestamp, error) {
			return takeInFlight(ctx, s.Clock, c.InFlight, out)
		}),
		t.watch(func(ctx context.Context, out []kv.Timestamp) ([]kv.Timestamp, error) {
			first, err := s.Clock.Range(ctx, c.InFlight)
			for i := range c.InFlight {
				out = append(out, first+kv.Timestamp(i))
			}
			return out, err
		}),
	}
	before := s.Clock.Metrics()
	all, err := contest(ctx, s, c.Callers, c.Rounds, c.Slice, c.Progress, names, ops)
	if err != nil {
		return nil, err
	}
	r := newReport("oracle", fmt.Sprintf("Timestamps to %d callers over loopback gRPC", c.Callers),
		"timestamps/s", c)
	r.Reference = "paper"
	for i, name := range names {
		row := all[i].row(name)
		row.Reference = 2e6
		r.Rows = append(r.Rows, row)
	}
	total, err := t.verify()
	if err != nil {
		return nil, err
	}
	st, err := s.Stats()
	if err != nil {
		return nil, err
	}
	m := s.Clock.Metrics()
	r.Notes = []string{
		"p50 and p99 are of a call: one timestamp, or from the first of the transactions asking until the " +
			"last has its timestamp",
		fmt.Sprintf("%.0f timestamps for each request on the wire; one request is under way at a time",
			float64(m.Timestamps-before.Timestamps)/float64(max(1, m.Requests-before.Requests))),
		fmt.Sprintf("the server made its ceiling durable %d times, each with an fsync, before it handed "+
			"out anything below it", st.OracleRaises),
		"the paper's figure is one machine of 2010, with callers on many others",
	}
	r.Checks = []string{fmt.Sprintf("all %d timestamps differ, grow for each caller, and exceed everything "+
		"that any caller had received before the call", total)}
	return r, nil
}

// takeInFlight begins n transactions and then waits for each.
func takeInFlight(ctx context.Context, clock *oracle.Client, n int,
	out []kv.Timestamp) ([]kv.Timestamp, error) {
	var stack [256]oracle.Future
	fs := stack[:0]
	for range n {
		fs = append(fs, clock.Async())
	}
	for i := range fs {
		ts, err := fs[i].Wait(ctx)
		if err != nil {
			return out, err
		}
		out = append(out, ts)
	}
	return out, nil
}

// timestampCheck verifies the oracle's promise on everything that was handed out.
type timestampCheck struct {
	// received is the greatest timestamp that anybody holds. Who asks later must get a greater one.
	received atomic.Uint64
	callers  []callerCheck
}

type callerCheck struct {
	last kv.Timestamp
	runs []timestampRun // what the caller received, for the check that nobody else did
	buf  []kv.Timestamp
	_    [64]byte // callers write theirs all the time: a cache line each
}

// timestampRun is first, first+1, … first+n-1.
type timestampRun struct {
	first kv.Timestamp
	n     uint32
}

var errTimestampOrder = errors.New("the oracle broke its promise")

func newTimestampCheck(callers int) *timestampCheck {
	return &timestampCheck{callers: make([]callerCheck, callers)}
}

// watch makes a measured operation of a way to take timestamps.
func (t *timestampCheck) watch(take func(context.Context, []kv.Timestamp) ([]kv.Timestamp, error)) operation {
	return func(ctx context.Context, w *worker) (int, error) {
		c := &t.callers[w.id]
		floor := kv.Timestamp(t.received.Load())
		out, err := take(ctx, c.buf[:0])
		c.buf = out
		if err != nil {
			return 0, err
		}
		return len(out), t.add(c, floor, out)
	}
}

func (t *timestampCheck) add(c *callerCheck, floor kv.Timestamp, out []kv.Timestamp) error {
	for _, ts := range out {
		if ts <= floor || ts <= c.last {
			return fmt.Errorf("%w: timestamp %v came after %v was held by somebody and %v by the same caller",
				errTimestampOrder, ts, floor, c.last)
		}
		c.last = ts
		if k := len(c.runs) - 1; k >= 0 && c.runs[k].first+kv.Timestamp(c.runs[k].n) == ts {
			c.runs[k].n++
			continue
		}
		c.runs = append(c.runs, timestampRun{ts, 1})
	}
	for {
		old := t.received.Load()
		if uint64(c.last) <= old || t.received.CompareAndSwap(old, uint64(c.last)) {
			return nil
		}
	}
}

// verify checks that no timestamp was handed out twice, and counts them.
func (t *timestampCheck) verify() (total uint64, err error) {
	var runs []timestampRun
	for i := range t.callers {
		runs = append(runs, t.callers[i].runs...)
	}
	slices.SortFunc(runs, func(a, b timestampRun) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	for i, r := range runs {
		total += uint64(r.n)
		if i > 0 && runs[i-1].first+kv.Timestamp(runs[i-1].n) > r.first {
			return 0, fmt.Errorf("%w: timestamp %v was handed out twice", errTimestampOrder, r.first)
		}
	}
	return total, nil
}
