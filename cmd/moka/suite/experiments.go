package suite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/cmd/moka/bench"
	"moka/tpce"
	"moka/tpce/client"
	"moka/tpce/failover"
	"moka/tpce/micro"
	"moka/tpce/outbox"
	"moka/tpce/plot"
)

// short is the length of a slice of a smoke run.
const short = 200 * time.Millisecond

// paper makes an experiment's part of the page from its report.
func paper(r *bench.Report, err error) (plot.Page, any, error) {
	if err != nil {
		return plot.Page{}, nil, err
	}
	return r.Page(), r, nil
}

// serve is the command of the other process of the papers' experiments.
func (r *runner) serve() []string {
	return append(r.Program[:len(r.Program):len(r.Program)], "bench", "serve")
}

func bigtable(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := bench.BigtableConfig{Server: r.serve(), Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Rounds, c.Slice, c.Rows = 1, short, 4000
	}
	return paper(bench.Bigtable(ctx, c))
}

func oracle(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := bench.OracleConfig{Server: r.serve(), Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Rounds, c.Slice = 1, short
	}
	return paper(bench.Oracle(ctx, c))
}

func single(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := bench.MicroConfig{Server: r.serve(), Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Rounds, c.Slice, c.Cells = 1, short, 2000
	}
	return paper(bench.Micro(ctx, c))
}

func commits(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := bench.CommitConfig{Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Rounds, c.Slice = 1, short
	}
	return paper(bench.Commit(ctx, c))
}

func memory(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := bench.MemoryConfig{Server: r.serve(), Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Cells, c.CacheMiB = 100_000, 64
	}
	return paper(bench.Memory(ctx, c))
}

func failure(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := failover.Config{Program: r.Program, Dir: r.dir, Progress: r.Progress}
	if r.Smoke {
		c.Clients, c.Rows = 4, 500
		c.Before, c.Away, c.After = 2*time.Second, 6*time.Second, time.Second
	}
	report, err := failover.Run(ctx, c)
	if report == nil {
		return plot.Page{}, nil, err
	}
	report.Machine = bench.Machine()
	return report.Page(), report, err
}

// loads are how many customers' connections the mix of Figure 9 has, one run each.
var loads = []int{1, 2, 4, 8, 16, 32}

// point is the mix at one load.
type point struct {
	Connections int      `json:"connections"`
	TRTPS       float64  `json:"trtps"`
	P50         float64  `json:"p50_ms"` // of Trade-Results, from when the market sent them
	P90         float64  `json:"p90_ms"`
	CPU         *float64 `json:"server_cpu_ms,omitempty"` // for each Trade-Result; nil: not known
}

// scale runs the mix with more and more connections. The paper added machines (and had a rate in proportion
// to their cores until 11,200 of them); this is one machine, whose cores end the growth.
func scale(ctx context.Context, r *runner) (page plot.Page, found any, err error) {
	c := tpce.Config{Target: in(r.moka, "tpce"), Preset: "smoke", BrokerTotals: tpce.Observer,
		Progress: r.Progress, MarketDelay: 100 * time.Millisecond, CurvePeriod: 30 * time.Second}
	points, duration := loads, 30*time.Second
	if r.Smoke {
		c.Preset, points, duration = "demo", loads[:2], 3*time.Second
	}
	if _, err := tpce.Load(ctx, c); err != nil {
		return page, nil, err
	}
	c.Preset, c.Duration = "", duration
	t := plot.Table{Head: []string{"connections", "trtps", "Trade-Result p50 ms", "p90 ms",
		"server CPU ms for each"}}
	bars := plot.Bars{Title: "Trade-Results by connections", Unit: "per second"}
	var all []point
	for _, n := range points {
		c.Connections, c.TradeWorkers = n, n
		ran, err := tpce.Run(ctx, c)
		if err = errors.Join(err, ran.Err()); err != nil {
			return page, all, err
		}
		p := pointOf(n, ran)
		all = append(all, p)
		cpu := "-"
		if p.CPU != nil {
			cpu = fmt.Sprintf("%.1f", *p.CPU)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(n), fmt.Sprintf("%.1f", p.TRTPS),
			fmt.Sprintf("%.1f", p.P50), fmt.Sprintf("%.1f", p.P90), cpu})
		bars.Rows = append(bars.Rows, plot.Bar{Name: fmt.Sprintf("%d + %d", n, n), Value: p.TRTPS})
	}
	checked, err := tpce.Check(ctx, c)
	page = plot.Page{Tables: []plot.Table{t}, Bars: []plot.Bars{bars}, Notes: []string{
		"Customers' and the market's connections, as many of each; this is no TPC-E result.",
		fmt.Sprintf("Checked: %d consistency conditions.", len(checked.Conditions))}}
	return page, all, err
}

