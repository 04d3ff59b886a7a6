package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"moka/kv"
)

// status is what /status, the page and "moka ctl status" show.
type status struct {
	Version  string
	Uptime   string
	SQL      string
	Warning  string `json:",omitempty"`
	Sections []section
}

type section struct {
	Title   string
	Columns []string
	Rows    [][]string
}

func (s *stack) status(ctx context.Context) (any, error) { return s.statusOf(ctx) }

func (s *stack) statusOf(ctx context.Context) (*status, error) {
	st := &status{Version: version, Uptime: time.Since(s.started).Round(time.Second).String(), SQL: s.sqlAddr}
	if s.o.Insecure {
		st.Warning = insecureWarning
	}
	if s.node != nil {
		if err := s.node.Room(); err != nil {
			st.Warning = strings.TrimSpace(st.Warning + " " + err.Error())
		}
		if s.o.Cluster {
			st.Warning = strings.TrimSpace(st.Warning + " " + labWarning)
			st.Sections = append(st.Sections, s.replicaSection())
		}
		st.Sections = append(st.Sections, s.shardSection(), s.tabletSection(ctx, false))
	}
	st.Sections = append(st.Sections, counters("transactions", s.txn.Metrics()),
		counters("timestamps", s.clock.Metrics()), counters("routing", s.store.Metrics()))
	if s.gc != nil {
		st.Sections = append(st.Sections, counters("garbage collection", s.gc.Metrics()))
	}
	if s.sql != nil {
		st.Sections = append(st.Sections, counters("sql", s.sql.Metrics()))
	}
	if s.worker != nil {
		st.Sections = append(st.Sections, counters("observers", s.worker.Metrics()))
	}
	observers, err := s.observerSection(ctx, false)
	if err != nil {
		return nil, err
	}
	st.Sections = append(st.Sections, observers)
	return st, nil
}

func (s *stack) shardSection() section {
	sec := section{Title: "shards", Columns: []string{"shard", "tablets", "reads", "writes", "batches",
		"bytes", "locks", "notifications"}}
	for _, x := range s.node.Stats().Shards {
		sec.Rows = append(sec.Rows, []string{
			fmt.Sprint(x.Shard), fmt.Sprint(x.Tablets), fmt.Sprint(x.Reads), fmt.Sprint(x.Writes),
			fmt.Sprint(x.Proposals),
			fmt.Sprint(x.Bytes), fmt.Sprint(x.InMemory["lock"]), fmt.Sprint(x.InMemory["notify"]),
		})
	}
	return sec
}

// tabletSection lists the tablets, with the keys of rows between which they lie for who may see those: the
// status page is open to everybody.
func (s *stack) tabletSection(ctx context.Context, keys bool) section {
	sec := section{Title: "tablets", Columns: []string{"tablet", "generation", "shard"}}
	var places []kv.RowKey
	for _, t := range s.node.Tablets() {
		sec.Rows = append(sec.Rows,
			[]string{fmt.Sprint(t.ID), fmt.Sprint(t.Generation), fmt.Sprintf("shard %d", t.Shard)})
		places = append(places, t.Span.Start, t.Span.End)
	}
	if keys {
		sec.Columns = append(sec.Columns, "begins at", "ends before")
		names := s.rowNames(ctx, places)
		for i, row := range sec.Rows {
			sec.Rows[i] = append(row, names[2*i], names[2*i+1])
		}
	}
	return sec
}

// tablets lists all tablets for SQL, nil if this process has no storage and asks others.
func (s *stack) tablets() func(context.Context) ([]kv.Tablet, error) {
	if s.node == nil || s.o.Cluster {
		return nil
	}
	return func(context.Context) ([]kv.Tablet, error) { return s.node.Tablets(), nil }
}

// counters shows the fields of a metrics struct by their names.
func counters(title string, m any) section {
	sec := section{Title: title, Columns: []string{"", ""}}
	for _, f := range fields(m) {
		sec.Rows = append(sec.Rows, []string{f.name, f.text})
	}
	return sec
}
