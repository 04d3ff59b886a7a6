package txn

import (
	linked "container/list"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/txn/deadlock"
)

// rowLocks are the pessimistic locks of a shard: what UPDATE, DELETE and SELECT … FOR UPDATE of explicit transactions hold until
// they end. They live in the leader's memory only and die with it. That is safe, since they order the work and prove nothing:
// every write still carries the snapshot that it was computed from, and prewrite refuses it if the column has changed since. A
// lock that was lost costs its owner a conflict at commit, never an update of somebody else's.
//
// Who waits is served in the order of arrival: a release hands the lock to the longest waiter itself, so there is no moment at
// which a newcomer could overtake, and of a thousand waiters one wakes up.
type rowLocks struct {
	// size counts locked columns, so that a shard without any costs a writer one load.
	size atomic.Int64
	max  int

	mu     sync.Mutex
	queues map[string]*lockQueue
	owners map[kv.Timestamp]*lockOwner
	// line has the owners about in the order in which they will have been silent for too long; see sweepLocked.
	line linked.List
	// ended remembers the last owners that were released, so that a message from their past does not lock anything.
	ended     map[kv.Timestamp]bool
	endedRing []kv.Timestamp
	endedNext int
}

const endedOwners = 1024

// lockOwner is a transaction. Its id is a timestamp that no other transaction has.
type lockOwner struct {
	id      kv.Timestamp
	session string
	note    string // what to show to people
	expires time.Time
	in      map[*lockQueue]*lockClaim
	place   *linked.Element // in the line
	due     time.Time       // what expires was when the owner was put there
}

// lockQueue is the line before one column: holders are one exclusive or several shared claims, waiters come oldest first.
type lockQueue struct {
	key     string
	column  kv.Column
	holders []*lockClaim
	waiters []*lockClaim
}

// lockClaim is one owner's place at a queue.
type lockClaim struct {
	owner   *lockOwner
	queue   *lockQueue
	shared  bool
	granted bool
	// upgrade: the owner holds the column shared already and wants it alone; it stands before all who hold nothing.
	upgrade *lockClaim
	// since, once it is set: the column is as this snapshot says, and stays so while the lock is held.
	since kv.Timestamp
	asked time.Time
	wake  chan struct{} // holds one token when something has changed for the waiter
}

func newRowLocks(max int) *rowLocks {
	return &rowLocks{
		max: max, queues: map[string]*lockQueue{}, owners: map[kv.Timestamp]*lockOwner{},
		ended: map[kv.Timestamp]bool{}, endedRing: make([]kv.Timestamp, endedOwners),
	}
}

// lockAsk is who asks for a lock.
type lockAsk struct {
	owner         kv.Timestamp
	session, note string
	ttl           time.Duration
	shared        bool
	// wait puts the owner into the queue if it cannot have the lock at once.
	wait bool
}

// acquire grants the column or says who is in the way. fresh means that the owner did not hold it (so well) before.
func (r *rowLocks) acquire(c kv.Column, a lockAsk, now time.Time) (granted, fresh bool, in []deadlock.Holder, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended[a.owner] {
		return false, false, nil, kv.Errorf(kv.CodeInvalidArgument, "txn.Lock", "the transaction of %v has ended", a.owner)
	}
	if o := r.owners[a.owner]; o != nil {
		o.heard(now, a.ttl)
	}
	r.sweepLocked(now, sweepOwners)
	if len(r.queues) >= r.max {
		r.sweepLocked(now, len(r.owners))
	}
	key := columnKey(c)
	q := r.queues[key]
	if q != nil {
		r.serveLocked(q, now) // may find that nobody is left, and drop the queue
		q = r.queues[key]
	}
	if q == nil {
		if len(r.queues) >= r.max {
			return false, false, nil, kv.Errorf(kv.CodeBusy, "txn.Lock", "the shard holds %d row locks, which is the most it may; commit or lock fewer rows at a time", len(r.queues))
		}
		q = &lockQueue{key: key, column: cloneColumn(c)}
		r.queues[key] = q
		r.size.Add(1)
	}
	o := r.ownerLocked(a, now)
	claim := o.in[q]
	switch {
	case claim == nil:
		claim = &lockClaim{owner: o, queue: q, shared: a.shared, asked: now, wake: make(chan struct{}, 1)}
		o.in[q] = claim
		q.waiters = append(q.waiters, claim)
	case claim.granted && (!claim.shared || a.shared):
		return true, false, nil, nil
	case claim.granted:
		claim = &lockClaim{owner: o, queue: q, upgrade: claim, asked: now, wake: make(chan struct{}, 1)}
		o.in[q] = claim
		i := 0
		for i < len(q.waiters) && q.waiters[i].upgrade != nil {
			i++
		}
		q.waiters = slices.Insert(q.waiters, i, claim)
	case claim.shared && !a.shared:
		claim.shared = false // still in the line for less: go on for more
	}
	r.serveLocked(q, now)
	if claim.granted {
		return true, true, nil, nil
	}
	in = claim.blockers()
	if !a.wait {
		r.leaveLocked(claim, now)
	}
	return false, false, in, nil
}

