package txn

import (
	"bytes"
	"context"
	"errors"
	"time"

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
//	    long ago (errTooLongAgo), never that it was rolled back. A lock of one, which by C2 and C3 was settled before and is met again all the
//	    same, says nothing any more: the sweep of orphans removes it, and goes on.
//
// Who writes looks at the safe point behind a guard or a lock (prewrites; commits in one phase once more, behind their look for conflicts), and
// evalSafePoint looks at the locks behind raising it. Who only looks, as row locks do, asks for it afterwards, as reads do.
//
// Versions leave by explicit deletes, range after range: Pebble has no compaction filter. A shard notes how far down a range of rows
// is clean, and the next collection looks only at what was written since then: blocks on disk without such versions are not read.

// GarbageStats says what a collection has done.
type GarbageStats struct {
	Tablets    int
	Columns    int64 // that were looked at
	Versions   int64 // removed: commit records with their values
	Tombstones int64 // removed: of transactions that were rolled back
	Requests   int64
}

// GarbageOptions of one collection.
type GarbageOptions struct {
	// Duty is the part of the time in which the collection works; it rests in between. Zero means that it does not rest.
	Duty float64
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
func (c *Client) CollectGarbage(ctx context.Context, safePoint kv.Timestamp, o GarbageOptions) (stats GarbageStats, err error) {
	now, err := c.clock.Next(ctx)
	if err != nil {
		return stats, err
	}
	if safePoint == 0 || safePoint >= now {
		return stats, kv.Errorf(kv.CodeInvalidArgument, "txn.gc", "safe point %v is not in the past; now is %v", safePoint, now)
	}
	parts, err := c.announce(ctx, safePoint)
	stats.Tablets = len(parts)
	k := &collection{c: c, safePoint: safePoint, o: o, stats: &stats}
	for i := 0; err == nil && i < len(parts); i++ {
		err = k.sweep(ctx, parts[i])
	}
	return stats, err
}

// announce resolves what is left of transactions below the safe point (C2), and makes all tablets know it, before the first version goes.
func (c *Client) announce(ctx context.Context, safePoint kv.Timestamp) (parts []sweepPart, err error) {
	shards, err := c.store.Shards(ctx)
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		if _, err := c.resolveOrphansOf(ctx, shard, safePoint-1); err != nil {
			return nil, err
		}
	}
	// From tablet to tablet, by the end of the one that has answered: what is known of it before it is asked may be older than a split.
	end := kv.MakeRowKey(kv.TableTxn+1, nil)
	for row := kv.MakeRowKey(kv.TableTxn, nil); ; {
		told, tablet, err := c.tellSafePoint(ctx, row, safePoint)
		if err != nil {
			return parts, err
		}
		p := sweepPart{first: row, span: kv.Span{Start: row, End: tablet.End}}
		if bytes.Equal(told.collected.End, tablet.End) {
			p.since = told.collected.SafePoint
		}
		parts = append(parts, p)
		if len(tablet.End) == 0 || bytes.Compare(tablet.End, end) >= 0 {
			return parts, nil
		}
		row = tablet.End
	}
}

// collection is one run of CollectGarbage.
type collection struct {
	c         *Client
	safePoint kv.Timestamp
	o         GarbageOptions
	stats     *GarbageStats
}

// sweepPart is what was one tablet when the collection began.
type sweepPart struct {
	first kv.RowKey
	span  kv.Span
	since kv.Timestamp // it is clean below this
}

// tellSafePoint makes the shard of a row know the safe point, durably, and returns the span of the tablet for which it has answered.
func (c *Client) tellSafePoint(ctx context.Context, row kv.RowKey, safePoint kv.Timestamp) (*safePointResponse, kv.Span, error) {
	b := newBackoff(c.o.RetryTime, safePoint)
	for {
		g, err := c.groupOne(ctx, row)
		if err != nil {
			return nil, kv.Span{}, err
		}
		m, err := c.call(ctx, b, g, cmdSafePoint, &safePointRequest{safePoint: safePoint, row: row}, nil)
		switch {
		case errors.Is(err, kv.ErrMoved) && b.wait(ctx):
			continue
		case err != nil:
			return nil, kv.Span{}, err
		}
		resp := m.(*safePointResponse)
		if resp.locked {
			return nil, kv.Span{}, errLocksLeft
		}
		return resp, g.spans[0], nil
	}
}

// sweep removes the garbage of what was a tablet, and notes that it is clean: about rows, wherever they have gone meanwhile.
func (k *collection) sweep(ctx context.Context, p sweepPart) error {
	// Acknowledgements first: of each there is one version then, when those of a row are looked for.
	for _, req := range []collectRequest{{acks: true}, {}, {tombstones: true}} {
		req.since = p.since
		if err := k.sweepGroup(ctx, p, req); err != nil {
			return err
		}
	}
	b := newBackoff(k.c.o.RetryTime, k.safePoint)
	for {
		req := &collectRequest{safePoint: k.safePoint, row: p.first, span: p.span, done: true}
		resp, _, err := k.request(ctx, b, p.first, req)
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) || err == nil && resp.untold {
			continue
		}
		return err
	}
}

