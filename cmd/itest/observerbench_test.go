package itest

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moka/tpce/outbox"
	"moka/tpce/servertest"
)

// TestBenchObserver: an observer and two outboxes do the same work, and each change has its effect once: the
// command counts them, and fails otherwise. What is fast is not looked at.
func TestBenchObserver(t *testing.T) {
	s, mariadb, postgres := start(t, t.TempDir()), servertest.StartMariaDB(t), servertest.StartPostgreSQL(t)
	cmd := exec.Command(mokaBinary, "bench", "observer", "--json", "--rounds", "2", "--slice", "200ms",
		"--backlog", "700", "--writers", "4", "--batch", "10", "--target", "moka=mysql://root@127.0.0.1:"+
			s.sqlPort+"/bench", "--target", "postgres="+postgres.URL("bench"), "--target",
		"mariadb="+mariadb.URL("bench"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, err.(*exec.ExitError).Stderr)
	}
	var r outbox.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(r.Lines) != 9 {
		t.Fatalf("%d lines:\n%s", len(r.Lines), r.Text())
	}
	for _, l := range r.Lines {
		backlog := l.Work == "backlog of 700"
		if l.Rate <= 0 || l.CPU == nil || *l.CPU <= 0 || (l.P50 > 0) == backlog || l.P99 < l.P50 ||
			backlog && l.Changes != 1400 {
			t.Errorf("line %+v", l)
		}
	}
	t.Log("\n" + r.Text())
}

// TestBenchAll: one command compares three servers and repeats a paper's experiment, and its page shows them.
// The other experiments' own smoke runs are tests of cmd/moka.
func TestBenchAll(t *testing.T) {
	mariadb, postgres := servertest.StartMariaDB(t), servertest.StartPostgreSQL(t)
	file := filepath.Join(t.TempDir(), "all.html")
	cmd := exec.Command(mokaBinary, "bench", "all", "--smoke", "--json", "--html", file, "--only",
		"oracle,scale,sql,observer", "--target", "mariadb="+strings.TrimSuffix(mariadb.URL(""), "/"),
		"--target", "postgres="+strings.TrimSuffix(postgres.URL(""), "/"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, err.(*exec.ExitError).Stderr)
	}
	var r struct {
		Smoke  bool
		Found  map[string]json.RawMessage
		Failed []string
	}
	if err := json.Unmarshal(out, &r); err != nil || !r.Smoke || len(r.Found) != 4 || len(r.Failed) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"This is a smoke run", "Percolator, §2.3", "Percolator, Figure 9",
		"Observers beside the outbox", "<td>mariadb</td>", "<td>postgres</td>", "commit "} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for rest := string(page); ; {
		_, after, found := strings.Cut(rest, "<svg ")
		if !found {
			break
		}
		picture, next, _ := strings.Cut(after, "</svg>")
		picture = "<svg " + picture + "</svg>"
		if err := xml.Unmarshal([]byte(picture), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("a picture: %v", err)
		}
		rest = next
	}
}
