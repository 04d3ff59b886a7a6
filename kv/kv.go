package kv

import "bytes"

// TableID names a table of the store. Everything transactional lives in one table, TableTxn, whose rows the layers above
// prefix as they like ("one key space; tables are prefixes"); raw Bigtable-style tables get ids of their own.
type TableID uint32

const (
	// TableMeta holds METADATA: the tablet map. Its rows are never moved by the scheduler that reads them.
	TableMeta TableID = 1
	// TableTxn is the key space of transactions: SQL rows, index entries, catalog, acknowledgements.
	TableTxn TableID = 2
	// TableFirstUser is the first id that CreateTable hands out.
	TableFirstUser TableID = 1024
)

type (
	// NodeID names one process with one Pebble. It is never reused.
	NodeID uint64
	// ShardID names a replicated state machine that serves a set of tablets.
	ShardID uint32
	// TabletID names a contiguous row range. A split keeps the left id and makes a new one on the right.
	TabletID uint64
	// FamilyID is a column family's number within its table; names are kept in the table's schema.
	FamilyID uint8
)

// RowKey is a position in the one key space: the table id (4 bytes, big endian), then the row's bytes as the table's owner
// encoded them. Row keys compare as plain bytes; tablets are ranges [Start, End) of them. An empty End means "to the end".
type RowKey []byte

// MakeRowKey returns the key-space position of row in table.
func MakeRowKey(table TableID, row []byte) RowKey {
	k := make(RowKey, 0, 4+len(row))
	k = append(k, byte(table>>24), byte(table>>16), byte(table>>8), byte(table))
	return append(k, row...)
}

// Table returns the table that the row key lies in, zero for a key that is too short to have one.
func (k RowKey) Table() TableID {
	if len(k) < 4 {
		return 0
	}
	return TableID(k[0])<<24 | TableID(k[1])<<16 | TableID(k[2])<<8 | TableID(k[3])
}

// Row returns the owner's part of the key: what follows the table id.
func (k RowKey) Row() []byte {
	if len(k) < 4 {
		return nil
	}
	return k[4:]
}

// Span is the row range [Start, End). A nil Start is the beginning, an empty End the end of the key space.
type Span struct{ Start, End RowKey }

// Contains reports whether the row lies in the span.
func (s Span) Contains(k RowKey) bool {
	return bytes.Compare(k, s.Start) >= 0 && (len(s.End) == 0 || bytes.Compare(k, s.End) < 0)
}

// Column is Bigtable's (row, family:qualifier), without a version.
type Column struct {
	Row       RowKey
	Family    FamilyID
	Qualifier []byte
}

// Tablet describes one row range and where it is served. Generation grows with every change of bounds or assignment;
// a request that carries an older one is refused with ErrMoved, which brings the new description along.
type Tablet struct {
	ID         TabletID
	Generation uint64
	Span       Span
	Shard      ShardID
	// Node is where the shard's leader was last seen; a hint, corrected by ErrMoved.
	Node NodeID
}

// TabletRef is what a request says of a tablet that it touches: under which generation the client routed to it.
type TabletRef struct {
	ID         TabletID
	Generation uint64
}
