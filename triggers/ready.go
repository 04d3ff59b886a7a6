package triggers

import (
	"bytes"
	"container/heap"
	"sync"
	"time"

	"moka/kv"
	"moka/txn/record"
)

const (
	// queueBound is how many notifications of one observer a shard keeps in order of age, and how many
	// waiting ones beside them; with leased ones twice as many. Beyond it only "there are more" is
	// remembered; the group is the truth and refills the queue when it runs dry.
	queueBound = 8192
	// refillPause is how long a queue rests after a pass that found nothing to deliver: all that is left is
	// parked, or waits for its next attempt.
	refillPause = 100 * time.Millisecond
	// refillSteps is how much of a group one question of a worker reads, half a queue each, that has only
	// what cannot be delivered now.
	refillSteps = 16
	// passPause is the least time between passes for what waits beyond the bound.
	passPause = time.Second
	// claimFor is how long a stretch of the backstop scan belongs to the worker that scanned it.
	claimFor = time.Second
)

// ready is a shard's view of its notifications: what may be delivered, what is being worked on, what waits
// after a failure. It is bounded, memory only, and a cache: what exists is in kv.GroupNotify, how often it
// failed in kv.GroupNotifyMeta, and both are asked again before a notification is handed out. So an item that
// is wrong, late or missing costs time, never a run.
//
// Lock order: the shard's hooks, then ready.mu, then an in-memory table's own lock. No callback of
// Ascend takes ready.mu.
type ready struct {
	shard  kv.ShardHandle
	now    func() time.Time
	bound  int // see queueBound
	closed chan struct{}

	mu struct {
		sync.Mutex
		items  map[key]*item
		queues map[ObserverID]*queue
		claims map[ObserverID]claim
		signal chan struct{} // closed and replaced when something became ready and somebody waits for it
		asked  bool          // somebody holds signal
		// arrived says that tablets have come: whose they have brought changes is found out when it is asked.
		arrived bool
	}
}

type itemState byte

const (
	stateQueued  itemState = iota // in byAge
	stateLeased                   // in timed, until the lease ends
	stateWaiting                  // in timed, until the next attempt after a failure
)

// item is a notification that the shard has in mind. Parked ones are not: they cost no memory here.
type item struct {
	key
	column   kv.Column
	commitTS kv.Timestamp // of the oldest change seen: the order of delivery
	newest   kv.Timestamp // as a pass has found it, with the depth; zero: it is to be read
	depth    uint32
	state    itemState
	holder   string // worker that has the lease
	until    time.Time
	fresh    bool // it came by itself while there were more than are here
	index    int  // in its heap
}

type claim struct {
	worker      string
	start, next kv.RowKey
	until       time.Time
}

// queue holds the items of one observer: oldest change first, fair between observers.
type queue struct {
	byAge ageHeap
	timed timeHeap
	fresh int // of byAge
	// more says that the group has notifications that are not here. Then passes go over it, row by row, half
	// a queue at a time: cursor is where the next refill goes on. missed says that something has found no
	// room since the pass began, perhaps behind the cursor: the next one finds it. What comes meanwhile has a
	// quarter of the room, so that neither it nor what a pass finds keeps the other waiting.
	more, missed, refilling bool
	cursor                  kv.RowKey
	refillAt                time.Time
	passAt                  time.Time // when what waits beyond the bound is looked for; zero: nothing does
}

func (q *queue) push(it *item) {
	heap.Push(&q.byAge, it)
	if it.fresh {
		q.fresh++
	}
}

// left notes that an item is not in byAge any more.
func (q *queue) left(it *item) *item {
	if it.fresh {
		q.fresh--
		it.fresh = false
	}
	return it
}

