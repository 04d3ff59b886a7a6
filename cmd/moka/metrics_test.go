package main

import (
	"reflect"
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
}
