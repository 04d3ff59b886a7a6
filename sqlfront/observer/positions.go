package observer

import (
	"context"
	"fmt"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/triggers"
	"moka/txn"
)

// maxPositions bounds what a backup keeps of one observer's backlog.
const maxPositions = 1_000_000

// Positions begins t's snapshot and returns what observers had not acknowledged in it. No run begins in this
// process while it looks, nor, a second later, in others: what is acknowledged between the snapshot and the
// look would be in neither. others says that there are other processes.
func (r *Registry) Positions(ctx context.Context, t *txn.Txn, others bool) (list []triggers.Position,
	err error) {
	before, err := r.eng.Look(ctx)
	if err != nil {
		return nil, err
	}
	held := map[uint32]bool{}
	for _, o := range before.AllObservers() {
		if held[o.TableID] {
			continue
		}
		held[o.TableID] = true
		release, err := r.Hold(ctx, o.TableID, others)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if others && len(held) > 0 {
		select {
		case <-time.After(2 * holdPatience):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	// A run whose commit is under way may be acknowledged behind the snapshot: it is in this list, and what
	// was committed since the list was made waits for the next.
	pending := map[string]triggers.Unacknowledged{}
	if err := r.unacknowledged(ctx, before, pending); err != nil {
		return nil, err
	}
	ts, err := t.StartTS(ctx)
	if err != nil {
		return nil, err
	}
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := catalog.MayBackUp(ctx, t, snap); err != nil {
		return nil, err
	}
	if err := meet(ctx, t, ts, snap); err != nil {
		return nil, err
	}
	if err := r.unacknowledged(ctx, snap, pending); err != nil {
		return nil, err
	}
	for _, u := range pending {
		if u.OldestTS > ts {
			continue
		}
		p, ok, err := u.At(ctx, r.o.Client, t, ts)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// recently is longer than a commit takes whose notifications are not there yet.
const recently = time.Minute

// meet reads what was lately written to observed tables: a transaction that has committed, and has not told
// all of its rows, does so when they are read, and their notifications are there.
func meet(ctx context.Context, t *txn.Txn, ts kv.Timestamp, snap *catalog.Snapshot) error {
	since := kv.NewTimestamp(max(0, ts.Physical()-recently.Milliseconds()), 0)
	seen := map[uint32]bool{}
	for _, o := range snap.AllObservers() {
		table, ok := snap.TableByID(o.TableID)
		if !ok || seen[o.TableID] {
			continue
		}
		seen[o.TableID] = true
		rows := t.Scan(ctx, txn.ScanOptions{Span: engine.RowsOf(table), Since: since, Batch: 1000})
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return err
		}
		_ = rows.Close()
	}
	return nil
}

func (r *Registry) unacknowledged(ctx context.Context, snap *catalog.Snapshot,
	into map[string]triggers.Unacknowledged) error {
	for _, o := range snap.AllObservers() {
		list, err := triggers.ListUnacknowledged(ctx, r.o.Store, o.ID, maxPositions)
		if err != nil {
			return err
		}
		if len(list) >= maxPositions {
			return fmt.Errorf("observer %s has not acknowledged more than %d changes; let it catch up, or "+
				"drop it", o.Name, maxPositions)
		}
		fresh := freshOf(o)
		for _, u := range list {
			u.New = fresh != nil && fresh(u.Column)
			k := fmt.Sprintf("%d/%s/%d/%s", u.Observer, u.Column.Row, u.Column.Family, u.Column.Qualifier)
			if was, ok := into[k]; ok && was.OldestTS <= u.OldestTS {
				u.OldestTS = was.OldestTS // acknowledged in between, and changed again
			}
			into[k] = u
		}
	}
	return nil
}
