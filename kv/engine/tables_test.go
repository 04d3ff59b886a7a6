package engine

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/keys"
)

// Tables take the place of a span, and of the keys beside it that Replace names, in one step that a
// crash does not halve; what was only written goes at the next start.
func TestTablesTakeThePlaceOfASpan(t *testing.T) {
	fs := vfs.NewCrashableMem()
	e, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	entry := func(i uint64) []byte { return keys.AppendLogEntry(nil, 1, i) }
	b := e.NewBatch()
	for i := range 50 {
		if err := b.Set(columnKeyAt(i, 5), []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
		if err := b.Set(entry(uint64(i)), []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
	}
	other := keys.AppendLogEntry(nil, 2, 1)
	if err := b.Set(other, []byte("another shard's"), nil); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
	b.Close()
	write := func() *Tables {
		n := e.NewTables()
		for i := 100; i < 130; i++ {
			if err := n.Set(columnKeyAt(i, 6), fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		lower, upper := keys.LogSpan(1)
		err := n.Replace(lower, upper, func(set func(k, v []byte) error) error {
			return set(entry(7), []byte("new"))
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	check := func(e *Engine, old bool) {
		t.Helper()
		for i := range 150 {
			v, ok, err := e.Latest(1, columnAt(i), kv.MaxTimestamp)
			if want := old && i < 50 || !old && i >= 100 && i < 130; err != nil || ok != want {
				t.Fatalf("column %d: %v, %v, %v", i, v, ok, err)
			}
		}
		for i := range uint64(50) {
			v, ok, err := e.Get(entry(i))
			if err != nil || ok != (old || i == 7) || !old && i == 7 && string(v) != "new" {
				t.Fatalf("entry %d: %q, %v, %v", i, v, ok, err)
			}
		}
		if _, ok, err := e.Get(other); !ok || err != nil {
			t.Fatalf("another shard's log: %v, %v", ok, err)
		}
	}
	write() // and no more: the process dies
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	after, err := Open("data", Options{FS: crashed})
	if err != nil {
		t.Fatal(err)
	}
	check(after, true)
	if names, err := crashed.List("data/incoming"); err == nil && len(names) > 0 {
		t.Errorf("%v are left", names)
	}
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}
	n := write()
	check(e, true)
	lower, upper := keys.ShardSpan(1)
	if err := n.Ingest(t.Context(), lower, upper); err != nil {
		t.Fatal(err)
	}
	n.Discard()
	check(e, false)
	crashed = fs.CrashClone(vfs.CrashCloneCfg{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err = Open("data", Options{FS: crashed}); err != nil {
		t.Fatal(err)
	}
	check(after, false)
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}
}
