package micro

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/plot"
)

// Sysbench is a comparison by the sysbench program, which has to be installed, and by LOAD DATA.
// Zero values mean defaults.
type Sysbench struct {
	// Targets: of their DSNs, address, user and password are used. The tables are made in the
	// database sbtest, anew.
	Targets   []Target
	Workloads []string      // default Workloads; Load among them is LOAD DATA
	TableSize int           // default 100,000
	LoadRows  int           // of the file of LOAD DATA; default 1,000,000
	Threads   int           // default 8
	Rounds    int           // default 5
	Slice     time.Duration // of a sysbench run; default 10 s
	Progress  io.Writer     // nil: silent
}

// Load is the workload that is no script of sysbench: LOAD DATA LOCAL INFILE into a new table
// with one secondary index.
const Load = "load_data"

// Workloads are what is run if nothing else is asked for.
var Workloads = []string{"oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only",
	"oltp_update_index", "oltp_insert", Load}

// sysbenchDatabase is where sysbench looks for its tables if it is not told otherwise.
const sysbenchDatabase = "sbtest"

func (c Sysbench) withDefaults() (Sysbench, error) {
	c.TableSize, c.LoadRows = cmp.Or(c.TableSize, 100_000), cmp.Or(c.LoadRows, 1_000_000)
	c.Threads, c.Rounds, c.Slice = cmp.Or(c.Threads, 8), cmp.Or(c.Rounds, 5), cmp.Or(c.Slice, 10*time.Second)
	if len(c.Workloads) == 0 {
		c.Workloads = Workloads
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if len(c.Targets) == 0 {
		return c, errors.New("micro: no targets")
	}
	if c.TableSize < 1 || c.LoadRows < 1 || c.Threads < 1 || c.Rounds < 1 || c.Slice < time.Second {
		return c, errors.New("micro: rows, threads and rounds must be at least 1, and a slice 1 s")
	}
	return c, nil
}

// sysbenchTarget is a target with what sysbench wants to know of it.
type sysbenchTarget struct {
	Target
	program    string
	host, port string
	config     *mysql.Config
	db         *sql.DB
}

// sysbenchSlice is one run of a workload.
type sysbenchSlice struct {
	count   int64
	elapsed time.Duration
	cpu     time.Duration
	ignored int64
	cached  [2]int64 // plans used, and statements that asked for one
	peak    int64    // the server's memory, KiB
}

// RunSysbench measures. Errors that sysbench does not ignore, and rows that LOAD DATA loses, end it.
func RunSysbench(ctx context.Context, cfg Sysbench) (SysbenchReport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return SysbenchReport{}, err
	}
	program := ""
	if slices.ContainsFunc(cfg.Workloads, func(w string) bool { return w != Load }) {
		if program, err = exec.LookPath("sysbench"); err != nil {
			return SysbenchReport{}, fmt.Errorf("sysbench is not installed (Debian, Ubuntu: apt-get "+
				"install sysbench; others: github.com/akopytov/sysbench), or name %s as the only workload: "+
				"%w", Load, err)
		}
	}
	var file *loadFile
	if slices.Contains(cfg.Workloads, Load) {
		if file, err = newLoadFile(cfg.LoadRows); err != nil {
			return SysbenchReport{}, err
		}
		defer file.remove()
	}
	var targets []*sysbenchTarget
	defer func() {
		for _, t := range targets {
			t.db.Close()
		}
	}()
	for _, spec := range cfg.Targets {
		t, err := openSysbench(ctx, spec, program)
		if err != nil {
			return SysbenchReport{}, fmt.Errorf("%s: %w", spec.Name, err)
		}
		targets = append(targets, t)
		if program == "" {
			continue
		}
		fmt.Fprintf(cfg.Progress, "%s: %d rows\n", t.Name, cfg.TableSize)
		for _, step := range []string{"cleanup", "prepare"} {
			if _, err := t.sysbench(ctx, cfg, "oltp_read_only", step); err != nil {
				return SysbenchReport{}, fmt.Errorf("%s: %w", t.Name, err)
			}
		}
	}
	all := map[cell][]sysbenchSlice{}
	for round := range cfg.Rounds {
		for _, w := range cfg.Workloads {
			for i := range targets {
				t := targets[(i+round)%len(targets)]
				s, err := t.slice(ctx, cfg, w, file)
				if err != nil {
					return SysbenchReport{}, fmt.Errorf("%s: %s: %w", t.Name, w, err)
				}
				all[cell{t.Name, w}] = append(all[cell{t.Name, w}], s)
				fmt.Fprintf(cfg.Progress, "round %d/%d  %-18s %-10s %8.0f/s  %8.1f us\n", round+1, cfg.Rounds,
					w, t.Name,
					float64(s.count)/s.elapsed.Seconds(),
					float64(s.cpu.Microseconds())/float64(max(1, s.count)))
			}
		}
	}
	return summarizeSysbench(cfg, all), nil
}