func openReady(s kv.ShardHandle, now func() time.Time, bound int) *ready {
	r := &ready{shard: s, now: now, bound: bound, closed: make(chan struct{})}
	r.mu.items = map[key]*item{}
	r.mu.queues = map[ObserverID]*queue{}
	r.mu.claims = map[ObserverID]claim{}
	r.mu.signal = make(chan struct{})
	notes := s.InMemory(kv.GroupNotify)
	for run := range notes.Runs() {
		r.mu.queues[run] = &queue{more: true}
	}
	notes.OnSet(func(a kv.Address, v kv.Version) { r.changed(a.Run, a.Column, v.Timestamp) })
	return r
}

// ReceiveTablet implements kv.TabletReceiver: what a tablet brings may be on disk alone.
func (r *ready) ReceiveTablet(kv.Tablet, any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.arrived = true
	for _, q := range r.mu.queues {
		q.more, q.missed, q.refillAt = true, true, time.Time{}
	}
	r.wakeLocked()
}

// Close ends the long polls.
func (r *ready) Close() error {
	close(r.closed)
	return nil
}

// changed is called for each notification that became durable.
func (r *ready) changed(o ObserverID, c kv.Column, ts kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enqueueLocked(o, c, ts, true)
}

// refile forgets what it thinks of a notification and files it anew by what is stored.
func (r *ready) refile(o ObserverID, c kv.Column) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if it := r.mu.items[keyOf(o, c)]; it != nil {
		r.removeLocked(it)
	}
	if d, ok := r.changes(o, c); ok {
		r.enqueueLocked(o, c, d.CommitTS, true)
	}
}

type filed byte

const (
	filedKnown filed = iota // it is here already, or parked
	filedReady
	filedWaiting
	filedFull // no room: it will be found again in the group
)

// enqueueLocked files a notification of which an entry of that timestamp exists. A pass has found it, or it
// comes by itself.
func (r *ready) enqueueLocked(o ObserverID, c kv.Column, ts kv.Timestamp, byItself bool) filed {
	q := r.queueLocked(o)
	if it := r.mu.items[keyOf(o, c)]; it != nil {
		if it.state == stateQueued && ts < it.commitTS {
			it.commitTS = ts
			heap.Fix(&q.byAge, it.index)
		}
		// A change during a lease needs no note here: when the lease ends the group is asked what is left.
		return filedKnown
	}
	m := r.meta(o, c)
	if m.parks(ts) {
		return filedKnown
	}
	it := &item{key: keyOf(o, c), commitTS: ts}
	it.column = kv.Column{Row: kv.RowKey(it.row), Family: it.family}
	if it.qual != "" {
		it.column.Qualifier = []byte(it.qual)
	}
	if wait := m.notBefore(); wait.After(r.now()) {
		if len(q.timed) >= r.bound {
			// It takes nobody's place who can be delivered, and is looked for when it can.
			at := r.now().Add(passPause)
			if wait.After(at) {
				at = wait
			}
			if q.passAt.IsZero() || at.Before(q.passAt) {
				q.passAt = at
			}
			return filedWaiting
		}
		it.state, it.until = stateWaiting, wait
		r.mu.items[it.key] = it
		heap.Push(&q.timed, it)
		r.wakeLocked() // whoever waits has to look at the clock anew
		return filedWaiting
	}
	it.fresh = byItself && q.more
	if len(q.byAge) >= r.bound || it.fresh && q.fresh >= max(1, r.bound/4) {
		q.more, q.missed = true, true
		return filedFull
	}
	r.mu.items[it.key] = it
	q.push(it)
	r.wakeLocked()
	return filedReady
}

func (r *ready) queueLocked(o ObserverID) *queue {
	q := r.mu.queues[o]
	if q == nil {
		q = &queue{more: r.mu.arrived}
		r.mu.queues[o] = q
	}
	return q
}

func (r *ready) wakeLocked() {
	if r.mu.asked {
		close(r.mu.signal)
		r.mu.signal, r.mu.asked = make(chan struct{}), false
	}
}

