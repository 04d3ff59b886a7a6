package itest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refuses runs moka with arguments that it must refuse, and checks that the message names the cause and the next step.
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

func TestUnknownFlag(t *testing.T) {
	refuses(t, []string{"--shrads", "--help"}, "start", "--shrads", "3")
	refuses(t, []string{"frobnicate"}, "frobnicate")
	refuses(t, []string{"shards", "many"}, "start", "--shards", "many")
}

func TestUnknownSettingInFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "moka.toml")
	if err := os.WriteFile(file, []byte("[start]\nshrads = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{"shrads", file}, "start", "--config", file)
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	refuses(t, []string{addr, "in use", "--sql-addr"}, "start", "--data", t.TempDir(), "--sql-addr", addr, "--http-addr", "127.0.0.1:0")
	refuses(t, []string{addr, "in use", "--http-addr"}, "start", "--data", t.TempDir(), "--sql-addr", "127.0.0.1:0", "--http-addr", addr)
}

func TestForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(file, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, []string{dir, "--data"}, "start", "--data", dir, "--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0")
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
	refuses(t, []string{dir, "another Moka", "--data"}, "start", "--data", dir, "--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0")
	// The first one goes on as if nothing had been.
	mustExec(t, s.db(""), "CREATE DATABASE still_here")
}

// TestTruncatedLogTail cuts bytes off the write-ahead log of a killed server, as a crash of the machine in the middle of a
// write does, and appends a torn record. What lies before opens.
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
	if _, err := f.Write([]byte{0xde, 0xad, 0xbe, 0xef, 0xff, 0x7f, 0x05, 1, 0, 0, 0, 'h', 'a', 'l', 'f'}); err != nil {
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

// TestFullDisk runs on a small tmpfs until it is full. The server must say so and stop rather than limp; what it acknowledged
// must be there once there is room again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a small tmpfs needs root (kv/engine tests the same with an injected ENOSPC, everywhere): %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	data := filepath.Join(dir, "data")
	s := start(t, data)
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY, v MEDIUMBLOB)")
	// A ballast that can be taken away later makes the disk full soon, and gives the room back: a log segment is set aside as a
	// whole, so a start needs some.
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 256<<10)
	for i := range value {
		value[i] = byte(i * 7919 >> 3)
	}
	acknowledged := 0
	for ; acknowledged < 1000; acknowledged++ {
		ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
		_, err := db.ExecContext(ctx, "INSERT INTO d.t VALUES (?, ?)", acknowledged, value)
		cancel()
		if err != nil {
			break
		}
	}
	if acknowledged == 0 || acknowledged == 1000 {
		t.Fatalf("%d rows acknowledged on 256 MB: the disk was never full", acknowledged)
	}
	if code := s.wait(); code == 0 {
		t.Error("exit status 0 on a full disk")
	}
	if !strings.Contains(s.logs(), "no space left") {
		t.Errorf("the message does not say that the disk is full:\n%s", tail(s.logs()))
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s = start(t, data)
	if n := one[int](t, s.db(""), "SELECT COUNT(*) FROM d.t"); n < acknowledged {
		t.Fatalf("%d rows, but %d were acknowledged", n, acknowledged)
	}
	fmt.Fprintf(t.Output(), "%d rows were acknowledged before the disk was full, all are there\n", acknowledged)
}

func tail(s string) string {
	if len(s) > 4000 {
		return "…" + s[len(s)-4000:]
	}
	return s
}
