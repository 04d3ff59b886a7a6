package observer

import (
	"bytes"
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
	"moka/txn"
)

// ALTER OBSERVER … ENABLE WITH REPLAY gives an observer back what it has missed since it was disabled: a walk
// over the table's rows as they were then and as they are notifies of those that differ, deleted ones, too,
// where its events and columns are for the difference. Two things make that exact:
//
//   - What the observer has seen of a row is what it has acknowledged; of one that it has never acknowledged,
//     what the row was when it was disabled (catalog.Observer.Behind). A run that comes to a row before the
//     walk, for a change that was committed since it was enabled, therefore sees what was missed in its OLD,
//     and the walk leaves out what has been acknowledged as it is.
//   - A step and a run that acknowledges one of its rows meanwhile conflict. So there is one commit for a
//     difference, whoever finds it.
//
// The walk's record holds garbage collection back (catalog.OldestMissed), from the commit that enables the
// observer until the runs are over, as long as --gc-max-hold. Where that is too late the walk ends as failed,
// which WAIT FOR OBSERVERS says.

// giveBack notes, in the transaction that enables an observer, that it is to run for what it has missed; or
// if that is not asked for, that it has missed it. was is the observer as it is, o as it is to be.
func (r *Registry) giveBack(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot, was, o *catalog.Observer,
	asked, reads bool) error {
	w, under, err := r.o.Catalog.Walk(ctx, t, o.ID)
	if err != nil {
		return err
	}
	if under && w.Failed {
		w, under = catalog.Walk{}, false
	}
	if !asked {
		if !was.Enabled && (!under || w.Since == 0) {
			o.Behind, o.BehindRows = 0, 0
		}
		return nil
	}
	refuse := func(why string) error {
		return sqlerr.New(sqlerr.ObserverStopped, "Observer '%s' can't be given back what it has missed: "+
			"%s. "+
			"ALTER OBSERVER %s ENABLE, and then REPLAY OBSERVER %s, has it run for all rows that are there",
			o.Name, why, quote(o.Name), quote(o.Name))
	}
	d, found := snap.TableByID(o.TableID)
	switch {
	case !found:
		return &catalog.NotFoundError{Kind: catalog.KindTable, Name: o.Name}
	case was.Enabled:
		return sqlerr.New(sqlerr.ObserverStopped, "Observer '%s' is enabled, and has missed nothing; REPLAY "+
			"OBSERVER %s has it run for all rows once more", o.Name, quote(o.Name))
	case o.Events == catalog.OnNotify:
		return sqlerr.Unsupported("ENABLE WITH REPLAY of an observer AFTER NOTIFY: nothing is left of a " +
			"NOTIFY")
	case was.DisabledTS == 0:
		return refuse("an older release has disabled it, or it comes from a backup, and nobody knows since " +
			"when")
	case d.RowIndex != was.DisabledRows || d.Copy != nil:
		return refuse("its table has been written anew or emptied since it was disabled")
	}
	if err := r.mayRunFor(ctx, o, reads); err != nil {
		return err
	}
	since := was.DisabledTS
	if under && w.Since != 0 {
		since = min(since, w.Since)
	}
	then := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: since})
	defer then.Rollback()
	_, _, err = then.Get(ctx, kv.Column{Row: engine.FirstRow(d)})
	if errors.Is(err, txn.ErrSnapshotTooOld) {
		return sqlerr.New(sqlerr.SnapshotTooOld, "Observer '%s' was disabled at %s UTC, and garbage "+
			"collection "+
			"has passed that (--gc-retention): what it has missed since is not known any more. ALTER "+
			"OBSERVER "+
			"%s ENABLE, and then REPLAY OBSERVER %s, has it run for all rows that are there; PAUSE loses "+
			"nothing",
			o.Name, since.Time().UTC().Format("2006-01-02 15:04:05.000000"), quote(o.Name), quote(o.Name))
	}
	if err != nil {
		return err
	}
	o.Behind, o.BehindRows = since, d.RowIndex
	next := catalog.Walk{Observer: o.ID, Rows: d.RowIndex, Since: since}
	if under {
		next.Replay, next.Unseen = w.Replay, w.New()
	}
	if table, err := r.eng.TableOf(ctx, d); err == nil {
		next.Of, _, _ = table.RowCount(ctx)
	}
	return r.o.Catalog.PutWalk(t, next)
}

