package txn

import (
	"slices"
	"time"

	"moka/kv"
	"moka/txn/acks"
	"moka/txn/record"
)

// maxLocksReported bounds the foreign locks that a refused write reports; after them the client asks again anyway.
const maxLocksReported = 64

// writer checks the mutations of one prewrite or one-phase commit.
type writer struct {
	kv.Eval
	st   *state
	req  *writeRequest
	seed kv.Timestamp
	// onePhase writers put their guards where readers look; others only where Require and Delete look for each other.
	onePhase bool
	locks    []lockInfo
	// own is what a repeated prewrite finds of its first copy: the largest min_commit_ts, and whether all are asynchronous.
	own      kv.Timestamp
	ownPlain bool
	// oldest is the oldest snapshot that a mutation was computed from.
	oldest kv.Timestamp
	// required is the newest commit_ts of what is required: whoever leans on it does not commit before it.
	required kv.Timestamp
	held     int // share locks that their owner still holds: nothing to write
	// later are the mutations of a large request whose versions are looked at together, behind all locks.
	later   []*mutation
	guards  [record.KindNotify + 1][]byte
	sharing []*mutation // those of a prewrite, which are stored beside others'
}

// evalPrewrite locks all mutations of the request or none (figure 6, Prewrite; the row transactions of a shard's rows are
// one batch here).
func evalPrewrite(e kv.Eval, st *state, req *writeRequest) (*writeResponse, error) {
	w := &writer{Eval: e, st: st, req: req}
	fresh, refusal, err := w.check()
	if err != nil || refusal != nil {
		return refusal, err
	}
	async := w.beginAsync(fresh)
	for _, m := range fresh {
		l := w.lock(m)
		async.mark(l)
		if m.kind == record.KindPut && !l.HasValue {
			e.Set(record.DataAt(m.column), req.startTS, record.AppendData(nil, m.value))
		}
		run := uint32(record.RunExclusive)
		if m.kind.Shared() || slices.Contains(w.sharing, m) {
			run = record.RunShared
		}
		e.Set(record.LockAt(run, m.column), req.startTS, l.AppendTo(nil))
	}
	return &writeResponse{outcome: outcomeOK, minCommitTS: async.least(w)}, nil
}

// evalCommitOnePhase does what prewrite and commit do, without locks that anybody could find, when all of a transaction is in
// this shard: one batch, one log entry.
func evalCommitOnePhase(e kv.Eval, st *state, req *writeRequest) (*writeResponse, error) {
	w := &writer{Eval: e, st: st, req: req, onePhase: true}
	mutations, refusal, err := w.check()
	if err != nil || refusal != nil {
		return refusal, err
	}
	if len(mutations)+w.held < len(req.mutations) {
		// Some lock of this very transaction is here, so it went for two phases: this is a message from its past.
		return &writeResponse{outcome: outcomeRolledBack, column: req.primary}, nil
	}
	p := st.beginOnePhase(req.startTS)
	for _, m := range mutations {
		if m.kind.Changes() {
			e.Guard(record.LockAt(record.RunExclusive, m.column), req.startTS, w.guard(m))
		}
	}
	// Again, behind the guards: a collection that began since the first look may have removed what there was to conflict with. Either it
	// meets a guard and does not begin, or its safe point is seen here.
	if st.tooOld(w.oldest) {
		st.endOnePhase(req.startTS, p)
		return w.tooOld(req.primary), nil
	}
	// Only now: a reader with a larger snapshot either raised maxTS before this load, or meets the guards (see raiseMaxTS).
	commitTS := max(st.commitAbove(max(req.startTS, req.floor)), w.required)
	p.commitTS.Store(uint64(commitTS))
	var all []record.Clear
	for _, m := range mutations {
		all = append(all, m.clears...)
	}
	for _, m := range mutations {
		rec := record.Write{Kind: m.kind, StartTS: req.startTS}
		if m.kind == record.KindPut {
			if len(m.value) <= record.ShortValueMax {
				rec.HasValue, rec.Value = true, m.value
			} else {
				e.Set(record.DataAt(m.column), req.startTS, record.AppendData(nil, m.value))
			}
		}
		note := notes{m.observers, m.clears, req.depth, all}
		if err := commitColumn(e, st, m.column, rec, commitTS, note); err != nil {
			st.endOnePhase(req.startTS, p)
			return nil, err
		}
	}
	st.dropFailedOnePhase()
	e.OnDurable(func() {
		st.endOnePhase(req.startTS, p)
		st.rows.release(req.owner, time.Now()) // the transaction has ended
	})
	return &writeResponse{outcome: outcomeOK, commitTS: commitTS}, nil
}

