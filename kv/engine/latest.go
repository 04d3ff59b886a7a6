package engine

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"moka/kv"
	"moka/kv/keys"
)

var (
	latestOptions = pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true}
	// flushedOptions read tables only: see unflushed.
	flushedOptions = pebble.IterOptions{
		KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true, OnlyReadGuaranteedDurable: true,
	}
)

// Latest returns the newest version of a column with a timestamp of at most max: one seek within the column,
// with bloom filters, on an iterator from Pebble's pool, over the memtables only if the column may be there.
func (e *Engine) Latest(shard kv.ShardID, a kv.Address, max kv.Timestamp) (v kv.Version, ok bool, err error) {
	buf := e.keys.Get().(*[]byte)
	defer e.keys.Put(buf)
	*buf = keys.AppendVersion(keys.AppendColumn((*buf)[:0], shard, a), max)
	o := &flushedOptions
	if e.unflushed.may((*buf)[:keys.Prefix(*buf)]) {
		o = &latestOptions
	}
	it, err := e.db.NewIter(o)
	if err != nil {
		return v, false, e.ioError("engine.Latest", err)
	}
	if it.SeekPrefixGE(*buf) {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			v.Timestamp, err = keys.Version(it.Key())
			v.Value = append(make([]byte, 0, len(value)), value...)
			ok = err == nil
		}
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return v, ok, e.ioError("engine.Latest", err)
}

// LatestOf is Latest of many columns: found[i] becomes the newest version of columns[i], zero where there is
// none. The seeks go through the columns in the order of their keys on one iterator over the tables and one
// over memtables, too, so that what a seek has found (the file, its filter, the index block) serves the next.
func (e *Engine) LatestOf(
	shard kv.ShardID, columns []kv.Address, max kv.Timestamp, found []kv.Version,
) error {
	all := e.seeks.Get().(*seeks)
	defer e.seeks.Put(all)
	all.keys, all.list, all.values = all.keys[:0], all.list[:0], nil
	for i, a := range columns {
		all.add(i, shard, a, max)
	}
	slices.SortFunc(all.list, func(a, b seek) int { return bytes.Compare(all.key(a), all.key(b)) })
	// Every column is looked for in unflushed before the tables' iterator is made: what leaves the memtables
	// in between is in tables that it has. In the other order it would be in neither.
	for i := range all.list {
		key := all.key(all.list[i])
		all.list[i].unflushed = e.unflushed.may(key[:keys.Prefix(key)])
	}
	for _, o := range []*pebble.IterOptions{&flushedOptions, &latestOptions} {
		if err := e.seekAll(all, o, found); err != nil {
			return e.ioError("engine.LatestOf", err)
		}
	}
	return nil
}

// seekAll reads the columns that are for iterators of these options.
func (e *Engine) seekAll(all *seeks, o *pebble.IterOptions, found []kv.Version) (err error) {
	var it *pebble.Iterator
	for _, s := range all.list {
		if s.unflushed != (o == &latestOptions) {
			continue
		}
		if it == nil {
			if it, err = e.db.NewIter(o); err != nil {
				return err
			}
			defer func() {
				if cerr := it.Close(); err == nil {
					err = cerr
				}
			}()
		}
		if !it.SeekPrefixGE(all.key(s)) {
			if err := it.Error(); err != nil {
				return err
			}
			found[s.column] = kv.Version{}
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		ts, err := keys.Version(it.Key())
		if err != nil {
			return err
		}
		found[s.column] = kv.Version{Timestamp: ts, Value: all.keep(value)}
	}
	return nil
}

// seeks are the keys to look for, one behind the other, and the memory of what was found.
type seeks struct {
	keys   []byte
	list   []seek
	values []byte
}

type seek struct {
	column     int // in the caller's list
	begin, end int // of its key
	unflushed  bool
}

func (s *seeks) add(i int, shard kv.ShardID, a kv.Address, max kv.Timestamp) {
	begin := len(s.keys)
	s.keys = keys.AppendVersion(keys.AppendColumn(s.keys, shard, a), max)
	s.list = append(s.list, seek{column: i, begin: begin, end: len(s.keys)})
}

func (s *seeks) key(k seek) []byte { return s.keys[k.begin:k.end] }

// valuesChunk is as much as values share an allocation. They are the caller's to keep, so a longer life of one
// keeps the others of its chunk: short ones only, a few dozen at the most.
const valuesChunk = 2 << 10

func (s *seeks) keep(value []byte) []byte {
	if len(value) > valuesChunk/8 {
		return append(make([]byte, 0, len(value)), value...)
	}
	if cap(s.values)-len(s.values) < len(value) {
		s.values = make([]byte, 0, valuesChunk)
	}
	begin := len(s.values)
	s.values = append(s.values, value...)
	return s.values[begin:len(s.values):len(s.values)]
}
