package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/txn"
)

// janitor removes what dropped tables and indexes have left behind, as ranges, as soon as nobody may read them any more: when the
// safe point of garbage collection has passed the drop. Where no garbage is collected they are deleted at once: such deletes are writes with a
// timestamp like all others, and a transaction that began before the drop still reads its snapshot.
type janitor struct{ bell chan struct{} }

const (
	janitorBatch = 1024
	janitorEvery = time.Minute
	// safePointEvery is how often the janitor compares the safe point, which is a look into memory, while something waits for it.
	safePointEvery = time.Second
)

func (j *janitor) init() { j.bell = make(chan struct{}, 1) }

// wake asks for a round; it never blocks.
func (j *janitor) wake() {
	select {
	case j.bell <- struct{}{}:
	default:
	}
}

func (j *janitor) start(e *Engine) {
	e.goTask(func(ctx context.Context) {
		tick := time.NewTicker(janitorEvery)
		defer tick.Stop()
		for {
			seen, _ := e.client.SafePoint()
			left, err := e.sweep(ctx)
			if err != nil && ctx.Err() == nil {
				e.log.Debug("deleting dropped data is put off", "err", err)
			}
			if !j.await(ctx, e, tick.C, left || err != nil, seen) {
				return
			}
		}
	})
}

// await returns true when a round is due: when somebody has dropped something, once in a while, and, if graves are left, when the safe point has
// moved from where it was seen. It returns false when ctx has ended.
func (j *janitor) await(ctx context.Context, e *Engine, tick <-chan time.Time, left bool, seen kv.Timestamp) bool {
	var look <-chan time.Time
	if left {
		t := time.NewTicker(safePointEvery)
		defer t.Stop()
		look = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-j.bell:
			return true
		case <-tick:
			return true
		case <-look:
			if now, _ := e.client.SafePoint(); now != seen {
				return true
			}
		}
	}
}

// sweep works off the graves that there are, and says whether it has left some.
func (e *Engine) sweep(ctx context.Context) (left bool, err error) {
	if safePoint, told := e.client.SafePoint(); told {
		if safePoint == 0 {
			return true, nil // not yet
		}
		return e.sweepRanges(ctx, safePoint)
	}
	for {
		st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
		graves, err := e.catalog.Graves(ctx, st, 16)
		st.Rollback()
		if err != nil || len(graves) == 0 {
			return false, err
		}
		for _, g := range graves {
			if err := e.bury(ctx, g); err != nil {
				return true, err
			}
		}
	}
}

// graveLimit is how many graves one round looks at.
const graveLimit = 4096

// sweepRanges removes what was dropped before the safe point: the graves that a snapshot there has.
func (e *Engine) sweepRanges(ctx context.Context, safePoint kv.Timestamp) (left bool, err error) {
	now := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer now.Rollback()
	graves, err := e.catalog.Graves(ctx, now, graveLimit)
	if err != nil || len(graves) == 0 {
		return false, err
	}
	then := e.client.Begin(txn.TxnOptions{StartTS: safePoint, ReadOnly: true})
	defer then.Rollback()
	old, err := e.catalog.Graves(ctx, then, graveLimit)
	if err != nil {
		return true, err
	}
	now.Rollback()
	then.Rollback()
	for _, g := range graves {
		if !slices.Contains(old, g) {
			left = true
			continue
		}
		if err := e.client.DropRange(ctx, indexSpan(g.Table, g.Index), safePoint); err != nil {
			return true, err
		}
		err := e.retry(ctx, func(st *txn.Txn) error {
			e.catalog.Bury(st, g)
			return nil
		})
		if err != nil {
			return true, err
		}
	}
	return left, nil
}

func (e *Engine) bury(ctx context.Context, g catalog.Grave) error {
	if err := e.clearSpan(ctx, indexSpan(g.Table, g.Index)); err != nil {
		return err
	}
	return e.retry(ctx, func(st *txn.Txn) error {
		e.catalog.Bury(st, g)
		return nil
	})
}

// clearSpan deletes all columns of a span, in transactions of bounded size.
func (e *Engine) clearSpan(ctx context.Context, span kv.Span) error {
	for {
		var last kv.RowKey
		n := 0
		err := e.retry(ctx, func(st *txn.Txn) error {
			n = 0
			scan := st.Scan(ctx, txn.ScanOptions{Span: span, Batch: janitorBatch, Limit: janitorBatch})
			defer scan.Close()
			for scan.Next() {
				c := scan.Column()
				st.Delete(c, txn.WriteOptions{})
				last = slices.Clone(c.Row)
				n++
			}
			return scan.Err()
		})
		if err != nil {
			return err
		}
		if n < janitorBatch {
			return nil
		}
		span.Start = last // the row may have more columns
		if ctx.Err() != nil {
			return errors.Join(ctx.Err())
		}
	}
}