// removeLocked takes an item out of its heap and out of mind.
func (r *ready) removeLocked(it *item) {
	q := r.queueLocked(it.observer)
	if it.state == stateQueued {
		heap.Remove(&q.byAge, it.index)
		q.left(it)
	} else {
		heap.Remove(&q.timed, it.index)
	}
	delete(r.mu.items, it.key)
}

// meta is what is stored about failures of a notification; the zero value if there were none.
func (r *ready) meta(o ObserverID, c kv.Column) meta {
	if r.shard.InMemory(kv.GroupNotifyMeta).Len() == 0 {
		return meta{}
	}
	b, ok, err := r.shard.Reader().Get(metaAddress(o, c), metaTimestamp)
	if err != nil || !ok {
		return meta{}
	}
	// What does not decode is treated as never failed: an attempt too many is the lesser evil.
	m, _ := decodeMeta(b)
	return m
}

// changes reads from the group what there is to do about a cell. What cannot be read is not there: the
// backstop asks for it again.
func (r *ready) changes(o ObserverID, c kv.Column) (d delivery, ok bool) {
	for at := kv.MaxTimestamp; ; {
		v, found, err := r.latest(o, c, at)
		if err != nil || !found {
			return d, ok
		}
		if !ok {
			d, ok = delivery{Observer: o, Column: c, CommitTS: v.Timestamp, Depth: depthOf(v)}, true
		}
		d.OldestTS, d.Depth = v.Timestamp, min(d.Depth, depthOf(v))
		if v.Timestamp == 0 {
			return d, ok
		}
		at = v.Timestamp - 1
	}
}

// latest is the newest notification of a cell up to a timestamp.
func (r *ready) latest(o ObserverID, c kv.Column, at kv.Timestamp) (kv.Version, bool, error) {
	return r.shard.Reader().Latest(kv.Address{Group: kv.GroupNotify, Run: o, Column: c}, at)
}

// delivery is what there is to do about an item's cell. What a pass has found is asked for once more, and not
// read again.
func (r *ready) delivery(it *item) (delivery, bool) {
	if it.newest == 0 {
		return r.changes(it.observer, it.column)
	}
	v, ok, err := r.latest(it.observer, it.column, kv.MaxTimestamp)
	switch {
	case err != nil || !ok:
		return delivery{}, false
	case v.Timestamp != it.newest:
		return r.changes(it.observer, it.column)
	}
	return delivery{Observer: it.observer, Column: it.column, CommitTS: it.newest, OldestTS: it.commitTS,
		Depth: it.depth}, true
}

// depthOf is the depth of a notification. One that does not decode has none: it has to be delivered in any
// case.
func depthOf(v kv.Version) uint32 {
	n, _ := record.DecodeNotify(v.Value)
	return n.Depth
}

// refill reads notifications of an observer from the group, if its queue has run dry and there are more. It
// reads on where the last refill ended; outside of the lock, for commits wait for that.
func (r *ready) refill(o ObserverID) {
	for range refillSteps {
		start, ok := r.refillFrom(o)
		if !ok {
			return
		}
		es, next, err := entriesOf(r.shard.InMemory(kv.GroupNotify), o, start, max(1, r.bound/2))
		if r.refilled(o, start, es, next, err) > 0 {
			return
		}
	}
}

func (r *ready) refillFrom(o ObserverID) (start kv.RowKey, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, now := r.queueLocked(o), r.now()
	if !q.passAt.IsZero() && !q.passAt.After(now) {
		q.passAt = time.Time{}
		if !q.more {
			q.more, q.cursor, q.refillAt = true, nil, time.Time{}
		}
		q.missed = true
	}
	if !q.more || q.refilling || len(q.byAge) > q.fresh || q.refillAt.After(now) {
		return nil, false
	}
	if len(q.cursor) == 0 {
		q.missed = false
	}
	q.refilling = true
	return q.cursor, true
}

