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
//	free + the ballast - low - memtables - under way
//
// is what there is for the next. In the state the marks of room.go are above the same sum.
//
// One number between two looks at the disk says what may be let in without another look.

// Enter counts the bytes of batches that are going to be applied. It is kv.ErrDiskFull if they are of a kind
// that must have room, and have none. Otherwise Leave is due when they have been applied.
func (e *Engine) Enter(g kv.Growth, bytes int) error {
	if err := e.room.enter(g, 2*int64(bytes)); err != nil {
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

func (r *room) enter(g kv.Growth, n int64) *kv.Error {
	r.entered.Add(n)
	if r.size == 0 || g != kv.Follows {
		return nil
	}
	may := &r.mayAdd
	if r.full.Load() != nil {
		may = &r.mayFollow
		r.looked.Store(false)
	}
	if may.Add(-n) >= 0 {
		return nil
	}
	return r.afford(n)
}

// afford looks whether there is room for n bytes, which are counted already; those that are refused are not.
func (r *room) afford(n int64) *kv.Error {
	r.measure()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookLocked(time.Now())
	if r.full.Load() == nil && r.spare >= 0 || r.full.Load() != nil && r.mayFollow.Load() >= 0 {
		return nil
	}
	r.entered.Add(-n)
	r.account(r.free)
	if r.full.Load() != nil {
		r.allow()
	}
	return r.refusal(r.free)
}

// account sets what may be let in before the state begins, until the next look. The lock is held.
func (r *room) account(free uint64) {
	r.free = free
	r.spare = int64(free) - int64(r.low) - r.claimed()
	if r.there {
		r.spare += int64(r.size)
	}
	r.mayAdd.Store(max(0, min(r.spare, int64(r.size/2)))) // a part of it: others write to the disk, too
}

// claimed is what memtables and what is under way take. What was applied since memtables were measured is
// in the one or in the other, or in both.
func (r *room) claimed() int64 { return int64(r.held.Load()) + r.entered.Load() - r.leftThen.Load() }

// needed is about the same at any time, for who does not measure.
func (r *room) needed() uint64 {
	return r.held.Load() + uint64(max(0, r.entered.Load()-r.left.Load()))
}
