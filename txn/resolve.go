package txn

import (
	"context"
	"errors"
	"time"

	"moka/kv"
)

// resolve deals with foreign locks by asking their primaries (§2.2). Locks of decided transactions are rolled forward or back.
// With a snapshot, live transactions are pushed to commit above it; those, and whoever committed above it, are handed to
// bypass, since their locks need not be waited for. What is left is returned.
//
// With through, locks of transactions that committed at or below the snapshot are handed to it instead, and settled in the
// background: the reader can take its values from them.
//
// An asynchronous commit cannot be pushed. With look, its locks are looked at even while its owner has time.
func (c *Client) resolve(ctx context.Context, snapshot kv.Timestamp, locks []lockInfo, look bool, bypass func(kv.Timestamp), through func(decision)) (alive []lockInfo, err error) {
	c.metrics.locksMet.Add(uint64(len(locks)))
	pushed := map[kv.Timestamp]bool{}
	for _, l := range locks {
		if pushed[l.startTS] {
			continue
		}
		if l.guard || l.row {
			alive = append(alive, l)
			continue
		}
		s, err := c.status(ctx, l, snapshot, look)
		switch {
		case err != nil:
			return nil, err
		case s.fate == fateAlive && s.pushed && bypass != nil:
			pushed[l.startTS] = true
			c.metrics.pushes.Add(1)
			bypass(l.startTS)
		case s.fate == fateAlive:
			alive = append(alive, l)
		default:
			d := decision{l.startTS, s.commitTS}
			switch {
			case s.commitTS == 0: // removed before the reader goes on, or it would linger until somebody writes
			case bypass != nil && s.commitTS > snapshot:
				bypass(l.startTS)
				pushed[l.startTS] = true
			case through != nil:
				through(d)
				if c.finish.settle(l, d) {
					continue
				}
			}
			if _, err := c.settle(ctx, l, s.commitTS); err != nil {
				return nil, err
			}
		}
	}
	return alive, nil
}

// status asks a lock's primary what became of its transaction.
func (c *Client) status(ctx context.Context, l lockInfo, push kv.Timestamp, look bool) (*statusResponse, error) {
	// A crash may bring the primary's lock of an asynchronous commit back after we learned its fate: its commit was not synced.
	if s, ok := c.fates.Get(l.startTS); ok && compareColumns(l.column, l.primary) != 0 {
		c.metrics.fatesKnown.Add(1)
		return s, nil
	}
	return c.asking.Do(ctx, asked{l.startTS, push, look}, func() (*statusResponse, error) { return c.askStatus(ctx, l, push, look) })
}

func (c *Client) askStatus(ctx context.Context, l lockInfo, push kv.Timestamp, look bool) (*statusResponse, error) {
	now, err := c.clock.Next(ctx)
	if err != nil {
		return nil, err
	}
	req := &statusRequest{primary: l.primary, startTS: l.startTS, push: push, now: now, expired: expired(l.startTS, l.ttl.Milliseconds(), now)}
	if c.o.Liveness != nil && l.session != "" && l.session != *c.session.Load() {
		ok, err := c.o.Liveness.Alive(ctx, l.session)
		if err != nil {
			// Not knowing is not a reason to kill; the TTL decides.
			c.o.Logger.WarnContext(ctx, "liveness of a lock's owner is unknown", "session", l.session, "error", err)
		}
		req.force = err == nil && !ok
	}
	s, err := c.askPrimary(ctx, req, nil)
	if err == nil && s.async && (look || s.fate == fateUndecided) {
		s, err = c.finishAsync(ctx, l.primary, l.startTS, s, s.fate == fateUndecided)
	}
	if err != nil {
		return nil, err
	}
	if s.fate != fateAlive {
		c.fates.Put(l.startTS, s)
	}
	return s, nil
}

// askPrimary sends a status request to wherever the primary is.
func (c *Client) askPrimary(ctx context.Context, req *statusRequest, unknown *bool) (*statusResponse, error) {
	b := newBackoff(c.o.RetryTime, req.startTS)
	for {
		g, err := c.groupOne(ctx, req.primary.Row)
		if err != nil {
			return nil, err
		}
		m, err := c.call(ctx, b, g, cmdCheckStatus, req, unknown)
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s := m.(*statusResponse); s.fate != fateForgotten {
			return s, nil
		}
		return nil, errTooLongAgo(req.startTS)
	}
}

