package txn

import (
	"context"
	"errors"
	"slices"
	"time"

	"moka/kv"
	"moka/txn/delays"
	"moka/txn/record"
)

// Commit makes the writes visible, all at once, or returns why not. A transaction without writes commits for nothing and has
// no commit_ts. After ErrOutcomeUnknown it may or may not have committed; after every other error it did not and never will.
func (t *Txn) Commit(ctx context.Context) (kv.Timestamp, error) {
	ctx = steady{ctx}
	defer t.delist()
	cm, err := t.seal()
	if err != nil {
		t.unlock(0)
		return 0, err
	}
	c := t.c
	if !cm.changes {
		c.metrics.readOnly.Add(1)
		err := cm.prove(ctx)
		t.unlock(0)
		if err != nil {
			c.metrics.conflicts.Add(1)
			return 0, err
		}
		return 0, cm.notify(ctx)
	}
	commitTS, err := cm.run(ctx)
	t.unlock(cm.released)
	switch {
	case err == nil:
		c.metrics.commits.Add(1)
	case errors.Is(err, ErrConflict):
		c.metrics.conflicts.Add(1)
	case errors.Is(err, ErrAlreadyExists), errors.Is(err, ErrMustExist):
		c.metrics.constraints.Add(1)
	case errors.Is(err, ErrOutcomeUnknown):
		c.metrics.unknown.Add(1)
	}
	return commitTS, err
}

// prove makes sure that what a transaction that only reads has locked is what it was, if it has read by more
// than one snapshot: it has taken the next one because all that it had seen was locked, and a row lock is
// lost when a shard changes its leader. A commit with changes has the same proof from its writes; with one
// snapshot there is nothing to prove.
func (cm *committer) prove(ctx context.Context) error {
	if !cm.advanced {
		return nil
	}
	// Columns that were locked alike go in one request for each shard: a query may have locked thousands.
	type locks struct {
		since kv.Timestamp
		share bool
	}
	columns := map[locks][]kv.Column{}
	for _, m := range cm.mutations {
		if m.kind == record.KindLock && m.since != 0 {
			k := locks{m.since, m.share}
			columns[k] = append(columns[k], m.column)
		}
	}
	for k, cs := range columns {
		o := LockOptions{Share: k.share, Wait: cm.t.lockWait()}
		if _, err := cm.t.lockColumns(ctx, k.since, cs, o, nil); err != nil {
			return err
		}
	}
	return nil
}

// seal ends the transaction for its user and hands its writes to a committer.
func (t *Txn) seal() (*committer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.finished:
		return nil, ErrFinished
	case t.tooLarge:
		return nil, t.errTooLargeLocked()
	case t.misused:
		return nil, ErrReadOnly
	}
	t.finished = true
	ms, changes, err := t.buffer.mutations()
	if err != nil {
		t.c.metrics.constraints.Add(1)
		return nil, err
	}
	return &committer{t: t, c: t.c, mutations: ms, bytes: t.buffer.bytes,
		growth: t.buffer.growth(), changes: changes,
		advanced: t.advanced, startTS: t.startTS, started: t.started, owner: t.owner, blind: !t.began}, nil
}

// committer takes one transaction's writes through the protocol.
type committer struct {
	t         *Txn
	c         *Client
	mutations []*mutation // in column order
	bytes     int64       // of them
	growth    kv.Growth   // see Txn.SetAdds
	changes   bool
	advanced  bool // see prove
	startTS   kv.Timestamp
	// blind transactions have read nothing: they may begin anew, with a later snapshot, when somebody was first.
	blind   bool
	started time.Time // when start_ts was fetched
	primary kv.Column
	// async: the locks decide; see async.go.
	async       bool
	floor       kv.Timestamp
	secondaries []kv.Column
	owner       kv.Timestamp // of the row locks
	// released is the shard that has released them with the commit.
	released kv.ShardID
	// rounds spaces whole tries of a blind transaction, retries the requests of one, waits those that meet locks.
	rounds, retries, waits backoff
	// written marks the mutations whose lock may be in the store.
	written []bool
}

// run commits; blind transactions get several tries.
func (cm *committer) run(ctx context.Context) (kv.Timestamp, error) {
	b := cm.rounds.begin(time.Now(), cm.c.o.LockWait, cm.startTS)
	for {
		if cm.blind || cm.startTS == 0 {
			next := cm.c.clock.Next
			if cm.t.o.Autocommit { // else start_ts must be fetched after Commit was called; see commitFloor
				next = cm.t.nextTS
			}
			ts, err := next(ctx)
			if err != nil {
				return 0, err
			}
			cm.startTS, cm.started = ts, time.Now()
			cm.t.mu.Lock()
			cm.t.startTS = ts
			cm.t.mu.Unlock()
		}
		commitTS, err := cm.try(ctx)
		if !cm.blind || !errors.Is(err, ErrConflict) && !errors.Is(err, ErrSnapshotTooOld) {
			return commitTS, err
		}
		b.jitter += uint64(cm.startTS)
		if !b.wait(ctx) {
			return 0, err
		}
	}
}

