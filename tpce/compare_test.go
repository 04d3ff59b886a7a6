package tpce

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"moka/tpce/servertest"
)

// testCompare takes MariaDB and PostgreSQL through the whole of it: load, equal tables, two
// rounds, conditions, reports.
func testCompare(t *testing.T) {
	other := servertest.StartPostgreSQL(t)
	base := quick("compare")
	base.Target, base.Transactions, base.MaintenanceInterval = "", 300, 20*time.Millisecond
	cfg := CompareConfig{Config: base, Rounds: 2, Targets: []CompareTarget{
		{"mariadb", maria.URL("compare"), Inline}, {"postgres", other.URL("compare"), Omit},
	}}
	r, err := Compare(t.Context(), cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	for _, target := range r.Targets {
		if len(target.Runs) != 2 || len(target.Checked) != 2 || target.Load == nil ||
			len(target.Differing) != 0 || target.state() != "hold" {
			t.Errorf("%s: %d runs, %d checks, load %v, differing %v, conditions %s", target.Name,
				len(target.Runs), len(target.Checked), target.Load, target.Differing, target.state())
		}
		for _, run := range target.Runs {
			if run.ServerCPU == nil || run.ServerCPU.Seconds <= 0 ||
				run.ServerCPU.PerTradeResultMS < run.ServerCPU.PerTransactionMS {
				t.Errorf("%s: processor time %+v, %s", target.Name, run.ServerCPU, run.CPUNote)
			}
			if got := sumOf(run.Timeline.TradeResults) * run.Timeline.StepSeconds; int64(
				got+0.5) != run.transaction(nameTradeResult).Measured+run.transaction(
				nameTradeResult).Outside {
				t.Errorf("%s: the timeline has %.1f Trade-Results, the table %+v", target.Name, got,
					run.transaction(nameTradeResult))
			}
		}
	}
	text := r.Text()
	for _, want := range []string{"mariadb", "postgres", "all others READ COMMITTED", "smoke run",
		"Data-Maintenance", "omit"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, page)
	if one, err := r.Targets[0].Runs[0].HTML(); err != nil {
		t.Error(err)
	} else {
		wellFormed(t, one)
	}

	// A changed row is told by the checksums, and by no other table's.
	cfg.Config.Target = cfg.Targets[1].Target
	db := database(t, cfg.Config)
	mustExec(t, db, "UPDATE industry SET in_name = 'other' WHERE in_id = 'AA'")
	sums, err := Checksum(t.Context(), Config{Target: cfg.Config.Target})
	if err != nil {
		t.Fatal(err)
	}
	if d := sums.Differing(); !slices.Contains(d, "industry") || slices.Contains(d, "sector") {
		t.Errorf("tables that differ: %v", d)
	}
	if _, err := Compare(t.Context(), CompareConfig{}); err == nil {
		t.Error("nothing was compared")
	}
}

func sumOf(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

func (r RunReport) transaction(name string) TxnReport {
	for _, t := range r.Transactions {
		if t.Name == name {
			return t
		}
	}
	return TxnReport{}
}

// wellFormed parses a page strictly, and looks for references to elsewhere.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>\n")))
	d.Strict = false
	d.AutoClose = []string{"meta"}
	svgs := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "svg" {
			svgs++
		}
	}
	if svgs != 2 || strings.Contains(page, "NaN") || strings.Contains(page, "http:") ||
		strings.Contains(page, "https:") || strings.Contains(page, "src=") {
		t.Errorf("%d plots, or something that is not in the page:\n%s", svgs, page)
	}
}

func TestCompareTargets(t *testing.T) {
	got, err := ParseCompareTarget("moka:observer=mysql://root@h:1/d?x=y")
	if err != nil || got != (CompareTarget{"moka", "mysql://root@h:1/d?x=y", Observer}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"mysql://root@h/d", "=mysql://root@h/d", "x=", "x=oracle://h/d"} {
		if _, err := ParseCompareTarget(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestTimelineKeepsEverything(t *testing.T) {
	l := timeline{step: time.Second}
	for i := range 1000 {
		l.add(time.Duration(i)*time.Second, []string{nameTradeResult, nameTradeStatus}[i%2], time.Millisecond)
	}
	r := l.report()
	if n := sumOf(r.Transactions) * r.StepSeconds; n != 1000 || sumOf(r.TradeResults)*r.StepSeconds != 500 ||
		len(r.P90) > maxSlots || r.StepSeconds != 16 {
		t.Errorf("%.0f transactions in %d steps of %.0f s", n, len(r.P90), r.StepSeconds)
	}
}
