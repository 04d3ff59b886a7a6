package page

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
)

// digest is a statement with '?' for each of its literals.
type digest struct {
	ID, Schema, Text, Sample, NoPlan string
	Executions, Errors               int64
	Total, Avg, P95, P99, Most, Lock float64 // milliseconds
	Sent, Affected, Examined, ByPlan int64
	Last                             string
}

// Explainable reports whether EXPLAIN has something to say of it.
func (d *digest) Explainable() bool {
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimLeft(d.Sample, "( \n\t")), " ")
	return slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "TABLE"}, word)
}

// orders are by what the list may be sorted, the largest first.
var orders = map[string]func(d *digest) float64{
	"total":      func(d *digest) float64 { return d.Total },
	"executions": func(d *digest) float64 { return float64(d.Executions) },
	"errors":     func(d *digest) float64 { return float64(d.Errors) },
	"avg":        func(d *digest) float64 { return d.Avg },
	"p95":        func(d *digest) float64 { return d.P95 },
	"p99":        func(d *digest) float64 { return d.P99 },
	"max":        func(d *digest) float64 { return d.Most },
	"lock":       func(d *digest) float64 { return d.Lock },
	"examined":   func(d *digest) float64 { return float64(d.Examined) },
}

// digestsShown bounds the list; the CSV has all.
const digestsShown = 100

// heading is a column by which the list can be sorted.
type heading struct {
	Title, Link string
	Here        bool
}

// shownStatements is what the template "statements" has.
type shownStatements struct {
	List         []*digest
	Headings     []heading
	Filter, Sort string
	Found, All   int
}

// Link is where the plan of a statement is shown, the list staying as it is.
func (s shownStatements) Link(d *digest) string {
	return "/statements?" + url.Values{"sort": {s.Sort}, "filter": {s.Filter}, "plan": {d.ID}}.Encode()
}

func statementList(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.View(ctx, "statements_summary")
	if err != nil {
		return nil, err
	}
	s := shownStatements{Filter: v.query.Get("filter"), Sort: v.query.Get("sort")}
	by, ok := orders[s.Sort]
	if !ok {
		s.Sort, by = "total", orders["total"]
	}
	want := strings.ToLower(s.Filter)
	r := byName(t)
	for i := range t.Rows {
		d := &digest{ID: r.text(i, "digest"), Schema: r.text(i, "schema_name"),
			Text:   r.text(i, "digest_text"),
			Sample: r.text(i, "sample"), NoPlan: r.text(i, "no_plan"),
			Executions: int64(r.number(i, "executions")), Errors: int64(r.number(i, "errors")),
			Total: r.number(i, "total_ms"), Avg: r.number(i, "avg_ms"), P95: r.number(i, "p95_ms"),
			P99: r.number(i, "p99_ms"), Most: r.number(i, "max_ms"), Lock: r.number(i, "lock_ms"),
			Sent: int64(r.number(i, "rows_sent")), Affected: int64(r.number(i, "rows_affected")),
			Examined: int64(r.number(i, "rows_examined")), ByPlan: int64(r.number(i, "by_plan")),
			Last: r.text(i, "last_seen")}
		s.All++
		if want == "" || strings.Contains(strings.ToLower(d.Schema+" "+d.Text+" "+d.Sample), want) {
			s.List = append(s.List, d)
		}
	}
	s.Found = len(s.List)
	slices.SortStableFunc(s.List, func(a, b *digest) int { return cmp.Compare(by(b), by(a)) })
	s.List = s.List[:min(len(s.List), digestsShown)]
	for _, h := range [][2]string{{"total", "total"}, {"executions", "executions"}, {"avg", "mean"},
		{"p95", "95 %"}, {"p99", "99 %"}, {"max", "most"}, {"lock", "locked"}, {"examined", "rows read"},
		{"errors", "errors"}} {
		link := "/statements?" + url.Values{"sort": {h[0]}, "filter": {s.Filter}}.Encode()
		s.Headings = append(s.Headings, heading{h[1], link, s.Sort == h[0]})
	}
	return s, nil
}

// shownPlan is what the template "plan" has.
type shownPlan struct {
	Text string
	Plan shownTable
}

func plan(ctx context.Context, v view) (any, error) {
	id := v.query.Get("plan")
	if id == "" {
		return (*shownPlan)(nil), nil
	}
	text, t, err := v.o.Source.Explain(ctx, id)
	if err != nil {
		return nil, err
	}
	return &shownPlan{text, plain(t, "")}, nil
}

// job is work of many transactions.
type job struct {
	ID, Kind, Object, State, Statement, Error string
	Done, Of                                  int64
	Started, Updated, Finished                string
	Kill                                      int64
}

func jobs(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.View(ctx, "jobs")
	if err != nil {
		return nil, err
	}
	var list []job
	r := byName(t)
	for i := range t.Rows {
		object := r.text(i, "table_schema") + "." + r.text(i, "table_name")
		if x := r.text(i, "object"); x != "" {
			object += " " + x
		}
		list = append(list, job{r.text(i, "id"), r.text(i, "kind"), object, r.text(i, "state"),
			r.text(i, "statement"), r.text(i, "error"), int64(r.number(i, "rows_done")),
			int64(r.number(i, "rows_estimated")), r.text(i, "started"), r.text(i, "updated"),
			r.text(i, "finished"), int64(r.number(i, "kill_id"))})
	}
	return list, nil
}