// try commits at one snapshot: in one phase if all is in one shard, else in two.
func (cm *committer) try(ctx context.Context) (kv.Timestamp, error) {
	b := cm.retries.begin(time.Now(), cm.c.o.RetryTime, cm.startTS)
	for {
		groups, err := cm.group(ctx, cm.mutations)
		if err != nil {
			return 0, notCommitted("locate", err)
		}
		groups = cm.cut(groups)
		cm.choosePrimary(groups)
		if len(groups) > 1 {
			if err := cm.beginAsync(ctx); err != nil {
				return 0, err
			}
			return cm.twoPhases(ctx, groups)
		}
		commitTS, err := cm.onePhase(ctx, b, groups[0], cm.mutations)
		// "Unknown, and then the tablet had moved" is not "moved": the next request would know nothing of this one, and take a refusal for
		// the whole answer. (The simulator's seed 6372, with a collection that had removed the commit meanwhile.)
		if !errors.Is(err, kv.ErrMoved) || errors.Is(err, ErrOutcomeUnknown) || !b.wait(ctx) {
			return commitTS, err
		}
	}
}

func (cm *committer) group(ctx context.Context, ms []*mutation) ([]*shardGroup, error) {
	return cm.c.group(ctx, len(ms), func(i int) kv.RowKey { return ms[i].column.Row })
}

// maxRequest bounds what one prewrite carries: messages between nodes have a limit, and a batch is evaluated in one piece.
const maxRequest = 4 << 20

// requestOverhead is about what a write takes in a request besides its bytes.
const requestOverhead = 32

// cut divides groups that are too large for one request. What is left in one piece, in one shard, commits in one phase.
func (cm *committer) cut(groups []*shardGroup) []*shardGroup {
	if cm.bytes <= maxRequest {
		return groups
	}
	var out []*shardGroup
	for _, g := range groups {
		piece, size := *g, 0
		piece.index = nil
		for _, i := range g.index {
			m := cm.mutations[i]
			n := requestOverhead + len(m.column.Row) + len(m.column.Qualifier) + len(m.value)
			if size += n; size > maxRequest && len(piece.index) > 0 {
				whole := piece
				out = append(out, &whole)
				piece.index, size = nil, n
			}
			piece.index = append(piece.index, i)
		}
		out = append(out, &piece)
	}
	return out
}

// choosePrimary picks a column that leaves a commit record, in the shard with the most writes: they are committed with it, and
// fewer are left for the background.
func (cm *committer) choosePrimary(groups []*shardGroup) {
	best := -1
	for _, g := range groups {
		if len(g.index) <= best {
			continue
		}
		for _, i := range g.index {
			if cm.mutations[i].kind.Changes() {
				cm.primary, best = cm.mutations[i].column, len(g.index)
				break
			}
		}
	}
}

func (cm *committer) writeRequest(g *shardGroup, ms []*mutation) *writeRequest {
	req := &writeRequest{
		startTS: cm.startTS, primary: cm.primary, session: *cm.c.session.Load(),
		tablets: g.tablets, mutations: ms, owner: cm.owner, growth: cm.growth,
		depth: cm.t.o.Depth,
		// A lock's time is counted from its start_ts, which may be long ago.
		ttl: cm.ttl(),
	}
	if cm.async {
		req.async, req.floor = true, cm.floor
	}
	if len(g.index) != len(ms) {
		req.mutations = make([]*mutation, 0, len(g.index))
		for _, i := range g.index {
			req.mutations = append(req.mutations, ms[i])
		}
	}
	if cm.async && slices.ContainsFunc(req.mutations, func(m *mutation) bool { return compareColumns(m.column, cm.primary) == 0 }) {
		req.secondaries = cm.secondaries
	}
	return req
}

func (cm *committer) ttl() time.Duration {
	return min(time.Since(cm.started)+cm.c.o.LockTTL, record.MaxTTL).Truncate(time.Millisecond)
}

