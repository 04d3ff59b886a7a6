package keys

import (
	"encoding/binary"

	"moka/kv"
)

// Key is a decoded data key. Row lies in the buffer given to Decode where it had to be unescaped; Qualifier lies in the key.
type Key struct {
	Shard     kv.ShardID
	Address   kv.Address
	Timestamp kv.Timestamp
}

func corrupt(key []byte, why string) error {
	return kv.Errorf(kv.CodeCorrupt, "keys.Decode", "%s in key %x", why, key)
}

// Decode reads a data key with a version. buf is memory for the row; what is returned may share it and the key.
func Decode(key, buf []byte) (Key, []byte, error) {
	if len(key) < 1+versionLen || key[len(key)-1] != versionLen {
		return Key{}, buf, corrupt(key, "no version")
	}
	wall := binary.BigEndian.Uint64(key[len(key)-versionLen:])
	if wall == 0 || wall > uint64(kv.MaxTimestamp)+1 {
		return Key{}, buf, corrupt(key, "impossible version")
	}
	k, buf, err := DecodeColumn(key[:len(key)-versionLen], buf)
	k.Timestamp = kv.Timestamp(wall - 1)
	return k, buf, err
}

// DecodeColumn reads the key of a column, without a version.
func DecodeColumn(key, buf []byte) (Key, []byte, error) {
	if len(key) < dataPrefixLen+4 || key[0] != spaceShard || key[5] != partData {
		return Key{}, buf, corrupt(key, "no data prefix")
	}
	k := Key{
		Shard: kv.ShardID(binary.BigEndian.Uint32(key[1:])),
		Address: kv.Address{
			Group: kv.GroupID(key[6]),
			Run:   binary.BigEndian.Uint32(key[7:]),
		},
	}
	row, rest, ok := decodeRow(key[dataPrefixLen:], buf[:0])
	if !ok {
		return Key{}, buf, corrupt(key, "unterminated row")
	}
	if len(rest) < 2 || rest[len(rest)-1] != sentinel {
		return Key{}, buf, corrupt(key, "no column")
	}
	k.Address.Row = row
	k.Address.Family = kv.FamilyID(rest[0])
	k.Address.Qualifier = rest[1 : len(rest)-1 : len(rest)-1]
	return k, row, nil
}

// decodeRow copies the unescaped row into buf and returns what follows its end.
func decodeRow(b, buf []byte) (row, rest []byte, ok bool) {
	buf = append(buf, b[:4]...)
	for i := 4; i < len(b); i++ {
		if b[i] != 0 {
			buf = append(buf, b[i])
			continue
		}
		if i++; i == len(b) {
			break
		}
		switch b[i] {
		case terminator:
			return buf, b[i+1:], true
		case escape:
			buf = append(buf, 0)
		default:
			return buf, nil, false
		}
	}
	return buf, nil, false
}

// GroupRun reads the group and the run of any key within a shard's data, also of a bound.
func GroupRun(key []byte) (kv.GroupID, uint32, bool) {
	if len(key) < dataPrefixLen || key[0] != spaceShard || key[5] != partData {
		return 0, 0, false
	}
	return kv.GroupID(key[6]), binary.BigEndian.Uint32(key[7:]), true
}

// NextShard returns the shard of which a key or a bound is, or the first one behind it; false if no shard's
// key is behind it.
func NextShard(key []byte) (kv.ShardID, bool) {
	switch {
	case len(key) == 0 || key[0] < spaceShard:
		return 0, true
	case key[0] > spaceShard:
		return 0, false
	}
	var b [4]byte
	copy(b[:], key[1:])
	return kv.ShardID(binary.BigEndian.Uint32(b[:])), true
}

// Shard reads the shard of a key for which GroupRun is true.
func Shard(key []byte) kv.ShardID { return kv.ShardID(binary.BigEndian.Uint32(key[1:])) }

// ReplaceShard writes the key to b as the same key of another shard: a tablet that moves keeps everything behind the prefix.
func ReplaceShard(b, key []byte, shard kv.ShardID) []byte {
	b = append(b, key...)
	binary.BigEndian.PutUint32(b[len(b)-len(key)+1:], uint32(shard))
	return b
}

// Prefix returns the length of a key without its version, as the comparer splits it.
func Prefix(key []byte) int {
	if len(key) == 0 {
		return 0
	}
	return len(key) - int(key[len(key)-1])
}

// Version reads the timestamp from the end of a key.
func Version(key []byte) (kv.Timestamp, error) {
	if len(key) < 1+versionLen || key[len(key)-1] != versionLen {
		return 0, corrupt(key, "no version")
	}
	wall := binary.BigEndian.Uint64(key[len(key)-versionLen:])
	if wall == 0 || wall > uint64(kv.MaxTimestamp)+1 {
		return 0, corrupt(key, "impossible version")
	}
	return kv.Timestamp(wall - 1), nil
}
