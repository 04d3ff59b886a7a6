package shardtest

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/tidwall/btree"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/shard"
)

// Disk is a shard.Engine in memory: a table of what is visible, and a log of how it came to be, of which a beginning is durable.
// It prefers obvious code to fast code: it never holds more than a few hundred keys.
type Disk struct {
	// OnCommit, if set, is called by Commit before it does anything. It may block.
	OnCommit func()

	mu   sync.Mutex
	seen *table
	safe *table // what a crash cannot take
	log  []record
	// logged and durable count records since the disk was made; log holds those between them.
	logged, durable int
	waits           map[*pebble.Batch]int // of batches that were applied with sync: their number
}

var _ shard.Engine = (*Disk)(nil)

type pair struct{ key, value []byte }

type table = btree.BTreeG[pair]

// change is one of a batch's, as Pebble knows them.
type change struct {
	kind pebble.InternalKeyKind
	pair
}

// record is one atomic batch.
type record []change

func newTable() *table {
	return btree.NewBTreeGOptions(func(a, b pair) bool { return cockroachkvs.Compare(a.key, b.key) < 0 }, btree.Options{NoLocks: true})
}

// NewDisk returns an empty one.
func NewDisk() *Disk {
	return &Disk{seen: newTable(), safe: newTable(), waits: map[*pebble.Batch]int{}}
}

func readBatch(b engine.Batch) (r record) {
	if b.Empty() {
		return nil
	}
	for reader := b.Reader(); ; {
		kind, key, value, ok, err := reader.Next()
		if err != nil {
			panic(err)
		}
		if !ok {
			return r
		}
		r = append(r, change{kind, pair{bytes.Clone(key), append([]byte{}, value...)}})
	}
}

func (r record) apply(t *table) {
	for _, c := range r {
		switch c.kind {
		case pebble.InternalKeyKindLogData:
		case pebble.InternalKeyKindSet:
			t.Set(c.pair)
		case pebble.InternalKeyKindDelete:
			t.Delete(c.pair)
		case pebble.InternalKeyKindRangeDelete:
			for _, p := range between(t, c.key, c.value) {
				t.Delete(p)
			}
		default:
			panic(fmt.Sprintf("shardtest: a change of kind %v", c.kind))
		}
	}
}

// between lists what lies in [lower, upper).
func between(t *table, lower, upper []byte) (ps []pair) {
	t.Ascend(pair{key: lower}, func(p pair) bool {
		if cockroachkvs.Compare(p.key, upper) >= 0 {
			return false
		}
		ps = append(ps, p)
		return true
	})
	return ps
}

// append makes a record visible, as the last of the log, and returns its number.
func (d *Disk) append(r record) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.apply(d.seen)
	d.log = append(d.log, r)
	d.logged++
	return d.logged
}

// Apply implements shard.Engine.
func (d *Disk) Apply(b engine.Batch, sync bool) {
	n := d.append(readBatch(b))
	if !sync {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits[b.Batch] = n
}

// SyncWait implements shard.Engine. It is now that the disk does its work: what is applied behind the batch is not durable with it.
func (d *Disk) SyncWait(b engine.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.waits[b.Batch]
	if !ok {
		panic("shardtest: SyncWait for a batch that was not applied with sync")
	}
	delete(d.waits, b.Batch)
	d.harden(n)
}

func (d *Disk) harden(n int) {
	for ; d.durable < n; d.durable++ {
		d.log[0].apply(d.safe)
		d.log = d.log[1:]
	}
}

// Commit implements shard.Engine.
func (d *Disk) Commit(b engine.Batch) {
	if d.OnCommit != nil {
		d.OnCommit()
	}
	d.Apply(b, true)
	d.SyncWait(b)
}

// Barrier implements shard.Engine.
func (d *Disk) Barrier() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.harden(d.logged)
}

// crash returns the disk as the next process finds it: keep is asked how many of the records that were not durable are there.
func (d *Disk) crash(keep func(unsynced int) int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := NewDisk()
	next.safe = d.safe.Copy()
	for _, r := range d.log[:keep(len(d.log))] {
		r.apply(next.safe)
	}
	next.seen = next.safe.Copy()
	return next
}

// Failed implements shard.Engine: it never does.
func (d *Disk) Failed() error { return nil }

// Admit implements shard.Engine: it is never behind.
func (d *Disk) Admit() error { return nil }

// Room implements shard.Engine: there always is.
func (d *Disk) Room(kv.Growth, int) error { return nil }

// Enter implements shard.Engine.
func (d *Disk) Enter(kv.Growth, int, int) error { return nil }

// Leave implements shard.Engine.
func (d *Disk) Leave(int) {}

// NewBatch implements shard.Engine.
func (d *Disk) NewBatch() engine.Batch { return engine.Batch{Batch: new(pebble.Batch)} }

// Get implements shard.Engine.
func (d *Disk) Get(key []byte) ([]byte, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.seen.Get(pair{key: key})
	return bytes.Clone(p.value), ok, nil
}

// GetVersion implements shard.Engine.
func (d *Disk) GetVersion(id kv.ShardID, a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	return d.Get(keys.AppendVersion(keys.AppendColumn(nil, id, a), ts))
}

// Latest implements shard.Engine.
func (d *Disk) Latest(id kv.ShardID, a kv.Address, max kv.Timestamp) (v kv.Version, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	column := keys.AppendColumn(nil, id, a)
	d.seen.Ascend(pair{key: keys.AppendVersion(bytes.Clone(column), max)}, func(p pair) bool {
		if ok = bytes.Equal(p.key[:keys.Prefix(p.key)], column[:keys.Prefix(column)]); ok {
			v.Timestamp, err = keys.Version(p.key)
			v.Value = append([]byte{}, p.value...)
		}
		return false
	})
	return v, ok, err
}

// LatestOf implements shard.Engine.
func (d *Disk) LatestOf(id kv.ShardID, columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	for i, a := range columns {
		v, _, err := d.Latest(id, a, max)
		if err != nil {
			return err
		}
		found[i] = v
	}
	return nil
}

func (d *Disk) between(lower, upper []byte) []pair {
	d.mu.Lock()
	defer d.mu.Unlock()
	return between(d.seen, lower, upper)
}

// Versions implements shard.Engine.
func (d *Disk) Versions(id kv.ShardID, o kv.IterOptions) (kv.Iterator, error) {
	if o.Max == 0 {
		o.Max = kv.MaxTimestamp
	}
	if o.Min != 0 && o.Reverse {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "shardtest.Versions", "Min goes with forward iteration only")
	}
	return newVersions(d.between(keys.AppendSpan(nil, id, o.Group, o.Run, o.Span)), o)
}

// NewIter implements shard.Engine.
func (d *Disk) NewIter(lower, upper []byte) (engine.Keys, error) {
	return &rawKeys{all: d.between(lower, upper), at: -1}, nil
}

// Scan implements shard.Engine.
func (d *Disk) Scan(lower, upper []byte, f func(key, value []byte) error) error {
	for _, p := range d.between(lower, upper) {
		if err := f(p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}

// Size implements shard.Engine: what keys and values take, exactly.
func (d *Disk) Size(lower, upper []byte) (n uint64, err error) {
	for _, p := range d.between(lower, upper) {
		n += uint64(len(p.key) + len(p.value))
	}
	return n, nil
}
