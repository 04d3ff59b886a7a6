package txn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"moka/kv"
	"moka/txn/deadlock"
	"moka/txn/delays"
	"moka/txn/longread"
)

// LockOptions say how Lock deals with what is in the way.
type LockOptions struct {
	// Share lets others hold the same column shared; writes wait for all of them.
	Share bool
	// NoWait fails with ErrLockNotAvailable instead of waiting; SkipLocked leaves out what cannot be had at once, or has changed after
	// the snapshot.
	NoWait, SkipLocked bool
	// Wait bounds how long one column is waited for. Default: the transaction's LockWait.
	Wait time.Duration
	// MustNotExist words a change that made the column exist as ErrAlreadyExists: an INSERT that lost its race.
	MustNotExist bool
}

// Lock takes row locks, in order, waiting for their holders, and makes sure that the columns are what the snapshot says: if not,
// it fails with ErrConflict and the lock is held all the same, so that after Advance the column can be read as it is. Locks are
// held until the transaction ends. got tells, for SkipLocked, which ones it holds.
//
// Locks order the work and prove nothing (they are lost when a shard changes its leader): what must not change until the commit
// is put into the write buffer with LockForUpdate or LockShared as well.
func (t *Txn) Lock(ctx context.Context, cs []kv.Column, o LockOptions) (got []bool, err error) {
	since, err := t.StartTS(ctx)
	if err != nil {
		return nil, err
	}
	if o.Wait <= 0 {
		o.Wait = t.lockWait()
	}
	return t.lockColumns(ctx, since, cs, o, nil)
}

// LockAndGet is Lock and then Get of one column, in one request.
func (t *Txn) LockAndGet(ctx context.Context, c kv.Column, o LockOptions) (v Value, locked bool, err error) {
	since, err := t.StartTS(ctx)
	if err != nil {
		return Value{}, false, err
	}
	if o.Wait <= 0 {
		o.Wait = t.lockWait()
	}
	values := make([]Value, 1)
	got, err := t.lockColumns(ctx, since, []kv.Column{c}, o, values)
	if locked = len(got) == 1 && got[0]; err != nil || !locked {
		return Value{}, locked, err
	}
	if own, ok, known := t.Pending(c); known {
		return Value{Data: own, OK: ok}, true, nil
	}
	return values[0], true, nil
}

func (t *Txn) lockWait() time.Duration {
	if t.o.LockWait > 0 {
		return t.o.LockWait
	}
	return t.c.o.RowLockWait
}

// Advance moves the snapshot to the newest state with the next read. What is buffered stays bound to the snapshot that it was
// written in: the commit fails if a column has changed since then.
func (t *Txn) Advance() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.finished || t.startTS == 0 || t.o.StartTS != 0 {
		return
	}
	t.startTS, t.bypass = 0, nil
	if t.buffer.len() == 0 {
		t.delistLocked()
	} else {
		t.advanced = true
	}
}

// SetNote gives people something to recognise the transaction by where its locks are shown.
func (t *Txn) SetNote(note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(note) > MaxNote {
		note = note[:MaxNote]
	}
	t.note = note
}

// MaxNote is how much of a note is kept.
const MaxNote = 160

// Owner is the id under which the transaction's row locks are shown, zero if it has none.
func (t *Txn) Owner() kv.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.owner
}

// Snapshot is the snapshot that the transaction reads, zero if it has not taken one.
func (t *Txn) Snapshot() kv.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.startTS
}

// Unlock releases the row locks before the transaction ends: for one that cannot commit any more.
func (t *Txn) Unlock() { t.unlock(0) }

// lockColumns fills in values, if there are any, with what the snapshot has of the columns that it locks.
func (t *Txn) lockColumns(ctx context.Context, since kv.Timestamp, cs []kv.Column, o LockOptions, values []Value) (got []bool, err error) {
	c := t.c
	owner, note := t.own(since)
	got = make([]bool, len(cs))
	b, waits := newBackoff(c.o.RetryTime, since), newBackoff(o.Wait, since)
	left := make([]int, len(cs))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		groups, err := c.group(ctx, len(left), func(i int) kv.RowKey { return cs[left[i]].Row })
		if err != nil {
			return nil, err
		}
		var again []int
		for _, g := range groups {
			l := &locker{t: t, o: o, g: g, owner: owner, note: note, since: since, cs: cs, got: got, values: values, waits: waits}
			for _, i := range g.index {
				l.left = append(l.left, left[i])
			}
			c.lockers.add(t, g.shard)
			err := l.run(ctx, b)
			if errors.Is(err, kv.ErrMoved) {
				again = append(again, l.left...)
				continue
			}
			if err != nil {
				return got, err
			}
		}
		left = again
		if len(left) > 0 && !b.wait(ctx) {
			return got, kv.Errorf(kv.CodeUnavailable, "txn.Lock", "tablets keep moving")
		}
	}
	return got, nil
}

