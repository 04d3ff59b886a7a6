package triggers

import (
	"bytes"
	"container/heap"
	"sync"
	"time"

	"moka/kv"
)

// queueBound is how many notifications of one observer the ready queue of a shard holds. Beyond it only "there are more" is
// remembered; the in-memory group is the truth and refills the queue when it runs dry.
const queueBound = 8192

// claimFor is how long a stretch of the backstop scan belongs to the worker that scanned it.
const claimFor = time.Second

// ready is a shard's state of notifications: what may be delivered, what is being worked on, what waits after a failure.
// It is memory only and rebuilt from the groups at open; leases are an optimisation, the acknowledgement is the guarantee.
type ready struct {
	shard kv.ShardHandle
	now   func() time.Time

	mu struct {
		sync.Mutex
		items  map[key]*item
		queues map[ObserverID]*queue
		claims map[ObserverID]claim
		more   map[ObserverID]bool // the queue overflowed
		signal chan struct{}       // closed and replaced when something became ready
	}
}

type itemState byte

const (
	stateQueued itemState = iota
	stateLeased
	stateWaiting // after a failure
	stateParked
)

type item struct {
	key
	column   kv.Column
	commitTS kv.Timestamp // of the oldest change that made it ready: the order of delivery
	newer    bool         // changed again while leased
	state    itemState
	until    time.Time // lease or wait
	attempts uint32
	index    int // in its queue's heap
}

type claim struct {
	start, next kv.RowKey
	until       time.Time
}

// queue holds the queued and waiting items of one observer: oldest change first, per R6 "oldest first, fair by observer".
type queue struct {
	byAge  ageHeap
	timed  timeHeap
	length int
}