// behind is since when an observer has missed changes that it is being given back, as t sees it; zero for
// none.
func (r *Registry) behind(ctx context.Context, t *txn.Txn, o *catalog.Observer) (kv.Timestamp, error) {
	r.mu.Lock()
	over := r.mu.over[o.ID] == o.Behind
	r.mu.Unlock()
	if over {
		return 0, nil
	}
	w, under, err := r.o.Catalog.Walk(ctx, t, o.ID)
	switch {
	case err != nil:
		return 0, err
	case under && w.Since != 0 && !w.Failed:
		return o.Behind, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.registered[o.ID] != nil {
		r.mu.over[o.ID] = o.Behind
	}
	return 0, nil
}

// rowScan reads row by row.
type rowScan struct {
	*txn.Scanner
	ok    bool // there is a row
	key   kv.RowKey
	value []byte
}

func scanRows(ctx context.Context, t *txn.Txn, span kv.Span, batch int) *rowScan {
	s := &rowScan{Scanner: t.Scan(ctx, txn.ScanOptions{Span: span, Batch: batch})}
	s.step()
	return s
}

// step goes on to the next row.
func (s *rowScan) step() {
	for s.ok = s.Next(); s.ok && !engine.IsRow(s.Column()); s.ok = s.Next() {
	}
	if s.ok {
		s.key, s.value = bytes.Clone(s.Column().Row), append([]byte{}, s.Value()...)
	}
}

// notifyMissed notifies, in t, of the next rows that an observer has missed the changes of.
func (r *Registry) notifyMissed(ctx context.Context, t *txn.Txn, o *catalog.Observer, w *catalog.Walk,
	n int) (done bool, err error) {
	session := newSession(r.eng)
	defer session.SessionEnd()
	sctx := sql.NewContext(ctx, sql.WithSession(session))
	err = r.within(sctx, t, func() error {
		done, err = r.compareRows(sctx, t, o, w, n)
		return err
	})
	if !errors.Is(err, txn.ErrSnapshotTooOld) {
		return done, err
	}
	r.o.Logger.Error("garbage collection has passed what an observer was to be given back", "observer",
		o.Name, "next step", "REPLAY OBSERVER "+o.Name)
	w.Failed = true
	return false, nil
}

func (r *Registry) compareRows(ctx *sql.Context, t *txn.Txn, o *catalog.Observer, w *catalog.Walk,
	n int) (done bool, err error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return false, err
	}
	d, ok := snap.TableByID(o.TableID)
	if !ok {
		return true, nil
	}
	table, err := r.eng.TableOf(ctx, d)
	if err != nil {
		return false, err
	}
	span := rowSpan(o.TableID, w.Rows)
	if len(w.Next) > 0 {
		span.Start = w.Next
	}
	then := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: w.Since})
	defer then.Rollback()
	was, is := scanRows(ctx, then, span, walkBatch), scanRows(ctx, t, span, walkBatch)
	defer func() {
		err = errors.Join(err, was.Err(), is.Err(), was.Close(), is.Close())
	}()
	missed := difference{r: r, table: table, o: o, w: w}
	began, size, looked := w.Walked, 0, 0
	for was.ok || is.ok {
		if err := errors.Join(was.Err(), is.Err()); err != nil {
			return false, err // what is missing has not been read
		}
		c := change{}
		order := bytes.Compare(was.key, is.key)
		if was.ok && (!is.ok || order <= 0) {
			c.key, c.before = was.key, was.value
		}
		if is.ok && (!was.ok || order >= 0) {
			c.key, c.now = is.key, is.value
		}
		if w.Walked-began+uint64(len(missed.changes)) >= uint64(n) || size > walkBytes || looked > walkRows {
			if err := missed.look(ctx, t); err != nil {
				return false, err
			}
			if w.Walked-began >= uint64(n) || size > walkBytes || looked > walkRows {
				w.Next = c.key
				return false, nil
			}
		}
		missed.changes = append(missed.changes, c)
		looked++
		if size += len(c.before) + len(c.now); c.before != nil {
			was.step()
		}
		if c.now != nil {
			is.step()
		}
	}
	return true, missed.look(ctx, t)
}

