package triggers

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"moka/kv"
	"moka/txn"
	"moka/txn/record"
)

// Cells may get another row key: a table of SQL is written anew. What an observer has not acknowledged of the
// old cell is carried over to the new one, so that it is delivered there, once, and compared with what the
// observer has seen last, in the form of today.

// Unacknowledged is a notification that has not been acknowledged yet.
type Unacknowledged struct {
	Failed
	OldestTS kv.Timestamp // of the changes that are not acknowledged
	New      bool         // as Observer.New says: the caller's to set
}

// ListUnacknowledged lists the first of an observer's notifications in the order of their rows, parked
// or not, of each shard.
func ListUnacknowledged(ctx context.Context, store kv.Store, o ObserverID, limit int) (out []Unacknowledged,
	err error) {
	for _, list := range []listKind{listWaiting, listParked} {
		err := eachShard(ctx, store, &backlogRequest{Observer: o, Limit: uint32(limit), List: list},
			func(r *backlogResponse) {
				for _, i := range r.Items {
					out = append(out, Unacknowledged{
						Failed{i.Observer, i.Column, i.CommitTS, int(i.Attempts), i.Error, i.Parked},
						i.OldestTS, false})
				}
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Seen is a cell as an observer has acknowledged it last.
type Seen struct {
	Value     []byte
	OK        bool // it existed
	Forgotten bool // nobody knows any more: see ErrForgotten
}

// Seen reads, in t, what the observer has seen of the cell; done says that it has seen all of it, and only
// the notification is left.
func (u *Unacknowledged) Seen(ctx context.Context, c *txn.Client, t *txn.Txn) (s Seen, done bool, err error) {
	e := Event{PreviousTS: u.OldestTS - 1, Column: u.Column, client: c}
	b, ok, err := t.Get(ctx, AckColumn(u.Observer, u.Column))
	if err != nil {
		return s, false, err
	}
	if ok {
		if e.PreviousTS, e.seen, err = decodeAck(b); err != nil {
			return s, false, err
		}
		if e.PreviousTS >= u.CommitTS {
			return s, true, nil
		}
	} else if u.New {
		return s, false, nil
	}
	s.Value, s.OK, err = e.Previous(ctx)
	if s.Forgotten = errors.Is(err, ErrForgotten); s.Forgotten {
		err = nil
	}
	return s, false, err
}

// Acknowledged reads what an acknowledgement, as it is stored, says that its observer has seen of the cell,
// and up to when.
func Acknowledged(ctx context.Context, client *txn.Client, ack []byte, c kv.Column) (kv.Timestamp, Seen,
	error) {
	e := Event{Column: c, client: client}
	var s Seen
	var err error
	if e.PreviousTS, e.seen, err = decodeAck(ack); err != nil {
		return 0, s, err
	}
	s.Value, s.OK, err = e.Previous(ctx)
	if s.Forgotten = errors.Is(err, ErrForgotten); s.Forgotten {
		err = nil
	}
	return e.PreviousTS, s, err
}

// Move carries the notification over to another cell with t's commit.
func (u *Unacknowledged) Move(ctx context.Context, t *txn.Txn, to kv.Column, s Seen) error {
	start, err := t.StartTS(ctx)
	if err != nil {
		return err
	}
	// A run for the old cell that is under way writes this as well: one of the two commits.
	u.clear(t, start)
	t.Put(AckColumn(u.Observer, to), encodeSeen(start, s), txn.WriteOptions{})
	t.NotifyWeak(to, []uint32{u.Observer})
	return nil
}

// NotifyUnseen notifies, with t's commit, an observer of a cell that it has not acknowledged, as t has seen.
// To its run the cell is new. A run that acknowledges it meanwhile, and t, conflict.
func NotifyUnseen(ctx context.Context, t *txn.Txn, o ObserverID, c kv.Column) error {
	start, err := t.StartTS(ctx)
	if err != nil {
		return err
	}
	t.Put(AckColumn(o, c), encodeSeen(start, Seen{}), txn.WriteOptions{})
	t.NotifyWeak(c, []uint32{o})
	return nil
}

// Clear removes the notification with t's commit.
func (u *Unacknowledged) Clear(ctx context.Context, t *txn.Txn) error {
	start, err := t.StartTS(ctx)
	if err == nil {
		u.clear(t, start)
	}
	return err
}

func (u *Unacknowledged) clear(t *txn.Txn, start kv.Timestamp) {
	t.Put(AckColumn(u.Observer, u.Column), encodeAck(start),
		txn.WriteOptions{ClearNotify: []record.Clear{{Observer: u.Observer, Column: u.Column}}})
}

// Fail gives the notification that was moved, at ts, the failures that it had before. Should that be lost,
// it is tried once more.
func (u *Unacknowledged) Fail(ctx context.Context, store kv.Store, to kv.Column, ts kv.Timestamp) error {
	if u.Error == "" {
		return nil
	}
	req := &settleRequest{Kind: settleFail, Observer: u.Observer, Column: to, UpTo: ts,
		Attempts: uint32(u.Attempts), Error: u.Error}
	if u.Parked {
		req.Kind = settlePark
	}
	return sendSettle(ctx, store, req)
}

// The acknowledgement's value, as AckColumn has it:
//
//	| version 1 | start_ts u64 BE |
//
// and of a cell that has been moved since, with the cell as the observer has seen it:
//
//	| version 2 | start_ts u64 BE | 0 it did not exist, 1 it did, 2 forgotten | the value if 1 |
const (
	ackVersion  = 1
	seenVersion = 2
)

func encodeAck(ts kv.Timestamp) []byte {
	return binary.BigEndian.AppendUint64([]byte{ackVersion}, uint64(ts))
}

func encodeSeen(ts kv.Timestamp, s Seen) []byte {
	b := binary.BigEndian.AppendUint64([]byte{seenVersion}, uint64(ts))
	switch {
	case s.Forgotten:
		return append(b, 2)
	case s.OK:
		return append(append(b, 1), s.Value...)
	}
	return append(b, 0)
}

// DecodeAck reads up to where an acknowledgement says that its observer has seen the cell.
func DecodeAck(b []byte) (kv.Timestamp, error) {
	ts, _, err := decodeAck(b)
	return ts, err
}

func decodeAck(b []byte) (kv.Timestamp, *Seen, error) {
	bad := func() (kv.Timestamp, *Seen, error) {
		return 0, nil, kv.Errorf(kv.CodeCorrupt, "triggers.ack",
			"acknowledgement of %d bytes does not decode", len(b))
	}
	if len(b) < 9 {
		return bad()
	}
	ts := kv.Timestamp(binary.BigEndian.Uint64(b[1:]))
	switch {
	case b[0] == ackVersion && len(b) == 9:
		return ts, nil, nil
	case b[0] != seenVersion || len(b) < 10 || b[9] > 2 || b[9] != 1 && len(b) != 10:
		return bad()
	}
	s := &Seen{OK: b[9] == 1, Forgotten: b[9] == 2}
	if s.OK {
		s.Value = slices.Clone(b[10:])
	}
	return ts, s, nil
}
