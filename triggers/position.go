package triggers

import (
	"context"

	"moka/kv"
	"moka/txn"
)

// A backup takes along what observers have not acknowledged in its snapshot, and a restore delivers it: the
// timestamps of the store that it came from mean nothing in another, so what an observer has seen of a cell
// goes as a value.

// Position is a change that an observer had not acknowledged in a snapshot.
type Position struct {
	Observer ObserverID
	Column   kv.Column
	Seen     Seen
	Attempts int // failed runs
	Parked   bool
	Error    string // of the last failed run
}

// At is the notification as it was in t, whose snapshot is ts and not older than the oldest of its changes;
// ok is false if it had been acknowledged.
func (u *Unacknowledged) At(ctx context.Context, c *txn.Client, t *txn.Txn,
	ts kv.Timestamp) (p Position, ok bool, err error) {
	then := *u
	then.CommitTS = min(u.CommitTS, ts)
	seen, done, err := then.Seen(ctx, c, t)
	if err != nil || done {
		return p, false, err
	}
	return Position{u.Observer, u.Column, seen, u.Attempts, u.Parked, u.Error}, true, nil
}

// Deliver makes the change one that the observer has not acknowledged, with t's commit.
func (p *Position) Deliver(ctx context.Context, t *txn.Txn) error {
	start, err := t.StartTS(ctx)
	if err != nil {
		return err
	}
	t.Put(AckColumn(p.Observer, p.Column), encodeSeen(start, p.Seen), txn.WriteOptions{})
	t.NotifyWeak(p.Column, []uint32{p.Observer})
	return nil
}

// Fail gives it, after Deliver's commit at ts, the failures that it had.
func (p *Position) Fail(ctx context.Context, store kv.Store, ts kv.Timestamp) error {
	u := Unacknowledged{Failed: Failed{Observer: p.Observer, Column: p.Column, Attempts: p.Attempts,
		Parked: p.Parked, Error: p.Error}}
	return u.Fail(ctx, store, p.Column, ts)
}
