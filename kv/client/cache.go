package client

import (
	"bytes"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"moka/kv"
)

// maxOutdated bounds the memory of descriptions that a shard refused.
const maxOutdated = 1024

// cache holds what is known of tablets, ordered by start and without overlaps, and of shards' nodes. Every operation of
// every session looks here, and nearly none changes anything: readers take a snapshot without a lock, writers change a
// copy-on-write tree and publish a copy of it.
type cache struct {
	tablets atomic.Pointer[btree.BTreeG[kv.Tablet]] // published; never changed
	nodes   atomic.Pointer[map[kv.ShardID]kv.NodeID]

	mu struct {
		sync.Mutex
		tree   *btree.BTreeG[kv.Tablet]
		starts map[kv.TabletID]kv.RowKey // of the tablets in tree
		// outdated holds the newest generation of a tablet that a shard has refused and nobody has replaced yet.
		outdated map[kv.TabletID]uint64
	}
}

func newCache() *cache {
	c := &cache{}
	byStart := func(a, b kv.Tablet) bool { return bytes.Compare(a.Span.Start, b.Span.Start) < 0 }
	c.mu.tree = btree.NewBTreeGOptions(byStart, btree.Options{NoLocks: true})
	c.mu.starts = make(map[kv.TabletID]kv.RowKey)
	c.mu.outdated = make(map[kv.TabletID]uint64)
	c.tablets.Store(c.mu.tree.Copy())
	c.nodes.Store(&map[kv.ShardID]kv.NodeID{})
	return c
}

// find returns the tablet that holds the row. If there is none, gap names the unknown range around the row by its start.
func (c *cache) find(row kv.RowKey) (t kv.Tablet, ok bool, gap kv.RowKey) {
	c.tablets.Load().Descend(kv.Tablet{Span: kv.Span{Start: row}}, func(at kv.Tablet) bool {
		if at.Span.Contains(row) {
			t, ok = at, true
		} else {
			gap = at.Span.End
		}
		return false
	})
	return t, ok, gap
}

func (c *cache) node(s kv.ShardID) (kv.NodeID, bool) {
	n, ok := (*c.nodes.Load())[s]
	return n, ok
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
	return c.mu.tree.Get(kv.Tablet{Span: kv.Span{Start: start}})
}

// add takes descriptions in, as far as nothing later is known (L1). Where their shards are led is believed only if a shard
// says so, or if nothing else is known: METADATA learns of a new leader late or not at all.
func (c *cache) add(tablets []kv.Tablet, fromShard bool) {
	if len(tablets) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make(map[kv.ShardID]kv.NodeID)
	for _, t := range tablets {
		if _, known := c.node(t.Shard); c.addLocked(t) && t.Node != 0 && (fromShard || !known) {
			nodes[t.Shard] = t.Node
		}
	}
	c.setNodesLocked(nodes)
	c.tablets.Store(c.mu.tree.Copy())
}

func (c *cache) addLocked(t kv.Tablet) bool {
	if len(t.Span.End) > 0 && bytes.Compare(t.Span.Start, t.Span.End) >= 0 {
		return false // junk: an empty range would hide its neighbour
	}
	if old, ok := c.tabletLocked(t.ID); ok && old.Generation > t.Generation {
		return false
	}
	overlaps := c.overlapsLocked(t.Span)
	for _, old := range overlaps {
		if old.Generation > t.Generation {
			return false
		}
	}
	for _, old := range overlaps {
		c.deleteLocked(old)
	}
	if old, ok := c.tabletLocked(t.ID); ok {
		c.deleteLocked(old)
	}
	c.mu.tree.Set(t)
	c.mu.starts[t.ID] = t.Span.Start
	if c.mu.outdated[t.ID] < t.Generation {
		delete(c.mu.outdated, t.ID)
	}
	return true
}

func (c *cache) overlapsLocked(s kv.Span) []kv.Tablet {
	var found []kv.Tablet
	c.mu.tree.Descend(kv.Tablet{Span: kv.Span{Start: s.Start}}, func(t kv.Tablet) bool {
		if t.Span.Contains(s.Start) {
			found = append(found, t)
		}
		return false
	})
	c.mu.tree.Ascend(kv.Tablet{Span: kv.Span{Start: s.Start}}, func(t kv.Tablet) bool {
		if len(s.End) > 0 && bytes.Compare(t.Span.Start, s.End) >= 0 {
			return false
		}
		if len(found) == 0 || found[0].ID != t.ID {
			found = append(found, t)
		}
		return true
	})
	return found
}

func (c *cache) deleteLocked(t kv.Tablet) {
	c.mu.tree.Delete(t)
	delete(c.mu.starts, t.ID)
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
			c.deleteLocked(t)
		}
		if len(c.mu.outdated) >= maxOutdated {
			clear(c.mu.outdated) // it only spares round trips
		}
		c.mu.outdated[r.ID] = max(c.mu.outdated[r.ID], r.Generation)
	}
	c.tablets.Store(c.mu.tree.Copy())
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

// setNodes takes in where shards are led.
func (c *cache) setNodes(nodes map[kv.ShardID]kv.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setNodesLocked(nodes)
}

func (c *cache) setNodesLocked(nodes map[kv.ShardID]kv.NodeID) {
	old := *c.nodes.Load()
	changed := false
	for s, n := range nodes {
		if was, ok := old[s]; !ok || was != n {
			changed = true
		}
	}
	if !changed {
		return
	}
	merged := maps.Clone(old)
	maps.Copy(merged, nodes)
	c.nodes.Store(&merged)
}
