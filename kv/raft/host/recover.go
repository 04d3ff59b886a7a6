package host

import (
	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
)

// Found is a replica in the directory of a node that is down.
type Found struct {
	Replica uint64
	raft.Place
}

// Inspect finds a shard's replica; false if there is none with a state of its own.
func Inspect(e Engine, node kv.NodeID, id kv.ShardID) (f Found, ok bool, err error) {
	n, err := readNumber(e, node, id)
	if err != nil || n.replica == 0 {
		return f, false, err
	}
	f.Replica = n.replica
	f.Place, err = raft.Inspect(store{e}, id)
	return f, err == nil && f.Applied > 0, err
}

// Alone makes of this node's replica of a shard the only one, with a number that none had; see raft.Alone.
func Alone(b engine.Batch, e Engine, id kv.ShardID, replica, term uint64) error {
	numbered{replica, raft.Incarnation(replica)}.put(b, id)
	return raft.Alone(&batch{b}, store{e}, id, replica, term)
}

// Drop does away with this node's replica of a shard, if there is one: another one is the only one, and those
// that come are of the incarnation least at least.
func Drop(b engine.Batch, id kv.ShardID, least uint64) {
	numbered{0, least}.put(b, id)
	for _, span := range [...]func(kv.ShardID) (lower, upper []byte){keys.LogSpan, keys.ShardSpan} {
		lower, upper := span(id)
		must(b.DeleteRange(lower, upper, nil))
	}
}
