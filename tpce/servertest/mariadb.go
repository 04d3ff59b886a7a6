package servertest

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"testing"

	_ "github.com/go-sql-driver/mysql" // database/sql speaks MySQL
)

// MariaDB is a running MariaDB.
type MariaDB struct{ Process }

// URL of a database of the server, in the form the workload takes; the database need not exist.
func (s MariaDB) URL(database string) string { return "mysql://root@" + s.Addr + "/" + database }

// DSN of a database of the server for go-sql-driver/mysql.
func (s MariaDB) DSN(database string) string { return "root@tcp(" + s.Addr + ")/" + database }

// StartMariaDB runs a MariaDB until the test ends.
func StartMariaDB(tb testing.TB) MariaDB {
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
	s := server{
		name: "mariadbd", farewell: syscall.SIGKILL,
		command: func(port string) *exec.Cmd {
			return exec.Command(mariadbd, "--no-defaults", "--datadir="+data, "--user="+me.Username,
				"--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "sock"),
				"--pid-file="+filepath.Join(dir, "pid"), "--innodb-buffer-pool-size=256M",
				"--innodb-log-file-size=64M", "--max-connections=300", "--skip-name-resolve")
		},
		ping: func(ctx context.Context, addr string) error {
			db, err := sql.Open("mysql", MariaDB{Process{Addr: addr}}.DSN(""))
			if err != nil {
				return err
			}
			defer db.Close()
			return db.PingContext(ctx)
		},
	}
	return MariaDB{s.start(tb)}
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
