package failover

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"moka/tpce/plot"
)

// Report is what clients saw.
type Report struct {
	Bench   string    `json:"bench"`
	Time    time.Time `json:"time"`
	Machine string    `json:"machine"`
	Config  Config    `json:"config"`
	Victims string    `json:"victims"` // numbers of the nodes that were killed
	Killed  float64   `json:"killed_s"`
	Started float64   `json:"started_s"` // again
	Step    float64   `json:"step_s"`
	Rates   []float64 `json:"rates"`  // transactions a second in each step
	Before  float64   `json:"before"` // the rate
	After   float64   `json:"after"`  // from five seconds behind the kill to the restart
	Rejoin  float64   `json:"rejoin"` // behind the restart
	// Recovered is when the rate was nine tenths of that before again and stayed there for a second, in
	// seconds behind the kill; negative for never before the restart.
	Recovered float64 `json:"recovered_s"`
	Silence   float64 `json:"silence_s"` // the longest time without any transaction

	Acknowledged int            `json:"acknowledged"`
	Refused      int            `json:"refused"`
	Unknown      int            `json:"unknown"`
	Lost         int            `json:"lost"`
	Errors       map[string]int `json:"errors,omitempty"` // what clients were told
	Checks       []string       `json:"checks,omitempty"`
}

// goal is the part of the rate before that the rest of the nodes must reach.
const goal = 0.9

func (l *load) report(victims string, killed, started, ended time.Duration) *Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Report{Bench: "failover", Time: time.Now().UTC().Truncate(time.Second), Config: l.Config,
		Victims: victims, Killed: killed.Seconds(), Started: started.Seconds(), Step: step.Seconds(),
		Acknowledged: len(l.kept), Refused: l.refused, Unknown: l.unknown, Errors: l.messages}
	for i := range int(ended / step) {
		n := 0
		if i < len(l.steps) {
			n = l.steps[i]
		}
		r.Rates = append(r.Rates, float64(n)/step.Seconds())
	}
	r.summarize()
	return r
}

// summarize derives the figures from the rates.
func (r *Report) summarize() {
	end := float64(len(r.Rates)) * r.Step
	r.Before = r.rate(warmUp.Seconds(), r.Killed)
	r.After = r.rate(r.Killed+within.Seconds(), r.Started)
	r.Rejoin = r.rate(r.Started, end)
	r.Recovered = -1
	for at := r.Killed; at+settled.Seconds() <= r.Started; at += r.Step {
		if r.rate(at, at+settled.Seconds()) >= goal*r.Before {
			r.Recovered = at - r.Killed
			break
		}
	}
	quiet := 0.0
	for _, v := range r.Rates {
		if quiet += r.Step; v > 0 {
			quiet = 0
		}
		r.Silence = max(r.Silence, quiet)
	}
}

// rate is the mean between two moments, in seconds.
func (r *Report) rate(from, to float64) float64 { return mean(r.Rates, r.Step, from, to) }

// mean is that of the steps that overlap a span of time, each by as much as it does.
func mean(rates []float64, step, from, to float64) float64 {
	sum, of := 0.0, 0.0
	for i, v := range rates {
		begin := float64(i) * step
		if part := min(to, begin+step) - max(from, begin); part > 0 {
			sum += part * v
			of += part
		}
	}
	return ratio(sum, of)
}

// Met is whether the rest of the nodes was fast enough soon enough.
func (r *Report) Met() bool {
	return r.Recovered >= 0 && r.Recovered <= within.Seconds() && r.After >= goal*r.Before
}

