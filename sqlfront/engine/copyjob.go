package engine

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/txn"
)

// The work of a JobCopy; copy.go has the plan of it.

// copyBytes bounds the rows of one batch, as they were stored.
const copyBytes = 1 << 20

// runCopy does what is left to do of a job, up to the point from which the new form of the table is everybody's.
func (e *Engine) runCopy(ctx *sql.Context, x *job, table uint32) (err error) {
	defer func() {
		if p := recover(); p != nil { // of an expression; the next server that took the job over would die of it as well
			e.log.Error("a copy of a table panicked", "job", x.id, "panic", p, "stack", string(debug.Stack()))
			err = sqlerr.New(sqlerr.Unknown, "internal error: the table could not be copied; it is what it was")
			if _, desc, gone := e.copyOf(ctx, x.id, table); gone == nil && desc.Copy.To == nil {
				err = &exchangedError{err}
			}
		}
	}()
	rec, desc, err := e.copyOf(ctx, x.id, table)
	if err != nil {
		return err
	}
	if desc.Copy.To == nil {
		return e.moveNotes(ctx, x, rec, desc)
	}
	c, err := e.newCopying(ctx, rec.Database, desc, desc.Copy.To)
	if err != nil {
		return err
	}
	c.keys = desc.Copy.Keys
	if tx, ok := ctx.GetTransaction().(*Tx); ok && tx.session != nil {
		tx.restart() // expressions were looked at in its snapshot, which must not be kept for as long as this takes
	}
	if rec.Phase == catalog.PhaseCopy {
		if err := c.copyRows(ctx, x, rec.Next); err != nil {
			return err
		}
	}
	if err := c.catchUp(ctx, x, desc.Copy.Log); err != nil {
		return err
	}
	if rec, desc, err = e.copyOf(ctx, x.id, table); errors.Is(err, errNotOurs) || err == nil && desc.Copy.To != nil {
		return nil // there was nobody to carry anything over for
	} else if err != nil {
		return &exchangedError{err}
	}
	x.say(&rec)
	if err := e.moveNotes(ctx, x, rec, desc); err != nil {
		return &exchangedError{err}
	}
	return nil
}

// exchangedError is what has happened after a table got its new form: the statement is through, the job is not.
type exchangedError struct{ error }

func (e *exchangedError) Unwrap() error { return e.error }

// copyOf reads a job and the table that it copies.
func (e *Engine) copyOf(ctx context.Context, id, table uint32) (rec catalog.Job, desc *catalog.Table, err error) {
	st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer st.Rollback()
	rec, ok, err := e.catalog.Job(ctx, st, id)
	if err == nil && !ok {
		err = errNotOurs
	}
	if err != nil {
		return rec, nil, err
	}
	desc, err = e.copied(ctx, st, id, table)
	return rec, desc, err
}

// copied reads the table that a job copies.
func (e *Engine) copied(ctx context.Context, st *txn.Txn, id, table uint32) (*catalog.Table, error) {
	snap, err := e.catalog.Snapshot(ctx, st)
	if err != nil {
		return nil, err
	}
	desc, ok := snap.TableByID(table)
	switch {
	case !ok:
		return nil, sqlerr.New(sqlerr.QueryInterrupted, "The table was dropped while it was being copied")
	case desc.Copy == nil || desc.Copy.Job != id:
		return nil, errNotOurs
	}
	return desc, nil
}

// hold begins a transaction of the job: it commits only if the job is still this process's, and the table still that of the job.
func (c *copying) hold(ctx *sql.Context, st *txn.Txn, x *job) (catalog.Job, *catalog.Table, error) {
	rec, err := c.eng.hold(ctx, st, x)
	if err != nil {
		return rec, nil, err
	}
	desc, err := c.eng.copied(ctx, st, x.id, c.from.desc.ID)
	if err != nil {
		return rec, nil, err
	}
	if c.row = rec.Rows; c.auto != nil {
		*c.auto = rec.Auto
	}
	return rec, desc, nil
}

// batch runs f with as many rows as one transaction may have; fewer if they are too large.
func (c *copying) batch(ctx *sql.Context, f func(st *txn.Txn, rows int) error) error {
	for n := c.eng.opts.BackfillBatch; ; n = (n + 1) / 2 {
		err := c.eng.retry(ctx, func(st *txn.Txn) error {
			st.SetAdds(true)
			return f(st, n)
		})
		if !errors.Is(err, txn.ErrTooLarge) || n == 1 {
			return err
		}
	}
}

