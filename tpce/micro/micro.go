package micro

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/go-sql-driver/mysql"
)

// Target is one server.
type Target struct {
	Name string
	DSN  string // of go-sql-driver/mysql, with a database that may be created
	PID  int    // of the server on this machine; 0: processor time is not measured
}

// Config is a comparison. The zero value of a field means its default.
type Config struct {
	Targets     []Target
	Rows        int           // rows of the table; default 10,000
	Connections int           // concurrent connections; default 8
	Rounds      int           // slices of each target and statement; default 3
	Slice       time.Duration // length of a slice; default 2 s
	Statements  int64         // end a slice after that many statements instead, if not 0
	Warmup      time.Duration // before the first round, for each target and statement; default 500 ms
	Seed        uint64        // default 1
	Keep        bool          // leave the table behind
	Progress    io.Writer     // nil: silent
}

func (c Config) withDefaults() (Config, error) {
	if c.Rows == 0 {
		c.Rows = 10_000
	}
	if c.Connections == 0 {
		c.Connections = 8
	}
	if c.Rounds == 0 {
		c.Rounds = 3
	}
	if c.Slice == 0 {
		c.Slice = 2 * time.Second
	}
	if c.Warmup == 0 {
		c.Warmup = 500 * time.Millisecond
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if len(c.Targets) == 0 {
		return c, errors.New("micro: no targets")
	}
	if c.Rows < 1 || c.Connections < 1 || c.Rounds < 1 {
		return c, errors.New("micro: rows, connections and rounds must be at least 1")
	}
	names := map[string]bool{}
	for _, t := range c.Targets {
		if t.Name == "" || names[t.Name] {
			return c, fmt.Errorf("micro: target names must differ and not be empty: %q", t.Name)
		}
		names[t.Name] = true
	}
	return c, nil
}

// statement is one thing that is measured.
type statement struct {
	name     string
	text     string
	write    bool
	prepared bool
}

var statements = []statement{
	{"select text", "SELECT v FROM micro_row WHERE id = ?", false, false},
	{"select prepared", "SELECT v FROM micro_row WHERE id = ?", false, true},
	{"update text", "UPDATE micro_row SET v = v + 1 WHERE id = ?", true, false},
	{"update prepared", "UPDATE micro_row SET v = v + 1 WHERE id = ?", true, true},
}

// target is a Target with its pools: one binds in the client and sends text, one prepares.
type target struct {
	Target
	text, binary *sql.DB
	updates      int64 // acknowledged, for the check at the end
}

// Run measures. It fails if a statement fails, or if a server has lost or invented an update.
func Run(ctx context.Context, cfg Config) (Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Report{}, err
	}
	var targets []*target
	defer func() {
		for _, t := range targets {
			t.text.Close()
			t.binary.Close()
		}
	}()
	for _, spec := range cfg.Targets {
		t, err := openTarget(ctx, spec, cfg)
		if err != nil {
			return Report{}, fmt.Errorf("micro: %s: %w", spec.Name, err)
		}
		targets = append(targets, t)
		if err := t.fill(ctx, cfg.Rows); err != nil {
			return Report{}, fmt.Errorf("micro: %s: %w", spec.Name, err)
		}
	}
	slices := map[cell][]slice{}
	for round := -1; round < cfg.Rounds; round++ { // round -1 warms up
		for _, st := range statements {
			for i := range targets {
				t := targets[(i+max(round, 0))%len(targets)]
				s, err := t.measure(ctx, cfg, st, round)
				if err != nil {
					return Report{}, fmt.Errorf("micro: %s: %s: %w", t.Name, st.name, err)
				}
				if round >= 0 {
					slices[cell{t.Name, st.name}] = append(slices[cell{t.Name, st.name}], s)
					fmt.Fprintf(cfg.Progress, "round %d/%d  %-16s %-10s %8.0f/s\n", round+1, cfg.Rounds,
						st.name, t.Name, s.rate())
				}
			}
		}
	}
	for _, t := range targets {
		if err := t.verify(ctx, cfg); err != nil {
			return Report{}, fmt.Errorf("micro: %s: %w", t.Name, err)
		}
	}
	return summarize(cfg, targets, slices), nil
}

