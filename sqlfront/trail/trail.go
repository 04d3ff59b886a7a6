// Package trail remembers the hidden row ids of the rows of a table without a primary key that scans have
// delivered while an UPDATE or DELETE runs. go-mysql-server hands rows back to the editor by value; without a
// trail each of them would have to be searched for.
package trail

import "hash/maphash"

// Trail has ids by the encoding of their rows, which is a row's identity: equal rows are interchangeable.
type Trail struct {
	seeds [2]maphash.Seed
	ids   map[[2]uint64][]uint64
	known map[uint64]struct{} // a join comes by a row more than once
	left  bool                // not all were noted
	next  []uint64            // what Take hands out before it looks; one at most
}

// most bounds a trail; rows beyond it are searched for.
const most = 1 << 20

// New is a trail without rows.
func New() *Trail {
	return &Trail{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		ids:   map[[2]uint64][]uint64{},
		known: map[uint64]struct{}{},
	}
}

func (t *Trail) hash(row []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(t.seeds[0], row), maphash.Bytes(t.seeds[1], row)}
}

// Wants says whether a row is to be noted: none twice, and no more than there may be.
func (t *Trail) Wants(id uint64) bool {
	if _, known := t.known[id]; known {
		return false
	}
	t.left = t.left || len(t.known) >= most
	return !t.left
}

// Note keeps the id of a row with that encoding.
func (t *Trail) Note(id uint64, row []byte) {
	h := t.hash(row)
	t.ids[h] = append(t.ids[h], id)
	t.known[id] = struct{}{}
}

// Next makes an id the one that Take hands out next: who calls the editor knows which row he means.
func (t *Trail) Next(id uint64) {
	if t != nil {
		t.next = append(t.next[:0], id)
	}
}

// Take hands an id of a row with that encoding out, each once.
func (t *Trail) Take(row []byte) (uint64, bool) {
	if t == nil {
		return 0, false
	}
	if len(t.next) > 0 {
		id := t.next[0]
		t.next = t.next[:0]
		return id, true
	}
	h := t.hash(row)
	ids := t.ids[h]
	if len(ids) == 0 {
		return 0, false
	}
	if t.ids[h] = ids[1:]; len(ids) == 1 {
		delete(t.ids, h)
	}
	return ids[0], true
}

// Like are the ids of all rows with that encoding that are there; none if that is not known.
func (t *Trail) Like(row []byte) []uint64 {
	if t == nil || t.left {
		return nil
	}
	return t.ids[t.hash(row)]
}
