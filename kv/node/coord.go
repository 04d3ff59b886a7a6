package node

import (
	"moka/kv/coord/local"
	"moka/kv/engine"
	"moka/kv/keys"
)

// CoordStore is the part of the node's key space in which the local coordination service lives. It shares the node's
// log, and so its fsyncs, with the shards.
type CoordStore struct{ e *engine.Engine }

// CoordStore gives the local coordination service its storage.
func (n *Node) CoordStore() CoordStore { return CoordStore{n.engine} }

var _ local.Store = CoordStore{}

// key puts a service's key, which ends with the comparer's sentinel, into the node-local space.
func (CoordStore) key(k []byte) []byte { return keys.AppendNode(nil, keys.NodeCoord, k[:len(k)-1]) }

// Get implements local.Store.
func (s CoordStore) Get(key []byte) ([]byte, bool, error) { return s.e.Get(s.key(key)) }

// Scan implements local.Store.
func (s CoordStore) Scan(prefix []byte, fn func(key, value []byte) error) error {
	lower, upper := keys.NodeSpan(keys.NodeCoord, prefix)
	return s.e.Scan(lower, upper, func(k, v []byte) error { return fn(k[2:], v) })
}

// Apply implements local.Store.
func (s CoordStore) Apply(sets []local.KV, deletes [][]byte) error {
	if err := s.e.Failed(); err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	for _, kv := range sets {
		if err := b.Set(s.key(kv.Key), kv.Value, nil); err != nil {
			return err
		}
	}
	for _, k := range deletes {
		if err := b.Delete(s.key(k), nil); err != nil {
			return err
		}
	}
	s.e.Commit(b)
	return nil
}
