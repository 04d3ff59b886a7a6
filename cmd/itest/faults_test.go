package itest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refuses runs moka with arguments that it must refuse, and checks that the message names the
// cause and the next step.
func refuses(t *testing.T, want []string, args ...string) {
	t.Helper()
	s := launch(t, args...)
	if code := s.wait(); code == 0 {
		t.Fatalf("moka %s: exit status 0, want a refusal", strings.Join(args, " "))
	}
	for _, w := range want {
		if !strings.Contains(s.logs(), w) {
			t.Errorf("moka %s: the message does not say %q:\n%s", strings.Join(args, " "), w, s.logs())
		}
	}
	if strings.Contains(s.logs(), "goroutine ") {
		t.Errorf("a stack trace is not a message for people:\n%s", s.logs())
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	refuses(t, []string{addr, "in use", "--sql-addr"}, "start", "--data", t.TempDir(), "--sql-addr", addr,
		"--http-addr", "127.0.0.1:0")
	refuses(t, []string{addr, "in use", "--http-addr"}, "start", "--data", t.TempDir(), "--sql-addr",
		"127.0.0.1:0", "--http-addr", addr)
}

func TestForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(file, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{dir, "--data"}, "start", "--data", dir, "--sql-addr", "127.0.0.1:0", "--http-addr",
		"127.0.0.1:0")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Fatalf("the directory was touched: %v %v", left, err)
	}
	if b, _ := os.ReadFile(file); string(b) != "years of work" {
		t.Fatal("the file was touched")
	}
}

func TestSecondProcessOnOneDirectory(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	refuses(t, []string{dir, "another Moka", "--data"}, "start", "--data", dir, "--sql-addr", "127.0.0.1:0",
		"--http-addr", "127.0.0.1:0")
	// The first one goes on as if nothing had been.
	mustExec(t, s.db(""), "CREATE DATABASE still_here")
}

// TestTruncatedLogTail cuts bytes off the write-ahead log of a killed server, as a crash of the machine in
// the middle of a write does, and appends a torn record. What lies before opens.
func TestTruncatedLogTail(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100))")
	for i := range 100 {
		mustExec(t, db, "INSERT INTO d.t VALUES (?, REPEAT('x', 100))", i)
	}
	s.kill()
	log := newestLog(t, dir)
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Half a record: a header that promises more than there is.
	if _, err := f.Write([]byte{0xde, 0xad, 0xbe, 0xef, 0xff, 0x7f, 0x05, 1, 0, 0, 0, 'h', 'a', 'l',
		'f'}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s = start(t, dir)
	if n := one[int](t, s.db(""), "SELECT COUNT(*) FROM d.t"); n != 100 {
		t.Fatalf("%d rows after a torn log tail, want 100", n)
	}
	mustExec(t, s.db(""), "INSERT INTO d.t VALUES (100, 'and on it goes')")
}

func newestLog(t *testing.T, dir string) (newest string) {
	t.Helper()
	var at time.Time
	err := filepath.Walk(dir, func(p string, i os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(p, ".log") && !i.ModTime().Before(at) {
			newest, at = p, i.ModTime()
		}
		return err
	})
	if err != nil || newest == "" {
		t.Fatalf("no log file under %s: %v", dir, err)
	}
	return newest
}

func tail(s string) string {
	if len(s) > 4000 {
		return "…" + s[len(s)-4000:]
	}
	return s
}

// TestIndexSurvivesKill kills the process while it builds an index ('make soak': twice) and starts it again:
// the index comes to be, with an entry for each row, from where it was.
func TestIndexSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	rows := soaked(20_000, 200_000)
	s := start(t, dir)
	mustExec(t, s.db(""), "CREATE DATABASE d")
	mustExec(t, s.db("d"), "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(40))")
	for from := 0; from < rows; from += 2000 {
		var values []string
		for i := from; i < from+2000; i++ {
			values = append(values, fmt.Sprintf("(%d, %d, 'row number %d')", i, i%97, i))
		}
		mustExec(t, s.db("d"), "INSERT INTO t VALUES "+strings.Join(values, ","))
	}
	const job = "SELECT CONCAT(state, ' ', rows_done, ' ', resumed) FROM moka.jobs"
	db := s.db("d")
	ask := func() (state string, done, resumed int) {
		var text string
		if err := db.QueryRow(job).Scan(&text); err == nil {
			fmt.Sscan(text, &state, &done, &resumed)
		}
		return state, done, resumed
	}
	first := s.db("d")
	go func() { _, _ = first.Exec("CREATE INDEX ia ON t (a, b)") }() // its connection dies with the server
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	last := 0
	for kills := range soaked(1, 2) {
		deadline := time.Now().Add(2 * time.Minute)
		for state, done, resumed := ask(); state != "running" || done <= last || resumed != kills; state,
			done, resumed = ask() {
			if state == "done" {
				t.Logf("the index was complete before kill %d", kills+1)
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the job is %s at %d, resumed %d times\n%s", state, done, resumed, s.logs())
			}
			<-tick.C
		}
		s.kill()
		s = start(t, dir)
		db = s.db("d")
		if _, done, _ := ask(); done < last {
			t.Fatalf("the job went back from %d to %d", last, done)
		} else {
			last = done
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); ; <-tick.C {
		state, done, resumed := ask()
		if state == "done" && done == rows {
			t.Logf("done after %d takeovers", resumed)
			break
		}
		if state != "running" && state != "done" || time.Now().After(deadline) {
			t.Fatalf("the job is %s at %d\n%s", state, done, s.logs())
		}
	}
	var found int
	if err := db.QueryRow("SELECT COUNT(*) FROM t FORCE INDEX (ia) WHERE a = 7").Scan(&found); err != nil ||
		found != (rows+89)/97 {
		t.Errorf("%d rows by the index, want %d (%v)", found, (rows+89)/97, err)
	}
	var table, op, kind, verdict string
	if err := db.QueryRow("CHECK TABLE t").Scan(&table, &op, &kind, &verdict); err != nil || verdict != "OK" {
		t.Errorf("CHECK TABLE: %s %v", verdict, err)
	}
}