func openTarget(ctx context.Context, spec Target, cfg Config) (*target, error) {
	c, err := mysql.ParseDSN(spec.DSN)
	if err != nil {
		return nil, err
	}
	if c.DBName == "" {
		return nil, errors.New("the DSN names no database")
	}
	c.Logger = &mysql.NopLogger{}
	c.ClientFoundRows = true
	admin := c.Clone()
	admin.DBName = ""
	if err := createDatabase(ctx, admin, c.DBName); err != nil {
		return nil, err
	}
	pool := func(interpolate bool) (*sql.DB, error) {
		p := c.Clone()
		p.InterpolateParams = interpolate
		connector, err := mysql.NewConnector(p)
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(connector)
		db.SetMaxOpenConns(cfg.Connections + 1)
		db.SetMaxIdleConns(cfg.Connections + 1)
		return db, nil
	}
	t := &target{Target: spec}
	if t.text, err = pool(true); err != nil {
		return nil, err
	}
	if t.binary, err = pool(false); err != nil {
		t.text.Close()
		return nil, err
	}
	return t, nil
}

func createDatabase(ctx context.Context, c *mysql.Config, name string) error {
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`")
	return err
}

func (t *target) fill(ctx context.Context, rows int) error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS micro_row",
		"CREATE TABLE micro_row (id BIGINT NOT NULL, v BIGINT NOT NULL, pad VARCHAR(100) NOT NULL, PRIMARY " +
			"KEY (id))",
	} {
		if _, err := t.text.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	const batch = 500
	for from := 1; from <= rows; from += batch {
		var b strings.Builder
		b.WriteString("INSERT INTO micro_row (id, v, pad) VALUES ")
		for id := from; id < from+batch && id <= rows; id++ {
			if id > from {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,0,'%0100d')", id, id)
		}
		if _, err := t.text.ExecContext(ctx, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// slice is one measurement.
type slice struct {
	count   int64
	elapsed time.Duration
	cpu     time.Duration // of the server
	hasCPU  bool
	retries int64
	latency *hdrhistogram.Histogram // microseconds
}

func (s slice) rate() float64 { return float64(s.count) / s.elapsed.Seconds() }

func (s slice) cpuPerStatement() float64 {
	return float64(s.cpu.Microseconds()) / float64(max(s.count, 1))
}

func (t *target) measure(ctx context.Context, cfg Config, st statement, round int) (slice, error) {
	length := cfg.Slice
	if round < 0 {
		length = cfg.Warmup
	}
	s := slice{latency: newHistogram()}
	db := t.text
	if st.prepared {
		db = t.binary
	}
	workers := make([]worker, cfg.Connections)
	for i := range workers {
		if err := workers[i].open(ctx, db, st); err != nil {
			return s, err
		}
		defer workers[i].close()
	}
	before, err := t.cpuTime()
	if err != nil {
		return s, err
	}
	var issued atomic.Int64
	var wg sync.WaitGroup
	started := time.Now()
	for i := range workers {
		seed := cfg.Seed + uint64(round+2)*1_000_003 + uint64(i)*7919
		wg.Go(func() { workers[i].run(ctx, cfg, started.Add(length), seed, &issued) })
	}
	wg.Wait()
	s.elapsed = time.Since(started)
	after, err := t.cpuTime()
	if err != nil {
		return s, err
	}
	s.cpu, s.hasCPU = after-before, t.PID != 0
	for i := range workers {
		err = errors.Join(err, workers[i].err)
		s.count += workers[i].count
		s.retries += workers[i].retries
		s.latency.Merge(workers[i].latency)
	}
	if st.write {
		t.updates += s.count
	}
	return s, err
}

// verify holds the sum of all counters against the acknowledged updates: a server that is fast
// and wrong must not win.
func (t *target) verify(ctx context.Context, cfg Config) error {
	var sum int64
	if err := t.text.QueryRowContext(ctx,
		"SELECT COALESCE(SUM(v), 0) FROM micro_row").Scan(&sum); err != nil {
		return err
	}
	if sum != t.updates {
		return fmt.Errorf("%d updates were acknowledged, the table counts %d", t.updates, sum)
	}
	if cfg.Keep {
		return nil
	}
	_, err := t.text.ExecContext(ctx, "DROP TABLE micro_row")
	return err
}
