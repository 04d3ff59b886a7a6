package txn

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"moka/kv"
	"moka/txn/deadlock"
	"moka/txn/newest"
)

// state is what the coprocessor knows of a shard beyond what is stored: it dies with the process, or when the shard's lead
// moves. Whatever correctness hangs on is brought back by seeding.
type state struct {
	options CoprocessorOptions
	// incarnation names this life of the shard, for seeds.
	incarnation uint64
	locks       kv.MemTable

	// maxTS is the largest snapshot that was read here. One-phase commit goes above it.
	maxTS atomic.Uint64
	// latestTS is the newest commit that a read without a timestamp saw here. What was not there for that read may commit
	// at it, but not below: no snapshot must have the one without the other.
	latestTS atomic.Uint64
	// rollbackTS is at least the start_ts of every tombstone here: a younger transaction need not look for its own.
	rollbackTS atomic.Uint64
	// safePoint is that of garbage collection: see gc.go. It is stored, too.
	safePoint atomic.Uint64
	// swept is the safe point below which something has been removed.
	swept atomic.Uint64
	// noAsync refuses locks of asynchronous commits.
	noAsync atomic.Bool
	// lockOnlyTS is at least the commit_ts of every lock-only write here: a younger snapshot need not look at markers.
	lockOnlyTS atomic.Uint64

	mu    sync.RWMutex
	seeds map[kv.TabletID]seed
	// pushes are the primaries here that were told to commit above a reader.
	pushes map[kv.Timestamp]kv.Timestamp
	// onePhase are the one-phase commits that are becoming durable.
	onePhase map[kv.Timestamp]*onePhaseCommit

	requires requires
	recent   newest.Slots
	hot      hot
	ranges   *rangeCache
	rows     *rowLocks
	detector *deadlock.Detector
	scanFrom int // CoprocessorOptions.ScanFrom
	decided  decided
}

// seed is a timestamp that was issued after this shard began to serve this generation of a tablet.
type seed struct {
	generation uint64
	ts         kv.Timestamp
}

// onePhaseCommit lets readers wait for a guard.
type onePhaseCommit struct {
	commitTS atomic.Uint64 // zero until it is known
	done     chan struct{} // closed when durable
}

func newState(s kv.ShardHandle, o CoprocessorOptions) *state {
	return &state{
		options:     o,
		incarnation: rand.Uint64() | 1, // never zero: zero means "seeded" in responses
		locks:       s.InMemory(kv.GroupTxnLock),
		seeds:       map[kv.TabletID]seed{},
		pushes:      map[kv.Timestamp]kv.Timestamp{},
		onePhase:    map[kv.Timestamp]*onePhaseCommit{},
		requires:    requires{newest: map[string]kv.Timestamp{}, max: o.MaxRequires},
		rows:        newRowLocks(o.MaxRowLocks),
		detector:    deadlock.New(),
		scanFrom:    o.ScanFrom,
		ranges:      newRangeCache(),
		recent:      make(newest.Slots, o.RecentSlots),
		decided:     decided{Size: decidedSize},
	}
}

func raise(a *atomic.Uint64, ts kv.Timestamp) {
	for {
		old := a.Load()
		if uint64(ts) <= old || a.CompareAndSwap(old, uint64(ts)) {
			return
		}
	}
}

// raiseMaxTS notes a read. It must come before the read looks at locks: a one-phase commit guards its columns and then loads
// maxTS, so either the reader meets the guard or the commit goes above the reader.
func (st *state) raiseMaxTS(snapshot kv.Timestamp) { raise(&st.maxTS, snapshot) }

// commitAbove returns the least commit_ts that is above every snapshot that was read here, and above floor. These were all handed out
// by the clock, so the next timestamp that it hands out is not below the result. Whatever else a commit_ts has to be beside
// must not add to it: a commit_ts that is one above another's would, after a few, be out of sight of new snapshots.
func (st *state) commitAbove(floor kv.Timestamp) kv.Timestamp {
	return max(max(kv.Timestamp(st.maxTS.Load()), floor)+1, kv.Timestamp(st.latestTS.Load()))
}

