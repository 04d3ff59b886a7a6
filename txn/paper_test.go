package txn_test

import (
	"context"
	"errors"
	"fmt"
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

// One test for each claim of Percolator §2.2 and §2.3, with the claim in our words on top. bob and joe live in different shards.

type paperWorld struct {
	*testing.T
	mem   *kvtest.Mem
	clock *txntest.Clock
	c     *txn.Client
	async bool // else commits have the paper's two phases
}

// paper runs a test in a bubble: locks expire without anybody waiting.
func paper(t *testing.T, f func(w *paperWorld)) {
	synctest.Test(t, func(t *testing.T) {
		w := &paperWorld{T: t, clock: &txntest.Clock{}}
		w.mem = kvtest.NewMem(kvtest.Options{Shards: 2, Splits: []kv.RowKey{col("i").Row}, Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})}})
		w.c = w.client(w.mem, txn.Options{})
		w.put(w.c, "bob", "10", "joe", "2")
		f(w)
	})
}

func (w *paperWorld) client(s kv.Store, o txn.Options) *txn.Client {
	o.NoAsyncCommit = !w.async
	c, err := txn.NewClient(s, w.clock, o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { c.Close() })
	return c
}

func (w *paperWorld) put(c *txn.Client, pairs ...string) {
	w.Helper()
	put(w.T, c, pairs...)
	synctest.Wait()
}

func (w *paperWorld) get(tx *txn.Txn, row string) string {
	w.Helper()
	v, ok, err := tx.Get(context.Background(), col(row))
	if err != nil {
		w.Fatal(err)
	}
	if !ok {
		return "nothing"
	}
	return string(v)
}

func (w *paperWorld) read(row string) string {
	w.Helper()
	return w.get(w.c.Begin(txn.TxnOptions{}), row)
}

func (w *paperWorld) cells() string {
	var out []string
	for _, id := range []kv.ShardID{1, 2} {
		cells, err := txn.DumpCells(w.mem.Reader(id))
		if err != nil {
			w.Fatal(err)
		}
		for c, vs := range cells {
			out = append(out, c+" "+strings.Join(vs, " "))
		}
	}
	return strings.Join(out, "\n")
}

// transfer returns a transaction that gives 7 of bob's to joe. Its commit goes through s.
func (w *paperWorld) transfer(s kv.Store, o txn.Options) *txn.Txn {
	tx := w.client(s, o).Begin(txn.TxnOptions{})
	w.get(tx, "bob")
	tx.Put(col("bob"), []byte("3"), txn.WriteOptions{})
	tx.Put(col("joe"), []byte("9"), txn.WriteOptions{})
	return tx
}

// interposed calls before, in the caller's goroutine, ahead of each call.
type interposed struct {
	kv.Store
	before func(cmd kv.CommandID, req kv.Message) error
}

func (i *interposed) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if err := i.before(cmd, req); err != nil {
		return nil, err
	}
	return i.Store.Call(ctx, shard, tablets, cmd, req)
}

// dies is a store that its client loses at a crash point.
func (w *paperWorld) dies(point string) kv.Store {
	return &mortal{Store: w.mem, allow: func(cmd kv.CommandID, req kv.Message) bool {
		return cmd == txn.CmdGet || cmd == txn.CmdSeed || crashes[point](cmd, req)
	}}
}

var errDead = kv.Errorf(kv.CodeClosed, "test", "the client is dead")

// All reads of a transaction come from one snapshot, whatever commits meanwhile.
func TestPaper_2_2_ReadsComeFromOneSnapshot(t *testing.T) {
	paper(t, func(w *paperWorld) {
		tx := w.c.Begin(txn.TxnOptions{})
		if got := w.get(tx, "bob"); got != "10" {
			t.Fatal(got)
		}
		w.put(w.c, "bob", "3", "joe", "9")
		if bob, joe := w.get(tx, "bob"), w.get(tx, "joe"); bob != "10" || joe != "2" {
			t.Errorf("bob %s, joe %s: not the snapshot of 10 and 2", bob, joe)
		}
	})
}

