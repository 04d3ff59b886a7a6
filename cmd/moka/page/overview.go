package page

import (
	"context"
	"fmt"
)

// tile is a figure that stands alone.
type tile struct{ Name, Value, More string }

func tilesNow(_ context.Context, v view) (any, error) {
	h, f := &v.history, v.o.Source.Figures()
	commits := h.recent(onePhase, true) + h.recent(async, true) + h.recent(twoPhase, true)
	list := []tile{
		{"commits", perSecond(commits), fmt.Sprintf("one-phase %s · async %s · two-phase %s",
			short(h.recent(onePhase, true)), short(h.recent(async, true)), short(h.recent(twoPhase, true)))},
		{"statements", perSecond(h.recent(statements, true)),
			perSecond(h.recent(failed, true)) + " failed"},
		{"latency, 95 %", seconds(h.recent(p95, false)), "50 %: " + seconds(h.recent(p50, false)) +
			" · 99 %: " + seconds(h.recent(p99, false))},
		{"sync of the log", seconds(h.recent(syncTime, false)), perSecond(h.recent(syncs, true))},
		{"connections", count(f.Connections), count(f.Transactions) + " open transactions"},
		{"observers' runs", perSecond(h.recent(runs, true)), perSecond(h.recent(parked, true)) + " parked"},
	}
	if !f.SQL {
		list = append(list[:1], list[3])
	}
	if !f.Storage {
		list = append(list[:3], list[4:]...)
	}
	return list, nil
}

func (v view) lines(names []string, classes string, all ...series) (lines []chartLine) {
	for i, s := range all {
		lines = append(lines, chartLine{Name: names[i], Class: classes[i : i+1], Values: v.history.line(s),
			Zeros: true})
	}
	return lines
}

func commitChart(_ context.Context, v view) (any, error) {
	return draw("Commits a second", perSecond, v.lines([]string{"one-phase", "async", "two-phase"}, "abc",
		onePhase, async, twoPhase)...), nil
}

func latencyChart(_ context.Context, v view) (any, error) {
	lines := v.lines([]string{"50 %", "95 %", "99 %"}, "abc", p50, p95, p99)
	for i := range lines {
		lines[i].Zeros = false
	}
	return drawLog("Latency of statements", seconds, 10e-6, lines...), nil
}

func syncChart(_ context.Context, v view) (any, error) {
	if !v.o.Source.Figures().Storage {
		return nil, fmt.Errorf("this process has no storage")
	}
	lines := v.lines([]string{"mean time of a sync"}, "a", syncTime)
	lines[0].Zeros = false
	return draw("Mean time of a sync", seconds, lines...), nil
}

func errorChart(_ context.Context, v view) (any, error) {
	return draw("Errors a second", perSecond, v.lines([]string{"statements that failed",
		"commits that somebody was before", "runs of observers that failed"}, "dbc", failed, conflicts,
		runFailures)...), nil
}

func runChart(_ context.Context, v view) (any, error) {
	return draw("Runs a second", perSecond, v.lines([]string{"runs", "collapsed", "failed", "parked"}, "abcd",
		runs, collapsed, runFailures, parked)...), nil
}

// shownTable is what the template "table" has.
type shownTable struct {
	Columns []string
	Rows    [][]string
	Empty   string // said if there are no rows
	Cut     bool
}

func plain(t Table, empty string) shownTable {
	s := shownTable{Columns: t.Columns, Empty: empty, Cut: t.Cut}
	for _, r := range t.Rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = cell(v)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func replicas(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.Replicas(ctx)
	return plain(t, "Every shard has one replica, on this machine: a lost disk is lost data."), err
}

func settings(_ context.Context, v view) (any, error) { return v.o.Source.Settings(), nil }

func mix(_ context.Context, v view) (any, error) { return v.o.Source.Mix(), nil }
