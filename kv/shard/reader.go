package shard

import (
	"slices"

	"moka/kv"
)

// reader implements kv.Reader on a shard's state.
type reader struct{ s *Shard }

func (r reader) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	if m := r.s.mem[a.Group]; m != nil {
		v, ok := m.Get(a, ts)
		return slices.Clone(v), ok, nil
	}
	return r.s.e.GetVersion(r.s.id, a, ts)
}

func (r reader) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	if m := r.s.mem[a.Group]; m != nil {
		v, ok := m.Latest(a, max)
		v.Value = slices.Clone(v.Value)
		return v, ok, nil
	}
	return r.s.e.Latest(r.s.id, a, max)
}

func (r reader) Iter(o kv.IterOptions) (kv.Iterator, error) {
	if m := r.s.mem[o.Group]; m != nil {
		return m.NewIterator(o), nil
	}
	return r.s.e.Versions(r.s.id, o)
}
