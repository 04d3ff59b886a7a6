package engine

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/keys"
)

func columnAt(i int) kv.Address {
	return kv.Address{Group: 7, Column: kv.Column{Row: kv.MakeRowKey(1, binary.BigEndian.AppendUint32(nil, uint32(i)))}}
}

func columnKeyAt(i int, ts kv.Timestamp) []byte {
	return keys.AppendVersion(keys.AppendColumn(nil, 1, columnAt(i)), ts)
}

// Whatever is written, deleted and flushed at the same time, each writer reads back what it has written last: a column that is said not to be in
// a memtable is not. Generations and memtables are tiny, so that both end all the time.
func TestUnflushedReadsWhatWasWritten(t *testing.T) {
	const writers, columns, steps = 8, 1000, 2500
	e, err := Open("data", Options{FS: vfs.NewMem(), MemTableBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.unflushed.capacity = 200
	var spared, probed [writers]int
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			have := map[int]kv.Timestamp{} // the newest version of each column; zero: deleted
			for step := range steps {
				i := w*columns + rng.IntN(columns)
				ts := kv.Timestamp(step + 1)
				b := e.NewBatch()
				switch {
				case rng.IntN(400) == 0: // a whole tablet goes
					lo, hi := keys.AppendSpan(nil, 1, 7, 0, kv.Span{Start: columnAt(w * columns).Row, End: columnAt((w + 1) * columns).Row})
					if err := b.DeleteRange(lo, hi, nil); err != nil {
						t.Error(err)
					}
					clear(have)
				case rng.IntN(4) == 0 && have[i] != 0:
					if err := b.Delete(columnKeyAt(i, have[i]), nil); err != nil {
						t.Error(err)
					}
					// An older version may show now: write a known one on top in the same batch, sometimes.
					if err := b.Set(columnKeyAt(i, ts), binary.BigEndian.AppendUint64(nil, uint64(ts)), nil); err != nil {
						t.Error(err)
					}
					have[i] = ts
				default:
					if err := b.Set(columnKeyAt(i, ts), binary.BigEndian.AppendUint64(nil, uint64(ts)), nil); err != nil {
						t.Error(err)
					}
					have[i] = ts
				}
				e.Apply(b, false)
				b.Close()
				for range 3 {
					i := w*columns + rng.IntN(columns)
					if e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(i))) {
						probed[w]++
					} else {
						spared[w]++
					}
					v, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp)
					if err != nil || ok != (have[i] != 0) || ok && (v.Timestamp != have[i] || binary.BigEndian.Uint64(v.Value) != uint64(have[i])) {
						t.Errorf("writer %d, step %d: column %d reads version %d, %v, %v, written was %d", w, step, i, v.Timestamp, ok, err, have[i])
						return
					}
					if ok {
						_, ok, err := e.GetVersion(1, columnAt(i), have[i])
						if err != nil || !ok {
							t.Errorf("writer %d, step %d: version %d of column %d is gone, %v", w, step, have[i], i, err)
							return
						}
					}
				}
				many := make([]int, 9)
				for i := range many {
					many[i] = w*columns + rng.IntN(columns)
				}
				if err := readsTogether(e, many, have); err != nil {
					t.Errorf("writer %d, step %d: %v", w, step, err)
					return
				}
			}
		})
	}
	wg.Wait()
	total := [2]int{}
	for w := range writers {
		total[0] += spared[w]
		total[1] += probed[w]
	}
	t.Logf("%d reads looked at tables only, %d at memtables too", total[0], total[1])
	if total[0] == 0 || total[1] == 0 {
		t.Error("both ways must be taken")
	}
}

