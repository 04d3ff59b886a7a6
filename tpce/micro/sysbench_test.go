package micro

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"moka/tpce/servertest"
)

// TestSysbench compares a server with itself. On a machine without sysbench, what is asked of the user is
// said.
func TestSysbench(t *testing.T) {
	s := servertest.StartMariaDB(t)
	c := Sysbench{
		Targets:   []Target{{Name: "one", DSN: s.DSN("x"), PID: s.PID}, {Name: "two", DSN: s.DSN("x")}},
		Workloads: []string{"oltp_write_only", Load}, TableSize: 300, LoadRows: 3000, Threads: 2, Rounds: 1,
		Slice: time.Second,
	}
	if _, err := exec.LookPath("sysbench"); err != nil {
		if _, err := RunSysbench(t.Context(), c); err == nil ||
			!strings.Contains(err.Error(), "apt-get install sysbench") {
			t.Errorf("without sysbench: %v", err)
		}
		c.Workloads = []string{Load}
	}
	r, err := RunSysbench(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	t.Log("\n" + text)
	if len(r.Lines) != 2*len(c.Workloads) {
		t.Fatalf("%d lines", len(r.Lines))
	}
	for _, l := range r.Lines {
		if l.Rate <= 0 || (l.CPU != nil) != (l.Target == "one") || (l.RateRatio > 0) != (l.Target == "one") ||
			l.Hits != nil || !strings.Contains(text, l.Workload) {
			t.Errorf("line %+v", l)
		}
	}
	c.Workloads = []string{"oltp_nonsense"}
	if _, err := RunSysbench(t.Context(), c); err == nil {
		t.Error("a workload that does not exist is run")
	}
}

func TestParseSysbench(t *testing.T) {
	const report = `SQL statistics:
    transactions:                        1254   (417.59 per sec.)
    queries:                             25090  (8355.12 per sec.)
    ignored errors:                      3      (1.00 per sec.)
General statistics:
    total time:                          3.0014s
    total number of events:              1254
`
	var s sysbenchSlice
	if err := s.parse(report); err != nil || s.count != 1254 || s.ignored != 3 ||
		s.elapsed != 3001400*time.Microsecond {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", strings.Replace(report, "1254 ", "many ", 1),
		strings.Replace(report, "total time", "time", 1)} {
		if (&sysbenchSlice{}).parse(bad) == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}
