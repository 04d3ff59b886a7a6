package triggers

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"moka/kv"
	"moka/txn"
	"moka/txn/record"
)

const (
	// fetchWait is how long a worker's question to a shard stays open when there is nothing to do.
	fetchWait = 5 * time.Second
	// conflictsMost bounds how often a run is begun again at once because somebody else wrote what it wrote.
	// After that it goes back to the shard and waits like a failed one, without being counted as failed.
	conflictsMost = 8
	// conflictsFor bounds how long that goes on, once row locks were taken: a body that is long, and loses
	// each time, would run without a pause. Behind it, a run waits at least as long as its tries took.
	conflictsFor = time.Second
	sweepLimit   = 512
	// sweepObservers bounds how many observers one step of the backstop scan looks for.
	sweepObservers = 16
	// retryPause and retryMost are the waits between questions to a shard that does not
	// answer, or that is busy.
	retryPause = 50 * time.Millisecond
	retryMost  = 5 * time.Second
	// partingTime bounds the last word of a worker that closes: which leases it gives back.
	partingTime = time.Second
)

// Worker finds notifications of all shards and runs the observers that are registered with it. Workers may
// run in as many processes as you like.
type Worker struct {
	client *txn.Client
	store  kv.Store
	o      Options
	token  string

	wg    sync.WaitGroup
	lanes *lanes // of runs
	mets  metrics
	onRun func(Ran) // nil for nobody

	// ignoreAcks is a bug to be planted: tests of the checker must catch it.
	ignoreAcks bool

	mu struct {
		sync.Mutex
		observers map[ObserverID]Observer
		ends      map[ObserverID]*end // of the runs of each that is registered
		shards    map[kv.ShardID]bool // that have a feed
		holds     map[key]*holding    // bounded by what is fetched; see lanes
		// current ends when the set of observers changes: questions to shards are asked anew then.
		// untold are failed runs that the log has not been told of. Bounded: of registered observers only.
		untold  map[ObserverID]*untold
		paces   map[ObserverID]time.Duration // of the last runs of each that is registered; see batch.go
		current context.Context
		change  context.CancelFunc
		cancel  context.CancelFunc // set by Start
		closed  bool
	}
}

// NewWorker makes a worker; Start makes it run. name is for people. In leases it has a word beside it that
// no other process has: whoever has the token ends the leases of its holder, and an address such as
// [::]:3306 is that of many.
func NewWorker(client *txn.Client, store kv.Store, name string, o Options) *Worker {
	w := &Worker{client: client, store: store, o: o.withDefaults(), token: name + "/" + crand.Text()}
	w.lanes = newLanes(w.o.Runners, w.askAnew)
	w.mu.observers, w.mu.ends = map[ObserverID]Observer{}, map[ObserverID]*end{}
	w.mu.holds = map[key]*holding{}
	w.mu.shards, w.mu.untold = map[kv.ShardID]bool{}, map[ObserverID]*untold{}
	w.mu.paces = map[ObserverID]time.Duration{}
	w.mu.current, w.mu.change = context.WithCancel(context.Background())
	return w
}

// Ran is what became of a run, with those before it that lost a race and were begun again at once.
type Ran struct {
	Observer  ObserverID
	Column    kv.Column
	CommitTS  kv.Timestamp // of the newest change that it was about
	Started   time.Time
	Took      time.Duration
	Attempt   int    // the first is one
	Conflicts int    // how often it was begun again
	Err       error  // nil: it has committed
	Owner     string // who may read Err
	Parked    bool   // it has failed too often
	PutOff    bool   // it is put off, and does not count as failed
}

// OnRun has f called with each run that has ended; it must be quick. Call it before Start.
func (w *Worker) OnRun(f func(Ran)) { w.onRun = f }

func (w *Worker) report(r Ran) {
	if w.onRun != nil {
		w.onRun(r)
	}
}

// Register adds an observer or replaces the one with its id.
func (w *Worker) Register(o Observer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.observers[o.ID] = o.withDefaults()
	if w.mu.ends[o.ID] == nil {
		e := &end{}
		e.Context, e.cancel = context.WithCancel(context.Background())
		w.mu.ends[o.ID] = e
	}
	w.changedLocked()
}

// end is done when an observer is no longer registered: its runs end then.
type end struct {
	context.Context
	cancel context.CancelFunc
}

