package txn

import (
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"moka/kv"
)

// recent bounds the newest commit_ts of every column of a shard since the shard was seeded: the columns share a fixed number of
// slots. A write whose snapshot is not below its column's slot has no conflict to look for in the store. What was committed
// before, by a predecessor, is at or below the tablet's seed.
type recent [recentSlots]atomic.Uint64

const recentSlots = 1 << 14

func (r *recent) slot(c kv.Column) *atomic.Uint64 { return &r[columnHash(c)%recentSlots] }

func columnHash(c kv.Column) uint64 {
	h := xxhash.Sum64(c.Row) + uint64(c.Family)
	if len(c.Qualifier) > 0 {
		h += 31 * xxhash.Sum64(c.Qualifier)
	}
	return h
}

// note is called while the commit's lock or guard is still there for others to see.
func (r *recent) note(c kv.Column, commitTS kv.Timestamp) { raise(r.slot(c), commitTS) }

// before returns a timestamp that no commit of the column is above.
func (r *recent) before(c kv.Column, seed kv.Timestamp) kv.Timestamp {
	return max(kv.Timestamp(r.slot(c).Load()), seed)
}
