package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2/record"
)

// A record of the MANIFEST is an edit: fields, each a tag and what the tag says that follows. One of them is the first log that still holds
// something that no table has. Pebble keeps the decoder to itself, so this one steps over all other fields.
const (
	editComparer      = 1
	editFirstLog      = 2
	editNextFile      = 3
	editLastSequence  = 4
	editCompactFrom   = 5
	editDeletedTable  = 6
	editPreviousLog   = 9
	editPlainTable    = 100 // without fields of its own
	editNewTable      = 103 // with point keys
	editNewRangeTable = 104 // with range keys
	editMadeBacking   = 105
	editGoneBacking   = 106
	editNewBlob       = 107
	editDeletedBlob   = 108

	tableEnd     = 1
	tableVirtual = 66
	tableBlobs   = 69
)

var errEdit = errors.New("an edit that this release does not understand")

// firstLog returns the first log that is needed, by the records of a MANIFEST. A torn last one is no record.
func firstLog(b []byte) (uint64, error) {
	var first uint64
	for r := record.NewReader(bytes.NewReader(b), 0); ; {
		rec, err := r.Next()
		if err == io.EOF || record.IsInvalidRecord(err) {
			return first, nil
		}
		if err != nil {
			return 0, err
		}
		edit, err := io.ReadAll(rec)
		if record.IsInvalidRecord(err) {
			return first, nil
		}
		if err != nil {
			return 0, err
		}
		e := editReader{b: edit}
		if n := e.firstLog(); n != 0 {
			first = n
		}
		if e.bad {
			return 0, errEdit
		}
	}
}

type editReader struct {
	b   []byte
	bad bool
}

func (e *editReader) uvarint() uint64 {
	n, size := binary.Uvarint(e.b)
	if size <= 0 {
		e.bad, e.b = true, nil
		return 0
	}
	e.b = e.b[size:]
	return n
}

func (e *editReader) uvarints(n uint64) {
	for ; n > 0 && !e.bad; n-- {
		e.uvarint()
	}
}

// bytes steps over some fields of bytes.
func (e *editReader) bytes(fields int) {
	for range fields {
		n := e.uvarint()
		if n > uint64(len(e.b)) {
			e.bad, e.b = true, nil
			return
		}
		e.b = e.b[n:]
	}
}

// firstLog returns what one edit says, zero if nothing.
func (e *editReader) firstLog() (first uint64) {
	for len(e.b) > 0 {
		switch tag := e.uvarint(); tag {
		case editFirstLog:
			first = e.uvarint()
		case editComparer:
			e.bytes(1)
		case editNextFile, editLastSequence, editPreviousLog, editGoneBacking:
			e.uvarint()
		case editCompactFrom:
			e.uvarint()
			e.bytes(1)
		case editDeletedTable, editMadeBacking, editDeletedBlob:
			e.uvarints(2)
		case editPlainTable:
			e.uvarints(3)
			e.bytes(2)
			e.uvarints(2)
		case editNewTable, editNewRangeTable:
			e.table(tag == editNewRangeTable)
		case editNewBlob:
			e.uvarints(5)
		default:
			e.bad = true
			return 0
		}
	}
	return first
}

// table steps over a new table: level, number, size, bounds, sequence numbers, and fields of its own.
func (e *editReader) table(ranges bool) {
	e.uvarints(3)
	points := true
	if ranges && len(e.b) > 0 {
		points, e.b = e.b[0]&1 != 0, e.b[1:]
	}
	if points {
		e.bytes(2)
	}
	if ranges {
		e.bytes(2)
	}
	e.uvarints(2)
	for !e.bad {
		switch tag := e.uvarint(); tag {
		case tableEnd:
			return
		case tableVirtual:
			e.uvarint()
		case tableBlobs:
			e.uvarint()
			e.uvarints(2 * e.uvarint())
		default:
			e.bytes(1)
		}
	}
}
