package record

import (
	"encoding/binary"

	"moka/kv"
)

// AckFamily is the family of the columns in which observers acknowledge changes, beside the cells that they
// are about.
const AckFamily kv.FamilyID = 0xFF

// AckColumn is where an observer acknowledges changes of a cell.
//
//	row = the cell's row   family = 0xFF   qualifier = | observer u32 BE | family u8 | qualifier … |
func AckColumn(observer uint32, c kv.Column) kv.Column {
	q := make([]byte, 0, 5+len(c.Qualifier))
	q = binary.BigEndian.AppendUint32(q, observer)
	q = append(q, byte(c.Family))
	q = append(q, c.Qualifier...)
	return kv.Column{Row: c.Row, Family: AckFamily, Qualifier: q}
}

// IsAck says whether a column is one of acknowledgements.
func IsAck(c kv.Column) bool { return c.Family == AckFamily }

// Acknowledged is the observer of an acknowledgement, and the cell that it is about.
func Acknowledged(ack kv.Column) (observer uint32, cell kv.Column, ok bool) {
	if q := ack.Qualifier; IsAck(ack) && len(q) >= 5 {
		cell = kv.Column{Row: ack.Row, Family: kv.FamilyID(q[4]), Qualifier: q[5:]}
		return binary.BigEndian.Uint32(q), cell, true
	}
	return 0, kv.Column{}, false
}

// writeGroup is the locality group of a column's write records. Acknowledgements have one of their own: a
// scan of rows, which is what rows are mostly read by, would step over one for each row and observer, and
// over those of rows that are gone. They are in one run for all observers, unlike notifications: nobody looks
// for all that an observer has acknowledged, and collections want those of a row together.
func writeGroup(c kv.Column) kv.GroupID {
	if IsAck(c) {
		return kv.GroupTxnAck
	}
	return kv.GroupTxnWrite
}

// RowsAckAt is where releases before format 3 of the store (kv/engine) have written acknowledgements: among
// the rows. Collections move them to where they belong, one at a time; nobody writes there any more.
func RowsAckAt(ack kv.Column) kv.Address {
	return kv.Address{Group: kv.GroupTxnWrite, Column: ack}
}
