package txn

import (
	"bytes"
	"sync/atomic"

	"moka/kv"
	"moka/txn/acks"
	"moka/txn/newest"
	"moka/txn/record"
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
	hash := newest.Hash(c)
	h := st.hot.entries[hash%hotSlots].Load()
	if h == nil || h.epoch != st.hot.epoch.Load() || h.slot != st.recent.SlotOf(hash).Load() || !h.is(c) {
		return kv.Version{}, false, false
	}
	return h.version, h.ok, true
}

// version is e.Latest of a column's versions, from memory if it can be. The memory is the caller's.
func (st *state) version(e kv.Eval, c kv.Column, max kv.Timestamp, seeded bool) (kv.Version, bool, error) {
	if !seeded {
		return acks.Latest(e, c, max)
	}
	if v, ok, known := st.newestIfHot(c); known {
		if ok && v.Timestamp > max { // there is an older one, or none
			return acks.Latest(e, c, max)
		}
		v.Value = bytes.Clone(v.Value)
		return v, ok, nil
	}
	v, ok, known, err := st.remember(e, c)
	if err != nil || known && (!ok || v.Timestamp <= max) {
		return v, ok, err
	}
	return acks.Latest(e, c, max)
}

// versions is version of the columns that which names: found[i] is that of columns[which[i]], with timestamp zero
// where there is none. What is not in memory is read from the store in one go.
func (st *state) versions(
	e kv.Eval, columns []kv.Column, which []int, max kv.Timestamp, seeded bool, found []kv.Version,
) error {
	if len(which) == 1 {
		v, ok, err := st.version(e, columns[which[0]], max, seeded)
		if ok {
			found[0] = v
		}
		return err
	}
	var ask lookups
	if seeded {
		var err error
		if ask, err = st.fromMemory(e, columns, which, max, found); err != nil {
			return err
		}
	} else {
		ask = makeLookups(len(which))
		for i, j := range which {
			ask.add(i, columns[j])
		}
	}
	return ask.read(e, max, func(i int, v kv.Version) { found[i] = v })
}

// fromMemory fills in what is remembered, and what had been asked for before and so is remembered now; the rest
// is still to be asked for.
func (st *state) fromMemory(
	e kv.Eval, columns []kv.Column, which []int, max kv.Timestamp, found []kv.Version,
) (ask lookups, err error) {
	ask = makeLookups(len(which))
	var newest lookups
	var remembered []*hotVersion // of newest
	for i, j := range which {
		c := columns[j]
		if v, ok, known := st.newestIfHot(c); known && (!ok || v.Timestamp <= max) {
			if ok {
				found[i] = kv.Version{Timestamp: v.Timestamp, Value: bytes.Clone(v.Value)}
			}
			continue
		} else if known { // there is an older one, or none
			ask.add(i, c)
			continue
		}
		h, err := st.expect(e, c)
		if err != nil {
			return ask, err
		}
		if h == nil {
			ask.add(i, c)
			continue
		}
		newest.add(i, c)
		remembered = append(remembered, h)
	}
	n := 0
	err = newest.read(e, kv.MaxTimestamp, func(i int, v kv.Version) {
		c := columns[which[i]]
		st.keep(remembered[n], c, v, v.Timestamp != 0)
		if n++; v.Timestamp > max {
			ask.add(i, c)
			return
		}
		found[i] = v
	})
	return ask, err
}

// lookups are columns to look for in the store, and which they are of the asker's.
type lookups struct {
	at    []kv.Address
	which []int
}

func makeLookups(n int) lookups {
	return lookups{at: make([]kv.Address, 0, n), which: make([]int, 0, n)}
}

func (l *lookups) add(i int, c kv.Column) {
	l.at, l.which = append(l.at, record.WriteAt(c)), append(l.which, i)
}

func (l *lookups) read(e kv.Eval, max kv.Timestamp, f func(i int, v kv.Version)) error {
	if len(l.at) == 0 {
		return nil
	}
	old, err := acks.Old(e, l.at, max)
	if err != nil {
		return err
	}
	found := make([]kv.Version, len(l.at))
	if err := e.LatestOf(l.at, max, found); err != nil {
		return err
	}
	for i, v := range found {
		if was := old[i]; was.Timestamp > v.Timestamp {
			v = was
		}
		f(l.which[i], v)
	}
	return nil
}

// remember reads a column's newest version if the column was asked for before, and makes it known. The memory is the caller's.
func (st *state) remember(e kv.Eval, c kv.Column) (v kv.Version, ok, known bool, err error) {
	h, err := st.expect(e, c)
	if h == nil || err != nil {
		return kv.Version{}, false, false, err
	}
	if v, ok, err = acks.Latest(e, c, kv.MaxTimestamp); err != nil {
		return kv.Version{}, false, false, err
	}
	st.keep(h, c, v, ok)
	return v, ok, true, nil
}

// expect is what to remember of a column, the version still missing, if the column was asked for before and
// nobody is changing it; else nil. The version has to be read behind it.
func (st *state) expect(e kv.Eval, c kv.Column) (*hotVersion, error) {
	hash := newest.Hash(c)
	if st.hot.missed[hash%hotSlots].Swap(hash) != hash {
		return nil, nil
	}
	h := &hotVersion{epoch: st.hot.epoch.Load(), slot: st.recent.SlotOf(hash).Load()}
	if st.locks.Len() > 0 {
		if _, locked, err := e.Latest(record.LockAt(record.RunExclusive, c), kv.MaxTimestamp); locked || err != nil {
			return nil, err
		}
	}
	return h, nil
}

// keep remembers the newest version of a column, if it is not long.
func (st *state) keep(h *hotVersion, c kv.Column, v kv.Version, ok bool) {
	if len(v.Value) > st.options.HotBytes {
		return
	}
	h.column, h.version, h.ok = cloneColumn(c), kv.Version{Timestamp: v.Timestamp, Value: bytes.Clone(v.Value)}, ok
	st.hot.entries[newest.Hash(c)%hotSlots].Store(h)
}

// committed remembers a version that is being written, and has been noted at slot, if its column was read lately. The record is kept.
func (st *state) committed(e kv.Eval, c kv.Column, record []byte, commitTS kv.Timestamp, slot uint64) {
	hash := newest.Hash(c)
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
