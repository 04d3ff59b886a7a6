package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/plot"
)

// Target is another server, for the comparisons.
type Target struct {
	Name string
	URL  string // mysql://user:password@host:port or postgres://…, without a database
}

// Config of a suite. The zero value of a field means its default.
type Config struct {
	Program []string // moka, and what comes before its first word
	Dir     string   // of all data; every experiment has a directory of its own in it, and removes it
	Smoke   bool     // a moment of everything: proves that it works, says nothing about speed
	Only    []string // names of experiments; default: all
	Targets []Target
	About   []string // under the report's title: the machine, the commit
	// Progress gets a line for each experiment, and what they say of themselves. Default: discard.
	Progress io.Writer
}

// experiment is one part of the report.
type experiment struct {
	name  string
	title string // of its part if it fails or is left out
	// compares: it is nothing without another server, and wants the server of moka.
	compares bool
	// server: it runs against a server of moka that is started for it.
	server bool
	run    func(ctx context.Context, r *runner) (plot.Page, any, error)
}

// experiments in the order of the report: the papers', then the comparisons.
var experiments = []experiment{
	{name: "bigtable", title: "Bigtable, Figure 6: reads, writes and scans of one tablet server",
		run: bigtable},
	{name: "oracle", title: "Percolator, §2.3: timestamps", run: oracle},
	{name: "micro", title: "Percolator, Figure 8: the cost of transactions", run: single},
	{name: "scale", title: "Percolator, Figure 9: a TPC-E-like mix under more load", server: true,
		run: scale},
	{name: "failover", title: "Percolator, Figure 10: a node dies", run: failure},
	{name: "commit", title: "Durable commits of one row beside Pebble's own", run: commits},
	{name: "memory", title: "Resident memory while cells are loaded", run: memory},
	{name: "sql", title: "Point select and update by key", compares: true, server: true, run: statements},
	{name: "sysbench", title: "sysbench's OLTP workloads and LOAD DATA", compares: true, server: true,
		run: sysbench},
	{name: "observer", title: "Observers beside the outbox", compares: true, server: true, run: observers},
	{name: "tpce", title: "TPC-E-like workload, servers compared", compares: true, server: true,
		run: compare},
}

// Names are those of all experiments.
func Names() (names []string) {
	for _, e := range experiments {
		names = append(names, e.name)
	}
	return names
}

// Report is what all of them found.
type Report struct {
	Bench  string         `json:"bench"`
	Time   time.Time      `json:"time"`
	Smoke  bool           `json:"smoke"`
	About  []string       `json:"about"`
	Found  map[string]any `json:"found"`            // each experiment's own report
	Failed []string       `json:"failed,omitempty"` // names of those that ended with an error
	Page   plot.Page      `json:"-"`
}

// runner is one run of a suite.
type runner struct {
	Config
	dir  string // of this experiment
	moka string // URL of the server of moka, if the experiment wants one
}

// Run runs the experiments one after the other. One that fails is its own part of the report; the others are
// there, and its error is joined to the result.
func Run(ctx context.Context, c Config) (Report, error) {
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	for _, name := range c.Only {
		if !slices.Contains(Names(), name) {
			return Report{}, fmt.Errorf("no experiment %q: they are %s", name, strings.Join(Names(), ", "))
		}
	}
	r := Report{Bench: "all", Time: time.Now().UTC().Truncate(time.Second), Smoke: c.Smoke, About: c.About,
		Found: map[string]any{}, Page: plot.Page{Title: "Moka measured as its papers were", Lines: c.About}}
	if c.Smoke {
		r.Page.Lines = append(slices.Clone(c.About), "This is a smoke run: a moment of everything, which "+
			"proves that it works. Its figures say nothing about speed.")
	}
	var failed []error
	for _, e := range experiments {
		if len(c.Only) > 0 && !slices.Contains(c.Only, e.name) {
			continue
		}
		if e.compares && len(c.Targets) == 0 {
			r.Page.Notes = append(r.Page.Notes, e.title+": left out, since no other server was named.")
			continue
		}
		fmt.Fprintf(c.Progress, "== %s: %s\n", e.name, e.title)
		page, found, err := c.one(ctx, e)
		if ctx.Err() != nil {
			return r, errors.Join(ctx.Err(), err)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", e.name, err)
			fmt.Fprintln(c.Progress, err)
			r.Failed = append(r.Failed, e.name)
			failed = append(failed, err)
			page.Lines = append(page.Lines, "FAILED: "+err.Error())
		}
		if found != nil {
			r.Found[e.name] = found
		}
		page.Title = e.title
		r.Page.Parts = append(r.Page.Parts, page)
	}
	r.Page.Notes = append(r.Page.Notes, "Percolator's Figure 7, incremental against batch clustering, is "+
		"not repeated here; moka learn webindex shows the idea.")
	return r, errors.Join(failed...)
}

// one runs one experiment in a directory of its own, with a server if it wants one.
func (c Config) one(ctx context.Context, e experiment) (page plot.Page, found any, err error) {
	r := &runner{Config: c, dir: filepath.Join(c.Dir, e.name)}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return page, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	if e.server {
		s, err := startServer(ctx, c.Program, r.dir)
		if err != nil {
			return page, nil, err
		}
		defer s.end()
		r.moka = "mysql://root@" + s.addr
	}
	return e.run(ctx, r)
}

// Text names what there is and what failed.
func (r Report) Text() string {
	var b strings.Builder
	for _, line := range r.Page.Lines {
		fmt.Fprintln(&b, line)
	}
	for _, p := range r.Page.Parts {
		fmt.Fprintf(&b, "\n%s\n", p.Title)
		for _, line := range p.Lines {
			fmt.Fprintln(&b, line)
		}
		for _, t := range p.Tables {
			fmt.Fprintf(&b, "%s\n", t.Text())
		}
	}
	for _, n := range r.Page.Notes {
		fmt.Fprintln(&b, n)
	}
	return b.String()
}

// in is the URL of a database of a server.
func in(url, database string) string { return strings.TrimSuffix(url, "/") + "/" + database }

// isPostgres is whether a target speaks PostgreSQL's protocol.
func isPostgres(t Target) bool { return strings.HasPrefix(t.URL, "postgres") }

// all are the server of moka and the others, or of these only those that speak MySQL's protocol: some
// comparisons do.
func (r *runner) all(mysqlOnly bool) []Target {
	targets := []Target{{"moka", r.moka}}
	for _, t := range r.Targets {
		if !mysqlOnly || !isPostgres(t) {
			targets = append(targets, t)
		}
	}
	return targets
}

// errNoPeer: what was named cannot be compared in this experiment.
var errNoPeer = errors.New("none of the servers that were named speaks MySQL's protocol")

// ParseTarget reads NAME=URL.
func ParseTarget(s string) (Target, error) {
	name, url, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Target{}, fmt.Errorf("%q is not NAME=URL", client.Redact(s))
	}
	if name == "moka" {
		return Target{}, errors.New("moka is started by the command itself: name other servers")
	}
	if _, err := client.FamilyOf(in(url, "d")); err != nil {
		return Target{}, err
	}
	return Target{name, url}, nil
}
