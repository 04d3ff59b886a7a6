package raft

import (
	"encoding/binary"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"moka/kv"
	"moka/kv/keys"
)

// Store is what the driver reads of the node's engine. It sees what was applied, durable or not.
type Store interface {
	// Get returns the value of a key; it is the caller's to keep.
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan calls f for the keys of [lower, upper) in order; what f gets is valid until it returns.
	Scan(lower, upper []byte, f func(key, value []byte) error) error
}

// Batch collects what one turn writes, of all shards: one atomic record of the node's log.
type Batch interface {
	Set(key, value []byte)
	DeleteRange(lower, upper []byte)
}

const recordVersion = 1

// position is a place in the log.
type position struct{ index, term uint64 }

// log is raft.Storage above the engine: the tail in memory, the rest read when somebody lags.
type log struct {
	shard kv.ShardID
	store Store
	keep  int // bytes of entries that stay in memory

	hard      *raftpb.HardState
	members   *Members
	unsure    bool // entries above the applied one change the members (R19)
	truncated position
	applied   position // the last entry in the state
	last      position
	tail      []*raftpb.Entry // without gaps up to last
	tailBytes int
	// size is about how many bytes of entries are stored, unapplied of those above the applied one.
	size, unapplied int
}

var _ raft.Storage = (*log)(nil)

func record(numbers ...uint64) []byte {
	b := []byte{recordVersion}
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func readRecord(s Store, shard kv.ShardID, kind keys.LogRecord, most byte) (b []byte, err error) {
	b, ok, err := s.Get(keys.AppendLogRecord(nil, shard, kind))
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, kv.Errorf(kv.CodeCorrupt, "raft.Open", "shard %d has no record %q beside its log", shard, kind)
	case len(b) == 0 || b[0] == 0 || b[0] > most:
		return nil, kv.Errorf(kv.CodeCorrupt, "raft.Open", "shard %d: record %q is of a version that this binary does not know", shard, kind)
	}
	return b, nil
}

// The place at which every log begins: raft needs an entry before the first.
const (
	firstIndex = 10
	firstTerm  = 5
)

// Bootstrap writes a new replica's records, beside whatever state the shard has: its members agree on that state beforehand.
func Bootstrap(b Batch, shard kv.ShardID, voters []uint64) {
	set := func(kind keys.LogRecord, v []byte) { b.Set(keys.AppendLogRecord(nil, shard, kind), v) }
	set(keys.LogHardState, record(firstTerm, 0, firstIndex))
	set(keys.LogTruncated, record(firstIndex, firstTerm))
	set(keys.LogApplied, record(firstIndex, firstTerm, 0))
	set(keys.LogMembers, (&Members{Voters: voters}).encode())
}

// openLog reads a replica's records and the tail of its log.
func openLog(s Store, shard kv.ShardID, keep int) (l *log, applied position, chain uint64, err error) {
	l = &log{shard: shard, store: s, keep: keep}
	var f [3]*fields
	for i, kind := range [...]keys.LogRecord{keys.LogHardState, keys.LogTruncated, keys.LogApplied} {
		b, err := readRecord(s, shard, kind, recordVersion)
		if err != nil {
			return nil, position{}, 0, err
		}
		f[i] = &fields{b: b[1:]}
	}
	term, vote, commit := f[0].uvarint(), f[0].uvarint(), f[0].uvarint()
	l.truncated = position{f[1].uvarint(), f[1].uvarint()}
	applied, chain = position{f[2].uvarint(), f[2].uvarint()}, f[2].uvarint()
	members, err := readRecord(s, shard, keys.LogMembers, membersVersion)
	if err == nil {
		l.members, err = DecodeMembers(members)
	}
	if err != nil {
		return nil, position{}, 0, err
	}
	for _, f := range f {
		if f.bad || len(f.b) != 0 {
			return nil, position{}, 0, kv.Errorf(kv.CodeCorrupt, "raft.Open", "shard %d: a record beside its log is damaged", shard)
		}
	}
	// R3: commit is written lazily, and the library cannot live with less than what is applied.
	commit = max(commit, applied.index)
	l.hard = &raftpb.HardState{Term: &term, Vote: &vote, Commit: &commit}
	l.last, l.applied = l.truncated, applied
	err = l.read(l.truncated.index+1, ^uint64(0), func(e *raftpb.Entry) bool {
		l.last = position{e.GetIndex(), e.GetTerm()}
		l.unsure = l.unsure || e.GetType() != raftpb.EntryNormal && e.GetIndex() > applied.index
		l.hold(e)
		return true
	})
	if err == nil && (l.last.index < applied.index || l.last.index < commit) {
		err = kv.Errorf(kv.CodeCorrupt, "raft.Open", "shard %d: the log ends at %d, before what is applied (%d) or committed (%d)",
			shard, l.last.index, applied.index, commit)
	}
	return l, applied, chain, err
}

