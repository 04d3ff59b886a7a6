package tpce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/plot"
)

// CompareConfig is a comparison of servers: the same load, the same run, in turns.
type CompareConfig struct {
	Config   // Target and BrokerTotals are each target's own
	Targets  []CompareTarget
	Rounds   int  // default 3
	KeepData bool // a target that is loaded already is taken as it is
}

// CompareTarget is one column of the comparison.
type CompareTarget struct {
	Name   string
	Target string
	Totals BrokerTotals
}

// ParseCompareTarget reads NAME=URL, or NAME:TOTALS=URL with inline, omit or observer.
func ParseCompareTarget(s string) (CompareTarget, error) {
	name, target, ok := strings.Cut(s, "=")
	name, totals, given := strings.Cut(name, ":")
	t := CompareTarget{Name: name, Target: target, Totals: Inline}
	if given {
		t.Totals = BrokerTotals(totals)
	}
	if !ok || name == "" {
		return t, fmt.Errorf("tpce: target %q: want NAME=URL or NAME:inline|omit|observer=URL",
			client.Redact(s))
	}
	if _, err := client.FamilyOf(target); err != nil {
		return t, err
	}
	return t, nil
}

// CompareReport is what the comparison showed. Its figures are of a TPC-E-like workload: they
// are not TPC-E results.
type CompareReport struct {
	Bench   string           `json:"bench"`
	Started time.Time        `json:"started"`
	Rounds  int              `json:"rounds"`
	Targets []ComparedTarget `json:"targets"`
}

// ComparedTarget is one server's share.
type ComparedTarget struct {
	Name   string       `json:"name"`
	Totals BrokerTotals `json:"broker_totals"`
	Load   *LoadReport  `json:"load,omitempty"` // nil when it was loaded before
	// Differing are tables that, after the load, did not hold the generator's rows; nil when it was not
	// asked.
	Differing []string      `json:"differing_tables"`
	Checked   []CheckReport `json:"checks"` // after the load, and after the last round
	Runs      []RunReport   `json:"runs"`   // round by round
}

// Compare loads the targets that are empty, checks them against the generator, lets each run in turn,
// round by round, and checks them again. The error is nil only if nothing failed on any target; the
// report is there in any case.
func Compare(ctx context.Context, cfg CompareConfig) (CompareReport, error) {
	setDefault(&cfg.Rounds, 3)
	if len(cfg.Targets) == 0 {
		return CompareReport{}, errors.New("tpce: nothing to compare: give --target NAME=URL for each server")
	}
	r := CompareReport{Bench: "tpce compare", Started: time.Now().UTC(), Rounds: cfg.Rounds}
	for _, t := range cfg.Targets {
		r.Targets = append(r.Targets, ComparedTarget{Name: t.Name, Totals: t.Totals, Differing: []string{}})
	}
	var problems []error
	for i, t := range cfg.Targets {
		if err := r.Targets[i].prepare(ctx, cfg.of(t), cfg.KeepData); err != nil {
			return r, fmt.Errorf("%s: %w", t.Name, err)
		}
		if d := r.Targets[i].Differing; len(d) > 0 {
			problems = append(problems, fmt.Errorf("tpce: %s: tables differ from what was generated: %s",
				t.Name, strings.Join(d, ", ")))
		}
	}
	for round := range cfg.Rounds {
		for i, t := range cfg.Targets {
			run := cfg.of(t)
			// the database knows
			run.Customers, run.Days, run.Preset, run.Seed, run.DailyMarketWeeks, run.NewsBytes,
				run.ScaleFactor = 0, 0, "", 0, 0, 0, 0
			fmt.Fprintf(run.progressTo(), "round %d of %d: %s\n", round+1, cfg.Rounds, t.Name)
			report, err := Run(ctx, run)
			if err != nil {
				return r, fmt.Errorf("%s, round %d: %w", t.Name, round+1, err)
			}
			if err := report.Err(); err != nil {
				problems = append(problems, fmt.Errorf("%s, round %d: %w", t.Name, round+1, err))
			}
			r.Targets[i].Runs = append(r.Targets[i].Runs, report)
		}
	}
	for i, t := range cfg.Targets {
		if err := r.Targets[i].check(ctx, cfg.of(t)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", t.Name, err))
		}
	}
	return r, errors.Join(problems...)
}

