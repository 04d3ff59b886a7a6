package itest

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	limitRows = flag.Int("observers.rows", soaked(3000, 100_000), "rows of the tables that are scanned")
	limitLong = flag.Int("observers.backlog", soaked(5000, 1_000_000), "notifications that wait at a time")
	limitDrop = flag.Int("observers.drop", soaked(3000, 300_000), "pending when the observer is dropped")
)

// TestObserverLimits measures what many rows and a long backlog cost: scans of a live observed table beside
// one that nobody observes, and of one that is empty again; memory and time for a backlog; DROP OBSERVER in
// front of one. It asserts what comes out, and logs the figures.
//
//	go test ./cmd/itest -run TestObserverLimits -v -observers.rows=100000 -observers.backlog=1000000
func TestObserverLimits(t *testing.T) {
	s := start(t, t.TempDir(), "--gc-retention", "1s")
	root := s.db("")
	mustExec(t, root, "CREATE DATABASE d")
	db := s.db("d")
	for _, q := range []string{"CREATE TABLE plain (id INT PRIMARY KEY, a INT, b VARCHAR(20))",
		"CREATE TABLE seen LIKE plain", "CREATE TABLE backlog LIKE plain",
		"CREATE TABLE copied (id INT PRIMARY KEY, a INT)",
		"CREATE OBSERVER o AFTER INSERT OR UPDATE OR DELETE ON seen FOR EACH ROW BEGIN END",
		"CREATE OBSERVER copy AFTER INSERT ON backlog FOR EACH ROW INSERT INTO copied VALUES (NEW.id, NEW.a)",
		"ALTER OBSERVER copy PAUSE"} {
		mustExec(t, db, q)
	}
	fill(t, db, "plain", 0, *limitRows)
	fill(t, db, "seen", 0, *limitRows)
	mustExec(t, db, "WAIT FOR OBSERVERS o TIMEOUT 500")
	for _, table := range []string{"plain", "seen"} {
		took, examined := scanned(t, db, table)
		t.Logf("%s: %d rows, a scan takes %v and examines %d", table, *limitRows, took, examined)
	}
	for range *limitRows/10_000 + 1 {
		mustExec(t, db, "DELETE FROM seen LIMIT 10000")
	}
	mustExec(t, db, "WAIT FOR OBSERVERS o TIMEOUT 500")
	took, examined := scanned(t, db, "seen")
	t.Logf("emptied: a scan takes %v and examines %d", took, examined)

	before := s.resident()
	began := time.Now()
	fill(t, db, "backlog", 0, *limitLong)
	t.Logf("%d rows written in %v", *limitLong, time.Since(began).Round(time.Millisecond))
	waits := "SELECT waiting FROM moka.observer_backlog WHERE observer_name = 'copy'"
	if n := one[int](t, db, waits); n != *limitLong {
		t.Errorf("%d wait, want %d", n, *limitLong)
	}
	t.Logf("memory: %d MiB before, %d MiB with %d waiting", before>>20, s.resident()>>20, *limitLong)
	cpu := s.processor(t)
	began = time.Now()
	mustExec(t, db, "ALTER OBSERVER copy RESUME")
	mustExec(t, db, "WAIT FOR OBSERVERS copy TIMEOUT 3000")
	lasted, spent := time.Since(began), s.processor(t)-cpu
	t.Logf("run for in %v: %.0f/s, and %.0f for each second of processor; memory %d MiB",
		lasted.Round(time.Millisecond), float64(*limitLong)/lasted.Seconds(),
		float64(*limitLong)/max(spent.Seconds(), 0.01), s.resident()>>20)
	if n := one[int](t, db, "SELECT COUNT(*) FROM copied"); n != *limitLong {
		t.Errorf("%d effects of %d changes", n, *limitLong)
	}

	mustExec(t, db, "ALTER OBSERVER copy PAUSE")
	fill(t, db, "backlog", *limitLong, *limitDrop)
	began = time.Now()
	mustExec(t, db, "DROP OBSERVER copy")
	t.Logf("DROP OBSERVER in front of %d pending: %v", *limitDrop, time.Since(began).Round(time.Millisecond))
	if n := one[int](t, db, "SELECT COUNT(*) FROM moka.observers WHERE observer_name = 'copy'"); n != 0 {
		t.Error("it is there")
	}
}

// fill writes n rows from a number on.
func fill(t *testing.T, db *sql.DB, table string, from, n int) {
	t.Helper()
	const each = 1000
	for at := from; at < from+n; at += each {
		rows := make([]string, 0, each)
		for id := at; id < min(at+each, from+n); id++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, 'some text')", id, id%10))
		}
		mustExec(t, db, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
	}
}

var examines = regexp.MustCompile(`examined=(\d+)`)

// scanned is the least time of some scans, and what one looks at.
func scanned(t *testing.T, db *sql.DB, table string) (least time.Duration, examined int) {
	t.Helper()
	for i := range 9 {
		began := time.Now()
		one[sql.NullInt64](t, db, "SELECT SUM(a) FROM "+table)
		if took := time.Since(began); i == 0 || took < least {
			least = took
		}
	}
	rows, err := db.Query("EXPLAIN ANALYZE SELECT SUM(a) FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		if m := examines.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			examined += n
		}
	}
	return least, examined
}

// resident is what the process has in memory, in bytes.
func (s *server) resident() int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// processor is what the process has had of processors.
func (s *server) processor(t *testing.T) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // of Linux
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}
