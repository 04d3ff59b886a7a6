package tpce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"moka/tpce/client"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// RunReport is what a run showed. Its figures are those of a TPC-E-like workload: they are not TPC-E results.
type RunReport struct {
	Bench        string       `json:"bench"`
	Target       string       `json:"target"`
	Server       string       `json:"server"` // what the server calls itself
	Started      time.Time    `json:"started"`
	Customers    int          `json:"customers"`
	Days         int          `json:"days"`
	ScaleFactor  int          `json:"scale_factor"`
	Seed         uint64       `json:"seed"` // of the data
	BrokerTotals BrokerTotals `json:"broker_totals"`
	Isolation    string       `json:"isolation"`
	Connections  int          `json:"connections"`
	TradeWorkers int          `json:"trade_workers"`
	CPUs         int          `json:"cpus"` // of the driver's machine
	Rate         float64      `json:"rate"` // asked for, in Trade-Results per second; 0 is a closed loop
	MarketDelay  string       `json:"market_delay"`
	CurvePeriod  string       `json:"curve_period"`

	RampUpSeconds float64 `json:"ramp_up_seconds"`
	Seconds       float64 `json:"seconds"` // measurement interval
	DrainSeconds  float64 `json:"drain_seconds"`
	TRTPS         float64 `json:"trtps"`   // Trade-Results per second, measured
	Nominal       float64 `json:"nominal"` // what this many customers stand for

	Transactions []TxnReport `json:"transactions"`
	Errors       int64       `json:"errors"`
	Retries      int64       `json:"retries"`

	// from an order's due time to the start of its transaction
	MarketLag   Latency      `json:"market_lag_ms"`
	ObserverLag *ObserverLag `json:"observer_lag,omitempty"`

	Canceled     int      `json:"canceled_before"` // left by an earlier run
	LimitPending int64    `json:"limit_pending"`   // limit orders whose price did not come
	Mismatches   []string `json:"mismatches"`      // driver and database disagree
	Timeline     Timeline `json:"timeline"`

	ServerCPU *ServerCPU `json:"server_cpu,omitempty"`
	CPUNote   string     `json:"server_cpu_note,omitempty"` // why there is none
}

// ServerCPU is the processor time of the server's processes over the whole run, ramp-up and drain included,
// and its share for each transaction that ended in it.
type ServerCPU struct {
	Seconds          float64 `json:"seconds"`
	PerTransactionMS float64 `json:"ms_per_transaction"`
	PerTradeResultMS float64 `json:"ms_per_trade_result"` // all of it, for each Trade-Result
}

// TxnReport is one transaction's line.
type TxnReport struct {
	Name          string           `json:"txn"`
	Measured      int64            `json:"count"`       // ended in the measurement interval
	Outside       int64            `json:"outside"`     // ended in ramp-up or while the market drained
	MixPercent    float64          `json:"mix_percent"` // Data-Maintenance is in no mix
	TargetPercent float64          `json:"target_percent"`
	LimitMS       float64          `json:"limit_ms"`    // the specification's, for the 90th percentile
	RolledBack    int64            `json:"rolled_back"` // on purpose
	Duplicates    int64            `json:"duplicates"`  // found done by an earlier try
	Latency       Latency          `json:"latency_ms"`
	Retries       map[string]int64 `json:"retries"`
	Warnings      map[string]int64 `json:"warnings"`
	Errors        []ErrorCount     `json:"errors"`
}

// Latency in milliseconds, retries included.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// ErrorCount is one kind of error, with its first text.
type ErrorCount struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	First string `json:"first"`
}

// ObserverLag is what sampling the totals showed.
type ObserverLag struct {
	Latency
	LargestBacklog int64   `json:"largest_backlog"`
	DrainSeconds   float64 `json:"drain_seconds"` // from the last commit to empty
	Problem        string  `json:"problem,omitempty"`
}

// tradeCounts are run-time trades by status, pending requests beside them.
type tradeCounts map[string]int64

