package itest

import (
	"database/sql"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// stranger is a user of the operating system who has nothing to do with the server.
const stranger = 54321

// asStranger runs a client of MariaDB's as another user of the operating system.
func asStranger(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("mariadb", append([]string{"--no-defaults"}, args...)...)
	beStranger(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestStrangerIsNotRoot is S7 with the ordinary client: root without a password is whoever started the
// server, and no other user of the machine, until root has one. Only root can be somebody else, so it is
// skipped for others: TestRootWithoutPassword of sqlfront/conn decides the same with a peer that is made up,
// and kv/peercred with tables of sockets as the kernel has them.
func TestStrangerIsNotRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a client as another user")
	}
	s := start(t, t.TempDir())
	for _, host := range []string{"127.0.0.1", "localhost"} {
		args := []string{"-h", host, "--protocol=tcp", "-P", s.sqlPort, "-u", "root", "-e",
			"SELECT CURRENT_USER()"}
		out, err := asStranger(t, args...)
		if err == nil || !strings.Contains(out, "ERROR 1698 (28000)") ||
			!strings.Contains(out, "ALTER USER root@localhost IDENTIFIED BY") {
			t.Errorf("another user at %s: %v\n%s", host, err, out)
		}
		expect(t, command(t, nil, nil, "mariadb", append([]string{"--no-defaults"}, args...)...),
			"root@localhost")
	}
	mustExec(t, s.db(""), "ALTER USER root@localhost IDENTIFIED BY 'secret'")
	out, err := asStranger(t, "-h", "127.0.0.1", "-P", s.sqlPort, "-u", "root", "-psecret", "-e",
		"SELECT CURRENT_USER()")
	if err != nil {
		t.Errorf("with the password: %v\n%s", err, out)
	}
}

// TestFilesAreTheOwners is S6: nobody but the user who runs the server may read what it writes, or what
// an older release left.
func TestFilesAreTheOwners(t *testing.T) {
	dir := t.TempDir()
	everybody := func(want bool) {
		t.Helper()
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the server removes files while it runs
			}
			if err != nil {
				return err
			}
			st, err := d.Info()
			if err != nil {
				return nil
			}
			files++
			if !want && st.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v", path, st.Mode())
			}
			if want {
				return os.Chmod(path, st.Mode().Perm()|(st.Mode().Perm()&0o700)>>3|(st.Mode().Perm()&0o700)>>6)
			}
			return nil
		})
		if err != nil || files < 5 {
			t.Fatalf("%d files, %v", files, err)
		}
	}
	write := func() {
		t.Helper()
		s := start(t, dir)
		db := s.db("")
		mustExec(t, db, "CREATE DATABASE IF NOT EXISTS d")
		mustExec(t, db, "CREATE TABLE IF NOT EXISTS d.t (id INT PRIMARY KEY AUTO_INCREMENT, v TEXT)")
		mustExec(t, db, "SET GLOBAL slow_query_log = 1")
		mustExec(t, db, "SET GLOBAL long_query_time = 0")
		mustExec(t, s.db("d"), "INSERT INTO t (v) VALUES (REPEAT('x', 10000))")
		everybody(false)
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		everybody(false)
	}
	write()
	everybody(true) // as an older release leaves them
	write()
}

