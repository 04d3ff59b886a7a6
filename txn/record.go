package txn

import (
	"fmt"
	"time"

	"moka/kv"
)

// The stored columns of a cell, one locality group each (Percolator figure 5: lock, write, data; figure 4 shows them move).
//
//	group        version      value
//	TxnLock      start_ts     lockRecord       in memory; run 0 exclusive, run 1 shared, runs 2 and 3 guards only
//	TxnWrite     commit_ts    writeRecord      short values inlined
//	TxnData      start_ts     dataRecord       long values only
//	TxnRollback  start_ts     rollbackRecord   "this transaction never wrote here and never will"
//	TxnRollback  max          rollbackRecord   newest commit_ts of a lock-only write (LockForUpdate)
//	Notify       commit_ts    notifyRecord     run = observer
//
// Rollbacks share no key range with commits: a commit_ts that one-phase commit computed may equal another transaction's
// start_ts, and one would overwrite the other.

// recordVersion begins every record. A record with another one was written by a newer Moka and is refused.
const recordVersion = 1

// shortValueMax is the longest value that lives in the lock and the write record instead of the data column. Most SQL rows
// are shorter; one key instead of two is one seek instead of two for each read.
const shortValueMax = 1024

// kind is what a lock or a write record does to its column. Numbers are on disk.
type kind uint8

const (
	kindPut     kind = 1
	kindDelete  kind = 2
	kindLock    kind = 3 // LockForUpdate: conflicts like a write, changes nothing
	kindRequire kind = 4 // shared: the column must exist
	kindNotify  kind = 5 // weak notification: shared, conflicts with nothing
)

var kindNames = map[kind]string{kindPut: "put", kindDelete: "delete", kindLock: "lock", kindRequire: "require", kindNotify: "notify"}

func (k kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// shared locks live beside others of the same column, in a run of their own.
func (k kind) shared() bool { return k == kindRequire || k == kindNotify }

// changes says whether readers care.
func (k kind) changes() bool { return k == kindPut || k == kindDelete }

// Runs of the lock group. At most one exclusive lock for each column, so that a read probes once.
const (
	runExclusive   = 0
	runShared      = 1
	runSharedGuard = 2 // a Require between its check and its lock; see checkRequire
	runDeleteGuard = 3 // a Delete between its check and its lock
	runWriteGuard  = 4 // a prewrite until its locks are there; see evalSafePoint
)

// rollbackMarker is the version in the rollback group that no transaction can have.
const rollbackMarker = kv.MaxTimestamp

// lockRecord is a transaction's claim to a column.
//
//	+---------+------+-------+---------+--------------+---------+-----------+-----------+---------+-------------+---------+
//	| version | kind | flags | ttl ms  | min_commitTS | session | primary   | observers | clears  | secondaries | value   |
//	| 1 B     | 1 B  | 1 B   | uvarint | uvarint      | bytes   | column    | list      | list    | list        | rest    |
//	+---------+------+-------+---------+--------------+---------+-----------+-----------+---------+-------------+---------+
//	flags: bit 0 the value is here · bit 1 this is the primary (no primary column follows) · bit 2 guard of a one-phase commit ·
//	bit 3 asynchronous commit (only then, and only in the primary, the columns of the secondaries follow; see async.go)
//	bit 4 a run of an observer wrote it (then its depth follows, before the value)
//	column: row bytes · family 1 B · qualifier bytes      bytes: length uvarint · bytes      list: count uvarint · elements
//	observer: uvarint     clear: observer uvarint · column     depth: uvarint
type lockRecord struct {
	kind        kind
	guard       bool
	isPrimary   bool
	primary     kv.Column // unset if isPrimary
	ttl         time.Duration
	minCommitTS kv.Timestamp
	session     string
	observers   []uint32
	clears      []ClearNotify
	depth       uint32 // of the notifications
	async       bool
	secondaries []kv.Column // of an async primary
	hasValue    bool
	value       []byte
}

const (
	lockHasValue  = 1 << 0
	lockIsPrimary = 1 << 1
	lockIsGuard   = 1 << 2
	lockIsAsync   = 1 << 3
	lockHasDepth  = 1 << 4
)

func (l *lockRecord) appendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(recordVersion)
	e.byte(byte(l.kind))
	var flags byte
	if l.hasValue {
		flags |= lockHasValue
	}
	if l.isPrimary {
		flags |= lockIsPrimary
	}
	if l.guard {
		flags |= lockIsGuard
	}
	if l.async {
		flags |= lockIsAsync
	}
	if l.depth > 0 {
		flags |= lockHasDepth
	}
	e.byte(flags)
	e.uvarint(uint64(max(0, l.ttl.Milliseconds())))
	e.timestamp(l.minCommitTS)
	e.string(l.session)
	if !l.isPrimary {
		e.column(l.primary)
	}
	e.observers(l.observers)
	e.clears(l.clears)
	if l.async && l.isPrimary {
		e.columns(l.secondaries)
	}
	if l.depth > 0 {
		e.uvarint(uint64(l.depth))
	}
	if l.hasValue {
		e.b = append(e.b, l.value...)
	}
	return e.b
}

