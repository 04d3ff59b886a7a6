package itest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var rewriteTranscripts = flag.Bool("transcripts", false, "write the transcripts of the tutorials anew")

// measured is what differs from run to run in a tutorial: how long something took.
var measured = regexp.MustCompile(`(?s)(Crawled again and in the index:) .*? times as long`)

// TestTutorials: "moka learn" from beginning to end, word by word. The tutorials check themselves what they
// tell; here is that a reader sees it. (figure4 kills a process with -9 in the middle of two commits.)
func TestTutorials(t *testing.T) {
	for _, name := range []string{"figure4", "webindex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(mokaBinary, "learn", name, "--yes").CombinedOutput()
			if err != nil {
				t.Fatalf("moka learn %s: %v\n%s", name, err, out)
			}
			out = measured.ReplaceAll(out, []byte("$1 … times as long"))
			file := filepath.Join("testdata", "learn", name+".txt")
			if *rewriteTranscripts {
				if err := os.WriteFile(file, out, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != string(want) {
				t.Errorf("the tutorial does not read as in %s any more; to accept it: "+
					"go test ./cmd/itest -run TestTutorials -transcripts\n%s", file, out)
			}
		})
	}
}

// TestCellsOfARow: "moka ctl cells" shows what lies in the store of a row, and what observers know of it.
func TestCellsOfARow(t *testing.T) {
	s := start(t, t.TempDir())
	s.cli(`create database d; use d; create table t (id int primary key, n varchar(20));
		create table log (id int, n varchar(20));
		create observer keep after insert or update on t for each row insert into log values (new.id, new.n);
		insert into t values (1, 'old'); update t set n = 'new' where id = 1;
		insert into t values (2, 'gone'); delete from t where id = 2;
		wait for observers timeout 60;`)
	out := s.ctl("cells", "d.t", "1")
	for _, want := range []string{`row +write +\S+ +\S+ +put +\(1, 'new'\)`,
		`row +write +\S+ +\S+ +put +\(1, 'old'\)`, `ack of d\.keep +write +\S+ +\S+ +put +up to`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no line %s in:\n%s", want, out)
		}
	}
	deleted := regexp.MustCompile(`row +write +\S+ +\S+ +delete`)
	if out := s.ctl("cells", "d.t", "2"); !deleted.MatchString(out) {
		t.Errorf("no delete in:\n%s", out)
	}
	out, err := s.tryCtl("cells", "d.t", "3")
	if err == nil || !regexp.MustCompile(`nothing of the row 3`).MatchString(out) {
		t.Errorf("of a row that is not there: %v\n%s", err, out)
	}
}
