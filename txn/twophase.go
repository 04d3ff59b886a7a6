package txn

import (
	"context"
	"errors"
	"time"

	"moka/kv"
)

// twoPhases is figure 6's Commit: prewrite everything, fetch commit_ts, commit the primary; the rest follows from it.
func (cm *committer) twoPhases(ctx context.Context, groups []*shardGroup) (kv.Timestamp, error) {
	stop := cm.keepAlive(ctx)
	defer stop()
	cm.written = make([]bool, len(cm.mutations))
	r, err := cm.prewrite(ctx, groups)
	switch {
	case err != nil:
		return cm.abandon(ctx, notCommittedIf("prewrite", err))
	case r.committed != 0:
		return r.committed, nil
	case cm.async && !r.plain:
		stop()
		return cm.confirm(ctx, r)
	}
	commitTS, err := cm.c.clock.Next(ctx)
	if err != nil {
		return cm.abandon(ctx, err)
	}
	return cm.decideAtPrimary(ctx, max(commitTS, r.minCommitTS))
}

// abandon ends a commit that was not decided yet.
func (cm *committer) abandon(ctx context.Context, cause error) (kv.Timestamp, error) {
	if cm.async {
		return cm.abandonAsync(ctx, cause)
	}
	cm.rollback(ctx)
	return 0, cause
}

// decideAtPrimary is the second phase.
func (cm *committer) decideAtPrimary(ctx context.Context, commitTS kv.Timestamp) (kv.Timestamp, error) {
	// The commit point. Its error is either "rolled back by somebody" or ErrOutcomeUnknown; only the first means aborted.
	commitTS, rest, err := cm.commitPrimary(ctx, commitTS)
	if err != nil {
		if !errors.Is(err, ErrOutcomeUnknown) {
			cm.rollback(ctx)
		}
		return 0, err
	}
	cm.c.finish.add(ctx, decision{cm.startTS, commitTS}, rest, nil)
	return commitTS, nil
}

// notCommittedIf leaves our own errors alone.
func notCommittedIf(what string, err error) error {
	var own *Error
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrSnapshotTooOld) || errors.Is(err, ErrAlreadyExists) || errors.Is(err, ErrMustExist) || errors.As(err, &own) {
		return err
	}
	return notCommitted(what, err)
}

// prewritten is what the shards said to a prewrite, all together.
type prewritten struct {
	// committed is set if a repeated request finds that the transaction has committed already.
	committed kv.Timestamp
	// minCommitTS is the least commit_ts that all asynchronous locks allow; plain says that some are not.
	minCommitTS kv.Timestamp
	plain       bool
	// repeated says that some request may have got through more than once.
	repeated bool
}

func (p prewritten) and(o prewritten) prewritten {
	return prewritten{max(p.committed, o.committed), max(p.minCommitTS, o.minCommitTS), p.plain || o.plain, p.repeated || o.repeated}
}

// prewrite locks the groups' columns, all shards at the same time; the primary's is no different (a resolver that does not find
// it yet waits for the TTL).
func (cm *committer) prewrite(ctx context.Context, groups []*shardGroup) (all prewritten, err error) {
	results := make([]prewritten, len(groups))
	err = each(newBackoff(cm.c.o.RetryTime, cm.startTS), groups, func(i int, b *backoff, g *shardGroup) (err error) {
		results[i], err = cm.prewriteGroup(ctx, b, g)
		return err
	})
	for _, r := range results {
		all = all.and(r)
	}
	return all, err
}

func (cm *committer) prewriteGroup(ctx context.Context, b *backoff, g *shardGroup) (r prewritten, err error) {
	waits := newBackoff(shortLockWait, cm.startTS)
	req := cm.writeRequest(g, cm.mutations)
	for {
		unknown := false
		m, err := cm.c.call(ctx, b, g, cmdPrewrite, req, &unknown)
		if unknown {
			cm.mark(g)
			r.repeated = true
		}
		switch {
		case errors.Is(err, kv.ErrMoved):
			if !b.wait(ctx) {
				return r, err
			}
			moved, err := cm.prewriteMoved(ctx, b, g)
			return r.and(moved), err
		case err != nil:
			return r, err
		}
		switch resp := m.(*writeResponse); resp.outcome {
		case outcomeOK:
			cm.mark(g)
			r.minCommitTS, r.plain = resp.minCommitTS, resp.minCommitTS == 0
			return r, nil
		case outcomeCommitted:
			r.committed = resp.commitTS
			return r, nil
		case outcomeUnseeded:
			if err := cm.c.seedForWrite(ctx, b, g, resp.incarnation); err != nil {
				return r, err
			}
		case outcomeLocked:
			if err := cm.clear(ctx, waits, resp.locks); err != nil {
				return r, err
			}
		default:
			return r, cm.refusal(resp)
		}
	}
}

// prewriteMoved deals a group's mutations out anew. An earlier attempt may have locked them where they were; locks move with
// their tablets, and a repeated prewrite finds its own.
func (cm *committer) prewriteMoved(ctx context.Context, b *backoff, g *shardGroup) (all prewritten, err error) {
	groups, err := cm.c.group(ctx, len(g.index), func(i int) kv.RowKey { return cm.mutations[g.index[i]].column.Row })
	if err != nil {
		return all, err
	}
	for _, sub := range groups {
		for k, i := range sub.index {
			sub.index[k] = g.index[i]
		}
	}
	results := make([]prewritten, len(groups))
	err = each(b, groups, func(i int, b *backoff, sub *shardGroup) (err error) {
		results[i], err = cm.prewriteGroup(ctx, b, sub)
		return err
	})
	for _, r := range results {
		all = all.and(r)
	}
	return all, err
}

