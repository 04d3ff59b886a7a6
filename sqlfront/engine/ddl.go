package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Schema changes are catalog writes in the statement's transaction, which the engine commits at the end of the statement. A
// statement of several steps (CREATE TABLE with indexes, foreign keys and checks; ALTER TABLE with several clauses) is
// therefore atomic, though the engine takes the steps one by one, and a step that fails leaves nothing behind.

// ddl runs one step of a schema change.
func (e *Engine) ddl(ctx *sql.Context, f func(tx *Tx) error) error {
	return e.step(ctx, true, f)
}

// removal runs a step that drops something, which a full disk does not refuse.
func (e *Engine) removal(ctx *sql.Context, f func(tx *Tx) error) error {
	return e.step(ctx, false, f)
}

func (e *Engine) step(ctx *sql.Context, adds bool, f func(tx *Tx) error) error {
	if ctx.Err() != nil { // a statement may have a thousand steps
		return context.Cause(ctx)
	}
	tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	if err := tx.beginDDL(ctx); err != nil {
		return err
	}
	tx.grow(adds)
	err = f(tx)
	tx.view = nil
	if err != nil {
		return catalogError(tx.fail(ctx, err))
	}
	return nil
}

// beginDDL turns the statement's transaction into one that changes the schema. An open transaction's work is committed
// first, as MySQL does; what its snapshot was, the schema change does not care.
func (tx *Tx) beginDDL(ctx *sql.Context) error {
	tx.grow(true)
	if tx.ddl {
		return nil
	}
	if tx.readOnly {
		return sqlerr.ReadOnlyTxn()
	}
	if err := tx.mayChange(ctx); err != nil {
		return err
	}
	v, err := tx.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	planned := v.snap.Version
	if tx.session != nil && !tx.session.implicit() && tx.t != nil {
		if tx.dirty() {
			if err := tx.commitStore(ctx); err != nil {
				return tx.fail(ctx, err)
			}
			tx.t = nil
		}
		tx.restart()
		if v, err = tx.eng.viewOf(ctx); err != nil {
			return err
		}
		if v.snap.Version != planned {
			return sqlerr.SchemaChanged()
		}
	}
	tx.ddl, tx.base, tx.built, tx.view = true, planned, 0, nil
	tx.after = append(tx.after, tx.eng.janitor.wake)
	return nil
}

// exclude makes writers of the table wait at their commit until the transaction ends, as ALGORITHM=COPY does in MySQL: a change
// that reads the whole table and writes it anew would lose against any single row that is written meanwhile, and never come
// to an end under load. It is a row lock on the fence, so it orders and proves nothing; the fence does. A statement that has
// changed something already cannot take a new snapshot any more, and takes its chance.
func (tx *Tx) exclude(ctx *sql.Context, t *Table) error {
	if err := tx.holdRuns(ctx, t); err != nil || t.temporary || tx.touched(ctx) {
		return err
	}
	if _, err := tx.store().Lock(ctx, []kv.Column{catalog.FenceCell(t.desc)}, txn.LockOptions{}); err != nil && !errors.Is(err, txn.ErrConflict) {
		return tx.fail(ctx, err)
	}
	tx.store().Advance()
	tx.view = nil
	v, err := tx.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	if v.snap.Version != tx.base {
		return sqlerr.SchemaChanged()
	}
	return nil
}

// insist is exclude for a schema change that has lost against a writer before. Observers give way to any.
func (tx *Tx) insist(ctx *sql.Context, t *Table) error {
	if !tx.contended {
		return tx.holdRuns(ctx, t)
	}
	return tx.exclude(ctx, t)
}

// holdRuns keeps observers off the table until the transaction ends; those of other processes if it has lost before.
func (tx *Tx) holdRuns(ctx *sql.Context, t *Table) error {
	if t.temporary || tx.eng.opts.HoldRuns == nil {
		return nil
	}
	release, err := tx.eng.opts.HoldRuns(ctx, t.desc.ID, tx.contended)
	if err != nil {
		return tx.fail(ctx, err)
	}
	tx.held = append(tx.held, release)
	return nil
}

// awaitFence waits for a schema change that keeps writers out, on behalf of one that it has refused.
func (tx *Tx) awaitFence(ctx *sql.Context, err error) {
	var c *txn.ConflictError
	if !errors.As(err, &c) || !tx.eng.catalog.IsFence(c.Column) {
		return
	}
	wait := tx.eng.client.Begin(txn.TxnOptions{})
	// Whatever comes of it, the statement is about to be run again and finds out by itself.
	_, _ = wait.Lock(ctx, []kv.Column{c.Column}, txn.LockOptions{Share: true})
	wait.Rollback()
}