// onePhase commits everything with one request to one shard. kv.ErrMoved means that nothing happened: group again.
func (cm *committer) onePhase(ctx context.Context, b *backoff, g *shardGroup, ms []*mutation) (kv.Timestamp, error) {
	req := cm.writeRequest(g, ms)
	var err error
	if req.floor, err = cm.commitFloor(ctx); err != nil {
		return 0, err
	}
	unknown, again := false, false
	waits := cm.waits.begin(time.Now(), shortLockWait, cm.startTS)
	for ; ; again = true {
		m, err := cm.c.call(ctx, b, g, cmdCommitOnePhase, req, &unknown)
		if err != nil {
			// A full disk passes by itself: see outcomeUnseeded.
			return cm.decide(ctx, unknown || errors.Is(err, kv.ErrDiskFull), err)
		}
		resp := m.(*writeResponse)
		if resp.outcome == outcomeTooOld && (again || unknown) {
			// A second copy of an earlier request may have committed, and garbage collection may have removed the record of it:
			// nobody can tell any more.
			return 0, errorf(CodeOutcomeUnknown, cm.refusal(resp), "the transaction of start_ts %v may or may not have committed; read back row %x", cm.startTS, []byte(cm.primary.Row))
		}
		switch resp.outcome {
		case outcomeOK, outcomeCommitted:
			cm.c.metrics.onePhase.Add(1)
			cm.released = g.shard
			return resp.commitTS, nil
		case outcomeUnseeded:
			if err := cm.c.seedForWrite(ctx, b, g, resp.incarnation); err != nil {
				// Unlike other refusals this one passes by itself: should the network deliver a request twice, the second
				// copy may have come through since. (The simulator's does.)
				return cm.decide(ctx, true, err)
			}
		case outcomeLocked:
			if writes, requires := rowLocked(resp.locks); len(writes)+len(requires) > 0 {
				if err := cm.standInLine(ctx, writes, requires); err != nil {
					return cm.decide(ctx, true, err)
				}
				req.owner = cm.owner
				// How long others held their locks says nothing about how long the tablet cannot be found: it may
				// have moved meanwhile, and the time for looking again begins now.
				b.begin(time.Now(), cm.c.o.RetryTime, cm.startTS)
				continue
			}
			if err := cm.clear(ctx, waits, resp.locks); err != nil {
				return cm.decide(ctx, true, err) // locks go, too
			}
		default:
			return cm.decide(ctx, unknown || passes(ms, resp), cm.refusal(resp))
		}
	}
}

// passes reports whether a refusal passes by itself, so that a second copy of the request could come through: what is required, and is
// not there, may be there again. A snapshot that is too old stays so: the safe point does not go back.
func passes(ms []*mutation, resp *writeResponse) bool {
	return resp.outcome != outcomeTooOld && slices.ContainsFunc(ms, func(m *mutation) bool {
		return m.kind == record.KindRequire && compareColumns(m.column, resp.column) == 0
	})
}

// commitFloor returns what a commit_ts that a shard chooses has to be above. The snapshot may be older than commits that were
// acknowledged before this one was asked for; a fresh timestamp puts ours above them, so that no reader sees ours without them.
// (DESIGN.md, "Real time")
func (cm *committer) commitFloor(ctx context.Context) (kv.Timestamp, error) {
	if cm.blind || cm.t.o.Autocommit {
		return 0, nil
	}
	return cm.c.clock.Next(ctx)
}

// decide ends a one-phase commit that failed. If some attempt may have got through (or may still be on its way), the primary
// is asked, with force: then the transaction either has committed or has a tombstone and never will.
func (cm *committer) decide(ctx context.Context, unknown bool, cause error) (kv.Timestamp, error) {
	if !unknown {
		return 0, cause
	}
	s, err := cm.askOwnPrimary(ctx, cm.async)
	switch {
	case err != nil:
		return 0, errorf(CodeOutcomeUnknown, errors.Join(cause, err), "the transaction of start_ts %v may or may not have committed; read back row %x", cm.startTS, []byte(cm.primary.Row))
	case s.fate == fateCommitted:
		return s.commitTS, nil
	case errors.Is(cause, kv.ErrMoved):
		return 0, &ConflictError{Column: cm.primary, StartTS: cm.startTS, Reason: "its tablet moved while a request was unanswered"}
	}
	return 0, notCommittedIf("commit", cause)
}

// askOwnPrimary decides the transaction at its primary, even if the user no longer waits.
func (cm *committer) askOwnPrimary(ctx context.Context, rollback bool) (*statusResponse, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cm.c.o.RetryTime)
	defer cancel()
	now, err := cm.c.clock.Next(ctx)
	if err != nil {
		return nil, err
	}
	return cm.c.askPrimary(ctx, &statusRequest{primary: cm.primary, startTS: cm.startTS, now: now, force: true, rollback: rollback}, nil)
}

// shortLockWait bounds how long a writer waits for a live foreign lock. Its owner is about to commit, and then we are the ones
// who came second; waiting only helps where the lock is in passing, or if it is rolled back.
const shortLockWait = 20 * time.Millisecond

