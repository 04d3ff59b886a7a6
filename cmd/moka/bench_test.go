package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moka/bench"
)

// The test binary is the server's process of the benchmarks, as bin/moka is its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bench" && os.Args[2] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The smoke preset of each of the papers' experiments: the command re-executes this binary as its server,
// prints JSON and draws.
func TestBenchSmoke(t *testing.T) {
	for _, name := range []string{"oracle", "micro", "bigtable", "commit", "memory"} {
		t.Run(name, func(t *testing.T) {
			svg := filepath.Join(t.TempDir(), "plot.svg")
			stdout := os.Stdout
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			os.Stdout = out
			cmd := root()
			cmd.SetArgs([]string{"bench", name, "--preset", "smoke", "--json", "--svg", svg})
			err = cmd.ExecuteContext(t.Context())
			os.Stdout = stdout
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
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
