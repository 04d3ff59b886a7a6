package node

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/shard"
)

// Bounds of one turn of the sweep.
const (
	sweepVisit = 20_000 // rows looked at
	sweepBatch = 64     // rows cleaned by one command
)

// clearDropped removes the data of dropped tables. Commands on them fail already; those that were running are waited for.
func (n *Node) clearDropped(ctx context.Context) error {
	if !n.leads(MetaShard) {
		return nil
	}
	ids, err := bigtable.Dropped(n.shard(MetaShard).Reader())
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		span := kv.Span{Start: kv.MakeRowKey(id, nil), End: kv.MakeRowKey(id+1, nil)}
		for _, s := range n.here() {
			if n.o.Cluster != nil && !serves(s, span) {
				continue // and somebody else may lead it
			}
			if err := s.Clear(ctx, span); err != nil {
				return err
			}
		}
		n.logger.Info("the data of a dropped table is removed", "table", id)
	}
	_, err = n.callMeta(ctx, bigtable.CommandUpdateMeta, &bigtable.UpdateMetaRequest{Cleared: ids})
	return err
}

// sweep goes on where the last turn ended: table by table, tablet by tablet, a bounded number of rows.
func (n *Node) sweep(ctx context.Context) error {
	visit := sweepVisit
	from := n.sweepFrom
	n.sweepFrom = nil
	for _, t := range n.Tablets() {
		s := n.shard(t.Shard)
		if s == nil || !n.leads(t.Shard) {
			continue
		}
		for _, table := range n.store.Tables() {
			span := intersect(t.Span, table.Span())
			if len(from) > 0 && bytes.Compare(span.Start, from) < 0 {
				span.Start = from
			}
			if bytes.Compare(span.Start, span.End) >= 0 || !table.Bounded() {
				continue
			}
			rows, next, err := bigtable.Garbage(s.Reader(), table, span, visit)
			if err != nil {
				return err
			}
			for len(rows) > 0 {
				k := min(len(rows), sweepBatch)
				refs := []kv.TabletRef{{ID: t.ID, Generation: t.Generation}}
				_, err := n.Handle(ctx, t.Shard, refs, bigtable.CommandSweep,
					&bigtable.SweepRequest{Rows: rows[:k]})
				// A tablet that has moved, a table that is gone: the next turn sees.
				if err != nil && !errors.Is(err, kv.ErrMoved) && !errors.Is(err, kv.ErrNotFound) {
					return err
				}
				rows = rows[k:]
			}
			if next != nil {
				n.sweepFrom = next
				return nil
			}
		}
	}
	return nil
}

// serves reports whether rows of a span lie in a shard's tablets.
func serves(s *shard.Replica, span kv.Span) bool {
	return slices.ContainsFunc(s.Tablets(), func(t kv.Tablet) bool {
		x := intersect(t.Span, span)
		return len(x.End) == 0 || bytes.Compare(x.Start, x.End) < 0
	})
}

func intersect(a, b kv.Span) kv.Span {
	if bytes.Compare(a.Start, b.Start) < 0 {
		a.Start = b.Start
	}
	if len(a.End) == 0 || len(b.End) > 0 && bytes.Compare(b.End, a.End) < 0 {
		a.End = b.End
	}
	return a
}