func countTrades(ctx context.Context, db *client.Pool, firstRuntime int64) (tradeCounts, error) {
	rows, err := db.QueryContext(ctx, "SELECT t_st_id, COUNT(*) FROM trade WHERE t_id >= ? GROUP BY t_st_id",
		firstRuntime)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := tradeCounts{}
	for rows.Next() {
		var status string
		var n int64
		if err := rows.Scan(&status, &n); err != nil {
			return nil, err
		}
		out[status] = n
	}
	return out, rows.Err()
}

// tradedVolume is SUM(LT_VOL), which only Market-Feed writes.
func tradedVolume(ctx context.Context, db *client.Pool) (int64, error) {
	var n int64
	err := db.QueryRowContext(ctx, "SELECT SUM(lt_vol) FROM last_trade").Scan(&n)
	return n, err
}

func (d *runner) report(ctx context.Context) (RunReport, error) {
	r := RunReport{
		Bench: "tpce", Target: client.Redact(d.cfg.Target), Started: d.started.UTC(),
		Customers: d.u.Customers,
		Days:      d.u.Days, ScaleFactor: d.u.ScaleFactor, Seed: d.u.Seed,
		BrokerTotals: d.cfg.BrokerTotals, Isolation: d.db.Isolation(), Connections: d.cfg.Connections,
		TradeWorkers: d.cfg.TradeWorkers, CPUs: runtime.NumCPU(), Rate: d.cfg.Rate,
		MarketDelay: d.cfg.MarketDelay.String(), CurvePeriod: d.cfg.CurvePeriod.String(),
		Canceled:      d.canceled,
		RampUpSeconds: d.cfg.RampUp.Seconds(), Seconds: d.stopped.Sub(d.stats.from).Seconds(),
		DrainSeconds: time.Since(d.stopped).Seconds(),
		Nominal:      float64(d.u.Customers) / float64(d.u.ScaleFactor), Timeline: d.stats.line.report(),
		MarketLag: latencyOf(d.stats.lag),
	}
	if d.undrained != nil {
		// The work context is gone; the counts below need one.
		r.Mismatches = append(r.Mismatches, d.undrained.Error())
		ctx = context.WithoutCancel(ctx)
	}
	if err := d.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&r.Server); err != nil {
		return r, err
	}
	d.addTransactions(&r)
	d.addCPU(&r)
	if d.observed != nil {
		d.addObserver(ctx, &r)
	}
	return r, d.compare(ctx, &r)
}

func (d *runner) addTransactions(r *RunReport) {
	all := int64(0)
	for name, t := range d.stats.txns {
		if kindOf(name).target > 0 {
			all += t.measured
		}
	}
	for _, kind := range kinds {
		name := kind.name
		t := d.stats.txns[name]
		if t == nil {
			t = newTxnStats()
		}
		line := TxnReport{
			Name: name, Measured: t.measured, Outside: t.outside, RolledBack: t.rolledBack,
			Duplicates: t.duplicates, Latency: latencyOf(t.latency),
			Retries: t.retries, Warnings: t.warnings, Errors: []ErrorCount{}, TargetPercent: kind.target,
			LimitMS: float64(kind.limit.Milliseconds()),
		}
		if kind.target > 0 {
			line.MixPercent = 100 * float64(t.measured) / float64(max(all, 1))
		}
		for _, kind := range sortedKeys(t.errors) {
			line.Errors = append(line.Errors, *t.errors[kind])
			r.Errors += t.errors[kind].Count
		}
		for n := range maps.Values(t.retries) {
			r.Retries += n
		}
		if name == nameTradeResult && r.Seconds > 0 {
			r.TRTPS = float64(t.measured) / r.Seconds
		}
		r.Transactions = append(r.Transactions, line)
	}
}

func (d *runner) addCPU(r *RunReport) {
	if d.cpuError != nil {
		r.CPUNote = d.cpuError.Error()
		return
	}
	cpu := &ServerCPU{Seconds: d.cpuUsed.Seconds()}
	transactions, results := int64(0), int64(0)
	for name, t := range d.stats.txns {
		transactions += t.measured + t.outside
		if name == nameTradeResult {
			results = t.measured + t.outside
		}
	}
	cpu.PerTransactionMS = 1000 * cpu.Seconds / float64(max(transactions, 1))
	if results > 0 {
		cpu.PerTradeResultMS = 1000 * cpu.Seconds / float64(results)
	}
	r.ServerCPU = cpu
}

