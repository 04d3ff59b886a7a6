package micro

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// loadFile is a file of rows for LOAD DATA, ascending by primary key, with a secondary key in no order.
type loadFile struct {
	dir, path string
	rows      int
	sum       int64 // of the secondary keys
}

func newLoadFile(rows int) (_ *loadFile, err error) {
	f := &loadFile{rows: rows}
	if f.dir, err = os.MkdirTemp("", "moka-load-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.remove()
		}
	}()
	f.path = filepath.Join(f.dir, "rows.csv")
	out, err := os.Create(f.path)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		k := r.IntN(rows)
		f.sum += int64(k)
		fmt.Fprintf(w, "%d,%d,%d.%02d,name-%d-%09d\n", i+1, k, r.IntN(1000), r.IntN(100), i+1,
			r.IntN(1_000_000_000))
	}
	return f, w.Flush()
}

func (f *loadFile) remove() { _ = os.RemoveAll(f.dir) }

// table makes the table anew.
func (f *loadFile) table(ctx context.Context, db *sql.DB) error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS load_row",
		"CREATE TABLE load_row (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, p DECIMAL(10,2), name " +
			"VARCHAR(64), KEY by_k (k))",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (f *loadFile) load(ctx context.Context, db *sql.DB) (int64, time.Duration, error) {
	began := time.Now()
	res, err := db.ExecContext(ctx,
		"LOAD DATA LOCAL INFILE '"+strings.ReplaceAll(f.path, "'",
			"''")+"' INTO TABLE load_row FIELDS TERMINATED BY ','")
	if err != nil {
		return 0, 0, err
	}
	elapsed := time.Since(began)
	n, err := res.RowsAffected()
	if err == nil && n != int64(f.rows) {
		err = fmt.Errorf("LOAD DATA of %d rows says that it has loaded %d", f.rows, n)
	}
	return n, elapsed, err
}

// verify counts the rows by the primary key and adds them up by the index.
func (f *loadFile) verify(ctx context.Context, db *sql.DB) error {
	var n int64
	var total float64 // a server may say 4.9e+10
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*), SUM(k) FROM load_row").Scan(&n, &total); err != nil {
		return err
	}
	sum := int64(total)
	if n != int64(f.rows) || sum != f.sum {
		return fmt.Errorf("%d rows with the sum %d were loaded; %d and %d are there", f.rows, f.sum, n, sum)
	}
	if err := db.QueryRowContext(ctx,
		"SELECT COUNT(*) FROM load_row FORCE INDEX (by_k) WHERE k >= 0").Scan(&n); err != nil {
		return err
	}
	if n != int64(f.rows) {
		return fmt.Errorf("%d rows were loaded, the index has %d", f.rows, n)
	}
	_, err := db.ExecContext(ctx, "DROP TABLE load_row")
	return err
}

// peakMemory is the most that a process has had in memory, in KiB; 0 if that is not known.
func peakMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}