// seeded returns the seed of the tablets, the largest of them, or false if one has none for its generation.
//
// What a shard knows of reads (maxTS, pushes) and of requires is in memory only. After a restart, a change of lead or a move
// of a tablet it is gone, and a commit_ts might be chosen at or below a snapshot that the predecessor served: a reader would
// have read the past of a version that then appears before its snapshot. So before a tablet is written in a generation that
// this life of the shard has not written before, a client fetches a timestamp *after* it was told so. The predecessor had
// stopped serving by then, hence the timestamp is above all that it served.
func (st *state) seeded(tablets []kv.TabletRef) (kv.Timestamp, bool) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	var ts kv.Timestamp
	for _, t := range tablets {
		s, ok := st.seeds[t.ID]
		if !ok || s.generation != t.Generation {
			return 0, false
		}
		ts = max(ts, s.ts)
	}
	return ts, len(tablets) > 0
}

// seed accepts a timestamp for tablets that have none. The incarnation proves that it was asked for in this life.
func (st *state) seed(incarnation uint64, tablets []kv.TabletRef, ts kv.Timestamp) {
	if incarnation != st.incarnation {
		return
	}
	raise(&st.maxTS, ts)
	raise(&st.rollbackTS, ts)
	raise(&st.lockOnlyTS, ts)
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, t := range tablets {
		if s, ok := st.seeds[t.ID]; !ok || s.generation != t.Generation {
			st.seeds[t.ID] = seed{generation: t.Generation, ts: ts}
			st.forgetVersions()
		}
	}
}

// forgetVersions drops what is remembered of stored versions, where they come or go otherwise than by commits.
func (st *state) forgetVersions() {
	st.hot.epoch.Add(1)
	st.ranges.forget()
}

// readSeeded is what a read wants to know: whether the tablets are seeded and, to be reported, the incarnation to seed, or zero.
func (st *state) readSeeded(tablets []kv.TabletRef) (seeded bool, unseeded uint64) {
	if _, ok := st.seeded(tablets); ok || len(tablets) == 0 {
		return ok, 0
	}
	return false, st.incarnation
}

// push makes the live transaction whose primary is here commit above ts.
func (st *state) push(startTS, ts kv.Timestamp) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.pushes[startTS] = max(st.pushes[startTS], ts)
}

func (st *state) pushed(startTS kv.Timestamp) kv.Timestamp {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.pushes[startTS]
}

func (st *state) forgetPush(startTS kv.Timestamp) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.pushes, startTS)
}

func (st *state) beginOnePhase(startTS kv.Timestamp) *onePhaseCommit {
	p := &onePhaseCommit{done: make(chan struct{})}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.onePhase[startTS] = p
	return p
}

func (st *state) endOnePhase(startTS kv.Timestamp, p *onePhaseCommit) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.onePhase[startTS] == p {
		delete(st.onePhase, startTS)
	}
	close(p.done)
}

// dropFailedOnePhase forgets commits whose batch failed, so that nobody ended them: their guards are gone. It runs when the
// map is suspiciously large.
func (st *state) dropFailedOnePhase() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.onePhase) < 4096 {
		return
	}
	for startTS := range st.onePhase {
		guarded := false
		st.locks.ByTimestamp(startTS, func(kv.Address, []byte) bool { guarded = true; return false })
		if !guarded {
			delete(st.onePhase, startTS)
		}
	}
}

func (st *state) findOnePhase(startTS kv.Timestamp) *onePhaseCommit {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.onePhase[startTS]
}

// requires remembers the newest commit_ts at which each column was required, for deletes: a delete whose snapshot is older
// must not commit, as its transaction could not see what now leans on the column. Only deletes look, so this is memory, not
// storage; when it is full, all is forgotten but the newest timestamp, and deletes with older snapshots conflict needlessly.
type requires struct {
	mu     sync.Mutex
	newest map[string]kv.Timestamp
	floor  kv.Timestamp
	top    kv.Timestamp
	max    int
}

func columnKey(c kv.Column) string {
	var e encoder
	e.column(c)
	return string(e.b)
}

func (r *requires) note(c kv.Column, commitTS kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.newest) >= r.max {
		clear(r.newest)
		r.floor = r.top
	}
	k := columnKey(c)
	r.newest[k] = max(r.newest[k], commitTS)
	r.top = max(r.top, commitTS)
}

// since returns a timestamp that no require of the column committed above.
func (r *requires) since(c kv.Column) kv.Timestamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.floor, r.newest[columnKey(c)])
}