// own makes the transaction an owner of locks. Its first snapshot, which nobody else has, is its name, and stays it.
func (t *Txn) own(since kv.Timestamp) (kv.Timestamp, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owner == 0 {
		t.owner = since
	}
	return t.owner, t.note
}

// locker takes the locks of one shard.
type locker struct {
	t     *Txn
	o     LockOptions
	g     *shardGroup
	owner kv.Timestamp
	note  string
	since kv.Timestamp
	cs    []kv.Column
	left  []int // into cs
	got   []bool
	// values are wanted if they are not nil.
	values []Value
	waits  *backoff // for one column, wherever it is waited for
}

func (l *locker) run(ctx context.Context, b *backoff) error {
	c := l.t.c
	for len(l.left) > 0 {
		req := &lockRequest{
			Question: longread.Question{Context: ctx, Reads: &l.t.reads},
			owner:    l.owner, session: *c.session.Load(), note: l.note,
			ttl: c.o.LockLease, shared: l.o.Share, since: l.since,
			wait: !l.o.NoWait && !l.o.SkipLocked, tablets: l.g.tablets, columns: make([]kv.Column, len(l.left)),
			read: l.values != nil,
		}
		for i, j := range l.left {
			req.columns[i] = l.cs[j]
		}
		m, err := c.call(ctx, b, l.g, cmdLock, req, nil)
		if err != nil {
			return l.t.reads.Refusal(err)
		}
		resp := m.(*lockResponse)
		if err := charge(&req.Question, resp.charged, resp.values); err != nil {
			return err
		}
		if int(resp.done) > len(l.left) || int(resp.done) == len(l.left) && resp.status != lockDone {
			return kv.Errorf(kv.CodeCorrupt, "txn.Lock", "%d columns locked of %d", resp.done, len(l.left))
		}
		if l.values != nil && len(resp.values) != int(resp.done) {
			return kv.Errorf(kv.CodeCorrupt, "txn.Lock", "%d values of %d columns", len(resp.values), resp.done)
		}
		for i, j := range l.left[:resp.done] {
			l.got[j] = true
			if l.values != nil {
				l.values[j] = resp.values[i]
			}
		}
		if resp.done > 0 {
			l.waits.begin(time.Now(), l.o.Wait, l.since)
		}
		if l.left = l.left[resp.done:]; len(l.left) == 0 {
			return nil
		}
		if err := l.blocked(ctx, resp); err != nil {
			return err
		}
		// The shard answers: how long somebody has held the lock says nothing about how long storage is out of reach.
		b.begin(time.Now(), c.o.RetryTime, l.since)
	}
	return nil
}

// blocked deals with what stopped a request at the first column that is left.
func (l *locker) blocked(ctx context.Context, resp *lockResponse) error {
	c, column := l.t.c, l.cs[l.left[0]]
	skip := func() error {
		if resp.fresh && resp.status != lockTaken {
			l.leave(ctx, column, true)
		}
		l.left = l.left[1:]
		return nil
	}
	switch resp.status {
	case lockTaken:
		switch {
		case l.o.SkipLocked:
			return skip()
		case l.o.NoWait:
			return errorf(CodeLockNotAvailable, nil, "row %x is locked by %s", []byte(column.Row), ownersOf(resp.blockers))
		}
		return l.wait(ctx, column, resp.blockers)
	case lockInDoubt:
		began := time.Now()
		defer func() { delays.Locks(ctx, len(resp.locks), began) }()
		alive, err := c.resolve(ctx, 0, resp.locks, l.waits.begun(), nil, nil)
		switch {
		case err != nil || len(alive) == 0:
			return err
		case l.o.SkipLocked:
			return skip()
		case l.o.NoWait:
			return errorf(CodeLockNotAvailable, nil, "row %x is being committed by the transaction of %v", []byte(column.Row), alive[0].startTS)
		}
		c.metrics.waits.Add(1)
		if !l.waits.wait(ctx) {
			if err := ctx.Err(); err != nil {
				return err
			}
			return l.timeout(column, nil)
		}
		return nil
	}
	// Changed after the snapshot. The lock is held, but has to be asked for again in a new one.
	switch {
	case l.o.SkipLocked:
		return skip()
	case l.o.MustNotExist && resp.exists:
		return &ConstraintError{Code: CodeAlreadyExists, Column: cloneColumn(column)}
	}
	return &ConflictError{Column: cloneColumn(column), CommitTS: resp.commitTS, StartTS: l.since, Reason: "changed by another transaction after this one's snapshot"}
}

