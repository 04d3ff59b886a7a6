package node

import (
	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/keys"
	"moka/kv/wire"
)

var _ bigtable.ClockStore = (*Node)(nil)

// The state of the raw writes' clock, under a node-local key:
//
//	+-----------+-----------------+---------------+
//	| version 1 | ceiling uvarint | ahead uvarint |
//	+-----------+-----------------+---------------+
const clockVersion = 1

func clockKey() []byte { return keys.AppendNode(nil, keys.NodeClock, nil) }

// LoadClock implements bigtable.ClockStore.
func (n *Node) LoadClock() (ceiling, ahead kv.Timestamp, err error) {
	b, ok, err := n.engine.Get(clockKey())
	if err != nil || !ok {
		return 0, 0, err
	}
	d := wire.NewDecoder(b, clockVersion)
	ceiling, ahead = d.Timestamp(), d.Timestamp()
	return ceiling, ahead, wire.Wrap("node clock", d.Finish())
}

// SaveClock implements bigtable.ClockStore.
func (n *Node) SaveClock(ceiling, ahead kv.Timestamp) error {
	if err := n.engine.Failed(); err != nil {
		return err
	}
	v := wire.AppendUvarint([]byte{clockVersion}, uint64(ceiling))
	b := n.engine.NewBatch()
	defer b.Close()
	if err := b.Set(clockKey(), wire.AppendUvarint(v, uint64(ahead)), nil); err != nil {
		return err
	}
	n.engine.Commit(b)
	return nil
}