// copyRows is step 2: all rows, from where the job is.
func (c *copying) copyRows(ctx *sql.Context, x *job, from []byte) error {
	prefix := indexPrefix(c.from.desc.ID, c.from.desc.RowIndex)
	span := indexSpan(c.from.desc.ID, c.from.desc.RowIndex)
	if len(from) > 0 {
		span.Start = append(slices.Clone(prefix), from...)
	}
	for len(span.Start) > 0 {
		var next kv.RowKey
		var rec catalog.Job
		err := c.batch(ctx, func(st *txn.Txn, most int) (err error) {
			var desc *catalog.Table
			if rec, desc, err = c.hold(ctx, st, x); err != nil {
				return err
			}
			c.eng.catalog.Fence(st, desc)
			var rows []origin
			if rows, next, err = c.read(ctx, st, span, most, copyBytes); err != nil {
				return err
			}
			if err := c.bring(ctx, st, rows); err != nil {
				return err
			}
			rec.Rows += uint64(len(rows))
			if c.auto != nil {
				rec.Auto = *c.auto
			}
			if rec.Next = nil; next != nil {
				rec.Next = next[len(prefix):]
			} else {
				rec.Phase = catalog.PhaseCatchUp
			}
			return c.eng.catalog.PutJob(st, rec)
		})
		if err != nil {
			return err
		}
		x.rows.Store(rec.Rows)
		x.say(&rec)
		span.Start = next
	}
	return nil
}

// catchUp is steps 3 and 4.
func (c *copying) catchUp(ctx *sql.Context, x *job, log uint32) error {
	whole := indexSpan(c.from.desc.ID, log)
	for before := 0; ; {
		n, err := c.drain(ctx, x, whole, true)
		if err != nil {
			return err
		}
		if n < c.eng.opts.BackfillBatch || before != 0 && n > before/2 {
			break // it is short, or does not become short: writers are as fast as this
		}
		before = n
	}
	for {
		done := false
		err := c.eng.retry(ctx, func(st *txn.Txn) (err error) {
			done, err = c.last(ctx, st, x, whole)
			return err
		})
		if err != nil || done {
			c.eng.janitor.wake()
			return err
		}
	}
}

// drain works the log off once, in batches, and returns the number of entries. fenced is false while writers wait for this very job.
func (c *copying) drain(ctx *sql.Context, x *job, span kv.Span, fenced bool) (int, error) {
	seen := 0
	for len(span.Start) > 0 {
		var next kv.RowKey
		var n int
		err := c.batch(ctx, func(st *txn.Txn, most int) error {
			rec, desc, err := c.hold(ctx, st, x)
			if err != nil {
				return err
			}
			if fenced {
				c.eng.catalog.Fence(st, desc)
			}
			if next, n, err = c.workOff(ctx, st, span, most); err != nil || n == 0 {
				return err
			}
			return c.put(st, rec)
		})
		if err != nil {
			return seen, err
		}
		seen += n
		span.Start = next
	}
	return seen, nil
}

// last is step 4. A transaction keeps writers of the table waiting at their commit; others bring over what is left in the log, which does
// not grow meanwhile; then the first looks once more and publishes the new form. Should it have lost its lock, there is something in
// the log again: done is false if that is more than a batch.
func (c *copying) last(ctx *sql.Context, st *txn.Txn, x *job, whole kv.Span) (done bool, err error) {
	_, desc, err := c.hold(ctx, st, x)
	if err != nil {
		return false, err
	}
	if _, err := st.Lock(ctx, []kv.Column{catalog.FenceCell(desc)}, txn.LockOptions{}); err != nil && !errors.Is(err, txn.ErrConflict) {
		return false, err
	}
	if _, err := c.drain(ctx, x, whole, false); err != nil {
		return false, err
	}
	st.Advance()
	rec, desc, err := c.hold(ctx, st, x)
	if err != nil {
		return false, err
	}
	next, _, err := c.workOff(ctx, st, whole, c.eng.opts.BackfillBatch)
	if err != nil {
		return false, err
	}
	if next != nil {
		return false, c.put(st, rec)
	}
	return true, c.exchange(ctx, st, rec, desc)
}

func (c *copying) put(st *txn.Txn, rec catalog.Job) error {
	if c.auto != nil {
		rec.Auto = *c.auto
	}
	return c.eng.catalog.PutJob(st, rec)
}

// workOff brings over what has become of rows in a stretch of the log, and takes these entries out of it. It returns where the next
// stretch begins, nil at the end, and the number of entries.
func (c *copying) workOff(ctx *sql.Context, st *txn.Txn, span kv.Span, most int) (next kv.RowKey, n int, err error) {
	prefix := len(indexPrefix(c.from.desc.ID, c.from.desc.RowIndex))
	scan := st.Scan(ctx, txn.ScanOptions{Span: span, Batch: most})
	defer scan.Close()
	var pks [][]byte
	var entries []kv.Column
	for len(entries) < most && scan.Next() {
		key := slices.Clone(scan.Column().Row)
		entries = append(entries, cell(key))
		pk := key[prefix : len(key)-8]
		if len(pks) == 0 || !slices.Equal(pks[len(pks)-1], pk) {
			pks = append(pks, pk)
		}
	}
	if err := scan.Err(); err != nil {
		return nil, 0, err
	}
	if len(entries) == most {
		next = append(slices.Clone(entries[most-1].Row), 0)
	}
	rows, err := c.lookUp(ctx, st, pks)
	if err != nil {
		return nil, 0, err
	}
	if err := c.bring(ctx, st, rows); err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		st.Delete(e, txn.WriteOptions{})
	}
	return next, len(entries), nil
}