func ownersOf(in []deadlock.Holder) string {
	s := ""
	for i, b := range in {
		if i > 0 {
			s += ", "
		}
		s += "the transaction of " + b.Owner.String()
	}
	return s
}

func (l *locker) timeout(column kv.Column, in []deadlock.Holder) error {
	l.t.c.metrics.lockTimeouts.Add(1)
	return errorf(CodeLockTimeout, nil, "row %x was not to be had within %v; it is locked by %s", []byte(column.Row), l.o.Wait, ownersOf(in))
}

// lockSlice bounds one request that waits, so that a waiter is heard of from time to time, wherever it waits.
const lockSlice = time.Second

// wait stands in line until it is the owner's turn.
func (l *locker) wait(ctx context.Context, column kv.Column, in []deadlock.Holder) (err error) {
	c := l.t.c
	c.metrics.rowWaits.Add(1)
	slice := min(lockSlice, c.o.LockLease/3)
	deadlocked, began := false, time.Now()
	defer func() {
		delays.RowLock(ctx, began)
		if err != nil {
			l.leave(ctx, column, false)
		}
		l.detect(context.WithoutCancel(ctx), column, nil, false)
	}()
	for {
		cycle := l.detect(ctx, column, in, deadlocked)
		if len(cycle) > 0 && deadlocked {
			c.metrics.deadlocks.Add(1)
			return &DeadlockError{Column: cloneColumn(column), Cycle: cycle}
		}
		req := &awaitRequest{owner: l.owner, column: column, ttl: c.o.LockLease, slice: slice}
		// An edge of the cycle may be of somebody who has stopped waiting and not yet said so: look twice.
		if deadlocked = len(cycle) > 0; deadlocked {
			req.slice = min(slice, confirmDeadlock)
		}
		for _, b := range in {
			req.seen = append(req.seen, b.Owner)
		}
		left := time.Until(l.waits.deadline)
		if left <= 0 {
			return l.timeout(column, in)
		}
		req.slice = max(time.Millisecond, min(req.slice, left))
		m, err := c.store.Call(ctx, l.g.shard, nil, cmdAwaitLock, req)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !worthRepeating(err) && !errors.Is(err, kv.ErrMoved):
			return err
		case err != nil:
			return l.lost(ctx)
		}
		resp := m.(*awaitResponse)
		if resp.state != waitOn {
			return nil // the lock request that follows finds out the rest
		}
		in = resp.blockers
	}
}

// confirmDeadlock is how long a cycle has to last.
const confirmDeadlock = 5 * time.Millisecond

// lost goes back to asking for the lock after the shard did not answer.
func (l *locker) lost(ctx context.Context) error {
	if !l.waits.wait(ctx) {
		return kv.Errorf(kv.CodeUnavailable, "txn.Lock", "shard %d does not answer", l.g.shard)
	}
	return nil
}

// leave gives up a place in the line, or the lock itself. Best effort: what is not reached ends with its lease.
func (l *locker) leave(ctx context.Context, column kv.Column, giveBack bool) {
	_, _ = l.t.c.store.Call(context.WithoutCancel(ctx), l.g.shard, nil, cmdAwaitLock, &awaitRequest{owner: l.owner, column: column, leave: true, giveBack: giveBack})
}

// detectorRow is the row whose shard finds deadlocks, in memory. Nothing is stored there.
var detectorRow = kv.MakeRowKey(kv.TableTxn, nil)

