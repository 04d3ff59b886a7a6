package txn

import (
	"cmp"
	"slices"

	"moka/kv"
	"moka/txn/record"
)

// commitColumn writes what a committed column leaves behind, apart from the lock's removal: the write record and, in the same
// batch, so that no crash can lose them, the notifications. One-phase commit, commit and roll-forward all come through here.
func commitColumn(e kv.Eval, st *state, c kv.Column, rec record.Write, commitTS kv.Timestamp,
	note notes) error {
	switch rec.Kind {
	case record.KindPut, record.KindDelete:
		slot, newest := st.recent.Note(c, commitTS)
		var ranged *rangeWrite
		if !record.IsAck(c) { // ranges are remembered without
			ranged = st.ranges.writing(c, commitTS)
		}
		stored := rec.AppendTo(nil, commitTS)
		e.Set(record.WriteAt(c), commitTS, stored)
		if newest {
			st.committed(e, c, stored, commitTS, slot)
		}
		if ranged != nil {
			e.OnDurable(func() { st.ranges.wrote(ranged, kv.Version{Timestamp: commitTS, Value: stored}) })
		}
	case record.KindLock:
		ts, err := lockOnlyCommit(e, c)
		if err != nil {
			return err
		}
		e.Set(record.RollbackAt(c), record.RollbackMarker, record.AppendRollback(nil, max(ts, commitTS)))
		raise(&st.lockOnlyTS, commitTS)
	case record.KindRequire:
		st.requires.note(c, commitTS) // while the lock or guard is still there for deletes to see
	}
	for _, o := range note.observers {
		if err := setNotify(e, notifyAt(o, c), rec.StartTS, commitTS, &note); err != nil {
			return err
		}
	}
	for _, cl := range note.clears {
		if err := clearNotify(e, cl, rec.StartTS); err != nil {
			return err
		}
	}
	return nil
}

func notifyAt(observer uint32, c kv.Column) kv.Address {
	return kv.Address{Group: kv.GroupNotify, Run: observer, Column: c}
}

// notes are what a commit says to observers.
type notes struct {
	observers []uint32
	clears    []record.Clear
	depth     uint32
	// all are the clears of the whole transaction: what it has seen, as a run, is not what it passes on.
	all []record.Clear
}

// sees reports whether the transaction clears the notifications at an address that it has seen.
func (n *notes) sees(at kv.Address) bool {
	return slices.ContainsFunc(n.all, func(cl record.Clear) bool {
		return cl.Observer == at.Run && compareColumns(cl.Column, at.Column) == 0
	})
}

// setNotify leaves a notification. A cell that changes faster than it is observed does not pile them up: of
// those that wait, the oldest says since when, the newest up to what, and nobody asks for one between them. The
// one that this supersedes goes, unless it is the oldest; the lesser depth stays, but not of what this run has
// done, and since when it stood for changes. Changes of one cell commit one after the other, so this is newer
// than all that is there.
func setNotify(e kv.Eval, at kv.Address, startTS, commitTS kv.Timestamp, note *notes) error {
	n := record.Notification{StartTS: startTS, Depth: note.depth}
	v, ok, err := e.Latest(at, commitTS-1)
	if err != nil {
		return err
	}
	if ok && v.Timestamp > 0 {
		if _, older, err := e.Latest(at, v.Timestamp-1); err != nil {
			return err
		} else if older {
			was, _ := record.DecodeNotify(v.Value) // what does not decode has no depth
			if v.Timestamp > startTS || !note.sees(at) {
				n.Depth, n.Since = min(n.Depth, was.Depth), cmp.Or(was.Since, v.Timestamp)
			}
			e.Delete(at, v.Timestamp)
		}
	}
	e.Set(at, commitTS, record.AppendNotify(nil, n))
	return nil
}

