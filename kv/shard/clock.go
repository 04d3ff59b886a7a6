package shard

import (
	"context"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/wire"
)

// The clock of a shard's raw writes is part of its state: who leads the shard next begins above everything
// that is stored, whatever the clock of its machine says.
//
//	+-----------+-----------------+---------------+
//	| version 1 | ceiling uvarint | ahead uvarint |
//	+-----------+-----------------+---------------+
const clockVersion = 1

func clockKey(id kv.ShardID) []byte { return keys.AppendState(nil, id, keys.StateClock, 0) }

func putClock(b engine.Batch, id kv.ShardID, ceiling, ahead kv.Timestamp) error {
	v := wire.AppendUvarint([]byte{clockVersion}, uint64(ceiling))
	return b.Set(clockKey(id), wire.AppendUvarint(v, uint64(ahead)), nil)
}

func loadClock(e Engine, key []byte) (ceiling, ahead kv.Timestamp, err error) {
	b, ok, err := e.Get(key)
	if err != nil || !ok {
		return 0, 0, err
	}
	d := wire.NewDecoder(b, clockVersion)
	ceiling, ahead = d.Timestamp(), d.Timestamp()
	return ceiling, ahead, wire.Wrap("clock of raw writes", d.Finish())
}

// LoadClock implements bigtable.ClockStore.
func (s *Replica) LoadClock() (ceiling, ahead kv.Timestamp, err error) {
	return loadClock(s.e, clockKey(s.id))
}

// SaveClock implements bigtable.ClockStore. Calls come one at a time.
func (s *Leadership) SaveClock(ceiling, ahead kv.Timestamp) error {
	if err := s.e.Failed(); err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	if err := putClock(b, s.id, ceiling, ahead); err != nil {
		return err
	}
	return s.repl.Propose(context.Background(), &Proposal{Term: s.term, Batch: b})
}

// AdoptClock gives the clock that a release with one clock for the node has left there to its shards, all of
// which it stands for. It is done before they are opened.
func AdoptClock(e Engine, shards []kv.ShardID) error {
	old := keys.AppendNode(nil, keys.NodeClock, nil)
	ceiling, ahead, err := loadClock(e, old)
	if err != nil || ceiling == 0 && ahead == 0 {
		return err
	}
	b := e.NewBatch()
	defer b.Close()
	for _, id := range shards {
		if err := raiseClock(b, e, id, ceiling, ahead); err != nil {
			return err
		}
	}
	if err := b.Delete(old, nil); err != nil {
		return err
	}
	e.Commit(b)
	return nil
}

// raiseClock puts into the batch that a shard's clock is at least at these. Nothing of the shard runs.
func raiseClock(b engine.Batch, e Engine, id kv.ShardID, ceiling, ahead kv.Timestamp) error {
	c, a, err := loadClock(e, clockKey(id))
	if err != nil || c >= ceiling && a >= ahead {
		return err
	}
	return putClock(b, id, max(c, ceiling), max(a, ahead))
}