// of is the configuration of one target.
func (c CompareConfig) of(t CompareTarget) Config {
	one := c.Config
	one.Target, one.BrokerTotals = t.Target, t.Totals
	return one
}

func (t *ComparedTarget) prepare(ctx context.Context, cfg Config, keep bool) error {
	if keep {
		return nil
	}
	loaded, err := Load(ctx, cfg)
	if err != nil {
		return err
	}
	t.Load = &loaded
	sums, err := Checksum(ctx, cfg)
	if err != nil {
		return err
	}
	t.Differing = append(t.Differing, sums.Differing()...)
	return t.check(ctx, cfg)
}

func (t *ComparedTarget) check(ctx context.Context, cfg Config) error {
	cfg.Customers, cfg.Days, cfg.Preset, cfg.Seed, cfg.DailyMarketWeeks, cfg.NewsBytes, cfg.ScaleFactor = 0,
		0, "", 0, 0, 0, 0
	r, err := Check(ctx, cfg)
	t.Checked = append(t.Checked, r)
	return err
}

// JSON is one line.
func (r CompareReport) JSON() ([]byte, error) { return json.Marshal(r) }

// interval is a mean over the rounds and half of its 95 % confidence interval, 0 for a single round.
func interval(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	square := 0.0
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	// Student's t for 1 to 9 degrees of freedom; beyond that the normal's is near enough.
	student := []float64{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26}
	t := 1.96
	if len(values)-2 < len(student) {
		t = student[len(values)-2]
	}
	return mean, t * math.Sqrt(square/(n-1)/n)
}

func plusMinus(values []float64, format string) string {
	if len(values) == 0 {
		return "not measured"
	}
	mean, half := interval(values)
	if half == 0 {
		return fmt.Sprintf(format, mean)
	}
	return fmt.Sprintf(format+" ±"+format, mean, half)
}

// over collects a figure over the rounds; a round that does not have it is left out.
func (t ComparedTarget) over(figure func(RunReport) (float64, bool)) []float64 {
	var out []float64
	for _, r := range t.Runs {
		if v, ok := figure(r); ok {
			out = append(out, v)
		}
	}
	return out
}

func trtps(r RunReport) (float64, bool) { return r.TRTPS, true }

func cpuPerResult(r RunReport) (float64, bool) {
	if r.ServerCPU == nil || r.ServerCPU.PerTradeResultMS == 0 {
		return 0, false
	}
	return r.ServerCPU.PerTradeResultMS, true
}

func cpuPerTransaction(r RunReport) (float64, bool) {
	if r.ServerCPU == nil {
		return 0, false
	}
	return r.ServerCPU.PerTransactionMS, true
}

// state is what the conditions say in one word.
func (t ComparedTarget) state() string {
	for _, c := range t.Checked {
		if c.Err() != nil {
			return "VIOLATED"
		}
	}
	if len(t.Differing) > 0 {
		return "LOADED WRONG"
	}
	if len(t.Checked) == 0 {
		return "not asked"
	}
	return "hold"
}

// tables are the comparison and the response times, the same for text and page.
func (r CompareReport) tables() []plot.Table {
	main := plot.Table{
		Title: fmt.Sprintf("Servers, %d rounds in turns, mean and 95 %% confidence", r.Rounds),
		Head: []string{"server", "broker totals", "trtps", "of the first", "CPU ms for each Trade-Result",
			"of the first", "CPU ms for each transaction",
			"retries", "errors", "load rows/s", "conditions"},
	}
	times := plot.Table{Title: "90th percentile of response time, ms, median of the rounds",
		Head: []string{"transaction", "limit"}}
	var first ComparedTarget
	if len(r.Targets) > 0 {
		first = r.Targets[0]
	}
	for _, t := range r.Targets {
		retries, failures := int64(0), int64(0)
		for _, run := range t.Runs {
			retries += run.Retries
			failures += run.Errors + int64(len(run.Mismatches))
		}
		loaded := "before"
		if t.Load != nil {
			loaded = grouped(int64(t.Load.RowsPerSec))
		}
		main.Rows = append(main.Rows, []string{
			t.Name, string(t.Totals), plusMinus(t.over(trtps), "%.1f"),
			ratio(t.over(trtps), first.over(trtps)),
			plusMinus(t.over(cpuPerResult), "%.2f"), ratio(t.over(cpuPerResult), first.over(cpuPerResult)),
			plusMinus(t.over(cpuPerTransaction), "%.2f"), grouped(retries), grouped(failures), loaded,
			t.state(),
		})
		times.Head = append(times.Head, t.Name)
	}
	for _, k := range kinds {
		row := []string{k.name, fmt.Sprint(k.limit.Milliseconds())}
		for _, t := range r.Targets {
			p90 := t.over(func(run RunReport) (float64, bool) {
				for _, x := range run.Transactions {
					if x.Name == k.name && x.Measured > 0 {
						return x.Latency.P90, true
					}
				}
				return 0, false
			})
			if len(p90) == 0 {
				row = append(row, "none")
				continue
			}
			slices.Sort(p90)
			row = append(row, fmt.Sprintf("%.2f", p90[len(p90)/2]))
		}
		times.Rows = append(times.Rows, row)
	}
	return []plot.Table{main, times}
}