// entry: | version 1 | term uv | type 1 B | data |
func encodeStored(e *raftpb.Entry) []byte {
	b := make([]byte, 0, 12+len(e.GetData()))
	b = binary.AppendUvarint(append(b, recordVersion), e.GetTerm())
	return append(append(b, byte(e.GetType())), e.GetData()...)
}

func decodeStored(index uint64, b []byte) (*raftpb.Entry, error) {
	if len(b) < 3 || b[0] != recordVersion {
		return nil, corrupt("a stored entry is cut short or of an unknown version")
	}
	f := &fields{b: b[1:]}
	term, kind := f.uvarint(), f.bytes(1)
	if f.bad {
		return nil, corrupt("a stored entry is cut short")
	}
	e := &raftpb.Entry{Term: &term, Index: &index, Type: raftpb.EntryType(kind[0]).Enum()}
	if len(f.b) > 0 {
		e.Data = slices.Clone(f.b)
	}
	return e, nil
}

// read calls f for stored entries from lo on, below hi, until it returns false. A gap is damage.
func (l *log) read(lo, hi uint64, f func(*raftpb.Entry) bool) error {
	next := lo
	done := kv.Errorf(kv.CodeInternal, "raft", "enough")
	err := l.store.Scan(keys.AppendLogEntry(nil, l.shard, lo), keys.AppendLogEntry(nil, l.shard, hi), func(k, v []byte) error {
		index, ok := keys.LogIndex(k)
		if !ok || index != next {
			return kv.Errorf(kv.CodeCorrupt, "raft", "shard %d: entry %d of the log is missing", l.shard, next)
		}
		next++
		e, err := decodeStored(index, v)
		if err != nil {
			return err
		}
		if !f(e) {
			return done
		}
		return nil
	})
	if err == error(done) {
		return nil
	}
	return err
}

func (l *log) hold(e *raftpb.Entry) {
	l.tail = append(l.tail, e)
	n := len(e.GetData()) + 64
	l.tailBytes += n
	l.size += n
	if e.GetIndex() > l.applied.index {
		l.unapplied += n
	}
	drop := 0
	for l.tailBytes > l.keep && drop < len(l.tail)-1 {
		l.tailBytes -= len(l.tail[drop].GetData()) + 64
		l.tail[drop] = nil
		drop++
	}
	l.tail = l.tail[drop:]
}

// append puts entries into the turn's batch; those that they overwrite go.
func (l *log) append(b Batch, entries []*raftpb.Entry) {
	first := entries[0].GetIndex()
	end := entries[len(entries)-1].GetIndex()
	if l.last.index > end {
		b.DeleteRange(keys.AppendLogEntry(nil, l.shard, end+1), keys.AppendLogEntry(nil, l.shard, l.last.index+1))
	}
	for len(l.tail) > 0 && l.tail[len(l.tail)-1].GetIndex() >= first {
		n := len(l.tail[len(l.tail)-1].GetData()) + 64
		l.tailBytes, l.size, l.unapplied = l.tailBytes-n, l.size-n, l.unapplied-n
		l.tail = l.tail[:len(l.tail)-1]
	}
	for _, e := range entries {
		b.Set(keys.AppendLogEntry(nil, l.shard, e.GetIndex()), encodeStored(e))
		l.hold(e)
	}
	l.last = position{end, entries[len(entries)-1].GetTerm()}
}