// mark notes that a group's locks may be in the store. Groups are disjoint, so their marks do not race.
func (cm *committer) mark(g *shardGroup) {
	for _, i := range g.index {
		cm.written[i] = true
	}
}

// commitPrimary passes the commit point. It returns the columns that are left to commit.
func (cm *committer) commitPrimary(ctx context.Context, commitTS kv.Timestamp) (kv.Timestamp, []kv.Column, error) {
	b := newBackoff(cm.c.o.RetryTime, cm.startTS)
	unknown := false
	for {
		g, rest, err := cm.splitPrimary(ctx)
		if err != nil {
			return cm.decidePrimary(ctx, unknown, err)
		}
		req := &commitRequest{startTS: cm.startTS, commitTS: commitTS, primary: cm.primary, spans: g.spans, tablets: g.tablets}
		m, err := cm.c.call(ctx, b, g, cmdCommit, req, &unknown)
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return cm.decidePrimary(ctx, unknown, err)
		}
		switch resp := m.(*writeResponse); resp.outcome {
		case outcomeOK, outcomeCommitted:
			return resp.commitTS, rest, nil
		case outcomeUnseeded:
			if err := cm.c.seedForWrite(ctx, b, g, resp.incarnation); err != nil {
				return cm.decidePrimary(ctx, true, err) // a second copy of the request may have come through since, as in onePhase
			}
		default:
			return 0, nil, cm.refusal(resp)
		}
	}
}

// splitPrimary groups what can be committed with the primary, and lists the rest.
func (cm *committer) splitPrimary(ctx context.Context) (*shardGroup, []kv.Column, error) {
	groups, err := cm.group(ctx, cm.mutations)
	if err != nil {
		return nil, nil, err
	}
	var primary *shardGroup
	var rest []kv.Column
	for _, g := range groups {
		cols := make([]kv.Column, 0, len(g.index))
		has := false
		for _, i := range g.index {
			cols = append(cols, cm.mutations[i].column)
			has = has || compareColumns(cm.mutations[i].column, cm.primary) == 0
		}
		if has {
			primary = g
		} else {
			rest = append(rest, cols...)
		}
	}
	return primary, rest, nil
}

// decidePrimary ends a commit whose commit point did not answer. An asynchronous one is decided by its locks, which are all there: whoever
// met them may have carried it to the primary while our requests came to nothing. (The simulator's seed 4689.)
func (cm *committer) decidePrimary(ctx context.Context, unknown bool, cause error) (kv.Timestamp, []kv.Column, error) {
	commitTS, err := cm.decide(ctx, unknown || cm.async, notCommittedIf("commit", cause))
	if err != nil {
		return 0, nil, err
	}
	_, rest, err := cm.splitPrimary(ctx)
	if err != nil {
		rest = nil // committed all the same; whoever meets the other locks rolls them forward
	}
	return commitTS, rest, nil
}

// rollback removes what a failed transaction may have locked. What it cannot reach expires.
func (cm *committer) rollback(ctx context.Context) {
	cm.c.metrics.rollbacks.Add(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cm.c.o.LockTTL)
	defer cancel()
	b := newBackoff(cm.c.o.LockTTL, cm.startTS)
	for {
		var ms []*mutation
		for i, w := range cm.written {
			if w {
				ms = append(ms, cm.mutations[i])
			}
		}
		groups, err := cm.group(ctx, ms)
		if err == nil && len(groups) > 0 {
			err = each(b, groups, func(_ int, b *backoff, g *shardGroup) error {
				return cm.rollbackGroup(ctx, b, g, ms)
			})
		}
		again := errors.Is(err, kv.ErrMoved) || err != nil && worthRepeating(err)
		if !again || !b.wait(ctx) {
			if err != nil {
				cm.c.o.Logger.WarnContext(ctx, "locks of a failed transaction are left to expire", "start_ts", cm.startTS, "error", err)
			}
			return
		}
	}
}

func (cm *committer) rollbackGroup(ctx context.Context, b *backoff, g *shardGroup, ms []*mutation) error {
	req := &rollbackRequest{startTS: cm.startTS, primary: cm.primary, spans: g.spans}
	for _, i := range g.index {
		if !ms[i].kind.Shared() {
			req.columns = append(req.columns, ms[i].column)
		}
	}
	_, err := cm.c.call(ctx, b, g, cmdRollback, req, nil)
	return err
}

// keepAlive raises the primary's TTL while a commit takes long. stop waits until it has ended.
func (cm *committer) keepAlive(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	period := cm.c.o.LockTTL / 3
	go func() {
		defer close(done)
		timer := time.NewTimer(period)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			cm.beat(ctx)
			timer.Reset(period)
		}
	}()
	return func() { cancel(); <-done }
}

// beat is best effort: if it fails, the lock expires, and if somebody then rolls us back, the commit point tells.
func (cm *committer) beat(ctx context.Context) {
	g, err := cm.c.groupOne(ctx, cm.primary.Row)
	if err != nil {
		return
	}
	cm.c.metrics.heartbeats.Add(1)
	_, err = cm.c.store.Call(ctx, g.shard, g.tablets, cmdHeartbeat, &heartbeatRequest{primary: cm.primary, startTS: cm.startTS, ttl: cm.ttl()})
	if err != nil && ctx.Err() == nil {
		cm.c.o.Logger.DebugContext(ctx, "heartbeat", "start_ts", cm.startTS, "error", err)
	}
}