// check returns the mutations that may be written, without those whose lock is there already (a repeated prewrite), or why
// nothing may be.
//
// Before it refuses it looks for the transaction's own commit, whatever the reason: the request may be a repetition whose first
// copy has committed, and has since been met by others, or by its own traces.
func (w *writer) check() (fresh []*mutation, refusal *writeResponse, err error) {
	fresh, refusal, err = w.judge()
	if err != nil || refusal == nil || refusal.outcome == outcomeUnseeded || refusal.outcome == outcomeRolledBack {
		return fresh, refusal, err
	}
	for _, m := range w.req.mutations {
		if !m.kind.Changes() {
			continue
		}
		commitTS, ok, err := commitOf(w, m.column, w.req.startTS)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			return nil, &writeResponse{outcome: outcomeCommitted, commitTS: commitTS, column: m.column}, nil
		}
		if w.onePhase {
			break // it writes all of them at once; others may have been resolved one by one
		}
	}
	return nil, refusal, nil
}

// deleteTakes is about what a deleted column takes on a full disk, with its lock, its commit, the ends of
// both and the table that all this is flushed into. The second phase of any other takes no more.
const deleteTakes = 256

func (w *writer) judge() (fresh []*mutation, refusal *writeResponse, err error) {
	later := deleteTakes * len(w.req.mutations)
	if w.onePhase && w.req.growth == kv.Adds {
		later = 0 // its batch is all there is
	}
	if err := w.Room(w.req.growth, later); err != nil {
		return nil, nil, err
	}
	var ok bool
	if w.seed, ok = w.st.seeded(w.req.tablets); !ok {
		return nil, &writeResponse{outcome: outcomeUnseeded, incarnation: w.st.incarnation}, nil
	}
	if !w.onePhase && len(w.req.mutations) > 0 {
		w.Guard(record.LockAt(record.RunWriteGuard, w.req.mutations[0].column), w.req.startTS, w.guard(w.req.mutations[0]))
	}
	w.oldest = w.req.startTS
	for _, m := range w.req.mutations {
		w.oldest = min(w.oldest, w.since(m))
		if w.st.tooOld(w.since(m)) {
			// What it might have to conflict with may have been removed, and so may the traces of its own past.
			return nil, w.tooOld(m.column), nil
		}
		var own bool
		if m.share && w.st.rows.holds(m.column, w.req.owner, w.since(m)) {
			own, refusal, err = w.checkHeld(m)
			if err != nil || refusal != nil {
				return nil, refusal, err
			}
			switch {
			case own:
			case w.onePhase: // looked at and committed in one
				w.held++
			default: // until the commit the row lock may be lost
				w.sharing = append(w.sharing, m)
				fresh = append(fresh, m)
			}
			continue
		}
		if m.kind.Shared() {
			own, refusal, err = w.checkShared(m)
		} else {
			own, refusal, err = w.checkExclusive(m)
		}
		if err != nil || refusal != nil {
			return nil, refusal, err
		}
		if !own {
			fresh = append(fresh, m)
		}
		if len(w.locks) >= maxLocksReported {
			break
		}
	}
	if len(w.locks) > 0 {
		return nil, &writeResponse{outcome: outcomeLocked, locks: w.locks}, nil
	}
	if refusal, err = w.checkLater(); refusal != nil || err != nil {
		return nil, refusal, err
	}
	return fresh, nil, nil
}

// checkLater looks at the versions of what checkExclusive has left, in the order of the columns: where the store has nothing
// for a long way, as behind the end of a table, one step finds out for all mutations there. The iterator is made now, behind the
// look at the last lock: a lock disappears only after its write record can be seen.
func (w *writer) checkLater() (refusal *writeResponse, err error) {
	if len(w.later) == 0 {
		return nil, nil
	}
	byColumn := func(a, b *mutation) int { return compareColumns(a.column, b.column) }
	if !slices.IsSortedFunc(w.later, byColumn) {
		slices.SortFunc(w.later, byColumn) // no client of ours sends them so
	}
	first, last := w.later[0].column.Row, w.later[len(w.later)-1].column.Row
	it, err := w.Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: kv.Span{Start: first, End: append(slices.Clone(last), 0)}})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	ok, sought := true, false // whether it stands on a column, once it was moved
	points, alone := 0, 0
	for _, m := range w.later {
		if points > 0 { // here is something everywhere: Bloom filters answer for a table without reading of it
			points--
			newest, exists, err := w.newest(m.column)
			if err != nil {
				return nil, err
			}
			if refusal, err = w.checkVersion(m, newest, exists); refusal != nil || err != nil {
				return refusal, err
			}
			continue
		}
		if !sought || ok && compareColumns(it.Column(), m.column) < 0 {
			if alone++; sought && alone > 16 {
				points, alone = 256, 0
			}
			ok, sought = it.SeekColumn(m.column), true
			if err := it.Err(); err != nil {
				return nil, err
			}
		} else {
			alone = 0
		}
		var newest kv.Timestamp
		exists := false
		if ok && compareColumns(it.Column(), m.column) == 0 {
			v := it.Version()
			rec, err := record.DecodeWrite(v.Value, v.Timestamp)
			if err != nil {
				return nil, err
			}
			newest, exists = v.Timestamp, rec.Kind == record.KindPut
		}
		if refusal, err = w.checkVersion(m, newest, exists); refusal != nil || err != nil {
			return refusal, err
		}
	}
	return nil, nil
}

