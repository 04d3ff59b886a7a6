package triggers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"moka/kv"
	"moka/txn"
	"moka/txn/record"
)

// ObserverID names an observer for ever: it is part of keys on disk and never reused.
type ObserverID = uint32

// AckFamily is the column family of acknowledgements. It shares the row with the observed cell, so that both
// are always in one tablet; readers of rows skip it.
const AckFamily = record.AckFamily

// Observer is code that runs after a change.
type Observer struct {
	ID   ObserverID
	Name string
	// Owner is whose it is: runners are shared fairly between owners, and between the observers of each.
	Owner string
	// Run does the observer's work in t. Its reads see t's snapshot, its writes commit together with the
	// acknowledgement, or not at all. It must not commit or roll back t. It may be called again for the same
	// change until one run commits.
	Run func(ctx context.Context, t *txn.Txn, e Event) error
	// Attempts is how many runs may fail before the notification is parked; default 16.
	Attempts int
	// Backoff is the wait after the first failed run; it doubles with each further one up to a
	// minute. Default 50 ms.
	Backoff time.Duration
	// Timeout bounds a run; one that takes longer is cancelled and has failed. Default 1 minute.
	Timeout time.Duration
	// Depth bounds how many runs, one set off by the other, may lead to a change for which this observer
	// still runs. What is beyond it is parked. Default DefaultDepth.
	Depth int
	// New reports whether a cell that the observer has not acknowledged is new to it, whatever it was before;
	// see NotifyUnseen. nil: it has seen what was there before the first notification.
	New func(kv.Column) bool
}

// DefaultDepth is for an observer that says nothing: more steps than a derivation has that ends by itself,
// and few enough for one that does not.
const DefaultDepth = 64

func (o Observer) withDefaults() Observer {
	if o.Attempts <= 0 {
		o.Attempts = 16
	}
	if o.Backoff <= 0 {
		o.Backoff = 50 * time.Millisecond
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.Depth <= 0 {
		o.Depth = DefaultDepth
	}
	return o
}

// backoff is the wait before the run after the given number of failures.
func (o Observer) backoff(failures int) time.Duration {
	const most = time.Minute
	d := o.Backoff
	for i := 1; i < failures && d < most; i++ {
		d *= 2
	}
	return min(d, most)
}

// Event is what a run is about.
type Event struct {
	Observer ObserverID
	// Column is the observed cell; its row is the changed row.
	Column kv.Column
	// CommitTS is the newest change that was known when the run began. The run's snapshot is at least that
	// new.
	CommitTS kv.Timestamp
	// PreviousTS is the snapshot to which the run compares: that of the last run that was acknowledged, or,
	// if the observer has never acknowledged the cell, just before the first change that it was notified of.
	// The cell as it was then is OLD, as it is in the run's snapshot is NEW.
	PreviousTS kv.Timestamp
	// Depth counts the runs that led to the change, one set off by the other: zero if a client made it.
	Depth int
	// Attempt counts failed runs for this notification so far.
	Attempt int
	client  *txn.Client
	seen    *Seen // the cell has been moved since
	unseen  bool  // the observer has never acknowledged it
}

// Behind is the event for an observer that was not notified of changes since base, for a while, and is being
// told of them: if it has not acknowledged the cell, it has seen it as it was then. Zero: it has missed
// nothing.
func (e Event) Behind(base kv.Timestamp) Event {
	if e.unseen && base != 0 {
		e.PreviousTS = min(e.PreviousTS, base)
	}
	return e
}

// Moved reports whether the cell was there as it was acknowledged last, and has been moved since: PreviousTS
// says nothing of when it was so.
func (e Event) Moved() bool { return e.seen != nil && e.seen.OK }

// Previous reads the observed cell as this observer last acknowledged it. ok is false if it did not exist
// then. ErrForgotten means that garbage collection has removed it since: it keeps what waiting notifications
// need, but not for ever.
func (e Event) Previous(ctx context.Context) (value []byte, ok bool, err error) {
	if e.seen != nil {
		if e.seen.Forgotten {
			return nil, false, ErrForgotten
		}
		return e.seen.Value, e.seen.OK, nil
	}
	// The acknowledgement may be older than the retention, however long ago; the cell has
	// rarely changed between.
	t := e.client.Begin(txn.TxnOptions{StartTS: e.PreviousTS, ReadOnly: true, Unchanged: true})
	defer t.Rollback()
	value, ok, err = t.Get(ctx, e.Column)
	if errors.Is(err, txn.ErrSnapshotTooOld) {
		return nil, false, ErrForgotten
	}
	return value, ok, err
}

// ErrForgotten is the answer to what a cell was at an acknowledgement that garbage collection has passed.
var ErrForgotten = errors.New(
	"triggers: the cell as it was last acknowledged has been removed by garbage collection")

// Options of a Worker. The zero value means the defaults.
type Options struct {
	// Runners bounds how many observers run at a time in this process; default 16.
	Runners int
	// SweepEvery is the pause between two steps of the backstop scan; default 250 ms.
	SweepEvery time.Duration
	// SweepAge is how old a notification must be before the backstop takes it up; younger ones are the push's
	// business. Default 1 s.
	SweepAge time.Duration
	// Lease is for how long a delivered notification is withheld from other workers; default 10 s. It saves
	// double work; the acknowledgement is the guarantee.
	Lease  time.Duration
	Logger *slog.Logger
	// Now is the clock of leases and waits; default time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Runners <= 0 {
		o.Runners = 16
	}
	if o.SweepEvery <= 0 {
		o.SweepEvery = 250 * time.Millisecond
	}
	if o.SweepAge <= 0 {
		o.SweepAge = time.Second
	}
	if o.Lease <= 0 {
		o.Lease = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// ErrSkip, returned by Run, means that there is nothing to do for this change: it is
// acknowledged, and nothing else.
var ErrSkip = errors.New("triggers: nothing to do")

// ErrHopeless, wrapped in an error of Run, means that another try would fail as well: it is parked at once.
var ErrHopeless = errors.New("another try would fail as well")

// ErrTooDeep is the error of a change that observers, one after the other, have led to without an end in
// sight.
var ErrTooDeep = errors.New("a cascade of observers was ended")

// AckColumn is where an observer acknowledges changes of a cell.
func AckColumn(o ObserverID, c kv.Column) kv.Column { return record.AckColumn(o, c) }