func (d *runner) addObserver(ctx context.Context, r *RunReport) {
	waited := time.Now()
	lag := &ObserverLag{Latency: latencyOf(d.observed.lag), LargestBacklog: d.observed.backlog,
		Problem: d.observed.failure}
	if err := waitForObserver(ctx, d.db, d.cfg.DrainTimeout); err != nil {
		lag.Problem = strings.TrimPrefix(err.Error(), "tpce: ")
		r.Mismatches = append(r.Mismatches, lag.Problem)
	}
	lag.DrainSeconds = time.Since(waited).Seconds()
	r.ObserverLag = lag
}

// compare holds the driver's counts against the database's: an acknowledged transaction is
// there, and nothing else is.
func (d *runner) compare(ctx context.Context, r *RunReport) error {
	after, err := countTrades(ctx, d.db, d.u.FirstRuntimeTrade())
	if err != nil {
		return err
	}
	r.LimitPending = after["PNDG"]
	total := func(c tradeCounts) (n int64) {
		for v := range maps.Values(c) {
			n += v
		}
		return n
	}
	acknowledged := func(name string) int64 {
		t := d.stats.txns[name]
		if t == nil {
			return 0
		}
		return t.measured + t.outside - t.rolledBack - t.duplicates
	}
	if got, want := total(after)-total(d.before), acknowledged(nameTradeOrder); got != want {
		r.Mismatches = append(r.Mismatches,
			fmt.Sprintf("%d trades in the database for %d acknowledged Trade-Orders", got, want))
	}
	// A duplicate is a result that an earlier, unanswered try had completed: it is in the database once.
	results := acknowledged(nameTradeResult)
	if t := d.stats.txns[nameTradeResult]; t != nil {
		results += t.duplicates
	}
	if got := after["CMPT"] - d.before["CMPT"]; got != results {
		r.Mismatches = append(r.Mismatches,
			fmt.Sprintf("%d completed trades in the database for %d acknowledged Trade-Results",
				got, results))
	}
	volume, err := tradedVolume(ctx, d.db)
	if err != nil {
		return err
	}
	if got := volume - d.volumeBefore; got != d.fed {
		r.Mismatches = append(r.Mismatches,
			fmt.Sprintf("LT_VOL grew by %d, the acknowledged Market-Feeds' reports by %d", got, d.fed))
	}
	if n := after["SBMT"]; n != 0 {
		r.Mismatches = append(r.Mismatches, fmt.Sprintf("%d trades are still submitted", n))
	}
	return nil
}

// Err is nil for a run without errors and without disagreement between driver and database.
func (r RunReport) Err() error {
	var list []error
	if r.Errors > 0 {
		list = append(list, fmt.Errorf("tpce: %d transactions failed", r.Errors))
	}
	for _, m := range r.Mismatches {
		list = append(list, errors.New("tpce: "+m))
	}
	return errors.Join(list...)
}

func (r RunReport) loop() string {
	if r.Rate == 0 {
		return "closed loop"
	}
	return fmt.Sprintf("open loop for %.2f trtps", r.Rate)
}

// JSON is one line.
func (r RunReport) JSON() ([]byte, error) { return json.Marshal(r) }

