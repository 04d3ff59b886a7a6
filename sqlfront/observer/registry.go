package observer

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"golang.org/x/sync/semaphore"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/incview"
	"moka/sqlfront/pace"
	"moka/sqlfront/spare"
	"moka/triggers"
	"moka/txn"
)

// Options of a Registry. Client, Catalog and Store are required.
type Options struct {
	Client  *txn.Client
	Catalog *catalog.Catalog
	Store   kv.Store
	// Worker runs the observers in this process; nil means that this process only declares them.
	Worker *triggers.Worker
	// Runners is the worker's bound on concurrent runs: as many compiled bodies of an observer are kept.
	// Default 16.
	Runners int
	// ConnectionID numbers a slot for runs, as a connection. Default: from 2³⁰ on.
	ConnectionID func() uint32
	// Follow is how often the catalog is looked at for observers declared elsewhere. Default 500 ms.
	Follow time.Duration
	// HoldTime bounds how long a process that died keeps observers from a table that it was changing.
	// Default 10 s.
	HoldTime time.Duration
	// Pacer has runs that compute for long step back for others. Default: one of the registry's own.
	Pacer *pace.Pacer
	// CountRows and CountTime bound the count of what an observer has missed, when it is enabled. Default
	// 100,000 rows that have changed, and 10 s.
	CountRows int
	CountTime time.Duration
	Logger    *slog.Logger
}

// Registry connects SQL's observers with a process's worker.
type Registry struct {
	o      Options
	eng    *engine.Engine
	cancel context.CancelFunc
	wg     sync.WaitGroup
	// slots are those without a run, bodies what runs have compiled, and room is for large ones of these.
	slots     chan *slot
	bodies    spare.Pool[uint32, *body]
	room      *semaphore.Weighted
	roomBytes int64
	log       runLog
	// changed wakes removeOrphans: the catalog is another one. stale wakes loop, toWalk walk.
	changed, stale, toWalk chan struct{}
	holder                 uint64 // this process, in walks
	// plant says what mistakes a run that keeps an incremental view makes; nil for none, but in tests.
	plant func(*engine.Tx, *body, triggers.Event) incview.Planted
	// the storage of each observer's table before which there are no notifications; removeOrphans' own
	tidied map[uint32]uint32

	following sync.Mutex // held by follow: what it finds is newer than what it found before
	mu        struct {
		sync.Mutex
		registered map[uint32]*catalog.Observer
		version    uint64
		holds
		over map[uint32]kv.Timestamp // of observers that have been given back what they missed: their Behind
		runs map[uint32]*running     // by their slots' ids
		ids  map[uint32]bool         // of slots
	}
}

// New makes a registry. Its Hooks go into the parser with which the engine is built; then
// Start connects the two.
func New(o Options) *Registry {
	if o.Runners <= 0 {
		o.Runners = 16
	}
	if o.ConnectionID == nil {
		var last atomic.Uint32
		last.Store(1 << 30)
		o.ConnectionID = func() uint32 { return last.Add(1) }
	}
	if o.Follow <= 0 {
		o.Follow = 500 * time.Millisecond
	}
	if o.HoldTime <= 0 {
		o.HoldTime = 10 * time.Second
	}
	if o.Pacer == nil {
		o.Pacer = pace.New()
	}
	if o.CountRows <= 0 {
		o.CountRows = 100_000
	}
	if o.CountTime <= 0 {
		o.CountTime = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{o: o, changed: make(chan struct{}, 1), stale: make(chan struct{}, 1),
		toWalk: make(chan struct{}, 1), holder: rand.Uint64(), tidied: map[uint32]uint32{}}
	r.mu.registered = map[uint32]*catalog.Observer{}
	r.mu.over = map[uint32]kv.Timestamp{}
	r.mu.runs, r.mu.ids = map[uint32]*running{}, map[uint32]bool{}
	r.mu.here, r.mu.writes = map[uint32]int{}, map[uint32][]uint32{}
	return r
}

// Start registers the observers that the catalog has, and follows it. The engine must be the one that was
// built with the registry's hooks.
func (r *Registry) Start(ctx context.Context, eng *engine.Engine) error {
	r.eng = eng
	if r.o.Worker == nil {
		return nil
	}
	r.o.Worker.OnRun(r.log.add)
	r.slots = make(chan *slot, r.o.Runners)
	for range r.o.Runners {
		r.slots <- &slot{}
	}
	r.roomBytes = eng.SpareBodies()
	r.room = semaphore.NewWeighted(r.roomBytes)
	r.bodies = spare.Pool[uint32, *body]{Most: r.roomBytes, Each: r.o.Runners}
	if err := r.follow(ctx); err != nil {
		return err
	}
	loop, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(func() { r.loop(loop) })
	r.wg.Go(func() { r.removeOrphans(loop) })
	r.wg.Go(func() { r.walk(loop) })
	return nil
}

// Close stops following. The worker is its owner's to close, before this.
func (r *Registry) Close() {
	if r.cancel != nil {
		r.cancel()
	}
	r.wg.Wait()
	if r.slots == nil {
		return
	}
	for range r.o.Runners {
		<-r.slots // its run is over
	}
}

func (r *Registry) loop(ctx context.Context) {
	t := time.NewTicker(r.o.Follow)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-r.stale:
		}
		if err := r.follow(ctx); err != nil && ctx.Err() == nil {
			r.o.Logger.Warn("reading the observers from the catalog failed; trying again", "err", err)
		}
	}
}

