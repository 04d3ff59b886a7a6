package txn

import (
	"context"
	"sync/atomic"
	"time"
)

// Delays count what has kept a piece of work from being done at once. They travel in the context, since a request passes many
// hands before it meets anybody, and are looked for only where something has: a request that is answered at once costs nothing.
//
// The owner may read and Reset them at any time.
type Delays struct {
	locks, lockTime       atomic.Int64
	rowLocks, rowLockTime atomic.Int64
	resent                atomic.Int64
}

// DelayCounts are Delays as they are at a moment.
type DelayCounts struct {
	// Locks are the locks of others' commits that were in the way, and how long it took to learn what became of them, or to wait.
	Locks    int64
	LockTime time.Duration
	// RowLocks are the row locks that were waited for.
	RowLocks    int64
	RowLockTime time.Duration
	// Resent are requests that were sent again, because the tablet had moved or the store was busy or silent.
	Resent int64
}

// Waited is how long was waited for others in all.
func (d DelayCounts) Waited() time.Duration { return d.LockTime + d.RowLockTime }

type delaysKey struct{}

// WithDelays returns a context whose work is counted in each of ds, and no longer where ctx has counted.
func WithDelays(ctx context.Context, ds ...*Delays) context.Context {
	return context.WithValue(ctx, delaysKey{}, ds)
}

func delaysOf(ctx context.Context) []*Delays {
	ds, _ := ctx.Value(delaysKey{}).([]*Delays)
	return ds
}

// Counts returns what has been counted since the last Reset.
func (d *Delays) Counts() DelayCounts {
	return DelayCounts{
		Locks: d.locks.Load(), LockTime: time.Duration(d.lockTime.Load()),
		RowLocks: d.rowLocks.Load(), RowLockTime: time.Duration(d.rowLockTime.Load()), Resent: d.resent.Load(),
	}
}

// Reset begins anew.
func (d *Delays) Reset() {
	for _, n := range []*atomic.Int64{&d.locks, &d.lockTime, &d.rowLocks, &d.rowLockTime, &d.resent} {
		if n.Load() != 0 {
			n.Store(0)
		}
	}
}

func countLocks(ctx context.Context, n int, since time.Time) {
	took := int64(time.Since(since))
	for _, d := range delaysOf(ctx) {
		d.locks.Add(int64(n))
		d.lockTime.Add(took)
	}
}

func countRowLock(ctx context.Context, since time.Time) {
	took := int64(time.Since(since))
	for _, d := range delaysOf(ctx) {
		d.rowLocks.Add(1)
		d.rowLockTime.Add(took)
	}
}

func countResent(ctx context.Context) {
	for _, d := range delaysOf(ctx) {
		d.resent.Add(1)
	}
}