// checkExclusive judges a put, delete or lock-only write. The order matters: locks first, because a lock disappears only after
// its write record can be seen.
func (w *writer) checkExclusive(m *mutation) (own bool, refusal *writeResponse, err error) {
	if own, err = w.checkLock(m, record.RunExclusive, func(record.Kind) bool { return true }); own || err != nil {
		return own, nil, err
	}
	w.checkRowLock(m)
	if err := w.checkShareLocks(m.column); err != nil {
		return false, nil, err
	}
	if m.kind == record.KindDelete {
		// Published before looking for requires, which do the same the other way round: one of the two sees the other.
		run := uint32(record.RunDeleteGuard)
		if w.onePhase {
			run = record.RunExclusive
		}
		w.Guard(record.LockAt(run, m.column), w.req.startTS, w.guard(m))
		if err := w.checkRequires(m.column); err != nil {
			return false, nil, err
		}
	}
	if refusal, err = w.checkRolledBack(m.column); refusal != nil || err != nil {
		return false, refusal, err
	}
	var newest kv.Timestamp
	var exists bool
	if m.mustNotExist || m.mustExist || w.since(m) < w.st.recent.Before(m.column, w.seed) {
		if len(w.req.mutations) >= w.st.scanFrom && !record.IsAck(m.column) {
			w.later = append(w.later, m)
			return false, nil, nil
		}
		if newest, exists, err = w.newest(m.column); err != nil {
			return false, nil, err
		}
	}
	refusal, err = w.checkVersion(m, newest, exists)
	return false, refusal, err
}

// checkVersion judges a mutation by the newest version of its column.
func (w *writer) checkVersion(m *mutation, newest kv.Timestamp, exists bool) (refusal *writeResponse, err error) {
	if newest > w.since(m) {
		return conflict(m.column, newest), nil
	}
	switch refusal, err = w.checkMarkers(m); {
	case refusal != nil || err != nil:
	case m.mustNotExist && exists:
		refusal = &writeResponse{outcome: outcomeAlreadyExists, column: m.column}
	case m.mustExist && !exists:
		refusal = &writeResponse{outcome: outcomeMustExist, column: m.column}
	case len(m.clears) > 0:
		refusal, err = w.checkClears(m)
	}
	return refusal, err
}

// checkHeld judges a share lock that its owner holds. It may have been lost and taken again since the snapshot, with somebody's write
// between (the simulator's seed 4605): that it is held proves nothing about what happened before.
func (w *writer) checkHeld(m *mutation) (own bool, refusal *writeResponse, err error) {
	if w.st.locks.Len() > 0 {
		if _, own, err = w.Get(record.LockAt(record.RunShared, m.column), w.req.startTS); own || err != nil {
			return own, nil, err
		}
	}
	if refusal, err = w.checkRolledBack(m.column); refusal != nil || err != nil {
		return false, refusal, err
	}
	if own, err = w.checkLock(m, record.RunExclusive, func(record.Kind) bool { return true }); own || err != nil {
		return own, nil, err
	}
	if w.since(m) < w.st.recent.Before(m.column, w.seed) {
		newest, _, err := w.newest(m.column)
		if err != nil {
			return false, nil, err
		}
		if newest > w.since(m) {
			return false, conflict(m.column, newest), nil
		}
	}
	return false, nil, nil // locks that others had meanwhile, and wrote nothing under, do not matter to who only reads
}

