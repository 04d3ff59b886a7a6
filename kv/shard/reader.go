package shard

import (
	"slices"

	"moka/kv"
)

// reader implements kv.Reader on a shard's state.
type reader struct{ replica *Replica }

func (r reader) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	if m := r.replica.mem[a.Group]; m != nil {
		if v, ok := m.Get(a, ts); ok || !m.Bounded() {
			return slices.Clone(v), ok, nil
		}
	}
	return r.replica.e.GetVersion(r.replica.id, a, ts)
}

func (r reader) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	if m := r.replica.mem[a.Group]; m != nil {
		if m.Bounded() {
			return r.replica.latest(m, a, max, false)
		}
		v, ok := m.Latest(a, max)
		v.Value = slices.Clone(v.Value)
		return v, ok, nil
	}
	return r.replica.e.Latest(r.replica.id, a, max)
}

func (r reader) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	for _, a := range columns {
		if r.replica.mem[a.Group] != nil {
			return kv.EachLatest(r, columns, max, found)
		}
	}
	return r.replica.e.LatestOf(r.replica.id, columns, max, found)
}

func (r reader) Iter(o kv.IterOptions) (kv.Iterator, error) {
	if m := r.replica.mem[o.Group]; m != nil && !m.Bounded() {
		return m.NewIterator(o), nil
	}
	return r.replica.e.Versions(r.replica.id, o)
}
