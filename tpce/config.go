package tpce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// BrokerTotals says who keeps B_NUM_TRADES and B_COMM_TOTAL, the hottest rows of the workload.
type BrokerTotals string

const (
	// Inline updates BROKER in Trade-Result, as the specification has it.
	Inline BrokerTotals = "inline"
	// Omit leaves the totals out, as the Percolator paper's benchmark did (OSDI 2010, section 3.3).
	Omit BrokerTotals = "omit"
	// Observer inserts each contribution into a side table and lets an observer aggregate: what that paper
	// says a product would do. It needs an engine with CREATE OBSERVER, that is, Moka.
	Observer BrokerTotals = "observer"
)

// Config is shared by Load, Run and Check. The zero value of a field means its default.
type Config struct {
	Target string // mysql://user:password@host:port/database, or postgres://

	// The size of the world. Load wants it; Run and Check read it from the database, and refuse a
	// Config that contradicts it.
	Preset           string // "" or one of Presets: fills the fields below that are zero
	Customers        int    // default 1000
	Days             int    // initial trade days; default 10
	ScaleFactor      int    // default 500
	Seed             uint64 // default 1
	DailyMarketWeeks int    // default 261
	NewsBytes        int    // default 100,000

	Connections int       // loader's connections, or driver's customers; default 8
	Progress    io.Writer // nil: silent
	// Watch is told each second how a run goes; nil: nobody. A slow one is called less often.
	Watch func(Live)

	// Load.
	Drop            bool // drop the workload's tables first
	BatchRows       int  // rows of one INSERT; default 500
	OmitForeignKeys bool // for an engine without them
	DeferIndexes    bool // create secondary indexes after the rows are in

	// Load and Run.
	BrokerTotals BrokerTotals // default Inline

	// Run. Bounded by time, or by the number of customers' transactions if that is given.
	Duration time.Duration // default 30 s; what is measured comes after RampUp
	RampUp   time.Duration
	// Trade-Results per second that customers' arrivals are made for; 0: a closed loop
	Rate         float64
	Transactions int64 // customers' transactions in all; 0: no bound but time
	// connections that run the market's transactions; default as many as Connections
	TradeWorkers int
	MarketDelay  time.Duration // mean delay of the market; default 1 s, cut at five times that
	CurvePeriod  time.Duration // period of the price curve; default 15 min, a short run wants less
	// MaintenanceInterval is the time between two Data-Maintenances; default 60 s.
	MaintenanceInterval time.Duration
	MaxAttempts         int // tries of one transaction before it counts as an error; default 50

	DrainTimeout time.Duration // bound of the wait for the market, and for observers; default 60 s

	// declareObserver lets a test stand in for an engine with observers.
	declareObserver func(context.Context, *client.Pool) error
}

// Presets are named sizes. Only "laptop" keeps the full history of prices and the full news.
var Presets = map[string]Config{
	// demo loads in well under a minute on an engine that takes 5,000 rows a second.
	"demo":   {Customers: 100, Days: 1, DailyMarketWeeks: 2, NewsBytes: 1000},
	"smoke":  {Customers: 100, Days: 5, DailyMarketWeeks: 52, NewsBytes: 1000},
	"tiny":   {Customers: 100, Days: 10},
	"small":  {Customers: 500, Days: 10},
	"laptop": {Customers: 1000, Days: 10},
}

func (c Config) withDefaults() (Config, error) {
	if c.Preset != "" {
		p, ok := Presets[c.Preset]
		if !ok {
			return c, fmt.Errorf("tpce: no preset %q: use one of %s", c.Preset,
				strings.Join(presetNames(), ", "))
		}
		setDefault(&c.Customers, p.Customers)
		setDefault(&c.Days, p.Days)
		setDefault(&c.DailyMarketWeeks, p.DailyMarketWeeks)
		setDefault(&c.NewsBytes, p.NewsBytes)
	}
	setDefault(&c.Connections, 8)
	setDefault(&c.BatchRows, 500)
	setDefault(&c.BrokerTotals, Inline)
	setDefault(&c.Duration, 30*time.Second)
	setDefault(&c.TradeWorkers, c.Connections)
	setDefault(&c.MarketDelay, time.Second)
	setDefault(&c.CurvePeriod, 15*time.Minute)
	setDefault(&c.MaintenanceInterval, time.Minute)
	setDefault(&c.MaxAttempts, 50)
	setDefault(&c.DrainTimeout, time.Minute)
	if c.declareObserver == nil {
		c.declareObserver = declareObserver
	}
	c.Progress = c.progressTo()
	switch c.BrokerTotals {
	case Inline, Omit, Observer:
	default:
		return c, fmt.Errorf("tpce: broker totals %q: use inline, omit or observer", c.BrokerTotals)
	}
	if c.Rate < 0 {
		return c, fmt.Errorf("tpce: a rate of %v: use 0 for a closed loop, or a rate", c.Rate)
	}
	if c.Connections < 1 || c.BatchRows < 1 || c.TradeWorkers < 1 || c.MaxAttempts < 1 {
		return c, errors.New("tpce: connections, batch rows, trade workers and attempts must be at least 1")
	}
	return c, nil
}

func (c Config) progressTo() io.Writer {
	if c.Progress == nil {
		return io.Discard
	}
	return c.Progress
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func presetNames() []string {
	var names []string
	for n := range Presets {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (c Config) params() gen.Params {
	return gen.Params{
		Customers: c.Customers, Days: c.Days, ScaleFactor: c.ScaleFactor, Seed: c.Seed,
		DailyMarketWeeks: c.DailyMarketWeeks, NewsBytes: c.NewsBytes,
	}
}