// clearNotify deletes the notifications that the transaction of startTS has seen. A newer one stays: its change has not been
// observed.
func clearNotify(e kv.Eval, cl record.Clear, startTS kv.Timestamp) error {
	// What is known of failed attempts goes with the success.
	state := kv.Address{Group: kv.GroupNotifyMeta, Run: cl.Observer, Column: cl.Column}
	if v, ok, err := e.Latest(state, kv.MaxTimestamp); err != nil {
		return err
	} else if ok {
		e.Delete(state, v.Timestamp)
	}
	for at := startTS; ; {
		v, ok, err := e.Latest(notifyAt(cl.Observer, cl.Column), at)
		if err != nil || !ok {
			return err
		}
		e.Delete(notifyAt(cl.Observer, cl.Column), v.Timestamp)
		if v.Timestamp == 0 {
			return nil
		}
		at = v.Timestamp - 1
	}
}

// commitLock turns a lock into its committed form.
func commitLock(e kv.Eval, st *state, l heldLock, startTS, commitTS kv.Timestamp, all []record.Clear) error {
	if l.run == record.RunShared && l.Kind == record.KindLock {
		e.Delete(record.LockAt(l.run, l.column), startTS) // a share lock: it has done its work, and leaves nothing to conflict with
		return nil
	}
	rec := record.Write{Kind: l.Kind, StartTS: startTS, HasValue: l.HasValue, Value: l.Value}
	if err := commitColumn(e, st, l.column, rec, commitTS, notes{l.Observers, l.Clears, l.Depth, all}); err != nil {
		return err
	}
	e.Delete(record.LockAt(l.run, l.column), startTS)
	return nil
}

// second says that the second phase of so many columns, which was promised room, is here.
func second(e kv.Eval, columns int) error { return e.Room(kv.Ends, deleteTakes*columns) }

// dropLock removes a lock and the long value that came with it.
func dropLock(e kv.Eval, run uint32, c kv.Column, l *record.Lock, startTS kv.Timestamp) {
	if l.Kind == record.KindPut && !l.HasValue {
		e.Delete(record.DataAt(c), startTS)
	}
	e.Delete(record.LockAt(run, c), startTS)
}

// heldLock is a lock of a transaction, found by its start_ts.
type heldLock struct {
	run    uint32
	column kv.Column
	*record.Lock
}

// clearsOf lists what locks of a transaction clear.
func clearsOf(held []heldLock) (all []record.Clear) {
	for _, h := range held {
		all = append(all, h.Clears...)
	}
	return all
}

// locksOf lists a transaction's locks within spans. Guards are left out: their command is still running.
func locksOf(st *state, startTS kv.Timestamp, spans []kv.Span) (held []heldLock, err error) {
	st.locks.ByTimestamp(startTS, func(a kv.Address, value []byte) bool {
		if a.Run > record.RunShared || !within(spans, a.Row) {
			return true
		}
		var l *record.Lock
		if l, err = record.DecodeLock(value); err != nil {
			return false
		}
		if !l.Guard {
			held = append(held, heldLock{a.Run, cloneColumn(a.Column), l})
		}
		return true
	})
	return held, err
}

func within(spans []kv.Span, row kv.RowKey) bool {
	for _, s := range spans {
		if s.Contains(row) {
			return true
		}
	}
	return false
}

// evalCommit is the commit point: replacing the primary's lock by its write record decides for all columns of the transaction
// (§2.2). The other locks within spans come along in the same batch. They are not latched; evalResolve says why.
func evalCommit(e kv.Eval, st *state, req *commitRequest) (*writeResponse, error) {
	b, ok, err := e.Get(record.LockAt(record.RunExclusive, req.primary), req.startTS)
	if err != nil {
		return nil, err
	}
	if !ok {
		return commitWithoutLock(e, st, req)
	}
	primary, err := record.DecodeLock(b)
	if err != nil {
		return nil, err
	}
	seed, ok := st.seeded(req.tablets)
	if !ok && !primary.Async {
		return &writeResponse{outcome: outcomeUnseeded, incarnation: st.incarnation}, nil
	}
	// A reader that pushed us has gone on with an older version, so we go above it, here and now: asking the client for a
	// newer timestamp would only invite the next reader to push again. That is a legal commit_ts: it is above all
	// snapshots that read our columns before they were locked, as the client's is, and above all that met our locks,
	// since these came here; and it is at most one above an issued timestamp, so that the next one issued sees it. Pushes
	// die with the process; the seed stands for those of its predecessor, as it is above every snapshot of that time.
	commitTS := max(req.commitTS, primary.MinCommitTS, st.pushed(req.startTS)+1, seed+1)
	if primary.Async {
		// Nobody can have pushed it, and its user may have been told commit_ts already: not one higher.
		commitTS = max(req.commitTS, primary.MinCommitTS)
	}
	held, err := locksOf(st, req.startTS, req.spans)
	if err != nil {
		return nil, err
	}
	if err := second(e, len(held)); err != nil {
		return nil, err
	}
	all := clearsOf(held)
	for _, h := range held {
		if err := commitLock(e, st, h, req.startTS, commitTS, all); err != nil {
			return nil, err
		}
	}
	e.OnDurable(func() {
		st.forgetPush(req.startTS)
		st.decided.Put(req.startTS, commitTS)
	})
	return &writeResponse{outcome: outcomeOK, commitTS: commitTS}, nil
}

