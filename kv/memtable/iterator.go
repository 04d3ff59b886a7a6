package memtable

import (
	"bytes"

	"moka/kv"
)

// chunk is how many entries an Iterator copies for each time it takes the lock.
const chunk = 32

// Iterator implements kv.Iterator over a table as it is when the iterator gets there: it holds no lock between moves.
type Iterator struct {
	t    *Table
	o    kv.IterOptions
	buf  []*entry // entries of the present column and behind it, in the direction of o
	pos  int
	cur  *entry // nil before the first move and at the end
	from *entry // where the next column begins, exclusive; nil before the first move
	done bool
}

// NewIterator returns an iterator before the first column.
func (t *Table) NewIterator(o kv.IterOptions) *Iterator {
	if o.Max == 0 {
		o.Max = kv.MaxTimestamp
	}
	return &Iterator{t: t, o: o}
}

var _ kv.Iterator = (*Iterator)(nil)

// NextColumn implements kv.Iterator.
func (it *Iterator) NextColumn() bool {
	if it.done {
		return false
	}
	var pivot *entry
	switch {
	case it.from == nil && !it.o.Reverse:
		pivot = it.first(it.o.Span.Start)
	case it.from == nil:
		return it.seekReverse(nil)
	case it.o.Reverse:
		return it.seekReverse(&it.from.address)
	default:
		// Behind the oldest version there can be.
		pivot = &entry{address: it.from.address}
		return it.seekForward(pivot, true)
	}
	return it.seekForward(pivot, false)
}

func (it *Iterator) first(row kv.RowKey) *entry {
	return &entry{address: kv.Address{Run: it.o.Run, Column: kv.Column{Row: row}}, timestamp: kv.MaxTimestamp}
}

// SeekColumn implements kv.Iterator.
func (it *Iterator) SeekColumn(c kv.Column) bool {
	it.done = false
	a := kv.Address{Run: it.o.Run, Column: c}
	if !it.o.Reverse {
		if bytes.Compare(c.Row, it.o.Span.Start) < 0 {
			return it.seekForward(it.first(it.o.Span.Start), false)
		}
		return it.seekForward(&entry{address: a, timestamp: kv.MaxTimestamp}, false)
	}
	if len(it.o.Span.End) > 0 && bytes.Compare(c.Row, it.o.Span.End) >= 0 {
		return it.seekReverse(nil)
	}
	// A column at c itself is wanted too: go back from the smallest column behind it.
	a.Qualifier = append(append(make([]byte, 0, len(c.Qualifier)+1), c.Qualifier...), 0)
	return it.seekReverse(&a)
}

// seekForward finds the first column at pivot or behind it (only behind, if exclusive) that has an admitted version.
func (it *Iterator) seekForward(pivot *entry, exclusive bool) bool {
	it.t.mu.RLock()
	defer it.t.mu.RUnlock()
	it.buf, it.pos, it.cur = it.buf[:0], 0, nil
	it.t.byKey.Ascend(pivot, func(e *entry) bool {
		if e.address.Run != it.o.Run || len(it.o.Span.End) > 0 && bytes.Compare(e.address.Row, it.o.Span.End) >= 0 {
			return false
		}
		if exclusive && compareColumns(&e.address, &pivot.address) == 0 || e.timestamp > it.o.Max || e.timestamp < it.o.Min {
			return true
		}
		return it.collect(e)
	})
	return it.settle()
}

// collect gathers the versions of the first column met.
func (it *Iterator) collect(e *entry) bool {
	if len(it.buf) > 0 && compareColumns(&e.address, &it.buf[0].address) != 0 {
		return false
	}
	it.buf = append(it.buf, e)
	return len(it.buf) < chunk
}

func (it *Iterator) settle() bool {
	if len(it.buf) == 0 {
		it.done = true
		return false
	}
	it.cur, it.from = it.buf[0], it.buf[0]
	return true
}

// seekReverse finds the last column before a (nil: of the span) that has an admitted version.
func (it *Iterator) seekReverse(before *kv.Address) bool {
	it.t.mu.RLock()
	defer it.t.mu.RUnlock()
	it.buf, it.pos, it.cur = it.buf[:0], 0, nil
	end := before
	switch {
	case end != nil:
	case len(it.o.Span.End) > 0:
		end = &kv.Address{Run: it.o.Run, Column: kv.Column{Row: it.o.Span.End}}
	case it.o.Run < 1<<32-1:
		end = &kv.Address{Run: it.o.Run + 1}
	}
	var found *entry
	visit := func(e *entry) bool {
		if end != nil && compareColumns(&e.address, end) >= 0 {
			return true
		}
		if e.address.Run < it.o.Run || bytes.Compare(e.address.Row, it.o.Span.Start) < 0 {
			return false
		}
		if e.timestamp <= it.o.Max {
			found = e
		}
		return found == nil
	}
	if end == nil {
		it.t.byKey.Reverse(visit)
	} else {
		it.t.byKey.Descend(&entry{address: *end, timestamp: kv.MaxTimestamp}, visit)
	}
	if found != nil {
		// found is the column's oldest admitted version; its versions are wanted newest first.
		it.t.byKey.Ascend(&entry{address: found.address, timestamp: it.o.Max}, it.collect)
	}
	return it.settle()
}

// NextVersion implements kv.Iterator.
func (it *Iterator) NextVersion() bool {
	if it.cur == nil {
		return false
	}
	if it.pos+1 < len(it.buf) {
		it.pos++
		it.cur = it.buf[it.pos]
		return true
	}
	if len(it.buf) < chunk || it.cur.timestamp == 0 {
		return false
	}
	last := it.cur
	it.t.mu.RLock()
	defer it.t.mu.RUnlock()
	it.buf, it.pos = it.buf[:0], 0
	it.t.byKey.Ascend(&entry{address: last.address, timestamp: last.timestamp - 1}, func(e *entry) bool {
		if compareColumns(&e.address, &last.address) != 0 || e.timestamp < it.o.Min {
			return false
		}
		return it.collect(e)
	})
	if len(it.buf) == 0 {
		return false
	}
	it.cur = it.buf[0]
	return true
}

// Column implements kv.Iterator.
func (it *Iterator) Column() kv.Column { return it.cur.address.Column }

// Version implements kv.Iterator.
func (it *Iterator) Version() kv.Version {
	return kv.Version{Timestamp: it.cur.timestamp, Value: it.cur.value}
}

// Err implements kv.Iterator.
func (it *Iterator) Err() error { return nil }

// Close implements kv.Iterator.
func (it *Iterator) Close() error { return nil }