// detect tells the detector whom we wait for. While it cannot be reached, waits end by their time.
func (l *locker) detect(ctx context.Context, column kv.Column, in []deadlock.Holder, confirm bool) []deadlock.Edge {
	c := l.t.c
	g, err := c.groupOne(ctx, detectorRow)
	if err != nil {
		return nil
	}
	req := &detectRequest{deadlock.Wait{
		Waiter: l.owner, Note: l.note, Column: column, WaitsOn: in, TTL: 3 * min(lockSlice, c.o.LockLease/3), Confirm: confirm,
	}}
	m, err := c.store.Call(ctx, g.shard, g.tablets, cmdDetect, req)
	if err != nil {
		return nil
	}
	return m.(*detectResponse).cycle
}

// lockers are the client's transactions that hold row locks, which it keeps alive.
type lockers struct {
	c  *Client
	mu sync.Mutex
	// txns has the shards in which each of them has asked for locks.
	txns    map[*Txn]map[kv.ShardID]bool
	running bool
	stop    chan struct{}
}

func (ls *lockers) add(t *Txn, shard kv.ShardID) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	shards := ls.txns[t]
	if shards == nil {
		shards = map[kv.ShardID]bool{}
		ls.txns[t] = shards
	}
	shards[shard] = true
	if !ls.running {
		ls.running = ls.c.goBackground(ls.keep)
	}
}

// remove forgets a transaction and returns where it has to be released.
func (ls *lockers) remove(t *Txn) []kv.ShardID {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	shards := slices.Sorted(maps.Keys(ls.txns[t]))
	delete(ls.txns, t)
	return shards
}

// keep says every third of a lease that the owners live; it ends with the last of them.
func (ls *lockers) keep() {
	timer := time.NewTimer(ls.c.o.LockLease / 3)
	defer timer.Stop()
	for {
		select {
		case <-ls.stop:
			return
		case <-timer.C:
		}
		owners := map[kv.ShardID][]kv.Timestamp{}
		ls.mu.Lock()
		if len(ls.txns) == 0 {
			ls.running = false
			ls.mu.Unlock()
			return
		}
		for t, shards := range ls.txns {
			for s := range shards {
				owners[s] = append(owners[s], t.Owner())
			}
		}
		ls.mu.Unlock()
		for _, s := range slices.Sorted(maps.Keys(owners)) {
			slices.Sort(owners[s])
			// Best effort: a lease that ends early costs a conflict at commit.
			_, _ = ls.c.store.Call(ls.c.ctx, s, nil, cmdKeepLocks, &ownersRequest{owners: owners[s], ttl: ls.c.o.LockLease})
		}
		timer.Reset(ls.c.o.LockLease / 3)
	}
}

// unlock releases the row locks, in all shards but the one that has done so with the commit.
func (t *Txn) unlock(except kv.ShardID) {
	c, owner := t.c, t.Owner()
	if owner == 0 {
		return
	}
	shards := slices.DeleteFunc(c.lockers.remove(t), func(s kv.ShardID) bool { return s == except })
	if len(shards) == 0 {
		return
	}
	release := func(ctx context.Context) {
		for _, s := range shards {
			b := newBackoff(c.o.LockLease, owner)
			_, _ = c.call(ctx, b, &shardGroup{shard: s}, cmdUnlock, &ownersRequest{owners: []kv.Timestamp{owner}}, nil)
		}
	}
	if !c.goBackground(func() { release(c.ctx) }) {
		ctx, cancel := context.WithTimeout(context.Background(), c.o.LockLease)
		defer cancel()
		release(ctx)
	}
}

// maxListed bounds lists for people.
const maxListed = 4096

// RowLocks lists the row locks, and the waits for them, of all shards.
func (c *Client) RowLocks(ctx context.Context) (locks []RowLock, err error) {
	shards, err := c.store.Shards(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		m, err := c.call(ctx, newBackoff(c.o.RetryTime, 0), &shardGroup{shard: s}, cmdListLocks, &limitRequest{maxListed}, nil)
		if err != nil {
			return nil, err
		}
		locks = append(locks, m.(*listLocksResponse).locks...)
	}
	return locks, nil
}

// Deadlocks lists the last deadlocks, the newest last. They are remembered in memory only.
func (c *Client) Deadlocks(ctx context.Context) ([]deadlock.Deadlock, error) {
	g, err := c.groupOne(ctx, detectorRow)
	if err != nil {
		return nil, err
	}
	m, err := c.call(ctx, newBackoff(c.o.RetryTime, 0), &shardGroup{shard: g.shard}, cmdDeadlocks, &limitRequest{maxListed}, nil)
	if err != nil {
		return nil, err
	}
	return m.(*deadlocksResponse).deadlocks, nil
}
