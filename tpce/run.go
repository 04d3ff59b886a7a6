package tpce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Run drives the mix against a loaded database: Connections customers without think time, the exchange
// and its TradeWorkers. Canceling ctx ends the run early but in order: the customers stop, the market
// drains, the report is made. An error means that there is no report worth reading; errors of single
// transactions are in the report.
func Run(ctx context.Context, cfg Config) (RunReport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return RunReport{}, err
	}
	db, err := client.Open(cfg.Target, cfg.Connections+cfg.TradeWorkers+4)
	if err != nil {
		return RunReport{}, err
	}
	defer db.Close()
	u, _, err := universeOf(ctx, db, cfg)
	if err != nil {
		return RunReport{}, err
	}
	d := &runner{cfg: cfg, u: u, db: db}
	if err := d.prepare(ctx); err != nil {
		return RunReport{}, err
	}
	// What follows must not be cut in the middle of a transaction by the caller's cancel, only by our own
	// deadline.
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	if err := d.run(ctx, work, abandon); err != nil {
		return RunReport{}, err
	}
	return d.report(work)
}

type runner struct {
	cfg      Config
	u        *gen.Universe
	db       *client.Pool
	x        *exchange
	stats    *stats
	pace     *pacer
	slots    chan struct{} // bounds the orders that the market has not yet completed
	issued   atomic.Int64
	bar      *progress
	observed *observerLag
	fatal    func(error)

	started, stopped time.Time
	canceled         int
	volumeBefore     int64 // SUM(LT_VOL)
	fed              int64 // what committed Market-Feeds added to it
	before           tradeCounts
	undrained        error
	cpuUsed          time.Duration
	cpuError         error // why cpuUsed is not known
}

// maxOpenOrders makes customers wait when the market falls this far behind.
const maxOpenOrders = 10_000

func (d *runner) prepare(ctx context.Context) error {
	if err := setUpBrokerTotals(ctx, d.db, d.cfg); err != nil {
		return err
	}
	if d.cfg.BrokerTotals == Omit {
		if err := setParameter(ctx, d.db, paramTotalsLost, "1"); err != nil {
			return err
		}
	}
	s, err := client.OpenSession(ctx, d.db)
	if err != nil {
		return err
	}
	defer s.Close()
	clean := &tradeCleanup{Session: s, firstRuntime: d.u.FirstRuntimeTrade(), policy: client.RetryPolicy{
		Attempts: d.cfg.MaxAttempts, Rand: gen.NewRand(d.u.Seed, -1), OnRetry: func(string) {},
	}}
	if d.canceled, err = clean.run(ctx); err != nil {
		return fmt.Errorf("tpce: Trade-Cleanup: %w", err)
	}
	if d.before, err = countTrades(ctx, d.db, d.u.FirstRuntimeTrade()); err != nil {
		return err
	}
	if d.volumeBefore, err = tradedVolume(ctx, d.db); err != nil {
		return err
	}
	if d.cfg.BrokerTotals == Observer {
		d.observed, err = newObserverLag(ctx, d.db)
	}
	return err
}

