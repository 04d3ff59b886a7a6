package record

import (
	"strconv"

	"moka/kv"
	"moka/kv/wire"
)

// recordVersion begins every record but notifications. One with another version was written by a newer
// Moka and is refused.
const recordVersion = 1

// ShortValueMax is the longest value that lives in the lock and the write record instead of the data
// column. Most SQL rows are shorter; one key instead of two is one seek instead of two for each read.
const ShortValueMax = 1024

// RollbackMarker is the version in the rollback group that no transaction can have.
const RollbackMarker = kv.MaxTimestamp

// Where the records of a column lie.

func LockAt(run uint32, c kv.Column) kv.Address {
	return kv.Address{Group: kv.GroupTxnLock, Run: run, Column: c}
}
func WriteAt(c kv.Column) kv.Address    { return kv.Address{Group: writeGroup(c), Column: c} }
func DataAt(c kv.Column) kv.Address     { return kv.Address{Group: kv.GroupTxnData, Column: c} }
func RollbackAt(c kv.Column) kv.Address { return kv.Address{Group: kv.GroupTxnRollback, Column: c} }

// begin reads a record's version.
func begin(b []byte, what string) (wire.Decoder, error) {
	if len(b) == 0 || b[0] != recordVersion {
		version := "none"
		if len(b) > 0 {
			version = utoa(uint64(b[0]))
		}
		return wire.Decoder{}, kv.Errorf(kv.CodeCorrupt, "record.Decode",
			"%s record of version %s, this Moka reads version %d", what, version, recordVersion)
	}
	return wire.NewDecoder(b, recordVersion), nil
}

func utoa(v uint64) string { return strconv.FormatUint(v, 10) }

// Write commits a version: at commit_ts the column is what the transaction of StartTS wrote.
//
//	+---------+-------+-----------------------+-------+
//	| version | flags | commit_ts - start_ts  | value |
//	| 1 B     | 1 B   | uvarint               | rest  |
//	+---------+-------+-----------------------+-------+
//	flags: bit 0 delete · bit 1 the value is here (else, unless deleted, in the data column at start_ts)
type Write struct {
	Kind     Kind // KindPut or KindDelete
	StartTS  kv.Timestamp
	HasValue bool
	Value    []byte
}

const (
	writeDelete   = 1 << 0
	writeHasValue = 1 << 1
)

// AppendTo appends the record's bytes to b.
func (w *Write) AppendTo(b []byte, commitTS kv.Timestamp) []byte {
	var flags byte
	if w.Kind == KindDelete {
		flags |= writeDelete
	}
	if w.HasValue {
		flags |= writeHasValue
	}
	b = wire.AppendUvarint(append(b, recordVersion, flags), uint64(commitTS-w.StartTS))
	if w.HasValue {
		b = append(b, w.Value...)
	}
	return b
}

// DecodeWrite reads the record of a version. The value aliases b.
func DecodeWrite(b []byte, commitTS kv.Timestamp) (w Write, err error) {
	d, err := begin(b, "write")
	if err != nil {
		return w, err
	}
	flags := d.Byte()
	w.Kind = KindPut
	if flags&writeDelete != 0 {
		w.Kind = KindDelete
	}
	w.HasValue = flags&writeHasValue != 0
	if flags&^(writeDelete|writeHasValue) != 0 || w.Kind == KindDelete && w.HasValue {
		d.Refuse("unknown flags of a write record: %x", flags)
	}
	delta := d.Uvarint()
	if delta > uint64(commitTS) {
		d.Refuse("the write record starts before time")
	}
	w.StartTS = commitTS - kv.Timestamp(delta)
	if w.HasValue {
		w.Value = d.Rest()
	}
	return w, d.Finish()
}

// AppendData appends the record of a long value.
//
//	+---------+-------+
//	| version | value |
//	| 1 B     | rest  |
//	+---------+-------+
func AppendData(b, value []byte) []byte { return append(append(b, recordVersion), value...) }

