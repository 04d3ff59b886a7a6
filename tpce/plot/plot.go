// Package plot draws the reports' pictures: line charts as SVG, and pages that carry everything they show. A
// page refers to nothing outside of itself, so that it can be mailed, kept, and opened in ten years.
package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"text/tabwriter"
)

// Series is one line. A NaN leaves a gap.
type Series struct {
	Name   string
	Values []float64
}

// Chart is a line chart over time.
type Chart struct {
	Title, Unit string
	Step        float64 // seconds between two values
	Series      []Series
	// Marks are moments, in seconds, with what happens there.
	Marks map[float64]string
}

const (
	width, height            = 860, 260
	left, right, top, bottom = 60, 170, 30, 34
)

// colors are distinguishable without colour vision too: they differ in lightness.
var colors = []string{"#1b4f72", "#d35400", "#27ae60", "#8e44ad", "#7f8c8d", "#c0392b", "#16a085", "#f1c40f"}

// SVG draws the chart.
func (c Chart) SVG() template.HTML {
	longest, highest := 1, 0.0
	for _, s := range c.Series {
		longest = max(longest, len(s.Values))
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				highest = max(highest, v)
			}
		}
	}
	tick := niceTick(highest / 4)
	ceiling := max(tick, math.Ceil(highest/tick)*tick)
	end := max(c.Step*float64(longest), 1)
	x := func(seconds float64) float64 { return left + seconds/end*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - v/ceiling*(height-top-bottom) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`, width,
		height, width, height, html.EscapeString(c.Title))
	fmt.Fprintf(&b, `<text x="%d" y="16" class="title">%s</text>`, left,
		html.EscapeString(c.Title+", "+c.Unit))
	for v := 0.0; v <= ceiling*1.0001; v += tick {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" class="grid"/><text x="%d" y="%.1f" `+
			`class="label" text-anchor="end">%s</text>`,
			left, width-right, y(v), y(v), left-6, y(v)+4, number(v))
	}
	step := niceTick(end / 6)
	for s := 0.0; s <= end*1.0001; s += step {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" class="label" text-anchor="middle">%s s</text>`, x(s),
			height-bottom+18, number(s))
	}
	for at, what := range c.Marks {
		// In the right half the text ends at its mark, or it would run into the legend.
		side, anchor := 4.0, "start"
		if at > end/2 {
			side, anchor = -4, "end"
		}
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" class="mark"/><text x="%.1f" y="%d" `+
			`class="label" text-anchor="%s">%s</text>`,
			x(at), x(at), top, height-bottom, x(at)+side, top+10, anchor, html.EscapeString(what))
	}
	for i, s := range c.Series {
		color := colors[i%len(colors)]
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`,
			path(s.Values, func(j int) float64 {
				return x((float64(j) + 0.5) * c.Step)
			}, y), color)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="3"/><text x="%d" `+
			`y="%d" class="label">%s</text>`,
			width-right+12, width-right+32, top+8+18*i, top+8+18*i, color, width-right+38, top+12+18*i,
			html.EscapeString(s.Name))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // every text in it was escaped above
}

// File is the chart as a file of its own, with what the page's style says of its parts.
func (c Chart) File() string { return file(c.SVG()) }

func file(svg template.HTML) string {
	opening, rest, _ := strings.Cut(string(svg), ">")
	return strings.Replace(opening, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" font-size="12" `+
		`font-family="system-ui, sans-serif" style="background: white" `, 1) +
		"><style>" + chartStyle + "</style>" + rest + "\n"
}

// path joins the values; a gap starts a new stroke.
func path(values []float64, x func(int) float64, y func(float64) float64) string {
	var b strings.Builder
	pen := "M"
	for i, v := range values {
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, x(i), y(v))
		pen = "L"
	}
	return b.String()
}

// niceTick is 1, 2 or 5 times a power of ten, at least v.
func niceTick(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v {
			return m * power
		}
	}
	return 10 * power
}

func number(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".0") }

// Table is a table of a page; the first column is text, the others are figures.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Text is the table for a terminal.
func (t Table) Text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 2, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	w.Flush()
	return b.String()
}

// Page is a report.
type Page struct {
	Title  string
	Lines  []string // under the title
	Tables []Table
	Bars   []Bars
	Charts []Chart
	Notes  []string
	// Parts are pages within this one, with an entry each in its contents.
	Parts []Page
}

// chartStyle is that of a chart's parts.
const chartStyle = ".title { font-weight: bold; font-size: 14px } .label { fill: #444 } " +
	".grid { stroke: #e4e4e4 } .mark { stroke: #888; stroke-dasharray: 4 3 } .bar { fill: #7b4f2c } " +
	".reference { stroke: #d08a2e; stroke-width: 3 }"

var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1000px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em; margin-bottom: .3em } h2 { font-size: 1.15em; margin: 1.5em 0 .4em }
section { border-top: 2px solid #888; margin-top: 2.5em } section h1 { font-size: 1.3em }
p { margin: .2em 0 } table { border-collapse: collapse; font-size: 14px }
td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: right; font-variant-numeric: tabular-nums }
td:first-child, th:first-child { text-align: left } th { background: #f4f4f4; vertical-align: bottom }
div { overflow-x: auto } svg { margin-top: 1em; font: 12px system-ui, sans-serif }
` + chartStyle + `
</style></head><body>
{{template "part" .}}{{if .Parts}}<h2>Contents</h2><ol>
{{range $i, $p := .Parts}}<li><a href="#part{{$i}}">{{$p.Title}}</a></li>
{{end}}</ol>
{{end}}{{range $i, $p := .Parts}}<section id="part{{$i}}">
{{template "part" $p}}</section>
{{end}}</body></html>
{{define "part"}}<h1>{{.Title}}</h1>
{{range .Lines}}<p>{{.}}</p>
{{end}}{{range .Tables}}<h2>{{.Title}}</h2><div><table><thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{end}}{{range .Bars}}{{.SVG}}
{{end}}{{range .Charts}}{{.SVG}}
{{end}}{{if .Notes}}<h2>Notes</h2>{{range .Notes}}<p>{{.}}</p>
{{end}}{{end}}{{end}}`))

// HTML is the page.
func (p Page) HTML() (string, error) {
	var b strings.Builder
	err := page.Execute(&b, p)
	return b.String(), err
}