// run returns when the customers have stopped and the market is empty.
func (d *runner) run(ctx, work context.Context, abandon context.CancelCauseFunc) error {
	cpu, err := client.FindServer(d.cfg.Target)
	var before time.Duration
	if err == nil {
		before, err = cpu.Used()
	}
	d.started = time.Now()
	d.stats = newStats(d.started, d.started.Add(d.cfg.RampUp))
	d.pace = newPacer(d.cfg.Rate, d.started, gen.NewRand(uint64(d.started.UnixNano()), 502))
	d.slots = make(chan struct{}, maxOpenOrders)
	d.fatal = func(err error) { abandon(err) }
	// a second run on the same database must not repeat the first one's orders
	seed := uint64(d.started.UnixNano())
	d.x = newExchange(d.cfg.MarketDelay, d.cfg.CurvePeriod, d.u.Securities(), gen.NewRand(seed, 0))
	total := d.cfg.Transactions
	d.bar = startProgress(d.cfg.Progress, "run", "transactions", total, d.progressExtra)

	var market, customers, others sync.WaitGroup
	market.Go(func() { d.x.run(work) })
	for i := range d.cfg.TradeWorkers {
		market.Go(func() { d.tradeWorker(work, gen.NewRand(seed, int64(i+1))) })
	}
	market.Go(func() { d.feedWorker(work, gen.NewRand(seed, 500)) })
	finished := make(chan struct{})
	if d.observed != nil {
		others.Go(func() { d.observed.sample(work, finished) })
	}
	if d.cfg.Watch != nil {
		others.Go(func() { d.watch(work, finished) })
	}
	limit := d.cfg.RampUp + d.cfg.Duration
	if d.cfg.Transactions > 0 {
		limit = math.MaxInt64 // the count ends it
	}
	customerCtx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	others.Go(func() { d.limitDrain(customerCtx, finished, abandon) })
	market.Go(func() { d.maintain(customerCtx, work, gen.NewRand(seed, 501)) })
	for i := range d.cfg.Connections {
		customers.Go(func() { d.customer(customerCtx, work, gen.NewRand(seed, int64(1000+i))) })
	}
	customers.Wait()
	stop()
	d.stopped = time.Now()
	d.stats.close(d.stopped)
	close(d.x.drain)
	market.Wait()
	close(finished)
	others.Wait()
	if err == nil {
		d.cpuUsed, err = cpu.Used()
		d.cpuUsed -= before
	}
	d.cpuError = err
	d.bar.finish()
	if err := context.Cause(work); errors.Is(err, errNotDrained) {
		d.undrained = err
	} else if err != nil {
		return fmt.Errorf("tpce: run abandoned: %w", err)
	}
	return nil
}

// limitDrain cuts what is still running DrainTimeout after the customers were told to stop: a server that
// hangs must not keep the run, or an interrupted program, for ever.
func (d *runner) limitDrain(customers context.Context, finished <-chan struct{},
	abandon context.CancelCauseFunc) {
	<-customers.Done()
	t := time.NewTimer(d.cfg.DrainTimeout)
	defer t.Stop()
	select {
	case <-finished:
	case <-t.C:
		abandon(errNotDrained)
	}
}

var errNotDrained = errors.New("the customers or the market did not finish in time")

func (d *runner) progressExtra() string {
	d.stats.mu.Lock()
	defer d.stats.mu.Unlock()
	results, failures, retries := int64(0), int64(0), int64(0)
	for name, t := range d.stats.txns {
		if name == nameTradeResult {
			results = t.measured + t.outside
		}
		for _, e := range t.errors {
			failures += e.Count
		}
		for _, n := range t.retries {
			retries += n
		}
	}
	return fmt.Sprintf(", %s Trade-Results, %d retries, %d errors", grouped(results), retries, failures)
}

// customer is one customers' connection.
func (d *runner) customer(stop, work context.Context, r *gen.Rand) {
	s, err := client.OpenSession(work, d.db)
	if err != nil {
		d.fatal(fmt.Errorf("connecting: %w", err))
		return
	}
	defer s.Close()
	c := &customerWorker{runner: d, session: s, rand: r}
	c.numbers = tradeNumbers{session: s, policy: c.policy(nameTradeOrder, nil)}
	failures := streaks{runner: d}
	for stop.Err() == nil && work.Err() == nil {
		n := d.issued.Add(1)
		if d.cfg.Transactions > 0 && n > d.cfg.Transactions {
			return
		}
		name := c.draw()
		start, ok := d.pace.wait(stop)
		if !ok {
			return
		}
		err := c.transaction(work, name, start)
		failures.note(name, err)
		if err == nil {
			d.bar.done.Add(1)
		}
	}
}

type customerWorker struct {
	*runner
	session *client.Session
	rand    *gen.Rand
	numbers tradeNumbers
	cards   []string
}

