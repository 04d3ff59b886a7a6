package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A chart is an SVG that the server draws, so that it is there without JavaScript. Colours come from classes,
// as the policy of the page allows no styles within it; texts are HTML around it, as the SVG would stretch
// them.

const (
	chartWidth, chartHeight = 450, 120 // units; the picture is as wide as its panel
	chartColumns            = 450      // points are joined until there are no more than these
)

// chartLine is one line of a chart.
type chartLine struct {
	Name   string
	Class  string // a, b, c, d: its colour and dashes
	Values []float64
	Zeros  bool // whether zero is a value and not the lack of one
}

// chart is what the template of the same name shows.
type chart struct {
	Title, Top string // Top is the value at the upper edge
	Bottom     string // that at the lower one, if it is not zero
	Legend     []legend
	SVG        template.HTML
}

type legend struct{ Name, Class, Now string }

// scale says where a value is, from 0 below to 1 above.
type scale func(v float64) float64

// linear begins at zero.
func linear(top float64) scale { return func(v float64) float64 { return v / top } }

// logarithmic is for values of which one may be a thousand times another: a statement that waited for a lock
// would leave nothing to be seen of those that did not.
func logarithmic(bottom, top float64) scale {
	return func(v float64) float64 {
		return min(max(math.Log(v/bottom)/math.Log(top/bottom), 0), 1)
	}
}

// draw makes a chart of lines with one scale from zero on. value words a value for people.
func draw(title string, value func(float64) string, lines ...chartLine) chart {
	top := nice(most(lines))
	return drawOn(title, value, linear(top), value(top), "", 4, lines)
}

// drawLog makes a chart whose scale is logarithmic, in whole decades from bottom on.
func drawLog(title string, value func(float64) string, bottom float64, lines ...chartLine) chart {
	decades := max(1, int(math.Ceil(math.Log10(most(lines)/bottom)-1e-9)))
	top := bottom * math.Pow(10, float64(decades))
	return drawOn(title, value, logarithmic(bottom, top), value(top), value(bottom), decades, lines)
}

func most(lines []chartLine) (most float64) {
	for i := range lines {
		for _, v := range lines[i].Values {
			most = max(most, v)
		}
	}
	return most
}

func drawOn(title string, value func(float64) string, at scale, top, bottom string, parts int,
	lines []chartLine) chart {
	c := chart{Title: title, Top: top, Bottom: bottom}
	var b strings.Builder
	var said []string
	for _, l := range lines {
		now := 0.0
		if n := len(l.Values); n > 0 {
			now = l.Values[n-1]
		}
		text := value(now)
		if now == 0 && !l.Zeros {
			text = "–"
		}
		c.Legend = append(c.Legend, legend{l.Name, l.Class, text})
		said = append(said, l.Name+" "+text)
		fmt.Fprintf(&b, `<path class="line %s" d="%s"/>`, l.Class, path(l, at))
	}
	label := template.HTMLEscapeString(title + ", the last 15 minutes; now: " + strings.Join(said, ", "))
	grid := ""
	for y := range parts + 1 {
		h := y * chartHeight / parts
		grid += fmt.Sprintf(`<path class="grid" d="M0 %d H%d"/>`, h, chartWidth)
	}
	c.SVG = template.HTML(fmt.Sprintf(
		`<svg role="img" aria-label="%s" viewBox="0 -2 %d %d" preserveAspectRatio="none">%s%s</svg>`,
		label, chartWidth, chartHeight+4, grid, b.String()))
	return c
}

// path draws the newest point at the right edge, a quarter of an hour before it at the left one.
func path(l chartLine, at scale) string {
	per := (historyPoints + chartColumns - 1) / chartColumns
	// Joined from the left edge of the time, so that a point does not belong to another group each second.
	var b strings.Builder
	move := true
	n := len(l.Values)
	for end := n; end > 0; end -= per {
		sum, k := 0.0, 0
		for _, v := range l.Values[max(0, end-per):end] {
			if v != 0 || l.Zeros {
				sum, k = sum+v, k+1
			}
		}
		if k == 0 {
			move = true
			continue
		}
		x := chartWidth - float64(n-end)*chartWidth/historyPoints
		y := chartHeight - at(sum/float64(k))*chartHeight
		verb := "L"
		if move {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, x, y)
		if move {
			fmt.Fprintf(&b, "h-0.1") // a single point is seen, too
		}
		move = false
	}
	return b.String()
}

// nice is the least of 1, 2 and 5 times a power of ten that is not below v.
func nice(v float64) float64 {
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
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
