package observer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Writers notify those observers alone that are enabled, so what is committed while one is disabled never
// comes to it. DISABLE says so, and ENABLE says of how many rows. The count is made after the observer has
// been enabled, in the snapshot of that commit: what is committed later is delivered, and the catalog waits
// for nobody who counts. What has changed is known by the timestamps of the rows' newest versions, which are
// there as long as the rows are; whether it was an INSERT or an UPDATE, by the row as it was then, if garbage
// collection has left that.

// noteDisabled writes down since when and from where on changes pass the observer by.
//
// The timestamp is the start of the statement's transaction. A change that is committed between that and its
// commit is delivered, and counted nevertheless; to be exact it would take a second commit for each DISABLE.
func noteDisabled(ctx context.Context, t *txn.Txn, snap *catalog.Snapshot, o *catalog.Observer) (err error) {
	if o.DisabledTS, err = t.StartTS(ctx); err != nil {
		return err
	}
	o.DisabledAt = time.Now().UTC()
	if d, ok := snap.TableByID(o.TableID); ok {
		o.DisabledRows = d.RowIndex
	}
	return nil
}

// warnMissed says what an observer does not see while it is disabled. It was disabled or enabled by the
// commit at that timestamp.
func (r *Registry) warnMissed(ctx *sql.Context, was *catalog.Observer, action parse.ObserverAction,
	at kv.Timestamp) {
	const format = "2006-01-02 15:04:05.000000"
	switch {
	case was.Events == catalog.OnNotify: // no change is of its business
	case action == parse.DisableObserver && was.Enabled:
		ctx.Warn(sqlerr.Unknown, "Changes from now on are not delivered to observer '%s', nor will they be "+
			"when it is enabled again, but WITH REPLAY and before garbage collection has passed them "+
			"(--gc-retention); what it had not done yet waits", was.Name)
	case action == parse.EnableObserver && !was.Enabled && was.DisabledAt.IsZero():
		ctx.Warn(sqlerr.Unknown, "Observer '%s' has missed all changes since it was disabled", was.Name)
	case action == parse.EnableObserver && !was.Enabled:
		until := time.Now().UTC() // before the count, which may take its time
		rows, err := r.missedRows(ctx, was, at)
		if err != nil && ctx.Err() == nil {
			// The observer is enabled, whatever becomes of the count.
			r.o.Logger.Warn("counting what an observer has missed failed", "observer", was.Name, "err", err)
		}
		ctx.Warn(sqlerr.Unknown, "Observer '%s' has missed all changes between %s and %s UTC%s", was.Name,
			was.DisabledAt.Format(format), until.Format(format), rows)
	}
}

// missed counts rows that have changed behind an observer's back.
type missed struct {
	known   bool // there is something to count by
	written int  // since it was disabled
	watched int  // of these, those whose change the observer is for
	lost    bool // what rows were then has been collected, and with it which change it was
	more    bool // the count has come to its bounds
}

// missedRows words the count. It is empty if nothing can be said for certain: an older release has disabled
// the observer; its table has been written anew or emptied since, so that timestamps are those of that; it is
// for rows that are gone only.
func (r *Registry) missedRows(ctx *sql.Context, o *catalog.Observer, at kv.Timestamp) (string, error) {
	if o.DisabledTS == 0 || o.Events&(catalog.OnInsert|catalog.OnUpdate) == 0 {
		return "", nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.o.CountTime)
	defer cancel()
	m, err := r.countMissed(ctx.WithContext(bounded), o, at)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil: // the time is up
		m.more = true
	case err != nil || !m.known:
		return "", err
	}
	n, what := m.watched, "inserted or updated"
	switch {
	case m.lost:
		n = m.written
	case o.Events&catalog.OnInsert == 0:
		what = "updated"
	case o.Events&catalog.OnUpdate == 0:
		what = "inserted"
	}
	least, rows := "", "rows"
	if m.more && n == 0 {
		return "", nil // that much is always true
	}
	if m.more {
		least = "at least "
	}
	if n == 1 {
		rows = "row"
	}
	return fmt.Sprintf(": %s%d %s %s, of those that are still there (compared with what was there: several "+
		"changes of one row count once, rows deleted since do not count)", least, n, rows, what), nil
}

// missedBatch is how many rows are looked up at a time as they were.
const missedBatch = 256

// missedScan is how many are asked for at a time: more than shards remember for scans that come again.
const missedScan = 4096

// countMissed counts until the context ends or there are more than anybody wants to know. What it has
// counted counts, error or not.
func (r *Registry) countMissed(ctx *sql.Context, o *catalog.Observer, at kv.Timestamp) (m missed, err error) {
	now := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: at})
	defer now.Rollback()
	then := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: o.DisabledTS})
	defer then.Rollback()
	had := ctx.GetTransaction()
	ctx.SetTransaction(r.eng.Adopt(now)) // for the table as it was then
	defer ctx.SetTransaction(had)
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return m, err
	}
	d, ok := snap.TableByID(o.TableID)
	if !ok || d.RowIndex != o.DisabledRows {
		return m, nil
	}
	table, err := r.eng.TableOf(ctx, d)
	if err != nil {
		return m, err
	}
	m.known = true
	scan := now.Scan(ctx, txn.ScanOptions{Span: table.Span(), Since: o.DisabledTS, Batch: missedScan})
	defer scan.Close()
	var cells []kv.Column
	var rows [][]byte
	for scan.Next() {
		if !engine.IsRow(scan.Column()) {
			continue
		}
		cells, rows = append(cells, scan.Column()), append(rows, scan.Value())
		if m.more = m.written+len(cells) >= r.o.CountRows; m.more {
			break
		}
		if len(cells) < missedBatch {
			continue
		}
		if err := m.compare(ctx, then, table, o, cells, rows); err != nil {
			return m, err
		}
		cells, rows = cells[:0], rows[:0]
	}
	if err := m.compare(ctx, then, table, o, cells, rows); err != nil {
		return m, err
	}
	return m, scan.Err()
}

// compare counts rows that have been written, after a look at what they were.
func (m *missed) compare(ctx *sql.Context, then *txn.Txn, t *engine.Table, o *catalog.Observer,
	cells []kv.Column, rows [][]byte) error {
	var was []txn.Value
	if !m.lost && len(cells) > 0 {
		var err error
		was, err = then.BatchGet(ctx, cells)
		if m.lost = errors.Is(err, txn.ErrSnapshotTooOld); err != nil && !m.lost {
			return err
		}
	}
	m.written += len(cells)
	if m.lost {
		return nil
	}
	for i, row := range rows {
		var old []byte
		if was[i].OK {
			old = was[i].Data
		}
		watched, err := t.Watches(ctx, o, old, row)
		if err != nil {
			return err
		}
		if watched {
			m.watched++
		}
	}
	return nil
}
