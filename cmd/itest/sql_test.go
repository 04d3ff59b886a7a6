package itest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// client runs "moka sql" with what is on its standard input.
func (s *server) client(in string, args ...string) (out, errs string, code int) {
	s.t.Helper()
	cmd := exec.Command(mokaBinary,
		append([]string{"sql", "--sql-addr", "127.0.0.1:" + s.sqlPort}, args...)...)
	var o, e strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &o, &e
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// There was no client on a machine without MySQL's.
func TestSQLClient(t *testing.T) {
	s := start(t, t.TempDir())
	schema := `CREATE DATABASE shop; USE shop;
CREATE TABLE line (o INT, item VARCHAR(20), n DECIMAL(6,2), PRIMARY KEY (o, item)); -- lines; of orders
INSERT INTO line VALUES (1, 'it''s; fine', 1.5),
	(2, NULL + '', 2);`
	if out, errs, code := s.client(schema); code != 1 || out != "" ||
		!strings.Contains(errs, "ERROR 1048 (23000) at line 3") {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "rows.sql")
	rows := "delimiter //\nINSERT INTO line VALUES (1, 'it''s; fine', 1.5), (2, 'b', NULL)//\n" +
		"SELECT COUNT(*) FROM line\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.client("", "shop", "--file", file); code != 0 || out != "COUNT(*)\n2\n" {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	const query = "SELECT * FROM line ORDER BY o; SELECT 1 WHERE 0"
	for format, want := range map[string]string{
		"auto": "o\titem\tn\n1\tit's; fine\t1.50\n2\tb\tNULL\n1\n",
		"csv":  "o,item,n\n1,it's; fine,1.50\n2,b,\n1\n",
		"json": "[\n" + `{"o": 1, "item": "it's; fine", "n": 1.50},` + "\n" +
			`{"o": 2, "item": "b", "n": null}` + "\n]\n[]\n",
		"table": "+---+------------+------+\n| o | item       | n    |\n+---+------------+------+\n" +
			"| 1 | it's; fine | 1.50 |\n| 2 | b          | NULL |\n+---+------------+------+\n",
	} {
		out, errs, code := s.client("", "shop", "-e", query, "--format", format)
		if code != 0 || out != want {
			t.Errorf("%s: %d\n%s\n%s, want\n%s", format, code, out, errs, want)
		}
	}
	if out, _, _ := s.client("", "-e", `SELECT 5 AS x\G`); !strings.HasSuffix(out, "* 1. row "+
		strings.Repeat("*", 27)+"\nx: 5\n") {
		t.Errorf("%s", out)
	}
	if out, errs, code := s.client("", "--force", "-e", "SELEC 1", "-e", "SELECT 2"); code != 1 ||
		out != "2\n2\n" || !strings.Contains(errs, "ERROR 1064 (42000) at line 1") {
		t.Errorf("--force: %d\n%s\n%s", code, out, errs)
	}
	if _, errs, code := s.client("SELECT 'a"); code != 1 || !strings.Contains(errs, "ends within '") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := s.client("", "--user", "nobody", "-e", "DO 1"); code != 1 ||
		!strings.Contains(errs, "1045") {
		t.Errorf("%d %s", code, errs)
	}
	mustExec(t, s.db(""), "CREATE USER reader IDENTIFIED BY 'pass word'")
	env := []string{"MOKA_SQL_PASSWORD=pass word", "MOKA_SQL_ADDR=127.0.0.1:" + s.sqlPort}
	cmd := mokaWith(env, "sql", "-u", "reader", "--tls", "required", "-e", "SELECT CURRENT_USER()")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "reader@%") {
		t.Errorf("with a password, at the server's address of the environment: %v\n%s", err, out)
	}
	misused(t, nil, []string{"--format"}, "sql", "--format", "xml")
	misused(t, nil, []string{"--tls"}, "sql", "--tls", "maybe")
}

// A long result is neither kept in memory nor does a broken pipe hang the client.
func TestSQLClientIntoNothing(t *testing.T) {
	s := start(t, t.TempDir())
	cmd := exec.Command("/bin/sh", "-c", `"$0" sql --sql-addr 127.0.0.1:"$1" --format table `+
		`-e "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 900) `+
		`SELECT a.n FROM r a, r b" | head -n 4`,
		mokaBinary, s.sqlPort)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "+---") || strings.Count(string(out), "\n") > 6 {
		t.Errorf("%v after %v:\n%.2000s", err, time.Since(began), out)
	}
}
