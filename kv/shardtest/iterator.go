package shardtest

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

// rawKeys implements engine.Keys on a list.
type rawKeys struct {
	all []pair
	at  int
}

var _ engine.Keys = (*rawKeys)(nil)

func (k *rawKeys) move(to int) bool { k.at = to; return to >= 0 && to < len(k.all) }
func (k *rawKeys) First() bool      { return k.move(0) }
func (k *rawKeys) Last() bool       { return k.move(len(k.all) - 1) }
func (k *rawKeys) Next() bool       { return k.move(k.at + 1) }

func (k *rawKeys) SeekGE(key []byte) bool {
	return k.move(sort.Search(len(k.all), func(i int) bool { return cockroachkvs.Compare(k.all[i].key, key) >= 0 }))
}

func (k *rawKeys) Key() []byte                  { return k.all[k.at].key }
func (k *rawKeys) ValueAndErr() ([]byte, error) { return k.all[k.at].value, nil }
func (k *rawKeys) Error() error                 { return nil }
func (k *rawKeys) Close() error                 { return nil }

// versions implements kv.Iterator on a list: the columns in the order of the iteration, each with its admitted versions, newest first.
type versions struct {
	columns []columnVersions
	reverse bool
	at      int // of the column, -1 before the first
	version int
}

type columnVersions struct {
	column kv.Column
	all    []kv.Version
}

func newVersions(ps []pair, o kv.IterOptions) (kv.Iterator, error) {
	it := &versions{reverse: o.Reverse, at: -1}
	for _, p := range ps {
		k, _, err := keys.Decode(p.key, nil)
		if err != nil {
			return nil, err
		}
		if k.Timestamp > o.Max || k.Timestamp < o.Min {
			continue
		}
		if n := len(it.columns); n == 0 || compareColumns(it.columns[n-1].column, k.Address.Column) != 0 {
			it.columns = append(it.columns, columnVersions{column: k.Address.Column})
		}
		c := &it.columns[len(it.columns)-1]
		c.all = append(c.all, kv.Version{Timestamp: k.Timestamp, Value: p.value})
	}
	if o.Reverse {
		slices.Reverse(it.columns)
	}
	return it, nil
}

func compareColumns(a, b kv.Column) int {
	return cmp.Or(bytes.Compare(a.Row, b.Row), cmp.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier))
}

func (it *versions) move(to int) bool {
	it.at, it.version = min(to, len(it.columns)), 0
	return it.at < len(it.columns)
}

func (it *versions) NextColumn() bool { return it.move(it.at + 1) }

func (it *versions) SeekColumn(c kv.Column) bool {
	return it.move(sort.Search(len(it.columns), func(i int) bool {
		if it.reverse {
			return compareColumns(it.columns[i].column, c) <= 0
		}
		return compareColumns(it.columns[i].column, c) >= 0
	}))
}

func (it *versions) NextVersion() bool {
	if it.at < 0 || it.at >= len(it.columns) || it.version+1 >= len(it.columns[it.at].all) {
		return false
	}
	it.version++
	return true
}

func (it *versions) Column() kv.Column   { return it.columns[it.at].column }
func (it *versions) Version() kv.Version { return it.columns[it.at].all[it.version] }
func (it *versions) Err() error          { return nil }
func (it *versions) Close() error        { return nil }
