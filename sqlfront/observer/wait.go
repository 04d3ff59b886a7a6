package observer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
	"moka/txn"
)

// WAIT FOR OBSERVERS returns when the observers have run for every change that was committed before it
// began, and for what their runs have changed in turn. It works in rounds, up to a timestamp each:
//
//  1. What is committed may have left a lock in the place of its notification, until somebody meets it. So
//     after the timestamp is taken such locks are resolved. Behind that all changes up to it have theirs.
//  2. Shards are asked until they have none of these any more. No others come: what is committed from now on
//     is behind the timestamp.
//  3. What these runs have written is before the next timestamp. Of that, the next round waits for changes
//     that runs may have made, whoever is to run for them. When there are none at its beginning, all is done.
//
// Chains longer than max_depth are parked, so that many rounds are enough; beside others' chains each may
// find something to wait for.

// waitPause is the wait between two looks, at first and at most. A look that takes long is followed by a
// pause that is longer by waitShare.
const (
	waitPause = time.Millisecond
	waitMost  = 50 * time.Millisecond
	waitShare = 4
)

// waiting is one WAIT FOR OBSERVERS.
type waiting struct {
	r     *Registry
	asked parse.WaitForObservers
	began kv.Timestamp
	round int
	upTo  kv.Timestamp
	// tables are the storages in which observed tables were at the last look. Notifications that are carried
	// over to another come behind upTo, and look as if clients had made the changes: see carried.
	tables          map[uint32]uint32
	moving, carried bool
	known           map[uint32]bool   // observers that were enabled at some look
	last            *catalog.Observer // that has something to do
}

func (r *Registry) waitFor(ctx *sql.Context, s parse.WaitForObservers) error {
	if session, ok := ctx.Session.(*engine.Session); ok && session.Engaged() {
		return sqlerr.New(sqlerr.CommandNotAllowed,
			"You are not allowed to execute this command in a transaction")
	}
	bounded, cancel := ctx, func() {}
	if s.Timeout > 0 {
		var c context.Context
		c, cancel = context.WithTimeout(ctx, s.Timeout)
		bounded = ctx.WithContext(c)
	}
	defer cancel()
	w := &waiting{r: r, asked: s, known: map[uint32]bool{}}
	err := w.wait(bounded)
	if errors.Is(err, errNotYet) {
		return w.late(ctx)
	}
	if err == nil || bounded.Err() == nil || ctx.Err() != nil {
		return err
	}
	return w.late(ctx)
}

// errNotYet ends a wait that just asks (TIMEOUT 0) and has found something to do.
var errNotYet = errors.New("observers have something to do")

// late is the error of a wait whose time is up.
func (w *waiting) late(ctx *sql.Context) error {
	who := "Observers have"
	if o := w.last; o != nil && w.r.maySee(ctx, w.r.o.Catalog.Newest(), o) {
		who = "Observer '" + o.Name + "' has"
	}
	return sqlerr.New(sqlerr.QueryTimeout,
		"%s not run for all changes yet after %v; moka.observer_backlog says what waits", who,
		w.asked.Timeout)
}

func (w *waiting) wait(ctx *sql.Context) (err error) {
	if w.began, err = w.next(ctx); err != nil {
		return err
	}
	if err = w.begin(ctx); err != nil {
		return err
	}
	w.upTo = w.began
	for deepest := 0; ; {
		pause := waitPause
		for looks := 0; ; looks++ {
			at := time.Now()
			done, depth, err := w.look(ctx)
			if err != nil {
				return err
			}
			deepest = max(deepest, depth)
			if done && looks == 0 && w.round > 0 {
				return nil
			}
			if done {
				break
			}
			if w.asked.Timeout == 0 {
				return errNotYet
			}
			if !sleep(ctx, max(pause, waitShare*time.Since(at))) {
				return ctx.Err()
			}
			pause = min(2*pause, waitMost)
		}
		if w.round++; w.round > deepest {
			return nil
		}
		if w.upTo, err = w.next(ctx); err != nil {
			return err
		}
		w.carried = false
	}
}

// begin notes what is walked or carried over as the wait begins. At the first look it may be through: what it
// has notified of is behind the beginning then, and is waited for none the less.
func (w *waiting) begin(ctx *sql.Context) error {
	t := w.r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: w.began})
	defer t.Rollback()
	snap, err := w.r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	all, err := w.observers(ctx, snap)
	if err == nil {
		_, err = w.follow(ctx, t, snap, all)
	}
	return err
}

// next takes a timestamp, and has everything before it leave its notification.
func (w *waiting) next(ctx context.Context) (kv.Timestamp, error) {
	t := w.r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	ts, err := t.StartTS(ctx)
	if err == nil {
		_, err = w.r.o.Client.ResolveOrphans(ctx, 0)
	}
	return ts, err
}