// refilled files what a refill has read, and returns how much of it is ready.
func (r *ready) refilled(o ObserverID, start kv.RowKey, es []entry, next kv.RowKey, err error) (added int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queueLocked(o)
	q.refilling = false
	if err != nil {
		q.refillAt = r.now().Add(refillPause)
		return 0
	}
	for i := 0; i < len(es); {
		e := es[i] // the newest of its cell, and what follows is older
		oldest := e.ts
		for i++; i < len(es) && compareColumns(es[i].c, e.c) == 0; i++ {
			oldest, e.depth = es[i].ts, min(e.depth, es[i].depth)
		}
		f := r.enqueueLocked(o, e.c, e.ts, false)
		if f == filedFull {
			next = e.c.Row
			break
		}
		it := r.mu.items[keyOf(o, e.c)]
		if f == filedReady {
			added++
			it.newest, it.depth = e.ts, e.depth
		}
		if it != nil {
			r.enqueueLocked(o, e.c, oldest, false) // it is known, and perhaps older than that
		}
	}
	q.cursor = next
	if len(next) == 0 {
		q.more = q.missed
		if added == 0 {
			q.refillAt = r.now().Add(refillPause)
		}
	}
	return added
}

// entry is one that was read from the group.
type entry struct {
	c     kv.Column
	ts    kv.Timestamp
	depth uint32
}

// entriesOf reads about limit entries of a run from start on, whole rows only, and the row to go on with:
// empty at the end of the run.
func entriesOf(t kv.MemTable, run uint32, start kv.RowKey, limit int) (es []entry, next kv.RowKey,
	err error) {
	err = t.Ascend(run, kv.Span{Start: start}, func(a kv.Address, v kv.Version) bool {
		// Only between rows, or a row with many entries would never be left behind.
		if len(es) >= limit && !bytes.Equal(a.Row, es[len(es)-1].c.Row) {
			next = bytes.Clone(a.Row)
			return false
		}
		es = append(es, entry{cloneColumn(a.Column), v.Timestamp, depthOf(v)})
		return true
	})
	return es, next, err
}

func cloneColumn(c kv.Column) kv.Column {
	return kv.Column{Row: bytes.Clone(c.Row), Family: c.Family, Qualifier: bytes.Clone(c.Qualifier)}
}

