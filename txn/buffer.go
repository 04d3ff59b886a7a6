package txn

import (
	"bytes"
	"slices"

	"github.com/tidwall/btree"

	"moka/kv"
	"moka/txn/record"
)

// entryOverhead is charged for each buffered write on top of its bytes.
const entryOverhead = 128

// pending is a buffered write. Entries are immutable once in the tree, so that a copy of the tree is a snapshot.
type pending struct {
	mutation
	// violated is a constraint that the transaction's own writes break; the commit fails with it.
	violated Code
}

func (p *pending) size() int64 {
	n := entryOverhead + len(p.column.Row) + len(p.column.Qualifier) + len(p.value) + 4*len(p.observers)
	for _, c := range p.clears {
		n += 32 + len(c.Column.Row) + len(c.Column.Qualifier)
	}
	return int64(n)
}

// buffer holds a transaction's writes in column order. Copies are O(1) and share what neither side has changed since: a
// savepoint is a copy, and so is what a scan merges with, which keeps a statement from meeting its own writes.
//
// The zero buffer is empty: most transactions only read, and should not pay for a tree.
type buffer struct {
	tree  *btree.BTreeG[*pending]
	bytes int64
	adds  bool // see Txn.SetAdds
	along int  // see goesAlong
	frees bool // there is a delete of Txn.SetFrees
}

// growth is what all of it does to a disk that is full.
func (b *buffer) growth() kv.Growth {
	switch {
	case b.adds || b.along > 0:
		return kv.Adds
	case b.frees:
		return kv.Deletes
	}
	return kv.Ends
}

// deleteCarries is how many bytes may be written along with each delete: an entry of a log of deletes, say.
const deleteCarries = 1 << 10

// goesAlong counts what is written along with deletes against them. See Txn.SetFrees.
func (b *buffer) goesAlong(m *mutation) {
	switch m.kind {
	case record.KindDelete:
		b.along -= deleteCarries
		b.frees = true
	case record.KindPut:
		b.along += len(m.column.Row) + len(m.value)
	}
}

func newTree() *btree.BTreeG[*pending] {
	return btree.NewBTreeGOptions(func(a, b *pending) bool {
		return compareColumns(a.column, b.column) < 0
	}, btree.Options{NoLocks: true})
}

func (b *buffer) copy() buffer {
	if b.tree == nil {
		return buffer{}
	}
	return buffer{tree: b.tree.Copy(), bytes: b.bytes, adds: b.adds, along: b.along, frees: b.frees}
}

// iter walks a copy.
func (b *buffer) iter() btree.IterG[*pending] {
	if b.tree == nil {
		return newTree().Iter()
	}
	return b.tree.Copy().Iter()
}

func (b *buffer) len() int {
	if b.tree == nil {
		return 0
	}
	return b.tree.Len()
}

func (b *buffer) get(c kv.Column) (*pending, bool) {
	if b.len() == 0 {
		return nil, false
	}
	return b.tree.Get(&pending{mutation: mutation{column: c}})
}

// add merges a write into the buffer: what the column becomes is the newest write's, what must hold of it before the
// transaction is kept from the first.
func (b *buffer) add(m mutation) {
	p := &pending{mutation: m}
	if old, ok := b.get(m.column); ok {
		p = mergeWrites(old, m)
		b.bytes -= old.size()
	} else {
		p.column = cloneColumn(m.column)
	}
	p.value = bytes.Clone(p.value)
	b.bytes += p.size()
	if b.tree == nil {
		b.tree = newTree()
	}
	b.tree.Set(p)
}

// addAll takes over puts in ascending order; behind all that is there already they are appended.
func (b *buffer) addAll(ws []Write, since kv.Timestamp) {
	if b.tree == nil {
		b.tree = newTree()
	}
	block := make([]pending, len(ws))
	for i := range ws {
		w := &ws[i]
		p := &block[i]
		p.mutation = mutation{kind: record.KindPut, column: w.Column, value: w.Value, mustNotExist: w.MustNotExist, observers: w.Observers, since: since}
		if last, ok := b.tree.Max(); ok && compareColumns(last.column, p.column) >= 0 {
			b.add(p.mutation)
			continue
		}
		b.bytes += p.size()
		b.tree.Load(p)
	}
}

func mergeWrites(old *pending, m mutation) *pending {
	p := &pending{mutation: m, violated: old.violated}
	p.column = old.column
	p.mustNotExist, p.mustExist = old.mustNotExist, old.mustExist
	if old.since != 0 && (p.since == 0 || old.since < p.since) {
		p.since = old.since
	}
	p.share = old.share && m.share
	p.observers = union(old.observers, m.observers)
	p.clears = append(slices.Clip(old.clears), m.clears...)
	switch old.kind {
	case record.KindPut:
		if m.mustNotExist {
			p.violated = CodeAlreadyExists
		}
	case record.KindDelete:
		if m.kind == record.KindRequire {
			p.violated = CodeMustExist
		}
		// A MustNotExist after our own delete holds.
	default:
		p.mustNotExist = p.mustNotExist || m.mustNotExist
		p.mustExist = p.mustExist || old.kind == record.KindRequire
	}
	if !m.kind.Changes() && old.kind != record.KindNotify && (old.kind.Changes() || m.kind == record.KindNotify) {
		// Locking or requiring what is written anyway changes nothing; a weak notification rides on any lock.
		p.kind, p.value = old.kind, old.value
	} else if old.kind == record.KindLock && m.kind == record.KindRequire {
		p.kind, p.mustExist = record.KindLock, true
	}
	return p
}

func union(a, b []uint32) []uint32 {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	u := append(slices.Clone(a), b...)
	slices.Sort(u)
	return slices.Compact(u)
}

// mutations lists the writes in column order, and says whether any of them changes a value.
func (b *buffer) mutations() (ms []*mutation, changes bool, err error) {
	if b.tree == nil {
		return nil, false, nil
	}
	ms = make([]*mutation, 0, b.tree.Len())
	b.tree.Scan(func(p *pending) bool {
		if p.violated != 0 {
			err = &ConstraintError{Code: p.violated, Column: p.column}
			return false
		}
		changes = changes || p.kind.Changes()
		ms = append(ms, &p.mutation)
		return true
	})
	return ms, changes, err
}