// Unregister stops delivering to the observer and cancels its runs; their notifications stay where they are.
func (w *Worker) Unregister(id ObserverID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mu.observers, id)
	delete(w.mu.untold, id)
	delete(w.mu.paces, id)
	if e := w.mu.ends[id]; e != nil {
		e.cancel()
		delete(w.mu.ends, id)
	}
	w.changedLocked()
}

// askAnew has shards asked again, for observers that were left out of the questions under way, too.
func (w *Worker) askAnew() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changedLocked()
}

func (w *Worker) changedLocked() {
	w.mu.change()
	w.mu.current, w.mu.change = context.WithCancel(context.Background())
}

func (w *Worker) observers() (ids []ObserverID, current context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.mu.observers {
		ids = append(ids, id)
	}
	return ids, w.mu.current
}

func (w *Worker) observer(id ObserverID) (o Observer, end context.Context, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok = w.mu.observers[id]; ok {
		end = w.mu.ends[id]
	}
	return o, end, ok
}

// Start begins to serve; a second call does nothing, nor does one after Close.
func (w *Worker) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.cancel != nil || w.mu.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.cancel = cancel
	w.wg.Go(func() { w.supervise(ctx) })
	w.wg.Go(func() { w.sweepLoop(ctx) })
}

// Close stops fetching, cancels the runs under way and waits for them. Nothing is lost: what was not
// acknowledged is delivered again.
func (w *Worker) Close() {
	w.mu.Lock()
	cancel := w.mu.cancel
	w.mu.closed = true
	w.mu.change()
	w.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	w.wg.Wait()
}

// supervise keeps one feed going for each shard. Shards are few and rarely change; once a second is soon
// enough, since the first look happens at once.
func (w *Worker) supervise(ctx context.Context) {
	for {
		shards, err := w.store.Shards(ctx)
		if err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("listing shards failed; trying again", "err", err)
		}
		w.mu.Lock()
		for _, s := range shards {
			if !w.mu.shards[s] {
				w.mu.shards[s] = true
				w.wg.Go(func() { w.feedLoop(ctx, s) })
			}
		}
		w.mu.Unlock()
		if !pause(ctx, time.Second) {
			return
		}
	}
}

// feedLoop asks one shard for notifications, a long poll, and hands each to a runner. For an observer it asks
// for more only when all of its have found one: that is the credit by which a slow worker keeps work at the
// shard, where others can have it.
func (w *Worker) feedLoop(ctx context.Context, shard kv.ShardID) {
	wait := retryPause
	for ctx.Err() == nil {
		all, current := w.observers()
		ids, free := w.lanes.fetchable(all)
		if len(ids) == 0 {
			select {
			case <-current.Done():
			case <-ctx.Done():
			}
			continue
		}
		ds, err := w.poll(ctx, current, shard, ids, w.credits(ids, free))
		if err != nil {
			if ctx.Err() == nil && current.Err() == nil {
				w.o.Logger.Warn("fetching notifications failed; trying again", "shard", shard, "err", err)
				pause(ctx, wait)
				wait = min(2*wait, retryMost)
			}
			continue
		}
		wait = retryPause
		batches, surplus := w.batches(ds, free)
		if len(surplus) > 0 {
			w.finish(ctx, shard, surplus...)
		}
		leased := w.o.Now()
		for _, b := range batches {
			w.serve(ctx, shard, b, leased)
		}
	}
}

// serve has a batch of one observer's deliveries worked on as soon as there is a runner.
func (w *Worker) serve(ctx context.Context, shard kv.ShardID, ds []delivery, leased time.Time) {
	o, end, ok := w.observer(ds[0].Observer)
	if !ok {
		w.finish(ctx, shard, unacknowledged(ds)...)
		return
	}
	var b []delivery
	var hs []*holding
	for _, d := range ds {
		// What is held has had a lease too short for its run, and the lease has begun anew.
		if h, held := w.hold(d, leased); !held {
			b, hs = append(b, d), append(hs, h)
		}
	}
	if len(b) == 0 {
		return
	}
	place := w.lanes.enqueue(o.ID, o.Owner)
	w.wg.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(end, cancel)()
		defer func() {
			if again := w.letGo(b, hs); len(again) > 0 {
				w.finish(ctx, shard, again...)
			}
		}()
		if !w.lanes.wait(ctx, place) {
			w.finish(ctx, shard, unacknowledged(b)...)
			return
		}
		defer w.lanes.release(place)
		if w.o.Now().Sub(w.leased(hs)) >= w.o.Lease {
			return // we let it lie for too long: it is somebody else's now
		}
		done := slices.Clone(b)
		for i, ack := range w.work(ctx, b...) {
			done[i].CommitTS = ack
		}
		w.finish(ctx, shard, done...)
	})
}

