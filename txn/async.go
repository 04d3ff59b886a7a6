package txn

import (
	"context"
	"errors"

	"moka/kv"
)

// Asynchronous commit: the transaction is committed when the last of its locks is durable, so that its user waits for one round
// trip instead of two. (The idea is TiKV's; the rules are ours where the records differ.)
//
//	A1  The primary's lock lists the secondaries. All locked means committed, at the largest min_commit_ts among the locks.
//	A2  min_commit_ts is above every snapshot that the lock's shard has served, so readers below it pass by the lock.
//	A3  Who is not the owner decides at the primary and nowhere else, durably: it commits once all locks were found, or rolls
//	    back once one of them has been kept out for ever by a tombstone (evalCheckSecondaries). Only then are other locks touched.
//	A4  The owner reports success if every prewrite answered at its first attempt. Else the primary decides for the owner, too,
//	    since somebody else may have, from a lock that a repeated prewrite cannot see any more. (confirm)
//	A5  The owner that gives up rolls back the primary first, and reports what the primary answers: before it has all locks (abandonAsync),
//	    and when it has them and cannot reach the primary in time (decidePrimary). Until then others may commit it.
//	A6  One lock that is plain makes the transaction one of two phases: only the owner commits it, at the primary.
//
// Transactions with shared locks (Require, NotifyWeak) have two phases: nothing latches these, so a look at them proves
// nothing about what is on its way.

// asyncAllowed says whether the transaction is small enough for its primary to list all others.
func (cm *committer) asyncAllowed() bool {
	if cm.c.o.NoAsyncCommit || len(cm.mutations) > cm.c.o.AsyncMaxKeys {
		return false
	}
	bytes := 0
	for _, m := range cm.mutations {
		bytes += len(m.column.Row) + len(m.column.Qualifier) + 3
		if m.kind.Shared() || m.share { // the row lock stands for the lock of a shared one
			return false
		}
	}
	return bytes <= cm.c.o.AsyncMaxBytes
}

// beginAsync decides whether this commit is asynchronous. As in one phase, a snapshot that is older than the call to Commit
// needs a fresh timestamp below commit_ts.
func (cm *committer) beginAsync(ctx context.Context) error {
	if cm.async = cm.asyncAllowed(); !cm.async {
		return nil
	}
	var err error
	if cm.floor, err = cm.commitFloor(ctx); err != nil {
		return err
	}
	cm.secondaries = make([]kv.Column, 0, len(cm.mutations)-1)
	for _, m := range cm.mutations {
		if compareColumns(m.column, cm.primary) != 0 {
			cm.secondaries = append(cm.secondaries, m.column)
		}
	}
	return nil
}

// confirm ends an asynchronous commit whose locks are all there.
func (cm *committer) confirm(ctx context.Context, r prewritten) (kv.Timestamp, error) {
	if r.repeated {
		return cm.decideAtPrimary(ctx, r.minCommitTS)
	}
	cm.c.metrics.async.Add(1)
	d := decision{cm.startTS, r.minCommitTS}
	for _, m := range cm.mutations {
		if !m.kind.Changes() {
			cm.c.finish.primaryFirst(ctx, cm, d)
			return r.minCommitTS, nil
		}
	}
	// Not before: who knows the fate removes locks, and the lock of a lock-only write must stay until the primary is committed.
	cm.c.fates.Put(cm.startTS, &statusResponse{fate: fateCommitted, commitTS: r.minCommitTS})
	columns := make([]kv.Column, len(cm.mutations))
	for i, m := range cm.mutations {
		columns[i] = m.column
	}
	cm.c.finish.add(ctx, d, columns, &cm.primary)
	return r.minCommitTS, nil
}

// abandonAsync ends an asynchronous commit that did not get all its locks, or does not know whether it did.
func (cm *committer) abandonAsync(ctx context.Context, cause error) (kv.Timestamp, error) {
	s, err := cm.askOwnPrimary(ctx, true)
	switch {
	case err != nil:
		return 0, errorf(CodeOutcomeUnknown, errors.Join(cause, err), "commit of start_ts %v: not all shards answered, nor does its primary", cm.startTS)
	case s.fate == fateCommitted: // all locks were there, and somebody waited for them
		cm.c.metrics.async.Add(1)
		return s.commitTS, nil
	case s.fate == fateRolledBack:
		cm.rollback(ctx)
		return 0, notCommittedIf("prewrite", cause)
	}
	return 0, errorf(CodeOutcomeUnknown, cause, "commit of start_ts %v: its primary is in state %d", cm.startTS, s.fate)
}

