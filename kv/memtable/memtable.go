// Package memtable is an in-memory locality group (Bigtable §6): an ordered table of versions that is part of a shard's state.
// Pebble holds its image only for restart.
//
// Locks and notifications live here because their keys are set and deleted over and over. Pebble steps through every older
// entry of a deleted key until a flush: measured, the probe of a lock column after 1,000 cycles cost 277 µs, here it costs 0.1.
//
// Two trees hold the same entries, one by (run, row, family, qualifier, newest first) and one by (timestamp, address): all locks
// of a transaction are found without knowing its rows, and the oldest timestamp is at hand. One lock guards both; what is done
// under it is a few tree steps.
package memtable

import (
	"bytes"
	"cmp"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"moka/kv"
)

// Table implements kv.MemTable for one group of one shard.
type Table struct {
	group kv.GroupID
	n     atomic.Int64
	bytes atomic.Int64

	mu    sync.RWMutex
	byKey *btree.BTreeG[*entry]
	byTS  *btree.BTreeG[*entry]
	runs  map[uint32]int

	// Guards come and go by the thousand, in the order of their keys: where the last one was is where the next one is.
	near, nearTS btree.PathHint

	hooks []func(kv.Address, kv.Version)

	bound *bound // nil: all entries are here
}

// entry is immutable once it is in the trees: readers hold it outside of the lock.
type entry struct {
	address   kv.Address
	timestamp kv.Timestamp
	value     []byte
	// guards, unless zero, is how many guards stand here: an entry that is never persisted. under is the persistent one that it hides.
	guards int
	under  *entry
	// place is where in the log the entry was set; see Set.
	place uint64
}

// probes are entries to search with. The trees' comparisons make each of them escape, and two of 128 bytes
// were a tenth of what a commit of one row allocated.
var probes = sync.Pool{New: func() any { return new(entry) }}

// probe returns an entry to search with, which goes back when the search is over: no tree keeps it.
func probe(a kv.Address, ts kv.Timestamp) *entry {
	p := probes.Get().(*entry)
	p.address, p.timestamp = a, ts
	return p
}

func (e *entry) free() {
	*e = entry{} // or the row it was for would live on
	probes.Put(e)
}

// entryBytes is what an entry takes beside its keys and its value: itself, its places in two trees, and what the allocator rounds up.
const entryBytes = 208

func (e *entry) size() int64 {
	return entryBytes + int64(len(e.address.Row)+len(e.address.Qualifier)+len(e.value))
}

// compareColumns orders by run, row, family, qualifier.
func compareColumns(a, b *kv.Address) int {
	if c := cmp.Compare(a.Run, b.Run); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Row, b.Row); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Family, b.Family); c != 0 {
		return c
	}
	return bytes.Compare(a.Qualifier, b.Qualifier)
}

func byKey(a, b *entry) bool {
	if c := compareColumns(&a.address, &b.address); c != 0 {
		return c < 0
	}
	return a.timestamp > b.timestamp // newest first
}

func byTS(a, b *entry) bool {
	if a.timestamp != b.timestamp {
		return a.timestamp < b.timestamp
	}
	return compareColumns(&a.address, &b.address) < 0
}

// New returns an empty table for a group.
func New(group kv.GroupID) *Table {
	// t.mu guards both trees at once. The nodes are wide because entries come and go: with a few dozen locks at a time, a tree
	// of narrow ones would split and merge all the time.
	o := btree.Options{NoLocks: true, Degree: 128}
	return &Table{
		group: group,
		byKey: btree.NewBTreeGOptions(byKey, o),
		byTS:  btree.NewBTreeGOptions(byTS, o),
		runs:  map[uint32]int{},
	}
}

// Item is an entry outside of the table.
type Item struct {
	Address   kv.Address
	Timestamp kv.Timestamp
	Value     []byte
}

