package main

import (
	"testing"

	"moka/cmd/moka/backup"
	"moka/kv"
)

// A value that is as large as a transaction may write comes behind others.
func TestRestoreLargeValues(t *testing.T) {
	s, db := gcStack(t, t.TempDir())
	t.Cleanup(func() { s.stop(t, db) })
	r := &restorer{s: s}
	for i, size := range []int{restoreBytes - 1000, 64<<20 - 4096, 10, restoreBytes, 10} {
		c := kv.Column{Row: kv.MakeRowKey(kv.TableTxn, []byte{0x7f, byte(i)})}
		if err := r.take(t.Context(), backup.Record{Column: c, Value: make([]byte, size)}); err != nil {
			t.Fatalf("cell %d of %d bytes: %v", i, size, err)
		}
	}
	if err := r.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.cells != 5 {
		t.Errorf("%d cells", r.cells)
	}
}
