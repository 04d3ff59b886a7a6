package txn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"moka/kv"
)

// snapshots lists the transactions of a client that have a snapshot, for garbage collection: nothing that they can see is removed.
// Correctness does not hang on it. Shards refuse whoever falls behind the safe point, listed or not; the list keeps those who work
// from ever meeting that.
//
// Each transaction is in one of a few lists, so that beginning and ending one does not go through one lock.
type snapshots struct{ lists [16]snapshotList }

type snapshotList struct {
	mu    sync.Mutex
	first *Txn
	_     [48]byte // a cache line each
}

// listing is a transaction's place in a list.
type listing struct {
	next, prev *Txn
	list       *snapshotList // nil if it is in none
	at         kv.Timestamp  // its snapshot
}

// enlist lists t with its snapshot. t.mu is held.
func (s *snapshots) enlist(t *Txn, at kv.Timestamp) {
	l := t.listing.list
	if l == nil {
		l = &s.lists[rand.Uint32()%uint32(len(s.lists))]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.listing.list != nil {
		t.listing.at = min(t.listing.at, at) // what is buffered is still bound to the older one
		return
	}
	t.listing.at = at
	t.listing.list, t.listing.next = l, l.first
	if l.first != nil {
		l.first.listing.prev = t
	}
	l.first = t
}

func (t *Txn) delistLocked() {
	l := t.listing.list
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.listing.prev != nil {
		t.listing.prev.listing.next = t.listing.next
	} else {
		l.first = t.listing.next
	}
	if t.listing.next != nil {
		t.listing.next.listing.prev = t.listing.prev
	}
	t.listing = listing{}
}

func (t *Txn) delist() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delistLocked()
}

// SnapshotUse says what a client's transactions still read.
type SnapshotUse struct {
	// Oldest is at or below every snapshot that a transaction of the client has, and every one that it will take of the present. It
	// is the time of the question if there are none.
	Oldest kv.Timestamp
	// Open counts the transactions with a snapshot.
	Open int
	// Note says whose the oldest snapshot is, as far as that is known.
	Note string
}

// Snapshots says what the client's transactions still read.
func (c *Client) Snapshots(ctx context.Context) (u SnapshotUse, err error) {
	if u.Oldest, err = c.clock.Next(ctx); err != nil {
		return u, err
	}
	var oldest *Txn
	for i := range c.snapshots.lists {
		l := &c.snapshots.lists[i]
		l.mu.Lock()
		for t := l.first; t != nil; t = t.listing.next {
			u.Open++
			if t.listing.at < u.Oldest {
				u.Oldest, oldest = t.listing.at, t
			}
		}
		l.mu.Unlock()
	}
	if oldest != nil {
		oldest.mu.Lock()
		if u.Note = oldest.note; u.Note == "" && oldest.o.Connection != 0 {
			u.Note = fmt.Sprintf("connection %d", oldest.o.Connection)
		}
		oldest.mu.Unlock()
	}
	return u, nil
}

// safePointed is a clock whose timestamps bring the safe point along.
type safePointed interface{ SafePoint() kv.Timestamp }

// behind returns the error of a snapshot below the safe point as far as the clock's answers have told. The shards' word counts; this
// spares the trip, and reading in tablets of which a part was never collected.
func (c *Client) behind(snapshot kv.Timestamp) error {
	if c.safePoint == nil {
		return nil
	}
	if s := c.safePoint(); snapshot < s {
		return errTooOld(snapshot, s)
	}
	return nil
}
