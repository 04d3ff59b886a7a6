package engine

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
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
	tx.ddl, tx.base, tx.view = true, planned, nil
	tx.after = append(tx.after, tx.eng.janitor.wake)
	return nil
}

// exclude makes writers of the table wait at their commit until the transaction ends, as ALGORITHM=COPY does in MySQL: a change
// that reads the whole table and writes it anew would lose against any single row that is written meanwhile, and never come
// to an end under load. It is a row lock on the fence, so it orders and proves nothing; the fence does. A statement that has
// changed something already cannot take a new snapshot any more, and takes its chance.
func (tx *Tx) exclude(ctx *sql.Context, t *Table) error {
	if t.temporary || tx.touched(ctx) {
		return nil
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
	if _, err := t.eng.catalog.UpdateTable(ctx, tx.store(), d); err != nil {
		return nil, err
	}
	tx.view = nil
	return now.current(ctx)
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
