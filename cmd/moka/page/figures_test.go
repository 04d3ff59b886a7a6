package page

import (
	"strings"
	"testing"
	"time"
)

func TestHistory(t *testing.T) {
	var h history
	at := time.Unix(1000, 0)
	upTo := func(i int) float64 { return float64(i + 1) }
	f := Figures{OnePhase: 5, LatencyUpTo: upTo, Latency: []uint64{1, 0, 0}}
	h.add(at, f)
	if n := len(h.line(onePhase)); n != 0 {
		t.Fatalf("%d points before there is a difference", n)
	}
	f.OnePhase, f.Syncs, f.SyncSeconds, f.Latency = 25, 4, 0.2, []uint64{1, 98, 2}
	h.add(at.Add(2*time.Second), f)
	for s, want := range map[series]float64{onePhase: 10, syncs: 2, p50: 2, p95: 2, p99: 3} {
		if got := h.line(s); len(got) != 1 || got[0] != want {
			t.Errorf("series %d: %v, want %v", s, got, want)
		}
	}
	if got := h.line(syncTime)[0]; got < 0.0499 || got > 0.0501 {
		t.Errorf("mean sync %v", got)
	}
	f.OnePhase = 0 // the counter began anew
	h.add(at.Add(3*time.Second), f)
	if got := h.line(onePhase); got[1] != 0 {
		t.Errorf("a counter that began anew is %v", got)
	}
	for i := range 2 * historyPoints {
		f.OnePhase += uint64(i)
		h.add(at.Add(time.Duration(4+i)*time.Second), f)
	}
	line := h.line(onePhase)
	if len(line) != historyPoints || line[len(line)-1] != 2*historyPoints-1 || line[0] != historyPoints {
		t.Errorf("%d points from %v to %v", len(line), line[0], line[len(line)-1])
	}
}

func TestCycles(t *testing.T) {
	g := &network{index: map[string]int{}}
	for _, e := range [][2]string{{"purchase", "o totals"}, {"o totals", "total"}, {"total", "o audit"},
		{"o audit", "log"}, {"log", "o again"}, {"o again", "total"},
		{"self", "o self"}, {"o self", "self"}} {
		node := func(name string) int {
			rest, observer := strings.CutPrefix(name, "o ")
			return g.node(rest, observer)
		}
		g.edge(node(e[0]), node(e[1]))
	}
	s := g.show()
	red := 0
	for _, p := range s.Paths {
		if strings.HasSuffix(p, "(cycle)") {
			red++
		}
	}
	if !s.Cycles || red != 6 || strings.Count(string(s.SVG), "edge cycle") != 6 {
		t.Errorf("%d red edges, want 6: %q", red, s.Paths)
	}
	for _, n := range g.nodes {
		for _, m := range g.nodes {
			if n != m && n.x == m.x && n.y == m.y {
				t.Errorf("%s and %s lie upon each other", n.name, m.name)
			}
		}
	}
}

func TestHotTablets(t *testing.T) {
	m := mapOf([]Tablet{{Begins: ""}, {Begins: "a.t(1)", Rate: 900, Bytes: 10}, {Begins: "a.t(2)", Rate: 50,
		Bytes: 5}, {Begins: "a.u", Rate: 90}})
	if len(m.Tables) != 3 || m.Tables[1].Name != "a.t" || m.Tables[1].Bytes != 15 {
		t.Fatalf("%+v", m.Tables)
	}
	for i, want := range []bool{true, false} {
		if got := m.Tables[1].Tablets[i]; got.Hot != want {
			t.Errorf("%+v", got)
		}
	}
	if cold := mapOf([]Tablet{{Begins: "a.t", Rate: 20}}); cold.Tables[0].Tablets[0].Hot {
		t.Error("all of very little is not hot")
	}
	if m := mapOf(make([]Tablet, tabletsShown+3)); m.Cut != 3 {
		t.Errorf("%d are said to be missing", m.Cut)
	}
}

func TestScales(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.1: 2, 7: 10, 120: 200} {
		if got := nice(v); got < want*0.999 || got > want*1.001 {
			t.Errorf("nice(%v) = %v", v, got)
		}
	}
	at := logarithmic(1, 100)
	if at(10) != 0.5 || at(0.1) != 0 || at(1e6) != 1 {
		t.Error(at(10), at(0.1), at(1e6))
	}
	c := drawLog("x", seconds, 1e-5, chartLine{Name: "50 %", Class: "a", Values: []float64{0, 0.02, 0}})
	if c.Top != "100 ms" || c.Bottom != "10 µs" || c.Legend[0].Now != "–" {
		t.Errorf("%+v", c)
	}
}
