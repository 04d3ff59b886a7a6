package txn

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"moka/kv"
)

// rangeCache remembers the newest versions of columns in ranges that are scanned and written over and over. A scan of the store steps
// over what was superseded, in each memtable and each table that has some: 2 µs for a row that was written fifty times, where a quiet
// one takes a tenth of a microsecond. What is remembered has no past to step over.
//
// It is an ordered table of columns. An entry that is joined to the one before it says that the store has no other column between the two; a
// run of joined entries is all there is to see from its first to its last. (ScyllaDB's row cache calls that continuity.)
//
//	a ──── b ──── c      f ──── g        between c and f anything may be
//	7      9      ?      4      none     c was written and is not known at the moment; g has no version at all
//
// Whatever a scan takes from here it takes behind its look at the locks, as it would from the store. The rules, of which hot has the same:
//
//	R1  A commit says that it will write a column (writing) while its lock or guard is there. From then on the column is not known, and in a run
//	    it has an entry. When the version is in the store, the commit makes it known (wrote), if it had the column for itself.
//	R2  A scan that wants to remember a range watches it, then looks for locks in it, then makes its iterator. What commits before that was
//	    there to read, or its lock is found; what comes later is told to who watches. Such columns are remembered as not known.
//	R3  A column that is not known is looked for in the store by who needs it, and known from then on, if there was no lock and nothing has been
//	    said about it since.
//	R4  What no commit says, such as ranges that are dropped and tablets that come, forgets everything, and what is being watched.
//
// Collections say nothing: they remove no version that a scan may ask for, and a column of which nothing is left was deleted here, too.
type rangeCache struct {
	// used counts entries and watchers. While it is zero commits have nothing to say.
	used atomic.Int64

	mu       sync.RWMutex
	entries  *btree.BTreeG[*rangeEntry]
	life     uint64 // of the entries: how many times all has been forgotten
	moves    uint64 // the last of rangeEntry.move
	bytes    int
	watchers []*rangeWatcher

	spare sync.Pool // of *[rangeChunk]rangeCell
}

const (
	// rangeCacheBytes bounds the memory of a shard. When it is full, all is forgotten: what is hot comes back with the next scans.
	rangeCacheBytes = 8 << 20
	// rangeEntryBytes is what an entry takes beside its column and its versions' bytes.
	rangeEntryBytes = 256
	// watchedMax bounds the columns that a watcher notes, and those with locks.
	watchedMax = 256
)

// rangeEntry is guarded by rangeCache.mu.
type rangeEntry struct {
	column kv.Column
	joined bool
	known  bool
	newest *rangeVersion // nil: there is none, if known
	move   uint64        // counts up whenever known or newest change
	life   uint64
}

// rangeVersion is immutable.
type rangeVersion struct {
	kv.Version
	before *rangeVersion // the next older one; nil: not known
}

func newRangeCache() *rangeCache {
	r := &rangeCache{spare: sync.Pool{New: func() any { return new([rangeChunk]rangeCell) }}}
	r.entries = r.noEntries()
	return r
}

func (r *rangeCache) noEntries() *btree.BTreeG[*rangeEntry] {
	return btree.NewBTreeGOptions(func(a, b *rangeEntry) bool { return compareColumns(a.column, b.column) < 0 }, btree.Options{NoLocks: true})
}

// forget is R4.
func (r *rangeCache) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}

func (r *rangeCache) clear() {
	r.used.Add(-int64(r.entries.Len()))
	r.entries = r.noEntries()
	r.life++
	r.bytes = 0
	for _, w := range r.watchers {
		w.broken = true
	}
}

// from returns the first entry at or behind a column.
func (r *rangeCache) from(c kv.Column) (first *rangeEntry) {
	r.entries.Ascend(&rangeEntry{column: c}, func(e *rangeEntry) bool { first = e; return false })
	return first
}

// add makes an entry for a column that has none; next is the one behind it. What the store was known to have nothing of, it has not
// got more of by being cut in two.
func (r *rangeCache) add(c kv.Column, next *rangeEntry) *rangeEntry {
	e := &rangeEntry{column: cloneColumn(c), joined: next != nil && next.joined, life: r.life}
	r.entries.Set(e)
	r.used.Add(1)
	r.bytes += rangeEntryBytes + len(c.Row) + len(c.Qualifier)
	return e
}

// ensure returns the entry of a column, and whether it is new.
func (r *rangeCache) ensure(c kv.Column) (e *rangeEntry, added bool) {
	next := r.from(c)
	if next != nil && compareColumns(next.column, c) == 0 {
		return next, false
	}
	return r.add(c, next), true
}

func (r *rangeCache) set(e *rangeEntry, known bool, newest *rangeVersion) {
	if e.life == r.life {
		r.bytes += newest.size() - e.newest.size()
	}
	r.moves++
	e.known, e.newest, e.move = known, newest, r.moves
}

func (v *rangeVersion) size() (n int) {
	for ; v != nil; v = v.before {
		n += len(v.Value) + 64
	}
	return n
}

// rangeWrite is a commit to a column that is remembered, on its way to the store.
type rangeWrite struct {
	entry  *rangeEntry
	move   uint64
	before *rangeVersion
}

