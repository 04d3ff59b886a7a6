package triggers

import (
	"context"
	"sync"
)

// lanes share a worker's runners between observers, so that whose runs are slow, or never end, hold up
// nobody else. A run is let in as long as its owner, and its observer, hold few runners beside those that
// are
// free (the dynamic threshold of Choudhury and Hahne): alone an observer gets three of four, an owner seven
// of eight, and the more of them are busy the less each has. The last free runner is for an owner that has
// none.
type lanes struct {
	mu        sync.Mutex
	free      int
	owners    map[string]int
	observers map[ObserverID]int
	waiting   []*waiter // oldest first; bounded by what is fetched: see fetchable
	queued    map[ObserverID]int
	leftOut   bool   // some question to a shard is not about all observers
	again     func() // called, under mu, when it might be
}

type waiter struct {
	observer ObserverID
	owner    string
	in       chan struct{} // closed when it is let in
}

const (
	observerShare = 3
	ownerShare    = 7
)

func newLanes(runners int, again func()) *lanes {
	return &lanes{free: runners, owners: map[string]int{}, observers: map[ObserverID]int{},
		queued: map[ObserverID]int{}, again: again}
}

// enqueue asks for a runner.
func (l *lanes) enqueue(o ObserverID, owner string) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &waiter{o, owner, make(chan struct{})}
	l.waiting = append(l.waiting, x)
	l.queued[o]++
	l.admitLocked()
	return x
}

// wait reports whether the waiter has been let in; false if ctx ended first.
func (l *lanes) wait(ctx context.Context, x *waiter) bool {
	select {
	case <-x.in:
		return true
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, y := range l.waiting {
		if x == y {
			l.removeLocked(i)
			return false
		}
	}
	return true // it was let in at the same time
}

// release gives a runner back.
func (l *lanes) release(x *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free++
	if l.owners[x.owner]--; l.owners[x.owner] == 0 {
		delete(l.owners, x.owner)
	}
	if l.observers[x.observer]--; l.observers[x.observer] == 0 {
		delete(l.observers, x.observer)
	}
	l.admitLocked()
}

func (l *lanes) admitLocked() {
	for i := 0; i < len(l.waiting) && l.free > 0; {
		x := l.waiting[i]
		if n := l.owners[x.owner]; n > 0 && (l.free == 1 || n >= ownerShare*l.free ||
			l.observers[x.observer] >= observerShare*l.free) {
			i++
			continue
		}
		l.free--
		l.owners[x.owner]++
		l.observers[x.observer]++
		l.removeLocked(i)
		close(x.in)
	}
}

func (l *lanes) removeLocked(i int) {
	o := l.waiting[i].observer
	l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
	if l.queued[o]--; l.queued[o] == 0 {
		delete(l.queued, o)
		if l.leftOut {
			l.leftOut = false
			l.again()
		}
	}
}

// fetchable are those of ids of which nothing waits for a runner; for the others no more is fetched.
// credits is
// how much to fetch.
func (l *lanes) fetchable(ids []ObserverID) (rest []ObserverID, credits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if l.queued[id] == 0 {
			rest = append(rest, id)
		}
	}
	l.leftOut = l.leftOut || len(rest) < len(ids)
	return rest, max(1, l.free)
}