func openSysbench(ctx context.Context, spec Target, program string) (*sysbenchTarget, error) {
	c, err := mysql.ParseDSN(spec.DSN)
	if err != nil {
		return nil, err
	}
	t := &sysbenchTarget{Target: spec, program: program, config: c}
	if t.host, t.port, err = net.SplitHostPort(c.Addr); err != nil {
		return nil, err
	}
	c.Logger, c.AllowAllFiles = &mysql.NopLogger{}, true
	admin := c.Clone()
	admin.DBName = ""
	if err := createDatabase(ctx, admin, sysbenchDatabase); err != nil {
		return nil, err
	}
	c.DBName = sysbenchDatabase
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	t.db = sql.OpenDB(connector)
	return t, nil
}

// slice runs a workload once.
func (t *sysbenchTarget) slice(ctx context.Context, cfg Sysbench, workload string,
	file *loadFile) (s sysbenchSlice, err error) {
	server := &target{Target: t.Target}
	cached := t.planCache(ctx)
	if workload == Load {
		if err := file.table(ctx, t.db); err != nil {
			return s, err
		}
	}
	before, err := server.cpuTime()
	if err != nil {
		return s, err
	}
	if workload == Load {
		s.count, s.elapsed, err = file.load(ctx, t.db)
	} else {
		s, err = t.run(ctx, cfg, workload)
	}
	if err != nil {
		return s, err
	}
	after, err := server.cpuTime()
	if err != nil {
		return s, err
	}
	s.cpu = after - before
	for i, n := range t.planCache(ctx) {
		s.cached[i] = n - cached[i]
	}
	s.peak = peakMemory(t.PID)
	if workload == Load {
		err = file.verify(ctx, t.db)
	}
	return s, err
}

func (t *sysbenchTarget) run(ctx context.Context, cfg Sysbench, workload string) (s sysbenchSlice,
	err error) {
	began := time.Now()
	out, err := t.sysbench(ctx, cfg, workload, "run")
	if err != nil {
		return s, err
	}
	s.elapsed = time.Since(began)
	return s, s.parse(out)
}

// sysbench runs the program and returns what it has to say.
func (t *sysbenchTarget) sysbench(ctx context.Context, cfg Sysbench, workload, step string) (string, error) {
	cmd := exec.CommandContext(ctx, t.program, workload, "--db-driver=mysql", "--mysql-host="+t.host,
		"--mysql-port="+t.port,
		"--mysql-user="+t.config.User, "--mysql-password="+t.config.Passwd, "--mysql-db="+sysbenchDatabase,
		"--tables=1",
		"--table-size="+strconv.Itoa(cfg.TableSize), "--threads="+strconv.Itoa(cfg.Threads),
		"--time="+strconv.Itoa(int(cfg.Slice/time.Second)), step)
	if step != "run" {
		cmd.Args = slices.Replace(cmd.Args, len(cmd.Args)-3, len(cmd.Args)-1, "--threads=1")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("sysbench %s %s: %w\n%s", workload, step, err, strings.TrimSpace(out.String()))
	}
	return out.String(), nil
}

// parse reads sysbench's report:
//
//	    transactions:                        24000  (2399.51 per sec.)
//	    ignored errors:                      12     (1.20 per sec.)
//	...
//	    total time:                          10.0020s
func (s *sysbenchSlice) parse(report string) error {
	found := 0
	for line := range strings.Lines(report) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		var err error
		switch name {
		case "transactions":
			s.count, err = strconv.ParseInt(fields[0], 10, 64)
		case "ignored errors":
			s.ignored, err = strconv.ParseInt(fields[0], 10, 64)
		case "total time":
			s.elapsed, err = time.ParseDuration(fields[0])
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("sysbench's report says %q", strings.TrimSpace(line))
		}
		found++
	}
	if found != 3 || s.elapsed <= 0 {
		return fmt.Errorf("unexpected report of sysbench:\n%s", report)
	}
	return nil
}

// planCache reads Moka's counters: plans used, and statements that might have been run by one.
// Other servers have none.
func (t *sysbenchTarget) planCache(ctx context.Context) (n [2]int64) {
	rows, err := t.db.QueryContext(ctx, "SHOW GLOBAL STATUS LIKE 'Moka_plan_cache_%'")
	if err != nil {
		return n
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var value int64
		if rows.Scan(&name, &value) != nil {
			continue
		}
		switch name {
		case "Moka_plan_cache_hits":
			n[0] += value
			n[1] += value
		case "Moka_plan_cache_misses", "Moka_plan_cache_fallbacks":
			n[1] += value
		}
	}
	if rows.Err() != nil {
		return [2]int64{}
	}
	return n
}

// SysbenchReport has one line for each workload and target.
type SysbenchReport struct {
	Bench     string         `json:"bench"`
	TableSize int            `json:"rows"`
	LoadRows  int            `json:"load_rows"`
	Threads   int            `json:"threads"`
	Rounds    int            `json:"rounds"`
	SliceSecs float64        `json:"slice_seconds"`
	Lines     []SysbenchLine `json:"lines"`
}

