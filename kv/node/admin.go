package node

import (
	"bytes"
	"context"
	"slices"
	"time"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/shard"
)

// Structural changes go one at a time: the shard's state first, which decides, METADATA second, which clients look things up
// in. A crash between the two is repaired at the next start, a failure at the next turn of the balancer.

// lockStructure begins a structural change, unless the node is closed or dead.
func (n *Node) lockStructure() error {
	n.structure.Lock()
	err := n.engine.Failed()
	if n.closed {
		err = kv.Errorf(kv.CodeClosed, "node", "node %d is shutting down; nothing happened", n.record.node)
	}
	if err != nil {
		n.structure.Unlock()
	}
	return err
}

// Split cuts the tablet that holds the row in front of it.
func (n *Node) Split(ctx context.Context, at kv.RowKey) (left, right kv.Tablet, err error) {
	if err := n.lockStructure(); err != nil {
		return left, right, err
	}
	defer n.structure.Unlock()
	return n.split(ctx, at)
}

func (n *Node) split(ctx context.Context, at kv.RowKey) (left, right kv.Tablet, err error) {
	t, s := n.find(at)
	if s == nil {
		return left, right, kv.Errorf(kv.CodeNotFound, "node.Split", "no tablet holds row %x", []byte(at))
	}
	if err := pinned("node.Split", t); err != nil {
		return left, right, err
	}
	id, err := n.newTabletID()
	if err != nil {
		return left, right, err
	}
	if left, right, err = s.Split(ctx, t.ID, at, id); err != nil {
		return left, right, err
	}
	n.logger.Info("tablet split", "tablet", left.ID, "new", right.ID, "shard", s.ID())
	n.publish(nil, left, right)
	return left, right, nil
}

// Merge joins a tablet with the one behind it, which must be on the same shard.
func (n *Node) Merge(ctx context.Context, left kv.TabletID) (kv.Tablet, error) {
	if err := n.lockStructure(); err != nil {
		return kv.Tablet{}, err
	}
	defer n.structure.Unlock()
	l, s, err := n.tablet("node.Merge", left)
	if err != nil {
		return l, err
	}
	if err := pinned("node.Merge", l); err != nil {
		return l, err
	}
	if len(l.Span.End) == 0 {
		return l, kv.Errorf(kv.CodeInvalidArgument, "node.Merge", "tablet %d is the last one", left)
	}
	r, other := n.find(l.Span.End)
	if other != s {
		return l, kv.Errorf(kv.CodeInvalidArgument, "node.Merge", "the tablet behind tablet %d is on another shard; move one of them first", left)
	}
	m, err := s.Merge(ctx, left, r.ID)
	if err != nil {
		return m, err
	}
	n.logger.Info("tablets merged", "tablet", left, "gone", r.ID, "shard", s.ID())
	n.publish([]kv.RowKey{l.Span.End}, m)
	return m, nil
}

// Move gives a tablet to another shard of the node. Its commands wait meanwhile.
func (n *Node) Move(ctx context.Context, id kv.TabletID, to kv.ShardID) (kv.Tablet, error) {
	if err := n.lockStructure(); err != nil {
		return kv.Tablet{}, err
	}
	defer n.structure.Unlock()
	return n.move(ctx, id, to)
}

func (n *Node) move(ctx context.Context, id kv.TabletID, to kv.ShardID) (kv.Tablet, error) {
	t, from, err := n.tablet("node.Move", id)
	if err != nil {
		return t, err
	}
	if err := pinned("node.Move", t); err != nil {
		return t, err
	}
	dst := n.shard(to)
	if n.o.Cluster != nil {
		return t, kv.Errorf(kv.CodeInvalidArgument, "node.Move",
			"tablets of a cluster do not move between shards yet")
	}
	if dst == nil {
		return t, kv.Errorf(kv.CodeNotFound, "node.Move", "node %d leads no shard %d", n.record.node, to)
	}
	begin := time.Now()
	m, err := shard.Move(ctx, from, dst, id)
	if err != nil {
		return m, err
	}
	n.logger.Info("tablet moved", "tablet", id, "from", from.ID(), "to", to, "took", time.Since(begin))
	n.publish(nil, m)
	return m, nil
}

// pinned refuses to change the tablet of METADATA: the root location names it, and the balancer reads it.
func pinned(op string, t kv.Tablet) error {
	if t.Span.Contains(bigtable.MetaSpan.Start) {
		return kv.Errorf(kv.CodeInvalidArgument, op, "tablet %d holds METADATA, which stays as it is", t.ID)
	}
	return nil
}

func (n *Node) find(row kv.RowKey) (kv.Tablet, *shard.Replica) {
	for _, s := range n.here() {
		if t, ok := s.Find(row); ok {
			return t, s
		}
	}
	return kv.Tablet{}, nil
}

func (n *Node) tablet(op string, id kv.TabletID) (kv.Tablet, *shard.Replica, error) {
	for _, s := range n.here() {
		if t, ok := s.Tablet(id); ok {
			return t, s, nil
		}
	}
	return kv.Tablet{}, nil, kv.Errorf(kv.CodeNotFound, op, "there is no tablet %d on node %d", id, n.record.node)
}

// newTabletID gives out a number that is below the durable mark, raising that first if it must.
func (n *Node) newTabletID() (kv.TabletID, error) {
	if n.nextTablet >= n.record.nextTablet {
		r := n.record
		r.nextTablet += tabletReserve
		b := n.engine.NewBatch()
		defer b.Close()
		if err := b.Set(recordKey(), r.encode(), nil); err != nil {
			return 0, err
		}
		n.engine.Commit(b)
		n.record = r
	}
	id := n.tabletID(n.nextTablet)
	n.nextTablet++
	return id, nil
}

// publish writes METADATA after a change that is durable already. The caller's context does not matter any more.
func (n *Node) publish(gone []kv.RowKey, now ...kv.Tablet) {
	if err := n.updateMeta(context.Background(), gone, now); err != nil {
		n.metaStale = true
		n.logger.Warn("METADATA could not be written; it will be repaired", "error", err)
	}
}

// Stats are the node's figures.
type Stats struct {
	Node   kv.NodeID
	Shards []shard.Stats
	Engine engine.Stats
}

// Stats returns the figures.
func (n *Node) Stats() Stats {
	st := Stats{Node: n.record.node, Engine: n.engine.Stats()}
	for _, s := range n.here() {
		st.Shards = append(st.Shards, s.Stats())
	}
	return st
}

// TabletSizes estimates what each tablet takes on disk, by start.
func (n *Node) TabletSizes() ([]bigtable.TabletSize, error) {
	var all []bigtable.TabletSize
	for _, s := range n.here() {
		sizes, err := s.Sizes()
		if err != nil {
			return nil, err
		}
		for _, z := range sizes {
			all = append(all, bigtable.TabletSize{Tablet: z.Tablet, Bytes: z.Bytes})
		}
	}
	slices.SortFunc(all, func(a, b bigtable.TabletSize) int { return bytes.Compare(a.Tablet.Span.Start, b.Tablet.Span.Start) })
	return all, nil
}

// Compact rewrites the data of all shards, which leaves no garbage and takes long.
func (n *Node) Compact(ctx context.Context) error {
	for _, s := range n.here() {
		lower, upper := keys.DataSpan(s.ID())
		if err := n.engine.Compact(ctx, lower, upper); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes Pebble's memtables out; backups and tests want that.
func (n *Node) Flush(ctx context.Context) error { return n.engine.Flush(ctx) }
