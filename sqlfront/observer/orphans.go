package observer

import (
	"context"
	"time"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/triggers"
	"moka/txn"
)

// DROP TABLE and DROP DATABASE take observers away with their tables, and what these had not done yet would
// stay, waiting or parked: nothing shows it, and garbage collection keeps what it could need for ever.
// TRUNCATE leaves the rows behind in the same way, and what was parked about them with them: nobody asks for
// it again. So each process that runs observers compares what there is with the catalog, when it begins and
// whenever the catalog has changed; what a process leaves undone when it ends is the next one's, and so is
// what older releases have left.

// orphanPause is the wait before a removal that failed is tried again.
const orphanPause = 5 * time.Second

// removeOrphans removes the notifications of observers that are no more.
func (r *Registry) removeOrphans(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		}
		for {
			err := r.removeOrphansOnce(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			r.o.Logger.Warn("removing notifications of dropped observers failed; trying again", "err", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(orphanPause):
			}
		}
	}
}

// removeOrphansOnce looks at the notifications first, and at the catalog after it: an observer that has one
// was there when its writer committed, so if it is not in the catalog now it has been dropped, and numbers of
// observers are not used again. Nobody can notify it any more.
func (r *Registry) removeOrphansOnce(ctx context.Context) error {
	backlogs, err := triggers.Backlogs(ctx, r.o.Store)
	if err != nil || len(backlogs) == 0 {
		return err
	}
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	for _, b := range backlogs {
		if b.Waiting+b.Parked == 0 {
			continue
		}
		if o, known := snap.ObserverByID(b.Observer); known {
			if err := r.removeTruncated(ctx, snap, o); err != nil {
				return err
			}
			continue
		}
		if err := triggers.Drop(ctx, r.o.Store, b.Observer); err != nil {
			return err
		}
		r.o.Logger.Info("removed the notifications of a dropped observer", "observer", b.Observer, "waiting",
			b.Waiting, "parked", b.Parked)
	}
	return nil
}

// removeTruncated removes the notifications of an observer about rows of storage that its table has left.
// Notifications are carried over when a table gets another form (engine's copynotes.go), so until that is
// done nothing is removed; what is left behind after it is what TRUNCATE has emptied, or carried over since
// it was listed. Ids of indexes grow, so that storage lies before the table's present one.
func (r *Registry) removeTruncated(ctx context.Context, snap *catalog.Snapshot, o *catalog.Observer) error {
	d, ok := snap.TableByID(o.TableID)
	if !ok || d.Copy != nil || r.tidied[o.ID] == d.RowIndex {
		return nil
	}
	n, err := triggers.DropBefore(ctx, r.o.Store, o.ID, engine.FirstRow(d))
	if err != nil {
		return err
	}
	if n > 0 {
		r.o.Logger.Info("removed the notifications of truncated rows", "observer", o.ID, "notifications", n)
	}
	r.tidied[o.ID] = d.RowIndex
	return nil
}
