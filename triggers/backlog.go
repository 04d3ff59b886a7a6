package triggers

import (
	"bytes"
	"context"
	"errors"
	"sort"

	"moka/kv"
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
	Error    string // of the last attempt
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

// RetryParked delivers the parked notifications of an observer again and returns how many there were. Some of
// them may have failed again when it returns.
func RetryParked(ctx context.Context, store kv.Store, o ObserverID) (n int, err error) {
	// of failedLimit for each shard: whoever parks faster than that is not helped by retrying
	const rounds = 1000
	for range rounds {
		ps, err := listFailed(ctx, store, &backlogRequest{Observer: o, Limit: failedLimit, List: listParked})
		if err != nil {
			return n, err
		}
		for _, p := range ps {
			if err := sendSettle(ctx, store,
				&settleRequest{Kind: settleRetry, Observer: o, Column: p.Column}); err != nil {
				return n, err
			}
			n++
		}
		if len(ps) < failedLimit {
			break
		}
	}
	return n, nil
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
