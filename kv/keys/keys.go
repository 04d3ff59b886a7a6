package keys

import (
	"encoding/binary"

	"moka/kv"
)

// The first byte of a key is the space it lies in; the byte after the shard says what part of the shard.
const (
	spaceNode  byte = 0x01
	spaceLog   byte = 0x02
	spaceShard byte = 0x03

	partState byte = 'a'
	partData  byte = 'k'

	sentinel   byte = 0x00
	escape     byte = 0xFF // after 00 within a row: a zero byte
	terminator byte = 0x01 // after 00: the row's end

	versionLen    = 9
	dataPrefixLen = 1 + 4 + 1 + 1 + 4 // up to and including the run
)

// NodeSpace is a part of the node-local key space.
type NodeSpace byte

const (
	NodeRecord NodeSpace = 'n' // the node's own record: id, number of shards
	NodeCoord  NodeSpace = 'c' // the local coordination service
	NodeClock  NodeSpace = 't' // the clock of raw writes, as releases wrote it in which nodes had one and not shards
	NodeLives  NodeSpace = 'l' // how often the members of the cluster were started
	NodeFlush  NodeSpace = 'f' // the engine's marker behind what it has noted as not flushed
	// NodeReplica is, by shard, which replica of it is here, and which may still come.
	NodeReplica NodeSpace = 'r'
	NodeBook    NodeSpace = 'b' // the other nodes of the cluster, and where they are
)

// StateKind is a kind of shard-local metadata.
type StateKind byte

const (
	StateTablet StateKind = 't' // id: tablet; value: its description
	StateMove   StateKind = 'm' // id: tablet; value: the description of a tablet whose data is being copied here
	StateShard  StateKind = 's' // id: 0; value: the shard's record
	StateClock  StateKind = 'c' // id: 0; value: how far the clock of raw writes may have come
	StateCoord  StateKind = 'o' // instead of an id a key of the coordination service, of shard 1
)

// AppendNode appends the node-local key of rest.
func AppendNode(b []byte, space NodeSpace, rest []byte) []byte {
	b = append(b, spaceNode, byte(space))
	b = append(b, rest...)
	return append(b, sentinel)
}

// NodeRest returns what AppendNode was given.
func NodeRest(key []byte) ([]byte, bool) {
	if len(key) < 3 || key[0] != spaceNode || key[len(key)-1] != sentinel {
		return nil, false
	}
	return key[2 : len(key)-1], true
}

// NodeSpan bounds the keys of a node space whose rest begins with prefix.
func NodeSpan(space NodeSpace, prefix []byte) (lower, upper []byte) {
	p := append([]byte{spaceNode, byte(space)}, prefix...)
	return append(p, sentinel), prefixEnd(p)
}

// AppendState appends the key of a shard's metadata.
func AppendState(b []byte, shard kv.ShardID, kind StateKind, id uint64) []byte {
	b = appendShard(b, shard)
	b = append(b, partState, byte(kind))
	b = binary.BigEndian.AppendUint64(b, id)
	return append(b, sentinel)
}

// StateID returns the id in a key that AppendState made.
func StateID(key []byte) (uint64, bool) {
	const n = 1 + 4 + 1 + 1
	if len(key) != n+8+1 || key[0] != spaceShard || key[5] != partState {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[n:]), true
}

// AppendRecord appends the key of a shard's record of a kind that has keys instead of ids.
func AppendRecord(b []byte, shard kv.ShardID, kind StateKind, key []byte) []byte {
	b = append(appendShard(b, shard), partState, byte(kind))
	return append(append(b, key...), sentinel)
}

// RecordKey returns what AppendRecord was given.
func RecordKey(key []byte) ([]byte, bool) {
	const n = 1 + 4 + 1 + 1
	if len(key) < n+1 || key[0] != spaceShard || key[5] != partState || key[len(key)-1] != sentinel {
		return nil, false
	}
	return key[n : len(key)-1], true
}

// RecordSpan bounds a shard's records of a kind whose keys begin with prefix.
func RecordSpan(shard kv.ShardID, kind StateKind, prefix []byte) (lower, upper []byte) {
	p := append(append(appendShard(nil, shard), partState, byte(kind)), prefix...)
	return append(p, sentinel), prefixEnd(p)
}

// StateSpan bounds a shard's metadata of a kind.
func StateSpan(shard kv.ShardID, kind StateKind) (lower, upper []byte) {
	p := append(appendShard(nil, shard), partState, byte(kind))
	return append(p, sentinel), prefixEnd(p)
}