// sweepGroup goes through the rows of a part, request by request, following them to wherever they are.
func (k *collection) sweepGroup(ctx context.Context, p sweepPart, req collectRequest) error {
	b := newBackoff(k.c.o.RetryTime, k.safePoint)
	span := p.span
	req.safePoint = k.safePoint
	for {
		row := span.Start
		if req.resume {
			row = req.after.Row
		}
		r := req
		r.span = kv.Span{Start: row, End: span.End}
		resp, end, err := k.request(ctx, b, row, &r)
		switch {
		case errors.Is(err, kv.ErrMoved) && b.wait(ctx):
			continue
		case err != nil:
			return err
		case resp.untold:
			continue
		}
		k.stats.Columns += int64(resp.columns)
		k.stats.Versions += int64(resp.versions)
		k.stats.Tombstones += int64(resp.tombstones)
		b = newBackoff(k.c.o.RetryTime, k.safePoint)
		switch {
		case resp.more:
			req.after, req.below, req.resume = resp.last, resp.below, true
		case len(end) > 0 && (len(span.End) == 0 || bytes.Compare(end, span.End) < 0):
			span.Start, req.resume, req.below = end, false, 0
		default:
			return nil
		}
	}
}

// request asks the shard that serves row, for the part of the span that it has, which ends at end. A tablet that has been split ends
// earlier; one that has moved to a shard that does not know the safe point makes it known there first.
func (k *collection) request(ctx context.Context, b *backoff, row kv.RowKey, req *collectRequest) (resp *collectResponse, end kv.RowKey, err error) {
	began := time.Now()
	g, err := k.c.groupOne(ctx, row)
	if err != nil {
		return nil, nil, err
	}
	end = req.span.End
	if tablet := g.spans[0]; !req.done && len(tablet.End) > 0 && (len(end) == 0 || bytes.Compare(tablet.End, end) < 0) {
		end = tablet.End
		req.span.End = end
	}
	req.row = firstRow(kv.Tablet{Span: g.spans[0]})
	if req.done {
		req.row = row
	}
	m, err := k.c.call(ctx, b, g, cmdCollect, req, nil)
	if err != nil {
		return nil, nil, err
	}
	k.stats.Requests++
	resp = m.(*collectResponse)
	if resp.untold {
		_, _, err = k.c.tellSafePoint(ctx, req.row, k.safePoint)
	}
	if err == nil {
		err = k.rest(ctx, time.Since(began))
	}
	return resp, end, err
}

// maxRest bounds the pause after one request.
const maxRest = time.Second

// rest pauses after work that took so long.
func (k *collection) rest(ctx context.Context, worked time.Duration) error {
	if k.o.Duty <= 0 || k.o.Duty >= 1 {
		return nil
	}
	timer := time.NewTimer(min(time.Duration(float64(worked)*(1/k.o.Duty-1)), maxRest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
