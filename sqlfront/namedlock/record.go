package namedlock

import (
	"encoding/binary"
	"fmt"
)

// record is the value of a lock's cell; integers are big endian.
//
//	 1 B   8 B     8 B       4 B          8 B
//	┌────┬──────┬─────────┬────────────┬───────┐
//	│ 01 │ node │ session │ connection │ until │  until: ms since 1970 by the oracle
//	└────┴──────┴─────────┴────────────┴───────┘
//
// A node's number is random, new with each start, so that nobody takes a lock of the node's
// last life for his own.
type record struct {
	owner      owner
	connection uint32 // for people
	until      int64
}

type owner struct{ node, session uint64 }

const (
	recordVersion = 1
	recordSize    = 1 + 8 + 8 + 4 + 8
)

func (r record) encode() []byte {
	b := make([]byte, 0, recordSize)
	b = append(b, recordVersion)
	b = binary.BigEndian.AppendUint64(b, r.owner.node)
	b = binary.BigEndian.AppendUint64(b, r.owner.session)
	b = binary.BigEndian.AppendUint32(b, r.connection)
	return binary.BigEndian.AppendUint64(b, uint64(r.until))
}

func decode(b []byte) (record, error) {
	if len(b) != recordSize || b[0] != recordVersion {
		return record{}, fmt.Errorf("namedlock: the stored lock %x is of a newer release, or damaged", b)
	}
	return record{
		owner:      owner{binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])},
		connection: binary.BigEndian.Uint32(b[17:]),
		until:      int64(binary.BigEndian.Uint64(b[21:])),
	}, nil
}
