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

var (
	bankRounds = flag.Int("bank.rounds", 3, "how often the bank's server is killed")
	bankTime   = flag.Duration("bank.time", time.Duration(soaked(0, 10))*time.Minute,
		"how long it is killed at least")
	bankTransfers = flag.Int("bank.transfers", 400, "committed transfers between two kills, on average")
)

const (
	accounts    = 1000
	initial     = 100
	connections = 32
)

// TestBankSurvivesKills is the classic: money moves between accounts in tablets of three shards, over 32
// connections, while readers add all of it up, and the process is killed with SIGKILL again and again. Every
// snapshot must hold the same sum, and the journal that each transfer writes in its own transaction must hold
// every transfer that was acknowledged. Garbage is collected as early as it can be.
func TestBankSurvivesKills(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, "--shards", "3", "--gc-retention", "1s")
	db := s.db("")
	mustExec(t, db, "CREATE DATABASE bank")
	mustExec(t, db, "CREATE TABLE bank.account (id INT PRIMARY KEY, balance BIGINT NOT NULL)")
	mustExec(t, db, "CREATE TABLE bank.journal (id BIGINT PRIMARY KEY, src INT NOT NULL, dst INT NOT NULL)")
	for i := 0; i < accounts; i += 100 {
		var rows []string
		for j := i; j < i+100; j++ {
			rows = append(rows, fmt.Sprintf("(%d,%d)", j, initial))
		}
		mustExec(t, db, "INSERT INTO bank.account VALUES "+strings.Join(rows, ","))
	}
	// Five tablets of accounts, dealt out to the three shards.
	for i, at := range []int{200, 400, 600, 800} {
		s.ctl("split", "bank.account", fmt.Sprint(at))
		s.ctl("move", "bank.account", fmt.Sprint(at), fmt.Sprint(i%3+1))
	}
	tablets := s.ctl("tablets")
	for _, shard := range []string{"shard 1", "shard 2", "shard 3"} {
		if !strings.Contains(tablets, shard) {
			t.Fatalf("no tablet on %s:\n%s", shard, tablets)
		}
	}

	b := &bank{acknowledged: map[int64]bool{}}
	began := time.Now()
	for round := 0; round < *bankRounds || time.Since(began) < *bankTime; round++ {
		b.run(t, s, 1+rand.IntN(2**bankTransfers))
		s.kill()
		s = start(t, dir, "--shards", "3", "--gc-retention", "1s")
		b.verify(t, s, round)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if b.conflicts.Load() == 0 {
		t.Log("no transfer ever conflicted: the load is too tame to show much")
	}
	t.Logf("%d transfers acknowledged, %d conflicts, %d unknown outcomes, %d snapshots summed",
		len(b.acknowledged), b.conflicts.Load(), b.unknown.Load(), b.snapshots.Load())
}

type bank struct {
	next                          atomic.Int64
	conflicts, unknown, snapshots atomic.Int64
	mu                            sync.Mutex
	acknowledged                  map[int64]bool
}

// run moves money until enough transfers were acknowledged, then kills the server under full load.
func (b *bank) run(t *testing.T, s *server, transfers int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db, err := sql.Open("mysql", s.dsn("bank"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(connections + 2)
	var left atomic.Int64
	left.Store(int64(transfers))
	enough := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				id := b.next.Add(1)
				switch err := transfer(ctx, db, id); {
				case err == nil:
					b.mu.Lock()
					b.acknowledged[id] = true
					b.mu.Unlock()
					if left.Add(-1) == 0 {
						once.Do(func() { close(enough) })
					}
				case isConflict(err):
					b.conflicts.Add(1)
				case ctx.Err() != nil:
				default:
					b.unknown.Add(1)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if sum, n, err := snapshot(ctx, db); err == nil {
					b.snapshots.Add(1)
					if sum != accounts*initial || n != accounts {
						t.Errorf("a snapshot saw %d accounts with %d in all, want %d with %d", n, sum,
							accounts, accounts*initial)
						once.Do(func() { close(enough) })
						return
					}
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(2 * time.Minute):
		t.Errorf("only %d of %d transfers within two minutes; server log:\n%s", int64(transfers)-left.Load(),
			transfers, s.logs())
	}
	s.kill() // in the middle of whatever is under way
	cancel()
	wg.Wait()
}

// transfer moves one unit between two accounts and writes the journal, in one explicit transaction.
func transfer(ctx context.Context, db *sql.DB, id int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	src, dst := rand.IntN(accounts), rand.IntN(accounts)
	if src == dst {
		dst = (dst + 1) % accounts
	}
	var have int64
	if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ?",
		src).Scan(&have); err != nil {
		return err
	}
	if have > 0 {
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 1 WHERE id = ?",
			src); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = ?",
			dst); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO journal VALUES (?, ?, ?)", id, src, dst); err != nil {
		return err
	}
	return tx.Commit()
}

func snapshot(ctx context.Context, db *sql.DB) (sum, n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT SUM(balance), COUNT(*) FROM account").Scan(&sum, &n)
	return sum, n, err
}

func isConflict(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205)
}

func (b *bank) verify(t *testing.T, s *server, round int) {
	t.Helper()
	db := s.db("bank")
	sum, n, err := snapshot(context.Background(), db)
	if err != nil {
		t.Fatalf("after kill %d: %v", round+1, err)
	}
	if sum != accounts*initial || n != accounts {
		t.Fatalf("after kill %d: %d accounts with %d in all, want %d with %d", round+1, n, sum, accounts,
			accounts*initial)
	}
	rows, err := db.Query("SELECT id FROM journal")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	stored := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		stored[id] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id := range b.acknowledged {
		if !stored[id] {
			t.Errorf("after kill %d: transfer %d was acknowledged and is gone", round+1, id)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