// current is the table as the transaction's own schema changes have made it. Outside of a schema change a table is what it was
// when the statement was planned.
func (t *Table) current(ctx *sql.Context) (*Table, error) {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || tx.over() || t.asOf != 0 {
		return t, nil
	}
	if t.temporary {
		if now := tx.session.temp.get(t.db, t.desc.Name, tx.session.timeZone()); now != nil {
			return now, nil
		}
		return t, nil
	}
	if !tx.ddl {
		return t, nil
	}
	v, err := t.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	desc, ok := v.snap.TableByID(t.desc.ID)
	if !ok {
		return nil, sql.ErrTableNotFound.New(t.desc.Name)
	}
	if desc == t.desc {
		return t, nil
	}
	db, ok := v.snap.DatabaseByID(desc.DatabaseID)
	if !ok {
		return nil, sql.ErrDatabaseNotFound.New(t.db)
	}
	return v.table(t.eng, db, desc)
}

// change applies f to a copy of the table's current descriptor and stores it.
func (t *Table) change(ctx *sql.Context, f func(d *catalog.Table) error) error {
	return t.changeBy(ctx, t.eng.ddl, f)
}

// shrink is change, as a removal.
func (t *Table) shrink(ctx *sql.Context, f func(d *catalog.Table) error) error {
	return t.changeBy(ctx, t.eng.removal, f)
}

func (t *Table) changeBy(ctx *sql.Context, step func(*sql.Context, func(*Tx) error) error, f func(d *catalog.Table) error) error {
	if t.temporary {
		return t.changeTemporary(ctx, f)
	}
	return step(ctx, func(tx *Tx) error {
		if err := tx.insist(ctx, t); err != nil {
			return err
		}
		_, err := t.changeIn(ctx, tx, f)
		return err
	})
}

// changeIn is change within a step that has begun; it returns the new version.
func (t *Table) changeIn(ctx *sql.Context, tx *Tx, f func(d *catalog.Table) error) (*Table, error) {
	tx.view = nil
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	d := now.desc.Clone()
	if err := f(d); err != nil {
		return nil, err
	}
	if err := parse.CheckColumns(d, now.desc); err != nil {
		return nil, catalogError(err)
	}
	if _, err := t.eng.catalog.UpdateTable(ctx, tx.store(), d); err != nil {
		return nil, err
	}
	tx.view = nil
	return now.current(ctx)
}

// builds reports whether an index can be built in transactions of its own: the statement has changed nothing,
// or has built others so, and nothing since. In the statement's transaction a large one would lose against
// any schema change elsewhere, and all of them would be built anew.
func (tx *Tx) builds(ctx *sql.Context) bool {
	if !tx.touched(ctx) {
		return true
	}
	v, err := tx.eng.viewOf(ctx)
	return err == nil && !tx.dirty() && v.snap.Version == tx.built
}

// touched reports whether the transaction has already changed the catalog: a schema change of several transactions cannot
// begin then.
func (tx *Tx) touched(ctx *sql.Context) bool {
	if tx.dirty() {
		return true
	}
	v, err := tx.eng.viewOf(ctx)
	return err != nil || v.snap.Version != tx.base
}

// A commit depends on the versions of the tables that it writes (fence), and CREATE, ALTER and DROP OBSERVER
// give a table a new one: a writer that does not know of an observer must not commit, or the change would
// escape it. MySQL's CREATE TRIGGER waits for the transactions that use the table. Nothing here knows of
// those of other nodes, so it is the other way round: the observers change at once, and a transaction that is
// open meanwhile commits behind it. It finds the new version when it commits, at the latest because it is
// refused, says anew whom its changes notify, and depends on that version instead. Before, it failed with
// 1213, so that whoever had TRIGGER on a table could end all transactions that wrote it.
//
// Any other change of the table still fails the transaction: what it has written has the old form.

// maxFollow is how often a transaction follows in one commit. Each of its tries meets another change.
const maxFollow = 16

// commitFollowing commits the transaction of a client.
func (tx *Tx) commitFollowing(ctx *sql.Context) error {
	if n := tx.eng.catalog.Newest(); n != nil && tx.view != nil && n.Version > tx.view.snap.Version {
		if _, err := tx.follow(ctx); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		kept := tx.t.Savepoint()
		_, err := tx.t.Commit(ctx)
		if err == nil || n == maxFollow || !tx.eng.catalog.IsFence(Refused(err)) {
			return err
		}
		tx.awaitFence(ctx, err)
		tx.t = nil
		tx.store().RollbackTo(kept)
		if ok, e := tx.follow(ctx); e != nil || !ok {
			return err
		}
	}
}

