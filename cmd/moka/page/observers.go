package page

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// observed is an observer with how it does.
type observed struct {
	Schema, Name, Events, Table, Status string
	Waiting, Parked                     int64
	Lag                                 time.Duration // of the oldest change that waits
	P50, P95, P99                       time.Duration // from change to end, of the last runs
	Run                                 time.Duration // mean time of a run
	Runs                                int           // how many the figures are of
	Walked, Of                          int64         // of a backfill or a replay
}

type observerKey struct{ schema, name string }

func keyOf(r rows, i int) observerKey {
	return observerKey{r.text(i, "observer_schema"), r.text(i, "observer_name")}
}

func observers(ctx context.Context, v view) (any, error) {
	declared, err := v.o.Source.View(ctx, "observers")
	if err != nil {
		return nil, err
	}
	backlog, err := v.o.Source.View(ctx, "observer_backlog")
	if err != nil {
		return nil, err
	}
	ran, err := v.o.Source.View(ctx, "observer_runs")
	if err != nil {
		return nil, err
	}
	by := map[observerKey]*observed{}
	var list []*observed
	r := byName(declared)
	for i := range declared.Rows {
		k := keyOf(r, i)
		o := &observed{Schema: k.schema, Name: k.name, Events: r.text(i, "events"),
			Table: r.text(i, "event_table"), Status: r.text(i, "status")}
		by[k], list = o, append(list, o)
	}
	r = byName(backlog)
	for i := range backlog.Rows {
		if o := by[keyOf(r, i)]; o != nil {
			o.Waiting, o.Parked = int64(r.number(i, "waiting")), int64(r.number(i, "parked"))
			o.Lag = time.Duration(r.number(i, "lag_ms")) * time.Millisecond
			o.Walked, o.Of = int64(r.number(i, "rows_walked")), int64(r.number(i, "rows_to_walk"))
		}
	}
	measure(by, ran)
	return list, nil
}

// measure takes percentiles of the last runs, of which the server keeps a hundred for each observer.
func measure(by map[observerKey]*observed, ran Table) {
	lags := map[observerKey][]time.Duration{}
	r := byName(ran)
	for i := range ran.Rows {
		o := by[keyOf(r, i)]
		if o == nil || r.text(i, "result") != "done" {
			continue
		}
		took := time.Duration(r.number(i, "duration_us")) * time.Microsecond
		o.Run, o.Runs = o.Run+took, o.Runs+1
		lag := r.time(i, "started").Add(took).Sub(r.time(i, "changed"))
		lags[keyOf(r, i)] = append(lags[keyOf(r, i)], max(lag, 0))
	}
	for k, all := range lags {
		slices.Sort(all)
		o := by[k]
		at := func(q float64) time.Duration { return all[min(int(q*float64(len(all))), len(all)-1)] }
		o.P50, o.P95, o.P99, o.Run = at(0.5), at(0.95), at(0.99), o.Run/time.Duration(len(all))
	}
}

// failure is a row whose last run failed.
type failure struct {
	Schema, Name, Row, Error string
	Changed                  time.Time
	Attempts                 int64
	Parked                   bool
}

func failing(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.View(ctx, "observer_errors")
	if err != nil {
		return nil, err
	}
	var list []failure
	r := byName(t)
	for i := range t.Rows {
		k := keyOf(r, i)
		list = append(list, failure{k.schema, k.name, r.text(i, "event_table") + "(" + r.text(i, "row_key") +
			")", r.text(i, "error"), r.time(i, "changed"), int64(r.number(i, "attempts")),
			r.isSet(i, "parked")})
	}
	slices.SortStableFunc(list, func(a, b failure) int {
		return cmp.Or(-compareBool(a.Parked, b.Parked), a.Changed.Compare(b.Changed))
	})
	return list, nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
