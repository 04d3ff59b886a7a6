// Package longread says whom long values are charged to while they are read from the store, before the next
// one is: a row may have 64 MiB, and whoever may read one may read many of them at a time.
package longread

import (
	"context"
	"sync"
)

// Meter is whom long values are charged to.
type Meter interface {
	// Holds says how many bytes of what it has read by has in memory now. An error ends the read.
	Holds(by any, n int64) error
}

type key struct{}

// With returns a context whose reads are charged to m.
func With(ctx context.Context, m Meter) context.Context { return context.WithValue(ctx, key{}, m) }

// Holds tells the meter of a context.
func Holds(ctx context.Context, by any, n int64) error {
	if m, ok := ctx.Value(key{}).(Meter); ok {
		return m.Holds(by, n)
	}
	return nil
}

// Long is from how many bytes on anybody is charged for a value. A request ends at a few MiB of shorter ones.
const Long = 64 << 10

// Reads is what one reader has in memory of what it reads: the answer to its last question. The zero Reads
// has nothing.
type Reads struct {
	mu      sync.Mutex
	held    int64
	meter   Meter // that was told
	refused error // by it
}

func (r *Reads) tell(ctx context.Context, n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.meter == nil {
		if r.meter, _ = ctx.Value(key{}).(Meter); r.meter == nil {
			return nil
		}
	}
	r.held += n
	if err := r.meter.Holds(r, r.held); r.refused == nil {
		r.refused = err
	}
	return r.refused
}

// Hold charges for n bytes that were made of what was read, in place of those before.
func (r *Reads) Hold(ctx context.Context, n int64) error {
	r.Release()
	if n < Long {
		return nil
	}
	return r.tell(ctx, n)
}

// Refusal is why the meter has ended the read, if it has; otherwise err.
func (r *Reads) Refusal(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil {
		return r.refused
	}
	return err
}

// Release gives back what the reader was charged for: what it has read is somebody else's now, or nobody's.
func (r *Reads) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != 0 {
		_ = r.meter.Holds(r, 0) // giving back does not fail
	}
	r.held, r.meter, r.refused = 0, nil, nil
}

// Question is the part of a request that says whom its answer is charged to. It is not sent: what comes from
// another process is charged for when it has come. The zero Question charges nobody.
type Question struct {
	Context context.Context
	Reads   *Reads
	// Within: whoever answers is within the gate of long reads.
	Within bool
}

// Asked reports whether this process has asked: then what is read is charged for by whoever reads it.
func (q *Question) Asked() bool { return q.Reads != nil }

// Add charges for a value, or, of fewer than no bytes, gives it back.
func (q *Question) Add(n int) error {
	if n < Long && n > -Long || q.Reads == nil {
		return nil
	}
	return q.Reads.tell(q.Context, int64(n))
}

// Gate bounds how many long values of a process are read at a time. Nobody knows how long one is before it
// has been read, and each takes its length twice, in its block and as a copy, before anybody is charged for
// it. A scan goes through it, too: an iterator holds a block, at the end of the keys that of the first long
// value, and a block that is larger than its part of the cache is there as often as it is held.
type Gate chan struct{}

// Enter waits for a place. The context is asked for only if there is none.
func (g Gate) Enter(c interface{ Context() context.Context }) error {
	select {
	case g <- struct{}{}:
		return nil
	default:
	}
	ctx := c.Context()
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave gives the place back.
func (g Gate) Leave() { <-g }
