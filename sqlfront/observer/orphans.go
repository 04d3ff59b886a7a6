package observer

import (
	"context"
	"time"

	"moka/triggers"
	"moka/txn"
)

// DROP TABLE and DROP DATABASE take observers away with their tables, and what these had not done yet would stay, waiting or parked: nothing shows
// it, and garbage collection keeps what it could need for ever. So each process that runs observers compares what there is with the catalog, when
// it begins and whenever the catalog has changed; what a process leaves undone when it ends is the next one's, and so is what older releases have left.

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

// removeOrphansOnce looks at the notifications first, and at the catalog after it: an observer that has one was there when its writer committed, so if
// it is not in the catalog now it has been dropped, and numbers of observers are not used again. Nobody can notify it any more.
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
		if _, known := snap.ObserverByID(b.Observer); known || b.Waiting+b.Parked == 0 {
			continue
		}
		if err := triggers.Drop(ctx, r.o.Store, b.Observer); err != nil {
			return err
		}
		r.o.Logger.Info("removed the notifications of a dropped observer", "observer", b.Observer, "waiting", b.Waiting, "parked", b.Parked)
	}
	return nil
}
