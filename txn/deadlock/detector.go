// Package deadlock finds cycles among transactions that wait for each other's row locks. It knows nothing of
// locks: it is told who waits for whom, and tells who closes a cycle. One shard's leader runs it for all
// shards (txn.detectorRow).
package deadlock

import (
	"slices"
	"sync"
	"time"

	"moka/kv"
)

// Detector has the graph of who waits for whom over all shards, in memory: whoever has to wait tells it
// first, and is told if the wait would close a cycle. Who closes it is the victim.
//
// Nothing is lost with the graph: each wait is told again at least once a second, so a new leader knows the
// cycles of its predecessor after a second, and an edge whose waiter fell silent goes by itself.
type Detector struct {
	mu      sync.Mutex
	waits   map[kv.Timestamp]*node
	recent  []Deadlock // the newest last
	counted uint64
}

type node struct {
	on      []Holder
	note    string
	column  kv.Column
	expires time.Time
}

// Holder is somebody who has to be waited for, with what he says of himself.
type Holder struct {
	Owner kv.Timestamp
	Note  string
}

// Wait says for whom a transaction waits, at a column; without holders, that it waits no more.
type Wait struct {
	Waiter  kv.Timestamp
	Note    string
	Column  kv.Column
	WaitsOn []Holder
	TTL     time.Duration // for which this is taken for true
	// Confirm: the cycle was there before; write it down, the waiter gives up.
	Confirm bool
}

// Edge is one step of a deadlock: Waiter waits for Holder at Column.
type Edge struct {
	Waiter, Holder   kv.Timestamp
	Note, HolderNote string
	Column           kv.Column
}

// Deadlock is a cycle that was found, and who was told to give up.
type Deadlock struct {
	ID     uint64
	Time   time.Time
	Victim kv.Timestamp
	Cycle  []Edge
}

const (
	recentDeadlocks = 64
	maxWaits        = 1 << 16
)

// New is a detector that knows of nobody.
func New() *Detector { return &Detector{waits: map[kv.Timestamp]*node{}} }

// Wait notes whom a waiter waits for, unless that closes a cycle: then it returns the cycle, from the waiter
// on.
func (d *Detector) Wait(w Wait, now time.Time) []Edge {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waits, w.Waiter)
	if len(w.WaitsOn) == 0 {
		return nil
	}
	me := &node{on: w.WaitsOn, note: w.Note, column: w.Column, expires: now.Add(w.TTL)}
	if cycle := d.cycleLocked(w.Waiter, me, now); cycle != nil {
		if w.Confirm {
			d.counted++
			d.recent = append(d.recent, Deadlock{ID: d.counted, Time: now, Victim: w.Waiter, Cycle: cycle})
			if len(d.recent) > recentDeadlocks {
				d.recent = slices.Delete(d.recent, 0, len(d.recent)-recentDeadlocks)
			}
		}
		return cycle
	}
	if len(d.waits) >= maxWaits {
		d.sweepLocked(now)
	}
	if len(d.waits) < maxWaits {
		d.waits[w.Waiter] = me
	}
	return nil
}

func (d *Detector) sweepLocked(now time.Time) {
	for id, w := range d.waits {
		if now.After(w.expires) {
			delete(d.waits, id)
		}
	}
}

// cycleLocked searches, breadth first, a way from me back to myself: the shortest cycle is the one that
// people understand.
func (d *Detector) cycleLocked(id kv.Timestamp, me *node, now time.Time) []Edge {
	type step struct {
		id   kv.Timestamp
		node *node
		from int // index in steps
	}
	steps := []step{{id, me, -1}}
	seen := map[kv.Timestamp]bool{id: true}
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		for _, b := range s.node.on {
			if b.Owner == id {
				var cycle []Edge
				holder, note := b.Owner, b.Note
				for j := i; j >= 0; j = steps[j].from {
					x := steps[j]
					cycle = append(cycle, Edge{
						Waiter: x.id, Holder: holder, Note: x.node.note, HolderNote: note,
						Column: x.node.column,
					})
					holder, note = x.id, x.node.note
				}
				slices.Reverse(cycle)
				return cycle
			}
			if next := d.waits[b.Owner]; next != nil && !seen[b.Owner] && !now.After(next.expires) {
				seen[b.Owner] = true
				steps = append(steps, step{b.Owner, next, i})
			}
		}
	}
	return nil
}

// Recent are the last deadlocks, the newest last.
func (d *Detector) Recent() []Deadlock {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.recent)
}