// holding is a notification that was delivered here and is not finished.
type holding struct {
	leased time.Time // since when, the last time
	again  bool      // it has been delivered again meanwhile
}

// hold notes a delivery. held is true if the worker has it already: a run that is longer than a lease would
// be begun a second time, and a third, and take as many runners.
func (w *Worker) hold(d delivery, leased time.Time) (h *holding, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := keyOf(d.Observer, d.Column)
	if h = w.mu.holds[k]; h != nil {
		h.leased, h.again = leased, true
		return h, true
	}
	h = &holding{leased: leased}
	w.mu.holds[k] = h
	return h, false
}

// letGo ends holdings, and returns the deliveries that came again meanwhile: they may have done so for good
// reason, behind the run's end, and then have to be given back.
func (w *Worker) letGo(ds []delivery, hs []*holding) (again []delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, d := range ds {
		delete(w.mu.holds, keyOf(d.Observer, d.Column))
		if hs[i].again {
			again = append(again, unacknowledged(ds[i:i+1])...)
		}
	}
	return again
}

// leased is since when all of them are.
func (w *Worker) leased(hs []*holding) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := hs[0].leased
	for _, h := range hs {
		if h.leased.Before(first) {
			first = h.leased
		}
	}
	return first
}

func (w *Worker) poll(ctx, current context.Context, shard kv.ShardID, ids []ObserverID,
	credits int) ([]delivery, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(current, cancel)()
	m, err := w.store.Call(ctx, shard, nil, commandFetch, &fetchRequest{
		Worker: w.token, Observers: ids, Credits: uint32(credits),
		WaitMillis: uint32(fetchWait.Milliseconds()), LeaseMillis: uint32(w.o.Lease.Milliseconds()),
	})
	if err != nil {
		return nil, err
	}
	return m.(*fetchResponse).Deliveries, nil
}

// unacknowledged is the form in which deliveries that nothing was done about are given back.
func unacknowledged(ds []delivery) []delivery {
	back := make([]delivery, len(ds))
	for i, d := range ds {
		back[i] = delivery{Observer: d.Observer, Column: d.Column}
	}
	return back
}

// finish ends leases, so that what is left is delivered at once. If the word is lost they run out.
func (w *Worker) finish(ctx context.Context, shard kv.ShardID, ds ...delivery) {
	if ctx.Err() != nil {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), partingTime)
		defer cancel()
	}
	if _, err := w.store.Call(ctx, shard, nil, commandFetch,
		&fetchRequest{Worker: w.token, Done: ds}); err != nil {
		w.o.Logger.Debug("ending leases failed; they will run out", "shard", shard, "err", err)
	}
}

// work brings notifications of an observer to an end, all in one transaction if that goes: acknowledged, sent
// back to wait, or parked. It returns the timestamps up to which their cells are acknowledged now, zero where
// nothing became of it.
func (w *Worker) work(ctx context.Context, ds ...delivery) (acks []kv.Timestamp) {
	none := make([]kv.Timestamp, len(ds))
	o, _, ok := w.observer(ds[0].Observer)
	if !ok {
		return none
	}
	start := w.o.Now()
	var rows lost
	for tries := 0; ; tries++ {
		began := w.o.Now()
		var first lost
		if tries >= escalateAfter {
			first = rows
		}
		ends, err := w.run(ctx, o, ds, first)
		spent := w.o.Now().Sub(start)
		ran := func(d delivery) Ran {
			return Ran{Observer: o.ID, Column: d.Column, CommitTS: d.CommitTS, Started: start, Took: spent,
				Attempt: int(d.Attempts) + 1, Conflicts: tries, Err: err, Owner: ownerOf(o, err)}
		}
		switch {
		case err == nil:
			return w.committed(o, ds, ends, w.o.Now().Sub(began), ran)
		case ctx.Err() != nil:
			return none
		case errors.Is(err, kv.ErrDiskFull):
			w.putOff(ctx, o, ds, err, diskFullPause, ran)
			return none
		case transient(err):
			// Lost the race, or the reply: the acknowledgement tells which, on a new snapshot.
			w.mets.conflicts.Add(1)
			rows.add(err)
			if tries < escalateAfter || len(ds) == 1 && tries < conflictsMost && spent < conflictsFor {
				pause(ctx, time.Duration(rand.Int64N(int64(time.Millisecond)<<min(tries, 6))))
				continue
			}
			if len(ds) == 1 {
				tries++
				w.putOff(ctx, o, ds, err, max(o.Backoff, min(spent, time.Minute)), ran)
				return none
			}
		case len(ds) == 1:
			r := ran(ds[0])
			r.Parked = w.failed(ctx, o, ds[0], err, w.o.Now().Sub(began))
			w.report(r)
			return none
		default:
			w.forgetPace(o.ID)
		}
		half := len(ds) / 2
		return append(w.work(ctx, ds[:half]...), w.work(ctx, ds[half:]...)...)
	}
}

