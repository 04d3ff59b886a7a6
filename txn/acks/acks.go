// Package acks reads acknowledgements of observers where they lie.
//
// They are columns like others, whose versions lie in a locality group of their own (record.WriteAt). Scans
// meet neither them nor their locks unless they ask (txn.ScanOptions.Acks).
//
// Directories of before format 3 have them among the rows, where they stay readable; collections move them.
// Not at opening: that would be a pass over all rows before the first answer, and a replica has more to come
// from logs and others. In the old place nearly always a filter answers, in under a microsecond.
package acks

import (
	"moka/kv"
	"moka/txn/record"
)

// Latest returns a column's newest version at or below max.
func Latest(r kv.Reader, c kv.Column, max kv.Timestamp) (v kv.Version, ok bool, err error) {
	if !record.IsAck(c) {
		return r.Latest(record.WriteAt(c), max)
	}
	// In this order, or one that is moved in between would be in neither.
	old, was, err := r.Latest(record.RowsAckAt(c), max)
	if err != nil {
		return v, false, err
	}
	if v, ok, err = r.Latest(record.WriteAt(c), max); was && (!ok || old.Timestamp > v.Timestamp) {
		return old, true, err
	}
	return v, ok, err
}

// Old is what Latest does first, for those of some columns that are acknowledgements.
func Old(r kv.Reader, columns []kv.Address, max kv.Timestamp) (found map[int]kv.Version, err error) {
	at, which := []kv.Address(nil), []int(nil)
	for i, a := range columns {
		if record.IsAck(a.Column) {
			at, which = append(at, record.RowsAckAt(a.Column)), append(which, i)
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	versions := make([]kv.Version, len(at))
	if err := r.LatestOf(at, max, versions); err != nil {
		return nil, err
	}
	found = map[int]kv.Version{}
	for i, v := range versions {
		found[which[i]] = v
	}
	return found, nil
}

// Beside goes through rows and the acknowledgements that lie in their group, in the order of their columns.
type Beside struct {
	rows, acks kv.Iterator
	before     func(a, b kv.Column) bool

	atRow, atAck   bool // they are on a column
	goRows, goAcks bool // which has been returned
}

// NewBeside is for an iterator over rows with options, which was made first: see Latest. before is the scan's
// order.
func NewBeside(e kv.Eval, rows kv.Iterator, o kv.IterOptions,
	before func(a, b kv.Column) bool) (*Beside, error) {
	o.Group = kv.GroupTxnAck
	acks, err := e.Iter(o)
	return &Beside{rows: rows, acks: acks, before: before}, err
}

// Next moves to the next column, the first of which start finds in each group, and returns the iterator that
// is there; false is the end, or an error.
func (b *Beside) Next(first bool, start func(kv.Iterator) bool) (kv.Iterator, bool) {
	if first {
		b.atRow, b.atAck = start(b.rows), start(b.acks)
	} else {
		b.atRow = b.atRow && (!b.goRows || b.rows.NextColumn())
		b.atAck = b.atAck && (!b.goAcks || b.acks.NextColumn())
	}
	return b.present()
}

func (b *Beside) present() (kv.Iterator, bool) {
	switch {
	case !b.atRow && !b.atAck, b.Err() != nil:
		return b.rows, false
	case !b.atAck:
		b.goRows, b.goAcks = true, false
	case !b.atRow:
		b.goRows, b.goAcks = false, true
	default:
		r, a := b.rows.Column(), b.acks.Column()
		b.goRows, b.goAcks = !b.before(a, r), !b.before(r, a)
	}
	if b.goAcks && (!b.goRows || b.acks.Version().Timestamp > b.rows.Version().Timestamp) {
		return b.acks, true
	}
	return b.rows, true
}

// Err is what has ended one of the two early.
func (b *Beside) Err() error {
	if err := b.rows.Err(); err != nil {
		return err
	}
	return b.acks.Err()
}

// Close ends what it has begun itself: the rows are the caller's.
func (b *Beside) Close() { b.acks.Close() }
