package host

import (
	"encoding/binary"
	"hash/crc32"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/raft"
)

// A snapshot in chunks, each | kind 1 B | … | crc32c 4 B |:
//
//	head: | version 1 | index uv | term uv | chain 8 B | n uv | n × voter uv |
//	      | version 2 | index uv | term uv | chain 8 B | members |
//	      (once the members have changed)
//	data: | { key length uv | key | value length uv | value } |   keys ascending over all chunks
//	end:  | number of keys uv |
const (
	chunkHead byte = 1 + iota
	chunkData
	chunkEnd

	snapshotVersion = 1
	changedVersion  = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func corrupt(what string) error { return kv.Errorf(kv.CodeCorrupt, "raft.Snapshot", "%s", what) }

func seal(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }

func unseal(b []byte) (kind byte, body []byte, err error) {
	if len(b) < 5 {
		return 0, nil, corrupt("a chunk of a snapshot is cut short")
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return 0, nil, corrupt("the checksum of a snapshot's chunk is wrong")
	}
	return body[0], body[1:], nil
}

func appendHead(b []byte, s *raft.Snapshot) []byte {
	b = append(b, chunkHead, snapshotVersion)
	ms := raft.AppendMembers(nil, s.Members)
	if ms[0] == 1 { // what is behind its version is what version 1 has
		ms = ms[1:]
	} else {
		b[len(b)-1] = changedVersion
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, s.Index), s.Term)
	b = binary.BigEndian.AppendUint64(b, s.Chain)
	return append(b, ms...)
}

func decodeHead(b []byte) (*raft.Snapshot, error) {
	if len(b) == 0 || b[0] != snapshotVersion && b[0] != changedVersion {
		return nil, corrupt("a snapshot is of a version that this binary does not know: update this node")
	}
	s, ok := &raft.Snapshot{}, true
	version := b[0]
	b = b[1:]
	number := func() (v uint64) { v, b, ok = cutNumber(b, ok); return v }
	s.Index, s.Term = number(), number()
	if !ok || len(b) < 8 {
		return nil, corrupt("the head of a snapshot is cut short")
	}
	s.Chain, b = binary.BigEndian.Uint64(b), b[8:]
	if version == snapshotVersion {
		b = append([]byte{1}, b...)
	}
	var err error
	s.Members, err = raft.DecodeMembers(b)
	return s, err
}

func cutNumber(b []byte, ok bool) (uint64, []byte, bool) {
	v, n := binary.Uvarint(b)
	if !ok || n <= 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

func appendPair(b, key, value []byte) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	return append(binary.AppendUvarint(b, uint64(len(value))), value...)
}

func decodePair(b []byte) (key, value, rest []byte, err error) {
	text := func() (s []byte, ok bool) {
		n, rest, ok := cutNumber(b, true)
		if !ok || n > uint64(len(rest)) {
			return nil, false
		}
		b = rest[n:]
		return rest[:n:n], true
	}
	key, ok := text()
	if ok {
		value, ok = text()
	}
	if !ok {
		return nil, nil, nil, corrupt("a key of a snapshot is cut short")
	}
	return key, value, b, nil
}

func appendEnd(b []byte, total uint64) []byte {
	return binary.AppendUvarint(append(b, chunkEnd), total)
}

func decodeEnd(b []byte) (uint64, error) {
	n, rest, ok := cutNumber(b, true)
	if !ok || len(rest) != 0 {
		return 0, corrupt("the end of a snapshot does not end where it should")
	}
	return n, nil
}

// order sees that keys are the shard's, and ascend: what is ingested is believed.
type order struct {
	lower, upper, last []byte
	n                  uint64
}

func (o *order) next(key []byte) error {
	if len(key) == 0 || engine.Compare(key, o.lower) < 0 || engine.Compare(key, o.upper) >= 0 ||
		o.n > 0 && engine.Compare(key, o.last) <= 0 {
		return corrupt("a key of a snapshot is not where it should be")
	}
	o.last = append(o.last[:0], key...)
	o.n++
	return nil
}
