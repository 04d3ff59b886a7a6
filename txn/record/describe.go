package record

import (
	"fmt"

	"moka/kv"
)

// Groups are the locality groups with records of transactions, as the paper's figure 4 orders its columns.
var Groups = []kv.GroupID{
	kv.GroupTxnWrite, kv.GroupTxnData, kv.GroupTxnLock, kv.GroupTxnRollback, kv.GroupNotify, kv.GroupTxnAck,
}

// Entry is one stored version in words.
type Entry struct {
	// Group says which of the paper's columns it is of: write, data, lock; or rollback, notify.
	Group string
	// Timestamp is the version's own: start_ts of locks, data and rollbacks, commit_ts of writes and
	// notifications.
	Timestamp kv.Timestamp
	// Refers is the other timestamp that it carries: a write's or a notification's start_ts, the newest
	// commit_ts of a lock-only write. Zero: none.
	Refers kv.Timestamp
	// Kind is what a lock or a write does; empty in others.
	Kind string
	// Primary is where a lock's primary is, unless the lock is that itself.
	Primary *kv.Column
	// Async: the lock is of an asynchronous commit.
	Async bool
	// Value is what it holds, if HasValue.
	Value    []byte
	HasValue bool
	// Observer is the one that is notified.
	Observer uint32
	// Marker: it stands for the newest commit_ts of lock-only writes (Refers), not for one transaction.
	Marker bool
}

// Describe says what a stored version is.
func Describe(g kv.GroupID, run uint32, v kv.Version) (e Entry, err error) {
	e.Timestamp = v.Timestamp
	switch g {
	case kv.GroupTxnLock:
		e.Group = "lock"
		l, err := DecodeLock(v.Value)
		if err != nil {
			return e, err
		}
		e.Kind, e.Async, e.Value, e.HasValue = l.Kind.String(), l.Async, l.Value, l.HasValue
		if !l.IsPrimary {
			e.Primary = &l.Primary
		}
	case kv.GroupTxnWrite, kv.GroupTxnAck:
		e.Group = "write"
		w, err := DecodeWrite(v.Value, v.Timestamp)
		if err != nil {
			return e, err
		}
		e.Kind, e.Refers, e.Value, e.HasValue = w.Kind.String(), w.StartTS, w.Value, w.HasValue
	case kv.GroupTxnData:
		e.Group = "data"
		e.Value, err = DecodeData(v.Value)
		e.HasValue = true
	case kv.GroupTxnRollback:
		e.Group, e.Marker = "rollback", v.Timestamp == RollbackMarker
		e.Refers, err = DecodeRollback(v.Value)
	case kv.GroupNotify:
		e.Group, e.Observer = "notify", run
		var n Notification
		n, err = DecodeNotify(v.Value)
		e.Refers = n.StartTS
	default:
		err = fmt.Errorf("record: group %d holds no records of transactions", g)
	}
	return e, err
}
