package txn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// rowLockStore has rows a, b and c in shards of their own and a client; everything runs in a bubble of fake time.
func rowLockTest(t *testing.T, f func(t *testing.T, c *txn.Client, m *kvtest.Mem)) {
	synctest.Test(t, func(t *testing.T) {
		c, m := txntest.NewStore(t, kvtest.Options{Shards: 3, Splits: []kv.RowKey{txntest.Split("b"), txntest.Split("c")}}, txn.Options{})
		put(t, c, "a", "1", "b", "1", "c", "1")
		f(t, c, m)
	})
}

func lock(t *testing.T, tx *txn.Txn, o txn.LockOptions, rows ...string) ([]bool, error) {
	t.Helper()
	cs := make([]kv.Column, len(rows))
	for i, r := range rows {
		cs[i] = col(r)
	}
	return tx.Lock(t.Context(), cs, o)
}

func mustLock(t *testing.T, tx *txn.Txn, rows ...string) {
	t.Helper()
	if _, err := lock(t, tx, txn.LockOptions{}, rows...); err != nil {
		t.Fatalf("lock %v: %v", rows, err)
	}
}

// events collects what happens in which order.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf(format, args...))
}

func (e *events) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := strings.Join(e.list, ", ")
	e.list = nil
	return s
}

// TestRowLockHandOff: waiters are served in the order of arrival, one at a time, whoever else comes along.
func TestRowLockHandOff(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		first := c.Begin(txn.TxnOptions{})
		mustLock(t, first, "b")
		var ev events
		var wg sync.WaitGroup
		turn := make([]chan struct{}, 5)
		for i := range turn {
			turn[i] = make(chan struct{})
			wg.Go(func() {
				tx := c.Begin(txn.TxnOptions{})
				if _, err := tx.Lock(t.Context(), []kv.Column{col("b")}, txn.LockOptions{}); err != nil {
					ev.add("%d: %v", i, err)
				} else {
					ev.add("%d", i)
				}
				<-turn[i]
				tx.Rollback()
			})
			synctest.Wait()
		}
		time.Sleep(10 * time.Second) // longer than requests that wait, and than a lease
		synctest.Wait()
		if got := ev.take(); got != "" {
			t.Fatalf("served while the lock was held: %s", got)
		}
		first.Rollback()
		for i := range turn {
			synctest.Wait()
			if got := ev.take(); got != fmt.Sprint(i) {
				t.Errorf("turn %d: got %q", i, got)
			}
			close(turn[i])
		}
		wg.Wait()
		synctest.Wait()
		if left, err := c.RowLocks(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// TestRowLockWaitOutlivesMove: a tablet may move while somebody waits for a lock in it, for longer than an unreachable storage would be put
// up with.
func TestRowLockWaitOutlivesMove(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		holder, waiter := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		mustLock(t, holder, "b")
		ended := make(chan error, 1)
		go func() {
			_, err := waiter.Lock(t.Context(), []kv.Column{col("b")}, txn.LockOptions{Wait: time.Hour})
			ended <- err
		}()
		synctest.Wait()
		time.Sleep(20 * time.Minute)
		shards, err := m.Shards(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			m.Move(txntest.Split("b"), s)
		}
		holder.Rollback()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		waiter.Rollback()
	})
}

