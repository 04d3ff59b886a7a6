package node

import (
	"context"
	"fmt"

	"moka/kv"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/wire"
)

// Commands by which the replicas of a shard are compared. The first is its leader's; the second every node
// answers for its own replica, whoever leads, and vouches for nothing but that.
const (
	CommandCheck   kv.CommandID = 26 // CheckRequest -> CheckResponse: all replicas look at one state
	CommandChecked kv.CommandID = 27 // CheckedRequest -> CheckedResponse: what the node's replica has found
)

// CheckRequest asks for a comparison.
type CheckRequest struct{}

// AppendTo implements kv.Message.
func (*CheckRequest) AppendTo(b []byte) []byte { return append(b, replicasVersion) }

// Decode implements kv.Message.
func (*CheckRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	return wire.Wrap("CheckRequest", d.Finish())
}

// CheckResponse says behind which entry, and who the replicas are.
type CheckResponse struct {
	Index   uint64
	Members raft.Members
}

// AppendTo implements kv.Message.
func (m *CheckResponse) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, replicasVersion), m.Index)
	return wire.AppendBytes(b, raft.AppendMembers(nil, &m.Members))
}

// Decode implements kv.Message.
func (m *CheckResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	*m = CheckResponse{Index: d.Uvarint()}
	members := d.Bytes()
	if err := d.Finish(); err != nil {
		return wire.Wrap("CheckResponse", err)
	}
	ms, err := raft.DecodeMembers(members)
	if err == nil {
		m.Members = *ms
	}
	return err
}

// CheckedRequest asks a node what its replica has found.
type CheckedRequest struct{}

// AppendTo implements kv.Message.
func (*CheckedRequest) AppendTo(b []byte) []byte { return append(b, replicasVersion) }

// Decode implements kv.Message.
func (*CheckedRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	return wire.Wrap("CheckedRequest", d.Finish())
}

// CheckedResponse is what it has.
type CheckedResponse struct{ host.State }

// maxSums is more than a host makes.
const maxSums = 1 << 16

// AppendTo implements kv.Message.
func (m *CheckedResponse) AppendTo(b []byte) []byte {
	b = append(b, replicasVersion)
	for _, v := range [...]uint64{m.Replica, m.Index, m.Chain, m.Keys, m.Bytes, m.Hash, uint64(len(m.Sums))} {
		b = wire.AppendUvarint(b, v)
	}
	for _, s := range m.Sums {
		b = append(b, byte(s.Group))
		for _, v := range [...]uint64{uint64(s.Tablet), s.Keys, s.Bytes, s.Hash} {
			b = wire.AppendUvarint(b, v)
		}
	}
	return wire.AppendString(wire.AppendBool(b, m.Done), m.Failed)
}

// Decode implements kv.Message.
func (m *CheckedResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, replicasVersion)
	m.State = host.State{Replica: d.Uvarint(), Index: d.Uvarint(), Chain: d.Uvarint(), Keys: d.Uvarint(),
		Bytes: d.Uvarint(), Hash: d.Uvarint()}
	for range d.Bounded(maxSums) {
		if d.Err() != nil {
			break
		}
		m.Sums = append(m.Sums, host.Sum{Group: kv.GroupID(d.Byte()), Tablet: kv.TabletID(d.Uvarint()),
			Keys: d.Uvarint(), Bytes: d.Uvarint(), Hash: d.Uvarint()})
	}
	m.Done, m.Failed = d.Bool(), d.String()
	return wire.Wrap("CheckedResponse", d.Finish())
}

// checkCommands are the commands of a comparison.
func (r Replicas) checkCommands() []kv.Command {
	return []kv.Command{
		{
			ID: CommandCheck, Name: "replicas.Check",
			NewRequest:  func() kv.Message { return new(CheckRequest) },
			NewResponse: func() kv.Message { return new(CheckResponse) },
			Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
				return r.n.check(e.Context(), e.Shard().ID())
			},
		},
		{
			ID: CommandChecked, Name: "replicas.Checked",
			NewRequest:  func() kv.Message { return new(CheckedRequest) },
			NewResponse: func() kv.Message { return new(CheckedResponse) },
			Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
				return r.n.checked(e.Shard().ID())
			},
		},
	}
}

func (n *Node) check(ctx context.Context, id kv.ShardID) (*CheckResponse, error) {
	index, err := n.host.Check(ctx, id)
	if err != nil {
		return nil, err
	}
	s := n.host.Status(id)
	if s.Members == nil {
		return nil, kv.NotLeader("replicas", kv.Lead{Shard: id})
	}
	return &CheckResponse{Index: index, Members: *s.Members}, nil
}

func (n *Node) checked(id kv.ShardID) (*CheckedResponse, error) {
	if n.host == nil || n.shard(id) == nil {
		return nil, kv.Errorf(kv.CodeNotFound, "replicas", "this node has no replica of shard %d", id)
	}
	return &CheckedResponse{n.host.Checked(id)}, nil
}

// GroupName is what a locality group is called.
func (n *Node) GroupName(id kv.GroupID) string {
	for _, g := range n.registry.Groups() {
		if g.ID == id && g.Name != "" {
			return g.Name
		}
	}
	return fmt.Sprint(id)
}