// writing says that a version of a column is about to be written: R1. What it returns, unless it is nil, is to be given to wrote.
func (r *rangeCache) writing(c kv.Column, commitTS kv.Timestamp) *rangeWrite {
	if r.used.Load() == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watchers {
		w.note(c)
	}
	e := r.from(c)
	switch {
	case e == nil:
		return nil
	case compareColumns(e.column, c) == 0:
	case !e.joined:
		return nil
	case r.bytes > rangeCacheBytes:
		r.clear()
		return nil
	default: // the store has nothing of it
		e = r.add(c, e)
		e.known = true
	}
	if !e.known {
		r.set(e, false, nil)
		return nil // somebody else is at it, or has failed: who reads it next will look
	}
	before := e.newest
	if before != nil {
		if before.Timestamp >= commitTS {
			return nil // a repetition: what it writes is there
		}
		before = &rangeVersion{Version: before.Version} // one is enough for snapshots that are open for a moment
	}
	r.set(e, false, nil)
	return &rangeWrite{entry: e, move: e.move, before: before}
}

// wrote makes the version known that is now in the store.
func (r *rangeCache) wrote(w *rangeWrite, v kv.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.entry.move == w.move {
		r.set(w.entry, true, &rangeVersion{Version: v, before: w.before})
	}
}

// learn is R3; newest is nil if there is no version.
func (r *rangeCache) learn(e *rangeEntry, move uint64, newest *rangeVersion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.move == move && !e.known {
		r.set(e, true, newest)
	}
}

// rangeCell is an entry as it was when a scan came by; of the entry itself only the column may be read.
type rangeCell struct {
	entry  *rangeEntry
	known  bool
	newest *rangeVersion
	move   uint64
}

// rangeChunk bounds what is taken under one lock.
const rangeChunk = 64

// read returns what is remembered from a column on, up to the row end: a run, or the beginning of one. If ended, the run goes on to the end, and
// if there is none, bound is the entry where the next one begins.
func (r *rangeCache) read(from kv.Column, end kv.RowKey, cells []rangeCell) (run []rangeCell, ended bool, bound *rangeEntry) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	first := true
	r.entries.Ascend(&rangeEntry{column: from}, func(e *rangeEntry) bool {
		if len(end) > 0 && bytes.Compare(e.column.Row, end) >= 0 {
			ended = e.joined
			return false
		}
		if !e.joined && (!first || compareColumns(e.column, from) != 0) {
			if first {
				bound = e
			}
			return false
		}
		first = false
		cells = append(cells, rangeCell{entry: e, known: e.known, newest: e.newest, move: e.move})
		return len(cells) < rangeChunk
	})
	return cells, ended, bound
}

// rangeWatcher hears of the columns of a span that are being written: R2.
type rangeWatcher struct {
	span    kv.Span
	unknown []kv.Column // guarded by rangeCache.mu
	broken  bool        // guarded by rangeCache.mu
}

func (w *rangeWatcher) note(c kv.Column) {
	switch {
	case w.broken || !w.span.Contains(c.Row):
	case len(w.unknown) >= watchedMax:
		w.broken = true
	default:
		w.unknown = append(w.unknown, cloneColumn(c))
	}
}

// watch begins before locks are looked for and before the iterator is made.
func (r *rangeCache) watch(span kv.Span) *rangeWatcher {
	w := &rangeWatcher{span: span}
	r.used.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = append(r.watchers, w)
	return w
}

func (r *rangeCache) unwatch(w *rangeWatcher) {
	r.used.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.watchers, w); i >= 0 {
		r.watchers = slices.Delete(r.watchers, i, i+1)
	}
}

// stretch is what a scan has seen of the store: all columns from one to another, with their newest versions.
type stretch struct {
	// from is the first cell's, or where the span begins, or if behind is set a column that the stretch lies behind; to is the last cell's, or
	// behind it, where the next run or what lies beyond the span begins.
	from, to kv.Column
	behind   bool
	cells    []stretchCell
}

type stretchCell struct {
	column kv.Column
	newest kv.Version
}

// remember makes a run of what a watching scan has seen. locked are the columns in which it has found locks when it began.
func (r *rangeCache) remember(w *rangeWatcher, locked []kv.Column, s *stretch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.broken {
		return
	}
	if r.bytes > rangeCacheBytes {
		r.clear()
		return
	}
	// First what is not known, so that it is there when the others come.
	for _, list := range [][]kv.Column{locked, w.unknown} {
		for _, c := range list {
			if compareColumns(c, s.from) >= 0 && compareColumns(c, s.to) <= 0 {
				r.ensure(c)
			}
		}
	}
	for i := range s.cells {
		if e, added := r.ensure(s.cells[i].column); added {
			r.set(e, true, &rangeVersion{Version: s.cells[i].newest})
		}
	}
	if e, added := r.ensure(s.from); added && !s.behind {
		r.set(e, true, nil) // else it would be the first cell
	}
	r.ensure(s.to) // not known: it lies behind what was seen
	first := true
	r.entries.Ascend(&rangeEntry{column: s.from}, func(e *rangeEntry) bool {
		if compareColumns(e.column, s.to) > 0 {
			return false
		}
		e.joined = e.joined || !first
		first = false
		return true
	})
}
