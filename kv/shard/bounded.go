package shard

import (
	"slices"

	"moka/kv"
	"moka/kv/memtable"
)

// bounded is an in-memory group with a bound: what the table does not hold is read from its image on disk. A
// set that is not on disk yet is in the table; a delete shows on disk a moment before it is durable.
type bounded struct {
	*memtable.Table
	s *Replica
	g kv.GroupID
}

// Ascend implements kv.MemTable.
func (m bounded) Ascend(run uint32, span kv.Span, f func(a kv.Address, v kv.Version) bool) error {
	evictions := m.Evictions(run)
	from, done := m.AscendHere(run, span, f)
	if done {
		return nil
	}
	span.Start = from
	it, err := m.s.e.Versions(m.s.id, kv.IterOptions{Group: m.g, Run: run, Span: span})
	if err != nil {
		return err
	}
	defer it.Close()
	var served kv.Tablet
	here := true
	for it.NextColumn() {
		// A tablet that is arriving lies there before it is served.
		if row := it.Column().Row; served.ID == 0 || !served.Span.Contains(row) {
			if served, _ = m.s.Find(row); served.ID == 0 {
				continue
			}
		}
		for ok := true; ok; ok = it.NextVersion() {
			a, v := kv.Address{Group: m.g, Run: run, Column: it.Column()}, it.Version()
			if here {
				if _, here = m.Get(a, v.Timestamp); !here {
					m.Verified(run, evictions, from, a.Row)
				}
			}
			if !f(a, v) {
				if here {
					m.Verified(run, evictions, from, a.Row)
				}
				return it.Err()
			}
		}
	}
	if err := it.Err(); err != nil || !here {
		return err
	}
	m.Verified(run, evictions, from, span.End)
	return nil
}

// latest is Latest of a bounded group. With latched the command has the latch of the row, and what it reads
// from disk is kept: who reads it is about to replace it.
func (s *Replica) latest(t *memtable.Table, a kv.Address, most kv.Timestamp,
	latched bool) (kv.Version, bool, error) {
	v, ok, disk, missed := t.Look(a, most)
	if disk == 0 {
		v.Value = slices.Clone(v.Value)
		return v, ok, nil
	}
	d, found, err := s.e.Latest(s.id, a, disk)
	if err != nil || !found || ok && v.Timestamp >= d.Timestamp {
		v.Value = slices.Clone(v.Value)
		return v, ok, err
	}
	if latched {
		t.Admit(own(a, d.Timestamp, d.Value), missed)
	}
	return d, true, nil
}
