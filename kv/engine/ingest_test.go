package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/keys"
)

// What replicas do to their logs says nothing of columns: neither that one may be in a memtable, nor that a
// generation is full. (It did: after the first cut of a log every INSERT looked through the memtables, until
// the next flush.) The log's own keys are found wherever they are.
func TestLogsOfReplicasAreNotNoted(t *testing.T) {
	e, err := Open("data", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.unflushed.capacity = 1000
	first := e.unflushed.current()
	entry := func(i int) []byte { return keys.AppendLogEntry(nil, 1, uint64(i)) }
	for i := range 5000 {
		b := e.NewBatch()
		if err := b.Set(entry(i), fmt.Append(nil, i), nil); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			if err := b.DeleteRange(entry(i-99), entry(i-10), nil); err != nil {
				t.Fatal(err)
			}
		}
		e.Apply(b, false)
		b.Close()
	}
	if e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(1))) {
		t.Error("a column that nobody wrote may be in a memtable")
	}
	if first != e.unflushed.current() {
		t.Error("entries of a log filled a generation")
	}
	for range 2 {
		for i, there := range map[int]bool{0: false, 4900: false, 4995: true} {
			if v, ok, err := e.Get(entry(i)); err != nil || ok != there || ok && string(v) != fmt.Sprint(i) {
				t.Errorf("entry %d: %q, %v, %v", i, v, ok, err)
			}
		}
		if err := e.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A range that goes beyond the logs is no range of logs.
	b := e.NewBatch()
	defer b.Close()
	if err := b.DeleteRange(entry(0), columnKeyAt(1, 0)[:keys.Prefix(columnKeyAt(1, 0))], nil); err != nil {
		t.Fatal(err)
	}
	e.Apply(b, false)
	if !e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(0))) {
		t.Error("a range of columns went unnoticed")
	}
}

// writeTable makes a table that e can ingest.
func writeTable(t *testing.T, e *Engine, path string, set map[int]kv.Timestamp) {
	t.Helper()
	p, health := e.pebbleOptions(e.o)
	if health != nil {
		defer health.Close()
	}
	p.EnsureDefaults()
	f, err := e.o.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), p.MakeWriterOptions(0, e.db.TableFormat()))
	var all [][]byte
	for i, ts := range set {
		all = append(all, columnKeyAt(i, ts))
	}
	slices.SortFunc(all, func(a, b []byte) int { return cmp.Compare(p.Comparer.Compare(a, b), 0) })
	for _, k := range all {
		if err := w.Set(k, []byte("ingested")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a snapshot brought is there, and what it replaced is not, from the moment at which Ingest returns:
// Pebble may keep both in the queue of its memtables, where a look at tables alone misses them. (It did:
// Latest said of an ingested column that there is none, until the next flush.)
func TestIngestedColumnsAreFound(t *testing.T) {
	fs := vfs.NewCrashableMem()
	e, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	put := func(i int, ts kv.Timestamp) {
		b := e.NewBatch()
		defer b.Close()
		if err := b.Set(columnKeyAt(i, ts), []byte("written"), nil); err != nil {
			t.Fatal(err)
		}
		e.Commit(b)
	}
	check := func(e *Engine, when string, want map[int]kv.Timestamp) {
		t.Helper()
		for i := range 300 {
			v, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp)
			if err != nil || ok != (want[i] != 0) || v.Timestamp != want[i] {
				t.Fatalf("%s: column %d has version %d, %v, %v, want %d", when, i, v.Timestamp, ok, err, want[i])
			}
			if ok {
				if _, ok, err := e.GetVersion(1, columnAt(i), want[i]); !ok || err != nil {
					t.Fatalf("%s: version %d of column %d: %v, %v", when, want[i], i, ok, err)
				}
			}
		}
	}
	// The first hundred columns are in tables, the second in a memtable, and of each half is replaced.
	want := map[int]kv.Timestamp{}
	for i := range 200 {
		put(i, 5)
		want[i] = 5
		if i == 99 {
			if err := e.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(e, "written", want)
	ingested := map[int]kv.Timestamp{}
	for i := 50; i < 300; i++ {
		delete(want, i)
		if i%2 == 0 {
			ingested[i], want[i] = 7, 7
		}
	}
	if err := fs.MkdirAll("data/incoming", 0o700); err != nil {
		t.Fatal(err)
	}
	writeTable(t, e, "data/incoming/1", ingested)
	lower, upper := keys.AppendColumn(nil, 1, columnAt(50)), keys.AppendColumn(nil, 1, columnAt(300))
	if err := e.Ingest(t.Context(), []string{"data/incoming/1"}, lower, upper); err != nil {
		t.Fatal(err)
	}
	check(e, "ingested", want)
	if names, err := fs.List("data/incoming"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	put(299, 9)
	want[299] = 9
	check(e, "written to", want)

	// The next process finds it, too; nothing was flushed or synced for it since.
	died := fs.CrashClone(vfs.CrashCloneCfg{})
	other, err := Open("data", Options{FS: died})
	if err != nil {
		t.Fatal(err)
	}
	check(other, "after a crash", want)
	if err := other.Close(); err != nil {
		t.Error(err)
	}

	// And once it is in tables, the generation that stood for everything is gone.
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.unflushed.tidy()
	if e.unflushed.may(keys.AppendColumn(nil, 1, columnAt(-1))) {
		t.Error("a column that nobody wrote may still be in a memtable")
	}
	check(e, "flushed", want)
}

// Ingests beside writers, readers and flushes: no reader misses what a step has brought, and none sees what
// it has taken.
func TestIngestUnderLoad(t *testing.T) {
	e, err := Open("data", Options{FS: vfs.NewMem(), MemTableBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.unflushed.capacity = 200
	if err := e.o.FS.MkdirAll("data/incoming", 0o700); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	defer func() {
		close(done)
		wg.Wait()
	}()
	wg.Go(func() { // fills memtables beside the span
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			b := e.NewBatch()
			if err := b.Set(columnKeyAt(10_000+i%5000, kv.Timestamp(i+1)), make([]byte, 100), nil); err != nil {
				t.Error(err)
			}
			e.Apply(b, i%50 == 0)
			if i%50 == 0 {
				e.SyncWait(b)
			}
			b.Close()
		}
	})
	lower, upper := keys.AppendColumn(nil, 1, columnAt(0)), keys.AppendColumn(nil, 1, columnAt(1000))
	for round := range 40 {
		old := e.NewBatch() // in a memtable, when the excision comes
		for i := range 50 {
			if err := old.Set(columnKeyAt(i, kv.Timestamp(1000+round)), []byte("old"), nil); err != nil {
				t.Fatal(err)
			}
		}
		e.Apply(old, false)
		old.Close()
		set := map[int]kv.Timestamp{}
		for i := round % 2; i < 100; i += 2 {
			set[i] = kv.Timestamp(round + 1)
		}
		path := fmt.Sprintf("data/incoming/%d", round)
		writeTable(t, e, path, set)
		if err := e.Ingest(t.Context(), []string{path}, lower, upper); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if v, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp); err != nil || ok != (set[i] != 0) || v.Timestamp != set[i] {
				t.Fatalf("round %d: column %d has version %d, %v, %v, want %d", round, i, v.Timestamp, ok, err, set[i])
			}
		}
	}
}