// take leases up to n notifications of the observers to a worker, oldest first, one observer after the
// other. It returns when to look again at the latest (zero: no need) and a channel that is closed when
// something new is ready.
func (r *ready) take(worker string, observers []ObserverID, n int, lease time.Duration) (ds []delivery,
	due time.Time, signal <-chan struct{}) {
	for _, o := range observers {
		r.refill(o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for _, o := range observers {
		r.promoteLocked(o, now)
	}
	for again := true; again && len(ds) < n; {
		again = false
		for _, o := range observers {
			if len(ds) == n {
				break
			}
			if d, ok := r.popLocked(worker, o, now, lease); ok {
				ds, again = append(ds, d), true
			}
		}
	}
	for _, o := range observers {
		q := r.mu.queues[o]
		if q == nil {
			continue
		}
		if len(q.timed) > 0 && (due.IsZero() || q.timed[0].until.Before(due)) {
			due = q.timed[0].until
		}
		if q.more && len(q.byAge) <= q.fresh && !q.refilling {
			again := now
			if q.refillAt.After(now) {
				again = q.refillAt
			}
			if due.IsZero() || again.Before(due) {
				due = again
			}
		}
		if !q.passAt.IsZero() && (due.IsZero() || q.passAt.Before(due)) {
			due = q.passAt
		}
	}
	r.mu.asked = true
	return ds, due, r.mu.signal
}

// promoteLocked makes ready what has waited long enough, and takes back what was leased too long ago.
func (r *ready) promoteLocked(o ObserverID, now time.Time) {
	q := r.mu.queues[o]
	if q == nil {
		return
	}
	for len(q.timed) > 0 && !q.timed[0].until.After(now) {
		it := heap.Pop(&q.timed).(*item)
		it.state, it.holder = stateQueued, ""
		q.push(it)
	}
}

// popLocked leases the oldest notification of the observer that still exists.
func (r *ready) popLocked(worker string, o ObserverID, now time.Time, lease time.Duration) (delivery, bool) {
	q := r.mu.queues[o]
	for q != nil && len(q.byAge) > 0 && len(q.timed) < 2*r.bound {
		it := q.left(heap.Pop(&q.byAge).(*item))
		// Whoever cleared the entry (another worker's commit, a dropped observer, a tablet that moved
		// away) did not tell us.
		d, ok := r.delivery(it)
		it.newest = 0
		m := r.meta(o, it.column)
		if !ok || m.parks(d.CommitTS) {
			delete(r.mu.items, it.key)
			continue
		}
		it.state, it.holder, it.until = stateLeased, worker, now.Add(lease)
		heap.Push(&q.timed, it)
		d.Attempts = m.Attempts
		return d, true
	}
	return delivery{}, false
}

// done ends a worker's leases. What is left of the notification, apart from what the worker has
// acknowledged, is ready again.
func (r *ready) done(worker string, ds []delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range ds {
		it := r.mu.items[keyOf(d.Observer, d.Column)]
		if it == nil || it.state != stateLeased || it.holder != worker {
			continue
		}
		r.removeLocked(it)
		// An acknowledged entry may be here still: the run's commit is decided at its primary
		// and arrives here later.
		if left, ok, _ := r.latest(d.Observer, d.Column, kv.MaxTimestamp); ok && left.Timestamp > d.CommitTS {
			r.enqueueLocked(d.Observer, d.Column, left.Timestamp, true)
		}
	}
}

// claim takes a stretch of an observer's run for one step of the backstop scan. It fails where another worker
// has just been: the caller jumps elsewhere, so that scanners do not clump like buses (§2.4).
func (r *ready) claim(worker string, o ObserverID, start kv.RowKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if c, ok := r.mu.claims[o]; ok && c.worker != worker && c.until.After(now) &&
		bytes.Compare(start, c.start) >= 0 &&
		(len(c.next) == 0 || bytes.Compare(start, c.next) < 0) {
		return false
	}
	r.mu.claims[o] = claim{worker: worker, start: start, next: append(bytes.Clone(start), 0),
		until: now.Add(claimFor)}
	return true
}

// sweep is a step of the backstop scan.
func (r *ready) sweep(req *sweepRequest) (*sweepResponse, error) {
	if !r.claim(req.Worker, req.Observer, req.Start) {
		return &sweepResponse{Claimed: true}, nil
	}
	limit := min(int(req.Limit), queueBound)
	es, next, err := entriesOf(r.shard.InMemory(kv.GroupNotify), req.Observer, req.Start, limit)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	res := &sweepResponse{Seen: uint32(len(es)), Next: next}
	for _, e := range es {
		if e.ts < req.Before && r.enqueueLocked(req.Observer, e.c, e.ts, true) == filedReady {
			res.Queued++
		}
	}
	r.mu.claims[req.Observer] = claim{worker: req.Worker, start: req.Start, next: res.Next,
		until: r.now().Add(claimFor)}
	return res, nil
}

type ageHeap []*item

func (h ageHeap) Len() int           { return len(h) }
func (h ageHeap) Less(i, j int) bool { return h[i].commitTS < h[j].commitTS }
func (h ageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *ageHeap) Push(x any)        { it := x.(*item); it.index = len(*h); *h = append(*h, it) }
func (h *ageHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}

type timeHeap []*item

func (h timeHeap) Len() int           { return len(h) }
func (h timeHeap) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h timeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *timeHeap) Push(x any)        { it := x.(*item); it.index = len(*h); *h = append(*h, it) }
func (h *timeHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}
