package plot

import (
	"math"
	"strings"
	"testing"
)

// TestChart: a gap starts a new stroke, names are escaped, marks stay on the paper.
func TestChart(t *testing.T) {
	c := Chart{
		Title: "a <b>", Unit: "ms", Step: 1, Marks: map[float64]string{1: "early", 9: "late"},
		Series: []Series{{Name: "x & y", Values: []float64{1, 2, math.NaN(), 4, 5, 6, 7, 8, 9, 10}},
			{Name: "empty"}},
	}
	svg := string(c.SVG())
	for _, want := range []string{"a &lt;b&gt;, ms", "x &amp; y", `text-anchor="start">early`,
		`text-anchor="end">late`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
	line := svg[strings.Index(svg, `<path d="`):]
	line = line[:strings.Index(line, `" fill`)]
	if n := strings.Count(line, "M"); n != 2 || strings.Contains(svg, "NaN") {
		t.Errorf("%d strokes around one gap: %s", n, line)
	}
	if nothing := string(Chart{Title: "nothing"}.SVG()); strings.Contains(nothing, "NaN") ||
		strings.Contains(nothing, "Inf") {
		t.Errorf("an empty chart: %s", nothing)
	}
}

func TestTicks(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.5: 2, 2.1: 5, 7: 10, 120: 200} {
		if got := niceTick(v); got != want {
			t.Errorf("a tick for %v is %v, not %v", v, got, want)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	text, err := Page{Title: "<script>", Lines: []string{"a & b"},
		Tables: []Table{{Head: []string{"h"}, Rows: [][]string{{"<td>"}}}}, Notes: []string{"<i>"}}.HTML()
	if err != nil || strings.Contains(text, "<script>") || strings.Contains(text, "<i>") ||
		strings.Count(text, "<td>") != 1 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestBars: the axis begins at zero, goes beyond the greatest figure, and has its unit; names are escaped.
func TestBars(t *testing.T) {
	svg := Bars{Title: "b & c", Unit: "rows/s", Reference: "the paper's <figure>", Rows: []Bar{
		{Name: "<a>", Value: 500, Reference: 1000}, {Name: "none"}}}.File()
	for _, want := range []string{`class="title">b &amp; c<`, ">rows/s<", ">0<", ">1,000<", "&lt;a&gt;",
		"500 (0.50×)", "the paper&#39;s &lt;figure&gt;", `width="250.0" height="22" class="bar"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
	if nothing := (Bars{Title: "nothing"}).File(); strings.Contains(nothing, "NaN") {
		t.Errorf("no bars: %s", nothing)
	}
}
