package memtable

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"moka/kv"
)

// A bounded table holds so many entries, and of the others knows that they are on disk, in the image that the
// table has there. So a backlog of notifications costs disk and not memory. What is here and what is not:
//
//   - what a batch sets is here until the batch is visible on disk, whatever the bound; then the run with the
//     most entries gives up those that were set first;
//   - of each run that has given up any, spill.newest is at or above all that is on disk alone: what is newer
//     is here;
//   - nothing comes back but what a command has read under the latch of its row (Admit), so that what has
//     been deleted cannot: a cell that changes again and again is looked for here, not behind its own
//     deletions;
//   - before the row spill.verified nothing is on disk alone: nobody has met any there who has gone over it
//     (Verified). So the deletions of a backlog that has been worked off are stepped over once. When the
//     whole run has been gone over it is whole again.
type bound struct {
	most     int
	underway map[uint64]struct{} // places of batches that are shown and may not be on disk yet
	held     int                 // what is here stays here; see Hold
	stuck    bool                // all that could go is under way
	last     uint64              // the newest place
	missed   uint64              // deletes of what was not here
	spills   map[uint32]*spill
}

// spill is what is known of a run that has entries on disk alone.
type spill struct {
	newest    kv.Timestamp
	count     int    // about how many
	evictions uint64 // so that who goes over the run notices them
	verified  kv.RowKey
}

// NewBounded returns an empty table that holds most entries, and those of batches under way.
func NewBounded(group kv.GroupID, most int) *Table {
	t := New(group)
	t.bound = &bound{most: most, underway: map[uint64]struct{}{}, spills: map[uint32]*spill{}}
	return t
}

// Bounded reports whether there may be entries on disk alone.
func (t *Table) Bounded() bool { return t.bound != nil }

// Held counts the entries that are here.
func (t *Table) Held() int { return int(t.n.Load()) }

// Load is Set of what is on disk, when a replica opens: what there is no room for stays there.
func (t *Table) Load(i Item) {
	if b := t.bound; b != nil && t.Held() >= b.most {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.spillLocked(i.Address.Run, i.Timestamp, i.Address.Row)
		return
	}
	t.Set(i, 0)
}

// Settle says that the batch at a place in the log is visible on disk: what it has set may go.
func (t *Table) Settle(place uint64) {
	if t.bound == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bound.underway, place)
	t.bound.stuck = false
	t.evictLocked()
}

// Hold keeps all that is here until Release: a tablet arrives, and is not on disk yet.
func (t *Table) Hold() { t.hold(1) }

// Release ends Hold.
func (t *Table) Release() { t.hold(-1) }

func (t *Table) hold(n int) {
	if t.bound == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound.held += n
	t.evictLocked()
}

// evictLocked makes room: an eighth of the table at a time, so that what looks for it is paid seldom.
func (t *Table) evictLocked() {
	b := t.bound
	for b != nil && b.held == 0 && !b.stuck && t.Held() > b.most {
		settled := uint64(math.MaxUint64)
		for p := range b.underway {
			settled = min(settled, p)
		}
		var old []*entry
		from := &entry{address: kv.Address{Run: t.longest()}, timestamp: kv.MaxTimestamp}
		t.byKey.Ascend(from, func(e *entry) bool {
			if len(old) > 0 && e.address.Run != old[0].address.Run {
				return false
			}
			if e.guards == 0 && e.place < settled {
				old = append(old, e)
			}
			return true
		})
		slices.SortFunc(old, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.timestamp, b.timestamp))
		})
		b.stuck = len(old) == 0
		for _, e := range old[:min(len(old), max(b.most/8, t.Held()-b.most))] {
			t.remove(e)
			t.spillLocked(e.address.Run, e.timestamp, e.address.Row)
		}
	}
}

// longest is the run with the most entries. Runs are few.
func (t *Table) longest() (run uint32) {
	for r, n := range t.runs {
		if n > t.runs[run] {
			run = r
		}
	}
	return run
}

