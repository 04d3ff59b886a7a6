package itest

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestLoadData fills a table from a client's file that is several times what one transaction commits, with a
// secondary index, and looks at what MySQL says about duplicates, columns, lines and failures.
func TestLoadData(t *testing.T) {
	s := start(t, t.TempDir())
	mustExec(t, s.db(""), "CREATE DATABASE shop")
	cfg := s.dsn("shop") + "?allowAllFiles=true"
	db, err := sql.Open("mysql", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	load := func(path, rest string) (int64, error) {
		mysql.RegisterLocalFile(path)
		r, err := db.Exec("LOAD DATA LOCAL INFILE '" + path + "' INTO TABLE " + rest)
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	}

	const n = 80_000
	big := filepath.Join(dir, "big.csv")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, "%d,%d,%s\n", i, i%1000, strings.Repeat("x", 80))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "CREATE TABLE big (id INT PRIMARY KEY, k INT NOT NULL, pad VARCHAR(100), KEY by_k (k))")
	if got, err := load(big, "big FIELDS TERMINATED BY ','"); err != nil || got != n {
		t.Fatalf("%d rows, %v; want %d", got, err, n)
	}
	if got := one[int](t, db, "SELECT COUNT(*) FROM big"); got != n {
		t.Fatalf("%d rows are there, want %d", got, n)
	}
	if got := one[int](t, db, "SELECT COUNT(*) FROM big FORCE INDEX (by_k) WHERE k = 7"); got != n/1000 {
		t.Errorf("the index has %d rows with k = 7, want %d", got, n/1000)
	}
	// Once more: LOCAL is as IGNORE, so that no row is new and none is an error.
	if got, err := load(big, "big FIELDS TERMINATED BY ','"); err != nil || got != 0 {
		t.Errorf("the same file again: %d rows, %v", got, err)
	}

	// Within a transaction a load is undone with it.
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	small := file("small.tsv", "1000001\t1\tone\n1000002\t2\t\\N\n")
	mysql.RegisterLocalFile(small)
	if _, err := tx.Exec("LOAD DATA LOCAL INFILE '" + small + "' INTO TABLE big"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got := one[int](t, db, "SELECT COUNT(*) FROM big"); got != n {
		t.Errorf("%d rows after the rollback, want %d", got, n)
	}
	if got, err := load(small, "big (id, @b, pad) SET k = @b * 10"); err != nil || got != 2 {
		t.Errorf("columns and SET: %d rows, %v", got, err)
	}
	if got := one[string](t, db, "SELECT GROUP_CONCAT(CONCAT_WS(':', id, k, IFNULL(pad, 'NULL')) ORDER BY "+
		"id) FROM big WHERE id > 1000000"); got != "1000001:10:one,1000002:20:NULL" {
		t.Errorf("loaded %s", got)
	}

	// Quotes, escapes, a header, lines of another kind; REPLACE.
	quoted := file("quoted.csv", "id;k;pad\r\n1;-1;\"a;b\\\"c\"\r\n2;-2;\"line\nbreak\"\r\n")
	if _, err := load(quoted, `big FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY `+
		`'\r\n' IGNORE 1 LINES`); err != nil {
		t.Error(err)
	}
	if got := one[int](t, db, "SELECT COUNT(*) FROM big WHERE k < 0"); got != 0 {
		t.Errorf("%d rows replaced by IGNORE", got)
	}
	mysql.RegisterLocalFile(quoted)
	if _, err := db.Exec("LOAD DATA LOCAL INFILE '" + quoted + `' REPLACE INTO TABLE big FIELDS TERMINATED ` +
		`BY ';' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\r\n' IGNORE 1 LINES`); err != nil {
		t.Error(err)
	}
	if got := one[string](t, db, "SELECT GROUP_CONCAT(CONCAT(id, k, pad) ORDER BY id) FROM big WHERE k < 0"); got != "1-1a;b\"c,2-2line\nbreak" {
		t.Errorf("replaced: %q", got)
	}

	// A file that is not there, and one that the client does not allow, leave the connection as it was.
	for i := range 3 {
		if _, err := load(filepath.Join(dir, "nothing"), "big"); err == nil {
			t.Error("a file that does not exist was loaded")
		}
		if got := one[int](t, db, "SELECT ?", i); got != i {
			t.Errorf("SELECT %d is %d", i, got)
		}
	}
}
