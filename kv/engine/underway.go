package engine

import (
	"time"

	"moka/kv"
)

// What is let in while there is room must fit, all of it together, or the room that is kept is used up by
// those who were let in before anybody saw that the disk is full: three statements that write 18 MB each, in
// pieces of 4 MB, ended the process on a disk with 20 MB free. So batches are counted from before they are
// applied until they have been:
//
//	free - low - memtables - batches under way - commits of what is prewritten
//
// is what there is for the next. Each takes twice its bytes, in the log and in a table. In memtables are
// those that have been applied, once more, for the table that they will be flushed into; their logs go then.
//
// One number between two looks at the disk says what may be let in without another look.

// Enter counts the bytes of a batch that is going to be applied, and of what follows from it later. It is
// kv.ErrDiskFull if the batch is of a kind that must have room, and has none. Otherwise Leave is due when it
// has been applied.
func (e *Engine) Enter(g kv.Growth, bytes, later int) error {
	if err := e.room.enter(g, 2*int64(bytes), int64(later)); err != nil {
		return err
	}
	return nil
}

// Leave says that a batch of Enter has been applied, or will not be.
func (e *Engine) Leave(bytes int) { e.room.underway.Add(-2 * int64(bytes)) }

func (r *room) enter(g kv.Growth, n, later int64) *kv.Error {
	r.underway.Add(n)
	if r.size == 0 || g != kv.Adds && g != kv.Deletes {
		return nil
	}
	full := r.full.Load()
	switch {
	case full == nil:
		r.promised[0].Add(later)
		if r.mayAdd.Add(-n-later) >= 0 {
			return nil
		}
		if full = r.afford(g, n); full != nil {
			r.promised[0].Add(-later)
		}
	case g == kv.Deletes:
		return nil // Room has granted it
	}
	if full != nil {
		r.underway.Add(-n)
	}
	return full
}

// afford looks at the disk for n bytes that are counted already. Deletes that do not fit begin the state, in
// which there is more room for them.
func (r *room) afford(g kv.Growth, n int64) *kv.Error {
	r.measure()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookLocked(time.Now())
	full := r.full.Load()
	switch {
	case full == nil && r.spare >= 0:
		return nil
	case g == kv.Adds && full == nil:
		return kv.Errorf(kv.CodeDiskFull, "engine", "the disk of %s is nearly full: there is no room for %s "+
			"more beside what is being written; write less at a time, make room there, or delete rows, "+
			"truncate and drop tables", r.dir,
			mebibytes(uint64(n)))
	case g == kv.Adds:
		return full
	case full == nil:
		r.begin(r.free)
		r.giveUp()
	}
	r.underway.Add(-n) // it is asked for, not claimed
	r.allow()
	r.underway.Add(n)
	if r.grants(g, int(n)) {
		return nil
	}
	return r.undeletable()
}

// account sets what may be let in until the next look. The lock is held.
func (r *room) account(now time.Time, free uint64) {
	if now.Sub(r.turned) > promiseKept {
		r.promised[1].Store(r.promised[0].Swap(0))
		r.turned = now
	}
	r.free = free
	r.spare = int64(free) - int64(r.low) - int64(r.claimed()) - r.promises()
	// Part of it only: others write to the disk, too.
	r.mayAdd.Store(max(0, min(r.spare, int64(r.size/2))))
}

// claimed is what memtables and batches under way are going to take.
func (r *room) claimed() uint64 { return r.held.Load() + uint64(max(0, r.underway.Load())) }

// promises is what is going to follow from what was let in.
func (r *room) promises() int64 { return r.promised[0].Load() + r.promised[1].Load() }
