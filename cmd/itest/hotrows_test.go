package itest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

var hotTime = flag.Duration("hot.time", time.Duration(soaked(0, 10))*time.Minute,
	"how long hot rows are counted up at least")

// TestHotRowsCountEveryUpdate counts rows up, whose values are now short, now too long for the server's
// memory of hot rows, in single statements and in transactions, beside readers that keep them hot and look
// from old snapshots. What was acknowledged is there at once, and at the end. There are so many rows that
// some of either kind share a slot of that memory.
func TestHotRowsCountEveryUpdate(t *testing.T) {
	const (
		rows    = 256 // of each kind
		writers = 4   // of each kind; each has rows of its own
		least   = 100 // updates of each writer
	)
	s := start(t, t.TempDir(), "--shards", "1")
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE hot")
	mustExec(t, db, "CREATE TABLE hot.c (id INT PRIMARY KEY, n BIGINT NOT NULL, pad VARCHAR(1100) NOT NULL)")
	var values []string
	for id := range 2 * rows {
		values = append(values, fmt.Sprintf("(%d,0,'')", id))
	}
	mustExec(t, db, "INSERT INTO hot.c VALUES "+strings.Join(values, ","))

	var acknowledged [2 * rows]int64 // each element belongs to one writer
	var total, refused, reads atomic.Int64
	var writing, reading sync.WaitGroup
	ended := make(chan struct{})
	deadline := time.Now().Add(*hotTime)
	update := func(ctx context.Context, c *sql.Conn, id int, explicit bool) error {
		const q = "UPDATE hot.c SET pad = IF(n % 2 = 0, REPEAT('x', 1010), ''), n = n + 1 WHERE id = ?"
		if !explicit {
			_, err := c.ExecContext(ctx, q, id)
			return err
		}
		tx, err := c.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT n FROM hot.c WHERE id = ?", id).Scan(&n); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
		return tx.Commit()
	}
	for w := range 2 * writers {
		writing.Go(func() {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for i := 0; i < least || time.Now().Before(deadline); i++ {
				id := w*rows/writers + rng.IntN(rows/writers)
				switch err := update(t.Context(), conn, id, w >= writers); {
				case errors.As(err, new(*mysql.MySQLError)):
					// of the rows of a writer nobody else writes; but a refusal is no loss
					refused.Add(1)
				case err != nil:
					t.Error(err)
					return
				default:
					acknowledged[id]++
					total.Add(1)
				}
				if i%2 == 0 {
					continue
				}
				var n int64
				if err := conn.QueryRowContext(t.Context(), "SELECT n FROM hot.c WHERE id = ?",
					id).Scan(&n); err != nil {
					t.Error(err)
					return
				}
				if n != acknowledged[id] {
					t.Errorf("row %d: %d updates acknowledged, SELECT says %d", id, acknowledged[id], n)
					return
				}
			}
		})
	}
	for r := range 2 { // REPEATABLE READ: one snapshot, many looks
		reading.Go(func() {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			rng := rand.New(rand.NewPCG(2, uint64(r)))
			for {
				select {
				case <-ended:
					return
				default:
				}
				tx, err := conn.BeginTx(t.Context(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				for range 100 {
					var n int64
					if err := tx.QueryRowContext(t.Context(), "SELECT n FROM hot.c WHERE id = ?",
						rng.IntN(rows)).Scan(&n); err != nil {
						t.Error(err)
						break
					}
					reads.Add(1)
				}
				if err := tx.Rollback(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	close(ended)
	reading.Wait()
	final := one[int64](t, db, "SELECT SUM(n) FROM hot.c")
	t.Logf("%d updates acknowledged, %d is the final count; %d were refused, %d reads", total.Load(), final,
		refused.Load(), reads.Load())
	if final != total.Load() {
		t.Errorf("%d updates were acknowledged, the final count is %d", total.Load(), final)
	}
	for id := range acknowledged {
		if n := one[int64](t, db, "SELECT n FROM hot.c WHERE id = ?", id); n != acknowledged[id] {
			t.Errorf("row %d: %d updates acknowledged, the final count is %d", id, acknowledged[id], n)
		}
	}
}
