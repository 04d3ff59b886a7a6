package record

import (
	"time"

	"moka/kv"
	"moka/kv/wire"
)

// Kind is what a lock or a write record does to its column. Numbers are on disk.
type Kind uint8

const (
	KindPut     Kind = 1
	KindDelete  Kind = 2
	KindLock    Kind = 3 // LockForUpdate: conflicts like a write, changes nothing
	KindRequire Kind = 4 // shared: the column must exist
	KindNotify  Kind = 5 // weak notification: shared, conflicts with nothing
)

var kindNames = [...]string{KindPut: "put", KindDelete: "delete", KindLock: "lock", KindRequire: "require",
	KindNotify: "notify"}

func (k Kind) String() string {
	if k >= KindPut && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + utoa(uint64(k))
}

// Shared locks live beside others of the same column, in a run of their own.
func (k Kind) Shared() bool { return k == KindRequire || k == KindNotify }

// Changes says whether readers care.
func (k Kind) Changes() bool { return k == KindPut || k == KindDelete }

// Runs of the lock group. At most one exclusive lock for each column, so that a read probes once.
const (
	RunExclusive   = 0
	RunShared      = 1
	RunSharedGuard = 2 // a Require between its check and its lock; see checkRequire in package txn
	RunDeleteGuard = 3 // a Delete between its check and its lock
	RunWriteGuard  = 4 // a prewrite until its locks are there; see evalSafePoint in package txn
)

// MaxTTL is a sanity bound on what a lock may ask for.
const MaxTTL = 365 * 24 * time.Hour

// Lock is a transaction's claim to a column.
//
//	+---------+------+-------+---------+--------------+---------+---------+
//	| version | kind | flags | ttl ms  | min_commitTS | session | primary | …
//	| 1 B     | 1 B  | 1 B   | uvarint | uvarint      | bytes   | column  |
//	+---------+------+-------+---------+--------------+---------+---------+
//	  +-----------+--------+-------------+---------+-------+
//	… | observers | clears | secondaries | depth   | value |
//	  | list      | list   | list        | uvarint | rest  |
//	  +-----------+--------+-------------+---------+-------+
//	flags: bit 0 the value is here · bit 1 this is the primary (no primary column follows) ·
//	bit 2 guard of a one-phase commit · bit 3 asynchronous commit (only then, and only in the primary,
//	the columns of the secondaries follow; async.go in package txn) ·
//	bit 4 a run of an observer wrote it (only then a depth follows)
//	column: row bytes · family 1 B · qualifier bytes      bytes: length uvarint · bytes
//	list: count uvarint · elements      observer: uvarint      clear: observer uvarint · column
type Lock struct {
	Kind        Kind
	Guard       bool
	IsPrimary   bool
	Primary     kv.Column // unset if IsPrimary
	TTL         time.Duration
	MinCommitTS kv.Timestamp
	Session     string
	Observers   []uint32
	Clears      []Clear
	Depth       uint32 // of the notifications
	Async       bool
	Secondaries []kv.Column // of an async primary
	HasValue    bool
	Value       []byte
}

// Passing locks will be gone in a moment, unless something fails.
func (l *Lock) Passing() bool { return l.Guard || l.Async }

// Clear asks to delete the notifications of an observer about a column of the same row, with commit
// timestamps of at most the transaction's start_ts: what the observer's run has seen. Newer ones stay.
type Clear struct {
	Observer uint32
	Column   kv.Column
}

const (
	lockHasValue  = 1 << 0
	lockIsPrimary = 1 << 1
	lockIsGuard   = 1 << 2
	lockIsAsync   = 1 << 3
	lockHasDepth  = 1 << 4
	lockFlags     = lockHasValue | lockIsPrimary | lockIsGuard | lockIsAsync | lockHasDepth
)

// AppendTo appends the record's bytes to b.
func (l *Lock) AppendTo(b []byte) []byte {
	var flags byte
	if l.HasValue {
		flags |= lockHasValue
	}
	if l.IsPrimary {
		flags |= lockIsPrimary
	}
	if l.Guard {
		flags |= lockIsGuard
	}
	if l.Async {
		flags |= lockIsAsync
	}
	if l.Depth > 0 {
		flags |= lockHasDepth
	}
	b = append(b, recordVersion, byte(l.Kind), flags)
	b = wire.AppendUvarint(b, uint64(max(0, l.TTL.Milliseconds())))
	b = wire.AppendUvarint(b, uint64(l.MinCommitTS))
	b = wire.AppendString(b, l.Session)
	if !l.IsPrimary {
		b = wire.AppendColumn(b, l.Primary)
	}
	b = wire.AppendUvarint(b, uint64(len(l.Observers)))
	for _, o := range l.Observers {
		b = wire.AppendUvarint(b, uint64(o))
	}
	b = wire.AppendUvarint(b, uint64(len(l.Clears)))
	for _, c := range l.Clears {
		b = wire.AppendColumn(wire.AppendUvarint(b, uint64(c.Observer)), c.Column)
	}
	if l.Async && l.IsPrimary {
		b = wire.AppendUvarint(b, uint64(len(l.Secondaries)))
		for _, c := range l.Secondaries {
			b = wire.AppendColumn(b, c)
		}
	}
	if l.Depth > 0 {
		b = wire.AppendUvarint(b, uint64(l.Depth))
	}
	if l.HasValue {
		b = append(b, l.Value...)
	}
	return b
}

// DecodeLock reads a lock's record. What it returns shares nothing with b.
func DecodeLock(b []byte) (*Lock, error) {
	d, err := begin(b, "lock")
	if err != nil {
		return nil, err
	}
	l := &Lock{Kind: Kind(d.Byte())}
	if l.Kind < KindPut || l.Kind > KindNotify {
		d.Refuse("unknown lock %v", l.Kind)
	}
	flags := d.Byte()
	if flags&^lockFlags != 0 {
		d.Refuse("unknown flags of a lock: %x", flags)
	}
	l.HasValue, l.IsPrimary = flags&lockHasValue != 0, flags&lockIsPrimary != 0
	l.Guard, l.Async = flags&lockIsGuard != 0, flags&lockIsAsync != 0
	l.TTL = time.Duration(d.Bounded(uint64(MaxTTL.Milliseconds()))) * time.Millisecond
	l.MinCommitTS = d.Timestamp()
	l.Session = d.String()
	if !l.IsPrimary {
		l.Primary = d.Column()
	}
	if n := d.Count(1); n > 0 {
		l.Observers = make([]uint32, n)
		for i := range l.Observers {
			l.Observers[i] = uint32(d.Bounded(1<<32 - 1))
		}
	}
	if n := d.Count(4); n > 0 {
		l.Clears = make([]Clear, n)
		for i := range l.Clears {
			l.Clears[i] = Clear{Observer: uint32(d.Bounded(1<<32 - 1)), Column: d.Column()}
		}
	}
	if l.Async && l.IsPrimary {
		if n := d.Count(3); n > 0 {
			l.Secondaries = make([]kv.Column, n)
			for i := range l.Secondaries {
				l.Secondaries[i] = d.Column()
			}
		}
	}
	if flags&lockHasDepth != 0 {
		l.Depth = uint32(d.Bounded(1<<32 - 1))
	}
	if l.HasValue {
		l.Value = append([]byte{}, d.Rest()...)
	}
	return l, d.Finish()
}
