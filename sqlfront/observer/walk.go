package observer

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
	"moka/txn"
)

// CREATE OBSERVER … WITH BACKFILL has an observer run for the rows that are there already, each once. The
// commit that creates it is the line: who changes a row behind it notifies, and a walk over the table
// notifies of the rows that the observer has not acknowledged by then. To both runs the row is new, whatever
// it was before, until the first has acknowledged it (triggers.Observer.New): what a row adds to an aggregate
// is added once, and the walk need not be quicker than anybody.
//
// The walk is a record in the catalog (catalog.Walk), written anew with each step. A step of two processes at
// once is that of one of them; one that dies leaves the record to another, after a while.

const (
	walkBatch = 256     // rows that one step notifies of
	walkBytes = 4 << 20 // of rows that it reads
	walkCells = 8192    // what it looks at, most of it acknowledgements of rows that are gone
	// walkAhead is how many rows may wait for the observer before the walk waits, too.
	walkAhead = 2048
	walkPause = 10 * time.Millisecond
)

// rowSpan holds the rows of a table that are stored under the index, tableSpan those under any.
func rowSpan(table, index uint32) kv.Span {
	return kv.Span{Start: engine.FirstRow(&catalog.Table{ID: table, RowIndex: index}),
		End: engine.FirstRow(&catalog.Table{ID: table, RowIndex: index + 1})}
}

func tableSpan(table uint32) kv.Span {
	return kv.Span{Start: rowSpan(table, 0).Start, End: rowSpan(table+1, 0).Start}
}

// freshOf says which rows are new to an observer that has not acknowledged them.
func freshOf(o *catalog.Observer) func(kv.Column) bool {
	if o.Fresh == 0 {
		return nil
	}
	span := rowSpan(o.TableID, o.Fresh)
	return func(c kv.Column) bool { return span.Contains(c.Row) }
}

// beginWalk writes down, with the commit that creates an observer, that its table is to be walked.
func (r *Registry) beginWalk(ctx *sql.Context, t *txn.Txn, o *catalog.Observer, d *catalog.Table) error {
	w := catalog.Walk{Observer: o.ID, Rows: d.RowIndex}
	if table, err := r.eng.TableOf(ctx, d); err == nil { // it is of an earlier moment, but about as large
		w.Of, _, _ = table.RowCount(ctx)
	}
	return r.o.Catalog.PutWalk(t, w)
}

// beginReplay writes down that an observer is to run for all rows once more. What it has acknowledged stays
// acknowledged: OLD is the row as it is, where nothing has changed.
func (r *Registry) beginReplay(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot,
	o *catalog.Observer) error {
	if o.Events&(catalog.OnInsert|catalog.OnUpdate|catalog.OnNotify) == 0 {
		return sqlerr.Unsupported("REPLAY of an observer that is AFTER DELETE only")
	}
	d, found := snap.TableByID(o.TableID)
	if !found {
		return &catalog.NotFoundError{Kind: catalog.KindTable, Name: o.Name}
	}
	if w, under, err := r.o.Catalog.Walk(ctx, t, o.ID); err != nil {
		return err
	} else if under && !w.Failed {
		return sqlerr.New(sqlerr.ObserverStopped, "Rows are walked for observer '%s' already: WAIT FOR "+
			"OBSERVERS "+
			"%s", o.Name, o.Name)
	}
	w := catalog.Walk{Observer: o.ID, Rows: d.RowIndex, Replay: true}
	if table, err := r.eng.TableOf(ctx, d); err == nil {
		w.Of, _, _ = table.RowCount(ctx)
	}
	return r.o.Catalog.PutWalk(t, w)
}

func (r *Registry) allWalks(ctx context.Context) ([]catalog.Walk, error) {
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	return r.o.Catalog.Walks(ctx, t)
}

// walks are those that have rows left to walk, by their observers.
func (r *Registry) walks(ctx context.Context) (map[uint32]catalog.Walk, error) {
	all, err := r.allWalks(ctx)
	of := make(map[uint32]catalog.Walk, len(all))
	for _, w := range all {
		if !w.Through {
			of[w.Observer] = w
		}
	}
	return of, err
}