// TestCommitInLineOutlivesMove: a commit that stands in line for a row lock for longer than an unreachable
// storage would be put up with finds the row where it is then. (The time for looking was over with the wait:
// "moved" was what the client got.)
func TestCommitInLineOutlivesMove(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		holder := c.Begin(txn.TxnOptions{})
		mustLock(t, holder, "b")
		ended := make(chan error, 1)
		go func() {
			tx := c.Begin(txn.TxnOptions{})
			tx.Put(col("b"), []byte("2"), txn.WriteOptions{})
			_, err := tx.Commit(context.Background())
			ended <- err
		}()
		synctest.Wait()
		time.Sleep(40 * time.Second)
		m.Move(txntest.Split("b"), 1)
		holder.Rollback()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestRowLockSeesCommit: who waited for a writer finds that the row has changed after its snapshot; with a new snapshot it goes on,
// as it has the lock.
func TestRowLockSeesCommit(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		writer, waiter := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		mustLock(t, writer, "a")
		writer.Put(col("a"), []byte("2"), txn.WriteOptions{})
		done := make(chan error)
		go func() {
			_, err := waiter.Lock(t.Context(), []kv.Column{col("a")}, txn.LockOptions{})
			done <- err
		}()
		synctest.Wait()
		mustCommit(t, writer)
		if err := <-done; !errors.Is(err, txn.ErrConflict) {
			t.Fatalf("lock of a changed row: %v", err)
		}
		if _, err := lock(t, c.Begin(txn.TxnOptions{}), txn.LockOptions{NoWait: true}, "a"); !errors.Is(err, txn.ErrLockNotAvailable) {
			t.Errorf("the lock is not held after the conflict: %v", err)
		}
		waiter.Advance()
		v, _, err := waiter.Get(t.Context(), col("a"))
		if err != nil || string(v) != "2" {
			t.Fatalf("after Advance: %q, %v", v, err)
		}
		mustLock(t, waiter, "a")
		waiter.Put(col("a"), []byte("3"), txn.WriteOptions{})
		mustCommit(t, waiter)
	})
}

func TestRowLockTimeoutNoWaitSkip(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		holder, other := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		mustLock(t, holder, "b")
		began := time.Now()
		if _, err := lock(t, other, txn.LockOptions{Wait: 3 * time.Second}, "a", "b"); !errors.Is(err, txn.ErrLockTimeout) {
			t.Errorf("wait: %v", err)
		}
		if d := time.Since(began); d < 3*time.Second || d > 3100*time.Millisecond {
			t.Errorf("waited %v, want 3s", d)
		}
		if _, err := lock(t, other, txn.LockOptions{NoWait: true}, "b"); !errors.Is(err, txn.ErrLockNotAvailable) {
			t.Errorf("nowait: %v", err)
		}
		got, err := lock(t, other, txn.LockOptions{SkipLocked: true}, "a", "b", "c")
		if err != nil || !slices.Equal(got, []bool{true, false, true}) {
			t.Errorf("skip locked: %v, %v", got, err)
		}
		// The transaction has lived through all of it.
		other.Put(col("a"), []byte("2"), txn.WriteOptions{})
		mustCommit(t, other)
		// What changed after the snapshot is skipped, too, and its lock given back.
		late := c.Begin(txn.TxnOptions{})
		if _, err := late.StartTS(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(t, c, "c", "2")
		if got, err := lock(t, late, txn.LockOptions{SkipLocked: true}, "a", "c"); err != nil || !slices.Equal(got, []bool{true, false}) {
			t.Errorf("skip changed: %v, %v", got, err)
		}
		mustLock(t, holder, "b") // again
		free := c.Begin(txn.TxnOptions{})
		if _, err := lock(t, free, txn.LockOptions{NoWait: true}, "c"); err != nil {
			t.Errorf("the skipped row is still locked: %v", err)
		}
		free.Rollback()
		late.Rollback()
		holder.Rollback()
	})
}

func TestRowLockShared(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		s1, s2, x := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		for i, s := range []*txn.Txn{s1, s2} {
			if _, err := lock(t, s, txn.LockOptions{Share: true}, "b"); err != nil {
				t.Fatal(err)
			}
			s.LockShared(col("b"))
			s.Put(col(fmt.Sprint("a", i)), []byte("x"), txn.WriteOptions{})
		}
		var ev events
		done := make(chan struct{})
		go func() {
			_, err := x.Lock(t.Context(), []kv.Column{col("b")}, txn.LockOptions{})
			ev.add("exclusive %v", err)
			close(done)
		}()
		synctest.Wait()
		if _, err := lock(t, c.Begin(txn.TxnOptions{}), txn.LockOptions{Share: true, NoWait: true}, "b"); !errors.Is(err, txn.ErrLockNotAvailable) {
			t.Errorf("a newcomer shares past a waiter: %v", err)
		}
		mustCommit(t, s1) // both wrote elsewhere: sharing is no conflict
		synctest.Wait()
		if got := ev.take(); got != "" {
			t.Errorf("granted beside a shared holder: %s", got)
		}
		mustCommit(t, s2)
		<-done
		if got := ev.take(); got != "exclusive <nil>" {
			t.Errorf("got %s", got)
		}
		x.Rollback()
	})
}

