package micro

import (
	"os"
	"strings"
	"testing"
	"time"

	"moka/tpce/servertest"
)

// TestTwoTargets compares a server with itself: both lines are there, nothing is lost,
// processor time is counted.
func TestTwoTargets(t *testing.T) {
	s := servertest.StartMariaDB(t)
	r, err := Run(t.Context(), Config{
		Targets: []Target{{Name: "one", DSN: s.DSN("one"), PID: s.PID}, {Name: "two", DSN: s.DSN("two")}},
		Rows:    1200, Connections: 4, Rounds: 2, Statements: 1500, Warmup: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + r.Text())
	if len(r.Lines) != 8 {
		t.Fatalf("%d lines", len(r.Lines))
	}
	var cpu float64
	for _, l := range r.Lines {
		if l.Count != 3000 || l.Rate <= 0 || l.RateMin > l.Rate || l.RateMax < l.Rate || l.P50 <= 0 ||
			l.P99 < l.P50 {
			t.Errorf("line %+v", l)
		}
		if (l.CPU != nil) != (l.Target == "one") {
			t.Errorf("%s: processor time %v", l.Target, l.CPU)
		}
		if l.CPU != nil {
			cpu += *l.CPU
		}
	}
	if cpu <= 0 {
		t.Error("the server used no processor time")
	}
	for _, want := range []string{"select text", "select prepared", "update text", "update prepared",
		"one", "two"} {
		if !strings.Contains(r.Text(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestParseStat(t *testing.T) {
	// The command may hold blanks and parentheses.
	d, err := parseStat("42 (a b) c)) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 8 0 100 0 0")
	if err != nil || d != 3*time.Second {
		t.Errorf("%v, %v", d, err)
	}
	for _, bad := range []string{"", "1 (x) S 1", "1 (x) S 1 1 1 0 -1 0 0 0 0 0 x 1 0"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	own := &target{Target: Target{PID: os.Getpid()}}
	if d, err := own.cpuTime(); err != nil || d < 0 {
		t.Errorf("own time %v, %v", d, err)
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []Config{
		{},
		{Targets: []Target{{Name: "", DSN: "root@tcp(127.0.0.1:1)/x"}}},
		{Targets: []Target{{Name: "a"}, {Name: "a"}}},
		{Targets: []Target{{Name: "a", DSN: "root@tcp(127.0.0.1:1)/"}}},
		{Targets: []Target{{Name: "a", DSN: "root@tcp(127.0.0.1:1)/x"}}},
	} {
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
