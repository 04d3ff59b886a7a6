package txn

import (
	"fmt"
	"testing"
	"time"

	"moka/kv"
)

// TestRowLocksOfTheDead: what an owner held that fell silent makes room, although nobody asks for the same rows; in parts that do not stop
// the shard, and also in a shard that is not full.
func TestRowLocksOfTheDead(t *testing.T) {
	const most = 5000
	c := func(i int) kv.Column { return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, fmt.Appendf(nil, "r%06d", i))} }
	ttl := 10 * time.Second
	for _, held := range []int{most, most / 2} {
		r := newRowLocks(most)
		at := time.Now()
		lock := func(i int, owner kv.Timestamp) {
			t.Helper()
			if ok, _, _, err := r.acquire(c(i), lockAsk{owner: owner, ttl: ttl}, at); !ok || err != nil {
				t.Fatalf("%d columns, row %d: granted %v, %v", held, i, ok, err)
			}
		}
		for i := range held / 2 { // a process that dies with them, one that goes on, and many small ones that die
			lock(i, 7)
		}
		for i := held / 2; i < held-1; i++ {
			lock(i, kv.Timestamp(1000+i/4))
		}
		lock(held-1, 8)
		at = at.Add(ttl)
		r.keep([]kv.Timestamp{8}, ttl, at)
		at = at.Add(ttl / 2)
		before := r.size.Load()
		lock(most, 9)
		if freed := before + 1 - r.size.Load(); freed < 1 || freed > 2*sweepColumns {
			t.Errorf("%d columns: one request has swept %d", held, freed)
		}
		for i := range held {
			lock(most, 9)
			if r.size.Load() == 2 {
				break
			}
			if i == held-1 {
				t.Errorf("%d columns: %d of them are still held", held, r.size.Load())
			}
		}
		if len(r.owners) != 2 || r.line.Len() != 2 {
			t.Errorf("%d owners, %d in the line, want 2", len(r.owners), r.line.Len())
		}
		if _, _, taken := r.blocking(c(held-1), 9, false, at); !taken {
			t.Error("who is alive has lost its lock")
		}
	}
}