// committed counts and tells what a transaction of runs has brought.
func (w *Worker) committed(o Observer, ds []delivery, ends []ended, took time.Duration,
	ran func(delivery) Ran) (acks []kv.Timestamp) {
	acks = make([]kv.Timestamp, len(ds))
	each := took / time.Duration(len(ds))
	w.learnPace(o.ID, each)
	for i, d := range ds {
		acks[i] = ends[i].ack
		if ends[i].before {
			w.mets.collapsed.Add(1)
			continue
		}
		w.mets.committed(each, lag(d.CommitTS, w.o.Now()))
		w.report(ran(d))
	}
	return acks
}

// putOff sends notifications back to wait, uncounted.
func (w *Worker) putOff(ctx context.Context, o Observer, ds []delivery, err error, wait time.Duration,
	ran func(delivery) Ran) {
	for _, d := range ds {
		r := ran(d)
		r.PutOff = true
		w.report(r)
		w.settle(ctx, d, &settleRequest{Kind: settleFail, Attempts: d.Attempts, Error: stored(o, err),
			RetryMillis: millis(wait)})
	}
}

// diskFullPause is how long a run that the store has no room for is put off, uncounted.
const diskFullPause = 5 * time.Second

// transient reports whether an error says nothing about the observer or the row: somebody else was
// first, or the store is away for a while. Such runs are repeated without being counted, or an outage
// would park everything.
func transient(err error) bool {
	for _, e := range []error{
		txn.ErrConflict, txn.ErrDeadlock, txn.ErrLockTimeout, txn.ErrOutcomeUnknown,
		kv.ErrOutcomeUnknown, kv.ErrBusy, kv.ErrUnavailable, kv.ErrNotLeader, kv.ErrMoved, kv.ErrClosed,
		kv.ErrDisk,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// failed sends a notification back to wait, or parks it. A run that took long is not tried again sooner than
// that, whatever its owner has asked for: what fails takes at most half of the time.
func (w *Worker) failed(ctx context.Context, o Observer, d delivery, err error,
	took time.Duration) (parked bool) {
	w.mets.failures.Add(1)
	attempts := int(d.Attempts) + 1
	req := &settleRequest{Kind: settleFail, UpTo: d.CommitTS, Attempts: uint32(attempts),
		Error: stored(o, err)}
	if attempts >= o.Attempts || errors.Is(err, ErrHopeless) {
		req.Kind = settlePark
		w.mets.parked.Add(1)
	} else {
		wait := max(o.backoff(attempts), min(2*took, time.Minute))
		req.RetryMillis = millis(wait/2 + time.Duration(rand.Int64N(int64(wait))))
	}
	w.tell(o, attempts, req.Kind == settlePark, err)
	w.settle(ctx, d, req)
	return req.Kind == settlePark
}

// untold counts an observer's failed runs since the line that was logged at the time of at.
type untold struct {
	at           time.Time
	runs, parked int
}

// tellEvery is the least time between two lines about the failures of one observer. Whoever may create one
// chooses how often it fails, and would fill the disk, and hide what else the log has to say.
const tellEvery = time.Minute

// tell logs a failed run with those before that were not worth a line. The error is a text: some errors print
// themselves with a stack where they may.
func (w *Worker) tell(o Observer, attempt int, parked bool, err error) {
	w.mu.Lock()
	if _, ok := w.mu.observers[o.ID]; !ok {
		w.mu.Unlock()
		return
	}
	u, now := w.mu.untold[o.ID], w.o.Now()
	if u == nil {
		u = &untold{}
		w.mu.untold[o.ID] = u
	}
	u.runs++
	if parked {
		u.parked++
	}
	failed := *u
	due := u.at.IsZero() || now.Sub(u.at) >= tellEvery
	if due {
		*u = untold{at: now}
	}
	w.mu.Unlock()
	switch {
	case !due:
	case failed.parked > 0:
		w.o.Logger.Error("observer failed too often; notifications parked", "observer", o.Name, "attempts",
			attempt, "failed", failed.runs, "parked", failed.parked, "err", Clip(err.Error()))
	default:
		w.o.Logger.Warn("observer failed; will be retried", "observer", o.Name, "attempt", attempt,
			"failed", failed.runs, "err", Clip(err.Error()))
	}
}

// millis rounds up, so that a short wait does not become none.
func millis(d time.Duration) uint32 { return uint32((d + time.Millisecond - 1) / time.Millisecond) }

// ended is how a run has ended whose transaction has committed.
type ended struct {
	ack    kv.Timestamp // up to where the cell is acknowledged
	before bool         // by an earlier run: there was nothing to do
}

// run is a transaction with a run of an observer for each of some changes, one after the other (the paper's
// Figure 7 from the worker's side), behind the row locks of first. They are of one depth.
func (w *Worker) run(ctx context.Context, o Observer, ds []delivery, first lost) (ends []ended, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	t := w.client.Begin(txn.TxnOptions{Depth: ds[0].Depth + 1})
	t.SetAdds(true)
	defer t.Rollback() // does nothing once committed
	if err := first.lock(ctx, t); err != nil {
		return nil, err
	}
	start, err := t.StartTS(ctx)
	if err != nil {
		return nil, err
	}
	columns := make([]kv.Column, len(ds))
	for i, d := range ds {
		columns[i] = AckColumn(o.ID, d.Column)
	}
	acks, err := t.BatchGet(ctx,
		columns) // each cell has one delivery: no run here writes what another has read
	if err != nil {
		return nil, err
	}
	writes := false
	for i, d := range ds {
		e, err := w.runOne(ctx, o, t, start, d, acks[i])
		if err != nil {
			return nil, err
		}
		ends, writes = append(ends, e), writes || !e.before
	}
	if writes {
		_, err = t.Commit(ctx)
	}
	return ends, err
}

// runOne runs the observer for one change in t, whose snapshot is start, and acknowledges it there.
func (w *Worker) runOne(ctx context.Context, o Observer, t *txn.Txn, start kv.Timestamp, d delivery,
	ack txn.Value) (_ ended, err error) {
	ackColumn := AckColumn(o.ID, d.Column)
	clears := []record.Clear{{Observer: o.ID, Column: d.Column}}
	previous := d.OldestTS - 1
	var seen *Seen
	unseen := false
	if ack.OK {
		if previous, seen, err = decodeAck(ack.Data); err != nil {
			return ended{}, err
		}
		if previous >= d.CommitTS {
			// The run that acknowledged did not live to clear, or its clearing is under way.
			w.settle(ctx, d, &settleRequest{Kind: settleClear, UpTo: previous})
			if !w.ignoreAcks {
				return ended{previous, true}, nil
			}
			clears = nil // or the shard would see that there is nothing to acknowledge
		}
	} else if o.New != nil && o.New(d.Column) {
		seen = &Seen{}
	} else {
		unseen = true
	}
	if int(d.Depth) > o.Depth {
		// Only now: what is acknowledged is not beyond anything.
		return ended{}, fmt.Errorf("%w: %w: %d runs of observers, one set off by the other, have led to "+
			"this change, and max_depth of observer '%s' is %d; if there is an end to it, ALTER OBSERVER … "+
			"WITH (max_depth = n) and then RETRY FAILED goes on", ErrHopeless, ErrTooDeep, d.Depth, o.Name,
			o.Depth)
	}
	// All of the run's effects hang on this write: of two runs that saw the same acknowledgement one commits.
	t.Put(ackColumn, encodeAck(start), txn.WriteOptions{ClearNotify: clears})
	e := Event{
		Observer: o.ID, Column: d.Column, CommitTS: d.CommitTS, PreviousTS: previous,
		Attempt: int(d.Attempts), Depth: int(d.Depth), client: w.client,
		seen: seen, unseen: unseen,
	}
	mark := t.Savepoint()
	switch err := w.call(ctx, o, t, e); {
	case errors.Is(err, ErrSkip):
		t.RollbackTo(mark)
	case err != nil && ctx.Err() == context.DeadlineExceeded:
		return ended{}, fmt.Errorf("observer %s ran for more than %v and was stopped: %v", o.Name,
			o.Timeout, err)
	case err != nil:
		return ended{}, err
	}
	return ended{ack: start}, nil
}

// call runs the observer's code and turns a panic of it into a failed run: one bad body must
// not take the node down.
func (w *Worker) call(ctx context.Context, o Observer, t *txn.Txn, e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.o.Logger.Error("observer panicked", "observer", o.Name, "panic", p, "stack",
				string(debug.Stack()))
			err = fmt.Errorf("observer %s panicked: %v", o.Name, p)
		}
	}()
	return o.Run(ctx, t, e)
}