// Set puts an entry in, in the place of one with the same address and timestamp. The table keeps the item's memory.
//
// Sets come in the order of the log, of which place is a count. Deletes come later than they stand there, once they are durable, and any
// set may have come between; so they carry their place, too, and the table is at last what the log says.
func (t *Table) Set(i Item, place uint64) {
	i.Address.Group = t.group
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &entry{address: i.Address, timestamp: i.Timestamp, value: i.Value, place: place}
	if b := t.bound; b != nil && place > 0 {
		b.underway[place], b.last = struct{}{}, max(b.last, place)
	}
	if old, ok := t.byKey.Get(e); ok && old.guards > 0 {
		// What a guard hides is what stays when the guard goes.
		e = &entry{address: old.address, timestamp: old.timestamp, value: i.Value, guards: old.guards, under: e}
	}
	t.put(e)
}

func (t *Table) put(e *entry) {
	old, replaced := t.byKey.Set(e)
	t.byTS.Set(e)
	t.bytes.Add(e.size())
	if replaced {
		t.bytes.Add(-old.size())
	} else {
		t.runs[e.address.Run]++
		t.n.Add(1)
	}
}

func (t *Table) remove(e *entry) {
	old, ok := t.byKey.Delete(e)
	if !ok {
		return
	}
	t.byTS.Delete(e)
	t.gone(old)
}

// gone counts an entry out.
func (t *Table) gone(e *entry) {
	t.bytes.Add(-e.size())
	if t.runs[e.address.Run]--; t.runs[e.address.Run] == 0 {
		delete(t.runs, e.address.Run)
	}
	t.n.Add(-1)
}

// Delete takes an entry out, unless it was set behind the delete's place in the log; a guard on it stays until it is dropped.
func (t *Table) Delete(a kv.Address, ts kv.Timestamp, place uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := probe(a, ts)
	defer p.free()
	old, ok := t.byKey.Get(p)
	switch {
	case !ok:
		t.missLocked(a.Run)
	case old.guards > 0:
		if old.under != nil && old.under.place < place {
			t.put(&entry{address: old.address, timestamp: old.timestamp, value: old.value, guards: old.guards})
		}
	case old.place < place:
		t.remove(old)
	}
}

// Guard shows an entry to every reader until DropGuard, over the one that may be there. The table keeps the item's memory.
// Commands that take no latch may guard the same at a time, copies of one request: it stands until the last has dropped it.
func (t *Table) Guard(i Item) {
	i.Address.Group = t.group
	e := &entry{address: i.Address, timestamp: i.Timestamp, value: i.Value, guards: 1}
	t.mu.Lock()
	defer t.mu.Unlock()
	old, replaced := t.byKey.SetHint(e, &t.near)
	t.bytes.Add(e.size())
	switch {
	case !replaced:
		t.runs[e.address.Run]++
		t.n.Add(1)
	case old.guards > 0:
		e.guards, e.under = old.guards+1, old.under
		t.bytes.Add(-old.size())
	default:
		e.under = old
		t.bytes.Add(-old.size())
	}
	t.byTS.SetHint(e, &t.nearTS)
}

// DropGuard ends a guard.
func (t *Table) DropGuard(a kv.Address, ts kv.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := probe(a, ts)
	old, ok := t.byKey.DeleteHint(p, &t.near)
	p.free()
	switch {
	case !ok:
	case old.guards == 0:
		t.byKey.Set(old)
	case old.guards > 1:
		e := *old
		e.guards--
		t.byKey.Set(&e)
		t.byTS.Set(&e)
	case old.under != nil:
		t.byKey.Set(old.under)
		t.byTS.Set(old.under)
		t.bytes.Add(old.under.size() - old.size())
	default:
		t.byTS.DeleteHint(old, &t.nearTS)
		t.gone(old)
	}
}

// Get returns the value of exactly that version; the memory is the table's.
func (t *Table) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool) {
	if t.n.Load() == 0 {
		return nil, false
	}
	p := probe(a, ts)
	defer p.free()
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, ok := t.byKey.Get(p)
	if !ok {
		return nil, false
	}
	return e.value, true
}

// Latest returns the newest version with a timestamp of at most max; the memory is the table's.
func (t *Table) Latest(a kv.Address, max kv.Timestamp) (v kv.Version, ok bool) {
	if t.n.Load() == 0 {
		return v, false
	}
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
	return v, ok
}