// checkShared judges a Require or a weak notification, without a latch: any number of them go on at once.
func (w *writer) checkShared(m *mutation) (own bool, refusal *writeResponse, err error) {
	if _, own, err = w.Get(record.LockAt(record.RunShared, m.column), w.req.startTS); own || err != nil {
		// Without a latch, the first copy of this request may still wait for the log: its lock is written again, so that the
		// answer to this one does not come before it is durable.
		return own && w.onePhase, nil, err
	}
	if m.kind == record.KindNotify {
		refusal, err = w.checkRolledBack(m.column)
		return false, refusal, err
	}
	w.checkRowLock(m)
	w.Guard(record.LockAt(record.RunSharedGuard, m.column), w.req.startTS, w.guard(m))
	deletes := func(k record.Kind) bool { return k == record.KindDelete }
	// In this order: a delete's guard goes when its lock is there. (The other way round one was missed that went from one to the other
	// between the two looks.)
	for _, run := range []uint32{record.RunDeleteGuard, record.RunExclusive} {
		if own, err = w.checkLock(m, run, deletes); own || err != nil {
			return own, nil, err
		}
	}
	// A parent row, or the fence of a table: required by many, and rarely written.
	v, ok, err := w.st.version(w.Eval, m.column, kv.MaxTimestamp, true)
	if err != nil {
		return false, nil, err
	}
	newest, exists := v.Timestamp, false
	if ok {
		rec, err := record.DecodeWrite(v.Value, v.Timestamp)
		if err != nil {
			return false, nil, err
		}
		exists = rec.Kind == record.KindPut
	}
	switch {
	case exists: // whoever wrote it, even after our snapshot: it exists
		w.required = max(w.required, newest)
		return false, nil, err
	case newest > w.since(m):
		return false, conflict(m.column, newest), nil
	}
	return false, &writeResponse{outcome: outcomeMustExist, column: m.column}, nil
}

// checkLock looks at the newest lock in a run of which a column has at most one; foreign ones of a kind that matters are
// reported.
func (w *writer) checkLock(m *mutation, run uint32, matters func(record.Kind) bool) (own bool, err error) {
	if w.st.locks.Len() == 0 {
		return false, nil
	}
	v, ok, err := w.Latest(record.LockAt(run, m.column), kv.MaxTimestamp)
	if err != nil || !ok {
		return false, err
	}
	l, err := record.DecodeLock(v.Value)
	if err != nil {
		return false, err
	}
	if v.Timestamp == w.req.startTS {
		w.own, w.ownPlain = max(w.own, l.MinCommitTS), w.ownPlain || !l.Async
		return true, nil
	}
	if matters(l.Kind) {
		w.locks = append(w.locks, infoOf(l, cloneColumn(m.column), v.Timestamp))
	}
	return false, nil
}

// checkShareLocks reports the foreign share locks of a column that is to be written: a transaction in two phases stores those
// that it has looked at, since until its commit the row locks may be lost.
func (w *writer) checkShareLocks(c kv.Column) error {
	if w.st.locks.Len() == 0 {
		return nil
	}
	return w.checkBeside(c, record.KindLock, record.RunShared)
}

// checkRequires reports the foreign requires of a column that is to be deleted.
func (w *writer) checkRequires(c kv.Column) error {
	return w.checkBeside(c, record.KindRequire, record.RunSharedGuard, record.RunShared) // as in checkShared: the guard goes when the lock is there
}

// checkBeside reports the foreign locks of a kind in runs where a column may have many.
func (w *writer) checkBeside(c kv.Column, k record.Kind, runs ...uint32) error {
	for _, run := range runs {
		for at := kv.MaxTimestamp; len(w.locks) < maxLocksReported; {
			v, ok, err := w.Latest(record.LockAt(run, c), at)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			l, err := record.DecodeLock(v.Value)
			if err != nil {
				return err
			}
			if v.Timestamp != w.req.startTS && l.Kind == k {
				w.locks = append(w.locks, infoOf(l, cloneColumn(c), v.Timestamp))
			}
			at = v.Timestamp - 1
		}
	}
	return nil
}

// checkRolledBack refuses a message that arrives after its transaction was rolled back here.
func (w *writer) checkRolledBack(c kv.Column) (*writeResponse, error) {
	if w.req.startTS > kv.Timestamp(w.st.rollbackTS.Load()) {
		return nil, nil
	}
	_, ok, err := w.Get(record.RollbackAt(c), w.req.startTS)
	if err != nil || !ok {
		return nil, err
	}
	return &writeResponse{outcome: outcomeRolledBack, column: c}, nil
}

// newest returns the commit_ts of a column's newest version and whether that is a value. Its locks have been looked for. What is not
// remembered is not remembered for this either: most of it is new.
func (w *writer) newest(c kv.Column) (commitTS kv.Timestamp, exists bool, err error) {
	v, ok, known := w.st.newestIfHot(c)
	if !known {
		v, ok, err = acks.Latest(w, c, kv.MaxTimestamp)
	}
	if err != nil || !ok {
		return 0, false, err
	}
	rec, err := record.DecodeWrite(v.Value, v.Timestamp)
	return v.Timestamp, rec.Kind == record.KindPut, err
}

