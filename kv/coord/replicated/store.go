package replicated

import (
	"context"
	"errors"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/local"
	"moka/kv/keys"
	"moka/kv/shard"
)

// Log is what the service needs of the leadership that it lives in; *shard.Leadership is one.
type Log interface {
	LoadRecord(kind keys.StateKind, key []byte) (value []byte, ok bool, err error)
	ScanRecords(kind keys.StateKind, prefix []byte, f func(key, value []byte) error) error
	SaveRecords(kind keys.StateKind, sets []shard.Record, deletes [][]byte) error
	Lease
}

// Lease is the right to answer for the shard.
type Lease interface {
	// Lease is nil if this was the shard's only leadership at some moment within the call.
	Lease(ctx context.Context) error
	// Leased is Lease for who cannot wait: false if nobody can tell without asking others.
	Leased() bool
}

// store keeps the service's keys, which end with the comparer's sentinel, as records of the shard.
type store struct {
	ctx context.Context // ends with the leadership
	log Log
}

var _ local.Store = store{}

// Get implements local.Store.
func (s store) Get(key []byte) ([]byte, bool, error) {
	return s.log.LoadRecord(keys.StateCoord, bare(key))
}

// Scan implements local.Store.
func (s store) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return s.log.ScanRecords(keys.StateCoord, prefix, func(k, v []byte) error {
		return fn(append(k[:len(k):len(k)], 0), v)
	})
}

// busyPause is how long a change waits for a shard that takes no more at the moment.
const busyPause = 10 * time.Millisecond

// Apply implements local.Store. That the shard's log is full is not told: after an error the service takes no
// change any more, and sessions end by a change.
func (s store) Apply(sets []local.KV, deletes [][]byte) error {
	records := make([]shard.Record, len(sets))
	for i, kv := range sets {
		records[i] = shard.Record{Key: bare(kv.Key), Value: kv.Value}
	}
	gone := make([][]byte, len(deletes))
	for i, k := range deletes {
		gone[i] = bare(k)
	}
	for {
		err := s.log.SaveRecords(keys.StateCoord, records, gone)
		switch {
		case errors.Is(err, kv.ErrInvalidArgument):
			return &coord.Error{Code: coord.CodeInvalid, Err: err}
		case !errors.Is(err, kv.ErrBusy):
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-s.ctx.Done():
			return err
		}
	}
}

func bare(key []byte) []byte { return key[:len(key)-1] }

// Found puts into the first state of a shard that the service is there, and empty.
func Found(id kv.ShardID, set func(key, value []byte) error) error {
	for _, r := range local.Empty() {
		if err := set(keys.AppendRecord(nil, id, keys.StateCoord, bare(r.Key)), r.Value); err != nil {
			return err
		}
	}
	return nil
}

// offline reads the service in a state that nobody leads.
type offline struct {
	id   kv.ShardID
	read interface {
		Get(key []byte) (value []byte, ok bool, err error)
	}
}

func (o offline) Get(key []byte) ([]byte, bool, error) {
	return o.read.Get(keys.AppendRecord(nil, o.id, keys.StateCoord, bare(key)))
}
func (o offline) Scan([]byte, func(key, value []byte) error) error { return errors.ErrUnsupported }
func (o offline) Apply([]local.KV, [][]byte) error                 { return errors.ErrUnsupported }

// Recover puts into the state of a shard, of which nobody knows whether it is the latest one, what
// local.Recovered says.
func Recover(
	id kv.ShardID, read interface {
		Get(key []byte) (value []byte, ok bool, err error)
	}, set func(key, value []byte) error,
	change func(get func(key string) ([]byte, error)) (map[string][]byte, error),
) error {
	sets, err := local.Recovered(offline{id, read}, nil, change)
	if err != nil {
		return err
	}
	for _, r := range sets {
		if err := set(keys.AppendRecord(nil, id, keys.StateCoord, bare(r.Key)), r.Value); err != nil {
			return err
		}
	}
	return nil
}
