package itest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// answers asks the operator's door.
func (s *server) answers(path string) (code int, body string) {
	s.t.Helper()
	c := http.Client{Timeout: 10 * time.Second}
	defer c.CloseIdleConnections()
	r, err := c.Get("http://" + s.http + path)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// Faults: /healthz said 200 when the storage behind a SQL server was dead.
func TestHealthOfDeadStorage(t *testing.T) {
	storage := start(t, t.TempDir(), "--node-addr", "127.0.0.1:0")
	front := join(t, storage.nodeAddr())
	for _, s := range []*server{storage, front} {
		for _, path := range []string{"/healthz", "/readyz"} {
			code, body := s.answers(path)
			if code != http.StatusOK {
				t.Fatalf("%s: %d %s", path, code, body)
			}
			for _, check := range []string{"timestamp", "METADATA"} { // each has its line
				if !regexp.MustCompile(`(?m)^` + check + ` +\S+ +ok$`).MatchString(body) {
					t.Errorf("%s lacks the check %s:\n%s", path, check, body)
				}
			}
			if ready := strings.Contains(body, "takes clients"); ready != (path == "/readyz") {
				t.Errorf("%s:\n%s", path, body)
			}
		}
	}
	storage.kill()
	for _, path := range []string{"/healthz", "/readyz"} {
		// The process ends by itself when it has lost its session: both are no good health.
		if code, body := front.answers(path); code == http.StatusOK {
			t.Errorf("%s with a dead storage: %d %s", path, code, body)
		}
	}
}

// Faults: a stop with an idle open transaction took 30 s and was an error. The transaction is rolled back at
// once.
func TestStopWithIdleTransaction(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY)")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{"BEGIN", "INSERT INTO d.t VALUES (1)"} {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.stop(); err != nil { // with a status other than 0 it is an error, and it was 1
		t.Fatal(err)
	}
	if strings.Contains(s.logs(), "out of time") {
		t.Errorf("the stop waited for the transaction:\n%s", s.logs())
	}
	s = start(t, dir)
	if n := one[int](t, s.db(""), "SELECT COUNT(*) FROM d.t"); n != 0 {
		t.Fatalf("%d rows of a transaction that was not committed", n)
	}
}

// S10: clients that take all file descriptors take none of the store's: who is connected goes on writing, and
// the log stays short (it had 313,672 lines).
func TestFileDescriptorsUsedUp(t *testing.T) {
	const limit, sockets = 300, 350
	s := launchCommand(t, exec.Command("/bin/sh", "-c", fmt.Sprintf(
		`ulimit -n %d && exec "$0" start --data "$1" --sql-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 `+
			`--cache-mib 8`, limit), mokaBinary, t.TempDir()))
	if !s.waitReady() {
		t.Fatalf("not ready:\n%s", s.logs())
	}
	if !strings.Contains(s.logs(), "max_connections is lowered") {
		t.Errorf("nobody is told that there are too few files:\n%s", s.logs())
	}
	db := s.db("")
	db.SetMaxOpenConns(1)
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGBLOB)")
	for _, addr := range []string{"127.0.0.1:" + s.sqlPort, s.http} {
		for range sockets {
			c, err := net.DialTimeout("tcp", addr, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	for i := range 40 { // several memtables
		mustExec(t, db, "INSERT INTO d.t VALUES (?, REPEAT('x', 1000000))", i)
	}
	if n := one[int](t, db, "SELECT COUNT(*) FROM d.t"); n != 40 {
		t.Errorf("%d rows", n)
	}
	if n := strings.Count(s.logs(), "\n"); n > 100 {
		t.Errorf("the log has %d lines:\n%.3000s", n, s.logs())
	}
}
