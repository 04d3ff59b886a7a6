package client

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"moka/kv"
)

// maxOutdated bounds the memory of descriptions that a shard refused.
const maxOutdated = 1024

// cache holds what is known of tablets, ordered by start and without overlaps, and of who leads shards. Every
// operation of every session looks here, and nearly none changes anything: readers search a sorted slice that
// is never changed, without a lock; writers publish a changed copy. (A copy of 100,000 pointers takes some 50
// µs and happens once for each look into METADATA; a copy-on-write tree would make that cheap and the search
// more than twice as slow.)
type cache struct {
	tablets atomic.Pointer[tabletMap]
	*leads

	mu struct {
		sync.Mutex // of writers
		// own is what writers change; each publishes a copy at its end.
		own    tabletMap
		starts map[kv.TabletID]kv.RowKey // of the tablets in own
		// outdated holds the newest generation of a tablet that a shard has refused and nobody has replaced yet.
		outdated map[kv.TabletID]uint64
	}
}

func newCache() *cache {
	c := &cache{leads: newLeads(nil)}
	c.mu.starts = make(map[kv.TabletID]kv.RowKey)
	c.mu.outdated = make(map[kv.TabletID]uint64)
	c.tablets.Store(&tabletMap{})
	return c
}

// tabletMap is ordered by start, without overlaps.
type tabletMap []*kv.Tablet

// after returns the index of the first tablet that starts after the row.
func (m tabletMap) after(row kv.RowKey) int {
	lo, hi := 0, len(m)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(m[mid].Span.Start, row) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// overlapping returns the range of indices of the tablets that overlap the span.
func (m tabletMap) overlapping(s kv.Span) (from, to int) {
	from = m.after(s.Start)
	if from > 0 && m[from-1].Span.Contains(s.Start) {
		from--
	}
	to = from
	for to < len(m) && (len(s.End) == 0 || bytes.Compare(m[to].Span.Start, s.End) < 0) {
		to++
	}
	return from, to
}

// find returns the tablet that holds the row. If there is none, gap names the unknown range around the row by its start.
func (c *cache) find(row kv.RowKey) (t kv.Tablet, ok bool, gap kv.RowKey) {
	m := *c.tablets.Load()
	i := m.after(row)
	if i == 0 {
		return kv.Tablet{}, false, nil
	}
	if at := m[i-1]; !at.Span.Contains(row) {
		return kv.Tablet{}, false, at.Span.End
	}
	return *m[i-1], true, nil
}

// holds reports whether the cache has exactly that tablet in that generation, served by the shard.
func (c *cache) holds(r kv.TabletRef, s kv.ShardID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tabletLocked(r.ID)
	return ok && t.Generation == r.Generation && t.Shard == s
}

func (c *cache) tabletLocked(id kv.TabletID) (kv.Tablet, bool) {
	start, ok := c.mu.starts[id]
	if !ok {
		return kv.Tablet{}, false
	}
	return *c.mu.own[c.mu.own.after(start)-1], true
}

func (c *cache) publishLocked() {
	m := slices.Clone(c.mu.own)
	c.tablets.Store(&m)
}

// add takes descriptions in, as far as nothing later is known (L1). Where their shards are led is believed only if a shard
// says so, or if nothing else is known: METADATA learns of a new leader late or not at all.
func (c *cache) add(tablets []kv.Tablet, fromShard bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make(map[kv.ShardID]kv.NodeID)
	for _, t := range tablets {
		if _, known := c.node(t.Shard); c.addLocked(t) && t.Node != 0 && (fromShard || !known) {
			nodes[t.Shard] = t.Node
		}
	}
	c.suggest(nodes)
	c.publishLocked()
}

func (c *cache) addLocked(t kv.Tablet) bool {
	if len(t.Span.End) > 0 && bytes.Compare(t.Span.Start, t.Span.End) >= 0 {
		return false // junk: an empty range would hide its neighbour
	}
	old, known := c.tabletLocked(t.ID)
	if known && old.Generation > t.Generation {
		return false
	}
	from, to := c.mu.own.overlapping(t.Span)
	for _, o := range c.mu.own[from:to] {
		if o.Generation > t.Generation {
			return false
		}
	}
	if known && !t.Span.Contains(old.Span.Start) {
		// Under the same id it now lies elsewhere, so what it was is not among those that t replaces.
		c.removeLocked(old.Span.Start)
		from, to = c.mu.own.overlapping(t.Span)
	}
	for _, o := range c.mu.own[from:to] {
		delete(c.mu.starts, o.ID)
	}
	c.mu.own = slices.Replace(c.mu.own, from, to, &t)
	c.mu.starts[t.ID] = t.Span.Start
	if c.mu.outdated[t.ID] < t.Generation {
		delete(c.mu.outdated, t.ID)
	}
	return true
}

func (c *cache) removeLocked(start kv.RowKey) {
	i := c.mu.own.after(start) - 1
	delete(c.mu.starts, c.mu.own[i].ID)
	c.mu.own = slices.Delete(c.mu.own, i, i+1)
}

// forget drops tablets that a shard refused, unless something later is known of them by now.
func (c *cache) forget(refs []kv.TabletRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range refs {
		if t, ok := c.tabletLocked(r.ID); ok {
			if t.Generation > r.Generation {
				continue
			}
			c.removeLocked(t.Span.Start)
		}
		if len(c.mu.outdated) >= maxOutdated {
			clear(c.mu.outdated) // it only spares round trips
		}
		c.mu.outdated[r.ID] = max(c.mu.outdated[r.ID], r.Generation)
	}
	c.publishLocked()
}

// refused reports whether a shard has said already that this description no longer holds.
func (c *cache) refused(t kv.Tablet) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	gen, ok := c.mu.outdated[t.ID]
	return ok && t.Generation <= gen
}

// pardon forgets that descriptions were refused: the map insists on them.
func (c *cache) pardon(id kv.TabletID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.outdated, id)
}