// draw takes the next card of a shuffled deck, without replacement.
func (c *customerWorker) draw() string {
	if len(c.cards) == 0 {
		c.cards = newDeck()
		for i := len(c.cards) - 1; i > 0; i-- {
			j := c.rand.Int(0, int64(i))
			c.cards[i], c.cards[j] = c.cards[j], c.cards[i]
		}
	}
	card := c.cards[len(c.cards)-1]
	c.cards = c.cards[:len(c.cards)-1]
	return card
}

func (d *runner) retryPolicy(r *gen.Rand, name string,
	happened func(context.Context) (bool, error)) client.RetryPolicy {
	return client.RetryPolicy{
		Attempts: d.cfg.MaxAttempts, Rand: r, Level: kindOf(name).level, Happened: happened,
		OnRetry: func(reason string) { d.stats.retried(name, reason) },
	}
}

func (c *customerWorker) policy(name string,
	happened func(context.Context) (bool, error)) client.RetryPolicy {
	return c.retryPolicy(c.rand, name, happened)
}

// question is a transaction whose outcome nobody but the customer waits for.
type question interface {
	run(ctx context.Context) error
	warning() string
}

// ask draws the inputs of a question.
func (c *customerWorker) ask(name string) (question, error) {
	switch name {
	case nameBrokerVolume:
		return &brokerVolume{Session: c.session, in: drawBrokerVolume(c.u, c.rand)}, nil
	case nameCustomerPosition:
		return &customerPosition{Session: c.session, in: drawCustomerPosition(c.u, c.rand)}, nil
	case nameMarketWatch:
		return &marketWatch{Session: c.session, in: drawMarketWatch(c.u, c.rand)}, nil
	case nameSecurityDetail:
		return &securityDetail{Session: c.session, in: drawSecurityDetail(c.u, c.rand)}, nil
	case nameTradeLookup:
		return &tradeLookup{tradeSearch: tradeSearch{Session: c.session, in: drawTradeLookup(c.u, c.rand)}},
			nil
	case nameTradeStatus:
		return &tradeStatus{Session: c.session, account: gen.AccountID(c.u.ChooseAccount(c.rand))}, nil
	case nameTradeUpdate:
		return &tradeUpdate{tradeSearch: tradeSearch{Session: c.session, in: drawTradeUpdate(c.u, c.rand),
			update: true}}, nil
	default:
		return nil, fmt.Errorf("tpce: no customer asks for %s", name)
	}
}

// again is for a transaction that may be repeated when nobody knows whether it happened: Trade-Update and
// Data-Maintenance change wordings to and fro.
func again(context.Context) (bool, error) { return false, nil }

func (c *customerWorker) transaction(ctx context.Context, name string, start time.Time) error {
	if name == nameTradeOrder {
		return c.tradeOrder(ctx, start)
	}
	q, err := c.ask(name)
	if err != nil {
		return err
	}
	p := c.policy(name, nil)
	if p.Level != client.ReadOnly {
		p.Happened = again
	}
	if err := c.session.Retry(ctx, p, q.run); err != nil {
		return err
	}
	c.stats.ok(outcome{name: name, start: start, warning: q.warning()})
	return nil
}

func (c *customerWorker) tradeOrder(ctx context.Context, start time.Time) error {
	id, err := c.numbers.take(ctx)
	if err != nil {
		return err
	}
	t := &tradeOrder{Session: c.session, u: c.u, in: drawTradeOrder(c.u, c.rand), id: id,
		now: millis(time.Now())}
	err = c.session.Retry(ctx, c.policy(nameTradeOrder, func(ctx context.Context) (bool, error) {
		state, err := tradeState(ctx, c.session, id)
		return state != "", err
	}), t.run)
	if errors.Is(err, client.ErrRollBack) {
		c.stats.ok(outcome{name: nameTradeOrder, start: start, rolledBack: true})
		return nil
	}
	if err != nil {
		return err
	}
	c.stats.ok(outcome{name: nameTradeOrder, start: start})
	o := marketOrder{trade: id, security: t.in.security, kind: t.in.kind, quote: t.price,
		quantity: t.in.quantity, released: t.in.kind.Market()}
	if o.released {
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.x.send(ctx, o)
}
