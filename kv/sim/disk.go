package sim

import (
	"strings"

	"github.com/tidwall/btree"
)

// table is an ordered map; copies share what they have in common.
type table = btree.Map[string, []byte]

// change is one of a batch's: a key that is set, or a span that goes.
type change struct {
	key, end string // end, if not empty, makes it a span
	value    []byte
	deleted  bool
}

// batch is one atomic record of a disk. It implements raft.Batch.
type batch []change

func (b *batch) Set(key, value []byte) {
	*b = append(*b, change{key: string(key), value: append([]byte(nil), value...)})
}

func (b *batch) DeleteRange(lower, upper []byte) {
	*b = append(*b, change{key: string(lower), end: string(upper)})
}

func (b *batch) delete(key string) { *b = append(*b, change{key: key, deleted: true}) }

func (b batch) apply(t *table) {
	for _, c := range b {
		switch {
		case c.end != "":
			var gone []string
			t.Ascend(c.key, func(k string, _ []byte) bool {
				if k < c.end {
					gone = append(gone, k)
				}
				return k < c.end
			})
			for _, k := range gone {
				t.Delete(k)
			}
		case c.deleted:
			t.Delete(c.key)
		default:
			t.Set(c.key, c.value)
		}
	}
}

// disk is what a node's engine is to the driver: a table of what is visible, and a log of how it came to be, of which a beginning is
// durable. It implements raft.Store.
type disk struct {
	seen, safe *table
	log        []batch // applied and not durable
	applied    int     // batches so far
	// lying: what was synced is not kept until so many later batches have been.
	lying int
}

func newDisk() *disk { return &disk{seen: new(table), safe: new(table)} }

// apply makes a batch visible and returns its number.
func (d *disk) apply(b batch) int {
	b.apply(d.seen)
	d.log = append(d.log, b)
	d.applied++
	return d.applied
}

// sync makes all batches up to a number durable, or says so.
func (d *disk) sync(n int) {
	for hard := d.applied - len(d.log); hard < n-d.lying; hard++ {
		d.log[0].apply(d.safe)
		d.log = d.log[1:]
	}
}

// crash leaves what is durable and the first keep batches of the rest. A batch that was torn is not there at all: its checksum is wrong.
func (d *disk) crash(keep int) {
	for _, b := range d.log[:keep] {
		b.apply(d.safe)
	}
	d.log = nil
	d.seen = d.safe.Copy()
}

// Get implements raft.Store.
func (d *disk) Get(key []byte) ([]byte, bool, error) {
	v, ok := d.seen.Get(string(key))
	return v, ok, nil
}

// Scan implements raft.Store.
func (d *disk) Scan(lower, upper []byte, f func(k, v []byte) error) (err error) {
	hi := string(upper)
	d.seen.Ascend(string(lower), func(k string, v []byte) bool {
		if k >= hi {
			return false
		}
		err = f([]byte(k), v)
		return err == nil
	})
	return err
}

// each calls f for the keys with a prefix, in order.
func (d *disk) each(prefix string, f func(rest string, v []byte)) {
	d.seen.Ascend(prefix, func(k string, v []byte) bool {
		rest, ok := strings.CutPrefix(k, prefix)
		if ok {
			f(rest, v)
		}
		return ok
	})
}