// look asks once whether all of the round is done. It returns how many rounds there may be.
func (w *waiting) look(ctx *sql.Context) (done bool, depth int, err error) {
	t := w.r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := w.r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return false, 0, err
	}
	all, err := w.observers(ctx, snap)
	if err != nil {
		return false, 0, err
	}
	if restarted, err := w.follow(ctx, t, snap, all); restarted || err != nil {
		return false, 0, err
	}
	watches := make([]triggers.Watch, 0, len(all))
	byID := make(map[uint32]*catalog.Observer, len(all))
	for _, o := range all {
		d, ok := snap.TableByID(o.TableID)
		if !ok {
			continue
		}
		if o.Enabled {
			w.known[o.ID] = true
			depth = max(depth, cmp.Or(o.MaxDepth, triggers.DefaultDepth))
		} else if w.round > 0 && !w.known[o.ID] {
			continue // nobody has notified it meanwhile
		}
		byID[o.ID] = o
		watches = append(watches, triggers.Watch{Observer: o.ID, Span: tableSpan(d.ID)})
	}
	until := triggers.Until{UpTo: w.upTo, Deep: w.round > 0 && !w.carried}
	if w.round > 0 {
		until.ParkedAfter = w.began
	}
	found, err := triggers.ListPending(ctx, w.r.o.Store, watches, until)
	if err != nil {
		return false, 0, err
	}
	w.last = nil
	for id, p := range found {
		o := byID[id]
		switch {
		case p.Parked:
			return false, 0, w.stopped(ctx, snap, o, "has given up on changes", "RETRY FAILED")
		case p.Waiting && !o.Enabled:
			return false, 0, w.stopped(ctx, snap, o, "is disabled and has changes to run for", "ENABLE")
		case p.Waiting && o.Paused:
			return false, 0, w.stopped(ctx, snap, o, "is paused and has changes to run for", "RESUME")
		case p.Waiting:
			w.last = o
		}
	}
	return w.last == nil, depth, nil
}

// follow looks whether notifications have been carried over since the last look, or are being so, or rows are
// still walked for an observer of the first round. Then the round begins anew behind that.
func (w *waiting) follow(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot,
	all []*catalog.Observer) (restarted bool, err error) {
	tables := map[uint32]uint32{}
	was := w.moving // and may be through
	if w.moving, err = w.walks(ctx, t, snap, all); err != nil {
		return false, err
	}
	for _, o := range snap.AllObservers() {
		d, ok := snap.TableByID(o.TableID)
		if !ok {
			continue
		}
		tables[d.ID] = d.RowIndex
		w.moving = w.moving || d.Copy != nil && d.Copy.From != nil
		before, known := w.tables[d.ID]
		was = was || known && before != d.RowIndex
	}
	w.tables = tables
	if w.moving || was {
		w.carried = true
	}
	if was && !w.moving {
		w.upTo, err = w.next(ctx)
	}
	return w.moving || was, err
}

// walks reports whether rows are walked for one of the observers.
func (w *waiting) walks(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot,
	all []*catalog.Observer) (bool, error) {
	walks, err := w.r.o.Catalog.Walks(ctx, t)
	if err != nil || len(walks) == 0 || w.round > 0 {
		return false, err
	}
	walked := false
	for _, o := range all {
		i := slices.IndexFunc(walks, func(x catalog.Walk) bool { return x.Observer == o.ID && !x.Through })
		if i < 0 {
			continue
		}
		switch {
		case walks[i].Failed:
			return false, w.forgotten(ctx, snap, o)
		case !o.Enabled:
			return false, w.stopped(ctx, snap, o, "is disabled and has rows to run for", "ENABLE")
		case o.Paused:
			return false, w.stopped(ctx, snap, o, "is paused and has rows to run for", "RESUME")
		}
		walked, w.last = true, o
	}
	return walked, nil
}

// stopped is the error about an observer that will not do what is waited for.
func (w *waiting) stopped(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer, why,
	action string) error {
	if !w.r.maySee(ctx, snap, o) {
		return sqlerr.New(sqlerr.ObserverStopped, "An observer will not run for all changes that are waited "+
			"for; who has TRIGGER on its table finds it in moka.observer_backlog")
	}
	return sqlerr.New(sqlerr.ObserverStopped, "Observer '%s' %s that are waited for: moka.observer_errors "+
		"and "+
		"moka.observer_backlog say more, ALTER OBSERVER %s.%s %s goes on", o.Name, why,
		quote(databaseName(snap, o.DatabaseID)), quote(o.Name), action)
}

// forgotten is the error about an observer of which nobody knows any more what rows it has to run for.
func (w *waiting) forgotten(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) error {
	if !w.r.maySee(ctx, snap, o) {
		return w.stopped(ctx, snap, o, "", "")
	}
	return sqlerr.New(sqlerr.ObserverStopped, "Observer '%s' has rows to run for that are not known any "+
		"more: it was enabled WITH REPLAY, and garbage collection has passed the time when it was disabled "+
		"before all that it had missed was found; or it comes from a backup that was taken before its rows "+
		"were walked. REPLAY OBSERVER %s.%s has it run for all rows", o.Name,
		quote(databaseName(snap, o.DatabaseID)), quote(o.Name))
}

// observers are those of the round. To wait for an observer by its name takes the right to see it, or to read
// the view that it keeps. Of the others one learns no more than when they are done.
func (w *waiting) observers(ctx *sql.Context, snap *catalog.Snapshot) (all []*catalog.Observer, err error) {
	if w.round > 0 {
		return snap.AllObservers(), nil
	}
	for _, n := range w.asked.Observers {
		db, err := w.r.databaseOf(ctx, n)
		if err != nil {
			return nil, err
		}
		o, err := findObserver(snap, db, n.Name)
		if err == nil && !w.r.maySee(ctx, snap, o) && !w.r.mayRead(ctx, snap, o) {
			err = hidden(ctx, o)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, withView(snap, o)...)
	}
	if len(w.asked.Observers) > 0 {
		return all, nil
	}
	current := ctx.GetCurrentDatabase()
	for _, o := range snap.AllObservers() {
		db := databaseName(snap, o.DatabaseID)
		if (current == "" || strings.EqualFold(db, current)) && rights.Within(ctx, w.r.eng.Accounts(), db) {
			all = append(all, o)
		}
	}
	return all, nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
