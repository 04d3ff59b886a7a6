package txn_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// What a transaction waits for, counted in fake time: a timestamp takes a thousand seconds, a round trip to a shard one second, a
// sync of the log a millisecond, and nothing else takes any time at all. Whatever goes on at the same time counts once, so the
// time between the call and the answer reads as so many sequential timestamps, round trips and syncs.
const (
	perTimestamp = 1000 * time.Second
	perTrip      = time.Second
	perSync      = time.Millisecond
)

type tripWorld struct {
	*testing.T
	mem          *kvtest.Mem
	clock        txntest.Clock
	calls, syncs atomic.Int64 // all of them, also those after the answer
	c            *txn.Client
}

func (w *tripWorld) Next(ctx context.Context) (kv.Timestamp, error) {
	time.Sleep(perTimestamp)
	return w.clock.Next(ctx)
}

// tripStore is a store at a distance.
type tripStore struct {
	kv.Store
	w *tripWorld
}

func (s *tripStore) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	s.w.calls.Add(1)
	time.Sleep(perTrip)
	return s.Store.Call(ctx, shard, tablets, cmd, req)
}

// cost is what somebody waited for, and what was done in all.
type cost struct {
	timestamps, trips, syncs int
	calls, allSyncs          int64
}

func (c cost) String() string {
	return fmt.Sprintf("%dT + %dR, %d syncs waited for; %d calls and %d syncs in all", c.timestamps, c.trips, c.syncs, c.calls, c.allSyncs)
}

// of runs f and lets what it started come to rest.
func (w *tripWorld) of(f func()) cost {
	w.Helper()
	w.calls.Store(0)
	w.syncs.Store(0)
	start := time.Now()
	f()
	took := time.Since(start)
	time.Sleep(time.Hour)
	synctest.Wait()
	return cost{
		int(took / perTimestamp), int(took % perTimestamp / perTrip), int(took % perTrip / perSync), w.calls.Load(), w.syncs.Load(),
	}
}

func (w *tripWorld) check(what string, want cost, f func()) {
	w.Helper()
	if got := w.of(f); got != want {
		w.Errorf("%s: %v; the table has %v", what, got, want)
	}
}

// write puts ten rows, or one, in the shards that the rows' first letters name.
func (w *tripWorld) write(o txn.TxnOptions, read bool, shards string, rows int) func() {
	tx := w.c.Begin(o)
	if read {
		if _, err := tx.StartTS(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
	for i := range rows {
		tx.Put(col(fmt.Sprintf("%c%d", shards[i%len(shards)], i)), []byte("v"), txn.WriteOptions{})
	}
	return func() {
		if _, err := tx.Commit(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
}

// TestTrips is the table of round trips and syncs: what each kind of statement waits for.
func TestTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tripWorld{T: t}
		w.mem = kvtest.NewMem(kvtest.Options{
			Shards: 3, Splits: []kv.RowKey{col("i").Row, col("q").Row}, Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
			OnSync: func(kv.ShardID, kv.CommandID, kv.Message) { w.syncs.Add(1); time.Sleep(perSync) },
		})
		client := func(o txn.Options) *txn.Client {
			o.LockTTL = 365 * 24 * time.Hour // nobody says that it lives; the time here is not what it seems
			o.RetryTime, o.LockWait = o.LockTTL, o.LockTTL
			c, err := txn.NewClient(&tripStore{w.mem, w}, w, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		w.c = client(txn.Options{})
		w.of(w.write(txn.TxnOptions{}, false, "ajr", 10)) // seeds the shards

		auto, explicit := txn.TxnOptions{Autocommit: true}, txn.TxnOptions{}
		latest := func() {
			if vs, err := w.c.Latest(t.Context(), []kv.Column{col("a0")}); err != nil || !vs[0].OK {
				t.Error(vs, err)
			}
		}
		get := func(c *txn.Client, row string) func() {
			return func() {
				if _, ok, err := c.Begin(txn.TxnOptions{ReadOnly: true}).Get(t.Context(), col(row)); err != nil || !ok {
					t.Error(ok, err)
				}
			}
		}
		w.check("point read, autocommit", cost{0, 1, 0, 1, 0}, latest)
		w.check("point read in a transaction", cost{1, 1, 0, 1, 0}, get(w.c, "a0"))
		w.check("write of one row, autocommit", cost{1, 1, 1, 1, 1}, w.write(auto, false, "a", 1))
		w.check("write of one row in a transaction with a snapshot", cost{1, 1, 1, 1, 1}, w.write(explicit, true, "a", 1)) // the snapshot is the first T
		w.check("ten rows in one shard", cost{1, 1, 1, 1, 1}, w.write(auto, false, "a", 10))
		w.check("ten rows in three shards, autocommit", cost{1, 1, 1, 6, 3}, w.write(auto, false, "ajr", 10))
		w.check("ten rows in three shards, in a transaction with a snapshot", cost{1, 1, 1, 6, 3}, w.write(explicit, true, "ajr", 10))

		two := client(txn.Options{NoAsyncCommit: true})
		w.c = two
		w.check("ten rows in three shards, two phases", cost{2, 2, 2, 6, 4}, w.write(auto, false, "ajr", 10))

		// A prefetched timestamp is there when the statement has been parsed.
		p := w.c.Prefetch(t.Context())
		time.Sleep(perTimestamp)
		w.check("write of one row, its timestamp prefetched", cost{0, 1, 1, 1, 1}, w.write(txn.TxnOptions{Autocommit: true, Prefetched: p}, false, "a", 1))

		w.meetLocks(two, get)
	})
}

// meetLocks has readers meet the locks of others.
func (w *tripWorld) meetLocks(two *txn.Client, get func(*txn.Client, string) func()) {
	// Alive: told to commit above the reader, who does not wait. To ask takes a timestamp, for the lock's time to live.
	var reader cost
	hook := &interposed{&tripStore{w.mem, w}, nil}
	slow, err := txn.NewClient(hook, w, txn.Options{NoAsyncCommit: true, LockTTL: 365 * 24 * time.Hour, RetryTime: 24 * time.Hour})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { slow.Close() })
	hook.before = func(cmd kv.CommandID, _ kv.Message) error {
		if cmd == txn.CmdCommit {
			reader = w.of(get(two, "j1"))
		}
		return nil
	}
	w.c = slow
	w.write(txn.TxnOptions{}, false, "ajr", 10)()
	if want := (cost{2, 3, 0, 3, 0}); reader != want {
		w.Errorf("read of a row that a live transaction holds: %v; the table has %v", reader, want)
	}
	time.Sleep(time.Hour)

	// Committed, and the shard knows from whoever met it before: the value comes from the lock.
	lost := &interposed{&tripStore{w.mem, w}, func(cmd kv.CommandID, _ kv.Message) error {
		if cmd == txn.CmdResolve {
			return errDead
		}
		return nil
	}}
	dead, err := txn.NewClient(lost, w, txn.Options{NoAsyncCommit: true, LockTTL: 365 * 24 * time.Hour, RetryTime: 24 * time.Hour})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { dead.Close() })
	w.c = dead
	w.write(txn.TxnOptions{}, false, "ajr", 10)()
	w.check("read of a row whose committed lock nobody has met before", cost{2, 3, 0, 4, 0}, get(two, "j1"))
	if cells := w.dump(); strings.Contains(cells, "j1 lock") {
		w.Errorf("the lock that was met is still there: %s", cells)
	}
}

func (w *tripWorld) dump() string {
	var out []string
	for _, id := range []kv.ShardID{1, 2, 3} {
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
