package raft

import (
	"go.etcd.io/raft/v3/raftpb"

	"moka/kv"
	"moka/kv/keys"
)

// What follows is for replicas that nobody drives: those of a node that is down, when most of a shard's are
// lost for good. It breaks Raft's promise: entries that the lost ones have acknowledged may be missing
// here, and nobody can tell.

// Place is how far a replica has come.
type Place struct {
	Term      uint64 // that it has heard of
	LastIndex uint64 // of the entries that it has written down
	LastTerm  uint64
	Applied   uint64
	Members   *Members // as of the state
}

// Inspect reads the place of a shard's replica.
func Inspect(s Store, shard kv.ShardID) (Place, error) {
	l, applied, _, err := openLog(s, shard, 0)
	if err != nil {
		return Place{}, err
	}
	return Place{Term: l.hard.GetTerm(), LastIndex: l.last.index, LastTerm: l.last.term,
		Applied: applied.index, Members: l.members}, nil
}

// Alone makes of a replica the only member of its shard, under a number that none had before. All entries
// that it has written down count as committed from then on, but for changes of the members, which have none
// any more that they are about: they become empty. term is one that no replica has heard of.
func Alone(b Batch, s Store, shard kv.ShardID, replica, term uint64) error {
	l, applied, _, err := openLog(s, shard, 0)
	if err != nil {
		return err
	}
	err = l.read(applied.index+1, ^uint64(0), func(e *raftpb.Entry) bool {
		if e.GetType() != raftpb.EntryNormal {
			index, of := e.GetIndex(), e.GetTerm()
			empty := &raftpb.Entry{Index: &index, Term: &of, Type: raftpb.EntryNormal.Enum()}
			b.Set(keys.AppendLogEntry(nil, shard, index), encodeStored(empty))
		}
		return true
	})
	if err != nil {
		return err
	}
	m := &Members{Voters: []uint64{replica}, Version: l.last.index, Next: Incarnation(replica) + 1}
	b.Set(keys.AppendLogRecord(nil, shard, keys.LogMembers), m.encode())
	b.Set(keys.AppendLogRecord(nil, shard, keys.LogHardState), record(term, 0, l.hard.GetCommit()))
	return nil
}

// Number makes the number of a replica.
func Number(node kv.NodeID, incarnation uint64) uint64 { return incarnation<<nodeBits | uint64(node) }
