package node

import (
	"context"
	"slices"
	"strconv"
	"time"

	"moka/kv"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/shard"
	"moka/kv/wire"
)

// Commands of a member's own, beside those of the store.
const (
	CommandMembers kv.CommandID = 24 // MembersRequest -> MembersResponse: who has a replica of the shard
	CommandOrder   kv.CommandID = 25 // OrderRequest -> MembersRequest: a step, or another leader
)

// MembersRequest asks a shard's leader for its replicas.
type MembersRequest struct{}

// AppendTo implements kv.Message.
func (*MembersRequest) AppendTo(b []byte) []byte { return append(b, replicasVersion) }

// Decode implements kv.Message.
func (*MembersRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	return wire.Wrap("MembersRequest", d.Finish())
}

// MembersResponse is what a leader knows of the replicas of its shard.
type MembersResponse struct {
	Leader  kv.NodeID
	Term    uint64
	Applied uint64
	Members raft.Members
	Peers   []raft.Peer
}

const (
	replicasVersion = 1
	maxPeers        = 64
)

// AppendTo implements kv.Message.
func (m *MembersResponse) AppendTo(b []byte) []byte {
	b = append(b, replicasVersion)
	for _, v := range [...]uint64{uint64(m.Leader), m.Term, m.Applied, uint64(len(m.Peers))} {
		b = wire.AppendUvarint(b, v)
	}
	for _, p := range m.Peers {
		b = wire.AppendUvarint(wire.AppendUvarint(b, p.Replica), p.Match)
		b = wire.AppendBool(wire.AppendBool(b, p.There), p.Waits)
	}
	return wire.AppendBytes(b, raft.AppendMembers(nil, &m.Members))
}

// Decode implements kv.Message.
func (m *MembersResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	*m = MembersResponse{Leader: kv.NodeID(d.Uvarint()), Term: d.Uvarint(), Applied: d.Uvarint()}
	for range d.Bounded(maxPeers) {
		m.Peers = append(m.Peers, raft.Peer{Replica: d.Uvarint(), Match: d.Uvarint(), There: d.Bool(),
			Waits: d.Bool()})
	}
	members := d.Bytes()
	if err := d.Finish(); err != nil {
		return wire.Wrap("MembersResponse", err)
	}
	ms, err := raft.DecodeMembers(members)
	if err == nil {
		m.Members = *ms
	}
	return err
}

// OrderRequest is a step of a shard's members, or, with HandOver, another leader; see raft.Change.
type OrderRequest struct {
	Version  uint64
	Learn    kv.NodeID
	Promote  uint64
	Remove   uint64
	HandOver kv.NodeID
}

// AppendTo implements kv.Message.
func (m *OrderRequest) AppendTo(b []byte) []byte {
	b = append(b, replicasVersion)
	for _, v := range [...]uint64{m.Version, uint64(m.Learn), m.Promote, m.Remove, uint64(m.HandOver)} {
		b = wire.AppendUvarint(b, v)
	}
	return b
}

// Decode implements kv.Message.
func (m *OrderRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	*m = OrderRequest{Version: d.Uvarint(), Learn: kv.NodeID(d.Uvarint()), Promote: d.Uvarint(),
		Remove: d.Uvarint(), HandOver: kv.NodeID(d.Uvarint())}
	return wire.Wrap("OrderRequest", d.Finish())
}

// Replicas is the coprocessor by which replicas are asked for and moved, of a member of a cluster; with nil
// it only knows the commands.
type Replicas struct{ n *Node }

var _ kv.Coprocessor = Replicas{}

// Name implements kv.Coprocessor.
func (Replicas) Name() string { return "replicas" }

// Groups implements kv.Coprocessor.
func (Replicas) Groups() []kv.GroupSpec { return nil }

// OpenShard implements kv.Coprocessor.
func (Replicas) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }

// Commands implements kv.Coprocessor. They are answered as reads are, behind the lease, but for CommandChecked
// (Node.Handle).
func (r Replicas) Commands() []kv.Command {
	return append(r.checkCommands(), []kv.Command{
		{
			ID: CommandMembers, Name: "replicas.Members",
			NewRequest:  func() kv.Message { return new(MembersRequest) },
			NewResponse: func() kv.Message { return new(MembersResponse) },
			Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
				return r.n.membersOf(e.Context(), e.Shard().ID())
			},
		},
		{
			ID: CommandOrder, Name: "replicas.Order",
			NewRequest:  func() kv.Message { return new(OrderRequest) },
			NewResponse: func() kv.Message { return new(MembersRequest) },
			Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
				return new(MembersRequest), r.n.order(e.Context(), e.Shard().ID(), req.(*OrderRequest))
			},
		},
	}...)
}

