package engine

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"

	"moka/kv/keys"
)

// unflushed knows which columns may have entries in Pebble's memtables. Tables have bloom filters, memtables have none: to learn that a
// column is not in a memtable of 150,000 entries takes 10 µs, most of them cache misses, and whoever inserts a row asks just that.
// A column that is not here is read from tables alone (pebble.IterOptions.OnlyReadGuaranteedDurable, which leaves the memtables out).
//
//	generations   oldest … | sealed, marked 7 | sealed, unmarked | current
//	memtables     oldest …            | marker 7                 | mutable
//
// Every batch notes its columns in the current generation before it is applied. A generation that is full is sealed; when the last batch that
// was noted in it has been applied, a marker is written behind them. Memtables are flushed in the order of their entries: once the marker
// can be read from tables, so can all that was noted in the generation, which is then dropped. (In between both say the same.)
//
// Logs of replicas are left out: an entry is read by its index, once and from memory mostly, and their ends
// are cut off with one range deletion after the other, each of which would make every column one that may be
// here. (Measured: one of them took the question for a column that is nowhere from 1.1 to 14.4 µs, until the
// next flush.) Get therefore looks for keys of logs everywhere.
//
// What is ingested (Engine.Ingest) can wait in the queue of memtables as well, and so can the excision of
// what was there: while it may, a generation stands for every column.
//
// So "not here" means: no batch whose Apply has returned has the column in a memtable. One that is being applied meanwhile may or may not be
// seen, as by any read.
type unflushed struct {
	e        *Engine
	capacity int64 // of a generation, in columns

	generations atomic.Pointer[[]*generation] // oldest first, the last is the current one
	look        atomic.Bool                   // a flush has ended since the last tidying

	mu     sync.Mutex // serializes tidying
	marker uint64     // the last one written
}

const (
	generationWords = 1 << 14 // 128 KiB: 16 bits for each column, one wrong answer in a hundred
	generationSize  = 1 << 16
	// maxGenerations bounds the memory, to 2 MiB. Behind a disk that does not keep up the last generation overflows and answers "maybe" more
	// and more, which is slower and not wrong.
	maxGenerations = 16
)

type generation struct {
	// applying counts the batches that have been noted here and are not applied yet.
	applying atomic.Int64
	n        atomic.Int64
	// all: ranges have been deleted, or tables ingested; every column may have an entry.
	all  atomic.Bool
	mark uint64 // of the marker behind it, 0: none yet; guarded by unflushed.mu
	bits [generationWords]atomic.Uint64
}

// columnBits are the word and the three bits in it that stand for a column.
func columnBits(prefix []byte) (word, mask uint64) {
	h := xxhash.Sum64(prefix)
	return h % generationWords, 1<<(h>>32&63) | 1<<(h>>40&63) | 1<<(h>>48&63)
}

func markerKey() []byte { return keys.AppendNode(nil, keys.NodeFlush, nil) }

// open begins with nothing: Pebble flushes what its log brings back before it opens. Should it ever leave some of it in memtables, a generation
// stands for that until it is flushed. (A test reads through both.)
func (u *unflushed) open(e *Engine) error {
	u.e, u.capacity = e, generationSize
	v, closer, err := e.db.Get(markerKey())
	switch {
	case err == nil:
		if len(v) == 8 {
			u.marker = binary.BigEndian.Uint64(v)
		}
		if err := closer.Close(); err != nil {
			return err
		}
	case !errors.Is(err, pebble.ErrNotFound):
		return err
	}
	first := new(generation)
	first.all.Store(e.db.Metrics().MemTable.Count > 1)
	u.generations.Store(&[]*generation{first})
	return nil
}

// enter notes a batch that is about to be applied; leave says that it has been.
func (u *unflushed) enter(b *pebble.Batch) *generation {
	g := u.join()
	for r := b.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil {
			g.all.Store(true) // Pebble will say so too
		}
		if !ok || err != nil {
			return g
		}
		switch kind {
		case pebble.InternalKeyKindLogData:
		case pebble.InternalKeyKindSet, pebble.InternalKeyKindDelete:
			if !keys.InLog(key) {
				g.note(key)
			}
		case pebble.InternalKeyKindRangeDelete: // from key to value
			if !keys.InLog(key) || !keys.InLog(value) {
				g.all.Store(true)
			}
		default:
			g.all.Store(true)
		}
	}
}

// enterAll notes every column, for a change that does not say which it has.
func (u *unflushed) enterAll() *generation {
	g := u.join()
	g.all.Store(true)
	return g
}

func (u *unflushed) enterKey(key []byte) *generation {
	g := u.join()
	g.note(key)
	return g
}

// join takes part in the current generation: either whoever seals it sees that somebody is applying, or we see that it is sealed.
func (u *unflushed) join() *generation {
	for {
		g := u.current()
		g.applying.Add(1)
		if g == u.current() {
			return g
		}
		u.leave(g)
	}
}

func (u *unflushed) current() *generation {
	gs := *u.generations.Load()
	return gs[len(gs)-1]
}

func (g *generation) note(key []byte) {
	word, mask := columnBits(key[:keys.Prefix(key)])
	if w := &g.bits[word]; w.Load()&mask != mask {
		w.Or(mask)
	}
	g.n.Add(1)
}

func (u *unflushed) leave(g *generation) {
	last := g.applying.Add(-1) == 0
	if g.full(u.capacity) || last && g != u.current() {
		u.tidy()
	}
}

func (g *generation) full(capacity int64) bool { return g.n.Load() >= capacity || g.all.Load() }

// may reports whether a column may have an entry in a memtable.
func (u *unflushed) may(prefix []byte) bool {
	if u.look.Load() {
		u.tidy()
	}
	word, mask := columnBits(prefix)
	for _, g := range *u.generations.Load() {
		if g.all.Load() || g.bits[word].Load()&mask == mask {
			return true
		}
	}
	return false
}

// tidy seals, marks and drops what is due. Who finds somebody else at it goes on.
func (u *unflushed) tidy() {
	if !u.mu.TryLock() {
		return
	}
	defer u.mu.Unlock()
	gs := *u.generations.Load()
	if u.look.Swap(false) {
		if durable, ok := u.durableMarker(); ok {
			var kept []*generation
			for _, g := range gs {
				if g.mark == 0 || g.mark > durable {
					kept = append(kept, g)
				}
			}
			gs = kept
		}
	}
	if gs[len(gs)-1].full(u.capacity) && len(gs) < maxGenerations {
		gs = append(gs[:len(gs):len(gs)], new(generation))
	}
	u.generations.Store(&gs)
	for _, g := range gs[:len(gs)-1] {
		if g.mark == 0 && g.applying.Load() == 0 {
			u.mark(g)
		}
	}
}

// mark writes a marker behind all that is noted in a sealed generation.
func (u *unflushed) mark(g *generation) {
	b := u.e.NewBatch()
	defer b.Close()
	u.marker++
	if err := b.Set(markerKey(), binary.BigEndian.AppendUint64(nil, u.marker), nil); err != nil {
		return // the next turn tries again
	}
	u.e.apply(b, false)
	g.mark = u.marker
}

// durableMarker is the last marker in tables.
func (u *unflushed) durableMarker() (uint64, bool) {
	it, err := u.e.db.NewIter(&flushedOptions)
	if err != nil {
		return 0, false
	}
	defer it.Close()
	if !it.SeekPrefixGE(markerKey()) {
		return 0, false
	}
	v, err := it.ValueAndErr()
	if err != nil || len(v) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(v), true
}