// settle tells the cell's shard how an attempt ended. If that fails the lease runs out instead.
func (w *Worker) settle(ctx context.Context, d delivery, req *settleRequest) {
	req.Observer, req.Column = d.Observer, d.Column
	if err := sendSettle(ctx, w.store, req); err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("settling a notification failed; it will be delivered again", "observer", d.Observer,
			"err", err)
	}
}

// sendSettle routes a settle command to the cell's tablet.
func sendSettle(ctx context.Context, store kv.Store, req *settleRequest) (err error) {
	const most = 16
	for range most {
		tablet, lerr := store.Locate(ctx, req.Column.Row)
		if lerr != nil {
			return lerr
		}
		_, err = store.Call(ctx, tablet.Shard, []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation}},
			commandSettle, req)
		if !errors.Is(err, kv.ErrMoved) {
			return err
		}
	}
	return err
}

func lag(ts kv.Timestamp, now time.Time) time.Duration { return max(0, now.Sub(ts.Time())) }

// pause waits, and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sweepLoop is the backstop (§2.4): from random places it looks for notifications that nobody was told of.
func (w *Worker) sweepLoop(ctx context.Context) {
	type place struct {
		shard    kv.ShardID
		observer ObserverID
	}
	next := map[place]kv.RowKey{} // bounded: shards and observers are few
	for pause(ctx, w.o.SweepEvery/2+time.Duration(rand.Int64N(int64(w.o.SweepEvery)))) {
		shards, err := w.store.Shards(ctx)
		ids, _ := w.observers()
		if err != nil || len(shards) == 0 {
			continue
		}
		shard := shards[rand.IntN(len(shards))]
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, id := range ids[:min(len(ids), sweepObservers)] {
			at := place{shard, id}
			res, err := w.sweepStep(ctx, shard, id, next[at])
			if err != nil {
				w.o.Logger.Debug("backstop scan failed", "shard", shard, "err", err)
				break
			}
			next[at] = res.Next
			if res.Claimed {
				// Somebody scans here: jump to a random place, as the paper's threads do, so that
				// scanners do not clump.
				next[at] = randomRow(ctx, w.store)
			}
			w.mets.swept.Add(uint64(res.Queued))
		}
	}
}

func (w *Worker) sweepStep(ctx context.Context, shard kv.ShardID, id ObserverID,
	start kv.RowKey) (*sweepResponse, error) {
	before := kv.TimestampAt(w.o.Now().Add(-w.o.SweepAge))
	m, err := w.store.Call(ctx, shard, nil, commandSweep,
		&sweepRequest{Worker: w.token, Observer: id, Start: start, Limit: sweepLimit, Before: before})
	if err != nil {
		return nil, err
	}
	return m.(*sweepResponse), nil
}

// randomRow is some place in the key space of transactions: the start of the tablet around a random key.
func randomRow(ctx context.Context, store kv.Store) kv.RowKey {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(rand.IntN(256))
	}
	t, err := store.Locate(ctx, kv.MakeRowKey(kv.TableTxn, append([]byte{0x10}, b...)))
	if err != nil {
		return nil
	}
	return t.Span.Start
}
