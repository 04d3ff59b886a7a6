package observer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/incview"
	"moka/triggers"
	"moka/txn"
	"moka/txn/longread"
)

// newSession is what one run needs for itself: what a body leaves in it (variables, the time zone, temporary
// tables, locks by name) is no other's.
func newSession(eng *engine.Engine) *engine.Session {
	return eng.NewSession(sql.NewBaseSessionWithClientServer("moka",
		sql.Client{User: "root", Address: "localhost"}, 0))
}

// runMemory is what one run may hold, beside the rows that it reads and writes. Nobody waits for it, and it
// is tried again: sixteen of them together must not crowd out what people wait for.
const runMemory = 32 << 20

// body is an observer's code, compiled under one version of the catalog. Plans keep state in their nodes, so
// two runs never share one.
type body struct {
	version  uint64
	observer *catalog.Observer
	table    *engine.Table
	database string
	plan     *engine.Body
	// of an incremental view
	view   *incview.View
	zone   string
	anchor uint32 // the observer that runs the view's query
}

// bytes is what the compiled body takes.
func (b *body) bytes() int64 {
	return engine.BodyBytes(len(b.observer.Body))
}

// event is what happened to a row between two runs.
type event string

const (
	inserted event = "INSERT"
	updated  event = "UPDATE"
	deleted  event = "DELETE"
	notified event = "NOTIFY" // nothing, but somebody has asked for a run
)

var masks = map[event]catalog.ObserverEvents{
	inserted: catalog.OnInsert, updated: catalog.OnUpdate, deleted: catalog.OnDelete,
	notified: catalog.OnNotify,
}

// run is triggers.Observer.Run for a SQL observer.
func (r *Registry) run(ctx context.Context, id uint32, t *txn.Txn, e triggers.Event) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end, err := r.begin(ctx, id, e, cancel)
	if err != nil {
		return err
	}
	defer end()
	session := newSession(r.eng)
	interrupt := func(err error) bool {
		cancel(err)
		return true
	}
	session.Memory().Bound(runMemory, interrupt)
	rows := r.eng.RowMeter(interrupt)
	defer rows.Close()
	paced, over := r.o.Pacer.Pace(longread.With(ctx, rows))
	defer over()
	ctx = paced
	sctx := sql.NewContext(ctx, sql.WithSession(session))
	tx := r.eng.Adopt(t)
	sctx.SetTransaction(tx)
	sctx.SetIgnoreAutoCommit(true)
	var b *body
	defer func() {
		if why := context.Cause(ctx); why != nil && err != nil && !errors.Is(why, ctx.Err()) {
			err = why
		}
		sctx.SetTransaction(nil)
		sctx.SetIgnoreAutoCommit(false)
		session.SessionEnd()
		if err != nil && tx.Ended() && !errors.Is(err, txn.ErrConflict) && !wasKilled(err) {
			// The engine has worded it for a client; the worker wants to know that another try may do. What
			// the body says itself (SIGNAL of a deadlock) is its own failure.
			err = fmt.Errorf("%w: %w", txn.ErrConflict, err)
		}
		if err != nil && b != nil {
			err = &triggers.OwnedError{Owner: b.observer.Definer, Err: err}
		}
	}()

	b, done, err := r.body(sctx, id)
	if err != nil {
		return err
	}
	if b == nil {
		return triggers.ErrSkip // dropped while the notification was on its way
	}
	defer done()
	if b.table.Moving() {
		return fmt.Errorf("%w: the table has been copied, and what was not acknowledged is being carried "+
			"over", txn.ErrConflict)
	}
	if !b.table.Holds(e.Column.Row) {
		return triggers.ErrSkip // it was carried over
	}
	if b.view != nil {
		return r.runIncremental(sctx, tx, b, e)
	}
	if o := b.observer; o.Behind != 0 && rowSpan(o.TableID, o.BehindRows).Contains(e.Column.Row) {
		base, err := r.behind(ctx, t, o)
		if err != nil {
			return err
		}
		e = e.Behind(base)
	}
	old, now, err := b.rows(ctx, t, e)
	forgotten := errors.Is(err, triggers.ErrForgotten)
	if err != nil && !forgotten {
		return err
	}
	if forgotten && len(b.plan.ReadsOld()) > 0 && !b.observer.ForgottenIsNull {
		return fmt.Errorf("%w: %w", triggers.ErrHopeless, errForgotten(b.observer))
	}
	if err := r.mayReadOld(sctx, session, b, e, old); err != nil {
		return err
	}
	evs := b.events(old != nil, now != nil)
	if forgotten {
		evs = b.eventsWithoutOld(now != nil)
	}
	ran := false
	for _, ev := range evs {
		ran = true
		if err := r.execute(sctx, b, ev, old, now); err != nil {
			return err
		}
	}
	if !ran {
		return triggers.ErrSkip
	}
	if err := bounded(t, b.observer); err != nil {
		return err
	}
	return r.giveWay(id, tx)
}

