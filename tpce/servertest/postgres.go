package servertest

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgreSQL is a running PostgreSQL; its PID is the postmaster's.
type PostgreSQL struct{ Process }

// URL of a database of the server, in the form the workload takes; the database need not exist.
func (s PostgreSQL) URL(database string) string {
	return "postgres://postgres@" + s.Addr + "/" + database
}

// StartPostgreSQL runs a PostgreSQL until the test ends. It refuses to run as root: a test of root's runs it
// as the user postgres, or nobody.
func StartPostgreSQL(tb testing.TB) PostgreSQL {
	tb.Helper()
	bin := binaries(tb)
	who := unprivileged(tb)
	// Not in the test's own directory, which nobody but its user may enter.
	dir, err := os.MkdirTemp("", "postgres-")
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
	initdb := as(who, dir, exec.Command(filepath.Join(bin, "initdb"),
		"-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-locale", "-N"))
	if out, err := initdb.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	s := server{
		name: "postgres", farewell: syscall.SIGQUIT,
		command: func(port string) *exec.Cmd {
			return as(who, dir, exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", port,
				"-k", dir,
				"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "shared_buffers=128MB",
				"-c", "fsync=off"))
		},
		ping: func(ctx context.Context, addr string) error {
			c, err := pgx.Connect(ctx, PostgreSQL{Process{Addr: addr}}.URL("postgres"))
			if err != nil {
				return err
			}
			return c.Close(ctx)
		},
	}
	return PostgreSQL{s.start(tb)}
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return cmd
}