func (n *Node) membersOf(ctx context.Context, id kv.ShardID) (*MembersResponse, error) {
	ps, err := n.host.Peers(ctx, id)
	if err != nil {
		return nil, err
	}
	s := n.host.Status(id)
	if s.Members == nil {
		return nil, kv.NotLeader("replicas", kv.Lead{Shard: id})
	}
	return &MembersResponse{Leader: n.record.node, Term: s.Term, Applied: s.Applied, Members: *s.Members,
		Peers: ps}, nil
}

func (n *Node) order(ctx context.Context, id kv.ShardID, o *OrderRequest) error {
	if o.HandOver == 0 {
		return n.host.Change(ctx, raft.Change{Shard: id, Version: o.Version, Learn: o.Learn,
			Promote: o.Promote, Remove: o.Remove})
	}
	s := n.shard(id)
	if s == nil || o.HandOver == n.record.node {
		return nil
	}
	// Not here: it waits for the commands that run, and this is one.
	n.handing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), orderedTime)
		defer cancel()
		if err := n.handOver(ctx, s, []kv.NodeID{o.HandOver}, 1); err != nil {
			n.logger.Warn("a shard that was to be handed over stays", "shard", id, "err", err)
		}
	})
	return nil
}

const (
	// orderedTime bounds how long one member is asked to take a shard.
	orderedTime = 5 * time.Second
	// orphanTime is after how long without a leader a replica asks whether it still is one.
	orphanTime = 10 * time.Second
	// orphanLook is how often that is looked at.
	orphanLook = 2 * time.Second
)

// watchReplicas looks for replicas that are members no more and have not heard of it: nobody talks to them.
func (n *Node) watchReplicas(ctx context.Context) {
	t := time.NewTicker(orphanLook)
	defer t.Stop()
	since := map[kv.ShardID]time.Time{} // without a leader
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, s := range n.here() {
			st := n.host.Status(s.ID())
			began, silent := since[s.ID()]
			switch {
			case st.Leader != 0 || st.Members == nil:
				delete(since, s.ID())
			case !silent:
				since[s.ID()] = time.Now()
			case time.Since(began) > orphanTime:
				n.prove(ctx, s.ID(), st)
			}
		}
	}
}

// prove asks the leader of a shard, behind its lease, who the members are. Only that is proof: whoever else
// says that a replica is none may have slept for long, or not have heard yet of one that was just added.
func (n *Node) prove(ctx context.Context, id kv.ShardID, st raft.Status) {
	store := n.reach.Load()
	if store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, orphanLook)
	defer cancel()
	resp, err := (*store).Call(ctx, id, nil, CommandMembers, &MembersRequest{})
	if err != nil {
		return
	}
	m, ok := resp.(*MembersResponse)
	if ok && !m.Members.Has(st.Replica) && m.Members.Next > raft.Incarnation(st.Replica) {
		n.host.Remove(id, st.Replica)
	}
}

// openShard opens what the engine has of a shard. Who leads it, in a cluster, is elected.
func (n *Node) openShard(id kv.ShardID) (*shard.Replica, error) {
	o := shard.Options{
		ID: id, Node: n.record.node, Engine: n.engine, Registry: n.registry, Describe: n.describe,
		Logger: n.logger,
	}
	if n.o.Cluster != nil {
		o.Node, o.Engine = 0, crowded{n.engine, n, id}
	}
	return shard.Open(o)
}

// createReplica is called when this node is to have a replica that it has not.
func (n *Node) createReplica(id kv.ShardID) (*shard.Replica, error) {
	if id < 1 || int(id) > len(n.slots) {
		return nil, kv.Errorf(kv.CodeCorrupt, "node", "a replica of shard %d comes here, and there are %d "+
			"shards", id, len(n.slots))
	}
	s, err := n.openShard(id)
	if err == nil {
		n.slots[id-1].Store(s)
	}
	return s, err
}

func (n *Node) replicaGone(id kv.ShardID) { n.slots[id-1].Store(nil) }

// hasReplica reports whether a shard of a cluster has a replica in this node's directory.
func (n *Node) hasReplica(id kv.ShardID) (bool, error) {
	if n.o.Cluster == nil {
		return true, nil
	}
	return host.Has(n.engine, n.record.node, id)
}

// here lists the replicas of this node, by shard.
func (n *Node) here() []*shard.Replica {
	rs := make([]*shard.Replica, 0, len(n.slots))
	for i := range n.slots {
		if s := n.slots[i].Load(); s != nil {
			rs = append(rs, s)
		}
	}
	return rs
}

func sortedNodes[V any](m map[kv.NodeID]V) (ids []kv.NodeID) {
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func itoa(id kv.NodeID) string { return strconv.FormatUint(uint64(id), 10) }