// commitWithoutLock answers a commit that finds no lock: it was done before, or somebody rolled the transaction back.
func commitWithoutLock(e kv.Eval, st *state, req *commitRequest) (*writeResponse, error) {
	commitTS, ok, err := commitOf(e, req.primary, req.startTS)
	if err != nil {
		return nil, err
	}
	if ok {
		return &writeResponse{outcome: outcomeCommitted, commitTS: commitTS, column: req.primary}, nil
	}
	if st.forgotten(req.startTS) {
		return nil, errTooLongAgo(req.startTS)
	}
	return &writeResponse{outcome: outcomeRolledBack, column: req.primary}, nil
}

// evalRollback is the owner's own clean-up after a failed prewrite. A column without a lock gets a tombstone, because its
// prewrite may still be under way; so does the primary in any case, because it decides for the others.
func evalRollback(e kv.Eval, st *state, req *rollbackRequest) (*writeResponse, error) {
	held, err := locksOf(st, req.startTS, req.spans)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(req.columns, func(c kv.Column) bool { return compareColumns(c, req.primary) == 0 }) {
		e.NoSync() // the primary's tombstone is what must not be lost
	}
	locked := map[string]bool{}
	for _, h := range held {
		if h.run == record.RunExclusive {
			locked[columnKey(h.column)] = true
		}
	}
	for _, c := range req.columns {
		isPrimary := compareColumns(c, req.primary) == 0
		if locked[columnKey(c)] && !isPrimary {
			continue
		}
		if !locked[columnKey(c)] {
			if commitTS, ok, err := commitOf(e, c, req.startTS); err != nil {
				return nil, err
			} else if ok {
				return &writeResponse{outcome: outcomeCommitted, commitTS: commitTS, column: c}, nil
			}
		}
		entomb(e, st, c, req.startTS)
	}
	for _, h := range held {
		dropLock(e, h.run, h.column, h.Lock, req.startTS)
	}
	st.forgetPush(req.startTS)
	return &writeResponse{outcome: outcomeOK}, second(e, len(held))
}

// entomb makes sure that a transaction can never lock a column that it has not locked yet.
func entomb(e kv.Eval, st *state, c kv.Column, startTS kv.Timestamp) {
	raise(&st.rollbackTS, startTS)
	e.Set(record.RollbackAt(c), startTS, record.AppendRollback(nil, 0))
}

// evalCheckStatus asks the primary (§2.2: "the primary lock is a synchronizing point for any clean-up"). It runs under the
// primary's latch, so that it and the commit point exclude each other.
func evalCheckStatus(e kv.Eval, st *state, req *statusRequest) (*statusResponse, error) {
	b, ok, err := e.Get(record.LockAt(record.RunExclusive, req.primary), req.startTS)
	if err != nil {
		return nil, err
	}
	if !ok {
		return statusWithoutLock(e, st, req)
	}
	l, err := record.DecodeLock(b)
	if err != nil {
		return nil, err
	}
	dead := req.force || expired(req.startTS, l.TTL.Milliseconds(), req.now)
	if l.Async && !(dead && req.rollback) {
		// Its commit_ts may be decided already, by locks that are all there: nobody can push it, and only they can tell.
		resp := &statusResponse{fate: fateAlive, async: true, minCommitTS: l.MinCommitTS, secondaries: l.Secondaries}
		if dead {
			resp.fate = fateUndecided
		}
		return resp, nil
	}
	if !dead {
		if req.push > 0 {
			st.push(req.startTS, req.push)
		}
		return &statusResponse{fate: fateAlive, pushed: req.push > 0}, nil
	}
	entomb(e, st, req.primary, req.startTS)
	dropLock(e, record.RunExclusive, req.primary, l, req.startTS)
	st.forgetPush(req.startTS)
	return &statusResponse{fate: fateRolledBack}, nil
}