// ShardSpan bounds everything that a shard holds.
func ShardSpan(shard kv.ShardID) (lower, upper []byte) {
	p := appendShard(nil, shard)
	return append(p, sentinel), prefixEnd(p)
}

// DataSpan bounds a shard's data of all groups.
func DataSpan(shard kv.ShardID) (lower, upper []byte) {
	p := append(appendShard(nil, shard), partData)
	return append(p, sentinel), prefixEnd(p)
}

// GroupSpan bounds a shard's locality group.
func GroupSpan(shard kv.ShardID, group kv.GroupID) (lower, upper []byte) {
	p := append(appendShard(nil, shard), partData, byte(group))
	return append(p, sentinel), prefixEnd(p)
}

func appendShard(b []byte, shard kv.ShardID) []byte {
	b = append(b, spaceShard)
	return binary.BigEndian.AppendUint32(b, uint32(shard))
}

func appendRun(b []byte, shard kv.ShardID, group kv.GroupID, run uint32) []byte {
	b = appendShard(b, shard)
	b = append(b, partData, byte(group))
	return binary.BigEndian.AppendUint32(b, run)
}

// prefixEnd returns the smallest bare key above all keys that begin with p. p never is all FF: its first byte is a space.
func prefixEnd(p []byte) []byte {
	e := append([]byte(nil), p...)
	for i := len(e) - 1; i >= 0; i-- {
		if e[i] != 0xFF {
			e[i]++
			return append(e[:i+1], sentinel)
		}
	}
	panic("keys: a prefix of FF has no end")
}

// AppendColumn appends the key of a column without a version: the prefix that Pebble's bloom filters know, and the smallest
// of the column's keys.
func AppendColumn(b []byte, shard kv.ShardID, a kv.Address) []byte {
	b = appendRun(b, shard, a.Group, a.Run)
	b = appendRow(b, a.Row)
	b = append(b, sentinel, terminator, byte(a.Family))
	b = append(b, a.Qualifier...)
	return append(b, sentinel)
}

// AppendVersion turns a column's key into that of one of its versions. Timestamps above kv.MaxTimestamp are taken as it.
func AppendVersion(b []byte, ts kv.Timestamp) []byte {
	b = binary.BigEndian.AppendUint64(b, Wall(ts))
	return append(b, versionLen)
}

// Wall is what a version's key tells Pebble to be its wall time, for filters by time.
func Wall(ts kv.Timestamp) uint64 { return uint64(min(ts, kv.MaxTimestamp)) + 1 }

// appendRow appends a row's table id as it is and the rest escaped. A row that is too short to have a table id, which only
// a bound can be, is filled up with zeros: no row lies between the two.
func appendRow(b []byte, row kv.RowKey) []byte {
	if len(row) < 4 {
		b = append(b, row...)
		return append(b, 0, 0, 0, 0)[:len(b)+4-len(row)]
	}
	b = append(b, row[:4]...)
	return appendEscaped(b, row[4:])
}

func appendEscaped(b, s []byte) []byte {
	for _, c := range s {
		b = append(b, c)
		if c == 0 {
			b = append(b, escape)
		}
	}
	return b
}

// AppendRowBound appends the largest bare key that is not above any key of the row and those behind it: the lower bound of a
// span that starts with the row, and the upper bound of one that ends before it.
func AppendRowBound(b []byte, shard kv.ShardID, group kv.GroupID, run uint32, row kv.RowKey) []byte {
	b = appendRun(b, shard, group, run)
	b = appendRow(b, row)
	return append(b, sentinel)
}

// AppendRunEnd appends the upper bound of a run.
func AppendRunEnd(b []byte, shard kv.ShardID, group kv.GroupID, run uint32) []byte {
	if run < 1<<32-1 {
		return append(appendRun(b, shard, group, run+1), sentinel)
	}
	_, upper := GroupSpan(shard, group)
	return append(b, upper...)
}

// AppendSpan appends both bounds of the rows of a span within a run to b and returns them; the second shares b's memory.
func AppendSpan(b []byte, shard kv.ShardID, group kv.GroupID, run uint32, s kv.Span) (lower, upper []byte) {
	b = AppendRowBound(b, shard, group, run, s.Start)
	n := len(b)
	if len(s.End) == 0 {
		b = AppendRunEnd(b, shard, group, run)
	} else {
		b = AppendRowBound(b, shard, group, run, s.End)
	}
	return b[:n:n], b[n:]
}
