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

// wholeRow is what a scan has of a row: the row itself, and an observer's acknowledgement.
type wholeRow struct {
	key   kv.RowKey
	value []byte // nil: it is not there
	ack   []byte
}

// rowScan reads row by row, of which some have nothing left but acknowledgements.
type rowScan struct {
	*txn.Scanner
	observer uint32
	is       wholeRow
	ok       bool // there is a row
	more     bool // the scanner is at a cell that is no part of it
	cells    int
}

func scanRows(ctx context.Context, t *txn.Txn, span kv.Span, observer uint32, batch int) *rowScan {
	o := txn.ScanOptions{Span: span, Batch: batch, Acks: true}
	s := &rowScan{Scanner: t.Scan(ctx, o), observer: observer}
	s.more = s.Scanner.Next()
	s.step()
	return s
}

// step goes on to the next row.
func (s *rowScan) step() {
	if s.ok = s.more; !s.ok {
		return
	}
	s.is = wholeRow{key: bytes.Clone(s.Column().Row)}
	ack := triggers.AckColumn(s.observer, engine.CellOf(s.is.key))
	for ; s.more && bytes.Equal(s.Column().Row, s.is.key); s.more = s.Scanner.Next() {
		c := s.Column()
		s.cells++
		switch {
		case engine.IsRow(c):
			s.is.value = append([]byte{}, s.Value()...)
		case bytes.Equal(c.Qualifier, ack.Qualifier) && c.Family == ack.Family:
			s.is.ack = bytes.Clone(s.Value())
		}
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
	was := scanRows(ctx, then, span, o.ID, walkBatch)
	is := scanRows(ctx, t, span, o.ID, walkBatch)
	defer func() {
		err = errors.Join(err, was.Err(), is.Err(), was.Close(), is.Close())
	}()
	missed := difference{r: r, table: table, o: o, w: w}
	began, size := w.Walked, 0
	for was.ok || is.ok {
		if err := errors.Join(was.Err(), is.Err()); err != nil {
			return false, err // what is missing has not been read
		}
		var before, now wholeRow
		order := bytes.Compare(was.is.key, is.is.key)
		if was.ok && (!is.ok || order <= 0) {
			before = was.is
		}
		if is.ok && (!was.ok || order >= 0) {
			now = is.is
		}
		key := before.key
		if key == nil {
			key = now.key
		}
		if w.Walked-began >= uint64(n) || size > walkBytes || was.cells+is.cells > walkCells {
			w.Next = key
			return false, nil
		}
		if err := missed.look(ctx, t, engine.CellOf(key), before, now); err != nil {
			return false, err
		}
		if size += len(before.value) + len(now.value); before.key != nil {
			was.step()
		}
		if now.key != nil {
			is.step()
		}
	}
	return true, nil
}

// difference judges rows for a walk.
type difference struct {
	r     *Registry
	table *engine.Table
	o     *catalog.Observer
	w     *catalog.Walk
}

// look notifies of a row if the observer has not seen it as it is. before is as it was when the observer was
// disabled.
func (m *difference) look(ctx *sql.Context, t *txn.Txn, cell kv.Column, before, now wholeRow) error {
	fresh := m.o.Fresh == m.w.Rows
	seen, known := before.value, true
	switch {
	case now.ack != nil:
		at, s, err := triggers.Acknowledged(ctx, m.r.o.Client, now.ack, cell)
		if err != nil {
			return err
		}
		if at > m.w.Since {
			seen, known = s.Value, !s.Forgotten
		}
	case fresh && m.w.New() && now.value != nil:
		m.w.Walked++
		return triggers.NotifyUnseen(ctx, t, m.o.ID, cell)
	case fresh:
		seen = nil
	}
	wanted := m.w.Replay && now.value != nil
	switch {
	case wanted:
	case known && (seen == nil) == (now.value == nil) && bytes.Equal(seen, now.value):
	case now.value == nil:
		wanted = m.o.Events&catalog.OnDelete != 0
	case !known:
		wanted = true
	default:
		var err error
		if wanted, err = m.table.Watches(ctx, m.o, seen, now.value); err != nil {
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
