// Package mariadbtest starts a private MariaDB server for one test: its own data directory, its own port, no
// network beyond loopback, gone when the test ends.
package mariadbtest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // database/sql speaks MySQL
)

// Server is a running MariaDB.
type Server struct {
	Addr string // host:port
	PID  int
}

// URL of a database of the server, in the form the workload takes; the database need not exist.
func (s Server) URL(database string) string { return "mysql://root@" + s.Addr + "/" + database }

// DSN of a database of the server for go-sql-driver/mysql.
func (s Server) DSN(database string) string { return "root@tcp(" + s.Addr + ")/" + database }

// Start runs a server until the test ends. A missing MariaDB fails the test: what it would
// have shown is not shown.
func Start(tb testing.TB) Server {
	tb.Helper()
	mariadbd := find(tb, "mariadbd", "/usr/sbin/mariadbd")
	install := find(tb, "mariadb-install-db", "/usr/bin/mariadb-install-db")
	dir := tb.TempDir()
	data := filepath.Join(dir, "data")
	me, err := user.Current()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := exec.Command(install, "--no-defaults", "--datadir="+data, "--user="+me.Username,
		"--auth-root-authentication-method=normal", "--skip-test-db",
		"--innodb-log-file-size=32M").CombinedOutput()
	if err != nil {
		tb.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	// Another process may take the free port between our looking and the server's binding: try another then.
	for range 5 {
		port := freePort(tb)
		if s, ok := launch(tb, mariadbd, dir, data, me.Username, port); ok {
			return s
		}
	}
	tb.Fatal("mariadbd did not start on five ports")
	return Server{}
}

func find(tb testing.TB, name, usual string) string {
	tb.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if _, err := os.Stat(usual); err == nil {
		return usual
	}
	tb.Fatalf("%s not found: install the Debian package mariadb-server (apt-get install mariadb-server)",
		name)
	return ""
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

func launch(tb testing.TB, mariadbd, dir, data, username string, port int) (Server, bool) {
	tb.Helper()
	var log bytes.Buffer
	cmd := exec.Command(mariadbd, "--no-defaults", "--datadir="+data, "--user="+username,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", port), "--socket="+filepath.Join(dir, "sock"),
		"--pid-file="+filepath.Join(dir, "pid"),
		"--innodb-buffer-pool-size=256M", "--innodb-log-file-size=64M", "--max-connections=300",
		"--skip-name-resolve")
	cmd.Stdout, cmd.Stderr = &log, &log
	// The server must not outlive a test binary that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	s := Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), PID: cmd.Process.Pid}
	if err := waitReady(s, exited); err != nil {
		tb.Logf("mariadbd on port %d: %v\n%s", port, err, log.String())
		_ = cmd.Process.Kill()
		return Server{}, false
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // its data is about to be deleted
		<-exited
	})
	return s, true
}

// waitReady polls until the server answers; a server has no event to wait for.
func waitReady(s Server, exited <-chan error) error {
	db, err := sql.Open("mysql", s.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.Ping(); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case werr := <-exited:
			return fmt.Errorf("it exited: %v", werr)
		case <-deadline.C:
			return fmt.Errorf("no answer within a minute: %w", err)
		}
	}
}
