package itest

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Who looked into a problem had to know what to ask for, and to ask for it ten times.
func TestDebugZip(t *testing.T) {
	s := start(t, t.TempDir())
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE shop")
	mustExec(t, db, "CREATE TABLE shop.line (o INT PRIMARY KEY)")
	mustExec(t, db, "INSERT INTO shop.line VALUES (4711)")
	mustExec(t, db, "CREATE USER u IDENTIFIED BY 'very secret'")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{"BEGIN", "SELECT * FROM shop.line WHERE o = 4711 FOR UPDATE"} {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "d.zip")
	fetch := func() (string, error) {
		out, err := exec.Command(mokaBinary, "debug", "zip", "--http-addr", s.http, file).CombinedOutput()
		return string(out), err
	}
	if out, err := fetch(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := fetch(); err == nil {
		t.Errorf("it wrote over a file: %s", out)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	parts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(b)
		if strings.Contains(string(b), "very secret") {
			t.Errorf("%s has a password", f.Name)
		}
	}
	for name, want := range map[string]string{
		"version.json": "platform", "settings.json": "observer-runners", "status.json": "transactions",
		"tablets.json": "begins at", "locks.json": "start_ts", "gc.json": "oldest snapshots",
		"metrics.txt": "moka_txn_", "goroutines.txt": "goroutine profile:", "heap.pb.gz": "",
		"tables/moka.locks.tsv": "4711", "tables/moka.tablets.tsv": "the catalog",
		"tables/processlist.tsv":             "Info",
		"tables/moka.statements_summary.tsv": "insert into", "log.txt": "accepting SQL clients",
	} {
		if got, ok := parts[name]; !ok || !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s lacks %q:\n%.1000s", name, want, got)
		}
	}
	if parts["problems.txt"] != "" {
		t.Errorf("problems: %s", parts["problems.txt"])
	}
	if code := ask(t, s, "GET", "/debug/zip", ""); code != 401 {
		t.Errorf("without the token: %d", code)
	}
}