// change is a row as it was when an observer was disabled and as it is; nil where it was or is not there.
type change struct {
	key         kv.RowKey
	before, now []byte
}

// difference judges rows for a walk.
type difference struct {
	r     *Registry
	table *engine.Table
	o     *catalog.Observer
	w     *catalog.Walk

	changes []change // that are looked at together
}

// look judges all changes that have come together.
func (m *difference) look(ctx *sql.Context, t *txn.Txn) error {
	cells := make([]kv.Column, len(m.changes))
	for i, c := range m.changes {
		cells[i] = engine.CellOf(c.key)
	}
	acks, err := acknowledgements(ctx, t, m.o.ID, cells)
	if err != nil {
		return err
	}
	for i, c := range m.changes {
		if err := m.lookAt(ctx, t, cells[i], c, acks[i]); err != nil {
			return err
		}
	}
	m.changes = m.changes[:0]
	return nil
}

// lookAt notifies of a row if the observer has not seen it as it is.
func (m *difference) lookAt(ctx *sql.Context, t *txn.Txn, cell kv.Column, c change, ack txn.Value) error {
	fresh := m.o.Fresh == m.w.Rows
	seen, known := c.before, true
	switch {
	case ack.OK:
		at, s, err := triggers.Acknowledged(ctx, m.r.o.Client, ack.Data, cell)
		if err != nil {
			return err
		}
		if at > m.w.Since {
			seen, known = s.Value, !s.Forgotten
		}
	case fresh && m.w.New() && c.now != nil:
		m.w.Walked++
		return triggers.NotifyUnseen(ctx, t, m.o.ID, cell)
	case fresh:
		seen = nil
	}
	wanted := m.w.Replay && c.now != nil
	switch {
	case wanted:
	case known && (seen == nil) == (c.now == nil) && bytes.Equal(seen, c.now):
	case c.now == nil:
		wanted = m.o.Events&catalog.OnDelete != 0
	case !known:
		wanted = true
	default:
		var err error
		if wanted, err = m.table.Watches(ctx, m.o, seen, c.now); err != nil {
			return err
		}
	}
	if !wanted {
		return nil
	}
	m.w.Walked++
	t.LockForUpdate(triggers.AckColumn(m.o.ID, cell)) // a run that acknowledges it meanwhile has been first
	t.NotifyWeak(cell, []uint32{m.o.ID})
	return nil
}

// drain ends a walk that is through when all of its notifications have been run for, or parked.
func (r *Registry) drain(ctx context.Context, t *txn.Txn, w *catalog.Walk) error {
	if w.Drain == 0 {
		w.Drain = t.Snapshot()
		if _, err := r.o.Client.ResolveOrphans(ctx, 0); err != nil {
			return err
		}
		if err := r.o.Catalog.PutWalk(t, *w); err != nil {
			return err
		}
	} else {
		snap, err := r.o.Catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		o, ok := snap.ObserverByID(w.Observer)
		if !ok {
			return nil
		}
		watch := triggers.Watch{Observer: w.Observer, Span: rowSpan(o.TableID, w.Rows)}
		left, err := triggers.ListPending(ctx, r.o.Store, []triggers.Watch{watch},
			triggers.Until{UpTo: w.Drain})
		if err != nil || left[w.Observer].Waiting {
			return err
		}
		r.o.Catalog.DropWalk(t, w.Observer)
	}
	_, err := t.Commit(ctx)
	return err
}
