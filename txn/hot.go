package txn

import (
	"bytes"
	"sync/atomic"

	"moka/kv"
)

// hot remembers the newest versions of columns that are read over and over: rows that everybody wants, and above all the one where SQL keeps
// the version of its catalog, which every transaction reads. What is read and then written, as an UPDATE does, is remembered by its
// commit, or hot rows would be looked for beneath their superseded versions each time.
//
// A version is the newest as long as nothing was committed to its column, and that recent can tell: every commit moves the column's slot
// while its lock or guard is there. So the slot is read first, then it is looked for locks, then the version is read:
//
//	a commit before the slot was read   its lock is met, and nothing is remembered; or it is gone, and the version was there to read
//	a commit after it                   the slot has moved when somebody wants to use what was remembered
//
// That a slot moves with every commit, not only with one of a higher timestamp than all others there, is what this hangs on: a slot
// that was only raised let the shard serve a version for good that had been overwritten. Who uses an entry has looked for locks
// himself, as before any read of the store, and reads the slot after that; a commit that is durable, and whose guards are gone, but
// which has not made itself known here yet, has moved it before. What the slots do not know of, tablets that come, ranges that
// are dropped and lives of the shard that have ended, counts an epoch up.
//
// A commit knows its own timestamp, so it need not look: as long as the slot says what it has left there, nobody has committed to the column since.
// It makes its version known when the store has it; the epoch is that of its evaluation, so that a range dropped meanwhile counts.
type hot struct {
	epoch   atomic.Uint64
	entries [hotSlots]atomic.Pointer[hotVersion]
	// missed is the hash of the column that was looked for last, and in vain: one that is read once is not worth remembering.
	missed [hotSlots]atomic.Uint64
}

const (
	hotSlots = 4096    // a few MiB for each shard at the most, and a quarter of what 1 % of a table of 400,000 rows needs
	hotBytes = 1 << 10 // of a version
)

type hotVersion struct {
	column      kv.Column
	epoch, slot uint64
	version     kv.Version
	ok          bool
}

func (h *hotVersion) is(c kv.Column) bool {
	return bytes.Equal(h.column.Row, c.Row) && h.column.Family == c.Family && bytes.Equal(h.column.Qualifier, c.Qualifier)
}

// newestIfHot returns the newest version of a column if it is remembered; the memory is shared. known is false if the store has to be asked.
func (st *state) newestIfHot(c kv.Column) (v kv.Version, ok, known bool) {
	hash := columnHash(c)
	h := st.hot.entries[hash%hotSlots].Load()
	if h == nil || h.epoch != st.hot.epoch.Load() || h.slot != st.recent.slotOf(hash).Load() || !h.is(c) {
		return kv.Version{}, false, false
	}
	return h.version, h.ok, true
}

// version is e.Latest of a column's versions, from memory if it can be. The memory is the caller's.
func (st *state) version(e kv.Eval, c kv.Column, max kv.Timestamp, seeded bool) (kv.Version, bool, error) {
	if !seeded {
		return e.Latest(writeAt(c), max)
	}
	if v, ok, known := st.newestIfHot(c); known {
		if ok && v.Timestamp > max { // there is an older one, or none
			return e.Latest(writeAt(c), max)
		}
		v.Value = bytes.Clone(v.Value)
		return v, ok, nil
	}
	v, ok, known, err := st.remember(e, c)
	if err != nil || known && (!ok || v.Timestamp <= max) {
		return v, ok, err
	}
	return e.Latest(writeAt(c), max)
}

// remember reads a column's newest version if the column was asked for before, and makes it known. The memory is the caller's.
func (st *state) remember(e kv.Eval, c kv.Column) (v kv.Version, ok, known bool, err error) {
	hash := columnHash(c)
	if st.hot.missed[hash%hotSlots].Swap(hash) != hash {
		return kv.Version{}, false, false, nil
	}
	h := &hotVersion{epoch: st.hot.epoch.Load(), slot: st.recent.slotOf(hash).Load()}
	if st.locks.Len() > 0 {
		if _, locked, err := e.Latest(lockAt(runExclusive, c), kv.MaxTimestamp); locked || err != nil {
			return kv.Version{}, false, false, err
		}
	}
	if v, ok, err = e.Latest(writeAt(c), kv.MaxTimestamp); err != nil {
		return kv.Version{}, false, false, err
	}
	if len(v.Value) <= st.options.HotBytes {
		h.column, h.version, h.ok = cloneColumn(c), kv.Version{Timestamp: v.Timestamp, Value: bytes.Clone(v.Value)}, ok
		st.hot.entries[hash%hotSlots].Store(h)
	}
	return v, ok, true, nil
}

// committed remembers a version that is being written, and has been noted at slot, if its column was read lately. The record is kept.
func (st *state) committed(e kv.Eval, c kv.Column, record []byte, commitTS kv.Timestamp, slot uint64) {
	hash := columnHash(c)
	if len(record) > st.options.HotBytes {
		return
	}
	if st.hot.missed[hash%hotSlots].Load() != hash {
		if h := st.hot.entries[hash%hotSlots].Load(); h == nil || !h.is(c) {
			return
		}
	}
	h := &hotVersion{
		column: cloneColumn(c), epoch: st.hot.epoch.Load(), slot: slot,
		version: kv.Version{Timestamp: commitTS, Value: record}, ok: true,
	}
	e.OnDurable(func() { st.hot.entries[hash%hotSlots].Store(h) })
}
