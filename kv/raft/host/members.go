package host

import (
	"context"
	"encoding/binary"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
	"moka/kv/shard"
)

// Replicas come and go with what the members of a shard agree on:
//
//	message for a replica that is not here ─► records of an empty one ─► it asks for the state
//	Turn.Removed, a message for a later one, or proof ─► tombstone and no data, in one batch
//
// What a node has of a shard is in a record beside its log:
//
//	| version 1 | replica uv, zero for none | the least incarnation that may still be created here uv |
//
// A replica from the shard's beginning has none, and its node's number.
const replicaVersion = 1

type numbered struct{ replica, least uint64 }

func replicaKey(id kv.ShardID) []byte {
	return keys.AppendNode(nil, keys.NodeReplica, binary.BigEndian.AppendUint32(nil, uint32(id)))
}

func (n numbered) put(b engine.Batch, id kv.ShardID) {
	v := binary.AppendUvarint(binary.AppendUvarint([]byte{replicaVersion}, n.replica), n.least)
	must(b.Set(replicaKey(id), v, nil))
}

func readNumber(e Engine, node kv.NodeID, id kv.ShardID) (n numbered, err error) {
	b, ok, err := e.Get(replicaKey(id))
	if err != nil {
		return n, err
	}
	if !ok {
		if _, ok, err = e.Get(keys.AppendLogRecord(nil, id, keys.LogMembers)); ok {
			n.replica = uint64(node)
		}
		return n, err
	}
	good := len(b) > 0 && b[0] == replicaVersion
	if good {
		b = b[1:]
		n.replica, b, good = cutNumber(b, true)
		n.least, b, good = cutNumber(b, good)
	}
	if !good || len(b) != 0 {
		return n, kv.Errorf(kv.CodeCorrupt, "raft", "shard %d: the record of this node's replica is "+
			"damaged, or of a later release", id)
	}
	return n, nil
}

// Has reports whether a node has a replica of a shard.
func Has(e Engine, node kv.NodeID, id kv.ShardID) (bool, error) {
	n, err := readNumber(e, node, id)
	return n.replica != 0, err
}

// admit makes room for replicas that the leaders of shards have given to this node. What a message says is
// believed as far as its sender is a node of the cluster.
func (h *Host) admit(ms []raft.Message) error {
	for _, m := range ms {
		to := m.GetTo()
		if raft.Incarnation(to) == 0 || raft.Node(to) != h.o.Node {
			continue
		}
		g := h.group(m.Shard)
		switch {
		case g != nil && raft.Incarnation(to) > raft.Incarnation(g.number):
			h.driver.Remove(m.Shard, g.number) // a later one is a member, so this one is not
		case g == nil && h.o.Create != nil:
			if err := h.create(m.Shard, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Host) create(id kv.ShardID, replica uint64) error {
	have, err := readNumber(h.o.Engine, h.o.Node, id)
	if err != nil || have.replica != 0 || raft.Incarnation(replica) < have.least {
		return err
	}
	b := h.o.Engine.NewBatch()
	defer b.Close()
	raft.Create(&batch{b}, id)
	numbered{replica, have.least}.put(b, id)
	h.o.Engine.Commit(b)
	r, err := h.o.Create(id)
	if err != nil {
		return err
	}
	h.o.Logger.Info("this node gets a replica of a shard", "shard", id, "replica", replica)
	return h.open(r)
}

// open adds a replica whose records are in the engine.
func (h *Host) open(r *shard.Replica) error {
	n, err := readNumber(h.o.Engine, h.o.Node, r.ID())
	if err == nil {
		_, err = h.driver.Open(h.clock.now(), store{h.o.Engine}, r.ID(), n.replica)
	}
	if err == nil {
		h.groups = append(h.groups, &group{h: h, replica: r, number: n.replica})
	}
	return err
}

// remove does away with a replica that is a member no more. Whoever reads it still is refused behind the
// read, for nobody leads here.
func (h *Host) remove(x raft.Removed) {
	h.o.Gone(x.Shard)
	b := h.o.Engine.NewBatch()
	defer b.Close()
	Drop(b, x.Shard, raft.Incarnation(x.Replica)+1)
	h.o.Engine.Commit(b)
	h.driver.Close(x.Shard)
	for i, g := range h.groups {
		if g.replica.ID() == x.Shard {
			h.groups = append(h.groups[:i:i], h.groups[i+1:]...)
			break
		}
	}
	h.mu.Lock()
	delete(h.statuses, x.Shard)
	if c := h.checks[x.Shard]; c != nil {
		c.cancel()
		delete(h.checks, x.Shard)
	}
	h.mu.Unlock()
	h.o.Logger.Info("this node's replica of a shard is removed", "shard", x.Shard, "replica", x.Replica)
}

// Remove does away with a replica of which there is proof that it is a member no more.
func (h *Host) Remove(id kv.ShardID, replica uint64) {
	h.between(func() { h.driver.Remove(id, replica) })
}

// Peers is what the leader of a shard knows of its replicas; nothing if it is not here.
func (h *Host) Peers(ctx context.Context, id kv.ShardID) (ps []raft.Peer, err error) {
	done := make(chan []raft.Peer, 1)
	h.between(func() { done <- h.driver.Peers(h.clock.now(), id) })
	select {
	case ps = <-done:
		return ps, nil
	case <-h.ctx.Done():
		return nil, errClosed
	case <-ctx.Done():
		return nil, &kv.Error{Code: kv.CodeUnavailable, Op: "raft", Err: ctx.Err()}
	}
}

// Change asks for the next step of a shard's members, if it is led here. Nil says that it is in the log.
func (h *Host) Change(ctx context.Context, c raft.Change) error {
	answer := make(chan error, 1)
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return errClosed
	}
	h.changes[&c] = answer
	h.in.Changes = append(h.in.Changes, &c)
	h.mu.Unlock()
	h.kick()
	select {
	case err := <-answer:
		return err
	case <-h.ctx.Done():
		return errClosed
	case <-ctx.Done():
		return &kv.Error{Code: kv.CodeOutcomeUnknown, Op: "raft", Err: ctx.Err()}
	}
}

// changed answers who has asked for a step.
func (h *Host) changed(c raft.Changed) {
	h.mu.Lock()
	answer := h.changes[c.Change]
	delete(h.changes, c.Change)
	h.mu.Unlock()
	if c.Err == raft.ErrNotLeader {
		c.Err = h.notLeader(c.Change.Shard)
	}
	if answer != nil {
		answer <- c.Err
	}
}

// between runs f between two turns.
func (h *Host) between(f func()) {
	h.mu.Lock()
	h.calls = append(h.calls, f)
	h.mu.Unlock()
	h.kick()
}
