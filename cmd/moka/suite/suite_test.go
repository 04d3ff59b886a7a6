package suite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"moka/tpce/plot"
)

// TestOneFails: an experiment that fails is its own part of the page and an error of the whole; the others
// are there, and comparisons without another server are left out aloud.
func TestOneFails(t *testing.T) {
	old := experiments
	defer func() { experiments = old }()
	broken := errors.New("the disk is away")
	experiments = []experiment{
		{name: "bad", title: "The bad one", run: func(context.Context, *runner) (plot.Page, any, error) {
			return plot.Page{}, nil, broken
		}},
		{name: "good", title: "The good one",
			run: func(_ context.Context, r *runner) (plot.Page, any, error) {
				return plot.Page{Lines: []string{"in " + r.dir}}, 7, nil
			}},
		{name: "sql", title: "A comparison", compares: true},
	}
	r, err := Run(t.Context(), Config{Dir: t.TempDir(), Smoke: true, About: []string{"this machine"}})
	if !errors.Is(err, broken) || len(r.Failed) != 1 || r.Failed[0] != "bad" || r.Found["good"] != 7 {
		t.Fatalf("%v %+v", err, r)
	}
	page, perr := r.Page.HTML()
	for _, want := range []string{"FAILED: bad: the disk is away", "The good one", "this machine",
		"This is a smoke run", "A comparison: left out"} {
		if perr != nil || !strings.Contains(page, want) || !strings.Contains(r.Text(), want) {
			t.Errorf("no %q: %v in %s", want, perr, page)
		}
	}
	if _, err := Run(t.Context(), Config{Only: []string{"god"}}); err == nil ||
		!strings.Contains(err.Error(), "bad, good") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestParseTarget(t *testing.T) {
	for text, bad := range map[string]bool{"mariadb=mysql://root@127.0.0.1:3307": false, "x": true,
		"=mysql://h": true, "moka=mysql://root@127.0.0.1:1": true, "p=oracle://h": true} {
		if got, err := ParseTarget(text); (err != nil) != bad {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
