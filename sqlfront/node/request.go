package node

import (
	"encoding/binary"
	"fmt"
)

// request is the value of a row for a node; integers are big endian.
//
//	 1 B   1 B     2 B      8 B     4 B   1 B
//	┌────┬───────┬────────┬───────┬────┬───────┬──────┐
//	│ 01 │ state │ answer │ until │ id │ flags │ user │
//	└────┴───────┴────────┴───────┴────┴───────┴──────┘
//
// state: 0 asked, 1 answered. answer: an error's number, 0 for done. until: ms since 1970 by the
// oracle; nobody waits for the answer after that. flags: 1 the connection, not only its statement; 2
// the user may end everybody's.
type request struct {
	answered   bool
	answer     uint16
	until      int64
	id         uint32
	connection bool
	everybody  bool
	user       string
}

const (
	requestVersion = 1
	requestHead    = 1 + 1 + 2 + 8 + 4 + 1
)

func (r request) encode() []byte {
	b := []byte{requestVersion, 0}
	if r.answered {
		b[1] = 1
	}
	b = binary.BigEndian.AppendUint16(b, r.answer)
	b = binary.BigEndian.AppendUint64(b, uint64(r.until))
	b = binary.BigEndian.AppendUint32(b, r.id)
	var flags byte
	if r.connection {
		flags |= 1
	}
	if r.everybody {
		flags |= 2
	}
	return append(append(b, flags), r.user...)
}

func decode(b []byte) (request, error) {
	if len(b) < requestHead || b[0] != requestVersion || b[1] > 1 || b[16] > 3 {
		return request{}, fmt.Errorf("node: the stored request %x is of a newer release, or damaged", b)
	}
	return request{
		answered:   b[1] == 1,
		answer:     binary.BigEndian.Uint16(b[2:]),
		until:      int64(binary.BigEndian.Uint64(b[4:])),
		id:         binary.BigEndian.Uint32(b[12:]),
		connection: b[16]&1 != 0,
		everybody:  b[16]&2 != 0,
		user:       string(b[requestHead:]),
	}, nil
}
