package itest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Faults: one damaged SSTable stopped the node at a read. The statements that read it say which file it is,
// CHECK TABLE says whose rows are hit, and all else goes on.
func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--cache-mib", "8"} // memtables of 4 MiB
	s := start(t, dir, args...)
	db := s.db("")
	db.SetMaxOpenConns(1)
	mustExec(t, db, "CREATE DATABASE d")
	mustExec(t, db, "USE d")
	mustExec(t, db, "CREATE TABLE hit (id INT PRIMARY KEY, v MEDIUMBLOB)")
	mustExec(t, db, "CREATE TABLE well (id INT PRIMARY KEY, v VARCHAR(20))")
	mustExec(t, db, "INSERT INTO well VALUES (1, 'one'), (2, 'two')")
	// 16 MiB, so that most of them are in tables; in small values, since Pebble looks for the bit of a bad
	// block that was flipped by trying all, which takes half a minute in one of 256 KiB.
	const rows, together, length = 1024, 32, 16 << 10
	for i := 0; i < rows; i += together {
		var args []any
		for id := i; id < i+together; id++ {
			args = append(args, id, scramble(make([]byte, length), id))
		}
		mustExec(t, db, "INSERT INTO hit VALUES (?, ?)"+strings.Repeat(", (?, ?)", together-1), args...)
	}
	db.Close()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	name := damageLargest(t, filepath.Join(dir, "pebble"))

	s = start(t, dir, args...)
	db = s.db("d")
	bad, good := 0, 0
	for i := range rows {
		var my *mysql.MySQLError
		var n int
		switch err := db.QueryRow("SELECT LENGTH(v) FROM hit WHERE id = ?", i).Scan(&n); {
		case err == nil && n == length:
			good++
		case errors.As(err, &my) && my.Number == 1194 && strings.Contains(my.Message, name):
			bad++
		default:
			t.Fatalf("row %d: %d bytes, %v; want its value, or error 1194 that names %s", i, n, err, name)
		}
	}
	t.Logf("%d rows of %d are damaged", bad, rows)
	if bad == 0 {
		t.Fatal("nothing is damaged")
	}
	if n := one[int](t, db, "SELECT COUNT(*) FROM well WHERE v > ''"); n != 2 {
		t.Errorf("%d rows of another table, want 2", n)
	}
	mustExec(t, db, "INSERT INTO well VALUES (3, 'three')")
	if verdict := check(t, db, "hit"); !strings.Contains(verdict, "orrupt") {
		t.Errorf("CHECK TABLE hit: %s", verdict)
	}
	if verdict := check(t, db, "well"); verdict != "OK" {
		t.Errorf("CHECK TABLE well: %s", verdict)
	}
	db.Close()
	if err := s.stop(); err != nil { // it lives, and ends in order
		t.Error(err)
	}
}

// check is what CHECK TABLE says, in one line.
func check(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.Query("CHECK TABLE " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var said []string
	for rows.Next() {
		var name, op, kind, text string
		if err := rows.Scan(&name, &op, &kind, &text); err != nil {
			t.Fatal(err)
		}
		said = append(said, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(said, "; ")
}

// damageLargest flips a byte in the middle of the largest SSTable, and returns its name.
func damageLargest(t *testing.T, dir string) (name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err != nil {
			t.Fatal(err)
		} else if info.Size() > size {
			name, size = f, info.Size()
		}
	}
	if name == "" {
		t.Fatalf("no table under %s", dir)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, size/2); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0xff
	if _, err := f.WriteAt(b, size/2); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(name)
}
