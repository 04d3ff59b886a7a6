package txn

import (
	"bytes"
	"context"
	"errors"

	"moka/kv"
)

// Garbage collection. Below the safe point nobody may read any more, so of each column's versions there only the newest has to
// stay, and not even that if it is a delete. The rules:
//
//	C1  The safe point is below every snapshot that is in use; a transaction that falls behind it all the same is refused, for reads
//	    (ErrSnapshotTooOld) and for writes: shards know the safe point before anything is removed, and keep it through restarts.
//	C2  No lock of a transaction that began below the safe point is left, in any shard, when the first version goes: what
//	    decides about it is the commit record of its primary, or the tombstone there.
//	C3  The commits of secondaries are not synced when they are acknowledged. Each shard makes the safe point durable, with a
//	    sync, after the last such lock is gone: a crash cannot bring one back whose primary's record has been removed.
//	C4  Below the safe point "no record" means nothing. Who asks what became of such a transaction is told that it is too
//	    long ago (errTooLongAgo), never that it was rolled back.
//
// Versions leave by explicit deletes, range after range: Pebble has no compaction filter.

// GarbageStats says what a collection has done.
type GarbageStats struct {
	Tablets    int
	Columns    int64 // that were looked at
	Versions   int64 // removed: commit records with their values
	Tombstones int64 // removed: of transactions that were rolled back
}

// errLocksLeft: some transaction below the safe point still has locks; try again later, or with an older one.
var errLocksLeft = kv.Errorf(kv.CodeBusy, "txn.gc", "transactions older than the safe point still hold locks; nothing was removed")

// collectVisits and collectDeletes bound one request of the sweep.
const (
	collectVisits  = 4096
	collectDeletes = 1024
)

// CollectGarbage removes what no snapshot at or above safePoint needs. It may be called any number of times, by any number of
// clients; safe points never go back. The caller makes sure that safePoint is below every snapshot in use: transactions that
// are not will fail.
func (c *Client) CollectGarbage(ctx context.Context, safePoint kv.Timestamp) (stats GarbageStats, err error) {
	now, err := c.clock.Next(ctx)
	if err != nil {
		return stats, err
	}
	if safePoint == 0 || safePoint >= now {
		return stats, kv.Errorf(kv.CodeInvalidArgument, "txn.gc", "safe point %v is not in the past; now is %v", safePoint, now)
	}
	shards, err := c.store.Shards(ctx)
	if err != nil {
		return stats, err
	}
	for _, shard := range shards { // C2
		if _, err := c.resolveOrphansOf(ctx, shard, safePoint-1); err != nil {
			return stats, err
		}
	}
	// All tablets are told before the first version goes.
	err = c.eachTablet(ctx, func(row kv.RowKey, t kv.Tablet) error {
		stats.Tablets++
		return c.tellSafePoint(ctx, row, safePoint)
	})
	if err != nil {
		return stats, err
	}
	return stats, c.eachTablet(ctx, func(row kv.RowKey, t kv.Tablet) error {
		return c.sweep(ctx, kv.Span{Start: row, End: t.Span.End}, safePoint, &stats)
	})
}

// eachTablet calls f for the tablets of the transactional table, with the first row that each of them may have.
func (c *Client) eachTablet(ctx context.Context, f func(row kv.RowKey, t kv.Tablet) error) error {
	end := kv.MakeRowKey(kv.TableTxn+1, nil)
	for row := kv.MakeRowKey(kv.TableTxn, nil); ; {
		t, err := c.store.Locate(ctx, row)
		if err != nil {
			return err
		}
		if err := f(row, t); err != nil {
			return err
		}
		if len(t.Span.End) == 0 || bytes.Compare(t.Span.End, end) >= 0 {
			return nil
		}
		row = t.Span.End
	}
}

// tellSafePoint makes a tablet's shard know the safe point, durably.
func (c *Client) tellSafePoint(ctx context.Context, row kv.RowKey, safePoint kv.Timestamp) error {
	b := newBackoff(c.o.RetryTime, safePoint)
	for {
		g, err := c.groupOne(ctx, row)
		if err != nil {
			return err
		}
		m, err := c.call(ctx, b, g, cmdSafePoint, &safePointRequest{safePoint: safePoint, row: row}, nil)
		switch {
		case errors.Is(err, kv.ErrMoved) && b.wait(ctx):
			continue
		case err != nil:
			return err
		}
		if resp := m.(*safePointResponse); resp.locked {
			return errLocksLeft
		}
		return nil
	}
}

// sweep removes the garbage of a span, request by request, following its rows to wherever they are.
func (c *Client) sweep(ctx context.Context, span kv.Span, safePoint kv.Timestamp, stats *GarbageStats) error {
	b := newBackoff(c.o.RetryTime, safePoint)
	after, resume := kv.Column{}, false
	for {
		row := span.Start
		if resume {
			row = after.Row
		}
		g, err := c.groupOne(ctx, row)
		if err != nil {
			return err
		}
		// The tablet may have been split: this request's part ends where its tablet does.
		part := kv.Span{Start: row, End: span.End}
		tablet := g.spans[0]
		if len(tablet.End) > 0 && (len(part.End) == 0 || bytes.Compare(tablet.End, part.End) < 0) {
			part.End = tablet.End
		}
		first := tablet.Start
		if base := kv.MakeRowKey(kv.TableTxn, nil); bytes.Compare(first, base) < 0 {
			first = base
		}
		req := &collectRequest{safePoint: safePoint, row: first, span: part, resume: resume, after: after}
		m, err := c.call(ctx, b, g, cmdCollect, req, nil)
		switch {
		case errors.Is(err, kv.ErrMoved) && b.wait(ctx):
			continue
		case err != nil:
			return err
		}
		resp := m.(*collectResponse)
		if resp.untold { // it has moved to a shard that does not know the safe point
			if err := c.tellSafePoint(ctx, first, safePoint); err != nil {
				return err
			}
			continue
		}
		stats.Columns += int64(resp.columns)
		stats.Versions += int64(resp.versions)
		stats.Tombstones += int64(resp.tombstones)
		b = newBackoff(c.o.RetryTime, safePoint)
		switch {
		case resp.more:
			after, resume = resp.last, true
		case len(part.End) > 0 && (len(span.End) == 0 || bytes.Compare(part.End, span.End) < 0):
			span.Start, resume = part.End, false
		default:
			return nil
		}
	}
}