// settle carries a decision to the locks of the transaction in the tablet where one was met. It returns how many it found.
func (c *Client) settle(ctx context.Context, l lockInfo, commitTS kv.Timestamp) (int, error) {
	if commitTS == 0 {
		c.metrics.backs.Add(1)
	} else {
		c.metrics.forwards.Add(1)
	}
	b := newBackoff(c.o.RetryTime, l.startTS)
	for {
		g, err := c.groupOne(ctx, l.column.Row)
		if err != nil {
			return 0, err
		}
		req := &resolveRequest{decisions: []decision{{l.startTS, commitTS}}, spans: g.spans}
		m, err := c.settling.Do(ctx, settled{l.startTS, g.tablets[0].ID}, func() (kv.Message, error) {
			return c.call(ctx, b, g, cmdResolve, req, nil)
		})
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return 0, err
		}
		return int(m.(*resolveResponse).resolved), nil
	}
}

// orphanBatch is how many locks a sweep asks a shard for at a time.
const orphanBatch = 1024

// ResolveOrphans resolves the locks of transactions that began longer ago than olderThan and are dead or decided, on all
// shards, and returns how many. Readers resolve what they meet; this is for what nobody reads: a lost commit of a secondary
// would keep its notification back for ever. The caller loops.
func (c *Client) ResolveOrphans(ctx context.Context, olderThan time.Duration) (resolved int, err error) {
	now, err := c.clock.Next(ctx)
	if err != nil {
		return 0, err
	}
	limit := kv.NewTimestamp(max(0, now.Physical()-olderThan.Milliseconds()), now.Logical())
	shards, err := c.store.Shards(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, shard := range shards {
		n, err := c.resolveOrphansOf(ctx, shard, min(limit, now))
		resolved += n
		if err != nil {
			errs = append(errs, err)
		}
	}
	return resolved, errors.Join(errs...)
}

func (c *Client) resolveOrphansOf(ctx context.Context, shard kv.ShardID, limit kv.Timestamp) (resolved int, err error) {
	for {
		b := newBackoff(c.o.RetryTime, limit)
		m, err := c.call(ctx, b, &shardGroup{shard: shard}, cmdScanLocks, &scanLocksRequest{max: limit, limit: orphanBatch}, nil)
		if err != nil {
			return resolved, err
		}
		locks := m.(*scanLocksResponse).locks
		n, err := c.resolveBatch(ctx, locks)
		resolved += n
		// A full batch that yielded nothing is all alive; what lies behind it has to wait for the next sweep.
		if err != nil || len(locks) < orphanBatch || n == 0 {
			return resolved, err
		}
	}
}

func (c *Client) resolveBatch(ctx context.Context, locks []lockInfo) (resolved int, err error) {
	type place struct {
		startTS kv.Timestamp
		tablet  kv.TabletID
	}
	done := map[place]bool{}
	for _, l := range locks {
		t, err := c.store.Locate(ctx, l.column.Row)
		if err != nil {
			return resolved, err
		}
		p := place{l.startTS, t.ID}
		if done[p] {
			continue
		}
		done[p] = true
		s, err := c.status(ctx, l, 0, true)
		if errors.Is(err, errForgotten) && compareColumns(l.column, l.primary) != 0 {
			n, err := c.dropForgotten(ctx, l)
			if err != nil {
				return resolved, err
			}
			resolved += n
			continue
		}
		if err != nil {
			return resolved, err
		}
		if s.fate == fateAlive {
			continue
		}
		n, err := c.settle(ctx, l, s.commitTS)
		if err != nil {
			return resolved, err
		}
		if compareColumns(l.column, l.primary) == 0 {
			n++ // asking the primary removed its lock
		}
		resolved += n
	}
	return resolved, nil
}

// dropForgotten removes a secondary's lock whose transaction has been forgotten. Nothing is removed below a safe point before no lock from below
// is left anywhere (C2), and none can come back (C3). So the lock has gone since it was listed, and all that its transaction left with
// it; or it was settled then, and what is met is an image of it, which a shard of an older release could keep. It says nothing of its column
// any more. Left where it is it would make the row unreadable, and no collection would begin.
func (c *Client) dropForgotten(ctx context.Context, l lockInfo) (int, error) {
	n, err := c.settle(ctx, l, 0)
	if n > 0 {
		c.metrics.forgotten.Add(uint64(n))
		c.o.Logger.WarnContext(ctx, "a lock was removed whose transaction had been settled long ago", "row", []byte(l.column.Row), "start_ts", l.startTS, "primary", []byte(l.primary.Row))
	}
	return n, err
}
