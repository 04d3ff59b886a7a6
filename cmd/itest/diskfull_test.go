package itest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// smallDisk mounts a tmpfs.
func smallDisk(t *testing.T, mebibytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mebibytes), "tmpfs",
		dir).CombinedOutput()
	if err != nil {
		t.Skipf("mounting a small tmpfs needs root (kv/engine tests the same on a small disk in memory, "+
			"everywhere): %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}

// fillUp takes all the room there is but some, and what becomes free later, until it is told to stop; then
// the file can be removed.
func fillUp(t *testing.T, dir string, but uint64) (stop func(), file string) {
	t.Helper()
	file = filepath.Join(dir, "foreign")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	take := func() {
		var u syscall.Statfs_t
		if err := syscall.Statfs(dir, &u); err != nil {
			t.Error(err)
		} else if free := u.Bavail * uint64(u.Bsize); free > but {
			if syscall.Fallocate(int(f.Fd()), 0, size, int64(free-but)) == nil { // else somebody was faster
				size += int64(free - but)
			}
		}
	}
	take()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				take()
			}
		}
	}()
	var once sync.Once
	stop = func() { once.Do(func() { close(ended); <-done; f.Close() }) }
	t.Cleanup(stop)
	return stop, file
}

// isFull waits for the server to say so.
func (s *server) isFull() {
	s.t.Helper()
	eventually(s.t, "the state disk full", time.Minute, func() bool {
		_, b := s.answers("/metrics")
		return strings.Contains(b, "moka_disk_full 1")
	})
}

// refusesToAdd checks that statements which add are refused with 1021 and the next step.
func refusesToAdd(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		var my *mysql.MySQLError
		if _, err := db.Exec(q); !errors.As(err, &my) || my.Number != 1021 ||
			!strings.Contains(my.Message, "delete rows") {
			t.Errorf("%.60s on a full disk: %v, want error 1021", q, err)
		}
	}
}