// follow makes the worker's observers those of the newest catalog.
func (r *Registry) follow(ctx context.Context) error {
	if r.o.Worker == nil {
		return nil
	}
	r.following.Lock()
	defer r.following.Unlock()
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	held, err := r.o.Catalog.HeldTables(ctx, t)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	heldBefore := r.mu.keeping
	r.mu.elsewhere, r.mu.keeping = held, len(r.mu.here)+len(held) > 0
	if snap.Version == r.mu.version && !heldBefore && !r.mu.keeping {
		return nil
	}
	now := map[uint32]*catalog.Observer{}
	for _, o := range snap.AllObservers() {
		if o.Enabled && !o.Paused && !r.mu.keep(o) {
			now[o.ID] = o
		}
	}
	maps.DeleteFunc(r.mu.writes, func(id uint32, _ []uint32) bool {
		_, known := snap.ObserverByID(id)
		return !known
	})
	for id := range r.mu.registered {
		if now[id] == nil {
			r.o.Worker.Unregister(id)
			r.bodies.Drop(id)
			delete(r.mu.over, id)
		}
	}
	for id, o := range now {
		if r.mu.registered[id] == o {
			continue
		}
		r.o.Worker.Register(triggers.Observer{
			ID: id, Name: o.Name, Owner: o.Definer, Attempts: o.MaxAttempts, Backoff: o.Backoff,
			Timeout: o.Timeout, Depth: o.MaxDepth, New: freshOf(o),
			Run: func(ctx context.Context, t *txn.Txn, e triggers.Event) error {
				return r.run(ctx, id, t, e)
			},
		})
	}
	known := r.mu.version == snap.Version
	if r.mu.registered, r.mu.version = now, snap.Version; known {
		return nil
	}
	select {
	case r.changed <- struct{}{}:
	default: // it is told already
	}
	return nil
}

// change runs a schema change in a transaction of its own, again if somebody else was first, and follows
// it.
func (r *Registry) change(ctx *sql.Context, f func(t *txn.Txn) error) error {
	_, err := r.changeAt(ctx, f)
	return err
}

// changeAt is change, and returns the commit's timestamp.
func (r *Registry) changeAt(ctx *sql.Context, f func(t *txn.Txn) error) (at kv.Timestamp, err error) {
	const most = 10
	if err := engine.MayChange(ctx); err != nil {
		return 0, err
	}
	var busy kv.Column // the fence of a table whose writers were first
	var held []func()
	defer func() {
		for _, release := range held {
			release()
		}
		err = errors.Join(err, r.follow(ctx))
	}()
	for range most {
		t := r.o.Client.Begin(txn.TxnOptions{})
		if err = r.holdWriters(ctx, t, busy); err == nil {
			err = f(t)
		}
		if err == nil {
			at, err = t.Commit(ctx)
		}
		t.Rollback()
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, txn.ErrConflict) && !errors.Is(err, txn.ErrMustExist) {
			return 0, err
		}
		if c := engine.Refused(err); r.o.Catalog.IsFence(c) {
			id, _ := catalog.FenceOf(c)
			release, err := r.Hold(ctx, id, true)
			if err != nil {
				return 0, err
			}
			held, busy = append(held, release), c
		}
	}
	return 0, err
}

// holdWriters has writers of the table wait at their commits until t ends: a table that an observer of its
// own fills is never without one.
func (r *Registry) holdWriters(ctx context.Context, t *txn.Txn, fence kv.Column) error {
	if fence.Row == nil {
		return nil
	}
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	id, _ := catalog.FenceOf(fence)
	table, ok := snap.TableByID(id)
	if !ok {
		return nil
	}
	_, err = t.Lock(ctx, []kv.Column{catalog.FenceCell(table)}, txn.LockOptions{})
	if err != nil && !errors.Is(err, txn.ErrConflict) {
		return err
	}
	t.Advance()
	return nil
}
