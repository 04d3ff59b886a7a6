package kvtest

import (
	"bytes"
	"cmp"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"moka/kv"
)

// entry is one version of one column in one group. Entries are immutable once in a tree.
type entry struct {
	run   uint32
	col   kv.Column
	ts    kv.Timestamp
	value []byte
	guard bool
}

func compareColumns(a, b kv.Column) int {
	if c := bytes.Compare(a.Row, b.Row); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Family, b.Family); c != 0 {
		return c
	}
	return bytes.Compare(a.Qualifier, b.Qualifier)
}

// lessEntry orders by run, row, family, qualifier, newest first.
func lessEntry(a, b *entry) bool {
	if a.run != b.run {
		return a.run < b.run
	}
	if c := compareColumns(a.col, b.col); c != 0 {
		return c < 0
	}
	return a.ts > b.ts
}

func lessByTimestamp(a, b *entry) bool {
	if a.ts != b.ts {
		return a.ts < b.ts
	}
	return lessEntry(a, b)
}

// group is one locality group of one shard. It is also the kv.MemTable of an in-memory group.
type group struct {
	inMemory bool
	n        atomic.Int64

	mu    sync.RWMutex
	tree  *btree.BTreeG[*entry]
	byTS  *btree.BTreeG[*entry] // in-memory groups only
	hooks []func(kv.Address, kv.Version)
	id    kv.GroupID
}

func newGroup(id kv.GroupID, inMemory bool) *group {
	g := &group{id: id, inMemory: inMemory}
	g.clear()
	return g
}

func newTree(less func(a, b *entry) bool) *btree.BTreeG[*entry] {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// clear empties the group; g.mu must be held or g unshared.
func (g *group) clear() {
	g.tree, g.byTS = newTree(lessEntry), newTree(lessByTimestamp)
	g.n.Store(0)
}

func cloneColumn(c kv.Column) kv.Column {
	return kv.Column{Row: bytes.Clone(c.Row), Family: c.Family, Qualifier: bytes.Clone(c.Qualifier)}
}

func newEntry(a kv.Address, ts kv.Timestamp, value []byte, guard bool) *entry {
	// A nil value and an empty one are the same on disk, so they are here.
	return &entry{run: a.Run, col: cloneColumn(a.Column), ts: ts, value: append([]byte{}, value...), guard: guard}
}

func (g *group) set(e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setLocked(e)
}

func (g *group) setLocked(e *entry) {
	if _, replaced := g.tree.Set(e); !replaced {
		g.n.Add(1)
	}
	if g.inMemory {
		g.byTS.Set(e)
	}
}

func (g *group) deleteLocked(e *entry) {
	if _, ok := g.tree.Delete(e); ok {
		g.n.Add(-1)
	}
	if g.inMemory {
		g.byTS.Delete(e)
	}
}

// removeGuard takes a guard away unless a set has replaced it.
func (g *group) removeGuard(e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cur, ok := g.tree.Get(e); ok && cur == e {
		g.deleteLocked(e)
	}
}

func (g *group) get(a kv.Address, ts kv.Timestamp) (*entry, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.tree.Get(&entry{run: a.Run, col: a.Column, ts: ts})
}

func (g *group) latest(a kv.Address, max kv.Timestamp) (found *entry, ok bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	g.tree.Ascend(&entry{run: a.Run, col: a.Column, ts: max}, func(e *entry) bool {
		if e.run == a.Run && compareColumns(e.col, a.Column) == 0 {
			found, ok = e, true
		}
		return false
	})
	return found, ok
}

// snapshot is a cheap frozen copy for an iterator.
func (g *group) snapshot() *btree.BTreeG[*entry] {
	g.mu.Lock() // Copy marks the original
	defer g.mu.Unlock()
	return g.tree.Copy()
}

// Len, ByTimestamp, Ascend, Min, OnSet and Runs make a kv.MemTable.

func (g *group) Len() int { return int(g.n.Load()) }

func (g *group) ByTimestamp(ts kv.Timestamp, f func(a kv.Address, value []byte) bool) {
	for _, e := range g.collect(func(add func(*entry) bool) {
		g.byTS.Ascend(&entry{ts: ts, col: kv.Column{}}, func(e *entry) bool { return e.ts == ts && add(e) })
	}) {
		if !f(kv.Address{Group: g.id, Run: e.run, Column: e.col}, e.value) {
			return
		}
	}
}

func (g *group) Ascend(run uint32, span kv.Span, f func(a kv.Address, v kv.Version) bool) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	g.tree.Ascend(&entry{run: run, col: kv.Column{Row: span.Start}, ts: maxTS}, func(e *entry) bool {
		if e.run != run || len(span.End) > 0 && bytes.Compare(e.col.Row, span.End) >= 0 {
			return false
		}
		return f(kv.Address{Group: g.id, Run: e.run, Column: e.col}, kv.Version{Timestamp: e.ts, Value: e.value})
	})
	return nil
}

func (g *group) Min() (kv.Timestamp, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	e, ok := g.byTS.Min()
	if !ok {
		return 0, false
	}
	return e.ts, true
}

func (g *group) OnSet(f func(a kv.Address, v kv.Version)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hooks = append(g.hooks, f)
}

func (g *group) Runs() map[uint32]int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	runs := map[uint32]int{}
	g.tree.Scan(func(e *entry) bool { runs[e.run]++; return true })
	return runs
}

func (g *group) collect(walk func(add func(*entry) bool)) (es []*entry) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	walk(func(e *entry) bool { es = append(es, e); return true })
	return es
}

const maxTS = kv.Timestamp(1<<64 - 1)