// exchange makes the new form of the table everybody's.
func (c *copying) exchange(ctx *sql.Context, st *txn.Txn, rec catalog.Job, desc *catalog.Table) error {
	e := c.eng
	snap, err := e.catalog.Snapshot(ctx, st)
	if err != nil {
		return err
	}
	d := desc.Copy.To.Clone()
	d.Version, d.Name, d.DatabaseID = desc.Version, desc.Name, desc.DatabaseID
	d.NextColumnID, d.NextIndexID = max(d.NextColumnID, desc.NextColumnID), max(d.NextIndexID, desc.NextIndexID)
	if c.auto != nil {
		d.AutoIncrement = catalog.Sequence{Start: max(d.AutoIncrement.Start, *c.auto+1)}
	}
	if len(snap.Observers(desc.ID)) > 0 {
		from := desc.Clone()
		from.Copy = nil
		d.Copy = &catalog.Copy{Job: rec.ID, Keys: desc.Copy.Keys, From: from, SQLMode: desc.Copy.SQLMode, TimeZone: desc.Copy.TimeZone, Time: desc.Copy.Time}
		rec.Phase = catalog.PhaseObservers
		err = e.catalog.PutJob(st, rec)
	} else {
		finish(&rec, nil)
		err = e.catalog.EndJob(ctx, st, rec)
	}
	if err != nil {
		return err
	}
	if _, err := e.catalog.UpdateTable(ctx, st, d); err != nil {
		return err
	}
	for i, o := range desc.Copy.Others {
		now, ok := snap.TableByID(o.ID)
		if !ok || now.Version != desc.Copy.Versions[i] {
			return sqlerr.New(sqlerr.Unknown, "Table %s, which the change concerns as well, was altered meanwhile; nothing was changed, try again", o.Name)
		}
		n := o.Clone()
		n.Version = now.Version
		if _, err := e.catalog.UpdateTable(ctx, st, n); err != nil {
			return err
		}
	}
	if to := desc.Copy.To; to.Name != desc.Name || to.DatabaseID != desc.DatabaseID {
		was, ok := snap.DatabaseByID(desc.DatabaseID)
		is, ok2 := snap.DatabaseByID(to.DatabaseID)
		if !ok || !ok2 {
			return sqlerr.SchemaChanged()
		}
		err = e.renameTable(ctx, st, was.Name, desc.Name, is.Name, to.Name)
	}
	return err
}

// giveUpCopy makes a table what it was. It does so even if the statement was cancelled.
func (e *Engine) giveUpCopy(table, id uint32) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := e.publish(ctx, table, func(d *catalog.Table) error {
		if d.Copy == nil || d.Copy.Job != id || d.Copy.To == nil {
			return errNothing
		}
		d.Copy = nil
		return nil
	})
	if err != nil && !errors.Is(err, catalog.ErrNotFound) && !errors.Is(err, errNothing) {
		e.log.Warn("unfinished copy of a table left behind; it is removed at the next start", "table", table, "job", id, "err", err)
	}
	e.janitor.wake()
}

// resumeCopy goes on with a copy in the name of the statement that began it.
func (e *Engine) resumeCopy(parent context.Context, rec catalog.Job, x *job) error {
	s := e.NewSession(sql.NewBaseSessionWithClientServer("moka", sql.Client{User: "root", Address: "localhost"}, 0))
	defer s.SessionEnd()
	ctx := sql.NewContext(parent, sql.WithSession(s))
	_, desc, err := e.copyOf(ctx, rec.ID, rec.TableID)
	if err != nil {
		return err
	}
	s.SetCurrentDatabase(rec.Database)
	ctx.SetQueryTime(desc.Copy.Time)
	copied := map[string]string{"sql_mode": system.HeededModes(desc.Copy.SQLMode), "time_zone": desc.Copy.TimeZone}
	for name, v := range copied {
		if v == "" && name == "time_zone" {
			continue
		}
		if err := s.SetSessionVariable(ctx, name, v); err != nil {
			return err
		}
	}
	t := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	ctx.SetTransaction(e.Adopt(t))
	defer func() {
		t.Rollback()
		ctx.SetTransaction(nil)
	}()
	return e.runCopy(ctx, x, rec.TableID)
}
