package txn

import (
	"testing"

	"moka/kv"
)

// TestWhatGoesAlongWithDeletes: what is put along with deletes adds to the store only if it is large beside
// them. It never did: on a full disk a trigger of a DELETE wrote megabytes into the room that deletes need.
func TestWhatGoesAlongWithDeletes(t *testing.T) {
	tx := &Txn{c: &Client{o: Options{MaxBytes: 1 << 20}}}
	column := func(row string) kv.Column { return kv.Column{Row: kv.RowKey(row)} }
	adds := func(when string, want bool) {
		t.Helper()
		if got := tx.buffer.adds || tx.buffer.along > 0; got != want {
			t.Errorf("%s: adds %v, want %v", when, got, want)
		}
	}
	tx.Put(column("house"), make([]byte, 10*deleteCarries), WriteOptions{})
	adds("housekeeping", false)
	tx.SetFrees(true)
	tx.Delete(column("a"), WriteOptions{})
	tx.Put(column("log"), make([]byte, deleteCarries/2), WriteOptions{})
	adds("a delete and an entry in a log", false)
	before := tx.Savepoint()
	tx.Put(column("more"), make([]byte, deleteCarries), WriteOptions{})
	adds("more than one delete carries", true)
	tx.RollbackTo(before)
	adds("that has been taken back", false)
	tx.SetFrees(false)
	tx.SetAdds(true)
	tx.Put(column("row"), nil, WriteOptions{})
	adds("an INSERT behind it", true)
}