// ask sends a request to a server's HTTP address and returns the status.
func ask(t *testing.T, s *server, method, path, host string, header ...string) int {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+s.http+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestHTTPDoors is S11: what steers the server, or looks into its memory, wants the token in the
// directory of the data; requests under another name or from pages of other sites are refused; "moka ctl"
// finds the token by itself.
func TestHTTPDoors(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, "--http-hosts", "db.example")
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY)")
	mustExec(t, db, "INSERT INTO d.t VALUES (1), (2), (3)")
	raw, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	bearer := "Bearer " + strings.TrimSpace(string(raw))
	split := "/ctl/split?arg=d.t&arg=2"
	_, port, _ := net.SplitHostPort(s.http)
	for _, x := range []struct {
		what         string
		status       int
		method, path string
		host         string
		header       []string
	}{
		{"status", 200, "GET", "/status", "", nil},
		{"health by a name that was given", 200, "GET", "/healthz", "db.example:8090", nil},
		{"localhost", 200, "GET", "/healthz", "localhost:" + port, nil},
		{"DNS rebinding", 403, "GET", "/status", "evil.example:" + port, nil},
		{"DNS rebinding with the token", 403, "POST", split, "evil.example",
			[]string{"Authorization", bearer}},
		{"another site's page", 403, "GET", "/status", "", []string{"Origin", "http://evil.example"}},
		{"another site's form", 403, "POST", split, "",
			[]string{"Origin", "http://evil.example", "Authorization", bearer}},
		{"another site, as browsers say", 403, "POST", split, "",
			[]string{"Sec-Fetch-Site", "cross-site", "Authorization", bearer}},
		{"split without a token", 401, "POST", split, "", nil},
		{"split with another", 401, "POST", split, "", []string{"Authorization", "Bearer x"}},
		{"split with none", 401, "POST", split, "", []string{"Authorization", "Bearer "}},
		{"tablets without a token, as their ends are keys of rows", 401, "GET", "/ctl/tablets", "", nil},
		{"locks without a token", 401, "GET", "/ctl/locks", "", nil},
		{"tablets", 200, "GET", "/ctl/tablets", "", []string{"Authorization", bearer}},
		{"observers without a token, as they have names", 401, "GET", "/ctl/observers", "", nil},
		{"reading as if it were changing", 404, "POST", "/ctl/tablets", "",
			[]string{"Authorization", bearer}},
		{"pprof without a token", 401, "GET", "/debug/pprof/heap", "", nil},
		{"pprof", 200, "GET", "/debug/pprof/heap", "", []string{"Authorization", bearer}},
		{"command line without a token", 401, "GET", "/debug/pprof/cmdline", "", nil},
	} {
		if got := ask(t, s, x.method, x.path, x.host, x.header...); got != x.status {
			t.Errorf("%s: %d, want %d", x.what, got, x.status)
		}
	}
	s.ctl("split", "d.t", "2") // finds the token where the server says
	if out := s.ctl("tablets"); !strings.Contains(out, "d.t(2)") {
		t.Errorf("moka ctl tablets: %s", out)
	}
	if out := s.ctl("status"); strings.Contains(out, "d.t") || !strings.Contains(out, "tablet") {
		t.Errorf("moka ctl status, which everybody may ask: %s", out)
	}
	s.ctl("--data", dir, "merge", "d.t", "1")
	if os.Geteuid() != 0 {
		return // only root can be somebody else
	}
	cmd := exec.Command(strangersCopy(t), "ctl", "--http-addr", s.http, "split", "d.t", "2")
	beStranger(cmd)
	if out, err := cmd.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "only the user who runs the server may steer it") {
		t.Errorf("another user steers: %v\n%s", err, out)
	}
}

// beStranger has a command run as another user of the operating system.
func beStranger(cmd *exec.Cmd) {
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "HOME=/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
}