func openReady(s kv.ShardHandle, now func() time.Time) (*ready, error) {
	r := &ready{shard: s, now: now}
	r.mu.items = map[key]*item{}
	r.mu.queues = map[ObserverID]*queue{}
	r.mu.claims = map[ObserverID]claim{}
	r.mu.more = map[ObserverID]bool{}
	r.mu.signal = make(chan struct{})
	var err error
	metas := s.InMemory(kv.GroupNotifyMeta)
	for run := range metas.Runs() {
		metas.Ascend(run, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			var m meta
			if m, err = decodeMeta(v.Value); err != nil {
				return false
			}
			r.remember(run, a.Column, m)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	notes := s.InMemory(kv.GroupNotify)
	for run := range notes.Runs() {
		r.refill(run)
	}
	notes.OnSet(func(a kv.Address, v kv.Version) { r.changed(a.Run, a.Column, v.Timestamp) })
	return r, nil
}

// changed is called for each notification that became durable.
func (r *ready) changed(o ObserverID, c kv.Column, ts kv.Timestamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enqueueLocked(o, c, ts)
}

// enqueueLocked makes a notification ready unless it is known already. It reports whether it was added.
func (r *ready) enqueueLocked(o ObserverID, c kv.Column, ts kv.Timestamp) bool {
	k := keyOf(o, c)
	if it := r.mu.items[k]; it != nil {
		if it.state == stateLeased {
			if it.until.After(r.now()) {
				it.newer = true
				return false
			}
			// The lease ran out: whoever held it is late or dead. Deliver again.
			r.pushLocked(it)
			return true
		}
		return false
	}
	q := r.queueLocked(o)
	if q.length >= queueBound {
		r.mu.more[o] = true
		return false
	}
	it := &item{key: k, column: kv.Column{Row: []byte(k.row), Family: k.family, Qualifier: qualifier(k.qual)}, commitTS: ts}
	r.mu.items[k] = it
	r.pushLocked(it)
	return true
}

func qualifier(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func (r *ready) queueLocked(o ObserverID) *queue {
	q := r.mu.queues[o]
	if q == nil {
		q = &queue{}
		r.mu.queues[o] = q
	}
	return q
}

func (r *ready) pushLocked(it *item) {
	it.state, it.newer = stateQueued, false
	q := r.queueLocked(it.observer)
	heap.Push(&q.byAge, it)
	q.length++
	close(r.mu.signal)
	r.mu.signal = make(chan struct{})
}

// refill reads the run from the in-memory group into the queue, as far as it has room.
func (r *ready) refill(o ObserverID) {
	type found struct {
		c  kv.Column
		ts kv.Timestamp
	}
	var fs []found
	r.shard.InMemory(kv.GroupNotify).Ascend(o, kv.Span{}, func(a kv.Address, v kv.Version) bool {
		fs = append(fs, found{cloneColumn(a.Column), v.Timestamp})
		return len(fs) < queueBound
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.more[o] = len(fs) == queueBound
	for _, f := range fs {
		r.enqueueLocked(o, f.c, f.ts)
	}
}

func cloneColumn(c kv.Column) kv.Column {
	return kv.Column{Row: bytes.Clone(c.Row), Family: c.Family, Qualifier: bytes.Clone(c.Qualifier)}
}

// take leases up to n notifications of the observers, oldest first, one observer after the other. It returns when the next
// waiting one becomes due (zero: none waits) and a channel that is closed when something new is ready.
func (r *ready) take(observers []ObserverID, n int, lease time.Duration) (ds []delivery, due time.Time, signal <-chan struct{}) {
	for _, o := range observers {
		r.mu.Lock()
		dry := r.mu.more[o] && r.queueLocked(o).length == 0
		r.mu.Unlock()
		if dry {
			r.refill(o)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for again := true; again && len(ds) < n; {
		again = false
		for _, o := range observers {
			if len(ds) == n {
				break
			}
			if d, ok := r.popLocked(o, now, lease); ok {
				ds, again = append(ds, d), true
			}
		}
	}
	for _, o := range observers {
		if q := r.mu.queues[o]; q != nil && len(q.timed) > 0 && (due.IsZero() || q.timed[0].until.Before(due)) {
			due = q.timed[0].until
		}
	}
	return ds, due, r.mu.signal
}

// popLocked leases the oldest notification of the observer that still exists.
func (r *ready) popLocked(o ObserverID, now time.Time, lease time.Duration) (delivery, bool) {
	q := r.mu.queues[o]
	if q == nil {
		return delivery{}, false
	}
	for len(q.timed) > 0 && !q.timed[0].until.After(now) {
		it := heap.Pop(&q.timed).(*item)
		it.state = stateQueued
		heap.Push(&q.byAge, it)
	}
	for len(q.byAge) > 0 {
		it := heap.Pop(&q.byAge).(*item)
		q.length--
		// Whoever cleared the entry (another worker's commit, a dropped observer, a tablet that moved away) did not tell us.
		newest, oldest, ok := r.changes(o, it.column)
		if !ok {
			delete(r.mu.items, it.key)
			continue
		}
		it.state, it.until, it.newer = stateLeased, now.Add(lease), false
		return delivery{Observer: o, Column: it.column, CommitTS: newest, OldestTS: oldest, Attempts: it.attempts}, true
	}
	return delivery{}, false
}

// changes reads the newest and the oldest notification of a cell from the in-memory group.
func (r *ready) changes(o ObserverID, c kv.Column) (newest, oldest kv.Timestamp, ok bool) {
	row := kv.Span{Start: c.Row, End: append(bytes.Clone(c.Row), 0)}
	r.shard.InMemory(kv.GroupNotify).Ascend(o, row, func(a kv.Address, v kv.Version) bool {
		if a.Family == c.Family && bytes.Equal(a.Qualifier, c.Qualifier) {
			if !ok {
				newest, ok = v.Timestamp, true
			}
			oldest = v.Timestamp
		}
		return true
	})
	return newest, oldest, ok
}

// done ends a worker's leases. What changed meanwhile is ready again.
func (r *ready) done(ds []delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range ds {
		it := r.mu.items[keyOf(d.Observer, d.Column)]
		if it == nil || it.state != stateLeased {
			continue
		}
		if it.newer {
			it.attempts, it.commitTS = 0, d.CommitTS
			r.pushLocked(it)
			continue
		}
		delete(r.mu.items, it.key)
	}
}

// remember files what is stored about failures of a notification.
func (r *ready) remember(o ObserverID, c kv.Column, m meta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := keyOf(o, c)
	it := r.mu.items[k]
	if it == nil {
		it = &item{key: k, column: cloneColumn(c)}
		r.mu.items[k] = it
	}
	r.unqueueLocked(it)
	it.attempts, it.newer = m.Attempts, false
	if m.Parked {
		it.state = stateParked
		return
	}
	it.state, it.until = stateWaiting, time.UnixMilli(m.NotBefore)
	q := r.queueLocked(o)
	heap.Push(&q.timed, it)
	q.length++
	close(r.mu.signal)
	r.mu.signal = make(chan struct{})
}

// unqueueLocked takes an item out of whichever heap it is in.
func (r *ready) unqueueLocked(it *item) {
	q := r.queueLocked(it.observer)
	switch it.state {
	case stateQueued:
		if it.index < len(q.byAge) && q.byAge[it.index] == it {
			heap.Remove(&q.byAge, it.index)
			q.length--
		}
	case stateWaiting:
		if it.index < len(q.timed) && q.timed[it.index] == it {
			heap.Remove(&q.timed, it.index)
			q.length--
		}
	}
}

// forget drops what is known of a notification: it was cleared, or is to be delivered anew.
func (r *ready) forget(o ObserverID, c kv.Column) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if it := r.mu.items[keyOf(o, c)]; it != nil {
		r.unqueueLocked(it)
		delete(r.mu.items, it.key)
	}
}

// claim takes a stretch of an observer's run for one step of the backstop scan. It fails where another step has just been:
// the caller jumps elsewhere, so that scanners do not clump like buses (§2.4).
func (r *ready) claim(o ObserverID, start kv.RowKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if c, ok := r.mu.claims[o]; ok && c.until.After(now) && bytes.Compare(start, c.start) >= 0 &&
		(len(c.next) == 0 || bytes.Compare(start, c.next) < 0) {
		return false
	}
	r.mu.claims[o] = claim{start: start, next: append(bytes.Clone(start), 0), until: now.Add(claimFor)}
	return true
}

// swept queues what a step of the backstop scan found and extends its claim. It reports how many were news.
func (r *ready) swept(o ObserverID, start, next kv.RowKey, cs []kv.Column, tss []kv.Timestamp) (queued int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range cs {
		if r.enqueueLocked(o, c, tss[i]) {
			queued++
		}
	}
	r.mu.claims[o] = claim{start: start, next: next, until: r.now().Add(claimFor)}
	return queued
}

type ageHeap []*item

func (h ageHeap) Len() int           { return len(h) }
func (h ageHeap) Less(i, j int) bool { return h[i].commitTS < h[j].commitTS }
func (h ageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *ageHeap) Push(x any)        { it := x.(*item); it.index = len(*h); *h = append(*h, it) }
func (h *ageHeap) Pop() any {
	old := *h
	it := old[len(old)-1]
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
	*h = old[:len(old)-1]
	return it
}
