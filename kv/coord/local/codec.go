package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"moka/kv/coord"
	"moka/kv/coord/internal/core"
)

// The boxes are in doc.go.
const (
	version      = 1
	tagMeta      = 'm'
	tagKey       = 'k'
	tagSession   = 's'
	sentinel     = 0x00
	flagDetached = 1 << 0
)

var errShort = errors.New("record is cut short")

func metaKey(prefix []byte) []byte {
	return append(prefix[:len(prefix):len(prefix)], tagMeta, sentinel)
}

func keyKey(prefix []byte, key string) []byte {
	k := append(prefix[:len(prefix):len(prefix)], tagKey)
	return append(append(k, key...), sentinel)
}

func sessionKey(prefix []byte, id coord.SessionID) []byte {
	k := append(prefix[:len(prefix):len(prefix)], tagSession)
	return append(binary.BigEndian.AppendUint64(k, uint64(id)), sentinel)
}

func encodeMeta(rev coord.Revision) []byte {
	return binary.BigEndian.AppendUint64([]byte{version}, uint64(rev))
}

func decodeMeta(b []byte) (coord.Revision, error) {
	b, err := checkVersion(b)
	if err != nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("meta record has %d bytes after its version, expected 8", len(b))
	}
	return coord.Revision(binary.BigEndian.Uint64(b)), nil
}

func encodeKV(kv coord.KV) []byte {
	b := []byte{version}
	b = binary.AppendUvarint(b, uint64(kv.CreateRev))
	b = binary.AppendUvarint(b, uint64(kv.ModRev))
	b = binary.AppendUvarint(b, uint64(kv.Session))
	return append(b, kv.Value...)
}

func decodeKV(key string, b []byte) (coord.KV, error) {
	b, err := checkVersion(b)
	if err != nil {
		return coord.KV{}, err
	}
	var n [3]uint64
	for i := range n {
		if n[i], b, err = uvarint(b); err != nil {
			return coord.KV{}, err
		}
	}
	return coord.KV{
		Key: key, Value: append([]byte(nil), b...),
		CreateRev: coord.Revision(n[0]), ModRev: coord.Revision(n[1]), Session: coord.SessionID(n[2]),
	}, nil
}

func encodeSession(r core.SessionRecord) []byte {
	var flags byte
	if r.Detached {
		flags |= flagDetached
	}
	return binary.AppendUvarint([]byte{version, flags}, uint64(r.TTL))
}

func decodeSession(id coord.SessionID, b []byte) (core.SessionRecord, error) {
	b, err := checkVersion(b)
	if err != nil {
		return core.SessionRecord{}, err
	}
	if len(b) < 1 {
		return core.SessionRecord{}, errShort
	}
	flags := b[0]
	if flags&^flagDetached != 0 {
		return core.SessionRecord{}, fmt.Errorf("session flags %#x are not known to this version", flags)
	}
	ttl, rest, err := uvarint(b[1:])
	if err != nil {
		return core.SessionRecord{}, err
	}
	if len(rest) != 0 || ttl == 0 || ttl > uint64(core.MaxTTL) {
		return core.SessionRecord{}, fmt.Errorf("session record with ttl %d and %d bytes too many", ttl, len(rest))
	}
	return core.SessionRecord{ID: id, TTL: time.Duration(ttl), Detached: flags&flagDetached != 0}, nil
}

func checkVersion(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] != version {
		return nil, fmt.Errorf("format version %d, this program reads %d", b[0], version)
	}
	return b[1:], nil
}

func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, b[n:], nil
}