func decodeLock(b []byte) (*lockRecord, error) {
	d := decoder{b: b}
	d.version("lock")
	l := &lockRecord{kind: kind(d.byte())}
	if l.kind < kindPut || l.kind > kindNotify {
		d.fail("unknown lock " + l.kind.String())
	}
	flags := d.byte()
	if flags&^(lockHasValue|lockIsPrimary|lockIsGuard|lockIsAsync|lockHasDepth) != 0 {
		d.fail("unknown lock flags")
	}
	l.hasValue, l.isPrimary, l.guard = flags&lockHasValue != 0, flags&lockIsPrimary != 0, flags&lockIsGuard != 0
	l.async = flags&lockIsAsync != 0
	ms := d.uvarint()
	if ms > uint64(maxTTL.Milliseconds()) {
		d.fail("lock ttl out of range")
	}
	l.ttl = time.Duration(ms) * time.Millisecond
	l.minCommitTS = d.timestamp()
	l.session = d.string()
	if !l.isPrimary {
		l.primary = d.column()
	}
	l.observers = d.observers()
	l.clears = d.clears()
	if l.async && l.isPrimary {
		l.secondaries = d.columns()
	}
	if flags&lockHasDepth != 0 {
		l.depth = d.uint32()
	}
	if l.hasValue {
		l.value = append([]byte{}, d.b...)
		d.b = nil
	}
	return l, d.end()
}

// maxTTL is a sanity bound on what a lock may ask for.
const maxTTL = 365 * 24 * time.Hour

func (e *encoder) observers(os []uint32) {
	e.uvarint(uint64(len(os)))
	for _, o := range os {
		e.uvarint(uint64(o))
	}
}

func (d *decoder) observers() []uint32 { return list(d, 1, d.uint32) }

func (e *encoder) clears(cs []ClearNotify) {
	e.uvarint(uint64(len(cs)))
	for _, c := range cs {
		e.uvarint(uint64(c.Observer))
		e.column(c.Column)
	}
}

func (d *decoder) clears() []ClearNotify {
	return list(d, 4, func() ClearNotify { return ClearNotify{Observer: d.uint32(), Column: d.column()} })
}

func (d *decoder) version(what string) {
	if v := d.byte(); v != recordVersion && d.err == nil {
		d.fail(fmt.Sprintf("%s record of version %d, this Moka reads version %d", what, v, recordVersion))
	}
}

// writeRecord commits a version: at commit_ts the column is what the transaction of startTS wrote.
//
//	+---------+-------+-----------------------+-------+
//	| version | flags | commit_ts - start_ts  | value |
//	| 1 B     | 1 B   | uvarint               | rest  |
//	+---------+-------+-----------------------+-------+
//	flags: bit 0 delete · bit 1 the value is here (else, unless deleted, in the data column at start_ts)
type writeRecord struct {
	kind     kind // kindPut or kindDelete
	startTS  kv.Timestamp
	hasValue bool
	value    []byte
}

const (
	writeDelete   = 1 << 0
	writeHasValue = 1 << 1
)

func (w *writeRecord) appendTo(b []byte, commitTS kv.Timestamp) []byte {
	e := encoder{b}
	e.byte(recordVersion)
	var flags byte
	if w.kind == kindDelete {
		flags |= writeDelete
	}
	if w.hasValue {
		flags |= writeHasValue
	}
	e.byte(flags)
	e.uvarint(uint64(commitTS - w.startTS))
	if w.hasValue {
		e.b = append(e.b, w.value...)
	}
	return e.b
}