func (r *rowLocks) ownerLocked(a lockAsk, now time.Time) *lockOwner {
	o := r.owners[a.owner]
	if o == nil {
		o = &lockOwner{id: a.owner, in: map[*lockQueue]*lockClaim{}}
		r.owners[a.owner] = o
	}
	o.session, o.note = a.session, a.note
	o.heard(now, a.ttl)
	if o.place == nil {
		o.place, o.due = r.line.PushBack(o), o.expires
	}
	return o
}

// heard notes that the owner is alive.
func (o *lockOwner) heard(now time.Time, ttl time.Duration) {
	if e := now.Add(ttl); e.After(o.expires) {
		o.expires = e
	}
}

// forgetLocked takes out an owner that has no claims any more.
func (r *rowLocks) forgetLocked(o *lockOwner) {
	if r.owners[o.id] == o {
		delete(r.owners, o.id)
		r.line.Remove(o.place)
	}
}

// What a sweep does at a time.
const (
	sweepOwners  = 2
	sweepColumns = 1024
)

// sweepLocked drops owners that have fallen silent, although nobody asks for what they hold: the locks of a gateway that died would fill the
// shard. Each call looks at the first few of the line and stops at the first whose time has not come; who was heard of since goes to the
// end. Of one with very many locks it drops a part.
func (r *rowLocks) sweepLocked(now time.Time, most int) {
	for dropped := 0; most > 0 && dropped < sweepColumns; most-- {
		first := r.line.Front()
		if first == nil {
			return
		}
		o := first.Value.(*lockOwner)
		switch {
		case !now.After(o.due):
			return
		case !now.After(o.expires):
			o.due = o.expires
			r.line.MoveToBack(first)
		default:
			dropped += r.dropSomeLocked(o, sweepColumns)
		}
	}
}

// dropSomeLocked takes up to so many claims from an owner that fell silent.
func (r *rowLocks) dropSomeLocked(o *lockOwner, most int) (dropped int) {
	if dropped = len(o.in); dropped <= most {
		r.dropOwnerLocked(o, nil)
		return dropped
	}
	dropped = 0
	for q := range o.in {
		if dropped == most {
			break
		}
		r.dropSilentLocked(o, q, nil)
		dropped++
	}
	return dropped
}

// serveLocked drops holders and waiters whose owners have fallen silent and grants the column to those whose turn it is.
func (r *rowLocks) serveLocked(q *lockQueue, now time.Time) {
	for _, list := range [][]*lockClaim{q.holders, q.waiters} {
		for _, c := range slices.Clone(list) {
			if now.After(c.owner.expires) {
				r.dropOwnerLocked(c.owner, q)
			}
		}
	}
	for len(q.waiters) > 0 {
		w := q.waiters[0]
		free := len(q.holders) == 0 || w.shared && q.holders[0].shared
		if w.upgrade != nil {
			free = len(q.holders) == 1 && q.holders[0] == w.upgrade
		}
		if !free {
			return
		}
		q.waiters = q.waiters[1:]
		if w.upgrade != nil {
			q.holders = nil
			w.upgrade = nil
		}
		w.granted = true
		q.holders = append(q.holders, w)
		w.signal()
	}
	if len(q.holders) == 0 && r.queues[q.key] == q {
		delete(r.queues, q.key)
		r.size.Add(-1)
	}
}

// dropOwnerLocked takes all claims from an owner that fell silent; the caller serves the queue that it looks at.
func (r *rowLocks) dropOwnerLocked(o *lockOwner, except *lockQueue) {
	for _, q := range o.queuesLocked() {
		r.dropSilentLocked(o, q, except)
	}
	r.forgetLocked(o)
}

