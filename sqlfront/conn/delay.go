package conn

import (
	"container/list"
	"sync"
	"time"
)

// delays slow down who guesses passwords. After a few wrong ones in a row each further login of the same
// account from the same place waits before its password is looked at, longer from time to time; a right
// one ends it. All wait, those with the right password too: else an answer that does not come at once
// would say that the guess was wrong.
//
// The delay is of one account at one place, so that nobody can keep others out; on this machine a place is
// a user of the operating system, where that is known. Both the list and those who wait are bounded: a
// guesser who uses more names than the list holds pays for each guess with as many connections.
type delays struct {
	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // of *guesses, the last used in front
}

// guesses are the wrong passwords of one account from one place.
type guesses struct {
	key     string
	wrong   int
	last    time.Time
	waiting int
}

const (
	freeGuesses  = 3 // MySQL's connection_control_failed_connections_threshold
	firstDelay   = 250 * time.Millisecond
	maxDelay     = 4 * time.Second
	maxDelayed   = 16   // who wait for one account at one place at a time; more are refused
	maxGuessers  = 4096 // places and accounts that are remembered
	guessesForgo = 15 * time.Minute
)

func newDelays() *delays { return &delays{entries: map[string]*list.Element{}} }

// empty reports whether nobody has guessed wrong of late.
func (d *delays) empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.order.Len() == 0
}

// await waits as long as a login has to. It returns false if too many wait already, or when stop is
// closed. waited says that there was a delay.
func (d *delays) await(key string, stop <-chan struct{}) (ok, waited bool) {
	d.mu.Lock()
	e := d.entries[key]
	if e == nil {
		d.mu.Unlock()
		return true, false
	}
	g := e.Value.(*guesses)
	if time.Since(g.last) > guessesForgo {
		d.forget(e)
		d.mu.Unlock()
		return true, false
	}
	delay := delayAfter(g.wrong)
	if delay == 0 {
		d.mu.Unlock()
		return true, false
	}
	if g.waiting >= maxDelayed {
		d.mu.Unlock()
		return false, true
	}
	g.waiting++
	d.mu.Unlock()
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
		ok = true
	case <-stop:
	}
	d.mu.Lock()
	g.waiting--
	d.mu.Unlock()
	return ok, true
}

// delayAfter is how long the next login waits after so many wrong ones.
func delayAfter(wrong int) time.Duration {
	if wrong < freeGuesses {
		return 0
	}
	return min(firstDelay<<min(wrong-freeGuesses, 10), maxDelay)
}

// wrong counts a password that was wrong.
func (d *delays) wrong(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.entries[key]
	if e == nil {
		e = d.order.PushFront(&guesses{key: key})
		d.entries[key] = e
		if d.order.Len() > maxGuessers {
			d.forget(d.order.Back())
		}
	}
	d.order.MoveToFront(e)
	g := e.Value.(*guesses)
	g.wrong++
	g.last = time.Now()
}

// right forgets the wrong ones before.
func (d *delays) right(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.entries[key]; e != nil {
		d.forget(e)
	}
}

func (d *delays) forget(e *list.Element) {
	d.order.Remove(e)
	delete(d.entries, e.Value.(*guesses).key)
}

// quiet lets a few messages through at once and then one a second, and counts the rest.
type quiet struct {
	mu      sync.Mutex
	left    int
	last    time.Time
	dropped int64
}

const quietBurst = 20

// may reports whether a message may be logged, and how many have not been since the last that was.
func (q *quiet) may() (dropped int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if q.last.IsZero() {
		q.left, q.last = quietBurst, now
	}
	if n := int(now.Sub(q.last) / time.Second); n > 0 {
		q.left = min(q.left+n, quietBurst)
		q.last = q.last.Add(time.Duration(n) * time.Second)
	}
	if q.left == 0 {
		q.dropped++
		return 0, false
	}
	q.left--
	dropped, q.dropped = q.dropped, 0
	return dropped, true
}