// TestDeadlock of two and of three transactions, each row in another shard: one of them is told, the others go on.
func TestDeadlock(t *testing.T) {
	for _, rows := range [][]string{{"a", "b"}, {"a", "b", "c"}} {
		t.Run(fmt.Sprint(len(rows)), func(t *testing.T) {
			rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
				n := len(rows)
				txs := make([]*txn.Txn, n)
				for i := range txs {
					txs[i] = c.Begin(txn.TxnOptions{})
					txs[i].SetNote(fmt.Sprint("session ", i))
					mustLock(t, txs[i], rows[i])
				}
				errs := make([]error, n)
				began := time.Now()
				var wg sync.WaitGroup
				for i := range txs {
					wg.Go(func() {
						_, errs[i] = txs[i].Lock(t.Context(), []kv.Column{col(rows[(i+1)%n])}, txn.LockOptions{})
						txs[i].Rollback()
					})
					synctest.Wait()
				}
				wg.Wait()
				for i, err := range errs {
					var d *txn.DeadlockError
					switch {
					case i < n-1 && err != nil:
						t.Errorf("transaction %d: %v", i, err)
					case i == n-1 && (!errors.As(err, &d) || !errors.Is(err, txn.ErrDeadlock) || len(d.Cycle) != n):
						t.Errorf("the last transaction closed the cycle: %v", err)
					}
				}
				if d := time.Since(began); d > 100*time.Millisecond {
					t.Errorf("found after %v", d)
				}
				ds, err := c.Deadlocks(t.Context())
				if err != nil || len(ds) != 1 || len(ds[0].Cycle) != n || ds[0].Victim != ds[0].Cycle[0].Waiter {
					t.Fatalf("written down: %+v, %v", ds, err)
				}
				for i, w := range ds[0].Cycle {
					if w.Holder != ds[0].Cycle[(i+1)%n].Waiter || !strings.HasPrefix(w.Note, "session") {
						t.Errorf("edge %d: %+v", i, w)
					}
				}
			})
		})
	}
}

// TestUpgradeDeadlock: two that share a row and both want to write it.
func TestUpgradeDeadlock(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		t1, t2 := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		for _, tx := range []*txn.Txn{t1, t2} {
			if _, err := lock(t, tx, txn.LockOptions{Share: true}, "a"); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error)
		go func() {
			_, err := t1.Lock(t.Context(), []kv.Column{col("a")}, txn.LockOptions{})
			done <- err
		}()
		synctest.Wait()
		if _, err := lock(t, t2, txn.LockOptions{}, "a"); !errors.Is(err, txn.ErrDeadlock) {
			t.Errorf("second: %v", err)
		}
		t2.Rollback()
		if err := <-done; err != nil {
			t.Errorf("first: %v", err)
		}
		t1.Rollback()
	})
}

