package itest

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// mokaBinary is built once for all tests of the package.
var mokaBinary string

// soak is whether MOKA_SOAK was set when the tests began.
var soak = os.Getenv("MOKA_SOAK") != ""

// clustersBeside is how many parallel tests there are at a time, unless -parallel says so.
var clustersBeside = soaked(4, 1)

func TestMain(m *testing.M) {
	// What steers tests is no setting of the server, which refuses variables that it does not know.
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "MOKA_") {
			_ = os.Unsetenv(name)
		}
	}
	dir, err := os.MkdirTemp("", "moka-itest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mokaBinary = filepath.Join(dir, "moka")
	build := exec.Command("go", "build", "-tags", "gms_pure_go", "-o", mokaBinary, "moka/cmd/moka")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building moka: %v\n%s", err, out)
		os.Exit(1)
	}
	// Tests of clusters wait most of their time, for sessions of ten seconds to end, and use a fifth of two
	// processors, unless their clients never think: they run beside each other, behind all others.
	if err := flag.Set("test.parallel", strconv.Itoa(clustersBeside)); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// soaked is how much a test does: the one in "make test", the other in "make soak".
func soaked(short, long int) int {
	if soak {
		return long
	}
	return short
}

// server is a running moka process.
type server struct {
	t       testing.TB
	cmd     *exec.Cmd
	sqlPort string
	http    string
	exited  chan struct{}
	mu      sync.Mutex
	log     bytes.Buffer
}

var readyLine = regexp.MustCompile(`-P (\d+)`)
var httpLine = regexp.MustCompile(`http://([0-9.:]+)`)

// readyWithin is how long a start may take before the test gives up: generous, because machines are shared.
const readyWithin = 60 * time.Second

// start runs "moka start" on dir with ports of the system's choice, and waits until it says that it is ready.
func start(t testing.TB, dir string, args ...string) *server {
	t.Helper()
	s := launch(t, append([]string{"start", "--data", dir, "--sql-addr", "127.0.0.1:0", "--http-addr",
		"127.0.0.1:0"}, args...)...)
	if !s.waitReady() {
		t.Fatalf("moka did not become ready:\n%s", s.logs())
	}
	return s
}

// launch starts the process and returns without waiting for it to be ready.
func launch(t testing.TB, args ...string) *server {
	t.Helper()
	return launchCommand(t, exec.Command(mokaBinary, args...))
}

func launchCommand(t testing.TB, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, exited: make(chan struct{})}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			_, _ = s.Write(append(sc.Bytes(), '\n'))
		}
	})
	go func() {
		read.Wait()
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(s.kill)
	return s
}

// Write collects output; it is the process's stderr.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *server) logs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *server) waitReady() bool {
	deadline := time.After(readyWithin)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.exited:
			return false
		case <-deadline:
			return false
		case <-tick.C:
			log := s.logs()
			p, h := readyLine.FindStringSubmatch(log), httpLine.FindStringSubmatch(log)
			if p != nil && h != nil && strings.Contains(log, "is ready") {
				s.sqlPort, s.http = p[1], h[1]
				return true
			}
		}
	}
}

// kill is kill -9.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.exited
}

// stop asks politely and reports the exit status.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(readyWithin):
		return fmt.Errorf("still running %v after SIGTERM:\n%s", readyWithin, s.logs())
	}
	if c := s.cmd.ProcessState.ExitCode(); c != 0 {
		return fmt.Errorf("exit status %d:\n%s", c, s.logs())
	}
	return nil
}

// wait returns the exit status of a process that is expected to end by itself.
func (s *server) wait() int {
	select {
	case <-s.exited:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(readyWithin):
		s.t.Fatalf("still running after %v:\n%s", readyWithin, s.logs())
		return -1
	}
}

func (s *server) dsn(db string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%s)/%s", s.sqlPort, db)
}

// db opens a pool of connections; the test closes it.
func (s *server) db(name string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open("mysql", s.dsn(name))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return db
}

// ctl runs "moka ctl" against the server.
func (s *server) ctl(args ...string) string {
	s.t.Helper()
	out, err := s.tryCtl(args...)
	if err != nil {
		s.t.Fatalf("moka ctl %s: %v\n%s\nserver:\n%s", strings.Join(args, " "), err, out, s.logs())
	}
	return out
}

// tryCtl is for what may be refused.
func (s *server) tryCtl(args ...string) (string, error) {
	out, err := exec.Command(mokaBinary,
		append([]string{"ctl", "--http-addr", s.http}, args...)...).CombinedOutput()
	return string(out), err
}

func mustExec(t testing.TB, db *sql.DB, q string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), q, args...); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func one[T any](t testing.TB, db *sql.DB, q string, args ...any) (v T) {
	t.Helper()
	if err := db.QueryRowContext(context.Background(), q, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return v
}

// eventually polls a condition of another process; it fails the test if it does not come true.
func eventually(t testing.TB, what string, within time.Duration, cond func() bool) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
