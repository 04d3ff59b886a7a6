package failover

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"
)

// A rate that is gone for 1.5 s, comes back slowly, and is whole 3 s behind the kill.
func rates() (out []float64) {
	for i := range 400 {
		at := float64(i) * 0.1
		switch {
		case at < 10:
			out = append(out, 1000)
		case at < 11.5:
			out = append(out, 0)
		case at < 13:
			out = append(out, 500)
		default:
			out = append(out, 950)
		}
	}
	return out
}

func TestSummary(t *testing.T) {
	r := &Report{Killed: 10, Started: 30, Step: 0.1, Rates: rates(), Victims: "1", Config: Config{Nodes: 3}}
	r.summarize()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	if !near(r.Before, 1000) || !near(r.After, 950) || !near(r.Rejoin, 950) {
		t.Errorf("rates %v, %v, %v", r.Before, r.After, r.Rejoin)
	}
	if r.Recovered < 2.8 || r.Recovered > 3.01 || r.Silence < 1.49 || r.Silence > 1.51 || !r.Met() {
		t.Errorf("recovered behind %v s, silent for %v s, met %v", r.Recovered, r.Silence, r.Met())
	}
	text := r.Text()
	for _, want := range []string{"longest time without a transaction: 1.5 s", "(goal: 5 s, met)", "950",
		"x "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not say %q:\n%s", want, text)
		}
	}
	if err := xml.Unmarshal([]byte(r.SVG()), new(struct{ XMLName xml.Name })); err != nil {
		t.Errorf("the plot: %v", err)
	}
}

// What never comes back is not met, and said; a single fast moment does not count.
func TestNeverRecovered(t *testing.T) {
	r := &Report{Killed: 10, Started: 30, Step: 0.1, Rates: rates(), Victims: "1", Config: Config{Nodes: 3}}
	for i := 115; i < 300; i++ {
		r.Rates[i] = 500
		if i%20 == 0 {
			r.Rates[i] = 1200
		}
	}
	r.summarize()
	if r.Recovered >= 0 || r.Met() || !strings.Contains(r.Text(),
		"not before the restart (goal: 5 s, NOT met)") {
		t.Errorf("recovered behind %v s:\n%s", r.Recovered, r.Text())
	}
}

// A line has a character for each part of the time, whatever the steps, and what happens under it.
func TestLine(t *testing.T) {
	line, under := Line([]float64{8, 8, 0, 4}, 1, 8, map[float64]rune{2: 'x', 99: '?'})
	if line != "██"+"██"+"▁▁"+"▅▅"+"  8/s at most" || under != "    x   " {
		t.Errorf("%q\n%q", line, under)
	}
	if line, _ := Line(nil, 1, 3, nil); line != "▁▁▁  0/s at most" {
		t.Errorf("of nothing: %q", line)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{Nodes: 4}, {Kill: 2}, {Nodes: 5, Kill: 3}, {Before: 1}, {Away: 1}} {
		if _, err := c.withDefaults(); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if _, err := (Config{Nodes: 5, Kill: 2}).withDefaults(); err != nil {
		t.Error(err)
	}
}
