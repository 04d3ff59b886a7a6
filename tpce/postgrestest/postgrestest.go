// Package postgrestest starts a private PostgreSQL server for one test: its own data directory, its own port,
// no network beyond loopback, gone when the test ends. PostgreSQL refuses to run as root: a test of root's
// runs it as the user postgres, or nobody.
package postgrestest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL.
type Server struct {
	Addr string // host:port
	PID  int    // of the postmaster
}

// URL of a database of the server, in the form the workload takes; the database need not exist.
func (s Server) URL(database string) string { return "postgres://postgres@" + s.Addr + "/" + database }

// Start runs a server until the test ends. A missing PostgreSQL fails the test: what it would
// have shown is not shown.
func Start(tb testing.TB) Server {
	tb.Helper()
	bin := binaries(tb)
	who := unprivileged(tb)
	// Not in the test's own directory, which nobody but its user may enter.
	dir, err := os.MkdirTemp("", "postgrestest-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	out, err := as(who, dir, exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres",
		"--auth=trust", "-E", "UTF8", "--no-locale", "-N")).CombinedOutput()
	if err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	// Another process may take the free port between our looking and the server's binding: try another then.
	for range 5 {
		if s, ok := launch(tb, bin, dir, data, who, freePort(tb)); ok {
			return s
		}
	}
	tb.Fatal("postgres did not start on five ports")
	return Server{}
}

// binaries is the directory with initdb and postgres; Debian keeps them off the path, by version.
func binaries(tb testing.TB) string {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well-formed
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	tb.Fatal("initdb not found: install the Debian package postgresql-15 (apt-get install postgresql-15)")
	return ""
}

// unprivileged is whom the server runs as; nil for the test's own user.
func unprivileged(tb testing.TB) *syscall.Credential {
	tb.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		tb.Fatal(err)
	}
	uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
	if uerr != nil || gerr != nil {
		tb.Fatalf("user %s has the ids %s and %s", u.Username, u.Uid, u.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func as(who *syscall.Credential, dir string, cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = dir
	// The server must not outlive a test binary that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGKILL}
	return cmd
}

func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func launch(tb testing.TB, bin, dir, data string, who *syscall.Credential, port int) (Server, bool) {
	tb.Helper()
	var log bytes.Buffer
	cmd := as(who, dir, exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-k", dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "shared_buffers=128MB", "-c",
		"fsync=off"))
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	s := Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), PID: cmd.Process.Pid}
	if err := waitReady(s, exited); err != nil {
		tb.Logf("postgres on port %d: %v\n%s", port, err, log.String())
		_ = cmd.Process.Kill()
		return Server{}, false
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // at once: its data is about to be deleted
		<-exited
	})
	return s, true
}

// waitReady polls until the server answers; a server has no event to wait for.
func waitReady(s Server, exited <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-tick.C:
		case werr := <-exited:
			return fmt.Errorf("it exited: %v", werr)
		case <-ctx.Done():
			return fmt.Errorf("no answer within a minute: %w", err)
		}
	}
}
