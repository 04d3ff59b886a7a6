package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"moka/txn"
)

// Triggers are a database's, and their texts say of which table they are: to the catalog they are texts. A
// writer has to know them all the same, so that CREATE and DROP TRIGGER name the table, which gets a new
// version: a transaction that has written it without knowing of the trigger cannot commit as it is.

// CreateTrigger makes a trigger of a table of the database; empty is none.
func (c *Catalog) CreateTrigger(ctx context.Context, t *txn.Txn, database, table string, v Trigger) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if _, ok := d.Trigger(v.Name); ok {
		return &ExistsError{Kind: KindTrigger, Database: d.Name, Name: v.Name}
	}
	if of, ok := d.Table(table); ok && of.Maintained() {
		// Its maintenance writes to storage, and would fire none.
		return limit(NotBaseTable, "'%s.%s' is not BASE TABLE", d.Name, of.Name)
	}
	if err := c.createNamed(ctx, t, s, d, kindTrigger, v.Name, &v); err != nil {
		return err
	}
	return c.touchNamed(ctx, t, database, table)
}

// UpdateTrigger replaces the trigger of that name, when its table is renamed.
func (c *Catalog) UpdateTrigger(ctx context.Context, t *txn.Txn, database string, v Trigger) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	old, ok := d.Trigger(v.Name)
	if !ok {
		return &NotFoundError{Kind: KindTrigger, Database: database, Name: v.Name}
	}
	return c.putNamed(ctx, t, s, d, kindTrigger, v.Name, v.Name, &v, old.weight)
}

// DropTrigger removes a trigger of a table of the database; empty is none.
func (c *Catalog) DropTrigger(ctx context.Context, t *txn.Txn, database, table, name string) error {
	err := c.dropNamed(ctx, t, database, name, KindTrigger, kindTrigger, func(d *Database) bool {
		_, ok := d.Trigger(name)
		return ok
	})
	if err != nil {
		return err
	}
	return c.touchNamed(ctx, t, database, table)
}

// touchNamed is touch for a table that may be gone already.
func (c *Catalog) touchNamed(ctx context.Context, t *txn.Txn, database, table string) error {
	_, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	of, ok := d.Table(table)
	if !ok {
		return nil
	}
	return c.touch(ctx, t, of)
}

// Stamp tells snapshots apart: two with the same stamp say the same of everything.
type Stamp struct{ Version, Triggers uint64 }

// Stamp returns the snapshot's. It is the version, but for those that WithTriggersOf makes.
func (s *Snapshot) Stamp() Stamp { return Stamp{s.Version, s.triggers} }

// WithTriggersOf returns the snapshot with the triggers that its databases have in a newer one, or the
// snapshot itself if they have those.
func (s *Snapshot) WithTriggersOf(newer *Snapshot) *Snapshot {
	var b *builder
	for id, d := range s.databaseIDs {
		n := newer.databaseIDs[id]
		if n == nil || n == d || maps.EqualFunc(n.triggers, d.triggers, (*Trigger).SameAs) {
			continue
		}
		if b == nil {
			b = newBuilder(s)
		}
		b.database(id).triggers = n.triggers
	}
	if b == nil {
		return s
	}
	mixed := b.finish(s.Version, nil)
	mixed.triggers = newer.Version
	return mixed
}

// SameAs reports whether two snapshots have the same trigger in them: one that was made anew, be it with the
// same text, is another.
func (t *Trigger) SameAs(o *Trigger) bool {
	return t == o || t.Name == o.Name && t.CreateStatement == o.CreateStatement &&
		t.Created.Equal(o.Created) && t.SQLMode == o.SQLMode && t.Definer == o.Definer && t.Spoken == o.Spoken
}

// Newest is the newest committed snapshot that was seen, with older ones that have its triggers.
type Newest struct {
	snap atomic.Pointer[Snapshot]

	mu    sync.Mutex
	mixed []mixed // the last used first
}

type mixed struct{ of, newer, is *Snapshot }

// maxMixed bounds the snapshots that are kept: as many as there are of transactions that are open for long.
const maxMixed = 8

// Load returns the newest snapshot, nil before the first.
func (n *Newest) Load() *Snapshot { return n.snap.Load() }

// See takes note of a snapshot that is committed, and returns the newest.
func (n *Newest) See(s *Snapshot) *Snapshot {
	for {
		was := n.snap.Load()
		if was != nil && was.Version >= s.Version {
			return was
		}
		if n.snap.CompareAndSwap(was, s) {
			return s
		}
	}
}

// WithTriggers is WithTriggersOf, the same snapshot for all who ask: plans are kept by it.
func (n *Newest) WithTriggers(of, newer *Snapshot) *Snapshot {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := mixed{of: of, newer: newer}
	i := slices.IndexFunc(n.mixed, func(x mixed) bool { return x.of == of && x.newer == newer })
	if i >= 0 {
		m = n.mixed[i]
		n.mixed = slices.Delete(n.mixed, i, i+1)
	} else {
		m.is = of.WithTriggersOf(newer)
		n.mixed = n.mixed[:min(len(n.mixed), maxMixed-1)]
	}
	n.mixed = slices.Insert(n.mixed, 0, m)
	return m.is
}
