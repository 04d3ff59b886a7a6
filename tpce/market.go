package tpce

import (
	"context"
	"fmt"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// The workers of the market, and the one that maintains the data. Each owns a connection.

// streaks counts a worker's failures in a row, and ends the run when those of one transaction do not stop:
// the others may well read tables that are all right.
type streaks struct {
	*runner
	n map[string]int
}

// fatalStreak is how many failures in a row end the run: the database is not there, or not what it should be.
const fatalStreak = 25

func (s *streaks) note(name string, err error) {
	if err == nil {
		delete(s.n, name)
		return
	}
	s.stats.failed(name, err)
	if s.n == nil {
		s.n = map[string]int{}
	}
	if s.n[name]++; s.n[name] >= fatalStreak {
		s.fatal(fmt.Errorf("%d failures in a row of %s, the last: %w", s.n[name], name, err))
	}
}

// tradeWorker runs Trade-Results.
func (d *runner) tradeWorker(ctx context.Context, r *gen.Rand) {
	s, err := client.OpenSession(ctx, d.db)
	if err != nil {
		d.fatal(fmt.Errorf("connecting: %w", err))
		return
	}
	defer s.Close()
	failures := streaks{runner: d}
	for j := range d.x.jobs {
		d.stats.lagged(time.Since(j.due))
		price, err := d.tradeResult(ctx, s, r, j)
		failures.note(nameTradeResult, err)
		select {
		case d.x.done <- finishedJob{completed: err == nil,
			entry: tickerEntry{j.security, price, j.quantity}}:
		case <-ctx.Done():
			return
		}
	}
}

// tradeResult completes a trade, and tells the price of the security then.
func (d *runner) tradeResult(ctx context.Context, s *client.Session, r *gen.Rand,
	j marketJob) (gen.Cents, error) {
	if j.kind.Market() {
		defer func() { <-d.slots }()
	}
	start := time.Now()
	price := d.x.price(j.security, start)
	t := &tradeResult{Session: s, in: tradeResultInput{id: j.trade,
		price: gen.ExecutionPrice(j.kind, j.quote, price), mode: d.cfg.BrokerTotals}}
	err := s.Retry(ctx, d.retryPolicy(r, nameTradeResult, func(ctx context.Context) (bool, error) {
		state, err := tradeState(ctx, s, j.trade)
		return state == "CMPT", err
	}), t.run)
	if err != nil {
		return price, err
	}
	d.stats.ok(outcome{name: nameTradeResult, start: start, duplicate: t.already})
	if d.observed != nil {
		d.observed.committed(time.Now())
	}
	return price, nil
}

// feedWorker runs Market-Feeds, one after the other: the last price of a symbol is the ticker's last.
func (d *runner) feedWorker(ctx context.Context, r *gen.Rand) {
	s, err := client.OpenSession(ctx, d.db)
	if err != nil {
		d.fatal(fmt.Errorf("connecting: %w", err))
		return
	}
	defer s.Close()
	failures := streaks{runner: d}
	var last time.Time
	for j := range d.x.feeds {
		d.stats.lagged(time.Since(j.due))
		start := time.Now()
		// Later than the one before, so that the time tells whose prices are in the database.
		now := millis(start)
		if !now.After(last) {
			now = last.Add(time.Millisecond)
		}
		last = now
		t := &marketFeed{Session: s, u: d.u, entries: j.entries, now: now}
		err := s.Retry(ctx, d.retryPolicy(r, nameMarketFeed, t.happened), t.run)
		failures.note(nameMarketFeed, err)
		if err == nil {
			d.stats.ok(outcome{name: nameMarketFeed, start: start})
			d.fed += t.volume()
			err = d.carryOut(ctx, t.released)
		}
		if err != nil && ctx.Err() != nil {
			return
		}
		select {
		case d.x.done <- finishedJob{}:
		case <-ctx.Done():
			return
		}
	}
}

// carryOut sends what a committed feed has released to the market.
func (d *runner) carryOut(ctx context.Context, released []marketOrder) error {
	for _, o := range released {
		if err := d.x.send(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// maintain runs Data-Maintenance, at once and then at every interval, until the customers stop.
func (d *runner) maintain(stop, work context.Context, r *gen.Rand) {
	s, err := client.OpenSession(work, d.db)
	if err != nil {
		d.fatal(fmt.Errorf("connecting: %w", err))
		return
	}
	defer s.Close()
	failures := streaks{runner: d}
	tick := time.NewTicker(d.cfg.MaintenanceInterval)
	defer tick.Stop()
	for turn := 0; stop.Err() == nil && work.Err() == nil; turn++ {
		start := time.Now()
		t := &dataMaintenance{Session: s, in: drawDataMaintenance(d.u, r, turn%len(maintained), start.UTC())}
		err := s.Retry(work, d.retryPolicy(r, nameDataMaintenance, again), t.run)
		failures.note(nameDataMaintenance, err)
		if err == nil {
			d.stats.ok(outcome{name: nameDataMaintenance, start: start})
		}
		select {
		case <-tick.C:
		case <-stop.Done():
		}
	}
}
