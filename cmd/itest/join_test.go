package itest

import (
	"context"
	"regexp"
	"sync"
	"testing"
	"time"
)

var joinLine = regexp.MustCompile(`--join ([0-9.:]+)`)

// nodeAddr is where other processes reach the storage.
func (s *server) nodeAddr() string {
	s.t.Helper()
	m := joinLine.FindStringSubmatch(s.logs())
	if m == nil {
		s.t.Fatalf("the storage does not say how to join it:\n%s", s.logs())
	}
	return m[1]
}

// join starts a process that serves SQL for the database at addr.
func join(t testing.TB, addr string, args ...string) *server {
	t.Helper()
	s := launch(t, append([]string{"start", "--roles", "sql", "--join", addr, "--sql-addr", "127.0.0.1:0",
		"--http-addr", "127.0.0.1:0"}, args...)...)
	if !s.waitReady() {
		t.Fatalf("the SQL server did not become ready:\n%s", s.logs())
	}
	return s
}

// TestSQLServersOverOneStorage runs a storage of three shards and two SQL servers without data: what
// one does the other sees, a killed one leaves no lock behind that lasts, and a killed storage comes
// back to the same SQL servers.
func TestSQLServersOverOneStorage(t *testing.T) {
	dir := t.TempDir()
	storage := start(t, dir, "--shards", "3", "--node-addr", "127.0.0.1:0")
	addr := storage.nodeAddr()
	first, two := join(t, addr), join(t, addr)

	a := first.db("")
	mustExec(t, a, "CREATE DATABASE d")
	mustExec(t, a, "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL, KEY (v))")
	mustExec(t, a, "CREATE TABLE d.total (id INT PRIMARY KEY, n INT NOT NULL)")
	mustExec(t, a, "INSERT INTO d.total VALUES (1, 0)")
	b := two.db("d")
	for i := range 50 {
		mustExec(t, b, "INSERT INTO t VALUES (?, ?)", i, i%5)
	}
	if n := one[int](t, a, "SELECT COUNT(*) FROM d.t WHERE v = 3"); n != 10 {
		t.Fatalf("the first server counts %d rows by the index, want 10", n)
	}

	// An observer declared at one server runs (in the storage process) for what the other writes.
	mustExec(t, a, "USE d")
	db := first.db("d")
	mustExec(t, db, "CREATE OBSERVER counting AFTER INSERT ON t FOR EACH ROW UPDATE total SET n = n + 1 "+
		"WHERE id = 1")
	mustExec(t, b, "INSERT INTO t VALUES (100, 9), (101, 9), (102, 9)")
	eventually(t, "the observer runs for another server's rows", 30*time.Second, func() bool {
		return one[int](t, b, "SELECT n FROM total WHERE id = 1") == 3
	})

	// A server is killed in a transaction: what it had not committed is gone and in nobody's way.
	open, err := two.db("d").Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Exec("UPDATE t SET v = 77 WHERE id < 10"); err != nil {
		t.Fatal(err)
	}
	two.kill()
	eventually(t, "the rows of the killed server's transaction can be written", 60*time.Second, func() bool {
		_, err := db.ExecContext(context.Background(), "UPDATE t SET v = 7 WHERE id < 10")
		return err == nil
	})
	if n := one[int](t, db, "SELECT COUNT(*) FROM t WHERE v = 77"); n != 0 {
		t.Errorf("%d rows of an uncommitted transaction are there", n)
	}

	// The storage is killed under a SQL server at work. Each insert that was acknowledged is there
	// afterwards, and what the server could try again for its clients it has.
	two = join(t, addr)
	b = two.db("d")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	acknowledged := make([][]int, 4)
	half := make(chan struct{}, len(acknowledged))
	for w := range acknowledged {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := 1_000_000*(w+1) + i
				if _, err := b.ExecContext(context.Background(), "INSERT INTO t VALUES (?, 55)",
					id); err == nil {
					acknowledged[w] = append(acknowledged[w], id)
				}
				if i == 25 {
					half <- struct{}{}
				}
			}
		})
	}
	for range acknowledged {
		<-half
	}
	storage.kill()
	storage = start(t, dir, "--shards", "3", "--node-addr", addr)
	eventually(t, "the SQL server finds the storage again", 60*time.Second, func() bool {
		var n int
		return b.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM t").Scan(&n) == nil
	})
	close(stop)
	wg.Wait()
	stored := map[int]bool{}
	rows, err := b.QueryContext(context.Background(), "SELECT id FROM t WHERE id >= 1000000")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		stored[id] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for w, ids := range acknowledged {
		if len(ids) < 20 {
			t.Errorf("writer %d: only %d inserts were acknowledged", w, len(ids))
		}
		for _, id := range ids {
			if !stored[id] {
				t.Errorf("writer %d: row %d was acknowledged and is not there", w, id)
			}
		}
	}
	for _, s := range []*server{two, first, storage} {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestJoinNobody says what to do when there is nothing to join.
func TestJoinNobody(t *testing.T) {
	t.Parallel() // it waits, and does nothing else
	refuses(t, []string{"no storage node answers at 127.0.0.1:1", "--node-addr"},
		"start", "--roles", "sql", "--join", "127.0.0.1:1", "--sql-addr", "127.0.0.1:0", "--http-addr",
		"127.0.0.1:0")
}