// since is the snapshot that a mutation was computed from.
func (w *writer) since(m *mutation) kv.Timestamp {
	if m.since != 0 {
		return min(m.since, w.req.startTS)
	}
	return w.req.startTS
}

// tooOld refuses a write from below the safe point.
func (w *writer) tooOld(c kv.Column) *writeResponse {
	return &writeResponse{outcome: outcomeTooOld, commitTS: kv.Timestamp(w.st.safePoint.Load()), column: c}
}

// conflict refuses a write because somebody committed after its snapshot.
func conflict(c kv.Column, commitTS kv.Timestamp) *writeResponse {
	return &writeResponse{outcome: outcomeConflict, commitTS: commitTS, column: c}
}

// checkMarkers finds conflicts that left no version: lock-only writes and, for deletes, requires.
func (w *writer) checkMarkers(m *mutation) (*writeResponse, error) {
	if m.kind == record.KindDelete {
		if ts := max(w.seed, w.st.requires.since(m.column)); ts > w.since(m) {
			return conflict(m.column, ts), nil
		}
	}
	if w.since(m) >= kv.Timestamp(w.st.lockOnlyTS.Load()) {
		return nil, nil
	}
	ts, err := lockOnlyCommit(w, m.column)
	if err != nil || ts <= w.since(m) {
		return nil, err
	}
	return conflict(m.column, ts), nil
}

// lockOnlyCommit returns the newest commit_ts of a lock-only write of a column, zero if there was none.
func lockOnlyCommit(r kv.Reader, c kv.Column) (kv.Timestamp, error) {
	b, ok, err := r.Get(record.RollbackAt(c), record.RollbackMarker)
	if err != nil || !ok {
		return 0, err
	}
	return record.DecodeRollback(b)
}

// commitOf finds the commit of the transaction of startTS among a column's versions. It is the oldest of those above startTS, if it is there:
// whoever had committed to the column between the two would have been a conflict. So where a column has many, which is a hot row in
// which somebody is being asked for, and its latch held meanwhile, the way to the oldest is halved instead of gone version by version.
func commitOf(r kv.Reader, c kv.Column, startTS kv.Timestamp) (commitTS kv.Timestamp, ok bool, err error) {
	oldest, ok, err := acks.Latest(r, c, kv.MaxTimestamp)
	if err != nil || !ok || oldest.Timestamp <= startTS {
		return 0, false, err
	}
	if rec, err := record.DecodeWrite(oldest.Value, oldest.Timestamp); err != nil || rec.StartTS == startTS {
		return oldest.Timestamp, err == nil, err
	}
	below := startTS // at or below this there is no other version above startTS
	for looks := 0; below < oldest.Timestamp-1; looks++ {
		at := oldest.Timestamp - 1
		if looks >= commitSteps {
			at = below + (at-below+1)/2
		}
		v, ok, err := acks.Latest(r, c, at)
		switch {
		case err != nil:
			return 0, false, err
		case ok && v.Timestamp > startTS:
			oldest = v
		default:
			below = at
		}
	}
	rec, err := record.DecodeWrite(oldest.Value, oldest.Timestamp)
	if err != nil || rec.StartTS != startTS {
		return 0, false, err
	}
	return oldest.Timestamp, true, nil
}

// commitSteps is how many versions commitOf goes back one by one. Most columns have fewer.
const commitSteps = 8

// lock makes the record that prewrite stores.
func (w *writer) lock(m *mutation) *record.Lock {
	l := &record.Lock{
		Kind: m.kind, TTL: w.req.ttl, MinCommitTS: w.req.startTS + 1, Session: w.req.session,
		Observers: m.observers, Clears: m.clears, Depth: w.req.depth,
	}
	if compareColumns(m.column, w.req.primary) == 0 {
		l.IsPrimary = true
	} else {
		l.Primary = w.req.primary
	}
	if m.kind == record.KindPut && len(m.value) <= record.ShortValueMax {
		l.HasValue, l.Value = true, m.value
	}
	return l
}

// guard makes the record of a guard: enough to be recognised as one.
func (w *writer) guard(m *mutation) []byte {
	if w.guards[m.kind] == nil {
		l := record.Lock{Kind: m.kind, Guard: true, IsPrimary: true, MinCommitTS: w.req.startTS + 1}
		w.guards[m.kind] = l.AppendTo(nil)
	}
	return w.guards[m.kind]
}
