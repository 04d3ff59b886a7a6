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
	// waiting or leased ones beside them. Beyond it only "there are more" is remembered; the in-memory group
	// is the truth and refills the queue when it runs dry.
	queueBound = 8192
	// refillPause is how long a queue rests after a refill that found nothing to deliver: all that is left is
	// parked, or waits for its next attempt.
	refillPause = 100 * time.Millisecond
	// claimFor is how long a stretch of the backstop scan belongs to the worker that scanned it.
	claimFor = time.Second
)

// ready is a shard's view of its notifications: what may be delivered, what is being worked on, what waits
// after a failure. It is memory only and a cache: what exists is in kv.GroupNotify, how often it failed in
// kv.GroupNotifyMeta, and both are asked again before a notification is handed out. So an item that is wrong,
// late or missing costs time, never a run.
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
	state    itemState
	holder   string // worker that has the lease
	until    time.Time
	index    int // in its heap
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
	// more says that the group has notifications that are not here; cursor is where the next refill goes on.
	more     bool
	cursor   kv.RowKey
	refillAt time.Time
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

// Close ends the long polls.
func (r *ready) Close() error {
	close(r.closed)
	return nil
}

// changed is called for each notification that became durable.
func (r *ready) changed(o ObserverID, c kv.Column, ts kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enqueueLocked(o, c, ts)
}

// refile forgets what it thinks of a notification and files it anew by what is stored.
func (r *ready) refile(o ObserverID, c kv.Column) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if it := r.mu.items[keyOf(o, c)]; it != nil {
		r.removeLocked(it)
	}
	if d, ok := r.changes(o, c); ok {
		r.enqueueLocked(o, c, d.CommitTS)
	}
}

type filed byte

const (
	filedKnown filed = iota // it is here already, or parked
	filedReady
	filedWaiting
	filedFull // no room: it will be found again in the group
)

// enqueueLocked files a notification of which an entry of that timestamp exists.
func (r *ready) enqueueLocked(o ObserverID, c kv.Column, ts kv.Timestamp) filed {
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
			q.more = true
			return filedFull
		}
		it.state, it.until = stateWaiting, wait
		r.mu.items[it.key] = it
		heap.Push(&q.timed, it)
		r.wakeLocked() // whoever waits has to look at the clock anew
		return filedWaiting
	}
	if len(q.byAge) >= r.bound {
		q.more = true
		return filedFull
	}
	r.mu.items[it.key] = it
	heap.Push(&q.byAge, it)
	r.wakeLocked()
	return filedReady
}

