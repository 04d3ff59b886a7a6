package txn

import (
	"context"
	"errors"
	"sync"

	"moka/kv"
)

// finisher commits secondaries in the background. The transaction is committed and its user has been told; all that is at stake
// is how soon readers meet versions instead of locks. While one request to a shard is under way, what comes up for the same
// shard waits and then goes together: the busier, the fewer requests for each transaction.
type finisher struct {
	c      *Client
	mu     sync.Mutex
	queues map[kv.ShardID]*finishQueue
	size   int
}

type finishQueue struct{ jobs []finishJob }

// finishJob is one transaction's columns in one shard.
type finishJob struct {
	decision
	columns []kv.Column
	group   *shardGroup
	// primary is set if it is among the columns and may be committed like the others.
	primary *kv.Column
}

// finishBatch bounds the transactions of one request.
const finishBatch = 256

func (f *finisher) init(c *Client) {
	f.c = c
	f.queues = map[kv.ShardID]*finishQueue{}
}

// add hands over a committed transaction. If too many are waiting, or the client is closing, the caller does the work itself.
//
// primary, if set, is one of the columns: an asynchronous commit is decided by its locks, and a commit of the primary that a crash
// undoes can be derived again from the secondaries, their locks or their commits.
func (f *finisher) add(ctx context.Context, d decision, columns []kv.Column, primary *kv.Column) {
	if len(columns) == 0 {
		return
	}
	jobs, err := f.deal(ctx, d, columns, primary)
	if err != nil {
		return // readers roll forward
	}
	for _, j := range jobs {
		if !f.enqueue(j) {
			f.send(context.WithoutCancel(ctx), j.group.shard, []finishJob{j})
		}
	}
}

// primaryFirst is add for asynchronous commits with secondaries that leave no commit: the primary's has to be durable first.
func (f *finisher) primaryFirst(ctx context.Context, cm *committer, d decision) {
	work := func(ctx context.Context) {
		if _, err := f.c.commitForOther(ctx, cm.primary, d.startTS, d.commitTS); err == nil {
			f.add(ctx, d, cm.secondaries, nil)
		} // else whoever meets a lock finds out
	}
	f.mu.Lock()
	room := f.size < f.c.o.MaxPending
	if room {
		f.size++
	}
	f.mu.Unlock()
	if room && f.c.goBackground(func() { work(f.c.ctx); f.done(1) }) {
		f.c.metrics.pending.Add(1)
		return
	}
	if room {
		f.mu.Lock()
		f.size--
		f.mu.Unlock()
	}
	work(context.WithoutCancel(ctx))
}

func (f *finisher) done(n int) {
	f.mu.Lock()
	f.size -= n
	f.mu.Unlock()
	f.c.metrics.pending.Add(-int64(n))
}

func (f *finisher) deal(ctx context.Context, d decision, columns []kv.Column, primary *kv.Column) (jobs []finishJob, err error) {
	groups, err := f.c.group(ctx, len(columns), func(i int) kv.RowKey { return columns[i].Row })
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		j := finishJob{decision: d, group: g}
		for _, i := range g.index {
			j.columns = append(j.columns, columns[i])
		}
		if primary != nil && names(j.columns, *primary) {
			j.primary = primary
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func (f *finisher) enqueue(j finishJob) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size >= f.c.o.MaxPending {
		return false
	}
	q, running := f.queues[j.group.shard]
	if !running {
		q = &finishQueue{}
		if !f.c.goBackground(func() { f.work(j.group.shard) }) {
			return false
		}
		f.queues[j.group.shard] = q
	}
	q.jobs = append(q.jobs, j)
	f.size++
	f.c.metrics.pending.Add(1)
	return true
}

// settle hands over a lock that somebody met; false if that has to be done at once.
func (f *finisher) settle(l lockInfo, d decision) bool {
	g, err := f.c.groupOne(f.c.ctx, l.column.Row)
	return err == nil && compareColumns(l.column, l.primary) != 0 && f.enqueue(finishJob{decision: d, columns: []kv.Column{l.column}, group: g})
}

// work empties a shard's queue and ends.
func (f *finisher) work(shard kv.ShardID) {
	for {
		f.mu.Lock()
		q := f.queues[shard]
		n := min(len(q.jobs), finishBatch)
		if n == 0 {
			delete(f.queues, shard)
			f.mu.Unlock()
			return
		}
		jobs := q.jobs[:n:n]
		q.jobs = q.jobs[n:]
		f.mu.Unlock()

		f.send(f.c.ctx, shard, jobs)

		f.done(n)
	}
}

// send commits the jobs' columns in a shard, following them if they have moved.
func (f *finisher) send(ctx context.Context, shard kv.ShardID, jobs []finishJob) {
	g := &shardGroup{shard: shard}
	req := &resolveRequest{}
	for _, j := range jobs {
		req.decisions = append(req.decisions, j.decision)
		if j.primary != nil {
			req.primaries = append(req.primaries, *j.primary)
		}
		for i, ref := range j.group.tablets {
			g.addTablet(kv.Tablet{ID: ref.ID, Generation: ref.Generation, Span: j.group.spans[i]})
		}
	}
	req.spans = g.spans
	b := newBackoff(f.c.o.RetryTime, jobs[0].startTS)
	_, err := f.c.call(ctx, b, g, cmdResolve, req, nil)
	switch {
	case errors.Is(err, kv.ErrMoved):
		f.follow(ctx, b, jobs)
	case err != nil && ctx.Err() == nil:
		f.c.o.Logger.DebugContext(ctx, "secondaries are left to their readers", "shard", shard, "transactions", len(jobs), "error", err)
	}
}

// follow deals jobs out anew, one by one, until they are done or the back-off ends.
func (f *finisher) follow(ctx context.Context, b *backoff, jobs []finishJob) {
	for len(jobs) > 0 && b.wait(ctx) {
		var moved []finishJob
		for _, j := range jobs {
			again, err := f.deal(ctx, j.decision, j.columns, j.primary)
			if err != nil {
				return
			}
			for _, a := range again {
				req := &resolveRequest{decisions: []decision{a.decision}, spans: a.group.spans}
				if a.primary != nil {
					req.primaries = []kv.Column{*a.primary}
				}
				if _, err := f.c.call(ctx, b, a.group, cmdResolve, req, nil); errors.Is(err, kv.ErrMoved) {
					moved = append(moved, a)
				}
			}
		}
		jobs = moved
	}
}
