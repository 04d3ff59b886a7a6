package raft

import (
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"moka/kv"
)

// Message is one of raft's, with the shard that it belongs to. It must not be changed: its entries are those
// of the log.
type Message struct {
	Shard kv.ShardID
	*raftpb.Message
}

// Size is about how many bytes the message has.
func (m Message) Size() int {
	n := 64 + len(m.GetContext())
	for _, e := range m.GetEntries() {
		n += len(e.GetData()) + 32
	}
	return n
}

// Adds reports whether it has entries for the log, or announces a state that takes its place.
func (m Message) Adds() bool {
	return len(m.GetEntries()) > 0 || m.GetType() == raftpb.MsgSnap
}

// Encode returns the message's bytes, without its shard.
func (m Message) Encode() ([]byte, error) { return proto.Marshal(m.Message) }

// DecodeMessage reads what Encode wrote. Nothing is believed of it: what a message may say, and to whom, the
// driver decides.
func DecodeMessage(shard kv.ShardID, b []byte) (Message, error) {
	m := Message{shard, new(raftpb.Message)}
	if err := proto.Unmarshal(b, m.Message); err != nil {
		return m, corrupt("a message does not decode: " + err.Error())
	}
	return m, nil
}