// spillLocked notes that a run has an entry, not newer than a timestamp, in no row before that one, on disk
// alone.
func (t *Table) spillLocked(run uint32, newest kv.Timestamp, row kv.RowKey) {
	s := t.bound.spills[run]
	if s == nil {
		s = &spill{}
		t.bound.spills[run] = s
	}
	s.newest = max(s.newest, newest)
	s.count++
	s.evictions++
	if bytes.Compare(row, s.verified) < 0 {
		s.verified = bytes.Clone(row)
	}
}

// Spills tells of each run that has entries on disk alone how new they are at the most.
func (t *Table) Spills() map[uint32]kv.Timestamp {
	m := map[uint32]kv.Timestamp{}
	if t.bound != nil {
		t.mu.RLock()
		defer t.mu.RUnlock()
		for run, s := range t.bound.spills {
			m[run] = s.newest
		}
	}
	return m
}

// Spill notes what Spills tells of the table that a tablet comes from.
func (t *Table) Spill(spills map[uint32]kv.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for run, newest := range spills {
		t.spillLocked(run, newest, nil)
	}
}

// missLocked counts a delete of what is not here.
func (t *Table) missLocked(run uint32) {
	if t.bound == nil {
		return
	}
	if s := t.bound.spills[run]; s != nil {
		t.bound.missed++
		s.count = max(1, s.count-1)
	}
}

// Look is Latest of a bounded table. Unless disk is zero, there may be an entry on disk alone that is newer
// than what is found, at or below disk. missed is for Admit.
func (t *Table) Look(a kv.Address, max kv.Timestamp) (v kv.Version, ok bool, disk kv.Timestamp,
	missed uint64) {
	p := probe(a, max)
	defer p.free()
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.byKey.Ascend(p, func(e *entry) bool {
		if compareColumns(&e.address, &p.address) == 0 {
			v, ok = kv.Version{Timestamp: e.timestamp, Value: e.value}, true
		}
		return false
	})
	if s := t.bound.spills[a.Run]; s != nil && (!ok || v.Timestamp < s.newest) {
		disk = min(max, s.newest)
	}
	return v, ok, disk, t.bound.missed
}

// Admit puts in what a command, which has the row's latch, has read from disk behind Look. If anything has
// been deleted since that was not here it may be that: it is left out.
func (t *Table) Admit(i Item, missed uint64) {
	i.Address.Group = t.group
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.bound
	e := &entry{address: i.Address, timestamp: i.Timestamp, value: i.Value, place: b.last}
	if _, here := t.byKey.Get(e); here || b.missed != missed {
		return
	}
	t.put(e)
	if s := b.spills[i.Address.Run]; s != nil {
		s.count = max(1, s.count-1)
	}
	t.evictLocked()
}

// AscendHere is Ascend over what need not be read from disk. Unless it is done, the disk has the rest, from a
// row on.
func (t *Table) AscendHere(run uint32, span kv.Span, f func(a kv.Address, v kv.Version) bool) (from kv.RowKey,
	done bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.bound.spills[run]
	if s == nil {
		t.ascend(run, span, f)
		return nil, true
	}
	if bytes.Compare(s.verified, span.Start) <= 0 {
		return span.Start, false
	}
	if len(span.End) > 0 && bytes.Compare(span.End, s.verified) <= 0 {
		t.ascend(run, span, f)
		return nil, true
	}
	return s.verified, !t.ascend(run, kv.Span{Start: span.Start, End: s.verified}, f)
}

// Evictions is what to hand to Verified: to be asked before the disk is read.
func (t *Table) Evictions(run uint32) uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.bound.spills[run]; s != nil {
		return s.evictions
	}
	return 0
}

// Verified says that all that is on disk of a run, in rows from the first to the one before next (empty: to
// the end), was found to be here.
func (t *Table) Verified(run uint32, evictions uint64, from, next kv.RowKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.bound.spills[run]
	switch {
	case s == nil || s.evictions != evictions || bytes.Compare(from, s.verified) > 0:
	case len(next) == 0:
		delete(t.bound.spills, run)
	case bytes.Compare(next, s.verified) > 0:
		s.verified = bytes.Clone(next)
	}
}