// Faults, "the disk is full": the process ended, could not be started without room, and so
// nothing could be deleted.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 256)
	data, ballast := filepath.Join(dir, "data"), filepath.Join(dir, "data", "BALLAST")
	args := []string{"--cache-mib", "8", "--ballast-mib", "32", "--gc-retention", "1s"}
	s := start(t, data, args...)
	mustExec(t, s.db(""), "CREATE DATABASE d")
	db := s.db("d")
	for _, q := range []string{
		"CREATE TABLE t (id INT PRIMARY KEY, v MEDIUMBLOB)",
		"CREATE TABLE parent (id INT PRIMARY KEY, a INT, KEY (a))",
		"CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE " +
			"SET NULL)",
		"CREATE TABLE audit (id INT PRIMARY KEY AUTO_INCREMENT, was INT)",
		"CREATE TRIGGER del AFTER DELETE ON parent FOR EACH ROW INSERT INTO audit (was) VALUES (OLD.id)",
		"CREATE TABLE few (id INT PRIMARY KEY)", "INSERT INTO few VALUES (1)",
		"CREATE TABLE wide (id INT PRIMARY KEY, f INT, v MEDIUMBLOB, FOREIGN KEY (f) REFERENCES few (id) " +
			"ON DELETE SET NULL)",
		"INSERT INTO wide VALUES (1, 1, REPEAT('w', 100000))",
		"CREATE TABLE small (id INT PRIMARY KEY)", "INSERT INTO small VALUES (1), (2)",
		"CREATE TRIGGER more AFTER DELETE ON small FOR EACH ROW INSERT INTO large SELECT -OLD.id, v " +
			"FROM t ORDER BY id LIMIT 1",
		"CREATE VIEW v AS SELECT id FROM parent", "CREATE TABLE large (id INT PRIMARY KEY, v MEDIUMBLOB)",
		"INSERT INTO parent VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO child VALUES (1, 1), (2, 2)",
	} {
		mustExec(t, db, q)
	}
	info, err := os.Stat(ballast)
	if err != nil || info.Mode().Perm() != 0o600 || info.Sys().(*syscall.Stat_t).Blocks*512 < 32<<20 {
		t.Fatalf("the ballast: %+v %v; want 32 MiB that are really taken, for nobody else", info, err)
	}

	// The disk is filled from outside while nobody runs: it can be started, since it has the ballast.
	s.kill()
	stop, foreign := fillUp(t, dir, 0)
	stop()
	s = start(t, data, args...)
	db = s.db("d")
	refusesToAdd(t, db, "INSERT INTO t VALUES (1, 'x')")
	if n := one[int](t, db, "SELECT COUNT(*) FROM parent"); n != 3 {
		t.Errorf("%d rows of 3", n)
	}
	mustExec(t, db, "DELETE FROM parent WHERE id = 3")
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an INSERT when there is room again", time.Minute, func() bool {
		_, err := db.Exec("INSERT INTO parent VALUES (3, 3)")
		return err == nil
	})
	if _, err := os.Stat(ballast); err != nil {
		t.Errorf("the ballast is not there again: %v", err)
	}

	// It is filled by INSERT until it is refused, not until the process dies.
	value := make([]byte, 256<<10)
	for i := range value {
		value[i] = byte(i * 7919 >> 3)
	}
	acknowledged := 0
	for err = nil; err == nil && acknowledged < 4000; acknowledged++ {
		table := []string{"large", "t"}[acknowledged%2]
		_, err = db.Exec("INSERT INTO "+table+" VALUES (?, ?)", acknowledged, scramble(value, acknowledged))
	}
	acknowledged--
	var my *mysql.MySQLError
	if !errors.As(err, &my) || my.Number != 1021 {
		t.Fatalf("%d rows, then %v, want error 1021\n%s", acknowledged, err, tail(s.logs()))
	}
	t.Logf("%d rows of 256 KiB before 1021", acknowledged)
	// From now on somebody else takes what compactions give back.
	stop, foreign = fillUp(t, dir, 40<<20) // but the ballast's room
	s.isFull()
	if _, err := os.Stat(ballast); err == nil {
		t.Error("the ballast is still there")
	}
	full := func(s *server) {
		t.Helper()
		db := s.db("d")
		defer db.Close()
		refusesToAdd(t, db, "INSERT INTO audit (was) VALUES (1)", "REPLACE INTO audit VALUES (1, 1)",
			"UPDATE parent SET a = a + 1", "CREATE TABLE u (a INT)",
			"CREATE VIEW w AS SELECT 1", "ALTER TABLE parent ADD INDEX (id, a)", "CREATE DATABASE e",
			"INSERT INTO audit (was) SELECT id FROM parent",
			"CREATE TABLE u SELECT * FROM parent",
			// A DELETE is no way to fill up the rest, by triggers and foreign keys; it ended the process
			"DELETE FROM small", "DELETE FROM small WHERE id = 1", "DELETE FROM few")
		if n := one[int](t, db, "SELECT COUNT(*) FROM t") +
			one[int](t, db, "SELECT COUNT(*) FROM large"); n < acknowledged {
			t.Fatalf("%d rows, but %d were acknowledged", n, acknowledged)
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec("INSERT INTO audit (was) VALUES (7)"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); !errors.As(err, &my) || my.Number != 1021 {
			t.Errorf("COMMIT of an INSERT: %v", err)
		}
	}
	full(s)
	s.kill()
	s = start(t, data, append(args, "--node-addr", "127.0.0.1:0", "--insecure")...)
	full(s)
	elsewhere := join(t, s.nodeAddr()) // a SQL server hears of it
	full(elsewhere)
	elsewhere.kill()

	stop()
	deleted := time.Now()
	// What makes room is taken: with triggers, the actions of foreign keys, and in a transaction.
	db = s.db("d")
	mustExec(t, db, "DELETE FROM parent WHERE id = 1")
	if n := one[int](t, db, "SELECT COUNT(*) FROM audit WHERE was = 1"); n != 1 {
		t.Errorf("the trigger of the DELETE wrote %d rows", n)
	}
	if n := one[int](t, db, "SELECT COUNT(*) FROM child WHERE p IS NULL"); n != 1 {
		t.Errorf("%d children of the deleted row", n)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("DELETE FROM t WHERE id >= 20"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"TRUNCATE TABLE large", "TRUNCATE TABLE audit", "DROP INDEX a ON parent", "DROP VIEW v",
		"DROP TRIGGER del", "DELETE FROM child", "DROP TABLE child",
	} {
		mustExec(t, db, q)
	}
	// The room comes back by itself: after the retention (1 s), a round of the collector and of who removes
	// what was dropped, and compactions. It was a minute before dropped tables went, and for ever where
	// Pebble left tombstones above what they delete.
	eventually(t, "an INSERT in the room that the deletes have made", time.Minute, func() bool {
		_, err := db.Exec("INSERT INTO audit (was) VALUES (2)")
		if err != nil && (!errors.As(err, &my) || my.Number != 1021) {
			t.Fatalf("%v\n%s", err, tail(s.logs()))
		}
		return err == nil
	})
	t.Logf("room again after %v", time.Since(deleted).Round(time.Millisecond))
	if n := one[int](t, db, "SELECT COUNT(*) FROM t"); n != 10 {
		t.Errorf("%d rows left, want 10", n)
	}
	mustExec(t, db, "CREATE TABLE u (a INT)")
	db.Close()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// scramble makes values that do not compress away.
func scramble(b []byte, seed int) []byte {
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// DELETEs alone do not use up the room that is kept: what they delete is there until the retention is over,
// and that they ended the server, which could not be started then, was one account's doing with one table.
func TestDeletesOnFullDisk(t *testing.T) {
	dir := smallDisk(t, 80)
	data := filepath.Join(dir, "data")
	s := start(t, data) // with the ballast of so small a disk, and ten minutes of retention
	mustExec(t, s.db(""), "CREATE DATABASE d")
	db := s.db("d")
	mustExec(t, db, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(40), KEY (a), "+
		"KEY (b))")
	mustExec(t, db, "CREATE TABLE large (id INT PRIMARY KEY, v MEDIUMBLOB)")
	const rows = 40_000
	for i := range rows / 1000 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO t (a, b) WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL "+
			"SELECT i + 1 FROM n WHERE i < 999) SELECT i * %d, MD5(i + %d) FROM n", i+1, i*1000))
	}
	value, err := make([]byte, 256<<10), error(nil)
	for i := 0; err == nil && i < 1000; i++ {
		_, err = db.Exec("INSERT INTO large VALUES (?, ?)", i, scramble(value, i))
	}
	isFull := func(err error) bool {
		var my *mysql.MySQLError
		return errors.As(err, &my) && my.Number == 1021
	}
	if !isFull(err) {
		t.Fatalf("%v, want error 1021\n%s", err, tail(s.logs()))
	}
	deleted := 0
	for err = nil; err == nil && deleted < rows; {
		if _, err = db.Exec("DELETE FROM t ORDER BY id LIMIT 500"); err == nil {
			deleted += 500
		}
	}
	if deleted == 0 || deleted == rows || !isFull(err) || !strings.Contains(err.Error(), "fewer at a time") {
		t.Fatalf("%d rows of %d deleted, then %v, want error 1021\n%s", deleted, rows, err, tail(s.logs()))
	}
	t.Logf("%d rows deleted before 1021", deleted)
	// What needs little room still has it, also when the process is killed.
	for range 20 {
		if _, err := db.Exec("DELETE FROM t LIMIT 500"); err == nil {
			deleted += 500
		} else if !isFull(err) {
			t.Fatal(err)
		}
	}
	s.kill()
	s = start(t, data)
	db = s.db("d")
	if n := one[int](t, db, "SELECT COUNT(*) FROM t"); n != rows-deleted {
		t.Errorf("%d rows, want %d", n, rows-deleted)
	}
	mustExec(t, db, "TRUNCATE TABLE large")
	mustExec(t, db, "DROP TABLE t")
	db.Close()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// Statements that copy much at the same time are refused when they do not fit. All of them were let in while
// there was room; the server ended, and could not be started in what they had left.
func TestCopiesOnFullDisk(t *testing.T) {
	dir := smallDisk(t, 90)
	data := filepath.Join(dir, "data")
	s := start(t, data)
	mustExec(t, s.db(""), "CREATE DATABASE d")
	db := s.db("d")
	mustExec(t, db, "CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, b BLOB)")
	var kept, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			for j := range 4 {
				for _, q := range []string{
					"INSERT INTO f (b) SELECT RANDOM_BYTES(1024) FROM information_schema.COLLATIONS c, " +
						"information_schema.COLLATIONS d LIMIT 6000",
					fmt.Sprintf("CREATE TABLE g%d_%d SELECT * FROM f", i, j),
				} {
					_, err := db.Exec(q)
					var my *mysql.MySQLError
					switch {
					case err == nil && q[0] == 'I':
						kept.Add(6000)
					case err == nil:
					case errors.As(err, &my) && my.Number == 1021:
						refused.Add(1)
					default:
						t.Errorf("%.30s: %v\n%s", q, err, tail(s.logs()))
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if kept.Load() == 0 || refused.Load() == 0 {
		t.Fatalf("%d rows, %d statements were refused", kept.Load(), refused.Load())
	}
	s.kill()
	s = start(t, data)
	if n := one[int64](t, s.db("d"), "SELECT COUNT(*) FROM f"); n != kept.Load() {
		t.Errorf("%d rows, want %d", n, kept.Load())
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
