package triggers

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"

	"moka/kv"
	"moka/txn"
)

// Backlog is what one observer still has to do.
type Backlog struct {
	Observer ObserverID
	Waiting  uint64       // cells with changes that are not acknowledged yet
	Parked   uint64       // cells whose notification failed too often
	Oldest   kv.Timestamp // of the waiting changes; zero if none. Lag is now minus this
}

// Failed is a notification whose last run failed.
type Failed struct {
	Observer ObserverID
	Column   kv.Column
	CommitTS kv.Timestamp // newest change
	Attempts int
	Error    string // of the last attempt; see Said
	Parked   bool   // too often: there will be no further attempt unless it is asked for, or the cell changes
}

// failedLimit bounds one answer about failed notifications of a shard.
const failedLimit = 10000

// Backlogs asks all shards. The sum is not a snapshot: it is exact once writers rest.
func Backlogs(ctx context.Context, store kv.Store) ([]Backlog, error) {
	sum := map[ObserverID]*Backlog{}
	err := eachShard(ctx, store, &backlogRequest{}, func(r *backlogResponse) {
		for _, c := range r.Counts {
			b := sum[c.Observer]
			if b == nil {
				b = &Backlog{Observer: c.Observer}
				sum[c.Observer] = b
			}
			b.Waiting += c.Waiting
			b.Parked += c.Parked
			if c.Oldest != 0 && (b.Oldest == 0 || c.Oldest < b.Oldest) {
				b.Oldest = c.Oldest
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]Backlog, 0, len(sum))
	for _, b := range sum {
		out = append(out, *b)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Observer < out[j].Observer })
	return out, nil
}

// BacklogOf asks all shards about one observer.
func BacklogOf(ctx context.Context, store kv.Store, o ObserverID) (sum Backlog, err error) {
	sum.Observer = o
	err = eachShard(ctx, store, &backlogRequest{Observer: o}, func(r *backlogResponse) {
		for _, c := range r.Counts {
			sum.Waiting, sum.Parked = sum.Waiting+c.Waiting, sum.Parked+c.Parked
		}
	})
	return sum, err
}

// ListFailed lists the notifications of an observer (zero: of all) that have failed, parked or not.
func ListFailed(ctx context.Context, store kv.Store, o ObserverID) ([]Failed, error) {
	return listFailed(ctx, store, &backlogRequest{Observer: o, Limit: failedLimit, List: listFailing})
}

func listFailed(ctx context.Context, store kv.Store, req *backlogRequest) (out []Failed, err error) {
	err = eachShard(ctx, store, req, func(r *backlogResponse) {
		for _, i := range r.Items {
			out = append(out, Failed{i.Observer, i.Column, i.CommitTS, int(i.Attempts), i.Error, i.Parked})
		}
	})
	return out, err
}

// Wanted selects some of the failed notifications that are listed to it; nil takes all.
type Wanted func([]Failed) ([]Failed, error)

// RetryParked delivers the parked notifications of an observer that are wanted again, and returns how many
// there were. Some of them may have failed again when it returns.
func RetryParked(ctx context.Context, store kv.Store, o ObserverID, w Wanted) (n int, err error) {
	err = eachParked(ctx, store, o, w, func(fs []Failed) error {
		for _, f := range fs {
			if err := sendSettle(ctx, store,
				&settleRequest{Kind: settleRetry, Observer: o, Column: f.Column}); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// parkedPage is how many notifications are looked at, and discarded, at a time.
const parkedPage = 512

// eachParked calls f with the parked notifications of an observer that are wanted, page by page. What is
// parked meanwhile behind the page is not among them.
func eachParked(ctx context.Context, store kv.Store, o ObserverID, w Wanted, f func([]Failed) error) error {
	shards, err := store.Shards(ctx)
	if err != nil {
		return err
	}
	for _, s := range shards {
		var last kv.Column
		for more := true; more; {
			m, err := store.Call(ctx, s, nil, commandBacklog,
				&backlogRequest{Observer: o, Limit: parkedPage, List: listAll, From: last.Row})
			if err != nil {
				return err
			}
			var fs []Failed
			items, before := m.(*backlogResponse).Items, last
			more = len(items) == parkedPage
			for _, i := range items {
				if compareColumns(i.Column, before) <= 0 {
					continue // of the row that the page before has ended in
				}
				if last = i.Column; i.Parked {
					fs = append(fs, Failed{i.Observer, i.Column, i.CommitTS, int(i.Attempts), i.Error, true})
				}
			}
			if more && compareColumns(last, before) == 0 {
				last = kv.Column{Row: append(slices.Clone(last.Row), 0)} // a page was all of one row
			}
			if len(fs) > 0 && w != nil {
				fs, err = w(fs)
			}
			if err == nil && len(fs) > 0 {
				err = f(fs)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// DiscardParked acknowledges the parked notifications of an observer that are wanted, as if their runs had
// done nothing, and returns how many there were. A change that is committed meanwhile is delivered.
func DiscardParked(ctx context.Context, client *txn.Client, store kv.Store, o ObserverID,
	w Wanted) (n int, err error) {
	err = eachParked(ctx, store, o, w, func(fs []Failed) error {
		m, err := discard(ctx, client, store, o, fs, 0)
		n += m
		return err
	})
	return n, err
}

// discardTries bounds how often a single notification is tried that runs, or others, are first at.
const discardTries = 16

func discard(ctx context.Context, client *txn.Client, store kv.Store, o ObserverID, fs []Failed,
	tries int) (n int, err error) {
	left, err := discardAll(ctx, client, store, o, fs)
	switch {
	case err == nil && !left:
		return len(fs), nil
	case err != nil && (!errors.Is(err, txn.ErrConflict) || len(fs) == 1 && tries == discardTries):
		return 0, err
	case err == nil && len(fs) == 1:
		return 0, nil // it has changed: there will be a run
	case len(fs) == 1:
		return discard(ctx, client, store, o, fs, tries+1)
	}
	n, err = discard(ctx, client, store, o, fs[:len(fs)/2], 0)
	if err != nil {
		return n, err
	}
	m, err := discard(ctx, client, store, o, fs[len(fs)/2:], 0)
	return n + m, err
}

// discardAll acknowledges in one transaction. left says that it has not: one of the notifications is no
// longer parked. That is asked behind the snapshot, which has met the locks of all that was committed before
// it: no change up to it comes to have its notification later.
func discardAll(ctx context.Context, client *txn.Client, store kv.Store, o ObserverID,
	fs []Failed) (left bool, err error) {
	t := client.Begin(txn.TxnOptions{})
	defer t.Rollback()
	start, err := t.StartTS(ctx)
	if err != nil {
		return false, err
	}
	cells := make([]kv.Column, len(fs))
	watches := make([]Watch, len(fs))
	for i, f := range fs {
		cells[i] = f.Column
		watches[i] = Watch{o, kv.Span{Start: f.Column.Row, End: append(slices.Clone(f.Column.Row), 0)}}
	}
	if _, err := t.BatchGet(ctx, cells); err != nil {
		return false, err
	}
	found, err := ListPending(ctx, store, watches, Until{UpTo: start})
	if err != nil || found[o].Waiting || !found[o].Parked {
		return true, err
	}
	for _, c := range cells {
		u := Unacknowledged{Failed: Failed{Observer: o, Column: c}}
		u.clear(t, start)
	}
	_, err = t.Commit(ctx)
	return false, err
}

// Drop removes all notifications of an observer that is no more. Call it after no transaction
// can notify it any longer.
func Drop(ctx context.Context, store kv.Store, o ObserverID) error {
	_, err := dropIf(ctx, store, o, func(kv.RowKey) bool { return true })
	return err
}

// DropBefore removes the notifications of an observer that are about rows before the given one, and returns
// how many there were. Call it when those rows are no more.
func DropBefore(ctx context.Context, store kv.Store, o ObserverID, first kv.RowKey) (int, error) {
	return dropIf(ctx, store, o, func(row kv.RowKey) bool { return bytes.Compare(row, first) < 0 })
}

// dropLimit is how many cells are listed, and removed, at a time.
const dropLimit = 512

// dropIf removes what is about rows that are gone. Shards list rows in their order, so that those that are
// gone come first, and each list begins where the one before has ended. A tablet that is on its way from one
// shard to another may be seen by neither, so all are asked until nothing is left.
func dropIf(ctx context.Context, store kv.Store, o ObserverID, gone func(kv.RowKey) bool) (n int, err error) {
	for {
		shards, err := store.Shards(ctx)
		if err != nil {
			return n, err
		}
		before := n
		for _, s := range shards {
			for from, more := kv.RowKey(nil), true; more; {
				var cs []kv.Column
				cs, more, err = listGone(ctx, store, s, o, from, gone)
				if err == nil {
					err = sendDrops(ctx, store, o, cs)
				}
				if err != nil {
					return n, err
				}
				if n += len(cs); more {
					from = cs[len(cs)-1].Row // it may have more cells
				}
			}
		}
		if n == before {
			return n, nil
		}
	}
}

// listGone lists a shard's first cells from a row on whose rows are gone; more says that there may be others.
func listGone(ctx context.Context, store kv.Store, s kv.ShardID, o ObserverID, from kv.RowKey,
	gone func(kv.RowKey) bool) (cs []kv.Column, more bool, err error) {
	m, err := store.Call(ctx, s, nil, commandBacklog,
		&backlogRequest{Observer: o, Limit: dropLimit, List: listAll, From: from})
	if err != nil {
		return nil, false, err
	}
	items := m.(*backlogResponse).Items
	for _, i := range items {
		if !gone(i.Column.Row) {
			return cs, false, nil
		}
		cs = append(cs, i.Column)
	}
	return cs, len(items) == dropLimit, nil
}

// sendDrops routes drop commands to the tablets of cells, which are in the order of their rows.
func sendDrops(ctx context.Context, store kv.Store, o ObserverID, cs []kv.Column) error {
	const most = 16
	for moved := 0; len(cs) > 0; {
		tablet, err := store.Locate(ctx, cs[0].Row)
		if err != nil {
			return err
		}
		n := 1
		for n < len(cs) && tablet.Span.Contains(cs[n].Row) {
			n++
		}
		_, err = store.Call(ctx, tablet.Shard, []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation}},
			commandDrop, &dropRequest{o, cs[:n]})
		switch {
		case err == nil:
			cs, moved = cs[n:], 0
		case !errors.Is(err, kv.ErrMoved):
			return err
		default:
			if moved++; moved == most {
				return err
			}
		}
	}
	return nil
}

func eachShard(ctx context.Context, store kv.Store, req *backlogRequest, f func(*backlogResponse)) error {
	shards, err := store.Shards(ctx)
	if err != nil {
		return err
	}
	for _, s := range shards {
		m, err := store.Call(ctx, s, nil, commandBacklog, req)
		if err != nil {
			return err
		}
		f(m.(*backlogResponse))
	}
	return nil
}