func (r *rowLocks) dropSilentLocked(o *lockOwner, q, except *lockQueue) {
	c := o.in[q]
	c.remove()
	delete(o.in, q)
	c.signal()
	for _, w := range q.waiters {
		w.signal() // whom they wait for has changed
	}
	if q != except {
		r.serveLocked(q, time.Time{})
	}
}

func (c *lockClaim) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *lockClaim) remove() {
	same := func(x *lockClaim) bool { return x == c || x == c.upgrade }
	c.queue.holders = slices.DeleteFunc(c.queue.holders, same)
	c.queue.waiters = slices.DeleteFunc(c.queue.waiters, same)
}

// leaveLocked ends a wait without the lock. What an upgrade wanted to grow from stays.
func (r *rowLocks) leaveLocked(c *lockClaim, now time.Time) {
	q := c.queue
	q.waiters = slices.DeleteFunc(q.waiters, func(x *lockClaim) bool { return x == c })
	if c.upgrade != nil {
		c.owner.in[q] = c.upgrade
	} else {
		delete(c.owner.in, q)
		if len(c.owner.in) == 0 {
			r.forgetLocked(c.owner)
		}
	}
	for _, w := range q.waiters {
		w.signal()
	}
	r.serveLocked(q, now)
}

// blockers are those whose end the claim has to see before it is granted: the nearest before it that it cannot share with.
// Who waits before those is reached through them, so a long line costs each of its members one edge.
func (c *lockClaim) blockers() (in []deadlock.Holder) {
	add := func(x *lockClaim) {
		if x.owner != c.owner {
			in = append(in, deadlock.Holder{Owner: x.owner.id, Note: x.owner.note})
		}
	}
	i := slices.Index(c.queue.waiters, c)
	for i--; i >= 0; i-- {
		w := c.queue.waiters[i]
		if c.shared && w.shared {
			continue
		}
		add(w)
		if !w.shared {
			return in // all before it block it as well
		}
	}
	if len(in) > 0 && !c.shared && c.upgrade == nil && len(c.queue.holders) > 0 && !c.queue.holders[0].shared {
		return in // shared waiters, which wait for the holder themselves
	}
	for _, h := range c.queue.holders {
		add(h)
	}
	return in
}

// waitState is what became of a wait.
type waitState uint8

const (
	waitGranted waitState = 1
	waitOn      waitState = 2 // for blockers
	waitGone    waitState = 3 // not in the queue (any more): ask again
)

// look tells how a wait stands, and the channel on which its next change is announced.
func (r *rowLocks) look(c kv.Column, owner kv.Timestamp, ttl time.Duration, now time.Time) (s waitState, in []deadlock.Holder, wake <-chan struct{}, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, q := r.owners[owner], r.queues[columnKey(c)]
	if o == nil || q == nil || o.in[q] == nil {
		return waitGone, nil, nil, now
	}
	o.heard(now, ttl)
	r.serveLocked(q, now)
	claim := o.in[q]
	if claim == nil {
		return waitGone, nil, nil, now
	}
	if claim.granted {
		return waitGranted, nil, nil, now
	}
	for _, h := range q.holders {
		if until.IsZero() || h.owner.expires.Before(until) {
			until = h.owner.expires
		}
	}
	return waitOn, claim.blockers(), claim.wake, until
}

// leave ends a wait; a lock that was granted in the meantime stays.
func (r *rowLocks) leave(c kv.Column, owner kv.Timestamp, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o, q := r.owners[owner], r.queues[columnKey(c)]; o != nil && q != nil {
		if claim := o.in[q]; claim != nil && !claim.granted {
			r.leaveLocked(claim, now)
		}
	}
}

// giveBack releases one column.
func (r *rowLocks) giveBack(c kv.Column, owner kv.Timestamp, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o, q := r.owners[owner], r.queues[columnKey(c)]; o != nil && q != nil {
		r.dropClaimLocked(o, q, now)
	}
}

func (r *rowLocks) dropClaimLocked(o *lockOwner, q *lockQueue, now time.Time) {
	claim := o.in[q]
	if claim == nil {
		return
	}
	wasWaiting := !claim.granted
	claim.remove()
	delete(o.in, q)
	if len(o.in) == 0 {
		r.forgetLocked(o)
	}
	if wasWaiting {
		for _, w := range q.waiters {
			w.signal()
		}
	}
	r.serveLocked(q, now)
}

