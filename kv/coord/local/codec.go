package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// lostRevisions are more than a service can have counted whose latest changes are lost.
const lostRevisions = 1 << 32

// Recovered is what has to be written to a service that was put back to an older state: it counts on far
// beyond whatever was counted then, so that no revision, and hence no session, fence or epoch, is ever
// given twice. get may be asked for values, and what change returns is put. Sessions of the past are left
// to run out.
func Recovered(
	store Store, prefix []byte, change func(get func(key string) ([]byte, error)) (map[string][]byte, error),
) (sets []KV, err error) {
	b, ok, err := store.Get(metaKey(prefix))
	if err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("there is no coordination service in this state"))
	}
	rev, err := decodeMeta(b)
	if err != nil {
		return nil, err
	}
	rev += lostRevisions
	sets = append(sets, KV{metaKey(prefix), encodeMeta(rev)})
	values, err := change(func(key string) ([]byte, error) {
		b, ok, err := store.Get(keyKey(prefix, key))
		if err != nil || !ok {
			return nil, err
		}
		kv, err := decodeKV(key, b)
		return kv.Value, err
	})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v := encodeKV(coord.KV{Value: values[key], CreateRev: rev, ModRev: rev})
		sets = append(sets, KV{keyKey(prefix, key), v})
	}
	return sets, nil
}
