package txn

import (
	"slices"
	"time"

	"moka/kv"
	"moka/txn/deadlock"
	"moka/txn/record"
)

// evalLock takes row locks and then looks whether the columns are still what the owner's snapshot says.
//
// It runs under the rows' latches although it writes nothing: a commit that is on its way into the same rows has either been
// applied before the look, or checks for row locks after they were taken.
func evalLock(e kv.Eval, st *state, req *lockRequest) (*lockResponse, error) {
	_, seeded := st.seeded(req.tablets)
	resp := &lockResponse{status: lockDone, charged: req.Asked()}
	if req.read {
		st.raiseMaxTS(req.since) // as every read does before it looks
	}
	for _, c := range req.columns {
		granted, fresh, in, err := st.rows.acquire(c, lockAsk{
			owner: req.owner, session: req.session, note: req.note, ttl: req.ttl, shared: req.shared, wait: req.wait,
		}, time.Now())
		if err != nil {
			return nil, err
		}
		resp.fresh = fresh
		if !granted {
			resp.status, resp.blockers = lockTaken, in
			return resp, nil
		}
		if err := checkLocked(e, st, req, c, seeded, resp); err != nil || resp.status != lockDone {
			return resp, err
		}
		st.rows.proved(c, req.owner, req.since)
		resp.done++
	}
	return resp, nil
}

// checkLocked looks for locks first, as everywhere: one that goes leaves its write record to be seen.
func checkLocked(e kv.Eval, st *state, req *lockRequest, c kv.Column, seeded bool, resp *lockResponse) error {
	if st.locks.Len() > 0 {
		v, ok, err := e.Latest(record.LockAt(record.RunExclusive, c), kv.MaxTimestamp)
		if err != nil {
			return err
		}
		if ok {
			l, err := record.DecodeLock(v.Value)
			if err != nil {
				return err
			}
			resp.status, resp.locks = lockInDoubt, []lockInfo{infoOf(l, cloneColumn(c), v.Timestamp)}
			return nil
		}
	}
	v, ok, err := st.version(e, c, kv.MaxTimestamp, seeded)
	if err != nil {
		return err
	}
	newest, exists := v.Timestamp, false
	if ok {
		rec, err := record.DecodeWrite(v.Value, v.Timestamp)
		if err != nil {
			return err
		}
		exists = rec.Kind == record.KindPut
	}
	if newest <= req.since && (!seeded || req.since < kv.Timestamp(st.lockOnlyTS.Load())) {
		only, err := lockOnlyCommit(e, c)
		if err != nil {
			return err
		}
		newest = max(newest, only)
	}
	if st.tooOld(req.since) { // behind the looks, as reads ask: a delete that was one's conflict may have been removed
		resp.status, resp.commitTS = lockConflict, kv.Timestamp(st.safePoint.Load())
		return nil
	}
	if newest > req.since {
		resp.status, resp.commitTS, resp.exists = lockConflict, newest, exists
	} else if req.read {
		// Nobody has the row's latch, and nobody's lock is there: the newest version is the snapshot's.
		var value Value
		if ok {
			value, err = st.valueOf(e, &req.Question, c, v)
		}
		resp.values = append(resp.values, value)
	}
	return err
}

// evalAwaitLock waits for an owner's turn. It holds nothing while it does.
func evalAwaitLock(e kv.Eval, st *state, req *awaitRequest) (*awaitResponse, error) {
	if req.leave || req.giveBack {
		if req.giveBack {
			st.rows.giveBack(req.column, req.owner, time.Now())
		} else {
			st.rows.leave(req.column, req.owner, time.Now())
		}
		return &awaitResponse{state: waitGone}, nil
	}
	deadline := time.Now().Add(req.slice)
	for {
		now := time.Now()
		s, in, wake, until := st.rows.look(req.column, req.owner, req.ttl, now)
		if s != waitOn || !now.Before(deadline) || !sameBlockers(in, req.seen) {
			return &awaitResponse{state: s, blockers: in}, nil
		}
		next := deadline
		if until.Before(next) {
			next = until.Add(time.Millisecond) // a silent holder's time is over then
		}
		timer := time.NewTimer(max(time.Millisecond, next.Sub(now)))
		select {
		case <-wake:
			timer.Stop()
		case <-timer.C:
		case <-e.Context().Done():
			timer.Stop()
			return nil, e.Context().Err()
		}
	}
}

func sameBlockers(in []deadlock.Holder, seen []kv.Timestamp) bool {
	return slices.EqualFunc(in, seen, func(b deadlock.Holder, ts kv.Timestamp) bool { return b.Owner == ts })
}

func evalUnlock(_ kv.Eval, st *state, req *ownersRequest) (*empty, error) {
	for _, o := range req.owners {
		st.rows.release(o, time.Now())
	}
	return &empty{}, nil
}

func evalKeepLocks(_ kv.Eval, st *state, req *ownersRequest) (*ownersRequest, error) {
	return &ownersRequest{owners: st.rows.keep(req.owners, req.ttl, time.Now())}, nil
}

func evalDetect(_ kv.Eval, st *state, req *detectRequest) (*detectResponse, error) {
	return &detectResponse{cycle: st.detector.Wait(req.Wait, time.Now())}, nil
}

func evalListLocks(_ kv.Eval, st *state, req *limitRequest) (*listLocksResponse, error) {
	return &listLocksResponse{locks: st.rows.list(int(req.limit), time.Now())}, nil
}

func evalDeadlocks(_ kv.Eval, st *state, _ *limitRequest) (*deadlocksResponse, error) {
	return &deadlocksResponse{deadlocks: st.detector.Recent()}, nil
}

// checkRowLock reports a foreign row lock in the way of a write. Writes of transactions that took their row locks find their
// own here, or none if it was lost; then the conflict check against the snapshot decides, as it does for everybody. Who requires
// a column waits for those who have it alone, as InnoDB's check of a foreign key does: they may be about to delete it.
func (w *writer) checkRowLock(m *mutation) {
	if id, session, ok := w.st.rows.blocking(m.column, w.req.owner, m.kind.Shared(), time.Now()); ok {
		kind := record.KindLock
		if m.kind.Shared() {
			kind = record.KindRequire
		}
		w.locks = append(w.locks, lockInfo{column: cloneColumn(m.column), startTS: id, kind: kind, row: true, session: session})
	}
}