// walk takes steps of all walks in turn, until there are none left for this process.
func (r *Registry) walk(ctx context.Context) {
	tick := time.NewTicker(r.o.Follow)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.toWalk:
		}
		for more := true; more && ctx.Err() == nil; {
			more = false
			all, err := r.allWalks(ctx)
			for _, w := range all {
				id := w.Observer
				went, stepErr := r.step(ctx, id, walkBatch)
				for n := walkBatch / 4; errors.Is(stepErr, txn.ErrConflict) && n > 0; n /= 4 {
					// A run has acknowledged one of the rows meanwhile; fewer rows meet fewer runs.
					went, stepErr = r.step(ctx, id, n)
				}
				more, err = more || went, errors.Join(err, stepErr)
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, txn.ErrConflict) {
				r.o.Logger.Warn("walking rows for an observer failed; trying again", "err", err)
			}
		}
	}
}

// step goes on with a walk, by up to n rows. It reports whether there is more to do at once.
func (r *Registry) step(ctx context.Context, id uint32, n int) (more bool, err error) {
	t := r.o.Client.Begin(txn.TxnOptions{})
	defer t.Rollback()
	t.SetAdds(true)
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return false, err
	}
	w, ok, err := r.o.Catalog.Walk(ctx, t, id)
	now := t.Snapshot().Physical()
	if err != nil || !ok || w.Holder != r.holder && w.Until > now {
		return false, err
	}
	o, ok := snap.ObserverByID(id)
	if ok {
		d, found := snap.TableByID(o.TableID)
		ok = found && d.RowIndex == w.Rows
	}
	if !ok { // dropped, or there are no such rows any more
		r.o.Catalog.DropWalk(t, id)
		_, err = t.Commit(ctx)
		return false, err
	}
	if !o.Enabled || o.Paused {
		return false, nil
	}
	if ahead, err := triggers.BacklogOf(ctx, r.o.Store, id); err != nil || ahead.Waiting > walkAhead {
		return err == nil && sleep(ctx, walkPause), err
	}
	if w.Failed {
		return false, nil
	}
	if w.Through {
		return false, r.drain(ctx, t, &w)
	}
	var done bool
	if w.Since != 0 {
		done, err = r.notifyMissed(ctx, t, o, &w, n)
	} else {
		done, err = r.notifyNext(ctx, t, o, &w, n)
	}
	if err != nil {
		return false, err
	}
	if w.Since != 0 && done { // what was then is needed until the runs are over
		w.Through, done = true, false
	}
	if w.Holder, w.Until = r.holder, now+r.o.HoldTime.Milliseconds(); done {
		r.o.Catalog.DropWalk(t, id)
	} else if err := r.o.Catalog.PutWalk(t, w); err != nil {
		return false, err
	}
	_, err = t.Commit(ctx)
	return err == nil && !done && !w.Through, err
}

// notifyNext notifies, in t, of the next rows of a walk.
func (r *Registry) notifyNext(ctx context.Context, t *txn.Txn, o *catalog.Observer, w *catalog.Walk,
	n int) (done bool, err error) {
	span := rowSpan(o.TableID, w.Rows)
	if len(w.Next) > 0 {
		span.Start = w.Next
	}
	s := t.Scan(ctx, txn.ScanOptions{Span: span, Batch: min(2*n, walkBatch), Acks: true})
	defer func() { err = errors.Join(err, s.Close()) }()
	var row kv.Column // the one that is being looked at
	acknowledged := false
	notify := func() error {
		if row.Row == nil || acknowledged && !w.Replay {
			return nil
		}
		w.Walked++
		if w.Replay {
			t.NotifyWeak(row, []uint32{o.ID})
			return nil
		}
		return triggers.NotifyUnseen(ctx, t, o.ID, row)
	}
	began, size, cells := w.Walked, 0, 0
	var last kv.RowKey
	for s.Next() {
		c := s.Column()
		if !bytes.Equal(c.Row, last) {
			if err := notify(); err != nil {
				return false, err
			}
			row, acknowledged = kv.Column{}, false
			if w.Walked-began >= uint64(n) || size > walkBytes || cells > walkCells {
				w.Next = bytes.Clone(c.Row)
				return false, nil
			}
			last = bytes.Clone(c.Row)
		}
		cells++
		switch {
		case engine.IsRow(c):
			row, size = kv.Column{Row: last, Family: c.Family}, size+len(s.Value())
		case row.Row != nil && c.Family == triggers.AckFamily &&
			bytes.Equal(c.Qualifier, triggers.AckColumn(o.ID, row).Qualifier):
			acknowledged = true
		}
	}
	if err := s.Err(); err != nil {
		return false, err
	}
	return true, notify()
}