// Text is the report as a table.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Failover (Percolator, Figure 10): kill -9 of node %s of %d, which leads shard 1, %d "+
		"clients\n%s\n\n", r.Victims, r.Config.Nodes, r.Config.Clients, r.Machine)
	fmt.Fprintf(&b, "%-34s %15s  %s\n", "", "transactions/s", "of before")
	line := func(what string, rate float64) {
		fmt.Fprintf(&b, "%-34s %15.0f  %8.0f%%\n", what, rate, 100*ratio(rate, r.Before))
	}
	line(fmt.Sprintf("before (%.0f to %.0f s)", warmUp.Seconds(), r.Killed), r.Before)
	for i := range int(within.Seconds()) {
		from := r.Killed + float64(i)
		line(fmt.Sprintf("%d to %d s behind the kill", i, i+1), r.rate(from, from+1))
	}
	line(fmt.Sprintf("from then to the restart (%.0f s)", r.Started), r.After)
	line("behind the restart", r.Rejoin)
	fmt.Fprintf(&b, "\n%s\n", r.Line(60))
	met := "met"
	if !r.Met() {
		met = "NOT met"
	}
	recovered := "not before the restart"
	if r.Recovered >= 0 {
		recovered = fmt.Sprintf("%.1f s behind the kill", r.Recovered)
	}
	fmt.Fprintf(&b, "\nlongest time without a transaction: %.1f s; %.0f %% of the rate before: %s (goal: "+
		"%.0f s, %s)", r.Silence, 100*goal, recovered, within.Seconds(), met)
	fmt.Fprintf(&b, "\n%d transactions acknowledged, %d refused, %d of unknown outcome; lost: %d",
		r.Acknowledged, r.Refused, r.Unknown, r.Lost)
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "\nchecked: %s", c)
	}
	return b.String() + "\n"
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Line is the rate over time in a line of a terminal.
func (r *Report) Line(width int) string {
	line, under := Line(r.Rates, r.Step, width, map[float64]rune{r.Killed: 'x', r.Started: '^'})
	return fmt.Sprintf("%s\n%s  x kill -9, ^ started again; %.0f s", line, under,
		float64(len(r.Rates))*r.Step)
}

// bars are the levels of a line.
var bars = []rune("▁▂▃▄▅▆▇█")

// Line draws rates, one for each step of so many seconds, as one line of a terminal, and moments below it.
func Line(rates []float64, step float64, width int, marks map[float64]rune) (line, under string) {
	end := float64(len(rates)) * step
	cells := make([]float64, width)
	most := 0.0
	for i := range cells {
		cells[i] = mean(rates, step, end/float64(width)*float64(i), end/float64(width)*float64(i+1))
		most = max(most, cells[i])
	}
	below := []rune(strings.Repeat(" ", width))
	for at, mark := range marks {
		if i := int(at / end * float64(width)); i >= 0 && i < width {
			below[i] = mark
		}
	}
	var b strings.Builder
	for _, v := range cells {
		b.WriteRune(bars[int(math.Round(ratio(v, most)*float64(len(bars)-1)))])
	}
	return fmt.Sprintf("%s  %.0f/s at most", b.String(), most), string(below)
}

// SVG is the rate over time as a file of its own.
func (r *Report) SVG() string { return r.chart().File() }

// Page is the report as a part of a page.
func (r *Report) Page() plot.Page {
	text := strings.Split(strings.TrimSpace(r.Text()), "\n")
	return plot.Page{Title: "Failover (Percolator, Figure 10)", Charts: []plot.Chart{r.chart()},
		Lines: []string{text[0]}, Notes: slices.DeleteFunc(text[2:], func(s string) bool { return s == "" })}
}

// chart is the rate over time, by steps and as the mean of the last second.
func (r *Report) chart() plot.Chart {
	smooth := make([]float64, len(r.Rates))
	for i := range r.Rates {
		at := float64(i+1) * r.Step
		smooth[i] = r.rate(max(0, at-1), at)
	}
	return plot.Chart{Title: "Failover", Unit: "transactions/s", Step: r.Step,
		Series: []plot.Series{{Name: fmt.Sprintf("%.0f ms", 1000*r.Step), Values: r.Rates},
			{Name: "mean of a second", Values: smooth}},
		Marks: map[float64]string{r.Killed: "kill -9", r.Started: "started again"}}
}
