package outbox

import (
	"fmt"
	"slices"
	"time"

	"moka/tpce/plot"
)

// Report has one line for each target and kind of work.
type Report struct {
	Bench     string    `json:"bench"`
	Time      time.Time `json:"time"`
	Writers   int       `json:"writers"`
	Workers   int       `json:"outbox_workers"`
	Batch     int       `json:"outbox_batch"`
	Rounds    int       `json:"rounds"`
	SliceSecs float64   `json:"slice_seconds"`
	Backlog   int       `json:"backlog"`
	Lines     []Line    `json:"lines"`
}

// Line is one target and one kind of work over all rounds.
type Line struct {
	Work    string `json:"work"`
	Target  string `json:"target"`
	Changes int    `json:"changes"`
	// Rate is changes with their effects per second: the median of the slices, and their extremes.
	Rate    float64 `json:"per_second"`
	RateMin float64 `json:"per_second_min"`
	RateMax float64 `json:"per_second_max"`
	// CPU is the server's for one change and its effect in microseconds, the median; nil if it is not known.
	CPU *float64 `json:"server_cpu_us,omitempty"`
	// P50 and P99 are from commit to effect in microseconds, of all slices; zero for a backlog.
	P50 float64 `json:"p50_us,omitempty"`
	P99 float64 `json:"p99_us,omitempty"`
}

func summarize(work, target string, list []slice) Line {
	l := Line{Work: work, Target: target}
	var rates, cpus []float64
	latency := newLatency()
	for _, s := range list {
		l.Changes += s.changes
		rates = append(rates, float64(s.changes)/s.took.Seconds())
		if s.cpu >= 0 && s.changes > 0 {
			cpus = append(cpus, float64(s.cpu.Microseconds())/float64(s.changes))
		}
		latency.Merge(s.latency)
	}
	l.Rate, l.RateMin, l.RateMax = median(rates), slices.Min(rates), slices.Max(rates)
	if len(cpus) > 0 {
		m := median(cpus)
		l.CPU = &m
	}
	if latency.TotalCount() > 0 {
		l.P50, l.P99 = float64(latency.ValueAtQuantile(50)), float64(latency.ValueAtQuantile(99))
	}
	return l
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// about says what was done.
func (r Report) about() string {
	return fmt.Sprintf("a change and its derived row; %d rounds, targets in turn, medians; outbox: %d "+
		"workers, %d events at a time", r.Rounds, r.Workers, r.Batch)
}

// table is the report, its head first.
func (r Report) table() plot.Table {
	t := plot.Table{Head: []string{"work", "target", "changes/s", "(min .. max)", "server CPU us",
		"commit to effect p50 ms", "p99 ms"}}
	for _, l := range r.Lines {
		cpu, p50, p99 := "-", "-", "-"
		if l.CPU != nil {
			cpu = fmt.Sprintf("%.0f", *l.CPU)
		}
		if l.P50 > 0 {
			p50, p99 = fmt.Sprintf("%.2f", l.P50/1000), fmt.Sprintf("%.2f", l.P99/1000)
		}
		t.Rows = append(t.Rows, []string{l.Work, l.Target, fmt.Sprintf("%.0f", l.Rate),
			fmt.Sprintf("(%.0f .. %.0f)", l.RateMin, l.RateMax), cpu, p50, p99})
	}
	return t
}

// Text is the report for a person.
func (r Report) Text() string { return r.about() + "\n" + r.table().Text() }

// Page is the report as a part of a page.
func (r Report) Page() plot.Page {
	return plot.Page{Title: "Observers beside the outbox", Lines: []string{r.about()},
		Tables: []plot.Table{r.table()}}
}
