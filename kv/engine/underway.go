package engine

import (
	"time"

	"moka/kv"
)

// What is let in must fit, all of it together, or the room that is kept is used up by those who were let in
// before anybody saw that the disk is full. So what is going to be written is counted from then on until it
// has been applied. Each batch takes its bytes twice, in the log and in a table. In memtables are those that
// have been applied, once more, for the tables that they will be flushed into; their logs go then.
//
//	free + the ballast - low - memtables - under way - commits of what is prewritten
//
// is what there is for the next, and for each is asked twice: while it is evaluated whether there is the
// state (Room), when its size is known whether it fits (Enter). Who does not fit is refused by itself; the
// state begins as before. (A first mend left the ballast out of the sum, and refused small writes, too, while
// nobody made room, since the state had not begun.) In the state the marks of room.go are above the same sum.
//
// One number between two looks at the disk says what may be let in without another look.

// Enter counts the bytes of batches that are going to be applied, and of what follows from them later. It is
// kv.ErrDiskFull if they are of a kind that must have room, and have none. Otherwise Leave is due when they
// have been applied, and Room with kv.Ends for what has followed.
func (e *Engine) Enter(g kv.Growth, bytes, later int) error {
	if err := e.room.enter(g, 2*int64(bytes), int64(later)); err != nil {
		return err
	}
	return nil
}

// Leave says that what has entered is applied, or will not be.
func (e *Engine) Leave(bytes int) {
	e.room.left.Add(2 * int64(bytes))
	if e.room.full.Load() != nil {
		e.room.looked.Store(false)
	}
}

func (r *room) enter(g kv.Growth, n, later int64) *kv.Error {
	r.entered.Add(n)
	if r.size == 0 || g == kv.Ends || g == kv.Collects {
		return nil
	}
	full, may := r.full.Load(), &r.mayAdd
	switch {
	case full != nil && g == kv.Adds: // since Room was asked
		r.entered.Add(-n)
		return full
	case full != nil && g == kv.Deletes:
		return nil // Room has granted it
	case full != nil:
		may = &r.mayFollow
		r.looked.Store(false)
	}
	if may.Add(-n-later) < 0 {
		return r.afford(g, n, later)
	}
	if later > 0 {
		r.promised[0].Add(later)
	}
	return nil
}

// afford looks whether there is room for n bytes, which are counted already, and for what follows; those that
// are refused are not counted.
func (r *room) afford(g kv.Growth, n, later int64) *kv.Error {
	r.measure()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookLocked(time.Now())
	full := r.full.Load()
	switch {
	case full == nil && r.spare >= later:
		r.promised[0].Add(later)
		r.mayAdd.Add(-later)
		return nil
	case full != nil && g == kv.Follows && r.mayFollow.Load() >= 0:
		return nil
	case full != nil && g == kv.Deletes && r.grants(g, int(later)):
		return nil
	}
	r.entered.Add(-n)
	r.account(r.free)
	if full != nil {
		r.allow()
	}
	switch {
	case g == kv.Deletes:
		return r.undeletable()
	case full == nil && g == kv.Adds:
		return kv.Errorf(kv.CodeDiskFull, "engine", "the disk of %s is nearly full: there is no room for %s "+
			"more beside what is being written; write less at a time, make room there, or delete rows, "+
			"truncate and drop tables", r.dir, mebibytes(uint64(n+later)))
	}
	return r.refusal(r.free)
}

// keep takes back what was promised for so many bytes: what follows has come.
func (r *room) keep(n int64) {
	for i := range r.promised {
		p := &r.promised[len(r.promised)-1-i] // what is older goes first
		for old := p.Load(); old > 0 && n > 0; old = p.Load() {
			if k := min(n, old); p.CompareAndSwap(old, old-k) {
				n -= k
			}
		}
	}
}

// account sets what may be let in before the state begins, until the next look. The lock is held.
func (r *room) account(free uint64) {
	r.free = free
	r.spare = int64(free) - int64(r.low) - r.claimed() - r.promises()
	if r.there {
		r.spare += int64(r.size)
	}
	r.mayAdd.Store(max(0, min(r.spare, int64(r.size/2)))) // a part of it: others write to the disk, too
}

// promises is what will follow from what was let in.
func (r *room) promises() int64 { return r.promised[0].Load() + r.promised[1].Load() }

// claimed is what memtables and what is under way take. What was applied since memtables were measured is
// in the one or in the other, or in both.
func (r *room) claimed() int64 { return int64(r.held.Load()) + r.entered.Load() - r.leftThen.Load() }

// needed is about the same at any time, for who does not measure.
func (r *room) needed() uint64 {
	return r.held.Load() + uint64(max(0, r.entered.Load()-r.left.Load()))
}
