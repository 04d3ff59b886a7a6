package txn

import (
	"slices"
	"sync"
	"time"

	"moka/kv"
)

// detector finds deadlocks. One shard's leader, the one that serves detectorRow, has the graph of who waits for whom over all
// shards, in memory: whoever has to wait tells it first, and is told if the wait would close a cycle. Who closes it is the victim.
//
// Nothing is lost with the graph: each wait is told again at least once a second, so a new leader knows the cycles of its
// predecessor after a second, and an edge whose waiter fell silent goes by itself.
type detector struct {
	mu      sync.Mutex
	waits   map[kv.Timestamp]*waitNode
	recent  []Deadlock // the newest last
	counted uint64
}

type waitNode struct {
	on      []blocker
	note    string
	column  kv.Column
	expires time.Time
}

// WaitEdge is one step of a deadlock: Waiter waits for Holder at Column.
type WaitEdge struct {
	Waiter, Holder   kv.Timestamp
	Note, HolderNote string
	Column           kv.Column
}

// Deadlock is a cycle that was found, and who was told to give up.
type Deadlock struct {
	ID     uint64
	Time   time.Time
	Victim kv.Timestamp
	Cycle  []WaitEdge
}

const (
	recentDeadlocks = 64
	maxWaits        = 1 << 16
)

// detectorRow is the row whose shard has the detector. Nothing is stored there.
var detectorRow = kv.MakeRowKey(kv.TableTxn, nil)

func newDetector() *detector { return &detector{waits: map[kv.Timestamp]*waitNode{}} }

// wait notes whom a waiter waits for, unless that closes a cycle: then it returns the cycle.
func (d *detector) wait(req *detectRequest, now time.Time) []WaitEdge {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waits, req.waiter)
	if len(req.waitsOn) == 0 {
		return nil
	}
	me := &waitNode{on: req.waitsOn, note: req.note, column: req.column, expires: now.Add(req.ttl)}
	if cycle := d.cycleLocked(req.waiter, me, now); cycle != nil {
		if req.confirm {
			d.counted++
			d.recent = append(d.recent, Deadlock{ID: d.counted, Time: now, Victim: req.waiter, Cycle: cycle})
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
		d.waits[req.waiter] = me
	}
	return nil
}

func (d *detector) sweepLocked(now time.Time) {
	for id, w := range d.waits {
		if now.After(w.expires) {
			delete(d.waits, id)
		}
	}
}

// cycleLocked searches, breadth first, a way from me back to myself: the shortest cycle is the one that people understand.
func (d *detector) cycleLocked(id kv.Timestamp, me *waitNode, now time.Time) []WaitEdge {
	type step struct {
		id   kv.Timestamp
		node *waitNode
		from int // index in steps
	}
	steps := []step{{id, me, -1}}
	seen := map[kv.Timestamp]bool{id: true}
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		for _, b := range s.node.on {
			if b.owner == id {
				var cycle []WaitEdge
				holder, note := b.owner, b.note
				for j := i; j >= 0; j = steps[j].from {
					x := steps[j]
					cycle = append(cycle, WaitEdge{Waiter: x.id, Holder: holder, Note: x.node.note, HolderNote: note, Column: x.node.column})
					holder, note = x.id, x.node.note
				}
				slices.Reverse(cycle)
				return cycle
			}
			if next := d.waits[b.owner]; next != nil && !seen[b.owner] && !now.After(next.expires) {
				seen[b.owner] = true
				steps = append(steps, step{b.owner, next, i})
			}
		}
	}
	return nil
}

func (d *detector) list() []Deadlock {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.recent)
}
