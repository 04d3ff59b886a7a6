package kvtest

import (
	"bytes"
	"maps"
	"slices"

	"moka/kv"
)

// freeze waits until no write runs and holds up new ones until the returned function is called.
func (m *Mem) freeze() (thaw func()) {
	for {
		m.mu.Lock()
		if m.frozen != nil { // another change is under way
			other := m.frozen
			m.mu.Unlock()
			<-other
			continue
		}
		frozen := make(chan struct{})
		m.frozen = frozen
		var idle chan struct{}
		if m.writers > 0 {
			idle = make(chan struct{})
			m.idle = idle
		}
		m.mu.Unlock()
		if idle != nil {
			<-idle
		}
		return func() {
			m.mu.Lock()
			m.frozen = nil
			m.mu.Unlock()
			close(frozen)
		}
	}
}

// Split cuts the tablet that holds row, so that row begins a new one in the same shard. It does nothing if row begins one
// already, or if nobody leads the shard.
func (m *Mem) Split(row kv.RowKey) {
	defer m.freeze()()
	m.mu.Lock()
	defer m.mu.Unlock()
	i := find(m.tablets, row)
	left := m.tablets[i]
	if bytes.Equal(left.Span.Start, row) || !m.Led(left.Shard) {
		return
	}
	left.Generation++
	right := left
	right.ID = m.nextID
	m.nextID++
	right.Span.Start, left.Span.End = bytes.Clone(row), bytes.Clone(row)
	m.tablets[i] = left
	m.tablets = slices.Insert(m.tablets, i+1, right)
}

// Move hands the tablet that holds row to another shard, with everything in it, if both are led.
func (m *Mem) Move(row kv.RowKey, to kv.ShardID) {
	defer m.freeze()()
	m.mu.Lock()
	i := find(m.tablets, row)
	t := m.tablets[i]
	from := m.shards[t.Shard-1]
	if m.mu.Unlock(); !m.Led(from.id) || !m.Led(to) {
		return // nobody is there to do it
	}
	m.mu.Lock()
	m.tablets[i].Shard = to
	m.tablets[i].Generation++
	m.mu.Unlock()
	left := m.tabletsOf(from.id)
	if from.id == to {
		return
	}
	// No write is running; a read that overlaps the copy is refused by its second look at the generation.
	target := m.shards[to-1]
	defer target.announce(t.Span) // after the shards' own locks
	from.mu.Lock()
	defer from.mu.Unlock()
	target.mu.Lock()
	defer target.mu.Unlock()
	moveSpan(t.Span, from, from.groups, target, target.groups)
	if m.o.Crash {
		for _, s := range []*shard{from, target} { // a move ends with a sync on both sides
			for _, batch := range s.tail {
				for _, o := range batch {
					s.groupLocked(s.synced, o.group).apply(o)
				}
			}
			s.tail = nil
		}
		moveSpan(t.Span, from, from.synced, target, target.synced)
	}
	for _, st := range from.states {
		c, ok := st.(kv.TabletCarrier)
		if !ok {
			continue
		}
		m.carryLocked(c, t, target)
		for _, stays := range left {
			m.carryLocked(c, stays, from)
		}
	}
	for name, st := range target.states {
		if r, ok := st.(kv.TabletReceiver); ok {
			r.ReceiveTablet(t, from.states[name])
		}
	}
}

// carryLocked stores what a layer knows of a tablet beside it.
func (m *Mem) carryLocked(c kv.TabletCarrier, t kv.Tablet, at *shard) {
	for _, x := range c.CarryTablet(t) {
		e := newEntry(x.Address, x.Timestamp, x.Value, false)
		at.groupLocked(at.groups, x.Group).set(e)
		if m.o.Crash {
			at.groupLocked(at.synced, x.Group).set(e)
		}
	}
}

func moveSpan(span kv.Span, from *shard, src map[kv.GroupID]*group, to *shard, dst map[kv.GroupID]*group) {
	for id, g := range src {
		g.mu.Lock()
		var moved []*entry
		g.tree.Scan(func(e *entry) bool {
			if span.Contains(e.col.Row) {
				moved = append(moved, e)
			}
			return true
		})
		for _, e := range moved {
			g.deleteLocked(e)
		}
		g.mu.Unlock()
		d := to.groupLocked(dst, id)
		for _, e := range moved {
			d.set(e)
		}
	}
}

// announce tells the hooks of in-memory groups of what a tablet brought along.
func (s *shard) announce(span kv.Span) {
	s.mu.Lock()
	groups := maps.Clone(s.groups)
	s.mu.Unlock()
	for id, g := range groups {
		if !g.inMemory {
			continue
		}
		g.mu.RLock()
		hooks := g.hooks
		g.mu.RUnlock()
		for _, e := range g.collect(func(add func(*entry) bool) {
			g.tree.Scan(func(e *entry) bool { return !span.Contains(e.col.Row) || add(e) })
		}) {
			for _, f := range hooks {
				f(kv.Address{Group: id, Run: e.run, Column: e.col}, kv.Version{Timestamp: e.ts, Value: e.value})
			}
		}
	}
}

// Restart kills a shard's process and starts it again: coprocessor states and guards are gone, commands in flight end with
// ErrOutcomeUnknown, and with Options.Crash so is what was not synced.
func (m *Mem) Restart(id kv.ShardID) {
	if err := m.shards[id-1].restart(); err != nil {
		panic(err)
	}
}