// apply notes the entry that was applied. Of entries that were overwritten when they had left the memory the
// sizes are not known: none is unapplied when the last one is.
func (l *log) apply(e *raftpb.Entry) {
	l.applied = position{e.GetIndex(), e.GetTerm()}
	l.unapplied = max(0, l.unapplied-len(e.GetData())-64)
	if l.applied.index >= l.last.index {
		l.unapplied = 0
	}
}

func (l *log) setHard(b Batch, h *raftpb.HardState) {
	b.Set(keys.AppendLogRecord(nil, l.shard, keys.LogHardState), record(h.GetTerm(), h.GetVote(), h.GetCommit()))
	l.hard = h
}

// truncate forgets entries up to index, which is applied. It never walks them.
func (l *log) truncate(b Batch, index uint64) error {
	if index <= l.truncated.index {
		return nil
	}
	term, err := l.Term(index)
	if err != nil {
		return err
	}
	b.DeleteRange(keys.AppendLogEntry(nil, l.shard, l.truncated.index+1), keys.AppendLogEntry(nil, l.shard, index+1))
	b.Set(keys.AppendLogRecord(nil, l.shard, keys.LogTruncated), record(index, term))
	all, gone := l.last.index-l.truncated.index, index-l.truncated.index
	l.size -= int(uint64(l.size) * gone / max(all, 1))
	l.truncated = position{index, term}
	for len(l.tail) > 0 && l.tail[0].GetIndex() <= index {
		l.tailBytes -= len(l.tail[0].GetData()) + 64
		l.tail = l.tail[1:]
	}
	return nil
}

// InitialState implements raft.Storage.
func (l *log) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return l.hard, l.members.state(), nil
}

// FirstIndex implements raft.Storage.
func (l *log) FirstIndex() (uint64, error) { return l.truncated.index + 1, nil }

// LastIndex implements raft.Storage.
func (l *log) LastIndex() (uint64, error) { return l.last.index, nil }

// Snapshot implements raft.Storage. What travels with raft's message says only that there is one; the
// state itself is fetched, and is that of a moment behind this.
func (l *log) Snapshot() (*raftpb.Snapshot, error) {
	at := l.applied
	m := &raftpb.SnapshotMetadata{Index: &at.index, Term: &at.term, ConfState: l.members.state()}
	return &raftpb.Snapshot{Metadata: m}, nil
}

// reset makes the log one that begins behind a snapshot. The store forgets the old one with the same
// step that brings the state.
func (l *log) reset(at position) {
	l.truncated, l.applied, l.last = at, at, at
	l.tail, l.tailBytes, l.size, l.unapplied = nil, 0, 0, 0
}

// Term implements raft.Storage.
func (l *log) Term(i uint64) (uint64, error) {
	switch {
	case i < l.truncated.index:
		return 0, raft.ErrCompacted
	case i == l.truncated.index:
		return l.truncated.term, nil
	case i > l.last.index:
		return 0, raft.ErrUnavailable
	}
	if n := l.last.index - i; n < uint64(len(l.tail)) {
		return l.tail[uint64(len(l.tail))-1-n].GetTerm(), nil
	}
	var term uint64
	err := l.read(i, i+1, func(e *raftpb.Entry) bool { term = e.GetTerm(); return true })
	return term, err
}

// Entries implements raft.Storage.
func (l *log) Entries(lo, hi, maxSize uint64) (entries []*raftpb.Entry, err error) {
	if lo <= l.truncated.index {
		return nil, raft.ErrCompacted
	}
	if hi > l.last.index+1 {
		return nil, raft.ErrUnavailable
	}
	var size uint64
	take := func(e *raftpb.Entry) bool {
		size += uint64(len(e.GetData())) + 16
		if len(entries) > 0 && size > maxSize {
			return false
		}
		entries = append(entries, e)
		return true
	}
	if n := l.last.index + 1 - lo; n <= uint64(len(l.tail)) {
		at := uint64(len(l.tail)) - n
		for _, e := range l.tail[at : at+hi-lo] {
			if !take(e) {
				break
			}
		}
		return entries, nil
	}
	if err := l.read(lo, hi, take); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, raft.ErrUnavailable
	}
	return entries, nil
}
