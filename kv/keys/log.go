package keys

import (
	"encoding/binary"

	"moka/kv"
)

// LogRecord is a kind of record that a replica keeps beside its log.
type LogRecord byte

const (
	LogHardState LogRecord = 'h' // term, vote and commit
	LogTruncated LogRecord = 't' // the last entry that is gone: index and term
	LogApplied   LogRecord = 'a' // the last entry that is in the state: index, term and the chain up to it
	LogMembers   LogRecord = 'c' // who the replicas are

	logEntry byte = 'l'
)

func appendLog(b []byte, shard kv.ShardID, kind byte) []byte {
	b = append(b, spaceLog)
	b = binary.BigEndian.AppendUint32(b, uint32(shard))
	return append(b, kind)
}

// AppendLogRecord appends the key of a record beside a shard's log.
func AppendLogRecord(b []byte, shard kv.ShardID, kind LogRecord) []byte {
	return append(appendLog(b, shard, byte(kind)), sentinel)
}

// AppendLogEntry appends the key of an entry of a shard's log. From one entry's key to another's is a span of the log.
func AppendLogEntry(b []byte, shard kv.ShardID, index uint64) []byte {
	b = appendLog(b, shard, logEntry)
	b = binary.BigEndian.AppendUint64(b, index)
	return append(b, sentinel)
}

// LogSpan bounds a shard's log and the records beside it.
func LogSpan(shard kv.ShardID) (lower, upper []byte) {
	p := binary.BigEndian.AppendUint32([]byte{spaceLog}, uint32(shard))
	return append(p[:len(p):len(p)], sentinel), prefixEnd(p)
}

// InLog reports whether a key is one of replicas' logs and of what is kept beside them. Nobody looks for
// columns there.
func InLog(key []byte) bool { return len(key) > 0 && key[0] == spaceLog }

// LogIndex returns the index in a key that AppendLogEntry made.
func LogIndex(key []byte) (uint64, bool) {
	const n = 1 + 4 + 1
	if len(key) != n+8+1 || key[0] != spaceLog || key[n-1] != logEntry {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[n:]), true
}