// If two transactions with overlapping lives write the same cell, at most one commits.
func TestPaper_2_2_NoLostUpdates(t *testing.T) {
	paper(t, func(w *paperWorld) {
		t1, t2 := w.transfer(w.mem, txn.Options{}), w.transfer(w.mem, txn.Options{})
		mustCommit(w.T, t1)
		if _, err := t2.Commit(w.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("the second: %v", err)
		}
	})
}

// Snapshot isolation is not serializability: transactions that read what the other writes may both commit.
func TestPaper_2_2_WriteSkewIsPossible(t *testing.T) {
	paper(t, func(w *paperWorld) {
		t1, t2 := w.c.Begin(txn.TxnOptions{}), w.c.Begin(txn.TxnOptions{})
		w.get(t1, "bob")
		w.get(t2, "joe")
		t1.Put(col("joe"), []byte("0"), txn.WriteOptions{})
		t2.Put(col("bob"), []byte("0"), txn.WriteOptions{})
		mustCommit(w.T, t1)
		mustCommit(w.T, t2)
	})
}

// Writes are buffered until Commit: before it there is no trace of them.
func TestPaper_2_2_WritesAreBuffered(t *testing.T) {
	paper(t, func(w *paperWorld) {
		before := w.read("bob")
		tx := w.transfer(w.mem, txn.Options{})
		if cells := w.cells(); strings.Contains(cells, "lock@") || w.read("bob") != before {
			t.Errorf("traces of an uncommitted transaction: %s", cells)
		}
		tx.Rollback()
	})
}

// Prewrite aborts when it sees a lock of another transaction, at any timestamp: even one that began later.
func TestPaper_2_2_PrewriteAbortsOnAnyLock(t *testing.T) {
	paper(t, func(w *paperWorld) {
		older := w.transfer(w.mem, txn.Options{})
		younger := w.transfer(w.dies("after-prewrite"), txn.Options{})
		if _, err := younger.Commit(w.Context()); err == nil {
			t.Fatal("a dead client committed")
		}
		_, err := older.Commit(w.Context())
		var conflict *txn.ConflictError
		if !errors.As(err, &conflict) || !strings.Contains(conflict.Reason, "locked") {
			t.Errorf("prewrite over a foreign lock: %v", err)
		}
	})
}

// A transaction takes effect at its commit_ts in all cells at once: nobody sees a part of it, at whichever step of its commit
// he looks.
func TestPaper_2_2_CommitIsAtomicAtEveryStep(t *testing.T) {
	paper(t, func(w *paperWorld) {
		looks := 0
		look := func() error {
			looks++
			tx := w.c.Begin(txn.TxnOptions{})
			if bob, joe := w.get(tx, "bob"), w.get(tx, "joe"); bob+joe != "102" && bob+joe != "39" {
				t.Errorf("half a transfer: bob %s, joe %s", bob, joe)
			}
			return nil
		}
		s := &interposed{w.mem, func(cmd kv.CommandID, _ kv.Message) error {
			if cmd == txn.CmdPrewrite {
				return nil // a reader would wait for the primary, and the primary for the reader: look when all are through
			}
			return look()
		}}
		mustCommit(w.T, w.transfer(s, txn.Options{}))
		synctest.Wait()
		if look(); w.read("joe") != "9" || looks < 4 {
			t.Errorf("joe has %s after %d looks", w.read("joe"), looks)
		}
	})
}

