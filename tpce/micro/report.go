package micro

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"moka/tpce/plot"
)

// Report has one line for each target and statement.
type Report struct {
	Bench       string  `json:"bench"`
	Rows        int     `json:"rows"`
	Connections int     `json:"connections"`
	Rounds      int     `json:"rounds"`
	SliceSecs   float64 `json:"slice_seconds"`
	Lines       []Line  `json:"lines"`
}

// Line is one target and one statement over all rounds.
type Line struct {
	Target    string `json:"target"`
	Statement string `json:"statement"`
	Count     int64  `json:"count"`
	Retries   int64  `json:"retries"`
	// Statements per second: the median of the slices, and their extremes.
	Rate    float64 `json:"per_second"`
	RateMin float64 `json:"per_second_min"`
	RateMax float64 `json:"per_second_max"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Max     float64 `json:"max_us"`
	// Processor time of the server for one statement in microseconds; nil if the server's process is not
	// known.
	CPU *float64 `json:"server_cpu_us,omitempty"`
}

type cell struct{ target, statement string }

func summarize(cfg Config, targets []*target, all map[cell][]slice) Report {
	r := Report{Bench: "micro", Rows: cfg.Rows, Connections: cfg.Connections, Rounds: cfg.Rounds,
		SliceSecs: cfg.Slice.Seconds()}
	for _, st := range statements {
		for _, t := range targets {
			r.Lines = append(r.Lines, line(t.Name, st.name, all[cell{t.Name, st.name}]))
		}
	}
	return r
}

func line(target, statement string, list []slice) Line {
	l := Line{Target: target, Statement: statement}
	var rates, cpus []float64
	latency := hdrhistogram.New(1, maxLatency.Microseconds(), 3)
	for _, s := range list {
		l.Count += s.count
		l.Retries += s.retries
		rates = append(rates, s.rate())
		latency.Merge(s.latency)
		if s.hasCPU {
			cpus = append(cpus, s.cpuPerStatement())
		}
	}
	l.Rate, l.RateMin, l.RateMax = median(rates), slices.Min(rates), slices.Max(rates)
	l.P50, l.P99, l.Max = float64(latency.ValueAtQuantile(50)), float64(latency.ValueAtQuantile(99)),
		float64(latency.Max())
	if len(cpus) > 0 {
		m := median(cpus)
		l.CPU = &m
	}
	return l
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// JSON is one line.
func (r Report) JSON() ([]byte, error) { return json.Marshal(r) }

// about says what was done.
func (r Report) about() string {
	return fmt.Sprintf("%d rows, %d connections, %d rounds of %.1f s, targets in turn; median of the rounds",
		r.Rows, r.Connections, r.Rounds, r.SliceSecs)
}

func (r Report) table() plot.Table {
	t := plot.Table{Head: []string{"statement", "target", "per second", "(min .. max)", "p50 us", "p99 us",
		"max us", "server CPU us", "retries"}}
	for _, l := range r.Lines {
		cpu := "-"
		if l.CPU != nil {
			cpu = fmt.Sprintf("%.1f", *l.CPU)
		}
		t.Rows = append(t.Rows, []string{l.Statement, l.Target, fmt.Sprintf("%.0f", l.Rate),
			fmt.Sprintf("(%.0f .. %.0f)", l.RateMin, l.RateMax), fmt.Sprintf("%.0f", l.P50),
			fmt.Sprintf("%.0f", l.P99), fmt.Sprintf("%.0f", l.Max), cpu, fmt.Sprint(l.Retries)})
	}
	return t
}

// Text is the report for a person.
func (r Report) Text() string { return r.about() + "\n" + r.table().Text() }

// Page is the report as a part of a page.
func (r Report) Page() plot.Page {
	return plot.Page{Title: "Point select and update by key", Lines: []string{r.about()},
		Tables: []plot.Table{r.table()}}
}
