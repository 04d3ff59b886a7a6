package observer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/txn"
)

// A schema change goes before the runs of observers. One that fills its own table commits to it nearly
// without a pause, from all SQL nodes, and takes what time there is: whoever wants to end it would wait for
// it. So while a change of a table is under way, no run that writes to it, or is about a row of it, begins,
// and those under way are cancelled: in this process at once, in the others as soon as the change has lost
// against a writer (a record in the catalog says so, catalog.Hold). What was not acknowledged is delivered
// again. Nothing depends on anybody having heard of it: the fence decides, as ever.

// holds are what schema changes hold of tables. Registry.mu guards them.
type holds struct {
	here      map[uint32]int // by how many changes of this process
	elsewhere []uint32       // of others, and of this one; in order
	keeping   bool           // there were any when the catalog was looked at last
	// writes are the tables that each observer has been seen to write to, through whatever it calls.
	writes map[uint32][]uint32
}

func (h *holds) any() bool { return len(h.here)+len(h.elsewhere) > 0 }

func (h *holds) has(table uint32) bool {
	_, other := slices.BinarySearch(h.elsewhere, table)
	return other || h.here[table] > 0
}

// keep reports whether an observer is kept from running.
func (h *holds) keep(o *catalog.Observer) bool {
	return h.any() && (h.has(o.TableID) || slices.ContainsFunc(h.writes[o.ID], h.has))
}

// Hold ends the runs that concern the table and lets none begin until release: in this process, and if
// everywhere is set, soon, in the others.
func (r *Registry) Hold(ctx context.Context, table uint32, everywhere bool) (release func(), err error) {
	weigh := func(by int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.mu.here[table] += by; r.mu.here[table] == 0 {
			delete(r.mu.here, table)
		}
	}
	weigh(1)
	tell := func() {}
	release = func() {
		tell()
		weigh(-1)
		r.look()
	}
	if everywhere {
		h := catalog.NewHold(table, rand.Uint64())
		err = r.writeHold(ctx, func(t *txn.Txn) error {
			return r.o.Catalog.PutHold(ctx, t, h, r.o.HoldTime)
		})
		if err == nil {
			tell = func() { r.dropHold(ctx, h) }
		}
	}
	if err == nil {
		err = r.follow(ctx)
	}
	if err != nil {
		release()
		return func() {}, err
	}
	return release, nil
}

// holdPatience bounds how long a schema change that is through waits to take its hold back. It ends by
// itself.
const holdPatience = time.Second

func (r *Registry) dropHold(ctx context.Context, h catalog.Hold) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdPatience)
	defer cancel()
	err := r.writeHold(ctx, func(t *txn.Txn) error {
		r.o.Catalog.DropHold(t, h)
		return nil
	})
	if err != nil {
		r.o.Logger.Warn("observers of a changed table begin again later than they could", "err", err)
	}
}

func (r *Registry) writeHold(ctx context.Context, f func(*txn.Txn) error) error {
	t := r.o.Client.Begin(txn.TxnOptions{})
	defer t.Rollback()
	if err := f(t); err != nil {
		return err
	}
	_, err := t.Commit(ctx)
	return err
}

// look has the catalog looked at again soon.
func (r *Registry) look() {
	select {
	case r.stale <- struct{}{}:
	default:
	}
}

// giveWay is asked when a run has done its work: it remembers the tables that the observer writes to, and
// fails if a schema change waits for one of them.
func (r *Registry) giveWay(id uint32, tx *engine.Tx) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, held := r.mu.writes[id], false
	for table := range tx.Writes() {
		if !slices.Contains(known, table) {
			known = append(known, table)
			r.mu.writes[id] = known
		}
		held = held || r.mu.has(table)
	}
	if !held {
		return nil
	}
	r.look()
	return fmt.Errorf("%w: a schema change of a table that it writes to goes first", txn.ErrConflict)
}