// maxFanout is how many rows a run may write that notify observers, if its observer does not say so. What one
// change sets off, all nodes have to do, and an observer may notify itself.
const maxFanout = 5000

// bounded fails if a run has written more rows that notify observers than it may. It parks: the next try
// would write as many.
func bounded(t *txn.Txn, o *catalog.Observer) error {
	most := cmp.Or(o.MaxFanout, maxFanout)
	if _, keys := t.Size(); keys <= most {
		return nil
	}
	n := 0
	changes, _ := t.Buffered(kv.Span{})
	for _, c := range changes {
		if len(c.Observers) > 0 {
			n++
		}
	}
	if n <= most {
		return nil
	}
	return fmt.Errorf("%w: one run has written %d rows that notify observers, and max_fanout of observer "+
		"'%s' is %d; ALTER OBSERVER … WITH (max_fanout = n) and then RETRY FAILED lets it",
		triggers.ErrHopeless, n, o.Name, most)
}

// rows reads OLD and NEW; nil stands for a row that is not there. With triggers.ErrForgotten, NEW is there.
func (b *body) rows(ctx context.Context, t *txn.Txn, e triggers.Event) (old, now sql.Row, err error) {
	if v, ok, err := t.Get(ctx, e.Column); err != nil {
		return nil, nil, err
	} else if ok {
		if now, err = b.table.DecodeRow(v); err != nil {
			return nil, nil, err
		}
	}
	if v, ok, err := e.Previous(ctx); err != nil {
		return nil, now, err
	} else if ok {
		if old, err = b.table.DecodeRow(v); err != nil {
			return nil, nil, err
		}
	}
	return old, now, nil
}

// events decides which bodies run. An observer that asked for no UPDATE sees a row that was replaced between
// two runs as the DELETE and the INSERT that it was made of, as far as it asked for those.
func (b *body) events(old, now bool) []event {
	var evs []event
	switch {
	case b.observer.Events&catalog.OnNotify != 0 && !now:
		return nil // the row is gone
	case b.observer.Events&catalog.OnNotify != 0:
		return []event{notified}
	case old && now && b.observer.Events&catalog.OnUpdate != 0:
		return []event{updated}
	case old && now:
		evs = []event{deleted, inserted}
	case now && b.observer.Events&catalog.OnInsert != 0:
		return []event{inserted}
	case now:
		// An UPDATE whose row this observer has never seen before: OLD is all NULL.
		evs = []event{updated}
	case old:
		evs = []event{deleted}
	}
	kept := evs[:0]
	for _, ev := range evs {
		if b.observer.Events&masks[ev] != 0 {
			kept = append(kept, ev)
		}
	}
	return kept
}

// eventsWithoutOld decides where nobody knows any more whether there was an OLD row: its
// columns are NULL then.
func (b *body) eventsWithoutOld(now bool) []event {
	wanted := []event{deleted}
	if now && b.observer.Events&catalog.OnNotify != 0 {
		return []event{notified}
	}
	if now {
		wanted = []event{updated, inserted} // the first that it asked for
	}
	for _, ev := range wanted {
		if b.observer.Events&masks[ev] != 0 {
			return []event{ev}
		}
	}
	return nil
}