// SysbenchLine is a workload at a target. Each figure is the median of the rounds.
type SysbenchLine struct {
	Workload string  `json:"workload"`
	Target   string  `json:"target"`
	Rate     float64 `json:"per_second"` // transactions, or rows of LOAD DATA
	RateMin  float64 `json:"per_second_min"`
	RateMax  float64 `json:"per_second_max"`
	// CPU is the server's for one transaction or row, in microseconds; nil if its process is not known.
	CPU *float64 `json:"server_cpu_us,omitempty"`
	// RateRatio and CPURatio compare with the last target.
	RateRatio float64 `json:"rate_ratio,omitempty"`
	CPURatio  float64 `json:"cpu_ratio,omitempty"`
	// Ignored are errors that sysbench ignores and runs its transaction again for (1213, 1205,
	// 1020), of 100 transactions.
	Ignored float64 `json:"ignored_percent"`
	// Hits of the plan cache, of 100 statements; nil for servers that have none.
	Hits *float64 `json:"plan_cache_hits_percent,omitempty"`
	// Peak is the most memory that the server has had so far, in MiB.
	Peak float64 `json:"peak_mib,omitempty"`
}

func summarizeSysbench(cfg Sysbench, all map[cell][]sysbenchSlice) SysbenchReport {
	r := SysbenchReport{Bench: "sysbench", TableSize: cfg.TableSize, LoadRows: cfg.LoadRows,
		Threads: cfg.Threads, Rounds: cfg.Rounds, SliceSecs: cfg.Slice.Seconds()}
	for _, w := range cfg.Workloads {
		first := len(r.Lines)
		for _, t := range cfg.Targets {
			r.Lines = append(r.Lines, sysbenchLine(w, t, all[cell{t.Name, w}]))
		}
		base := r.Lines[len(r.Lines)-1]
		for i := first; i < len(r.Lines)-1; i++ {
			l := &r.Lines[i]
			if base.Rate > 0 {
				l.RateRatio = l.Rate / base.Rate
			}
			if l.CPU != nil && base.CPU != nil && *base.CPU > 0 {
				l.CPURatio = *l.CPU / *base.CPU
			}
		}
	}
	return r
}

func sysbenchLine(workload string, t Target, list []sysbenchSlice) SysbenchLine {
	l := SysbenchLine{Workload: workload, Target: t.Name}
	var rates, cpus []float64
	var count, ignored, hits, asked int64
	for _, s := range list {
		rates = append(rates, float64(s.count)/s.elapsed.Seconds())
		cpus = append(cpus, float64(s.cpu.Microseconds())/float64(max(1, s.count)))
		count, ignored = count+s.count, ignored+s.ignored
		hits, asked = hits+s.cached[0], asked+s.cached[1]
		l.Peak = max(l.Peak, float64(s.peak)/1024)
	}
	l.Rate, l.RateMin, l.RateMax = median(rates), slices.Min(rates), slices.Max(rates)
	if t.PID != 0 {
		m := median(cpus)
		l.CPU = &m
	}
	l.Ignored = 100 * float64(ignored) / float64(max(1, count))
	if asked > 0 && workload != Load {
		h := 100 * float64(hits) / float64(asked)
		l.Hits = &h
	}
	return l
}

// JSON is one line.
func (r SysbenchReport) JSON() ([]byte, error) { return json.Marshal(r) }

// about says what was done.
func (r SysbenchReport) about() string {
	return fmt.Sprintf("1 table of %d rows, %d threads, %d rounds of %.0f s, targets in turn; medians of "+
		"the rounds; × compares with the last target", r.TableSize, r.Threads, r.Rounds, r.SliceSecs)
}

func (r SysbenchReport) table() plot.Table {
	t := plot.Table{Head: []string{"workload", "target", "per second", "(min .. max)", "×", "server CPU us",
		"×", "ignored %", "plan hits %", "peak MiB"}}
	ratio := func(v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", v)
	}
	optional := func(v *float64, format string) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf(format, *v)
	}
	for _, l := range r.Lines {
		t.Rows = append(t.Rows, []string{l.Workload, l.Target, fmt.Sprintf("%.0f", l.Rate),
			fmt.Sprintf("(%.0f .. %.0f)", l.RateMin, l.RateMax), ratio(l.RateRatio),
			optional(l.CPU, "%.1f"), ratio(l.CPURatio), fmt.Sprintf("%.2f", l.Ignored),
			optional(l.Hits, "%.2f"), fmt.Sprintf("%.0f", l.Peak)})
	}
	return t
}

// Text is the report for a person.
func (r SysbenchReport) Text() string { return r.about() + "\n" + r.table().Text() }

// Page is the report as a part of a page.
func (r SysbenchReport) Page() plot.Page {
	return plot.Page{Title: "sysbench's OLTP workloads and LOAD DATA", Lines: []string{r.about()},
		Tables: []plot.Table{r.table()}}
}
