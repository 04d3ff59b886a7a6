package engine

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"moka/kv"
	"moka/kv/keys"
)

// GetVersion returns a copy of the value of exactly that version.
func (e *Engine) GetVersion(shard kv.ShardID, a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	buf := e.keys.Get().(*[]byte)
	defer e.keys.Put(buf)
	*buf = keys.AppendVersion(keys.AppendColumn((*buf)[:0], shard, a), ts)
	return e.Get(*buf)
}

// Versions returns an iterator over a shard's columns and versions, of the state at this moment.
func (e *Engine) Versions(shard kv.ShardID, o kv.IterOptions) (kv.Iterator, error) {
	if o.Max == 0 {
		o.Max = kv.MaxTimestamp
	}
	lower, upper := keys.AppendSpan(make([]byte, 0, 96), shard, o.Group, o.Run, o.Span)
	if bytes.Compare(lower, upper) >= 0 {
		upper = lower // an empty span; Pebble insists on order
	}
	it, err := e.newVersionsIter(lower, upper, o)
	if err != nil {
		return nil, err
	}
	return &versions{e: e, it: it, shard: shard, o: o}, nil
}

// newVersionsIter leaves out the blocks and tables on disk that have nothing between Min and Max. A deletion lies where its version
// would, and keys that are there although they are not wanted are skipped in settle.
func (e *Engine) newVersionsIter(lower, upper []byte, o kv.IterOptions) (*pebble.Iterator, error) {
	if o.Min == 0 {
		return e.newIter(lower, upper)
	}
	if o.Reverse {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "engine.Versions", "Min goes with forward iteration only")
	}
	it, err := e.db.NewIter(&pebble.IterOptions{
		LowerBound: lower, UpperBound: upper, KeyTypes: pebble.IterKeyTypePointsOnly,
		PointKeyFilters: []pebble.BlockPropertyFilter{cockroachkvs.NewMVCCTimeIntervalFilter(keys.Wall(o.Min), keys.Wall(o.Max))},
	})
	return it, e.ioError("engine.Versions", err)
}

// versions implements kv.Iterator. Where the underlying iterator stands, in words:
//
//	unset   before the first move
//	at      on the version that Version returns
//	ahead   on the first key of the next column, because NextVersion ran out of versions (forward only)
//	end     nowhere
type versions struct {
	e     *Engine
	it    *pebble.Iterator
	shard kv.ShardID
	o     kv.IterOptions

	state  iterState
	col    []byte // the present column's key without a version
	row    []byte // memory for the present column's row
	key    keys.Key
	value  []byte
	seek   []byte // memory for seek keys
	valid  bool   // Column and Version mean something
	failed error
}

type iterState uint8

const (
	unset iterState = iota
	at
	ahead
	end
)

var _ kv.Iterator = (*versions)(nil)

// NextColumn implements kv.Iterator.
func (v *versions) NextColumn() bool {
	v.valid = false
	if v.o.Reverse {
		switch v.state {
		case unset:
			return v.settleReverse(v.it.Last())
		case at:
			return v.settleReverse(v.it.SeekLT(v.col))
		}
		return false
	}
	switch v.state {
	case unset:
		return v.settle(v.it.First())
	case at:
		return v.settle(v.it.NextPrefix())
	case ahead:
		return v.settle(v.it.Valid())
	}
	return false
}

// SeekColumn implements kv.Iterator.
func (v *versions) SeekColumn(c kv.Column) bool {
	v.valid = false
	a := kv.Address{Group: v.o.Group, Run: v.o.Run, Column: c}
	v.seek = keys.AppendColumn(v.seek[:0], v.shard, a)
	if v.o.Reverse {
		// The smallest key behind the column: its qualifier with a zero byte behind it.
		v.seek = append(v.seek, 0)
		return v.settleReverse(v.it.SeekLT(v.seek))
	}
	if v.o.Max < kv.MaxTimestamp {
		v.seek = keys.AppendVersion(v.seek, v.o.Max)
	}
	return v.settle(v.it.SeekGE(v.seek))
}

// settle goes on from a column's first key met to the newest version that is admitted, in this column or a later one.
func (v *versions) settle(ok bool) bool {
	for ok {
		if !v.decode() {
			return false
		}
		switch {
		case v.key.Timestamp > v.o.Max:
			v.seek = keys.AppendVersion(append(v.seek[:0], v.col...), v.o.Max)
			ok = v.it.SeekGE(v.seek)
		case v.key.Timestamp < v.o.Min:
			ok = v.it.NextPrefix()
		default:
			v.state, v.valid = at, true
			return true
		}
	}
	v.state = end
	return false
}

// settleReverse goes on from the last key of a column to its newest admitted version, or to an earlier column that has one.
// Versions are stored newest first, so going backwards meets the oldest first; the newest is a seek away.
func (v *versions) settleReverse(ok bool) bool {
	for ok {
		if !v.decode() {
			return false
		}
		if v.key.Timestamp <= v.o.Max {
			v.seek = append(v.seek[:0], v.col...)
			if v.o.Max < kv.MaxTimestamp {
				v.seek = keys.AppendVersion(v.seek, v.o.Max)
			}
			if v.it.SeekGE(v.seek) && v.decode() {
				v.state, v.valid = at, true
				return true
			}
			break
		}
		ok = v.it.SeekLT(v.col)
	}
	v.state = end
	return false
}

// decode reads the key under the iterator as a new column.
func (v *versions) decode() bool {
	k := v.it.Key()
	v.col = append(v.col[:0], k[:keys.Prefix(k)]...)
	var err error
	if v.key, v.row, err = keys.DecodeColumn(v.col, v.row); err == nil {
		v.key.Timestamp, err = keys.Version(k)
	}
	if err == nil {
		v.value, err = v.it.ValueAndErr()
	}
	if err != nil {
		v.fail(err)
		return false
	}
	return true
}

func (v *versions) fail(err error) {
	v.failed, v.state, v.valid = v.e.ioError("engine.Versions", err), end, false
}

// NextVersion implements kv.Iterator.
func (v *versions) NextVersion() bool {
	if v.state != at || !v.valid {
		return false
	}
	if !v.it.Next() {
		v.valid = false
		if !v.o.Reverse {
			v.state = end
		}
		return false
	}
	k := v.it.Key()
	if n := keys.Prefix(k); !bytes.Equal(k[:n], v.col) {
		v.valid = false
		if !v.o.Reverse {
			v.state = ahead // in reverse, NextColumn seeks from col anyway
		}
		return false
	}
	var err error
	if v.key.Timestamp, err = keys.Version(k); err == nil {
		v.value, err = v.it.ValueAndErr()
	}
	if err != nil {
		v.fail(err)
		return false
	}
	if v.key.Timestamp < v.o.Min {
		v.valid = false // the next column is a step away, as from a version that is admitted
		return false
	}
	return true
}

// Column implements kv.Iterator.
func (v *versions) Column() kv.Column { return v.key.Address.Column }

// Version implements kv.Iterator.
func (v *versions) Version() kv.Version {
	return kv.Version{Timestamp: v.key.Timestamp, Value: v.value}
}

// Err implements kv.Iterator.
func (v *versions) Err() error {
	if v.failed != nil {
		return v.failed
	}
	return v.e.ioError("engine.Versions", v.it.Error())
}

// Close implements kv.Iterator.
func (v *versions) Close() error {
	err := v.Err()
	if cerr := v.it.Close(); err == nil {
		err = v.e.ioError("engine.Versions", cerr)
	}
	return err
}