// finishAsync finds out what became of somebody's asynchronous commit from its locks (A3). s is the primary's answer. Without
// final, a transaction whose owner may still be at work stays alive unless all locks are there.
func (c *Client) finishAsync(ctx context.Context, primary kv.Column, startTS kv.Timestamp, s *statusResponse, final bool) (*statusResponse, error) {
	found, commitTS, err := c.checkSecondaries(ctx, startTS, s.secondaries, final)
	if err != nil {
		return nil, err
	}
	switch found {
	case secondariesLocked, secondariesCommitted:
		c.metrics.asyncDecided.Add(1)
		if found == secondariesLocked {
			commitTS = max(commitTS, s.minCommitTS)
		}
		return c.commitForOther(ctx, primary, startTS, commitTS)
	case secondariesMissing:
		return &statusResponse{fate: fateAlive, async: true}, nil
	}
	if found == secondariesPlain && !final {
		return &statusResponse{fate: fateAlive, async: true}, nil
	}
	now, err := c.clock.Next(ctx)
	if err != nil {
		return nil, err
	}
	c.metrics.asyncDecided.Add(1)
	return c.askPrimary(ctx, &statusRequest{primary: primary, startTS: startTS, now: now, force: true, rollback: true}, nil)
}

// commitForOther decides a transaction at its primary. What the primary answers counts.
func (c *Client) commitForOther(ctx context.Context, primary kv.Column, startTS, commitTS kv.Timestamp) (*statusResponse, error) {
	b := newBackoff(c.o.RetryTime, startTS)
	for {
		g, err := c.groupOne(ctx, primary.Row)
		if err != nil {
			return nil, err
		}
		req := &commitRequest{startTS: startTS, commitTS: commitTS, primary: primary, spans: g.spans, tablets: g.tablets}
		m, err := c.call(ctx, b, g, cmdCommit, req, nil)
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch resp := m.(*writeResponse); resp.outcome {
		case outcomeOK, outcomeCommitted:
			return &statusResponse{fate: fateCommitted, commitTS: resp.commitTS}, nil
		case outcomeRolledBack:
			return &statusResponse{fate: fateRolledBack}, nil
		default:
			return nil, kv.Errorf(kv.CodeInternal, "txn.resolve", "unexpected outcome %d of a primary", resp.outcome)
		}
	}
}

// checkSecondaries asks all shards at the same time and sums up. One commit or one roll-back speaks for all.
func (c *Client) checkSecondaries(ctx context.Context, startTS kv.Timestamp, columns []kv.Column, final bool) (secondariesFound, kv.Timestamp, error) {
	b := newBackoff(c.o.RetryTime, startTS)
	for {
		groups, err := c.group(ctx, len(columns), func(i int) kv.RowKey { return columns[i].Row })
		if err != nil {
			return 0, 0, err
		}
		answers := make([]*secondariesResponse, len(groups))
		err = each(b, groups, func(i int, b *backoff, g *shardGroup) error {
			req := &secondariesRequest{startTS: startTS, final: final}
			for _, j := range g.index {
				req.columns = append(req.columns, columns[j])
			}
			m, err := c.call(ctx, b, g, cmdCheckSecondaries, req, nil)
			if err == nil {
				answers[i] = m.(*secondariesResponse)
			}
			return err
		})
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		found, commitTS := sumUp(answers)
		if found == secondariesForgotten {
			return 0, 0, errTooLongAgo(startTS)
		}
		return found, commitTS, nil
	}
}

func sumUp(answers []*secondariesResponse) (found secondariesFound, commitTS kv.Timestamp) {
	rank := func(f secondariesFound) int { // what outweighs what
		return map[secondariesFound]int{secondariesLocked: 0, secondariesMissing: 1, secondariesPlain: 2, secondariesForgotten: 3, secondariesRolledBack: 4, secondariesCommitted: 5}[f]
	}
	found = secondariesLocked
	for _, a := range answers {
		switch {
		case a.found == found:
			commitTS = max(commitTS, a.commitTS) // of commits, all say the same
		case rank(a.found) > rank(found):
			found, commitTS = a.found, a.commitTS
		}
	}
	return found, commitTS
}