// TestNoLostUpdateWithoutLocks: the leader that had the locks dies. Another transaction takes them and commits; the first owner,
// which knows nothing of it, is refused at commit.
func TestNoLostUpdateWithoutLocks(t *testing.T) {
	for name, lose := range map[string]func(m *kvtest.Mem){
		"restart": func(m *kvtest.Mem) { m.Restart(2) },
		"move":    func(m *kvtest.Mem) { m.Move(txntest.Split("b"), 3) },
	} {
		for _, kind := range []string{"update", "for update", "for share"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
					victim := c.Begin(txn.TxnOptions{})
					if _, err := lock(t, victim, txn.LockOptions{Share: kind == "for share"}, "b"); err != nil {
						t.Fatal(err)
					}
					switch kind {
					case "update":
						victim.Put(col("b"), []byte("victim"), txn.WriteOptions{})
					case "for update":
						victim.LockForUpdate(col("b"))
					case "for share":
						victim.LockShared(col("b"))
					}
					victim.Put(col("a"), []byte("victim"), txn.WriteOptions{})
					lose(m)
					thief := c.Begin(txn.TxnOptions{})
					if _, err := lock(t, thief, txn.LockOptions{NoWait: true}, "b"); err != nil {
						t.Fatalf("the lock was not lost: %v", err)
					}
					thief.Put(col("b"), []byte("thief"), txn.WriteOptions{})
					mustCommit(t, thief)
					if _, err := victim.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
						t.Errorf("commit without the lock: %v", err)
					}
					if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "a=1 b=thief c=1" {
						t.Errorf("stored: %s", got)
					}
				})
			})
		}
	}
}

// TestLostLockWithoutRival: a lock that was lost and that nobody has taken meanwhile costs nothing.
func TestLostLockWithoutRival(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		tx := c.Begin(txn.TxnOptions{})
		mustLock(t, tx, "a", "b")
		tx.LockShared(col("c"))
		tx.Put(col("a"), []byte("2"), txn.WriteOptions{})
		tx.Put(col("b"), []byte("2"), txn.WriteOptions{})
		m.Restart(1)
		m.Restart(2)
		m.Restart(3)
		mustCommit(t, tx)
	})
}

// TestSilentOwner: an owner that is not heard of for a lease loses its locks to who waits for them.
func TestSilentOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, m := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
		gone, err := txn.NewClient(m, txn.ClockOf(here), txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tx := gone.Begin(txn.TxnOptions{})
		mustLock(t, tx, "a")
		waiter := here.Begin(txn.TxnOptions{})
		began := time.Now()
		done := make(chan error)
		go func() {
			_, err := waiter.Lock(context.Background(), []kv.Column{col("a")}, txn.LockOptions{})
			done <- err
		}()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("a lock of a living owner was lost: %v", err)
		default:
		}
		_ = gone.Close() // says nothing any more
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d < 35*time.Second || d > 42*time.Second {
			t.Errorf("granted after %v, want 30s and the rest of a lease of 10s", d)
		}
		waiter.Rollback()
	})
}

// TestOptimisticWaitsForRowLock: a commit in one phase, which locks nothing itself, takes its place in the line.
func TestOptimisticWaitsForRowLock(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		holder := c.Begin(txn.TxnOptions{})
		mustLock(t, holder, "b")
		holder.Put(col("b"), []byte("holder"), txn.WriteOptions{})
		var ev events
		var wg sync.WaitGroup
		wg.Go(func() {
			tx := c.Begin(txn.TxnOptions{})
			tx.Put(col("b"), []byte("blind"), txn.WriteOptions{})
			_, err := tx.Commit(context.Background())
			ev.add("blind %v", err)
		})
		wg.Go(func() {
			tx := c.Begin(txn.TxnOptions{LockWait: 2 * time.Second})
			_, _, _ = tx.Get(context.Background(), col("b"))
			tx.Put(col("b"), []byte("computed"), txn.WriteOptions{})
			_, err := tx.Commit(context.Background())
			ev.add("impatient %v", errors.Is(err, txn.ErrLockTimeout))
		})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := ev.take(); got != "impatient true" {
			t.Errorf("while locked: %s", got)
		}
		mustCommit(t, holder)
		wg.Wait()
		if got := ev.take(); got != "blind <nil>" {
			t.Errorf("after: %s", got)
		}
		if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "a=1 b=blind c=1" {
			t.Errorf("stored: %s", got)
		}
	})
}

