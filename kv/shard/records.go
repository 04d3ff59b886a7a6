package shard

import (
	"context"

	"moka/kv"
	"moka/kv/keys"
)

// Record is a part of a shard's state that lies in no tablet: nothing splits, freezes or moves it.
type Record struct{ Key, Value []byte }

// LoadRecord reads a record of a kind.
func (s *Replica) LoadRecord(kind keys.StateKind, key []byte) (value []byte, ok bool, err error) {
	return s.e.Get(keys.AppendRecord(nil, s.id, kind, key))
}

// ScanRecords reads the records of a kind whose keys begin with prefix, ascending. What f gets is valid
// during the call only.
func (s *Replica) ScanRecords(kind keys.StateKind, prefix []byte, f func(key, value []byte) error) error {
	lower, upper := keys.RecordSpan(s.id, kind, prefix)
	return s.e.Scan(lower, upper, func(k, v []byte) error {
		key, ok := keys.RecordKey(k)
		if !ok {
			return kv.Errorf(kv.CodeCorrupt, "shard.ScanRecords", "key %x is no record's", k)
		}
		return f(key, v)
	})
}

// SaveRecords changes records in one atomic step of the shard's log. It returns when the change is applied;
// an error means that nothing happened, or is kv.ErrOutcomeUnknown: then the leadership is over.
func (s *Leadership) SaveRecords(kind keys.StateKind, sets []Record, deletes [][]byte) error {
	if err := s.e.Failed(); err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	for _, r := range sets {
		if err := b.Set(keys.AppendRecord(nil, s.id, kind, r.Key), r.Value, nil); err != nil {
			return err
		}
	}
	for _, k := range deletes {
		if err := b.Delete(keys.AppendRecord(nil, s.id, kind, k), nil); err != nil {
			return err
		}
	}
	return s.repl.Propose(context.Background(), &Proposal{Term: s.term, Batch: b})
}

// Lease is nil if this was the shard's only leadership at some moment within the call; see Replicator.Lease.
func (s *Leadership) Lease(ctx context.Context) error { return s.repl.Lease(ctx) }

// Leased is Lease for who cannot wait: false if it is not known without asking.
func (s *Leadership) Leased() bool { return s.repl.Leased() }
