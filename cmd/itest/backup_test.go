package itest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// moka runs a command to its end.
func moka(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	b, err := exec.Command(mokaBinary, args...).CombinedOutput()
	return string(b), err
}

func mustMoka(t *testing.T, args ...string) string {
	t.Helper()
	out, err := moka(t, args...)
	if err != nil {
		t.Fatalf("moka %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// backedUp is a database whose invariants can be asked of any moment of it: accounts have a sum, and an
// observer adds up what it has seen them change by, so that a change that it sees twice, or never, is one
// too many or too few.
var backedUp = []string{
	"CREATE DATABASE bank",
	"CREATE TABLE bank.account (id INT PRIMARY KEY, v BIGINT NOT NULL, name VARCHAR(20), KEY (name))",
	"CREATE TABLE bank.seen (id INT PRIMARY KEY, v BIGINT NOT NULL)",
	"CREATE TABLE bank.history (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT, b INT)",
	"CREATE VIEW bank.rich AS SELECT * FROM bank.account WHERE v > 1000",
	"CREATE TRIGGER bank.note AFTER INSERT ON bank.history FOR EACH ROW SET @noted = NEW.id",
	"CREATE USER reader IDENTIFIED BY 'secret'",
	"GRANT SELECT ON bank.* TO reader",
	"SET PERSIST max_connections = 321",
	"SET SESSION cte_max_recursion_depth = 10000",
	"INSERT INTO bank.account WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 200) " +
		"SELECT i, 1000, CONCAT('name ', i) FROM n",
	"INSERT INTO bank.seen SELECT id, v FROM bank.account",
	"CREATE OBSERVER bank.watch AFTER UPDATE ON bank.account FOR EACH ROW " +
		"UPDATE bank.seen SET v = v + NEW.v - OLD.v WHERE id = NEW.id",
}

const bankSum = 200 * 1000

// checkBackedUp holds a restored database against the invariants.
func checkBackedUp(t *testing.T, s *server, sum int) {
	t.Helper()
	db := s.db("bank")
	if got := one[int](t, db, "SELECT SUM(v) FROM account"); got != sum {
		t.Errorf("the accounts have %d, want %d", got, sum)
	}
	eventually(t, "observers have done what they had to do", time.Minute, func() bool {
		return one[int](t, db, "SELECT waiting + parked FROM moka.observer_backlog") == 0
	})
	if n := one[int](t, db, "SELECT COUNT(*) FROM account a LEFT JOIN seen s USING (id) "+
		"WHERE a.id <= 200 AND (s.v IS NULL OR s.v <> a.v)"); n != 0 {
		t.Errorf("of %d accounts the observer has seen something else than there was", n)
	}
	for _, table := range []string{"account", "seen", "history"} {
		rows, err := db.Query("CHECK TABLE " + table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var a, b, c, d string
			if err := rows.Scan(&a, &b, &c, &d); err != nil || d != "OK" {
				t.Errorf("CHECK TABLE %s: %s %v", table, d, err)
			}
		}
		rows.Close()
	}
	if got := one[int](t, db, "SELECT @@max_connections"); got != 321 {
		t.Errorf("max_connections is %d: what was persisted is lost", got)
	}
	one[int](t, db, "SELECT COUNT(*) FROM rich")
	reader, err := sql.Open("mysql", fmt.Sprintf("reader:secret@tcp(127.0.0.1:%s)/bank", s.sqlPort))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	one[int](t, reader, "SELECT COUNT(*) FROM account")
	if _, err := reader.Exec("DELETE FROM account"); err == nil {
		t.Error("reader may delete")
	}
	// New numbers follow the old ones, and the observer goes on from what is there.
	last := one[int](t, db, "SELECT COALESCE(MAX(id), 0) FROM history")
	mustExec(t, db, "INSERT INTO history (a, b) VALUES (-1, -1)")
	if id := one[int](t, db, "SELECT id FROM history WHERE a = -1"); id <= last {
		t.Errorf("row %d comes after %d", id, last)
	}
	mustExec(t, db, "UPDATE account SET v = v + 7 WHERE id = 1")
	eventually(t, "the observer has seen the update", time.Minute, func() bool {
		return one[int](t, db, "SELECT COUNT(*) FROM account a JOIN seen s USING (id) "+
			"WHERE id = 1 AND a.v = s.v") == 1
	})
}

// pay moves money until ctx ends; accounts come and go.
func pay(ctx context.Context, db *sql.DB, seed int) {
	for i := seed; ctx.Err() == nil; i += 17 {
		a, b := i%200+1, (i*7+3)%200+1
		if a == b {
			continue
		}
		_ = inTransaction(ctx, db, fmt.Sprintf("UPDATE account SET v = v - 3 WHERE id = %d", a),
			fmt.Sprintf("UPDATE account SET v = v + 3 WHERE id = %d", b),
			fmt.Sprintf("INSERT INTO history (a, b) VALUES (%d, %d)", a, b))
		if i%5 == 0 {
			_ = inTransaction(ctx, db, fmt.Sprintf("INSERT INTO account VALUES (%d, 0, 'new')", 1000+seed))
			_ = inTransaction(ctx, db, fmt.Sprintf("DELETE FROM account WHERE id = %d", 1000+seed))
		}
	}
}

func inTransaction(ctx context.Context, db *sql.DB, queries ...string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, q := range queries {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// A backup and five increments under load, each of which is what the database was at one moment.
func TestBackup(t *testing.T) {
	s := start(t, t.TempDir(), "--shards", "3", "--gc-retention", "1s")
	db := s.db("")
	for _, q := range backedUp {
		mustExec(t, db, q)
	}
	s.ctl("split", "bank.account", "100")
	s.ctl("move", "bank.account", "100", "2")
	dir := filepath.Join(t.TempDir(), "backup")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	for i := range 4 {
		load.Go(func() { pay(ctx, s.db("bank"), i) })
	}
	take := func(args ...string) {
		t.Helper()
		t.Log(mustMoka(t, append([]string{"backup", "--http-addr", s.http, "--to", dir}, args...)...))
	}
	if out, err := moka(t, "backup", "--http-addr", s.http, "--to", dir, "--incremental"); err == nil {
		t.Errorf("an increment of nothing: %s", out)
	}
	take()
	if out, err := moka(t, "backup", "--http-addr", s.http, "--to", dir); err == nil ||
		!strings.Contains(out, "--incremental") {
		t.Errorf("a second full one in the same place: %s", out)
	}
	for range 4 {
		take("--incremental")
	}
	stop()
	load.Wait()
	eventually(t, "observers rest", time.Minute, func() bool {
		return one[int](t, s.db(""), "SELECT waiting FROM moka.observer_backlog") == 0
	})
	take("--incremental")
	const sums = "SELECT GROUP_CONCAT(x ORDER BY x SEPARATOR ';') FROM (" +
		"SELECT CONCAT_WS(',', id, v, name) x FROM bank.account UNION ALL " +
		"SELECT CONCAT_WS(',', 's', id, v) FROM bank.seen UNION ALL " +
		"SELECT CONCAT_WS(',', id, a, b) FROM bank.history) r"
	set := "SET GLOBAL group_concat_max_len = 100000000"
	mustExec(t, s.db(""), set)
	want := one[string](t, s.db(""), sums)

	out := mustMoka(t, "backup", "verify", dir)
	expect(t, out, "0000  full", "0005  increment")
	for n := range 6 {
		data := filepath.Join(t.TempDir(), "data")
		mustMoka(t, "restore", "--from", dir, "--data", data, "--number", fmt.Sprint(n), "--shards", "2")
		r := start(t, data)
		if n == 5 {
			mustExec(t, r.db(""), set)
			if got := one[string](t, r.db(""), sums); got != want {
				t.Errorf("restored rows differ: %d bytes, want %d", len(got), len(want))
			}
		}
		checkBackedUp(t, r, bankSum)
		if out, err := moka(t, "backup", "--http-addr", r.http, "--to", dir, "--incremental"); err == nil ||
			!strings.Contains(out, "another database") {
			t.Errorf("an increment of another database: %s", out)
		}
		r.kill()
	}
	if out, err := moka(t, "restore", "--from", dir, "--data", dir); err == nil ||
		!strings.Contains(out, "not empty") {
		t.Errorf("restored into a directory that is not empty: %s", out)
	}
}

// kill -9 of who takes a backup, of the server meanwhile, and of who restores: what is there is whole or is
// not taken for a backup or a database, and says what it is. A backup that takes long reads one moment,
// though versions go at once.
func TestBackupKilled(t *testing.T) {
	data := t.TempDir()
	s := start(t, data, "--gc-retention", "1s")
	db := s.db("")
	for _, q := range backedUp {
		mustExec(t, db, q)
	}
	mustExec(t, db, "CREATE TABLE bank.big (id INT PRIMARY KEY, b LONGBLOB)")
	random := make([]byte, 1<<20)
	for i := range 6 {
		_, _ = rand.Read(random) // so that it cannot be compressed
		mustExec(t, db, "INSERT INTO bank.big VALUES (?, ?)", i, random)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	begin := func() *server {
		t.Helper()
		c := launch(t, "backup", "--http-addr", s.http, "--to", dir, "--max-mib-per-second", "1")
		eventually(t, "the backup has begun", time.Minute, func() bool {
			info, err := os.Stat(filepath.Join(dir, "0000.partial", "data"))
			return err == nil && info.Size() > 100_000
		})
		return c
	}
	begin().kill()
	for _, args := range [][]string{{"backup", "verify", dir},
		{"restore", "--from", dir, "--data", filepath.Join(data, "x")}} {
		if out, err := moka(t, args...); err == nil ||
			!strings.Contains(out, "0000.partial was begun and not finished") {
			t.Errorf("moka %v: %v\n%s", args, err, out)
		}
	}

	c := begin()
	s.kill()
	if code := c.wait(); code == 0 || !strings.Contains(c.logs(), "there is no new backup") {
		t.Errorf("the server was killed: status %d\n%s", code, c.logs())
	}
	if out, err := moka(t, "backup", "verify", dir); err == nil || !strings.Contains(out, "holds no backup") {
		t.Errorf("verify: %s", out)
	}

	s = start(t, data, "--gc-retention", "1s")
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for i := range 2 {
		load.Go(func() { pay(ctx, s.db("bank"), i) })
	}
	c = begin()
	expect(t, s.ctl("gc"), "a backup")
	if code := c.wait(); code != 0 {
		t.Fatalf("status %d\n%s", code, c.logs())
	}
	stop()
	load.Wait()
	s.kill()

	to := filepath.Join(t.TempDir(), "restored")
	r := launch(t, "restore", "--from", dir, "--data", to)
	eventually(t, "the restore has begun", time.Minute, func() bool {
		_, err := os.Stat(filepath.Join(to+".restoring", "pebble"))
		return err == nil
	})
	_ = r.cmd.Process.Signal(syscall.SIGKILL)
	<-r.exited
	if _, err := os.Stat(to); err == nil {
		t.Fatal("the restore was through before it was killed")
	}
	if out, err := moka(t, "start", "--data", to, "--sql-addr", "127.0.0.1:0"); err == nil ||
		!strings.Contains(out, "restore again") {
		t.Errorf("a start after a restore that was killed: %s", out)
	}
	expect(t, mustMoka(t, "restore", "--from", dir, "--data", to), "begun and not finished", "start it with")
	checkBackedUp(t, start(t, to), bankSum)
}

// What an observer had not done yet, and what was parked, goes along: it is done after the restore, once,
// with the OLD row that the observer had seen.
func TestBackupTakesPositionsAlong(t *testing.T) {
	s := start(t, t.TempDir())
	db := s.db("")
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE d.done (id INT, old INT, new INT, UNIQUE (id))",
		"INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30)",
		"INSERT INTO d.done VALUES (1, 0, 0), (2, 0, 0)",
		"CREATE OBSERVER d.o AFTER UPDATE ON d.t FOR EACH ROW WITH (attempts = 1) " +
			"INSERT INTO d.done VALUES (NEW.id, OLD.v, NEW.v)",
		"UPDATE d.t SET v = v + 1"} {
		mustExec(t, db, q)
	}
	eventually(t, "two runs have failed", time.Minute, func() bool {
		return one[int](t, db, "SELECT parked FROM moka.observer_backlog") == 2 &&
			one[int](t, db, "SELECT COUNT(*) FROM d.done") == 3
	})
	mustExec(t, db, "UPDATE d.t SET v = v + 100 WHERE id = 3") // the run fails, as 3 is there by now
	eventually(t, "three runs have failed", time.Minute, func() bool {
		return one[int](t, db, "SELECT parked FROM moka.observer_backlog") == 3
	})
	dir, data := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "d")
	expect(t, mustMoka(t, "backup", "--http-addr", s.http, "--to", dir), "3 waiting for observers")
	s.kill()
	mustMoka(t, "restore", "--from", dir, "--data", data)
	s = start(t, data)
	db = s.db("")
	if n := one[int](t, db, "SELECT COUNT(*) FROM moka.observer_errors "+
		"WHERE parked AND error LIKE '%Duplicate%'"); n != 3 {
		t.Errorf("%d parked changes with their errors, want 3", n)
	}
	mustExec(t, db, "DELETE FROM d.done")
	mustExec(t, db, "ALTER OBSERVER d.o RETRY FAILED")
	eventually(t, "the observer has done what it had to do", time.Minute, func() bool {
		return one[int](t, db, "SELECT waiting + parked FROM moka.observer_backlog") == 0
	})
	got := one[string](t, db, "SELECT GROUP_CONCAT(CONCAT_WS(' ', id, old, new) ORDER BY id) FROM d.done")
	if want := "1 10 11,2 20 21,3 31 131"; got != want {
		t.Errorf("the observer saw %s, want %s", got, want)
	}
}

// An observer that was created WITH BACKFILL, or given back what it had missed, has seen all rows that are
// restored: a sum that it keeps is that of the rows, whatever changes afterwards. One that was disabled is
// not given back what nobody knows.
func TestRestoredObserversHaveSeenAll(t *testing.T) {
	s := start(t, t.TempDir())
	db := s.db("")
	const keep = " AFTER INSERT OR UPDATE OR DELETE ON d.t FOR EACH ROW WITH (attempts = 1)%s " +
		"UPDATE d.sums SET v = v + COALESCE(NEW.v, 0) - COALESCE(OLD.v, 0) WHERE id = %d"
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE d.sums (id INT PRIMARY KEY, v INT, CHECK (v < 1000))",
		"INSERT INTO d.sums VALUES (1, 0), (2, 100), (3, 0)",
		"INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30), (4, 40)",
		"CREATE OBSERVER d.filled" + fmt.Sprintf(keep, " WITH BACKFILL", 1), "CREATE OBSERVER d.back" +
			fmt.Sprintf(keep, "", 2),
		"CREATE OBSERVER d.off" + fmt.Sprintf(keep, "", 3), "ALTER OBSERVER d.off DISABLE",
		// No backup waits for what this one has to walk.
		"CREATE TABLE d.kept (id INT PRIMARY KEY)",
		"CREATE OBSERVER d.waits AFTER INSERT OR UPDATE ON d.t FOR EACH ROW WITH (attempts = 1, " +
			"enabled = 0) WITH BACKFILL REPLACE INTO d.kept VALUES (NEW.id)",
		"ALTER OBSERVER d.back DISABLE", "UPDATE d.t SET v = 21 WHERE id = 2", "ALTER OBSERVER d.back " +
			"ENABLE WITH REPLAY",
		"WAIT FOR OBSERVERS d.filled, d.back TIMEOUT 60"} {
		mustExec(t, db, q)
	}
	dir, data := "", filepath.Join(t.TempDir(), "d")
	eventually(t, "no walk is under way", time.Minute, func() bool {
		dir = filepath.Join(t.TempDir(), "b")
		out, err := exec.Command(mokaBinary, "backup", "--http-addr", s.http, "--to", dir).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "rows are being walked for observer") {
			t.Fatalf("%v: %s", err, out)
		}
		return err == nil
	})
	s.kill()
	mustMoka(t, "restore", "--from", dir, "--data", data)
	s = start(t, data)
	db = s.db("")
	for _, q := range []string{"UPDATE d.t SET v = 11 WHERE id = 1", "DELETE FROM d.t WHERE id = 3",
		"INSERT INTO d.t VALUES (5, 50)", "WAIT FOR OBSERVERS d.filled, d.back TIMEOUT 60"} {
		mustExec(t, db, q)
	}
	got := one[string](t, db, "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.sums")
	if want := "122,122,0"; got != want {
		t.Errorf("sums %s, want %s", got, want)
	}
	_, err := db.Exec("ALTER OBSERVER d.off ENABLE WITH REPLAY")
	if err == nil || !strings.Contains(err.Error(), "nobody knows since when") {
		t.Errorf("it is given back something: %v", err)
	}
	mustExec(t, db, "ALTER OBSERVER d.waits ENABLE")
	_, err = db.Exec("WAIT FOR OBSERVERS d.waits TIMEOUT 60")
	if err == nil || !strings.Contains(err.Error(), "REPLAY OBSERVER `d`.`waits`") {
		t.Errorf("rows that the backup has left out are waited for: %v", err)
	}
	mustMoka(t, "backup", "--http-addr", s.http, "--to", filepath.Join(t.TempDir(), "again"))
	mustExec(t, db, "REPLAY OBSERVER d.waits")
	mustExec(t, db, "WAIT FOR OBSERVERS d.waits TIMEOUT 60")
	if got := one[string](t, db, "SELECT GROUP_CONCAT(id ORDER BY id) FROM d.kept"); got != "1,2,4,5" {
		t.Errorf("after REPLAY OBSERVER it has run for %s", got)
	}
}
