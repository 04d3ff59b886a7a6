package node

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/shard"
)

// The balancer is the small version of Bigtable's master for one node: it splits tablets that have grown and evens out the bytes
// of the shards. It does little at a time, and never merges by itself: it cannot tell a tablet that shrank from one that an
// operator cut for load to come.
const (
	defaultSplitBytes = 96 << 20
	defaultBalance    = 10 * time.Second
	maxSplitsPerTurn  = 4
)

// balance runs turns until ctx ends.
func (n *Node) balance(ctx context.Context) {
	t := time.NewTicker(n.o.BalanceEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := n.Balance(ctx); err != nil && ctx.Err() == nil {
			n.logger.Warn("the balancer's turn failed", "error", err)
		}
	}
}

// Balance takes one turn: METADATA is repaired if a change could not be written there, the data of dropped tables goes, some
// rows are searched for garbage, a few tablets that are too large are split and at most one that is hot, and at most one tablet moves.
func (n *Node) Balance(ctx context.Context) error {
	if err := n.lockStructure(); err != nil {
		return err
	}
	defer n.structure.Unlock()
	if n.metaStale || n.newLeads() {
		if err := n.repairMeta(ctx); err != nil {
			return err
		}
		n.metaStale = false
	}
	if err := n.clearDropped(ctx); err != nil {
		return err
	}
	if err := n.sweep(ctx); err != nil {
		return err
	}
	if err := n.splitLarge(ctx); err != nil {
		return err
	}
	if err := n.splitHot(ctx, time.Now()); err != nil {
		return err
	}
	if n.o.Cluster != nil || len(n.slots) < 2 || n.Room() != nil { // a tablet that moves is there twice
		return nil
	}
	return n.moveOne(ctx)
}

func (n *Node) splitLarge(ctx context.Context) error {
	left := maxSplitsPerTurn
	for _, s := range n.led() {
		sizes, err := s.Sizes()
		if err != nil {
			return err
		}
		for _, z := range sizes {
			if z.Bytes <= n.o.SplitBytes || left == 0 || pinned("", z.Tablet) != nil {
				continue
			}
			row, ok, err := s.MiddleRow(z.Tablet)
			if err != nil {
				return err
			}
			if !ok || !z.Tablet.Span.Contains(row) {
				continue
			}
			if _, _, err := n.split(ctx, row); err != nil {
				return err
			}
			left--
		}
	}
	return nil
}

// hotTablets remembers for how many turns in a row each tablet has been hot.
type hotTablets struct {
	since time.Time // the loads were taken
	turns map[kv.TabletID]int
	// rates are the commands a second of the last turn, for who looks at the node.
	rates atomic.Pointer[map[kv.TabletID]float64]
}

// TabletLoad is how large a tablet is and how much is asked of it, both by an estimate.
type TabletLoad struct {
	Tablet kv.Tablet
	Bytes  uint64
	// Rate is commands a second, between the last two turns of the balancer.
	Rate float64
}

// TabletLoads lists the tablets of the shards that have a replica here, in the order of their rows. It costs
// some lookups for each, so it is for people and not for every request.
func (n *Node) TabletLoads() (list []TabletLoad, err error) {
	rates := map[kv.TabletID]float64{}
	if p := n.hot.rates.Load(); p != nil {
		rates = *p
	}
	for _, s := range n.here() {
		sizes, err := s.Sizes()
		if err != nil {
			return nil, err
		}
		for _, z := range sizes {
			list = append(list, TabletLoad{z.Tablet, z.Bytes, rates[z.Tablet.ID]})
		}
	}
	slices.SortFunc(list, func(a, b TabletLoad) int {
		return bytes.Compare(a.Tablet.Span.Start, b.Tablet.Span.Start)
	})
	return list, nil
}

const (
	defaultSplitRate = 20_000
	// hotTurns is how many turns a tablet must be hot: half a minute. A burst is over before it would have paid to split for it.
	hotTurns = 3
	// maxHotSplit bounds the tablets of a node that splitting by load may lead to. Nobody merges them by himself.
	maxHotSplit = 64
)

// splitHot splits at most one tablet of which much has been asked for a while, in the middle of what is asked of it. Both halves begin as
// tablets that have not been hot. On one node this only prepares: it is for who places tablets on nodes to move a half.
func (n *Node) splitHot(ctx context.Context, now time.Time) error {
	if n.o.SplitRate < 0 {
		return nil
	}
	elapsed := now.Sub(n.hot.since)
	first := n.hot.since.IsZero()
	n.hot.since = now
	turns, rates := map[kv.TabletID]int{}, map[kv.TabletID]float64{}
	defer n.hot.rates.Store(&rates)
	var hottest *shard.Load
	for _, s := range n.led() {
		for _, l := range s.TakeLoads() { // also the first time, when nobody knows since when they count
			if first || elapsed <= 0 {
				continue
			}
			rate := float64(l.Requests) / elapsed.Seconds()
			rates[l.Tablet.ID] = rate
			if rate < float64(n.o.SplitRate) || pinned("", l.Tablet) != nil {
				continue
			}
			turns[l.Tablet.ID] = n.hot.turns[l.Tablet.ID] + 1
			if turns[l.Tablet.ID] >= hotTurns && (hottest == nil || l.Requests > hottest.Requests) {
				hottest = &l
			}
		}
	}
	n.hot.turns = turns
	if hottest == nil || len(n.Tablets()) >= maxHotSplit {
		return nil
	}
	delete(turns, hottest.Tablet.ID) // if it cannot be split now, it need not be tried at each turn
	row, ok := hottest.SplitRow()
	if !ok {
		return nil
	}
	n.logger.Info("a hot tablet is split", "tablet", hottest.Tablet.ID, "requests_per_second", int(float64(hottest.Requests)/elapsed.Seconds()))
	_, _, err := n.split(ctx, row)
	return err
}

// moveOne moves a tablet from the fullest shard to the emptiest if that brings them closer. Small tablets stay: what is in one
// shard commits in one phase, so spreading little data costs more than it gains.
func (n *Node) moveOne(ctx context.Context) error {
	rs := n.here()
	bytes := make([]uint64, len(rs))
	all := make([][]shard.Size, len(rs))
	for i, s := range rs {
		var err error
		if all[i], err = s.Sizes(); err != nil {
			return err
		}
		for _, z := range all[i] {
			bytes[i] += z.Bytes
		}
	}
	most, least := slices.Index(bytes, slices.Max(bytes)), slices.Index(bytes, slices.Min(bytes))
	gap := bytes[most] - bytes[least]
	var best *shard.Size
	for i := range all[most] {
		z := &all[most][i]
		if pinned("", z.Tablet) != nil || z.Bytes < n.o.SplitBytes/8 || z.Bytes >= gap {
			continue // a tablet of the gap's size would only change the roles
		}
		if best == nil || distance(z.Bytes, gap/2) < distance(best.Bytes, gap/2) {
			best = z
		}
	}
	if best == nil {
		return nil
	}
	_, err := n.move(ctx, best.Tablet.ID, rs[least].ID())
	return err
}

func distance(a, b uint64) uint64 {
	if a > b {
		return a - b
	}
	return b - a
}
