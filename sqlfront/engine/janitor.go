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

// janitor deletes what dropped tables and indexes have left behind. Deletes are writes with a timestamp like all others: a
// transaction that began before the drop still reads its snapshot.
type janitor struct{ bell chan struct{} }

const (
	janitorBatch = 1024
	janitorEvery = time.Minute
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
			if err := e.sweep(ctx); err != nil && ctx.Err() == nil {
				e.log.Debug("deleting dropped data is put off", "err", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-j.bell:
			case <-tick.C:
			}
		}
	})
}

// sweep works off the graves that there are.
func (e *Engine) sweep(ctx context.Context) error {
	for {
		st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
		graves, err := e.catalog.Graves(ctx, st, 16)
		st.Rollback()
		if err != nil || len(graves) == 0 {
			return err
		}
		for _, g := range graves {
			if err := e.bury(ctx, g); err != nil {
				return err
			}
		}
	}
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
