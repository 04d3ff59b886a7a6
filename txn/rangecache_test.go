package txn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

func span(from, to string) kv.Span {
	return kv.Span{Start: txntest.Split(from), End: txntest.Split(to)}
}

// memory is that of the shard that the first command comes to.
func memory() (func() txn.Memory, kv.Coprocessor) {
	var shard txn.Memory
	var first sync.Once
	return func() txn.Memory { return shard }, txn.PlantForgetful(func(m txn.Memory) { first.Do(func() { shard = m }) })
}

// TestRangeCache: a range that was written over and over is remembered by the scan that stepped over it, and what is written to it from
// then on; snapshots from before read what was there before.
func TestRangeCache(t *testing.T) {
	shard, coprocessor := memory()
	m := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{coprocessor}})
	defer m.Close()
	c, err := txn.NewClient(m, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	remembers := func(want string) {
		t.Helper()
		if got := shard().Ranges(); got != want {
			t.Errorf("it remembers %s; want %s", got, want)
		}
	}
	reads := func(at kv.Timestamp, from, to, want string) {
		t.Helper()
		if got := scan(t, c.Begin(txn.TxnOptions{StartTS: at, ReadOnly: true}), txn.ScanOptions{Span: span(from, to)}); got != want {
			t.Errorf("%s to %s at %v: %s; want %s", from, to, at, got, want)
		}
	}
	put(t, c, "a", "1", "b", "1", "d", "1", "e", "1")
	reads(now(t, c), "a", "f", "a=1 b=1 d=1 e=1")
	remembers("") // nothing is superseded
	put(t, c, "a", "2", "b", "2", "d", "2", "e", "2")
	before := now(t, c)
	reads(now(t, c), "a", "e", "a=2 b=2 d=2")
	remembers("b=2-d=2-e=?") // from where it noticed to the end, which it has not read
	reads(now(t, c), "a", "f", "a=2 b=2 d=2 e=2")
	remembers("a=2-b=2-d=2-e=2-f=?")

	put(t, c, "b", "3", "c", "3")
	tx := c.Begin(txn.TxnOptions{})
	tx.Delete(col("d"), txn.WriteOptions{})
	mustCommit(t, tx)
	remembers("a=2-b=3-c=3-d=deleted-e=2-f=?")
	reads(now(t, c), "a", "f", "a=2 b=3 c=3 e=2")
	reads(now(t, c), "b", "d", "b=3 c=3")
	reads(before, "a", "f", "a=2 b=2 d=2 e=2")
	remembers("a=2-b=3-c=3-d=deleted-e=2-f=?")
	put(t, c, "g", "3")
	reads(now(t, c), "a", "h", "a=2 b=3 c=3 e=2 g=3")
	remembers("a=2-b=3-c=3-d=deleted-e=2-f=none-g=3-h=?") // what lies behind a run is near enough

	if err := c.DropRange(t.Context(), span("c", "e"), now(t, c)); err != nil {
		t.Fatal(err)
	}
	remembers("")
	reads(now(t, c), "a", "h", "a=2 b=3 e=2 g=3")
}

// TestRangeCacheModel compares scans of any range, in batches of any size, in any snapshot, with a model.
func TestRangeCacheModel(t *testing.T) {
	const names = "abcdefghijklmnopqrstuvwxyz"
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shard, coprocessor := memory()
		m := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{coprocessor}})
		c, err := txn.NewClient(m, &txntest.Clock{}, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		type state struct {
			at     kv.Timestamp
			values map[string]string
		}
		states := []state{{now(t, c), map[string]string{}}}
		known := 0
		for i := range 150 {
			if rng.IntN(2) == 0 {
				last := states[len(states)-1]
				values := make(map[string]string, len(last.values))
				for k, v := range last.values {
					values[k] = v
				}
				tx := c.Begin(txn.TxnOptions{})
				for range 1 + rng.IntN(4) {
					k := names[rng.IntN(len(names)):][:1]
					if rng.IntN(4) == 0 {
						tx.Delete(col(k), txn.WriteOptions{})
						delete(values, k)
						continue
					}
					values[k] = fmt.Sprint(i)
					tx.Put(col(k), []byte(values[k]), txn.WriteOptions{})
				}
				mustCommit(t, tx)
				states = append(states, state{now(t, c), values})
				continue
			}
			s := states[max(0, len(states)-1-rng.IntN(4)*rng.IntN(4))]
			from, to := rng.IntN(len(names)), rng.IntN(len(names))
			from, to = min(from, to), max(from, to)
			var want []string
			for k, v := range s.values {
				if k >= names[from:from+1] && k < names[to:to+1] {
					want = append(want, k+"="+v)
				}
			}
			slices.Sort(want)
			limit := 0
			if rng.IntN(3) == 0 {
				limit = 1 + rng.IntN(5)
				want = want[:min(limit, len(want))]
			}
			tx := c.Begin(txn.TxnOptions{StartTS: s.at, ReadOnly: true})
			got := scan(t, tx, txn.ScanOptions{Span: span(names[from:from+1], names[to:to+1]), Batch: 1 + rng.IntN(6), Limit: limit})
			if got != strings.Join(want, " ") {
				t.Fatalf("seed %d, step %d: %c to %c: %s; want %s; it remembers %s", seed, i, names[from], names[to], got, strings.Join(want, " "), shard().Ranges())
			}
			known += strings.Count(shard().Ranges(), "-")
		}
		if known == 0 {
			t.Errorf("seed %d: nothing was ever remembered", seed)
		}
		c.Close()
		m.Close()
	}
}

// TestRangeCacheConcurrently: transactions that write one value to some columns, add and remove others, while scans look for two values in
// one snapshot.
func TestRangeCacheConcurrently(t *testing.T) {
	m := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{RangeFrom: 1})}})
	defer m.Close()
	c, err := txn.NewClient(m, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	put(t, c, "a", "0", "c", "0", "e", "0", "g", "0")
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		writers.Go(func() {
			for i := range 400 {
				tx := c.Begin(txn.TxnOptions{})
				for _, name := range []string{"a", "c", "e", "g"} {
					tx.Put(col(name), fmt.Append(nil, w, ".", i), txn.WriteOptions{})
				}
				for _, name := range []string{"b", "d", "f"} { // all of them are there, or none
					if i%2 == 0 {
						tx.Put(col(name), fmt.Append(nil, w, ".", i), txn.WriteOptions{})
					} else {
						tx.Delete(col(name), txn.WriteOptions{})
					}
				}
				if _, err := tx.Commit(t.Context()); err != nil && !errors.Is(err, txn.ErrConflict) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				tx := c.Begin(txn.TxnOptions{ReadOnly: true})
				s := tx.Scan(t.Context(), txn.ScanOptions{Span: span("a", "h"), Batch: 3})
				values, n := map[string]bool{}, 0
				for s.Next() {
					values[string(s.Value())] = true
					n++
				}
				if s.Err() != nil || len(values) != 1 || n != 4 && n != 7 {
					t.Errorf("%d columns with %v, %v", n, values, s.Err())
					return
				}
				tx.Rollback()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
