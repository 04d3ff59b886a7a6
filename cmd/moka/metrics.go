package main

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moka/kv"
)

// What /metrics has, by Prometheus' rules: the rooms know nothing of it, each has a struct of numbers, whose
// fields are named here. A field that is not named is not there, and a test fails.

// measure is one figure.
type measure struct {
	name string // behind moka_; counters end with _total
	help string
}

// metricsList is a line for each: the room and the field of its struct, the name, the help.
//
//go:embed metrics.txt
var metricsList string

// measures are those of each room by the fields of its struct.
var measures = func() map[string]map[string]measure {
	all := map[string]map[string]measure{}
	for line := range strings.Lines(metricsList) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		room, field, _ := strings.Cut(f[0], ".")
		if all[room] == nil {
			all[room] = map[string]measure{}
		}
		all[room][field] = measure{f[1], strings.Join(f[2:], " ")}
	}
	return all
}()

// figures are the metrics of a room's struct.
func figures(room string, m any, labels prometheus.Labels) (list []prometheus.Metric) {
	for _, f := range fields(m) {
		x, ok := measures[room][f.field]
		if !ok || !f.numeric {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(x.name, "_total") {
			kind = prometheus.CounterValue
		}
		list = append(list, prometheus.MustNewConstMetric(
			prometheus.NewDesc("moka_"+x.name, x.help, nil, labels), kind, f.value))
	}
	return list
}

// collector hands the figures of all rooms to Prometheus.
type collector struct{ stack *stack }

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.stack.eachRoom(func(room string, m any, labels prometheus.Labels) {
		for _, x := range figures(room, m, labels) {
			ch <- x
		}
	})
	gauge := func(name, help string, value float64, labels prometheus.Labels) {
		d := prometheus.NewDesc("moka_"+name, help, nil, labels)
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	b := buildOf()
	gauge("build_info", "What this process was built from; always 1.", 1,
		prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go})
	s := c.stack
	if s.node == nil {
		return
	}
	full := 0.0
	if s.node.Room() != nil {
		full = 1
	}
	gauge("disk_full", "1 while the disk is full: what adds is refused.", full, nil)
	for _, x := range s.node.Stats().Shards {
		for group, n := range x.InMemory {
			gauge("shard_in_memory", "Entries that the shard has in memory now: locks, notifications.",
				float64(n), prometheus.Labels{"shard": fmt.Sprint(x.Shard), "group": group})
		}
	}
}

// eachRoom gives f the figures of the rooms that this process has.
func (s *stack) eachRoom(f func(room string, m any, labels prometheus.Labels)) {
	f("txn", s.txn.Metrics(), nil)
	f("oracle_client", s.clock.Metrics(), nil)
	f("client", s.store.Metrics(), nil)
	if s.oracle != nil {
		f("oracle", s.oracle.Metrics(), nil)
	}
	if s.gc != nil {
		f("gc", s.gc.Metrics(), nil)
	}
	if s.worker != nil {
		f("observer", s.worker.Metrics(), nil)
	}
	if s.sql != nil {
		f("sql", s.sql.Metrics(), nil)
	}
	if s.node != nil {
		stats := s.node.Stats()
		f("store", stats.Engine, nil)
		for _, x := range stats.Shards {
			f("shard", x, prometheus.Labels{"shard": fmt.Sprint(x.Shard)})
		}
	}
}

type field struct {
	name, text string
	field      string // its name in the struct
	numeric    bool
	value      float64
}

// fields lists the exported fields of a metrics struct in order, numbers as numbers and durations in seconds.
func fields(m any) (fs []field) {
	v := reflect.ValueOf(m)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		t := v.Type().Field(i)
		if !t.IsExported() {
			continue
		}
		f := field{name: t.Name, field: t.Name, text: fmt.Sprint(v.Field(i).Interface())}
		switch x := v.Field(i); {
		case t.Type == reflect.TypeFor[kv.Timestamp]():
			f.numeric, f.value = true, float64(kv.Timestamp(x.Uint()).Physical())/1000
		case t.Type == reflect.TypeFor[time.Duration]():
			f.numeric, f.value, f.name = true, time.Duration(x.Int()).Seconds(), t.Name+"Seconds"
		case x.CanInt():
			f.numeric, f.value = true, float64(x.Int())
		case x.CanUint():
			f.numeric, f.value = true, float64(x.Uint())
		case x.CanFloat():
			f.numeric, f.value = true, x.Float()
		}
		fs = append(fs, f)
	}
	return fs
}
