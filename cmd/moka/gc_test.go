package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"moka/kv"
)

// gcStack opens a database that keeps versions for the shortest time there is.
func gcStack(t *testing.T, dir string) (*stack, *sql.DB) {
	t.Helper()
	o := stackOptions{
		Data: dir, SQLAddr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Shards: 2, CacheMiB: 16, Runners: 2,
		MaxConns:  50,
		Retention: time.Second, MaxHold: time.Hour,
	}
	s, err := openStack(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "root@tcp("+s.sqlAddr+")/")
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

func (s *stack) stop(t *testing.T, db *sql.DB) {
	t.Helper()
	_ = db.Close()
	if err := s.close(context.Background()); err != nil {
		t.Error(err)
	}
}

func run(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func number(t *testing.T, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, q string) (n int, err error) {
	t.Helper()
	err = db.QueryRowContext(t.Context(), q).Scan(&n)
	return n, err
}

// versions counts what is stored of a row's history.
func (s *stack) versions(t *testing.T, table, key string) (n int) {
	t.Helper()
	row, err := s.rowOf(t.Context(), table, key)
	if err != nil {
		t.Fatal(err)
	}
	tablet, err := s.store.Locate(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := s.node.Shard(tablet.Shard)
	it, err := h.Reader().Iter(kv.IterOptions{Group: kv.GroupTxnWrite,
		Span: kv.Span{Start: row, End: append(append(kv.RowKey{}, row...), 0)}})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for it.NextColumn() {
		for ok := true; ok; ok = it.NextVersion() {
			n++
		}
	}
	return n
}

// eventually waits until f holds: the collector works on its own time.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !f(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s still not: %s", what)
		}
	}
}

// TestGarbageIsCollected: the versions of a row that is updated again and again go, but for what an
// open transaction still sees; it sees them for as long as it is open; and after a restart
// everything is as it was.
func TestGarbageIsCollected(t *testing.T) {
	dir := t.TempDir()
	s, db := gcStack(t, dir)
	run(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)",
		"INSERT INTO d.t VALUES (1, 0), (2, 0)")
	old, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Rollback()
	see := func() int {
		n, err := number(t, old, "SELECT n FROM d.t WHERE id = 1")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := see(); n != 0 {
		t.Fatal(n)
	}
	const updates = 300
	for range updates {
		run(t, db, "UPDATE d.t SET n = n + 1 WHERE id = 1")
	}
	eventually(t, "an open transaction holds the safe point back", func() bool {
		return s.gc.Metrics().Held > 0
	})
	if m := s.gc.Metrics(); m.HeldBy == "" || m.Leading != 1 {
		t.Errorf("%+v", m)
	}
	if n := see(); n != 0 {
		t.Errorf("the snapshot has %d now", n)
	}
	if n := s.versions(t, "d.t", "1"); n != updates+1 {
		t.Errorf("%d versions, all of %d can be seen by somebody", n, updates+1)
	}
	if err := old.Commit(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one version is left", func() bool { return s.versions(t, "d.t", "1") == 1 })
	if n := s.versions(t, "d.t", "2"); n != 1 {
		t.Errorf("%d versions of the row that nobody updated", n)
	}
	eventually(t, "the collection is counted", func() bool { return s.gc.Metrics().Versions >= updates })
	var name, age string
	if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Moka_safe_point_age_seconds'").Scan(
		&name, &age); err != nil || age == "0" {
		t.Errorf("%s %s, %v", name, age, err)
	}
	run(t, db, "DELETE FROM d.t WHERE id = 2")
	eventually(t, "a deleted row is gone", func() bool { return s.versions(t, "d.t", "2") == 0 })
	safePoint := s.gc.Metrics().SafePoint
	s.stop(t, db)

	s, db = gcStack(t, dir)
	defer func() { s.stop(t, db) }()
	if n, err := number(t, db, "SELECT SUM(n) FROM d.t"); err != nil || n != updates {
		t.Errorf("after a restart: %d, %v", n, err)
	}
	if got := s.oracle.Metrics().SafePoint; got < safePoint {
		t.Errorf("the safe point went from %v back to %v", safePoint, got)
	}
}