// Before the primary is committed, a crash means roll back; after it, roll forward. The primary alone decides.
func TestPaper_2_2_PrimaryDecides(t *testing.T) {
	for point, want := range map[string]string{
		"before-prewrite": "10 2", "after-primary-prewrite": "10 2", "after-others-prewrite": "10 2", "after-prewrite": "10 2", "after-commit-of-primary": "3 9",
	} {
		for _, order := range [][]string{{"bob", "joe"}, {"joe", "bob"}} {
			t.Run(point+", "+order[0]+" read first", func(t *testing.T) {
				paper(t, func(w *paperWorld) {
					if _, err := w.transfer(w.dies(point), txn.Options{}).Commit(w.Context()); err == nil && point != "after-commit-of-primary" {
						t.Fatal("a dead client committed")
					}
					time.Sleep(time.Minute)
					tx := w.c.Begin(txn.TxnOptions{})
					got := map[string]string{}
					for _, row := range order {
						got[row] = w.get(tx, row)
					}
					if got := got["bob"] + " " + got["joe"]; got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
			})
		}
	}
}

// Get waits for locks up to its snapshot only: what begins later cannot commit in its past.
func TestPaper_2_2_LaterLocksDoNotMatter(t *testing.T) {
	paper(t, func(w *paperWorld) {
		reader := w.c.Begin(txn.TxnOptions{})
		if _, err := reader.StartTS(w.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.transfer(w.dies("after-prewrite"), txn.Options{}).Commit(w.Context()); err == nil {
			t.Fatal("a dead client committed")
		}
		if bob := w.get(reader, "bob"); bob != "10" || w.c.Metrics().LocksMet != 0 {
			t.Errorf("bob %s, %d locks met", bob, w.c.Metrics().LocksMet)
		}
	})
}

// Clean-up and a slow committer race at the primary. If clean-up wins, the committer must notice that its lock is gone.
func TestPaper_2_2_SlowCommitterLosesToCleanUp(t *testing.T) {
	paper(t, func(w *paperWorld) {
		s := &interposed{w.mem, nil}
		s.before = func(cmd kv.CommandID, _ kv.Message) error {
			switch cmd {
			case txn.CmdHeartbeat:
				return errDead // it does not even say that it lives
			case txn.CmdCommit:
				time.Sleep(time.Minute)
				if got := w.read("joe"); got != "2" { // the other rolls it back
					t.Errorf("joe %s", got)
				}
			}
			return nil
		}
		if _, err := w.transfer(s, txn.Options{}).Commit(w.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("committed after it was rolled back: %v", err)
		}
		if bob, joe := w.read("bob"), w.read("joe"); bob+joe != "102" {
			t.Errorf("bob %s, joe %s", bob, joe)
		}
	})
}

// A prewrite that arrives after its transaction was cleaned up must not lock anything again.
func TestPaper_2_2_LatePrewriteFails(t *testing.T) {
	paper(t, func(w *paperWorld) {
		s := &interposed{w.mem, nil}
		s.before = func(cmd kv.CommandID, req kv.Message) error {
			if cmd == txn.CmdPrewrite && txn.LocksPrimary(req) { // held up, while the secondary's has gone through
				synctest.Wait()
				time.Sleep(time.Minute)
				if got := w.read("joe"); got != "2" {
					t.Errorf("joe %s", got)
				}
			}
			return nil
		}
		if _, err := w.transfer(s, txn.Options{}).Commit(w.Context()); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("a late prewrite: %v", err)
		}
		if cells := w.cells(); strings.Contains(cells, "lock@") {
			t.Errorf("it left locks: %s", cells)
		}
	})
}

// The network delivers the commit of the primary twice: the first copy is turned away until its shard is seeded, which its owner cannot do,
// and gives up; the second comes when somebody else has. No secondary goes before the primary has said that it is too late.
func TestPaper_2_2_LateCommitFails(t *testing.T) {
	paper(t, func(w *paperWorld) {
		var second func()
		s := &calling{w.mem, func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message, next func() (kv.Message, error)) (kv.Message, error) {
			switch cmd {
			case txn.CmdCommit:
				w.mem.Restart(1)
				second = sync.OnceFunc(func() {
					if err := txn.SeedAll(context.Background(), w.c, []kv.RowKey{col("bob").Row}); err != nil {
						t.Error(err)
					}
					if _, err := next(); err != nil {
						t.Error(err)
					}
				})
			case txn.CmdSeed:
				return nil, kv.Errorf(kv.CodeInternal, "test", "it cannot be seeded")
			case txn.CmdRollback:
				second()
			}
			return next()
		}}
		if _, err := w.transfer(s, txn.Options{}).Commit(w.Context()); err == nil || errors.Is(err, txn.ErrOutcomeUnknown) {
			t.Errorf("a commit that was turned away: %v", err)
		}
		if bob, joe := w.read("bob"), w.read("joe"); bob+joe != "102" {
			t.Errorf("bob %s, joe %s", bob, joe)
		}
	})
}

type sessions map[string]bool

func (s sessions) Alive(_ context.Context, session string) (bool, error) { return s[session], nil }

// Locks carry their worker's token: once that is gone, they may be removed at once. And they carry a time: a worker that has its
// token but is stuck is not waited for for ever.
func TestPaper_2_2_DeadWorkersAreRecognised(t *testing.T) {
	paper(t, func(w *paperWorld) {
		alive := sessions{"w1": true}
		c := w.client(w.mem, txn.Options{Liveness: alive, Session: "w2"})
		write := func() error {
			tx := c.Begin(txn.TxnOptions{})
			if _, err := tx.StartTS(w.Context()); err != nil {
				t.Fatal(err)
			}
			tx.Put(col("joe"), []byte("1"), txn.WriteOptions{})
			_, err := tx.Commit(w.Context())
			return err
		}
		for _, session := range []string{"w1", "w0"} {
			if _, err := w.transfer(w.dies("after-prewrite"), txn.Options{Session: session}).Commit(w.Context()); err == nil {
				t.Fatal("a dead client committed")
			}
			if session == "w1" { // its token is there
				if err := write(); !errors.Is(err, txn.ErrConflict) {
					t.Errorf("over the lock of a living worker: %v", err)
				}
				time.Sleep(time.Minute)
			}
			start := time.Now()
			if err := write(); err != nil || time.Since(start) > time.Second {
				t.Errorf("over the lock of dead worker %s: %v after %v", session, err, time.Since(start))
			}
		}
	})
}

// A long transaction keeps its locks' time running.
func TestPaper_2_2_SlowButAliveIsRespected(t *testing.T) {
	paper(t, func(w *paperWorld) {
		s := &interposed{w.mem, nil}
		s.before = func(cmd kv.CommandID, _ kv.Message) error {
			if cmd == txn.CmdCommit {
				time.Sleep(time.Minute) // twenty times the TTL
				if n, err := w.c.ResolveOrphans(w.Context(), 0); n != 0 || err != nil {
					t.Errorf("%d locks of a living transaction resolved, %v", n, err)
				}
			}
			return nil
		}
		mustCommit(w.T, w.transfer(s, txn.Options{}))
	})
}

// §2.3: a reader sees everything that committed below its snapshot. If it gets its timestamp after a writer got its commit_ts,
// the writer's locks are there already, so the reader meets either them or the data. (We push the writer above the reader.)
func TestPaper_2_3_ReaderMeetsLocksOfEarlierCommitTimestamps(t *testing.T) {
	paper(t, func(w *paperWorld) {
		s := &interposed{w.mem, nil}
		var reader *txn.Txn
		s.before = func(cmd kv.CommandID, _ kv.Message) error {
			if cmd == txn.CmdCommit && reader == nil { // the writer has its commit_ts
				reader = w.c.Begin(txn.TxnOptions{})
				if bob := w.get(reader, "bob"); bob != "10" {
					t.Errorf("bob %s before the commit point", bob)
				}
			}
			return nil
		}
		commitTS := mustCommit(w.T, w.transfer(s, txn.Options{}))
		start, err := reader.StartTS(w.Context())
		if err != nil || commitTS <= start {
			t.Errorf("committed at %v below a snapshot %v that did not see it (%v)", commitTS, start, err)
		}
		if joe := w.get(reader, "joe"); joe != "2" {
			t.Errorf("joe %s in the snapshot where bob had 10", joe)
		}
		if pushes := w.c.Metrics().Pushes; pushes == 0 {
			t.Error("nobody was pushed")
		}
	})
}

// §2.3: who begins after a commit was acknowledged sees it.
func TestPaper_2_3_AcknowledgedIsVisible(t *testing.T) {
	paper(t, func(w *paperWorld) {
		for i := range 50 {
			v := fmt.Sprint(i)
			if i%2 == 0 {
				w.put(w.c, "bob", v) // one phase
			} else {
				w.put(w.c, "bob", v, "joe", v)
			}
			if got := w.read("bob"); got != v {
				t.Fatalf("read %s after %s was acknowledged", got, v)
			}
		}
	})
}