// clear resolves foreign locks that a write has met; those of live transactions are a conflict, after a short wait.
func (cm *committer) clear(ctx context.Context, waits *backoff, locks []lockInfo) error {
	began := time.Now()
	defer func() { delays.Locks(ctx, len(locks), began) }()
	alive, err := cm.c.resolve(ctx, 0, locks, waits.begun(), nil, nil)
	if err != nil || len(alive) == 0 {
		return err
	}
	cm.c.metrics.waits.Add(1)
	if !waits.wait(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return &ConflictError{Column: alive[0].column, StartTS: cm.startTS, Reason: "locked by the live transaction of start_ts " + alive[0].startTS.String()}
	}
	return nil
}

// rowLocked lists the columns among locks that are held by row locks: those to be written and those only required.
func rowLocked(locks []lockInfo) (writes, requires []kv.Column) {
	for _, l := range locks {
		switch {
		case l.row && l.kind == record.KindRequire:
			requires = append(requires, l.column)
		case l.row:
			writes = append(writes, l.column)
		}
	}
	return writes, requires
}

// standInLine waits for row locks like anybody who wants them: a transaction that takes none itself, and is refused a row for
// every lock it meets, would never have its turn. Only one-phase commit does so, as it has nothing in the store while it waits; a
// prewrite that meets a row lock is a conflict.
func (cm *committer) standInLine(ctx context.Context, writes, requires []kv.Column) error {
	o := LockOptions{Wait: cm.t.lockWait()}
	_, err := cm.t.lockColumns(ctx, cm.startTS, writes, o, nil)
	if o.Share = true; err == nil {
		_, err = cm.t.lockColumns(ctx, cm.startTS, requires, o, nil)
	}
	cm.owner = cm.t.Owner()
	if errors.Is(err, ErrConflict) {
		return nil // the commit will say so itself
	}
	return err
}

// refusal turns a shard's verdict into an error.
func (cm *committer) refusal(resp *writeResponse) error {
	switch resp.outcome {
	case outcomeConflict:
		return &ConflictError{Column: resp.column, CommitTS: resp.commitTS, StartTS: cm.startTS, Reason: "committed by another transaction after this one's snapshot"}
	case outcomeTooOld:
		return errTooOld(cm.startTS, resp.commitTS)
	case outcomeRolledBack:
		return &ConflictError{Column: resp.column, StartTS: cm.startTS, Reason: "rolled back by another transaction that took this one for dead"}
	case outcomeAlreadyExists:
		return &ConstraintError{Code: CodeAlreadyExists, Column: resp.column}
	case outcomeMustExist:
		return &ConstraintError{Code: CodeMustExist, Column: resp.column}
	}
	return kv.Errorf(kv.CodeInternal, "txn.commit", "unexpected outcome %d", resp.outcome)
}

// notify sends the weak notifications of a transaction that writes nothing. There is nothing to be atomic with.
func (cm *committer) notify(ctx context.Context) error {
	var ms []*mutation
	for _, m := range cm.mutations {
		if m.kind == record.KindNotify || len(m.observers) > 0 {
			ms = append(ms, &mutation{kind: record.KindNotify, column: m.column, observers: m.observers})
		}
	}
	if len(ms) == 0 {
		return nil
	}
	var err error
	if cm.startTS, err = cm.c.clock.Next(ctx); err != nil {
		return err
	}
	cm.blind = true
	b := newBackoff(cm.c.o.RetryTime, cm.startTS)
	for {
		groups, err := cm.group(ctx, ms)
		if err != nil {
			return err
		}
		err = each(b, groups, func(_ int, b *backoff, g *shardGroup) error {
			for {
				m, err := cm.c.call(ctx, b, g, cmdCommitOnePhase, cm.writeRequest(g, ms), nil)
				if err != nil {
					return err
				}
				resp := m.(*writeResponse)
				if resp.outcome != outcomeUnseeded {
					return nil
				}
				if err := cm.c.seedForWrite(ctx, b, g, resp.incarnation); err != nil {
					return err
				}
			}
		})
		// A second round repeats what the first has done: notifications of a cell collapse.
		if !errors.Is(err, kv.ErrMoved) || !b.wait(ctx) {
			return err
		}
	}
}

// steady is a context that answers at once whether it has ended. Those of statements may take their time for
// the answer, so that others get the processor; in the middle of a commit others wait for its locks.
type steady struct{ context.Context }

// Err implements context.Context.
func (s steady) Err() error {
	select {
	case <-s.Done():
		return s.Context.Err()
	default:
		return nil
	}
}
