package oracle

import (
	"time"

	"moka/kv"
)

// alloc decides which timestamps to hand out. It is pure: no clock, no I/O, no goroutine, no lock; the caller
// brings the time and makes ceilings durable.
//
//	          handed out        free, durable     not reserved
//	|■■■■■■■■■■■■■■■■■■■■■■■■■|·················|----------------
//	                          next              ceiling
//
// A1: next never goes down, and every timestamp handed out is in [next before, next after).
// A2: every timestamp handed out is below ceiling, and the durable ceiling is never below this one.
type alloc struct {
	next    kv.Timestamp
	ceiling kv.Timestamp
}

// take hands out the n consecutive timestamps from first on. None is below now, so that timestamps follow
// the clock; when the clock stands still or goes backwards they follow themselves (A1), and a logical
// part that overflows carries into the physical one. With ok false nothing has changed and a greater
// ceiling is needed first.
func (a *alloc) take(now kv.Timestamp, n int) (first kv.Timestamp, ok bool) {
	first = max(a.next, now)
	if first > a.ceiling || uint64(a.ceiling-first) < uint64(n) {
		return 0, false
	}
	a.next = first + kv.Timestamp(n)
	return first, true
}

// low reports that less than half of a window is left, which is the moment to reserve the next
// one in the background.
func (a *alloc) low(now, window kv.Timestamp) bool {
	from := max(a.next, now)
	return from > a.ceiling || a.ceiling-from < window/2
}

// target is the ceiling to make durable: a whole window ahead of what comes next.
func (a *alloc) target(now, window kv.Timestamp) kv.Timestamp {
	from := max(a.next, now)
	if from > kv.MaxTimestamp-window {
		return kv.MaxTimestamp
	}
	return from + window
}

// raise takes note of a ceiling that has become durable. A lower one than the present is ignored.
func (a *alloc) raise(ceiling kv.Timestamp) { a.ceiling = max(a.ceiling, ceiling) }

// windowOf is a duration as a distance of timestamps.
func windowOf(d time.Duration) kv.Timestamp { return kv.NewTimestamp(d.Milliseconds(), 0) }
