package shard

import (
	"bytes"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

// Entry is one command's effect as the log has it.
type Entry struct {
	Batch engine.Batch
	// Tablets are those that it changes, in the generations in which it was evaluated.
	Tablets []kv.TabletRef
	// Structure says that it changes the table of tablets.
	Structure bool
}

// Follower takes the entries of a replica's log that become visible together. Their effects are added to a
// batch, to which others may add as well, and which is applied between Show and Hide:
//
//	Add, AddOwn … ─► Show: in-memory sets ─► the batch is applied ─► Hide: in-memory deletes, tablets, hooks
//
// Entries come in the order of the log, and all replicas find the same ones to have no effect. It does not
// matter that all sets come before all deletes: of two changes of one thing the later one in the log stays
// (memtable), and rows of which several entries are under way are read by nobody, for their writers hold the
// latch.
type Follower struct {
	s       *Replica
	batch   engine.Batch
	tablets *tablets // as the entries so far will leave them
	changes []effect
	changed bool // the table of tablets
}

// effect is what an entry does besides its batch; nil is nothing.
type effect struct{ show, hide func() }

// Follow begins with the log's next entries. One goroutine follows a replica's log, never beside a leadership
// with a replicator of one replica.
func (s *Replica) Follow(batch engine.Batch) *Follower {
	return &Follower{s: s, batch: batch, tablets: s.tablets.Load()}
}

// Add takes an entry for which nobody here waits: another replica has evaluated it, or a leadership that is
// over.
//
// It reports false for an entry whose tablets are not here any more in the form in which they were changed,
// and which has no effect. (R7 of package raft: it cannot happen as long as a leadership holds its structure
// lock, and is looked for all the same.)
func (f *Follower) Add(x Entry) (bool, error) {
	if f.stale(x.Tablets) {
		return false, nil
	}
	c, err := f.s.decode(x.Batch)
	if err != nil {
		return false, err
	}
	if x.Structure {
		if err := f.restructure(x.Batch); err != nil {
			return false, err
		}
	}
	f.changes = append(f.changes, effect{c.show, c.hide})
	return true, f.batch.Batch.Apply(x.Batch.Batch, nil)
}

// AddOwn takes the entry of a proposal that waits for it in the present leadership.
func (f *Follower) AddOwn(p *Proposal) (bool, error) {
	if f.stale(p.Tablets) {
		return false, nil
	}
	f.changes = append(f.changes, effect{p.Applying, p.Durable})
	return true, f.batch.Batch.Apply(p.Batch.Batch, nil)
}

func (f *Follower) stale(refs []kv.TabletRef) bool {
	for _, r := range refs {
		if t, ok := f.tablets.get(r.ID); !ok || t.Generation != r.Generation {
			f.s.metrics.stale.Add(1)
			return true
		}
	}
	return false
}

// restructure finds what a batch makes of the table of tablets.
func (f *Follower) restructure(b engine.Batch) error {
	lower, upper := keys.StateSpan(f.s.id, keys.StateTablet)
	err := b.Points(func(key, value []byte, deleted bool) error {
		if bytes.Compare(key, lower) < 0 || bytes.Compare(key, upper) >= 0 {
			return nil
		}
		id, ok := keys.StateID(key)
		if !ok {
			return kv.Errorf(kv.CodeCorrupt, "shard.Follow", "key %x is no tablet's", key)
		}
		if deleted {
			f.tablets = f.tablets.with([]kv.TabletID{kv.TabletID(id)})
			return nil
		}
		t, err := decodeTablet(value)
		if err != nil {
			return err
		}
		t.Shard, t.Node = f.s.id, f.s.node
		f.tablets = f.tablets.with([]kv.TabletID{t.ID}, t)
		return nil
	})
	f.changed = true
	return err
}

// Show makes the in-memory sets visible: the batch is applied next.
func (f *Follower) Show() {
	for _, c := range f.changes {
		if c.show != nil {
			c.show()
		}
	}
}

// Hide takes the in-memory deletes back, now that the batch is applied.
func (f *Follower) Hide() {
	if f.changed {
		f.s.tablets.Store(f.tablets)
	}
	for _, c := range f.changes {
		if c.hide != nil {
			c.hide()
		}
	}
}

// Apply makes the change of one entry. It does not wait for the disk: what a crash takes the log gives back.
func (s *Replica) Apply(x Entry) (bool, error) {
	b := s.e.NewBatch()
	defer b.Close()
	f := s.Follow(b)
	if ok, err := f.Add(x); err != nil || !ok {
		return false, err
	}
	f.Show()
	s.e.Apply(b, false)
	f.Hide()
	return true, nil
}

// decode finds what a batch changes of the in-memory groups.
func (s *Replica) decode(b engine.Batch) (*memChange, error) {
	c := &memChange{s: s}
	var buf []byte
	err := b.Points(func(key, value []byte, deleted bool) error {
		g, _, isData := keys.GroupRun(key)
		if !isData || s.mem[g] == nil {
			return nil
		}
		k, used, err := keys.Decode(key, buf)
		if err != nil {
			return err
		}
		buf = used
		c.ops = append(c.ops, memOp{t: s.mem[g], item: own(k.Address, k.Timestamp, value), deleted: deleted})
		return nil
	})
	c.ops = shadow(c.ops)
	return c, err
}