// Refused is the column for whose sake a commit was refused.
func Refused(err error) (c kv.Column) {
	var conflict *txn.ConflictError
	var constraint *txn.ConstraintError
	switch {
	case errors.As(err, &conflict):
		return conflict.Column
	case errors.As(err, &constraint):
		return constraint.Column
	}
	return c
}

// wroteTable is a version of a table that the transaction has written, as it was first.
type wroteTable struct {
	table *catalog.Table
	snap  *catalog.Snapshot
	// fired are the triggers that were there whenever it was written, nil if snap has told all of them so far.
	fired map[*catalog.Trigger]bool
}

// follow makes the transaction's changes those of a writer that knows the newest observers of its tables. It
// reports false if a table has changed otherwise.
func (tx *Tx) follow(ctx *sql.Context) (bool, error) {
	v, err := tx.eng.newestView(ctx)
	if err != nil {
		return false, err
	}
	_, fences := tx.t.Buffered(catalog.Fences())
	for _, c := range fences {
		id, version := catalog.FenceOf(c)
		is, ok := v.snap.TableByID(id)
		if ok && is.Version == version {
			continue
		}
		i := slices.IndexFunc(tx.wrote, func(w *wroteTable) bool {
			return w.table.ID == id && w.table.Version == version
		})
		if !ok || i < 0 || !tx.fired(is, v.snap) ||
			!catalog.SameButObservers(tx.wrote[i].table, tx.wrote[i].snap, is, v.snap) {
			return false, nil
		}
		if err := tx.renotify(ctx, *tx.wrote[i], is, v); err != nil {
			return false, err
		}
		tx.t.RequireInstead(c, catalog.FenceCell(is))
		tx.wrote = append(tx.wrote, &wroteTable{table: is, snap: v.snap})
	}
	return true, nil
}

// renotify has the changes of a table notify the observers that it has in v: those that are gone no more, and
// those that are new of what they watch.
func (tx *Tx) renotify(ctx *sql.Context, was wroteTable, is *catalog.Table, v *view) error {
	gone, added := map[uint32]bool{}, []*catalog.Observer{}
	for _, o := range was.snap.Observers(is.ID) {
		if now, ok := v.snap.ObserverByID(o.ID); !ok || !now.Enabled {
			gone[o.ID] = true
		}
	}
	for _, o := range v.snap.Observers(is.ID) {
		if before, ok := was.snap.ObserverByID(o.ID); o.Enabled && (!ok || !before.Enabled) {
			added = append(added, o)
		}
	}
	if len(gone)+len(added) == 0 {
		return nil
	}
	db, _ := v.snap.DatabaseByID(is.DatabaseID)
	table, err := v.table(tx.eng, db, is)
	if err != nil {
		return err
	}
	changes, _ := tx.t.Buffered(table.Span())
	changes = slices.DeleteFunc(changes, func(b txn.Buffered) bool { return !IsRow(b.Column) })
	const batch = 1024
	for part := range slices.Chunk(changes, batch) {
		watched, err := tx.watchers(ctx, table, part, added)
		if err != nil {
			return err
		}
		for i, b := range part {
			ids := slices.DeleteFunc(slices.Clone(b.Observers), func(id uint32) bool { return gone[id] })
			tx.t.Renotify(b.Column, append(ids, watched[i]...))
		}
	}
	return nil
}

// watchers lists which of the observers watch each of the changes. What was there before is what is there
// now: if somebody else has changed it since, the commit fails anyway.
func (tx *Tx) watchers(ctx *sql.Context, t *Table, changes []txn.Buffered,
	os []*catalog.Observer) ([][]uint32, error) {
	out := make([][]uint32, len(changes))
	if len(os) == 0 {
		return out, nil
	}
	cells := make([]kv.Column, len(changes))
	for i, b := range changes {
		cells[i] = b.Column
	}
	now := tx.eng.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer now.Rollback()
	olds, err := now.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	for i, b := range changes {
		if b.Deleted && !olds[i].OK {
			continue // nothing becomes of it
		}
		for _, o := range os {
			yes := b.Deleted && wants(o, ChangeDelete, nil)
			if !b.Deleted {
				if yes, err = t.Watches(ctx, o, olds[i].Data, b.Value); err != nil {
					return nil, err
				}
			}
			if yes {
				out[i] = append(out[i], o.ID)
			}
		}
	}
	return out, nil
}
