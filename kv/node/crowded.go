package node

import (
	"moka/kv"
	"moka/kv/engine"
	"moka/kv/raft"
)

// crowded is the engine as a shard of a cluster has it. What adds to the shard is refused, beside what the
// node's own disk says, when there is no majority of replicas on nodes that are up and have room: the full
// ones take what comes until their ballasts are gone, which is for deletes, and then nothing of the shard is
// ever committed, so that all who write wait.
type crowded struct {
	*engine.Engine
	n  *Node
	id kv.ShardID
}

// Room implements shard.Engine.
func (c crowded) Room(g kv.Growth, bytes int) error {
	if room := c.n.room.Load(); g == kv.Adds && room != nil && !c.n.mostTake(c.id, *room) {
		return kv.Errorf(kv.CodeDiskFull, "node", "most of the nodes with shard %d are on full disks, or "+
			"down: nothing is added before most have room; make room there, or delete rows, truncate and "+
			"drop tables, which is possible (moka ctl nodes says which they are)", c.id)
	}
	return c.Engine.Room(g, bytes)
}

// LearnRoom notes which nodes of the cluster are up and take what adds; nil says that all disks have room.
func (n *Node) LearnRoom(room map[kv.NodeID]bool) {
	if room == nil {
		n.room.Store(nil)
		return
	}
	n.room.Store(&room)
}

// mostTake reports whether a majority of a shard's replicas takes what adds, as far as others are concerned:
// what of this node's own disk others have been told may be over.
func (n *Node) mostTake(id kv.ShardID, room map[kv.NodeID]bool) bool {
	m := n.host.Status(id).Members
	if m == nil {
		return true // nobody leads here
	}
	take := 0
	for _, v := range m.Voters {
		if to := raft.Node(v); to == n.record.node || room[to] {
			take++
		}
	}
	return take > len(m.Voters)/2
}
