package engine

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
)

// What a delete frees comes back when a compaction brings the two together. Pebble compacts for the sake of reads: it leaves a level alone that is
// small for its depth, so the tombstones of up to a tenth of the data stay above what they delete until somebody writes more, and on a full disk
// nobody does. So while the state lasts the engine chooses compactions itself: of the tables whose tombstones promise the most for what must be
// written, those that fit into the room there is.

// The pauses between two flushes of a full disk. The first applies as long as something is deleted or they free anything.
const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second
)

const (
	// leastPromise is the least that a table's tombstones must promise to free: those of locks are everywhere, and free nothing.
	leastPromise = mebibyte / 4
	// triedAgain is when a table that a compaction did not make go is tried again.
	triedAgain = 30 * time.Second
)

// reclaimer works while the disk is full. It belongs to one goroutine.
type reclaimer struct {
	e     *Engine
	pause time.Duration // to the next flush
	next  time.Time
	free  uint64 // when the last flush began
	tried map[uint64]time.Time
}

// noteDeletes counts the deletes of a batch that is applied while the disk is full.
func (e *Engine) noteDeletes(b *pebble.Batch) {
	n := int64(0)
	for r := b.Reader(); ; {
		kind, _, _, ok, err := r.Next()
		if !ok || err != nil {
			break
		}
		if kind == pebble.InternalKeyKindDelete || kind == pebble.InternalKeyKindRangeDelete {
			n++
		}
	}
	if n > 0 {
		e.room.deletes.Add(n)
	}
}

// run works whenever it is woken, until ctx ends.
func (r *reclaimer) run(ctx context.Context, wake <-chan uint64) {
	for {
		select {
		case <-ctx.Done():
			return
		case free := <-wake:
			if err := r.turn(ctx, time.Now(), free); err != nil && ctx.Err() == nil && !errors.Is(err, syscall.ENOSPC) {
				r.e.complain(err)
			}
		}
	}
}

// turn writes the memtables out if that is due, and compacts as long as it helps.
func (r *reclaimer) turn(ctx context.Context, now time.Time, free uint64) error {
	if r.e.room.deletes.Swap(0) > 0 || free > r.free+mebibyte {
		r.pause, r.next = shortestPause, now
	}
	if !now.Before(r.next) {
		r.free, r.next = free, now.Add(r.pause)
		r.pause = min(2*r.pause, longestPause)
		if err := r.e.Flush(ctx); err != nil {
			return err
		}
	}
	for r.e.room.full.Load() != nil {
		start, ok, err := r.choose(now)
		if err != nil || !ok {
			return err
		}
		// Of each level the one table that has this key, so no step is larger than Pebble's own.
		if err := r.e.Compact(ctx, start, append(bytes.Clone(start), 0)); err != nil {
			clear(r.tried) // it may have been another that failed
			return err
		}
	}
	return nil
}

// choose returns the first key of the table whose compaction promises the most for each byte that it writes, if there is one that fits.
func (r *reclaimer) choose(now time.Time) (start []byte, ok bool, err error) {
	levels, err := r.e.db.SSTables()
	if err != nil {
		return nil, false, err
	}
	u, err := r.e.o.FS.GetDiskUsage(r.e.room.dir)
	if err != nil {
		return nil, false, err
	}
	budget := r.e.room.compactionBudget(u.AvailBytes - min(u.AvailBytes, r.e.room.needed()))
	var best pebble.SSTableInfo
	var value float64
	for l := range levels[:len(levels)-1] {
		for _, t := range levels[l] {
			promise := t.TableStats.PointDeletionsBytesEstimate + t.TableStats.RangeDeletionsBytesEstimate
			if promise < leastPromise || now.Before(r.tried[uint64(t.FileNum)].Add(triedAgain)) {
				continue
			}
			written, last := overlapping(levels[l+1:], t)
			if written += t.Size; last { // else some of the promise is further down
				written -= min(written, promise)
			}
			if written > budget {
				continue
			}
			if v := float64(promise) / float64(written+mebibyte); v > value {
				best, value = t, v
			}
		}
	}
	if value == 0 {
		return nil, false, nil
	}
	for number, at := range r.tried {
		if now.After(at.Add(triedAgain)) {
			delete(r.tried, number)
		}
	}
	r.tried[uint64(best.FileNum)] = now
	return best.Smallest.UserKey, true, nil
}

var compare = cockroachkvs.Comparer.Compare

// overlapping is how many bytes the next level that has tables beside t has there, and whether it is the last that has.
func overlapping(below [][]pebble.SSTableInfo, t pebble.SSTableInfo) (n uint64, last bool) {
	for _, level := range below {
		for _, o := range level {
			if compare(o.Smallest.UserKey, t.Largest.UserKey) > 0 || compare(t.Smallest.UserKey, o.Largest.UserKey) > 0 {
				continue
			}
			if n > 0 && last {
				return n, false
			}
			n += o.Size
		}
		last = n > 0
	}
	return n, true
}
