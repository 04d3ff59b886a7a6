package bigtable

import (
	"slices"
	"sync"
)

// arena is the memory of what lives and dies together, the rows of one response: thousands of allocations become a few, and none where the
// response is only made to be encoded (see ReadRowsResponse.Release). A nil arena allocates each thing by itself.
type arena struct {
	bytes []byte // the piece that is being filled
	cells []Cell
	rows  []Row
	// full are the pieces before, spare those that can be filled again.
	fullBytes, spareBytes [][]byte
	fullCells, spareCells [][]Cell
}

// Pieces grow: most responses are small.
const (
	minArenaBytes, maxArenaBytes = 4 << 10, 256 << 10
	minArenaCells, maxArenaCells = 16, 1024
)

// clone copies b; empty is not nil.
func (a *arena) clone(b []byte) []byte {
	if a == nil || len(b) > maxArenaBytes/4 {
		return append(make([]byte, 0, len(b)), b...)
	}
	if len(b) > cap(a.bytes)-len(a.bytes) {
		a.bytes = nextPiece(a.bytes, &a.fullBytes, &a.spareBytes, len(b), minArenaBytes, maxArenaBytes)
	}
	n := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return a.bytes[n:len(a.bytes):len(a.bytes)]
}

// room returns an empty slice with room for n cells.
func (a *arena) room(n int) []Cell {
	if a == nil || n > maxArenaCells/4 {
		return make([]Cell, 0, n)
	}
	if n > cap(a.cells)-len(a.cells) {
		a.cells = nextPiece(a.cells, &a.fullCells, &a.spareCells, n, minArenaCells, maxArenaCells)
	}
	at := len(a.cells)
	a.cells = a.cells[:at+n]
	return a.cells[at : at : at+n]
}

// keep moves the cells of a finished row to where those of others are.
func (a *arena) keep(cs []Cell) []Cell { return append(a.room(len(cs)), cs...) }

func nextPiece[T any](now []T, full, spare *[][]T, need, least, most int) []T {
	if cap(now) > 0 {
		*full = append(*full, now)
	}
	for n := len(*spare); n > 0; n = len(*spare) {
		p := (*spare)[n-1]
		*spare = (*spare)[:n-1]
		if cap(p) >= need {
			return p[:0]
		}
	}
	return make([]T, 0, max(need, least, min(4*cap(now), most)))
}

var arenas = sync.Pool{New: func() any { return new(arena) }}

// release gives an arena to the next response. Nothing in it may be looked at any more.
func (a *arena) release() {
	a.spareBytes = append(a.spareBytes, a.fullBytes...)
	if cap(a.bytes) > 0 {
		a.spareBytes = append(a.spareBytes, a.bytes)
	}
	for _, p := range append(a.fullCells, a.cells) {
		clear(p) // large values have memory of their own, which they would keep alive
		if cap(p) > 0 {
			a.spareCells = append(a.spareCells, p)
		}
	}
	clear(a.rows)
	*a = arena{
		rows: a.rows[:0], fullBytes: a.fullBytes[:0], fullCells: a.fullCells[:0],
		spareBytes: slices.Clip(a.spareBytes), spareCells: slices.Clip(a.spareCells),
	}
	arenas.Put(a)
}
