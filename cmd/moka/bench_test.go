package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moka/cmd/moka/bench"
	"moka/tpce/failover"
)

// The test binary is the server's process of the benchmarks, as bin/moka is its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && (os.Args[1] == "bench" && os.Args[2] == "serve" || os.Args[1] == "start") {
		main()
		return
	}
	os.Exit(m.Run())
}

// The smoke preset of the failover: three processes, of which one is killed and comes back, with everything
// that was acknowledged, on all three.
func TestFailoverSmoke(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "plot.svg")
	out := captured(t, "bench", "failover", "--preset", "smoke", "--json", "--svg", svg)
	var r failover.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Log("\n" + r.Text())
	if r.Acknowledged == 0 || r.Before == 0 || r.Lost != 0 || len(r.Checks) == 0 || r.Silence == 0 {
		t.Errorf("%s", out)
	}
	plot, err := os.ReadFile(svg)
	if err != nil || xml.Unmarshal(plot, new(struct{ XMLName xml.Name })) != nil ||
		!strings.Contains(string(plot), "kill -9") {
		t.Errorf("the plot: %v: %s", err, plot)
	}
}

// captured runs a command and returns what it prints.
func captured(t *testing.T, args ...string) []byte {
	t.Helper()
	stdout := os.Stdout
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	os.Stdout = out
	cmd := root()
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The smoke preset of each of the papers' experiments: the command re-executes this binary as its server,
// prints JSON and draws.
func TestBenchSmoke(t *testing.T) {
	for _, name := range []string{"oracle", "micro", "bigtable", "commit", "memory"} {
		t.Run(name, func(t *testing.T) {
			svg := filepath.Join(t.TempDir(), "plot.svg")
			b := captured(t, "bench", name, "--preset", "smoke", "--json", "--svg", svg)
			var r bench.Report
			if err := json.Unmarshal(b, &r); err != nil || r.Bench != name || len(r.Rows) == 0 {
				t.Errorf("%v: %s", err, b)
			}
			if plot, err := os.ReadFile(svg); err != nil || !strings.HasPrefix(string(plot), "<svg") {
				t.Errorf("the plot: %v", err)
			}
		})
	}
}