func pointOf(connections int, r tpce.RunReport) point {
	p := point{Connections: connections, TRTPS: r.TRTPS}
	for _, t := range r.Transactions {
		if t.Name == "Trade-Result" {
			p.P50, p.P90 = t.Latency.P50, t.Latency.P90
		}
	}
	if r.ServerCPU != nil && r.ServerCPU.PerTradeResultMS > 0 {
		p.CPU = &r.ServerCPU.PerTradeResultMS
	}
	return p
}

// microTargets are the servers of a comparison that speak MySQL's protocol, as package micro names them.
func (r *runner) microTargets() (targets []micro.Target, err error) {
	for _, t := range r.all(true) {
		u, err := url.Parse(t.URL)
		if err != nil {
			return nil, err
		}
		c := mysql.NewConfig()
		c.Net, c.Addr, c.DBName, c.User = "tcp", u.Host, "moka_bench", u.User.Username()
		c.Passwd, _ = u.User.Password()
		m := micro.Target{Name: t.Name, DSN: c.FormatDSN()}
		if p, err := client.FindServer(t.URL); err == nil {
			m.PID = p.PID()
		}
		targets = append(targets, m)
	}
	if len(targets) < 2 {
		return nil, errNoPeer
	}
	return targets, nil
}

func statements(ctx context.Context, r *runner) (page plot.Page, found any, err error) {
	c := micro.Config{Rounds: 5, Progress: r.Progress}
	if c.Targets, err = r.microTargets(); err != nil {
		return page, nil, err
	}
	if r.Smoke {
		c.Rounds, c.Slice, c.Rows = 1, short, 1000
	}
	report, err := micro.Run(ctx, c)
	if err != nil {
		return page, nil, err
	}
	return report.Page(), report, nil
}

func sysbench(ctx context.Context, r *runner) (page plot.Page, found any, err error) {
	c := micro.Sysbench{Slice: 4 * time.Second, Progress: r.Progress}
	if c.Targets, err = r.microTargets(); err != nil {
		return page, nil, err
	}
	if r.Smoke {
		c.Rounds, c.Slice, c.TableSize, c.LoadRows = 1, time.Second, 1000, 10_000
	}
	if _, missing := exec.LookPath("sysbench"); missing != nil {
		page.Notes = []string{"sysbench is not installed: LOAD DATA only."}
		c.Workloads = []string{micro.Load}
	}
	report, err := micro.RunSysbench(ctx, c)
	if err != nil {
		return page, nil, err
	}
	notes := page.Notes
	page = report.Page()
	page.Notes = notes
	return page, report, nil
}

func observers(ctx context.Context, r *runner) (page plot.Page, found any, err error) {
	c := outbox.Config{Progress: r.Progress}
	for _, t := range r.all(false) {
		c.Targets = append(c.Targets, outbox.Target{Name: t.Name, URL: in(t.URL, "moka_bench"),
			Observer: t.URL == r.moka})
	}
	if r.Smoke {
		c.Rounds, c.Slice, c.Backlog, c.Writers, c.Batch = 1, short, 500, 2, 10
	}
	report, err := outbox.Run(ctx, c)
	if err != nil {
		return page, nil, err
	}
	return report.Page(), report, nil
}

func compare(ctx context.Context, r *runner) (plot.Page, any, error) {
	c := tpce.CompareConfig{Rounds: 3, Config: tpce.Config{Preset: "smoke", Drop: true, Progress: r.Progress,
		Duration: 30 * time.Second, MarketDelay: 100 * time.Millisecond, CurvePeriod: 30 * time.Second}}
	for _, t := range r.all(false) {
		totals := tpce.Inline
		if t.URL == r.moka {
			totals = tpce.Observer
		}
		c.Targets = append(c.Targets, tpce.CompareTarget{Name: t.Name, Target: in(t.URL, "tpce"),
			Totals: totals})
	}
	if r.Smoke {
		c.Preset, c.Rounds, c.Duration = "demo", 1, 3*time.Second
	}
	report, err := tpce.Compare(ctx, c)
	return report.Page(), report, err
}