// release ends an owner: all that it holds and waits for.
func (r *rowLocks) release(owner kv.Timestamp, now time.Time) {
	if owner == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended[owner] {
		delete(r.ended, r.endedRing[r.endedNext])
		r.ended[owner], r.endedRing[r.endedNext] = true, owner
		r.endedNext = (r.endedNext + 1) % endedOwners
	}
	o := r.owners[owner]
	if o == nil {
		return
	}
	for _, q := range o.queuesLocked() {
		r.dropClaimLocked(o, q, now)
	}
	r.forgetLocked(o)
}

// queuesLocked lists where the owner stands, in the order of columns: what follows from a release must not depend on a map.
func (o *lockOwner) queuesLocked() []*lockQueue {
	qs := make([]*lockQueue, 0, len(o.in))
	for q := range o.in {
		qs = append(qs, q)
	}
	slices.SortFunc(qs, func(a, b *lockQueue) int { return compareColumns(a.column, b.column) })
	return qs
}

// keep tells that owners are alive; it returns those that hold and wait for nothing here.
func (r *rowLocks) keep(owners []kv.Timestamp, ttl time.Duration, now time.Time) (gone []kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.sweepLocked(now, sweepOwners)
	for _, id := range owners {
		o := r.owners[id]
		if o == nil {
			gone = append(gone, id)
			continue
		}
		o.heard(now, ttl)
	}
	return gone
}

// blocking returns a foreign owner whose lock keeps a write of the column from going on, or, for one that only requires the
// column (shared), an exclusive one.
func (r *rowLocks) blocking(c kv.Column, owner kv.Timestamp, shared bool, now time.Time) (kv.Timestamp, string, bool) {
	if r.size.Load() == 0 {
		return 0, "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queues[columnKey(c)]
	if q == nil {
		return 0, "", false
	}
	r.serveLocked(q, now)
	for _, h := range q.holders {
		if h.owner.id != owner && !(shared && h.shared) {
			return h.owner.id, h.owner.session, true
		}
	}
	return 0, "", false
}

// proved notes that a column which the owner holds has not changed after a snapshot.
func (r *rowLocks) proved(c kv.Column, owner, since kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o, q := r.owners[owner], r.queues[columnKey(c)]; o != nil && q != nil {
		if claim := o.in[q]; claim != nil && claim.granted && (claim.since == 0 || since < claim.since) {
			claim.since = since
		}
	}
}

// holds reports whether the owner's lock proves that the column has not changed after the snapshot. One that was lost and taken
// again later does not.
func (r *rowLocks) holds(c kv.Column, owner, since kv.Timestamp) bool {
	if owner == 0 || r.size.Load() == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, q := r.owners[owner], r.queues[columnKey(c)]
	if o == nil || q == nil || o.in[q] == nil {
		return false
	}
	claim := o.in[q]
	if !claim.granted && claim.upgrade != nil {
		claim = claim.upgrade
	}
	return claim.granted && claim.since != 0 && claim.since <= since
}

// RowLock is a pessimistic lock, or somebody's wait for one, as people see it.
type RowLock struct {
	Column  kv.Column
	Owner   kv.Timestamp
	Session string
	Note    string
	Shared  bool
	Waiting bool
	Age     time.Duration
	// WaitsFor are the owners in the way of a waiting one.
	WaitsFor []kv.Timestamp
}

// list returns up to limit locks in the order of columns.
func (r *rowLocks) list(limit int, now time.Time) (locks []RowLock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	qs := make([]*lockQueue, 0, len(r.queues))
	for _, q := range r.queues {
		qs = append(qs, q)
	}
	slices.SortFunc(qs, func(a, b *lockQueue) int { return compareColumns(a.column, b.column) })
	for _, q := range qs {
		for _, c := range append(slices.Clone(q.holders), q.waiters...) {
			if len(locks) >= limit {
				return locks
			}
			l := RowLock{
				Column: q.column, Owner: c.owner.id, Session: c.owner.session, Note: c.owner.note,
				Shared: c.shared, Waiting: !c.granted, Age: now.Sub(c.asked),
			}
			if !c.granted {
				for _, b := range c.blockers() {
					l.WaitsFor = append(l.WaitsFor, b.Owner)
				}
			}
			locks = append(locks, l)
		}
	}
	return locks
}
