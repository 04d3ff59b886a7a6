package sqlfront_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"moka/sqlfront"
)

func TestStatementsAreAccountedFor(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "CREATE DATABASE shop", "USE shop", "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20), n INT, KEY (n))",
		"INSERT INTO item VALUES (1,'a',1),(2,'b',2),(3,'c',3)", "INSERT INTO item VALUES (4,'d',4)")
	for _, id := range []string{"1", "2", "3", "9"} { // the plan cache answers some of them
		_ = text(t, c, "SELECT name FROM item WHERE id = "+id)
		_ = text(t, c, "SELECT name FROM item WHERE id = ?", id)
	}
	_ = text(t, c, "SELECT COUNT(*), SUM(n) FROM item WHERE n > 1 AND name <> 'x'")
	run(t, c, "UPDATE item SET n = n + 1 WHERE id IN (1, 2)", "SELECT 1")
	for range 2 {
		if _, err := c.ExecContext(context.Background(), "INSERT INTO item VALUES (1,'x',1)"); err == nil {
			t.Fatal("no error")
		}
	}
	// Read are rows and entries of indexes: the sum takes three of each.
	const of = "SELECT executions, errors, rows_sent, rows_affected, rows_examined, total_ms > 0, min_ms <= avg_ms AND avg_ms <= max_ms, first_seen <= last_seen, LENGTH(digest) FROM moka.statements_summary "
	for where, want := range map[string]string{
		"WHERE digest_text = 'SELECT name FROM item WHERE id = ?'":                                         "8 0 6 0 6 1 1 1 64",
		"WHERE digest_text LIKE 'INSERT INTO item VALUES (...)'":                                           "4 2 0 4 0 1 1 1 64",
		"WHERE digest_text LIKE 'SELECT COUNT(*), SUM(n) FROM item%'":                                      "1 0 1 0 6 1 1 1 64",
		"WHERE digest_text = 'UPDATE item SET n = n + ? WHERE id IN (...)'":                                "1 0 0 2 2 1 1 1 64",
		"WHERE digest_text = 'SELECT ?' AND schema_name = 'shop'":                                          "1 0 1 0 0 1 1 1 64",
		"WHERE digest_text LIKE 'CREATE TABLE item%' AND sample LIKE 'CREATE TABLE item (id INT PRIMARY%'": "1 0 0 0 0 1 1 1 64",
	} {
		if got := text(t, c, of+where); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT SCHEMA_NAME, COUNT_STAR, SUM_ROWS_SENT, SUM_TIMER_WAIT >= 8 * MIN_TIMER_WAIT, QUANTILE_95 <= MAX_TIMER_WAIT FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT = 'SELECT name FROM item WHERE id = ?'": "shop 8 6 1 1",
		"SELECT variable_value > 0 FROM performance_schema.global_status WHERE variable_name = 'Threads_connected'":                                                                                                                               "1",
		"SELECT variable_value FROM performance_schema.session_variables WHERE variable_name = 'autocommit'":                                                                                                                                      "ON",
		"SELECT variable_value FROM performance_schema.global_variables WHERE variable_name = 'slow_query_log'":                                                                                                                                   "OFF",
		"SELECT COUNT(*) FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID() AND processlist_info LIKE 'SELECT COUNT%'":                                                                                                        "1",
		"SELECT user, db, command FROM performance_schema.processlist WHERE id = CONNECTION_ID()":                                                                                                                                                 "root shop Query",
		"SELECT COUNT(*) > 0 FROM performance_schema.session_status WHERE variable_name LIKE 'Com_select'":                                                                                                                                        "1",
	} {
		if got := text(t, c, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestSlowLog(t *testing.T) {
	dir := t.TempDir()
	s := newDatabase(t).serve(func(o *sqlfront.Options) { o.LogDir = dir })
	c := s.conn("")
	defer run(t, c, "SET GLOBAL slow_query_log = 0", "SET GLOBAL slow_query_log_file = 'moka-slow.log'") // one set of variables for the process
	run(t, c, "CREATE DATABASE shop", "USE shop", "CREATE TABLE item (id INT PRIMARY KEY, n INT)", "INSERT INTO item VALUES (1,1),(2,2),(3,3)",
		"SET GLOBAL slow_query_log_file = 'test-slow.log'", "SET long_query_time = 0")
	_ = text(t, c, "SELECT 'not yet' FROM item")
	run(t, c, "SET GLOBAL slow_query_log = 1")
	for _, id := range []string{"1", "2", "3"} {
		_ = text(t, c, "SELECT n FROM item WHERE id = "+id)
	}
	_ = text(t, c, "SELECT SUM(n) FROM item WHERE n > ? + 0", 1)
	run(t, c, "SET long_query_time = 100")
	_ = text(t, c, "SELECT 'too fast' FROM item")
	file := filepath.Join(dir, "test-slow.log")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	log := string(b)
	entry := regexp.MustCompile(`(?m)^# Time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z
# User@Host: root\[root\] @ localhost \[\]  Id: +\d+
# Query_time: 0\.\d{6}  Lock_time: 0\.0{6} Rows_sent: 1  Rows_examined: (\d)
use shop;
SET timestamp=\d+;
SELECT (n FROM item WHERE id = \d|SUM\(n\) FROM item WHERE n > \? \+ 0);$`)
	found := entry.FindAllStringSubmatch(log, -1)
	if len(found) != 4 || found[0][1] != "1" || found[3][1] != "3" || strings.Contains(log, "not yet") || strings.Contains(log, "too fast") {
		t.Fatalf("%d entries in\n%s", len(found), log)
	}
	// The tool that people read it with counts the three point selects as one.
	tool, err := exec.LookPath("mysqldumpslow")
	if err != nil {
		t.Fatal("mysqldumpslow not found: install the Debian package mariadb-server (apt-get install mariadb-server)")
	}
	// The tool of this machine is MariaDB's, which knows the time in MariaDB's form, and does without.
	copied := filepath.Join(dir, "copy.log")
	if err := os.WriteFile(copied, regexp.MustCompile(`(?m)^# Time: .*\n`).ReplaceAll(b, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-s", "c", copied).CombinedOutput()
	if err != nil || !regexp.MustCompile(`Count: 3  Time=0\.\d+s \(0s\).*root\[root\]@localhost\n\s+SELECT n FROM item WHERE id = N`).Match(out) {
		t.Errorf("mysqldumpslow: %v\n%s", err, out)
	}
	// FLUSH SLOW LOGS lets go of a file that was renamed.
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	run(t, c, "FLUSH SLOW LOGS", "SET long_query_time = 0")
	_ = text(t, c, "SELECT 'after' FROM item")
	if b, err = os.ReadFile(file); err != nil || !strings.Contains(string(b), "SELECT 'after' FROM item;") || strings.Contains(string(b), "WHERE id") {
		t.Errorf("after the rotation: %v\n%s", err, b)
	}
	for _, name := range []string{"/tmp/x.log", "../x.log", ""} {
		if _, err := c.ExecContext(context.Background(), "SET GLOBAL slow_query_log_file = '"+name+"'"); err == nil || !strings.Contains(err.Error(), "1231") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := text(t, c, "SELECT @@slow_query_log_file"); got != "test-slow.log" {
		t.Errorf("the refused name is in force: %s", got)
	}
}

func TestEngineStatusShowsLocksAndDeadlock(t *testing.T) {
	s := newDatabase(t).serve()
	a := s.conn("")
	run(t, a, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0)")
	b := s.conn("d")
	run(t, a, "BEGIN", "UPDATE t SET v = 1 WHERE id = 1")
	status := func() string {
		rows, err := s.conn("d").QueryContext(context.Background(), "SHOW ENGINE INNODB STATUS")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var typ, name, text string
		if !rows.Next() {
			t.Fatal("no row")
		}
		if err := rows.Scan(&typ, &name, &text); err != nil || typ != "InnoDB" {
			t.Fatal(typ, err)
		}
		return text
	}
	if got := status(); !strings.Contains(got, "RECORD LOCK X held index PRIMARY of table `d`.`t`") || strings.Contains(got, "LATEST DETECTED DEADLOCK") {
		t.Error(got)
	}
	run(t, b, "BEGIN", "UPDATE t SET v = 2 WHERE id = 2")
	first := make(chan error, 1)
	go func() {
		_, err := a.ExecContext(context.Background(), "UPDATE t SET v = 1 WHERE id = 2")
		first <- err
	}()
	_, err := b.ExecContext(context.Background(), "UPDATE t SET v = 2 WHERE id = 1")
	if other := <-first; (err == nil) == (other == nil) {
		t.Fatalf("%v, %v: one of them should have been a victim", err, other)
	}
	if got := status(); !strings.Contains(got, "LATEST DETECTED DEADLOCK") || !strings.Contains(got, "WE ROLL BACK TRANSACTION") || !strings.Contains(got, "UPDATE t SET v = ") {
		t.Error(got)
	}
	run(t, a, "ROLLBACK")
	run(t, b, "ROLLBACK")
}