// Len counts entries, guards included, and about those that are on disk alone.
func (t *Table) Len() int {
	n := t.Held()
	if t.bound == nil {
		return n
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.bound.spills {
		n += s.count
	}
	return n
}

// Bytes estimates the memory that the table takes.
func (t *Table) Bytes() int64 { return t.bytes.Load() }

// ByTimestamp implements kv.MemTable. f may call back: it runs outside of the lock, on the entries that were there at the call.
func (t *Table) ByTimestamp(ts kv.Timestamp, f func(a kv.Address, value []byte) bool) {
	if t.n.Load() == 0 {
		return
	}
	var found []*entry
	p := probe(kv.Address{}, ts)
	defer p.free()
	t.mu.RLock()
	t.byTS.Ascend(p, func(e *entry) bool {
		if e.timestamp != ts {
			return false
		}
		found = append(found, e)
		return true
	})
	t.mu.RUnlock()
	for _, e := range found {
		if !f(e.address, e.value) {
			return
		}
	}
}

// Ascend implements kv.MemTable, over what is here.
func (t *Table) Ascend(run uint32, span kv.Span, f func(a kv.Address, v kv.Version) bool) error {
	if t.n.Load() == 0 {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.ascend(run, span, f)
	return nil
}

// ascend reports whether f wanted all.
func (t *Table) ascend(run uint32, span kv.Span, f func(a kv.Address, v kv.Version) bool) (all bool) {
	all = true
	from := &entry{address: kv.Address{Run: run, Column: kv.Column{Row: span.Start}}, timestamp: kv.MaxTimestamp}
	t.byKey.Ascend(from, func(e *entry) bool {
		if e.address.Run != run || len(span.End) > 0 && bytes.Compare(e.address.Row, span.End) >= 0 {
			return false
		}
		all = f(e.address, kv.Version{Timestamp: e.timestamp, Value: e.value})
		return all
	})
	return all
}

// Min implements kv.MemTable.
func (t *Table) Min() (kv.Timestamp, bool) {
	if t.n.Load() == 0 {
		return 0, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, ok := t.byTS.Min()
	if !ok {
		return 0, false
	}
	return e.timestamp, true
}

// OnSet implements kv.MemTable.
func (t *Table) OnSet(f func(a kv.Address, v kv.Version)) { t.hooks = append(t.hooks, f) }

// Announce calls the hooks for an item that has become durable. The caller serializes the calls.
func (t *Table) Announce(i Item) {
	if len(t.hooks) == 0 {
		return
	}
	i.Address.Group = t.group
	for _, f := range t.hooks {
		f(i.Address, kv.Version{Timestamp: i.Timestamp, Value: i.Value})
	}
}

// Hooked reports whether anybody listens to Announce.
func (t *Table) Hooked() bool { return len(t.hooks) > 0 }

// Forget drops all guards and hooks: what a leadership of the shard has put here beside the entries, when it
// has ended.
func (t *Table) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hooks = nil
	var guards []*entry
	t.byKey.Scan(func(e *entry) bool {
		if e.guards > 0 {
			guards = append(guards, e)
		}
		return true
	})
	for _, e := range guards {
		t.remove(e)
		if e.under != nil {
			t.put(e.under)
		}
	}
}

// Clear drops all entries, when the state that they are the image of has been replaced. There are no
// guards and no hooks, and nobody reads: no leadership is there.
func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byKey.Clear()
	t.byTS.Clear()
	clear(t.runs)
	t.n.Store(0)
	t.bytes.Store(0)
	if t.bound != nil {
		clear(t.bound.spills)
		clear(t.bound.underway)
	}
}

// Runs implements kv.MemTable.
func (t *Table) Runs() map[uint32]int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	m := make(map[uint32]int, len(t.runs))
	for r, n := range t.runs {
		m[r] = n
	}
	if t.bound != nil {
		for r, s := range t.bound.spills {
			m[r] += s.count
		}
	}
	return m
}

// Persistent returns the entries within the span that are not guards, of all runs: what a tablet that moves takes along.
func (t *Table) Persistent(span kv.Span) []Item {
	var items []Item
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.byKey.Scan(func(e *entry) bool {
		if e.guards > 0 {
			if e = e.under; e == nil {
				return true
			}
		}
		if span.Contains(e.address.Row) {
			items = append(items, Item{Address: e.address, Timestamp: e.timestamp, Value: e.value})
		}
		return true
	})
	return items
}
