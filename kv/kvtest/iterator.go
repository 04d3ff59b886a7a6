package kvtest

import (
	"bytes"

	"github.com/tidwall/btree"

	"moka/kv"
)

// iterator walks a frozen copy by seeking for each move: slow, and plainly right.
type iterator struct {
	tree *btree.BTreeG[*entry]
	o    kv.IterOptions
	cur  *entry
	done bool
}

func newIterator(tree *btree.BTreeG[*entry], o kv.IterOptions) *iterator {
	if o.Max == 0 {
		o.Max = maxTS
	}
	return &iterator{tree: tree, o: o}
}

func (it *iterator) NextColumn() bool {
	switch {
	case it.done:
		return false
	case it.cur == nil && it.o.Reverse:
		return it.descend(nil)
	case it.cur == nil:
		return it.ascend(kv.Column{Row: it.o.Span.Start})
	case it.o.Reverse:
		return it.descend(&entry{run: it.o.Run, col: it.cur.col, ts: maxTS})
	}
	return it.ascend(successor(it.cur.col))
}

func (it *iterator) SeekColumn(c kv.Column) bool {
	it.done = false
	if it.o.Reverse {
		return it.descend(&entry{run: it.o.Run, col: successor(c), ts: maxTS})
	}
	if bytes.Compare(c.Row, it.o.Span.Start) < 0 {
		c = kv.Column{Row: it.o.Span.Start}
	}
	return it.ascend(c)
}

// successor is the smallest column after c.
func successor(c kv.Column) kv.Column {
	return kv.Column{Row: c.Row, Family: c.Family, Qualifier: append(bytes.Clone(c.Qualifier), 0)}
}

// ascend moves to the newest admitted version of the first column at or after c that has one.
func (it *iterator) ascend(c kv.Column) bool {
	for {
		e := it.first(&entry{run: it.o.Run, col: c, ts: maxTS})
		if e == nil || e.run != it.o.Run || len(it.o.Span.End) > 0 && bytes.Compare(e.col.Row, it.o.Span.End) >= 0 {
			return it.stop()
		}
		if it.admit(e.col) {
			return true
		}
		c = successor(e.col)
	}
}

// descend moves to the newest admitted version of the last column before the pivot (nil: before the span's end).
func (it *iterator) descend(pivot *entry) bool {
	limit := &entry{run: it.o.Run + 1}
	if len(it.o.Span.End) > 0 {
		limit = &entry{run: it.o.Run, col: kv.Column{Row: it.o.Span.End}, ts: maxTS}
	}
	if pivot == nil || lessEntry(limit, pivot) {
		pivot = limit
	}
	for {
		var e *entry
		it.tree.Descend(pivot, func(x *entry) bool {
			if lessEntry(x, pivot) {
				e = x
				return false
			}
			return true
		})
		if e == nil || e.run != it.o.Run || bytes.Compare(e.col.Row, it.o.Span.Start) < 0 {
			return it.stop()
		}
		if it.admit(e.col) {
			return true
		}
		pivot = &entry{run: it.o.Run, col: e.col, ts: maxTS}
	}
}

// admit positions on the newest version of the column that is not above Max.
func (it *iterator) admit(c kv.Column) bool {
	e := it.first(&entry{run: it.o.Run, col: c, ts: it.o.Max})
	if e == nil || e.run != it.o.Run || compareColumns(e.col, c) != 0 || e.ts < it.o.Min {
		return false
	}
	it.cur = e
	return true
}

func (it *iterator) first(pivot *entry) (e *entry) {
	it.tree.Ascend(pivot, func(x *entry) bool { e = x; return false })
	return e
}

func (it *iterator) stop() bool { it.cur, it.done = nil, true; return false }

func (it *iterator) NextVersion() bool {
	if it.cur == nil || it.cur.ts == 0 {
		return false
	}
	e := it.first(&entry{run: it.o.Run, col: it.cur.col, ts: it.cur.ts - 1})
	if e == nil || e.run != it.o.Run || compareColumns(e.col, it.cur.col) != 0 || e.ts < it.o.Min {
		return false
	}
	it.cur = e
	return true
}

func (it *iterator) Column() kv.Column { return it.cur.col }
func (it *iterator) Version() kv.Version {
	return kv.Version{Timestamp: it.cur.ts, Value: it.cur.value}
}
func (it *iterator) Err() error   { return nil }
func (it *iterator) Close() error { return nil }