// execute runs the compiled body for one row. Of a row that was replaced, and is a DELETE and an INSERT to
// the observer, each has its own.
func (r *Registry) execute(ctx *sql.Context, b *body, ev event, old, now sql.Row) error {
	say := saysOf(ev)
	switch ev {
	case inserted:
		old = nil
	case deleted:
		now = nil
	case notified:
		say = []bool{old == nil, old != nil && !reflect.DeepEqual(old, now), false}
	}
	ctx.SetCurrentDatabase(b.database)
	_, err := b.plan.Run(ctx, old, now, say...)
	if err != nil {
		b.version = 0 // the body is compiled anew
	}
	return err
}

// errForgotten says that the run would take a row that was there for one that was not. Another try would,
// too.
func errForgotten(o *catalog.Observer) error {
	return fmt.Errorf("OLD, the row as observer '%s' has acknowledged it last, has been removed by garbage "+
		"collection (--gc-max-hold); ALTER OBSERVER … WITH (forgotten_old = 'null') and then RETRY FAILED "+
		"runs with NULLs for it", o.Name)
}

// body returns the compiled form of an observer, compiled anew if the catalog has changed since; done has to
// be said when the run is over. It is nil if the observer is gone.
func (r *Registry) body(ctx *sql.Context, id uint32) (b *body, done func(), err error) {
	version, err := r.eng.CatalogVersion(ctx)
	if err != nil {
		return nil, nil, err
	}
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	o, ok := snap.ObserverByID(id)
	if !ok {
		return nil, nil, nil
	}
	if o.Paused || !o.Enabled { // what it has not done waits
		return nil, nil, fmt.Errorf("%w: observer %s is %s", txn.ErrConflict, o.Name,
			strings.ToLower(status(o)))
	}
	b, known := r.bodies.Take(id, version)
	keeps := r.eng.KeepsBodies(known)
	room, err := r.roomFor(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	if !known || !keeps {
		if b, err = r.compile(ctx, snap, o); err != nil {
			room()
			return nil, nil, &triggers.OwnedError{Owner: o.Definer,
				Err: fmt.Errorf("compiling observer %s: %w", o.Name, err)}
		}
		b.version = version
	}
	return b, func() {
		r.leave(id, b)
		room()
	}, nil
}

// leave keeps a body for the next run, if it did not fail and the observer is not gone.
func (r *Registry) leave(id uint32, b *body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.version != 0 && r.mu.registered[id] != nil {
		r.bodies.Put(id, b.version, b, b.bytes())
	}
}

// largeBody is what a compiled body takes for which room has to be made. Those of all runs that take less are
// not counted.
const largeBody = 4 << 20

// roomFor waits until the large bodies that are being compiled and run leave room for that of an observer:
// one of 1 MiB takes a hundred times that, and as many seconds. One that is larger than all room is alone.
func (r *Registry) roomFor(ctx context.Context, o *catalog.Observer) (done func(), err error) {
	n := min((&body{observer: o}).bytes(), r.roomBytes)
	if n < largeBody {
		return func() {}, nil
	}
	wait, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	if err := r.room.Acquire(wait, n); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: other large bodies of observers are being run", kv.ErrBusy)
	}
	return func() { r.room.Release(n) }, nil
}

// roomWait is less than what a run may take: who waits for room does not fail for it, but is tried again.
const roomWait = 10 * time.Second

// leaf is what all nodes of this package have in common: they have no children.
type leaf struct{}

func (leaf) Resolved() bool       { return true }
func (leaf) Children() []sql.Node { return nil }

func noChildren(n sql.Node, ch []sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(ch), 0)
	}
	return n, nil
}

// eventsOf lists the events of a mask in the order of the grammar.
func eventsOf(mask catalog.ObserverEvents) (evs []event) {
	for _, ev := range []event{inserted, updated, deleted, notified} {
		if mask&masks[ev] != 0 {
			evs = append(evs, ev)
		}
	}
	return evs
}

func eventNames(mask catalog.ObserverEvents) string {
	var names []string
	for _, ev := range eventsOf(mask) {
		names = append(names, string(ev))
	}
	return strings.Join(names, " OR ")
}