// strangersCopy is the binary where another user may run it.
func strangersCopy(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "moka-stranger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(mokaBinary)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "moka")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(copied, b, 0o755),
		os.Chmod(copied, 0o755)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// TestNodeDoors is S3: without certificates only the same user of the same machine joins, and is joined; with
// them, who has one of the cluster's; beyond the machine nobody without, unless --insecure says so, aloud.
func TestNodeDoors(t *testing.T) {
	ports := []string{"--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"}
	refuses(t, []string{"loopback", "moka cert", "--insecure"},
		append([]string{"start", "--memory", "--node-addr", "0.0.0.0:0"}, ports...)...)
	refuses(t, []string{"--cert-dir", "--insecure"},
		append([]string{"start", "--roles", "sql", "--join", "192.0.2.1:7000"}, ports...)...)

	certs := t.TempDir()
	at := func(name string) string { return filepath.Join(certs, name) }
	command(t, nil, nil, mokaBinary, "cert", "create-ca", "--cert-dir", at("ca"))
	command(t, nil, nil, mokaBinary, "cert", "create-node", "--ca-dir", at("ca"), "--cert-dir", at("db"),
		"127.0.0.1")
	command(t, nil, nil, mokaBinary, "cert", "create-node", "--ca-dir", at("ca"), "--cert-dir", at("sql"),
		"--role", "sql")
	secure := start(t, t.TempDir(), "--node-addr", "0.0.0.0:0", "--cert-dir", at("db"))
	_, port, _ := net.SplitHostPort(regexp.MustCompile(`--join (\S+)`).FindStringSubmatch(secure.logs())[1])
	joined := launch(t, append([]string{"start", "--roles", "sql", "--join", "127.0.0.1:" + port,
		"--cert-dir", at("sql")}, ports...)...)
	if !joined.waitReady() {
		t.Fatalf("a node with a certificate does not get in:\n%s", joined.logs())
	}
	db := joined.db("")
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY (v))")
	mustExec(t, db, "INSERT INTO d.t VALUES (1, 1)")
	mustExec(t, db, "DROP TABLE d.t")

	loud := start(t, t.TempDir(), "--node-addr", "0.0.0.0:0", "--insecure")
	if n := one[string](t, loud.db(""), "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE "+
		"VARIABLE_NAME = 'Moka_node_insecure'"); n != "1" {
		t.Errorf("Moka_node_insecure is %s", n)
	}
	if log := loud.logs(); !strings.Contains(log, "level=WARN") ||
		!strings.Contains(log, "WARNING --insecure") {
		t.Errorf("--insecure is not loud:\n%s", log)
	}

	// All at once: each waits for as long as a storage may take to start.
	var attempts []*server
	join := func(binary string, as func(*exec.Cmd), args ...string) {
		cmd := exec.Command(binary, append(append([]string{"start", "--roles", "sql"}, args...), ports...)...)
		if as != nil {
			as(cmd)
		}
		attempts = append(attempts, launchCommand(t, cmd))
	}
	join(mokaBinary, nil, "--join", "127.0.0.1:"+port)               // no certificate
	join(mokaBinary, nil, "--join", "127.0.0.1:"+port, "--insecure") // nor a question
	if os.Geteuid() == 0 {
		own := start(t, t.TempDir(), "--node-addr", "127.0.0.1:0")
		copied := strangersCopy(t)
		join(copied, beStranger, "--join", own.nodeAddr())
		join(copied, beStranger, "--join", own.nodeAddr(), "--insecure")
		cmd := exec.Command(copied, append([]string{"start", "--memory", "--node-addr", "127.0.0.1:0"},
			ports...)...)
		beStranger(cmd)
		trap := launchCommand(t, cmd)
		if !trap.waitReady() {
			t.Fatal(trap.logs())
		}
		join(mokaBinary, nil, "--join", trap.nodeAddr()) // a storage that somebody else has put there
	}
	for _, a := range attempts {
		if code := a.wait(); code == 0 || strings.Contains(a.logs(), "is ready") ||
			!strings.Contains(a.logs(), "no storage node answers") {
			t.Errorf("%v: exit status %d:\n%s", a.cmd.Args, code, a.logs())
		}
	}
}

// TestClientTLS: a server has a certificate without being given one, and --require-secure-transport means it.
func TestClientTLS(t *testing.T) {
	s := start(t, t.TempDir(), "--require-secure-transport")
	if _, err := s.db("").Exec("DO 1"); err == nil || !strings.Contains(err.Error(), "3159") {
		t.Errorf("in the clear: %v, want 3159", err)
	}
	db, err := sql.Open("mysql", s.dsn("")+"?tls=skip-verify")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustExec(t, db, "DO 1")
}
