package micro

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/HdrHistogram/hdrhistogram-go"
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

// Text is the report for a person.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, %d connections, %d rounds of %.1f s, targets in turn; median of the rounds\n",
		r.Rows, r.Connections, r.Rounds, r.SliceSecs)
	w := tabwriter.NewWriter(&b, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "statement\ttarget\tper second\t(min .. max)\tp50 us\tp99 us\tmax us\tserver CPU "+
		"us\tretries\t")
	for _, l := range r.Lines {
		cpu := "-"
		if l.CPU != nil {
			cpu = fmt.Sprintf("%.1f", *l.CPU)
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t(%.0f .. %.0f)\t%.0f\t%.0f\t%.0f\t%s\t%d\t\n", l.Statement, l.Target,
			l.Rate, l.RateMin, l.RateMax, l.P50, l.P99, l.Max, cpu, l.Retries)
	}
	w.Flush()
	return b.String()
}
