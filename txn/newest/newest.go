// Package newest knows how new what was committed may be at most, in little memory.
package newest

import (
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"moka/kv"
)

// Slots bound the newest commit_ts of every column of a shard since the shard was seeded: the columns share
// a fixed number of slots. A write whose snapshot is not below its column's slot has no conflict to look
// for in the store. What was committed before, by a predecessor, is at or below the tablet's seed.
//
// A slot also tells that something was committed: each commit moves it, up. One whose timestamp is not
// above the slot moves it by one; commits to other columns of a slot may come in any order, and autocommit
// ones take the least timestamp that they can have. So who finds a slot as it was knows that nothing was
// committed to any of its columns since, which is what hot lives on.
type Slots []atomic.Uint64

// Default is a power of two, as CoprocessorOptions.RecentSlots has to be.
const Default = 1 << 14

// SlotOf is the slot of the columns of a hash.
func (r Slots) SlotOf(hash uint64) *atomic.Uint64 { return &r[hash&uint64(len(r)-1)] }

// Slot is the slot of a column.
func (r Slots) Slot(c kv.Column) *atomic.Uint64 { return r.SlotOf(Hash(c)) }

// Hash tells columns apart, nearly always.
func Hash(c kv.Column) uint64 {
	h := xxhash.Sum64(c.Row) + uint64(c.Family)
	if len(c.Qualifier) > 0 {
		h += 31 * xxhash.Sum64(c.Qualifier)
	}
	return h
}

// Note is called while the commit's lock or guard is still there for others to see. It returns what the
// slot says now, and whether the commit may be taken for the newest of its column: not if the slot stood
// above it, for then some column's commit, perhaps this one's, is newer. (Who carries a decision to locks
// that somebody else has resolved meanwhile writes what is no news any more.)
func (r Slots) Note(c kv.Column, commitTS kv.Timestamp) (slot uint64, newest bool) {
	for a := r.Slot(c); ; {
		old := a.Load()
		slot = max(old+1, uint64(commitTS))
		if a.CompareAndSwap(old, slot) {
			return slot, old <= uint64(commitTS)
		}
	}
}

// Before returns a timestamp that no commit of the column is above.
func (r Slots) Before(c kv.Column, seed kv.Timestamp) kv.Timestamp {
	return max(kv.Timestamp(r.Slot(c).Load()), seed)
}