func (r *ready) queueLocked(o ObserverID) *queue {
	q := r.mu.queues[o]
	if q == nil {
		q = &queue{}
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

// changes reads from the group what there is to do about a cell.
func (r *ready) changes(o ObserverID, c kv.Column) (d delivery, ok bool) {
	row := kv.Span{Start: c.Row, End: append(bytes.Clone(c.Row), 0)}
	r.shard.InMemory(kv.GroupNotify).Ascend(o, row, func(a kv.Address, v kv.Version) bool {
		if a.Family != c.Family || !bytes.Equal(a.Qualifier, c.Qualifier) {
			return true
		}
		if !ok {
			d, ok = delivery{Observer: o, Column: c, CommitTS: v.Timestamp, Depth: depthOf(v)}, true
		}
		d.OldestTS, d.Depth = v.Timestamp, min(d.Depth, depthOf(v))
		return true
	})
	return d, ok
}

// depthOf is the depth of a notification. One that does not decode has none: it has to be delivered in any
// case.
func depthOf(v kv.Version) uint32 {
	n, _ := record.DecodeNotify(v.Value)
	return n.Depth
}

// refillLocked reads notifications from the group into the queue, from where the last refill ended,
// as far as there is room.
func (r *ready) refillLocked(o ObserverID) {
	q := r.queueLocked(o)
	start, added := q.cursor, 0
	q.more, q.cursor = false, nil
	// Half a queue at a time: the shard's commits wait for it, a few milliseconds.
	next := ascend(r.shard.InMemory(kv.GroupNotify), o, start, max(1, r.bound/2),
		func(c kv.Column, ts kv.Timestamp) bool {
			f := r.enqueueLocked(o, c, ts)
			if f == filedReady {
				added++
			}
			return f != filedFull || len(q.byAge) < r.bound
		})
	if len(next) > 0 || len(start) > 0 {
		q.more, q.cursor = true, next
	}
	q.refillAt = time.Time{}
	if added == 0 && len(next) == 0 {
		q.refillAt = r.now().Add(refillPause)
	}
}

// ascend calls f for about limit entries of a run from start on, whole rows only, until f returns false. It
// returns the row to go on with: empty at the end of the run. f runs outside of the table's lock.
func ascend(t kv.MemTable, run uint32, start kv.RowKey, limit int,
	f func(c kv.Column, ts kv.Timestamp) bool) (next kv.RowKey) {
	type entry struct {
		c  kv.Column
		ts kv.Timestamp
	}
	var es []entry
	t.Ascend(run, kv.Span{Start: start}, func(a kv.Address, v kv.Version) bool {
		// Only between rows, or a row with many entries would never be left behind.
		if len(es) >= limit && !bytes.Equal(a.Row, es[len(es)-1].c.Row) {
			next = bytes.Clone(a.Row)
			return false
		}
		es = append(es, entry{cloneColumn(a.Column), v.Timestamp})
		return true
	})
	for _, e := range es {
		if !f(e.c, e.ts) {
			return e.c.Row
		}
	}
	return next
}

func cloneColumn(c kv.Column) kv.Column {
	return kv.Column{Row: bytes.Clone(c.Row), Family: c.Family, Qualifier: bytes.Clone(c.Qualifier)}
}

// take leases up to n notifications of the observers to a worker, oldest first, one observer after the
// other. It returns when to look again at the latest (zero: no need) and a channel that is closed when
// something new is ready.
func (r *ready) take(worker string, observers []ObserverID, n int, lease time.Duration) (ds []delivery,
	due time.Time, signal <-chan struct{}) {
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
		if q.more && (due.IsZero() || q.refillAt.Before(due)) {
			due = q.refillAt
		}
	}
	r.mu.asked = true
	return ds, due, r.mu.signal
}

// promoteLocked makes ready what has waited long enough, takes back what was leased too long ago, and
// refills.
func (r *ready) promoteLocked(o ObserverID, now time.Time) {
	q := r.mu.queues[o]
	if q == nil {
		return
	}
	for len(q.timed) > 0 && !q.timed[0].until.After(now) {
		it := heap.Pop(&q.timed).(*item)
		it.state, it.holder = stateQueued, ""
		heap.Push(&q.byAge, it)
	}
	if q.more && len(q.byAge) == 0 && !q.refillAt.After(now) {
		r.refillLocked(o)
	}
}

// popLocked leases the oldest notification of the observer that still exists.
func (r *ready) popLocked(worker string, o ObserverID, now time.Time, lease time.Duration) (delivery, bool) {
	q := r.mu.queues[o]
	for q != nil && len(q.byAge) > 0 {
		it := heap.Pop(&q.byAge).(*item)
		// Whoever cleared the entry (another worker's commit, a dropped observer, a tablet that moved
		// away) did not tell us.
		d, ok := r.changes(o, it.column)
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
		if left, ok := r.changes(d.Observer, d.Column); ok && left.CommitTS > d.CommitTS {
			r.enqueueLocked(d.Observer, d.Column, left.CommitTS)
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
func (r *ready) sweep(req *sweepRequest) *sweepResponse {
	if !r.claim(req.Worker, req.Observer, req.Start) {
		return &sweepResponse{Claimed: true}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	res := &sweepResponse{}
	limit := min(int(req.Limit), queueBound)
	res.Next = ascend(r.shard.InMemory(kv.GroupNotify), req.Observer, req.Start, limit,
		func(c kv.Column, ts kv.Timestamp) bool {
			res.Seen++
			if ts < req.Before && r.enqueueLocked(req.Observer, c, ts) == filedReady {
				res.Queued++
			}
			return true
		})
	r.mu.claims[req.Observer] = claim{worker: req.Worker, start: req.Start, next: res.Next,
		until: r.now().Add(claimFor)}
	return res
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
