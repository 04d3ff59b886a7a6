package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// figureless are fields that are no figures, or are labels of the others.
var figureless = map[string]bool{"gc.HeldBy": true, "oracle.Leading": true, "shard.Shard": true,
	"shard.InMemory": true}

// TestMetrics: every field of every room is there, and nothing else; names, helps and units are as
// Prometheus wants them.
func TestMetrics(t *testing.T) {
	s, db := gcStack(t, t.TempDir())
	t.Cleanup(func() { s.stop(t, db) })
	rooms := map[string]map[string]bool{}
	s.eachRoom(func(room string, m any, _ prometheus.Labels) {
		rooms[room] = map[string]bool{}
		for f := range reflect.TypeOf(m).Fields() {
			if figureless[room+"."+f.Name] {
				continue
			}
			if _, ok := measures[room][f.Name]; !ok {
				t.Errorf("%s.%s has no name in /metrics", room, f.Name)
			}
			rooms[room][f.Name] = true
		}
	})
	for room, list := range measures {
		for f := range list {
			if !rooms[room][f] {
				t.Errorf("%s has no field %s", room, f)
			}
		}
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(&collector{s})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		if strings.HasSuffix(f.GetHelp(), "..") || !strings.HasSuffix(f.GetHelp(), ".") {
			t.Errorf("%s: %q", f.GetName(), f.GetHelp())
		}
	}
	for _, want := range []string{"moka_build_info", "moka_disk_full", "moka_txn_commits_total",
		"moka_gc_lag_seconds", "moka_store_log_sync_seconds_total", "moka_shard_in_memory"} {
		if !names[want] {
			t.Errorf("%s is not there", want)
		}
	}
	// What is drawn, alerted on or described exists: panels that stay empty look like a server that rests.
	for _, file := range []string{"deploy/grafana.json", "deploy/alerts.yml", "docs/metrics.md",
		"docs/faults.md", "docs/old-versions.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`\bmoka_[a-z0-9_]*[a-z0-9]\b`).FindAllString(string(b), -1)
		if len(found) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range found {
			if !names[name] && !strings.HasPrefix(name, "moka_snapshot") {
				t.Errorf("%s names %s, which is not there", file, name)
			}
		}
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	b, err := os.ReadFile("../../deploy/grafana.json")
	if err == nil {
		err = json.Unmarshal(b, &dashboard)
	}
	if err != nil || len(dashboard.Panels) == 0 {
		t.Fatalf("the dashboard: %v", err)
	}
	for i, p := range dashboard.Panels {
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, "moka_") {
				t.Errorf("panel %d: %s", i+1, target.Expr)
			}
		}
	}
}