// readsTogether is an error if LatestOf finds other versions of these columns than have.
func readsTogether(e *Engine, columns []int, have map[int]kv.Timestamp) error {
	at := make([]kv.Address, len(columns))
	for i, c := range columns {
		at[i] = columnAt(c)
	}
	found := make([]kv.Version, len(at))
	for i := range found { // what was there before does not stay
		found[i] = kv.Version{Timestamp: 99, Value: []byte("old")}
	}
	if err := e.LatestOf(1, at, kv.MaxTimestamp, found); err != nil {
		return err
	}
	for i, v := range found {
		if v.Timestamp != have[columns[i]] {
			return fmt.Errorf("column %d reads version %d, not %d", columns[i], v.Timestamp, have[columns[i]])
		}
		if v.Timestamp != 0 && binary.BigEndian.Uint64(v.Value) != uint64(v.Timestamp) {
			return fmt.Errorf("column %d, version %d: value %x", columns[i], v.Timestamp, v.Value)
		}
	}
	return nil
}

// A column in the log of a process that died is found by the next one, whether or not it has been flushed meanwhile; and columns that were never
// written are soon known not to be in a memtable.
func TestUnflushedAfterOpening(t *testing.T) {
	fs := vfs.NewMem()
	for life := range 5 {
		e, err := Open("data", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		for i := range life * 100 {
			if _, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp); !ok || err != nil {
				t.Fatalf("life %d: column %d of an earlier life: %v %v", life, i, ok, err)
			}
		}
		if e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(-1))) {
			t.Errorf("life %d: a column that nobody wrote may be in a memtable", life)
		}
		for i := range 100 {
			e.Set(columnKeyAt(life*100+i, 1), []byte(fmt.Sprint(i)))
		}
		if !e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(life*100))) {
			t.Errorf("life %d: a column just written cannot be in a memtable", life)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkAbsent is the question of whoever inserts a row, over a memtable with many others.
func BenchmarkAbsent(b *testing.B) {
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			e, err := Open("data", Options{FS: vfs.NewMem()})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			at := func(i int) int { return int(uint32(i) * 2654435761) }
			for i := range 100_000 {
				batch := e.NewBatch()
				if err := batch.Set(columnKeyAt(at(2*i), 1), make([]byte, 100), nil); err != nil {
					b.Fatal(err)
				}
				e.Apply(batch, false)
				batch.Close()
			}
			if !known {
				e.unflushed.current().all.Store(true)
			}
			i := 0
			for b.Loop() {
				i++
				if _, ok, err := e.Latest(1, columnAt(at(2*i+1)), kv.MaxTimestamp); ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// See order: whoever has seen a batch by one way sees it by every way, also while its Apply has not returned. So a batch is noted before it
// is applied. The second half plants the other order, and must be caught by the same look.
func TestUnflushedIsNotedBeforeItIsSeen(t *testing.T) {
	e, err := Open("data", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	// caught applies batches one after the other; a reader looks for each with an iterator, which sees memtables, until it is there, and
	// then by Latest, which does not look into memtables for a column that was not noted.
	next := 0
	caught := func(batches int, apply func(b Batch)) (missed int) {
		for range batches {
			i := next
			next++
			b := e.NewBatch()
			if err := b.Set(columnKeyAt(i, 1), []byte("v"), nil); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				lower := keys.AppendColumn(nil, 1, columnAt(i))
				upper := keys.AppendColumn(nil, 1, columnAt(i+1))
				for seen := false; !seen; {
					it, err := e.NewIter(lower, upper)
					if err != nil {
						t.Error(err)
						return
					}
					seen = it.First()
					if err := it.Close(); err != nil {
						t.Error(err)
					}
					if !seen {
						runtime.Gosched()
					}
				}
				if _, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp); err != nil || !ok {
					missed++
				}
			})
			apply(b)
			wg.Wait()
			b.Close()
		}
		return missed
	}
	if missed := caught(20_000, func(b Batch) { e.Apply(b, false) }); missed > 0 {
		t.Errorf("%d of 20,000 batches that had been seen were missed", missed)
	}
	late := func(b Batch) { // as a mistake would have it
		e.apply(b, false)
		runtime.Gosched()
		e.unflushed.leave(e.unflushed.enter(b.Batch))
	}
	for range 100 {
		if caught(1000, late) > 0 {
			return
		}
	}
	t.Error("batches are noted late, and nobody has missed one")
}