// TestDroppedRangesGo: what DROP and TRUNCATE leave behind stays for as long as it may be read, and goes
// then, all of it and nothing else.
func TestDroppedRangesGo(t *testing.T) {
	s, db := gcStack(t, t.TempDir())
	defer func() { s.stop(t, db) }()
	run(t, db, "CREATE DATABASE d", "CREATE TABLE d.a (id INT PRIMARY KEY, n INT, KEY (n))",
		"CREATE TABLE d.b LIKE d.a", "CREATE TABLE d.c LIKE d.a",
		"INSERT INTO d.a VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO d.b SELECT * FROM d.a",
		"INSERT INTO d.c SELECT * FROM d.a")
	rows := func(tables ...string) (spans []kv.Span) {
		for _, x := range tables {
			row, err := s.rowOf(t.Context(), "d."+x, "1")
			if err != nil {
				t.Fatal(err)
			}
			// | TableTxn u32 | 10 | table u32 | index u32 | …
			end := append(kv.RowKey{}, row[:9]...)
			end[8]++
			spans = append(spans, kv.Span{Start: row[:9], End: end})
		}
		return spans
	}
	stored := func(spans []kv.Span) (n int) {
		for _, id := range s.node.Shards() {
			h, _ := s.node.Shard(id)
			for _, span := range spans {
				it, err := h.Reader().Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: span})
				if err != nil {
					t.Fatal(err)
				}
				for it.NextColumn() {
					n++
				}
				_ = it.Close()
			}
		}
		return n
	}
	gone, kept := rows("a", "b"), rows("c")
	if n := stored(gone); n != 12 {
		t.Fatalf("%d columns in two tables with an index", n)
	}
	old, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Rollback()
	if n, err := number(t, old, "SELECT COUNT(*) FROM d.b"); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	// Each drop wakes the janitor, which looks at all that was dropped before.
	ring := func() { run(t, db, "CREATE TABLE d.bell (id INT)", "DROP TABLE d.bell") }
	run(t, db, "DROP TABLE d.a", "TRUNCATE d.b")
	eventually(t, "an open transaction holds the safe point back", func() bool {
		return s.gc.Metrics().Held > 0
	})
	ring()
	if n, err := number(t, old, "SELECT COUNT(*) FROM d.b USE INDEX (n)"); err != nil || n != 3 {
		t.Errorf("who began before sees %d, %v", n, err)
	}
	if err := old.Commit(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was dropped is gone", func() bool { ring(); return stored(gone) == 0 })
	if n := stored(kept); n != 6 {
		t.Errorf("%d columns are left of a table that is still there", n)
	}
	run(t, db, "INSERT INTO d.b VALUES (7, 7)")
	if n, err := number(t, db, "SELECT SUM(n) FROM d.b"); err != nil || n != 7 {
		t.Error(n, err)
	}
	if n, err := number(t, db, "SELECT SUM(n) FROM d.c"); err != nil || n != 6 {
		t.Error(n, err)
	}
}

// TestGarbageOptions: what makes no sense is refused, with the names of the settings.
func TestGarbageOptions(t *testing.T) {
	for _, o := range []stackOptions{
		{Retention: time.Millisecond, MaxHold: time.Hour},
		{Retention: time.Hour, MaxHold: time.Minute},
	} {
		o.Memory, o.Shards, o.CacheMiB, o.MaxConns, o.Runners = true, 1, 16, 10, 1
		if err := o.validate(); err == nil || !strings.Contains(err.Error(), "--gc-") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []stackOptions{{}, {Retention: time.Second, MaxHold: time.Second}} {
		o.Memory, o.Shards, o.CacheMiB, o.MaxConns, o.Runners = true, 1, 16, 10, 1
		if err := o.validate(); err != nil {
			t.Error(fmt.Errorf("%+v: %w", o, err))
		}
	}
}
