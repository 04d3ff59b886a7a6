package delays

import (
	"context"
	"sync/atomic"
	"time"
)

// Counter counts what has kept a piece of work from being done at once. The owner may read and Reset it at
// any time.
type Counter struct {
	locks, lockTime       atomic.Int64
	rowLocks, rowLockTime atomic.Int64
	resent                atomic.Int64
}

// Counts are those of a Counter as they are at a moment.
type Counts struct {
	// Locks are the locks of others' commits that were in the way, and how long it took to learn what
	// became of them, or to wait.
	Locks    int64
	LockTime time.Duration
	// RowLocks are the row locks that were waited for.
	RowLocks    int64
	RowLockTime time.Duration
	// Resent are requests that were sent again, because the tablet had moved or the store was busy or silent.
	Resent int64
}

// Waited is how long was waited for others in all.
func (d Counts) Waited() time.Duration { return d.LockTime + d.RowLockTime }

type key struct{}

// With returns a context whose work is counted in each of ds, and no longer where ctx has counted.
func With(ctx context.Context, ds ...*Counter) context.Context {
	return context.WithValue(ctx, key{}, ds)
}

func of(ctx context.Context) []*Counter {
	ds, _ := ctx.Value(key{}).([]*Counter)
	return ds
}

// Counts returns what has been counted since the last Reset.
func (d *Counter) Counts() Counts {
	return Counts{
		Locks: d.locks.Load(), LockTime: time.Duration(d.lockTime.Load()),
		RowLocks: d.rowLocks.Load(), RowLockTime: time.Duration(d.rowLockTime.Load()),
		Resent: d.resent.Load(),
	}
}

// Reset begins anew.
func (d *Counter) Reset() {
	for _, n := range []*atomic.Int64{&d.locks, &d.lockTime, &d.rowLocks, &d.rowLockTime, &d.resent} {
		if n.Load() != 0 {
			n.Store(0)
		}
	}
}

// Locks counts locks that were met.
func Locks(ctx context.Context, n int, since time.Time) {
	took := int64(time.Since(since))
	for _, d := range of(ctx) {
		d.locks.Add(int64(n))
		d.lockTime.Add(took)
	}
}

// RowLock counts a row lock that was waited for.
func RowLock(ctx context.Context, since time.Time) {
	took := int64(time.Since(since))
	for _, d := range of(ctx) {
		d.rowLocks.Add(1)
		d.rowLockTime.Add(took)
	}
}

// Resent counts a request that was sent again.
func Resent(ctx context.Context) {
	for _, d := range of(ctx) {
		d.resent.Add(1)
	}
}
