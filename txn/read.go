package txn

import (
	"context"
	"errors"
	"slices"
	"time"

	"moka/kv"
	"moka/txn/delays"
	"moka/txn/longread"
)

// read fills values[i] for each i of want from the store. Columns with a lock in the way are asked for again once it has been
// dealt with. If some will do, what there is no room for in a response is left, but for the first of cs.
func (t *Txn) read(
	ctx context.Context, r *longread.Reads, snapshot kv.Timestamp, cs []kv.Column, want []int, values []Value,
	some bool,
) (rest []int, err error) {
	c := t.c
	if err := c.behind(snapshot); err != nil && !t.o.Unchanged {
		return nil, err
	}
	c.metrics.reads.Add(uint64(len(want)))
	b, waits := newBackoff(c.o.RetryTime, snapshot), newBackoff(c.o.LockWait, snapshot)
	for len(want) > 0 {
		groups, err := c.group(ctx, len(want), func(i int) kv.RowKey { return cs[want[i]].Row })
		if err != nil {
			return nil, err
		}
		blocked := make([][]int, len(groups))
		locks := make([][]lockInfo, len(groups))
		err = each(b, groups, func(gi int, b *backoff, g *shardGroup) (err error) {
			blocked[gi], locks[gi], err = t.readGroup(ctx, r, b, g, snapshot, cs, want, values)
			return err
		})
		if err != nil {
			return nil, err
		}
		var again []int
		var met []lockInfo
		for i := range groups {
			again, met = append(again, blocked[i]...), append(met, locks[i]...)
		}
		want = again
		if len(met) > 0 {
			if err := t.clear(ctx, waits, snapshot, met, t.addKnown); err != nil {
				return nil, err
			}
			// The shards answer: how long somebody held a lock is not how long a tablet cannot be found.
			b.begin(time.Now(), c.o.RetryTime, snapshot)
		} else if some && len(want) > 0 && slices.Min(want) > 0 {
			return want, nil
		}
	}
	return nil, nil
}

// readGroup reads from one shard and returns what has to be read again, and the locks that are to blame.
func (t *Txn) readGroup(ctx context.Context, r *longread.Reads, b *backoff, g *shardGroup, snapshot kv.Timestamp, cs []kv.Column, want []int, values []Value) (again []int, locks []lockInfo, err error) {
	req := &getRequest{snapshot: snapshot, columns: make([]kv.Column, len(g.index)), bypass: t.bypassed(), tablets: g.tablets, known: t.knows(), unchanged: t.o.Unchanged}
	req.Question = longread.Question{Context: ctx, Reads: r}
	all := make([]int, len(g.index))
	for i, j := range g.index {
		all[i] = want[j]
		req.columns[i] = cs[want[j]]
	}
	m, err := t.c.call(ctx, b, g, cmdGet, req, nil)
	if errors.Is(err, kv.ErrMoved) {
		if !b.wait(ctx) {
			return nil, nil, err
		}
		return all, nil, nil
	}
	if err != nil {
		return nil, nil, r.Refusal(err)
	}
	resp := m.(*getResponse)
	if err := charge(&req.Question, resp.charged, resp.values); err != nil {
		return nil, nil, err
	}
	if n := len(resp.values); n > len(all) || n == 0 {
		return nil, nil, kv.Errorf(kv.CodeCorrupt, "txn.Get", "%d values for %d columns", n, len(all))
	}
	if resp.safePoint != 0 {
		return nil, nil, errTooOld(snapshot, resp.safePoint)
	}
	t.c.seedSoon(g, resp.unseeded)
	li := 0 // locks come in the order of their columns
	for i, j := range all[:len(resp.values)] {
		if li < len(resp.locks) && compareColumns(resp.locks[li].column, cs[j]) == 0 {
			again = append(again, j)
			li++
			continue
		}
		values[j] = resp.values[i]
	}
	return append(again, all[len(resp.values):]...), resp.locks, nil
}

// charge charges for values that were not charged for where they were read, in another process.
func charge(q *longread.Question, charged bool, values []Value) error {
	for i := 0; !charged && i < len(values); i++ {
		if err := q.Add(len(values[i].Data)); err != nil {
			return err
		}
	}
	return nil
}

// freeTries bounds how often a reader that has just dealt with the locks in its way may meet others without a pause.
const freeTries = 64

// clear deals with the locks that a read has met: what is dead is resolved, what is alive is pushed above the snapshot, and
// what can be neither is waited for.
func (t *Txn) clear(ctx context.Context, waits *backoff, snapshot kv.Timestamp, locks []lockInfo, through func(decision)) error {
	began := time.Now()
	defer func() { delays.Locks(ctx, len(locks), began) }()
	alive, err := t.c.resolve(ctx, snapshot, locks, true, t.addBypass, through)
	if err != nil || len(alive) == 0 && waits.tries() < freeTries {
		return err
	}
	alive = append(alive, locks...)
	t.c.metrics.waits.Add(1)
	if !waits.wait(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := alive[0]
		return errorf(CodeLocked, nil, "row %x is locked since %v by the transaction of %v, which neither commits nor dies", []byte(l.column.Row), t.c.o.LockWait, l.startTS)
	}
	return nil
}
