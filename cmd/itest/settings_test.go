package itest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// misused runs moka in a way that it must refuse as a wrong call: status 2, and a message that says what is
// wrong and what was probably meant.
func misused(t *testing.T, env []string, want []string, args ...string) {
	t.Helper()
	s := launchCommand(t, mokaWith(env, args...))
	if code := s.wait(); code != 2 {
		t.Errorf("%s moka %s: exit status %d, want 2", strings.Join(env, " "), strings.Join(args, " "), code)
	}
	for _, w := range want {
		if !strings.Contains(s.logs(), w) {
			t.Errorf("%s moka %s: the message does not say %q:\n%s", strings.Join(env, " "),
				strings.Join(args, " "), w, s.logs())
		}
	}
}

func mokaWith(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(mokaBinary, args...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// Words and flags that name nothing printed a help text and were a success, which scripts take for done.
func TestWrongWords(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"frobnicate", "frobnicate"},
		{"strat", "did you mean start?"},
		{"ctl frob", `unknown command "frob" for "moka ctl"`},
		{"ctl shard", "did you mean shards?"},
		{"bench nosuch", "moka bench --help"},
		{"tpce nosuch", "moka tpce --help"},
		{"ctl split shop.line", "accepts 2 arg(s), received 1"},
		{"start --shrads 3", "did you mean --shards?"},
		{"bench commit --callers -1", "--callers -1: it cannot be negative"},
		{"tpce load --customers=-5", "--customers -5: it cannot be negative"},
		{"config show nosuch", "nosuch"},
	} {
		misused(t, nil, []string{c.want}, strings.Fields(c.args)...)
	}
}

// Numbers out of their range, addresses and directories that are none were accepted.
func TestWrongValues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, value := range map[string]string{
		"shards": "many", "max-connections": "-5", "observer-runners": "-3", "cache-mib": "99999999",
		"query-memory-mib": "-1", "memory-limit-mib": "1", "gc-retention": "1ms",
		"secure-file-priv": "/nosuch",
		"sql-addr":         "13399", "http-addr": "127.0.0.1:nosuch", "log-level": "loud",
		"log-format": "xml",
		"plan-cache": "maybe", "roles": "storage,chef", "ballast-mib": "-7", "separate-values": "3",
	} {
		misused(t, nil, []string{flag}, "start", "--data", dir+"/d", "--"+flag, value)
	}
	misused(t, nil, []string{"secure-file-priv", "not a directory"}, "start", "--secure-file-priv", file)
	if _, err := os.Stat(dir + "/d"); err == nil {
		t.Error("a wrong call made the directory of the data")
	}
}

// Misspelt variables and sections were ignored, lists refused, and the server's variables were those of other
// commands.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "moka.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	misused(t, []string{"MOKA_SQL_ADR=127.0.0.1:1"}, []string{"did you mean MOKA_SQL_ADDR?"}, "start")
	for text, want := range map[string]string{
		"[start]\nshrads = 3\n":                "start.shrads; did you mean shards?",
		"shrads = 3\n":                         "shrads; did you mean shards?",
		"[sql]\naddr = ':1'\n":                 "sql.addr",
		"[storage]\naddr = ':1'\n":             "[storage]",
		"[strat]\nshards = 1\n":                "[strat]; did you mean start?",
		"shards = [1, 2]\n":                    "a list is given",
		"[bench.commit]\ncallers = 'lots'\n":   "callers",
		"roles = ['storage', 'cook']\n":        "cook",
		"[start]\nmax-connections = 1000000\n": "max-connections",
		"[start\n":                             file,
	} {
		write(text)
		misused(t, nil, []string{want}, "config", "check", "--config", file)
	}
	misused(t, []string{"MOKA_CONFIG=" + file + ".not"}, []string{"does not exist"}, "start")

	write("shards = 2\nroles = ['storage', 'sql']\n[start]\ncache-mib = 64\n[bench.commit]\ncallers = 3\n")
	show := func(env []string, args ...string) string {
		t.Helper()
		args = append([]string{"config", "show", "--config", file}, args...)
		out, err := mokaWith(env, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("moka %v: %v\n%s", args, err, out)
		}
		return strings.Join(strings.Fields(string(out)), " ")
	}
	env := []string{"MOKA_DATA=" + dir, "MOKA_CACHE_MIB=32", "MOKA_HTTP_ADDR=127.0.0.1:81"}
	expect(t, show(env), "data "+dir+" MOKA_DATA the environment variable", "cache-mib 32 MOKA_CACHE_MIB",
		"shards 2 MOKA_SHARDS "+file, "roles [storage,sql] MOKA_ROLES "+file,
		"sql-addr 127.0.0.1:3306 MOKA_SQL_ADDR default")
	expect(t, show(env, "bench", "commit"), "data MOKA_BENCH_COMMIT_DATA default",
		"callers 3 MOKA_BENCH_COMMIT_CALLERS "+file)
	// It asks the server that these settings would start.
	expect(t, show(env, "ctl", "shards"),
		"http-addr 127.0.0.1:81 MOKA_CTL_HTTP_ADDR the environment variable")
}

func TestVersion(t *testing.T) {
	out, err := mokaWith(nil, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "moka ") || !strings.Contains(string(out), "go1.") {
		t.Errorf("moka version: %v\n%s", err, out)
	}
}

// Keys of rows and observers were numbers and hexadecimals.
func TestControlsSpeakSQL(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, "--sql-socket", filepath.Join(dir, "s.sock"))
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE shop")
	mustExec(t, db, "CREATE TABLE shop.line (o INT, item VARCHAR(9) COLLATE utf8mb4_bin, "+
		"PRIMARY KEY (o, item))")
	mustExec(t, db, "CREATE TABLE shop.gone (o INT)")
	mustExec(t, db, "CREATE OBSERVER shop.watch AFTER INSERT ON shop.line FOR EACH ROW "+
		"WITH (attempts = 1) INSERT INTO shop.gone VALUES ('no number')")
	s.ctl("split", "shop.line", "1,x")
	mustExec(t, db, "INSERT INTO shop.line VALUES (1, 'x')")
	expect(t, s.ctl("tablets"), "shop.line(1, 'x')", "begins at")
	eventually(t, "the observer's run is parked", 30*time.Second, func() bool {
		return one[int](t, db, "SELECT parked FROM moka.observer_backlog") == 1
	})
	expect(t, s.ctl("observers"), "shop.watch")
	for what, want := range map[string]string{
		"@@datadir": dir, "@@socket": filepath.Join(dir, "s.sock"),
		"MAX(begins) FROM moka.tablets WHERE begins LIKE 'shop%'": "shop.line(1, 'x')",
		"row_key FROM moka.observer_errors":                       "o=1, item=x",
		"attempts FROM moka.observers":                            "1",
	} {
		if got := one[string](t, db, "SELECT "+what); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
}

// The greeting named an address that no client can ask for, and the log of a first start was about repairs.
func TestGreeting(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, "--sql-addr", ":0", "--http-addr", "0.0.0.0:0", "--shards", "2")
	expect(t, s.logs(), "mariadb -h 127.0.0.1 -P", "http://127.0.0.1:", "every commit is synced")
	if log := s.logs(); strings.Contains(log, "repaired") || strings.Contains(log, "WARN") {
		t.Errorf("noise at a first start:\n%s", log)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir, "--shards", "1")
	expect(t, s.logs(), "this directory keeps those that it has")
}