func statusWithoutLock(e kv.Eval, st *state, req *statusRequest) (*statusResponse, error) {
	commitTS, ok, err := commitOf(e, req.primary, req.startTS)
	if err != nil {
		return nil, err
	}
	if ok {
		return &statusResponse{fate: fateCommitted, commitTS: commitTS}, nil
	}
	if _, ok, err = e.Get(record.RollbackAt(req.primary), req.startTS); err != nil {
		return nil, err
	}
	if ok {
		return &statusResponse{fate: fateRolledBack}, nil
	}
	if st.forgotten(req.startTS) {
		return &statusResponse{fate: fateForgotten}, nil
	}
	// Prewrites run in parallel, so the primary's may be the last to arrive. Only a lock that has had its time, or an owner
	// that is gone, lets us decide; and then the tombstone keeps a late primary out.
	if !req.force && !req.expired {
		return &statusResponse{fate: fateAlive}, nil
	}
	entomb(e, st, req.primary, req.startTS)
	return &statusResponse{fate: fateRolledBack}, nil
}

// expired compares wall clock parts: a lock is respected for its TTL after its transaction began.
func expired(startTS kv.Timestamp, ttlMillis int64, now kv.Timestamp) bool {
	return now.Physical() > startTS.Physical()+ttlMillis
}

// evalResolve carries the primary's decision to other locks. Nothing here needs a sync: what a crash undoes, the primary can
// tell again.
//
// It takes no latches, since it does not know the rows before it looks, and needs none: who else writes to a locked column
// sees the lock until this batch is applied, another resolver of the same transaction writes the same bytes, and primaries
// (whose lock a heartbeat may rewrite) are left alone, but for those of asynchronous commits that the request names, which are
// latched.
func evalResolve(e kv.Eval, st *state, req *resolveRequest) (*resolveResponse, error) {
	e.NoSync()
	resp := &resolveResponse{}
	for _, dec := range req.decisions {
		st.decided.Put(dec.startTS, dec.commitTS)
		held, err := locksOf(st, dec.startTS, req.spans)
		if err != nil {
			return nil, err
		}
		all := clearsOf(held)
		for _, h := range held {
			if h.IsPrimary && !(h.Async && names(req.primaries, h.column)) {
				continue
			}
			resp.resolved++
			if dec.commitTS == 0 {
				dropLock(e, h.run, h.column, h.Lock, dec.startTS)
			} else if err := commitLock(e, st, h, dec.startTS, dec.commitTS, all); err != nil {
				return nil, err
			}
		}
	}
	return resp, second(e, int(resp.resolved))
}

// evalHeartbeat keeps a slow transaction's primary from expiring. Losing it in a crash makes the lock expire early, which is
// safe, so it is not synced.
func evalHeartbeat(e kv.Eval, _ *state, req *heartbeatRequest) (*heartbeatResponse, error) {
	b, ok, err := e.Get(record.LockAt(record.RunExclusive, req.primary), req.startTS)
	if err != nil || !ok {
		return &heartbeatResponse{}, err
	}
	l, err := record.DecodeLock(b)
	if err != nil {
		return nil, err
	}
	if req.ttl > l.TTL {
		l.TTL = req.ttl
		e.NoSync()
		e.Set(record.LockAt(record.RunExclusive, req.primary), req.startTS, l.AppendTo(nil))
	}
	return &heartbeatResponse{found: true}, nil
}
