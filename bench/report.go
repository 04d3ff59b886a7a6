package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
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
	return &Report{Bench: name, Title: title, Machine: machine(),
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

// Text is the report as a table.
func (r *Report) Text() string {
	head := []string{"", r.Unit, "low … high", r.Reference, "ratio", "p50 µs", "p99 µs", "CPU µs", ""}
	cells := [][]string{head}
	for _, x := range r.Rows {
		line := []string{x.Name, figure(x.Value), "", "", "", micros(x.P50), micros(x.P99),
			micros(x.CPU), x.Note}
		if x.High > 0 {
			line[2] = figure(x.Low) + " … " + figure(x.High)
		}
		if x.Reference > 0 {
			line[3], line[4] = figure(x.Reference), fmt.Sprintf("%.2f", x.Ratio())
		}
		cells = append(cells, line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", r.Title, r.Machine)
	b.WriteString(table(cells))
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "\nchecked: %s", c)
	}
	return b.String()
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

// figure prints a number with separators, and small ones with a fraction.
func figure(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func micros(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return figure(math.Round(v))
}

// SVG is the report as horizontal bars; the reference is a line across each.
func (r *Report) SVG() string {
	const left, right, bar, gap, top = 250, 150, 22, 12, 64
	width, plot := 900, 900-left-right
	height := top + len(r.Rows)*(bar+gap) + 30
	most := 0.0
	for _, x := range r.Rows {
		most = max(most, x.Value, x.Reference)
	}
	scale := func(v float64) float64 {
		if most == 0 {
			return 0
		}
		return v / most * float64(plot)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="12" y="24" font-size="16">%s (%s)</text>`+"\n", html.EscapeString(r.Title),
		html.EscapeString(r.Unit))
	fmt.Fprintf(&b, `<text x="12" y="44" fill="#666">%s</text>`+"\n", html.EscapeString(r.Machine))
	for i, x := range r.Rows {
		y := top + i*(bar+gap)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-8, y+16,
			html.EscapeString(x.Name))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="#7b4f2c"/>`+"\n", left, y,
			scale(x.Value), bar)
		label := figure(x.Value)
		if x.Reference > 0 {
			at := float64(left) + scale(x.Reference)
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#d08a2e" stroke-width="3"/>`+"\n", at, y-3, at, y+bar+3)
			label += fmt.Sprintf(" (%.2f×)", x.Ratio())
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n",
			float64(left)+scale(max(x.Value, x.Reference))+8, y+16, html.EscapeString(label))
	}
	if r.Reference != "" {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#d08a2e">| %s</text>`+"\n", left, height-10,
			html.EscapeString(r.Reference))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
