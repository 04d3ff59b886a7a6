package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// Bar is one bar. Its reference, if it has one, is a line across it: the paper's figure, or that of whatever
// the bar is compared with.
type Bar struct {
	Name             string
	Value, Reference float64
}

// Bars are horizontal bars from zero, over an axis in Unit.
type Bars struct {
	Title, Unit string
	Reference   string // what the lines across are; empty: there are none
	Rows        []Bar
}

const (
	barWidth, barLeft, barRight = 900, 250, 150
	barTop, barHeight, barGap   = 36, 22, 12
)

// SVG draws them.
func (b Bars) SVG() template.HTML {
	most := 0.0
	for _, r := range b.Rows {
		most = max(most, r.Value, r.Reference)
	}
	tick := niceTick(most / 5)
	ceiling := max(tick, math.Ceil(most/tick)*tick)
	x := func(v float64) float64 { return barLeft + v/ceiling*(barWidth-barLeft-barRight) }
	foot := barTop + len(b.Rows)*(barHeight+barGap)
	tall := foot + 44

	var s strings.Builder
	fmt.Fprintf(&s, `<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`, barWidth,
		tall, barWidth, tall, html.EscapeString(b.Title))
	fmt.Fprintf(&s, `<text x="12" y="18" class="title">%s</text>`, html.EscapeString(b.Title))
	for v := 0.0; v <= ceiling*1.0001; v += tick {
		fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" class="grid"/><text x="%.1f" y="%d" `+
			`class="label" text-anchor="middle">%s</text>`, x(v), x(v), barTop-4, foot, x(v), foot+14, Figure(v))
	}
	fmt.Fprintf(&s, `<text x="%.1f" y="%d" class="label" text-anchor="end">%s</text>`, x(ceiling), foot+32,
		html.EscapeString(b.Unit))
	for i, r := range b.Rows {
		y := barTop + i*(barHeight+barGap)
		fmt.Fprintf(&s, `<text x="%d" y="%d" class="label" text-anchor="end">%s</text>`, barLeft-8, y+16,
			html.EscapeString(r.Name))
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%.1f" height="%d" class="bar"/>`, barLeft, y,
			x(r.Value)-barLeft, barHeight)
		label := Figure(r.Value)
		if r.Reference > 0 {
			at := x(r.Reference)
			fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" class="reference"/>`, at, at, y-3,
				y+barHeight+3)
			label += fmt.Sprintf(" (%.2f×)", r.Value/r.Reference)
		}
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" class="label">%s</text>`, x(max(r.Value, r.Reference))+8, y+16,
			html.EscapeString(label))
	}
	if b.Reference != "" {
		fmt.Fprintf(&s, `<line x1="12" x2="12" y1="%d" y2="%d" class="reference"/><text x="20" y="%d" `+
			`class="label">%s</text>`, foot+18, foot+34, foot+32, html.EscapeString(b.Reference))
	}
	s.WriteString("</svg>")
	return template.HTML(s.String()) // every text in it was escaped above
}

// File is the picture as a file of its own.
func (b Bars) File() string { return file(b.SVG()) }

// Figure prints a number with separators, and small ones with a fraction.
func Figure(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