// Text is the report for a person.
func (r RunReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "TPC-E-like workload (not a TPC-E result)\n")
	fmt.Fprintf(&b, "target %s (%s), %d customers, %d days, scale factor %d, broker totals %s\n", r.Target,
		r.Server, r.Customers, r.Days, r.ScaleFactor, r.BrokerTotals)
	fmt.Fprintf(&b, "%d customers' connections, %d of the market, %s; market delay %s, price curve %s\n",
		r.Connections, r.TradeWorkers, r.loop(), r.MarketDelay, r.CurvePeriod)
	fmt.Fprintf(&b, "isolation: %s\n", r.Isolation)
	fmt.Fprintf(&b, "measured %.1f s after %.1f s ramp-up; market drained in %.1f s\n\n", r.Seconds,
		r.RampUpSeconds, r.DrainSeconds)
	fmt.Fprintf(&b, "%.2f trtps (%.0f x the nominal %.2f of %d customers), %d retries, %d errors\n\n",
		r.TRTPS, r.TRTPS/r.Nominal, r.Nominal, r.Customers, r.Retries, r.Errors)

	if s := r.Smoke(); s != "" {
		b.WriteString(s + "\n\n")
	}
	w := tabwriter.NewWriter(&b, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "transaction\tcount\tmix %\ttarget\tp50 ms\tp90\tp99\tmax\tlimit "+
		"p90\tretries\terrors\toutside\t")
	for _, t := range r.Transactions {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%d\t%d\t%d\t\n", t.Name, t.Measured,
			t.MixPercent, t.TargetPercent,
			t.Latency.P50, t.Latency.P90, t.Latency.P99, t.Latency.Max, t.LimitMS, sum(t.Retries),
			countErrors(t.Errors), t.Outside)
	}
	w.Flush()
	b.WriteByte('\n')
	r.notes(&b)
	return b.String()
}

// enoughDays of history give every account the 50 trades that Trade-Status wants.
const enoughDays = 20

func (r RunReport) notes(b *strings.Builder) {
	for _, t := range r.Transactions {
		if t.RolledBack > 0 {
			fmt.Fprintf(b, "%s: %d rolled back on purpose\n", t.Name, t.RolledBack)
		}
		if t.Duplicates > 0 {
			fmt.Fprintf(b, "%s: %d found done already\n", t.Name, t.Duplicates)
		}
		for _, k := range sortedKeys(t.Retries) {
			fmt.Fprintf(b, "%s: %d retries, %s\n", t.Name, t.Retries[k], k)
		}
		for _, k := range sortedKeys(t.Warnings) {
			fmt.Fprintf(b, "%s: %d warnings, %s", t.Name, t.Warnings[k], k)
			if r.Days < enoughDays {
				fmt.Fprintf(b, " (to be expected: %d days of history are few)", r.Days)
			}
			b.WriteByte('\n')
		}
		for _, e := range t.Errors {
			fmt.Fprintf(b, "%s: %d ERRORS, %s; the first: %s\n", t.Name, e.Count, e.Kind, e.First)
		}
	}
	if c := r.ServerCPU; c != nil {
		fmt.Fprintf(b, "server's processor time %.2f s: %.2f ms for each transaction, %.2f ms for each "+
			"Trade-Result\n", c.Seconds, c.PerTransactionMS, c.PerTradeResultMS)
	} else {
		fmt.Fprintf(b, "server's processor time: %s\n", r.CPUNote)
	}
	fmt.Fprintf(b, "market lag p50 %.1f ms, p99 %.1f ms, max %.1f ms\n", r.MarketLag.P50, r.MarketLag.P99,
		r.MarketLag.Max)
	if o := r.ObserverLag; o != nil {
		fmt.Fprintf(b, "observer lag p50 %.1f ms, p99 %.1f ms, max %.1f ms; largest backlog %d, drained in "+
			"%.2f s\n", o.P50, o.P99, o.Max, o.LargestBacklog, o.DrainSeconds)
		if o.Problem != "" {
			fmt.Fprintf(b, "observer lag: %s\n", o.Problem)
		}
	}
	fmt.Fprintf(b, "%d limit orders wait for their price; %d left by an earlier run were canceled\n",
		r.LimitPending, r.Canceled)
	for _, m := range r.Mismatches {
		fmt.Fprintf(b, "MISMATCH: %s\n", m)
	}
}

func sum(m map[string]int64) (n int64) {
	for v := range maps.Values(m) {
		n += v
	}
	return n
}

func countErrors(list []ErrorCount) (n int64) {
	for _, e := range list {
		n += e.Count
	}
	return n
}