// TestWriteSkewAndForUpdate: the anomaly that snapshot isolation allows, and what takes it away.
func TestWriteSkewAndForUpdate(t *testing.T) {
	for _, lockReads := range []bool{false, true} {
		rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
			t1, t2 := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
			errs, read := make(chan error, 2), make(chan struct{})
			for _, tx := range []*txn.Txn{t1, t2} {
				// Or one might begin when the other has committed, and both be right.
				if _, err := tx.StartTS(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for i, tx := range []*txn.Txn{t1, t2} {
				go func() {
					for _, r := range []string{"a", "c"} {
						if _, _, err := tx.Get(context.Background(), col(r)); err != nil {
							errs <- err
							return
						}
						if lockReads {
							if _, err := tx.Lock(context.Background(), []kv.Column{col(r)}, txn.LockOptions{}); err != nil {
								tx.Rollback()
								errs <- err
								return
							}
							tx.LockForUpdate(col(r))
						}
					}
					tx.Put(col([]string{"a", "c"}[i]), []byte("0"), txn.WriteOptions{})
					if !lockReads {
						read <- struct{}{} // both have read before one commits
					}
					_, err := tx.Commit(context.Background())
					errs <- err
				}()
			}
			if !lockReads {
				<-read
				<-read
			}
			e1, e2 := <-errs, <-errs
			if both := e1 == nil && e2 == nil; both == lockReads {
				t.Errorf("locking reads %v: %v, %v", lockReads, e1, e2)
			}
		})
	}
}

// TestLostLocksOfReaders: who has locked a row and reads others by a later snapshot relies on the lock; if it
// was lost and the row has changed, the reads are of two states, and the commit says so. With the lock, or
// with one snapshot, there is nothing to say. (Found by lists in a cluster under faults: G-nonadjacent.)
func TestLostLocksOfReaders(t *testing.T) {
	for name, c := range map[string]struct{ lost, advance, share, conflict bool }{
		"held":          {advance: true},
		"lost":          {lost: true, advance: true, conflict: true},
		"lost, shared":  {lost: true, advance: true, share: true, conflict: true},
		"one snapshot":  {lost: true},
		"held and read": {advance: true, share: true},
	} {
		t.Run(name, func(t *testing.T) {
			rowLockTest(t, func(t *testing.T, client *txn.Client, m *kvtest.Mem) {
				tx := client.Begin(txn.TxnOptions{})
				if _, err := lock(t, tx, txn.LockOptions{Share: c.share}, "b"); err != nil {
					t.Fatal(err)
				}
				if c.share {
					tx.LockShared(col("b"))
				} else {
					tx.LockForUpdate(col("b"))
				}
				if c.lost {
					m.Restart(2)
					put(t, client, "b", "2")
				}
				put(t, client, "a", "2")
				if c.advance {
					tx.Advance()
				}
				if _, _, err := tx.Get(t.Context(), col("a")); err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Commit(t.Context()); errors.Is(err, txn.ErrConflict) != c.conflict ||
					err != nil && !c.conflict {
					t.Errorf("commit: %v", err)
				}
			})
		})
	}
}

// TestLockTakenAgainProvesNothing: a shared lock that was lost, and taken again after somebody has written, does not stand for the
// one that was lost. (Found by the simulator.)
func TestLockTakenAgainProvesNothing(t *testing.T) {
	rowLockTest(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		tx := c.Begin(txn.TxnOptions{})
		if _, err := lock(t, tx, txn.LockOptions{Share: true}, "b"); err != nil {
			t.Fatal(err)
		}
		tx.LockShared(col("b"))
		tx.Put(col("a"), []byte("2"), txn.WriteOptions{})
		m.Restart(2)
		put(t, c, "b", "2")
		if _, err := lock(t, tx, txn.LockOptions{Share: true}, "b"); !errors.Is(err, txn.ErrConflict) {
			t.Fatalf("lock of a changed row: %v", err)
		}
		tx.Advance()
		if _, err := lock(t, tx, txn.LockOptions{Share: true}, "b"); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("commit: %v", err)
		}
	})
}