// decodeWrite reads the record of a version. The value aliases b.
func decodeWrite(b []byte, commitTS kv.Timestamp) (w writeRecord, err error) {
	d := decoder{b: b}
	d.version("write")
	flags := d.byte()
	w.kind = kindPut
	if flags&writeDelete != 0 {
		w.kind = kindDelete
	}
	w.hasValue = flags&writeHasValue != 0
	if flags&^(writeDelete|writeHasValue) != 0 || w.kind == kindDelete && w.hasValue {
		d.fail("unknown write flags")
	}
	delta := d.uvarint()
	if delta > uint64(commitTS) {
		d.fail("write record starts before time")
	}
	w.startTS = commitTS - kv.Timestamp(delta)
	if w.hasValue && d.err == nil {
		w.value, d.b = d.b, nil
	}
	return w, d.end()
}

// dataRecord is a long value.
//
//	+---------+-------+
//	| version | value |
//	| 1 B     | rest  |
//	+---------+-------+
func appendData(b, value []byte) []byte { return append(append(b, recordVersion), value...) }

func decodeData(b []byte) ([]byte, error) {
	d := decoder{b: b}
	d.version("data")
	return d.b, d.err
}

// rollbackRecord says that a transaction will not commit here; at rollbackMarker it carries the newest commit_ts of a
// lock-only write instead.
//
//	+---------+-----------+
//	| version | commit_ts |     commit_ts: zero in a tombstone
//	| 1 B     | uvarint   |
//	+---------+-----------+
func appendRollback(b []byte, lockCommitTS kv.Timestamp) []byte {
	e := encoder{b}
	e.byte(recordVersion)
	e.timestamp(lockCommitTS)
	return e.b
}

func decodeRollback(b []byte) (lockCommitTS kv.Timestamp, err error) {
	d := decoder{b: b}
	d.version("rollback")
	ts := d.timestamp()
	return ts, d.end()
}

// Notification tells an observer that a column changed at the entry's commit_ts.
//
//	+---------+----------+---------+---------+
//	| version | start_ts | depth   | since   |     version 1 has no depth, 1 and 2 have no since: these are zero
//	| 1 B     | uvarint  | uvarint | uvarint |
//	+---------+----------+---------+---------+
type Notification struct {
	StartTS kv.Timestamp // of the transaction whose commit has set it
	Depth   uint32       // how many runs of observers led to the change, one set off by the other; clients: none
	Since   kv.Timestamp // the commit_ts of the oldest change that it stands for, if there are several
}

func appendNotify(b []byte, n Notification) []byte {
	fields := []uint64{uint64(n.StartTS), uint64(n.Depth), uint64(n.Since)}
	for len(fields) > 1 && fields[len(fields)-1] == 0 {
		fields = fields[:len(fields)-1]
	}
	e := encoder{append(b, byte(len(fields)))} // so many has a version
	for _, f := range fields {
		e.uvarint(f)
	}
	return e.b
}

// DecodeNotify decodes a notification.
func DecodeNotify(b []byte) (n Notification, err error) {
	d := decoder{b: b}
	var fields [notifyVersion]uint64
	version := int(d.byte())
	if d.err == nil && (version == 0 || version > notifyVersion) {
		d.fail(fmt.Sprintf("notification of version %d", version))
	}
	for i := range min(version, notifyVersion) {
		fields[i] = d.uvarint()
	}
	return Notification{kv.Timestamp(fields[0]), uint32(fields[1]), kv.Timestamp(fields[2])}, d.end()
}

const notifyVersion = 3

func lockAt(run uint32, c kv.Column) kv.Address {
	return kv.Address{Group: kv.GroupTxnLock, Run: run, Column: c}
}
func writeAt(c kv.Column) kv.Address    { return kv.Address{Group: kv.GroupTxnWrite, Column: c} }
func dataAt(c kv.Column) kv.Address     { return kv.Address{Group: kv.GroupTxnData, Column: c} }
func rollbackAt(c kv.Column) kv.Address { return kv.Address{Group: kv.GroupTxnRollback, Column: c} }
