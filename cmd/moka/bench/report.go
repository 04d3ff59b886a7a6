package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"moka/tpce/plot"
)

// Report is what an experiment found. All of it goes into the JSON.
type Report struct {
	Bench   string    `json:"bench"`
	Title   string    `json:"title"`
	Machine string    `json:"machine"`
	Time    time.Time `json:"time"`
	Config  any       `json:"config"`
	Rows    []Row     `json:"rows"`
	Notes   []string  `json:"notes,omitempty"`  // how to read the figures
	Checks  []string  `json:"checks,omitempty"` // what was verified while measuring
	// Reference is what Row.Reference means, for the table's head and the plot.
	Reference string `json:"reference,omitempty"`
	Unit      string `json:"unit"`
}

// Row is one line of the table and one bar of the plot.
type Row struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`               // in Report.Unit; the median of the slices
	Low       float64 `json:"low,omitempty"`       // the smallest slice
	High      float64 `json:"high,omitempty"`      // the largest
	Reference float64 `json:"reference,omitempty"` // of the paper, or of what it is compared with
	P50       float64 `json:"p50_us,omitempty"`
	P99       float64 `json:"p99_us,omitempty"`
	CPU       float64 `json:"cpu_us,omitempty"` // of caller and server together, for one operation
	Note      string  `json:"note,omitempty"`
}

// Ratio is Value over Reference, 0 without one.
func (r Row) Ratio() float64 {
	if r.Reference == 0 {
		return 0
	}
	return r.Value / r.Reference
}

func newReport(name, title, unit string, config any) *Report {
	return &Report{Bench: name, Title: title, Machine: Machine(),
		Time: time.Now().UTC().Truncate(time.Second), Config: config, Unit: unit}
}

// Row finds a row by its name.
func (r *Report) Row(name string) (Row, bool) {
	for _, x := range r.Rows {
		if x.Name == name {
			return x, true
		}
	}
	return Row{}, false
}

// cells are the report as a table, its head first.
func (r *Report) cells() [][]string {
	head := []string{"", r.Unit, "low … high", r.Reference, "ratio", "p50 µs", "p99 µs", "CPU µs", ""}
	cells := [][]string{head}
	for _, x := range r.Rows {
		line := []string{x.Name, plot.Figure(x.Value), "", "", "", micros(x.P50), micros(x.P99),
			micros(x.CPU), x.Note}
		if x.High > 0 {
			line[2] = plot.Figure(x.Low) + " … " + plot.Figure(x.High)
		}
		if x.Reference > 0 {
			line[3], line[4] = plot.Figure(x.Reference), fmt.Sprintf("%.2f", x.Ratio())
		}
		cells = append(cells, line)
	}
	return cells
}

// Text is the report as a table.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", r.Title, r.Machine)
	b.WriteString(table(r.cells()))
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "\nchecked: %s", c)
	}
	return b.String()
}

// filled leaves out the columns that are empty below the head.
func filled(cells [][]string) [][]string {
	out := make([][]string, len(cells))
	for j := range cells[0] {
		if !slices.ContainsFunc(cells[1:], func(line []string) bool { return line[j] != "" }) {
			continue
		}
		for i, line := range cells {
			out[i] = append(out[i], line[j])
		}
	}
	return out
}

// table aligns columns, the first and the last to the left, and leaves out those that are empty below the
// head.
func table(cells [][]string) string {
	width := make([]int, len(cells[0]))
	for i, line := range cells {
		for j, c := range line {
			if i > 0 && c != "" && width[j] == 0 {
				width[j] = max(1, len([]rune(cells[0][j])))
			}
			if width[j] > 0 {
				width[j] = max(width[j], len([]rune(c)))
			}
		}
	}
	var b strings.Builder
	for _, line := range cells {
		var parts []string
		for j, c := range line {
			pad := strings.Repeat(" ", max(0, width[j]-len([]rune(c))))
			switch {
			case width[j] == 0:
			case j == 0, j == len(line)-1:
				parts = append(parts, c+pad)
			default:
				parts = append(parts, pad+c)
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
	}
	return b.String()
}

func micros(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return plot.Figure(math.Round(v))
}

// Bars are the report's picture.
func (r *Report) Bars() plot.Bars {
	b := plot.Bars{Title: r.Title, Unit: r.Unit, Reference: r.Reference}
	for _, x := range r.Rows {
		b.Rows = append(b.Rows, plot.Bar{Name: x.Name, Value: x.Value, Reference: x.Reference})
	}
	return b
}

// SVG is the report's picture as a file of its own.
func (r *Report) SVG() string { return r.Bars().File() }

// Page is the report as a part of a page.
func (r *Report) Page() plot.Page {
	cells := filled(r.cells())
	p := plot.Page{Title: r.Title, Tables: []plot.Table{{Head: cells[0], Rows: cells[1:]}},
		Bars: []plot.Bars{r.Bars()}, Notes: slices.Clone(r.Notes)}
	for _, c := range r.Checks {
		p.Notes = append(p.Notes, "Checked: "+c)
	}
	return p
}