func ratio(a, b []float64) string {
	if len(a) == 0 || len(b) == 0 {
		return "not measured"
	}
	x, _ := interval(a)
	y, _ := interval(b)
	if y == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.2f", x/y)
}

// about is what a reader must know of the figures.
func (r CompareReport) about() []string {
	var lines []string
	for _, t := range r.Targets {
		if len(t.Runs) == 0 {
			continue
		}
		run := t.Runs[0]
		lines = append(lines, fmt.Sprintf("%s: %s, %s; isolation: %s", t.Name, run.Target, run.Server,
			run.Isolation))
		if run.CPUNote != "" {
			lines = append(lines, fmt.Sprintf("%s: processor time: %s", t.Name, run.CPUNote))
		}
	}
	for _, t := range r.Targets {
		if len(t.Runs) > 0 {
			run := t.Runs[0]
			lines = append(lines, fmt.Sprintf("%d customers, %d days, scale factor %d; %d connections of "+
				"customers and %d of the market, %s, %.0f s a round; %d processors, the driver's among them",
				run.Customers, run.Days, run.ScaleFactor, run.Connections, run.TradeWorkers, run.loop(),
				run.Seconds, run.CPUs))
			if s := run.Smoke(); s != "" {
				lines = append(lines, s)
			}
			break
		}
	}
	return lines
}

// Text is the report for a person.
func (r CompareReport) Text() string {
	var b strings.Builder
	b.WriteString("TPC-E-like workload, servers compared (no TPC-E results)\n")
	for _, line := range r.about() {
		b.WriteString(line + "\n")
	}
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "\n%s\n\n%s", t.Title, t.Text())
	}
	return b.String()
}

// HTML is the report as a page of its own.
func (r CompareReport) HTML() (string, error) { return r.Page().HTML() }

// Page is the report with the last round's runs over time.
func (r CompareReport) Page() plot.Page {
	page := plot.Page{Title: "TPC-E-like workload, servers compared (no TPC-E results)", Lines: r.about(),
		Tables: r.tables()}
	rates := plot.Chart{Title: "Trade-Results, last round", Unit: "per second", Step: 1}
	tails := plot.Chart{Title: "Trade-Result, 90th percentile of response time, last round",
		Unit: "ms", Step: 1}
	rounds := plot.Table{Title: "trtps, round by round", Head: []string{"server"}}
	for i := range r.Rounds {
		rounds.Head = append(rounds.Head, fmt.Sprint(i+1))
	}
	for _, t := range r.Targets {
		row := []string{t.Name}
		for _, run := range t.Runs {
			row = append(row, fmt.Sprintf("%.1f", run.TRTPS))
		}
		rounds.Rows = append(rounds.Rows, row)
		if len(t.Runs) == 0 {
			continue
		}
		last := t.Runs[len(t.Runs)-1]
		rates.Step, tails.Step = last.Timeline.StepSeconds, last.Timeline.StepSeconds
		rates.Series = append(rates.Series, plot.Series{Name: t.Name, Values: last.Timeline.TradeResults})
		tails.Series = append(tails.Series, plot.Series{Name: t.Name, Values: gaps(last.Timeline.P90)})
		rates.Marks = map[float64]string{last.RampUpSeconds: "steady state",
			last.RampUpSeconds + last.Seconds: "customers stop"}
		tails.Marks = rates.Marks
	}
	page.Tables = append(page.Tables, rounds)
	page.Charts = []plot.Chart{rates, tails}
	return page
}
