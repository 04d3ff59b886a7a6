package txn

import (
	"slices"

	"moka/kv"
	"moka/txn/record"
)

// asyncLocks is what a prewrite of an asynchronous commit adds to its locks; nil if they are plain.
type asyncLocks struct {
	secondaries []kv.Column
	minCommitTS kv.Timestamp // zero if no lock is new
}

// beginAsync chooses the least commit_ts of the new locks. As in one-phase commit it is taken above every snapshot that was read
// here, while guards are up: a reader with a larger snapshot either raised maxTS before it is loaded, or meets a guard, and
// behind the guard the lock.
//
// All of the request's locks are of one kind. If the shard (or a first copy of the request, when asynchronous commits were
// refused) says plain, they are, and the owner commits in two phases.
func (w *writer) beginAsync(fresh []*mutation) *asyncLocks {
	if !w.req.async || w.ownPlain || w.st.noAsync.Load() || slices.ContainsFunc(w.req.mutations, func(m *mutation) bool { return m.kind.Shared() }) {
		return nil
	}
	a := &asyncLocks{secondaries: w.req.secondaries}
	if len(fresh) == 0 {
		return a
	}
	for _, m := range fresh {
		w.Guard(record.LockAt(record.RunExclusive, m.column), w.req.startTS, w.guard(m))
	}
	a.minCommitTS = w.st.commitAbove(max(w.req.startTS, w.req.floor))
	for _, m := range fresh { // readers below it need not wait for the log
		l := record.Lock{Kind: m.kind, Guard: true, IsPrimary: true, MinCommitTS: a.minCommitTS}
		w.Guard(record.LockAt(record.RunExclusive, m.column), w.req.startTS, l.AppendTo(nil))
	}
	return a
}

func (a *asyncLocks) mark(l *record.Lock) {
	if a == nil {
		return
	}
	l.Async, l.MinCommitTS = true, a.minCommitTS
	if l.IsPrimary {
		l.Secondaries = a.secondaries
	}
}

// least is the answer to the owner.
func (a *asyncLocks) least(w *writer) kv.Timestamp {
	if a == nil {
		return 0
	}
	return max(a.minCommitTS, w.own)
}

func names(cs []kv.Column, c kv.Column) bool {
	return slices.ContainsFunc(cs, func(p kv.Column) bool { return compareColumns(p, c) == 0 })
}

// evalCheckSecondaries looks for the locks of an asynchronous commit. It runs under their rows' latches, which a prewrite holds until
// its locks are durable: a lock that is found here is one that a crash does not undo.
//
// Locks leave only when the transaction is decided; so one that is not there and has left no commit was never there. If final is
// asked for, it never will be: its tombstone is durable before the answer.
//
// A lock-only write leaves no commit, and so its lock may go only once the primary's commit is durable. (See finisher.)
func evalCheckSecondaries(e kv.Eval, st *state, req *secondariesRequest) (*secondariesResponse, error) {
	resp := &secondariesResponse{found: secondariesLocked}
	for _, c := range req.columns {
		b, ok, err := e.Get(record.LockAt(record.RunExclusive, c), req.startTS)
		if err != nil {
			return nil, err
		}
		if ok {
			l, err := record.DecodeLock(b)
			if err != nil {
				return nil, err
			}
			if !l.Async {
				return &secondariesResponse{found: secondariesPlain}, nil
			}
			resp.commitTS = max(resp.commitTS, l.MinCommitTS)
			continue
		}
		commitTS, ok, err := commitOf(e, c, req.startTS)
		if err != nil {
			return nil, err
		}
		if ok {
			return &secondariesResponse{found: secondariesCommitted, commitTS: commitTS}, nil
		}
		if _, ok, err = e.Get(record.RollbackAt(c), req.startTS); err != nil {
			return nil, err
		}
		if ok {
			return &secondariesResponse{found: secondariesRolledBack}, nil
		}
		if st.forgotten(req.startTS) {
			return &secondariesResponse{found: secondariesForgotten}, nil
		}
		if !req.final {
			return &secondariesResponse{found: secondariesMissing}, nil
		}
		entomb(e, st, c, req.startTS)
		return &secondariesResponse{found: secondariesRolledBack}, nil // one is enough
	}
	return resp, nil
}