// DecodeData reads the record of a long value, which aliases b.
func DecodeData(b []byte) ([]byte, error) {
	d, err := begin(b, "data")
	if err != nil {
		return nil, err
	}
	return d.Rest(), nil
}

// AppendRollback appends the record that says that a transaction will not commit here; at
// RollbackMarker it carries the newest commit_ts of a lock-only write instead.
//
//	+---------+-----------+
//	| version | commit_ts |     commit_ts: zero in a tombstone
//	| 1 B     | uvarint   |
//	+---------+-----------+
func AppendRollback(b []byte, lockCommitTS kv.Timestamp) []byte {
	return wire.AppendUvarint(append(b, recordVersion), uint64(lockCommitTS))
}

// DecodeRollback reads the record of a rollback.
func DecodeRollback(b []byte) (lockCommitTS kv.Timestamp, err error) {
	d, err := begin(b, "rollback")
	if err != nil {
		return 0, err
	}
	ts := d.Timestamp()
	return ts, d.Finish()
}

// Collected says that in the rows from its own up to End, nothing is left that could be removed below a
// safe point. It is about rows, not about a tablet, so it stays true whatever becomes of that; a tablet
// with another end just cannot use it.
//
//	+---------+------------+---------+
//	| version | safe point | end     |
//	| 1 B     | uvarint    | rest    |
//	+---------+------------+---------+
type Collected struct {
	SafePoint kv.Timestamp
	End       kv.RowKey
}

// AppendTo appends the record's bytes to b.
func (r Collected) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, recordVersion), uint64(r.SafePoint))
	return append(b, r.End...)
}

// DecodeCollected reads what was collected. It shares nothing with b.
func DecodeCollected(b []byte) (r Collected, err error) {
	d, err := begin(b, "collected")
	if err != nil {
		return r, err
	}
	r.SafePoint = d.Timestamp()
	if r.End = append(kv.RowKey(nil), d.Rest()...); d.Err() != nil {
		return Collected{}, d.Err()
	}
	return r, nil
}

// Notification tells an observer that a column changed at the entry's commit_ts.
//
//	+---------+----------+---------+---------+
//	| version | start_ts | depth   | since   |     version 1 has no depth, 1 and 2 have no since: zero
//	| 1 B     | uvarint  | uvarint | uvarint |
//	+---------+----------+---------+---------+
type Notification struct {
	StartTS kv.Timestamp // of the transaction whose commit has set it
	Depth   uint32       // of runs of observers that led to the change; clients: none
	Since   kv.Timestamp // the commit_ts of the oldest change that it stands for, if there are several
}

const notifyVersion = 3

// AppendNotify appends a notification's bytes to b.
func AppendNotify(b []byte, n Notification) []byte {
	fields := []uint64{uint64(n.StartTS), uint64(n.Depth), uint64(n.Since)}
	for len(fields) > 1 && fields[len(fields)-1] == 0 {
		fields = fields[:len(fields)-1]
	}
	b = append(b, byte(len(fields))) // so many has a version
	for _, f := range fields {
		b = wire.AppendUvarint(b, f)
	}
	return b
}

// DecodeNotify decodes a notification.
func DecodeNotify(b []byte) (n Notification, err error) {
	if len(b) == 0 || b[0] == 0 || b[0] > notifyVersion {
		return n, kv.Errorf(kv.CodeCorrupt, "record.Decode",
			"a notification of a version that is not 1 to %d: %x", notifyVersion, b[:min(1, len(b))])
	}
	var fields [notifyVersion]uint64
	d := wire.NewDecoder(b, b[0])
	for i := range b[0] {
		fields[i] = d.Uvarint()
	}
	return Notification{kv.Timestamp(fields[0]), uint32(fields[1]), kv.Timestamp(fields[2])}, d.Finish()
}
