package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/multitable"
)

// REPLACE and INSERT … ON DUPLICATE KEY UPDATE set off the triggers of what they turn out to be for each row: BEFORE INSERT first, in any
// case; then AFTER INSERT, or the triggers of UPDATE, or those of DELETE for each row that was in the way and AFTER INSERT. The library
// knows those of INSERT only, and runs those AFTER it for rows that were not inserted. What a row turns out to be the editors
// know: the table that is written to has editors which fire. BEFORE INSERT is in front of the rows, as in any INSERT.

// upsert returns the statement with a table that fires, nil if there is nothing to change.
func (b *execBuilder) upsert(ctx *sql.Context, n *plan.InsertInto) (*plan.InsertInto, error) {
	if !isUpsert(n) {
		return nil, nil
	}
	if _, done := n.Destination.(*firingTable); done {
		return nil, nil
	}
	table, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, nil // the library words it
	}
	t := ownTable(table) // which applyTriggers has left to us
	if t == nil {
		return nil, nil
	}
	// The destination is the library's, or, of a table with foreign keys, what checks them and cascades
	// around it: rows go through that, and what it changes in other tables fires nothing, as in MySQL.
	f := &firingTable{Node: n.Destination, table: table, own: t, checks: n.Checks(), counts: n.IsReplace}
	if !t.temporary {
		if err := f.compile(ctx, b.eng, t, n); err != nil {
			return nil, err
		}
	}
	h, keyed := n.Destination.(*plan.ForeignKeyHandler)
	if f.late = keyed && !f.counts && len(h.Editor.References) > 0; !f.late && !f.counts && f.inserts == nil &&
		f.updates == nil {
		return nil, nil
	}
	fires := *n
	fires.Destination, fires.HasAfterTrigger = f, false
	return &fires, nil
}

func isUpsert(n *plan.InsertInto) bool { return n.IsReplace || n.OnDupExprs.HasUpdates() }

// firingTable is the table of an upsert: its editors fire triggers.
type firingTable struct {
	sql.Node // the destination that the library knows
	table    sql.InsertableTable
	own      *Table
	checks   sql.CheckConstraints
	computed []computedColumn // by triggers BEFORE UPDATE

	inserts, updates, deletes *firing // nil if there are none

	late    bool // see lateParents
	counts  bool // REPLACE: rows that were in the way of one row
	deleted int
	more    int // deleted rows beyond the first of each row
}

var (
	_ sql.Node             = (*firingTable)(nil)
	_ sql.InsertableTable  = (*firingTable)(nil)
	_ sql.ReplaceableTable = (*firingTable)(nil)
	_ sql.UpdatableTable   = (*firingTable)(nil)
	_ sql.TableWrapper     = (*firingTable)(nil)
)

// compile compiles the triggers that the statement may set off.
func (f *firingTable) compile(ctx *sql.Context, e *Engine, t *Table, n *plan.InsertInto) error {
	v, err := e.viewOf(ctx)
	if err != nil {
		return err
	}
	d, ok := v.snap.Database(t.db)
	if !ok {
		return nil
	}
	of := func(event, time string) (*firing, error) {
		fires, ok := e.triggersOf(d, t.desc.Name, event)
		if !ok {
			return nil, badTrigger(d, t)
		}
		fires = slices.DeleteFunc(fires, func(x *catalog.Trigger) bool { return time != "" && e.triggerHead(x).Time != time })
		if len(fires) == 0 {
			return nil, nil
		}
		return e.firing(ctx, d.Name, fires)
	}
	if f.inserts, err = of("insert", "after"); err != nil {
		return err
	}
	if n.IsReplace {
		f.deletes, err = of("delete", "")
		return err
	}
	if f.updates, err = of("update", ""); err != nil || f.updates == nil || len(f.updates.before) == 0 {
		return err
	}
	f.computed, err = t.generated(ctx) // the library computes them before a trigger has had its say
	return err
}

// Name implements sql.Table.
func (f *firingTable) Name() string { return f.table.Name() }

// Schema implements sql.Table and sql.Node.
func (f *firingTable) Schema(ctx *sql.Context) sql.Schema { return f.Node.Schema(ctx) }

// Collation implements sql.Table.
func (f *firingTable) Collation() sql.CollationID { return f.table.Collation() }

// Partitions implements sql.Table.
func (f *firingTable) Partitions(ctx *sql.Context) (sql.PartitionIter, error) {
	return f.table.Partitions(ctx)
}

// PartitionRows implements sql.Table.
func (f *firingTable) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	return f.table.PartitionRows(ctx, p)
}

// Underlying implements sql.TableWrapper.
func (f *firingTable) Underlying() sql.Table { return f.table }

// WithChildren implements sql.Node.
func (f *firingTable) WithChildren(ctx *sql.Context, ch ...sql.Node) (sql.Node, error) {
	inner, err := f.Node.WithChildren(ctx, ch...)
	with := *f
	with.Node = inner
	return &with, err
}

// Inserter implements sql.InsertableTable.
func (f *firingTable) Inserter(ctx *sql.Context) sql.RowInserter {
	in := f.table.Inserter(ctx)
	e := &firingEditor{EditOpenerCloser: in, closer: in, f: f, insert: in.Insert}
	if h, ok := in.(*plan.ForeignKeyHandler); ok && f.late {
		e.insert = lateParents(h)
	}
	return e
}

// lateParents inserts as the library does, but looks for the parents of a row when no other has its keys:
// what ON DUPLICATE KEY UPDATE does not write need not have any.
func lateParents(h *plan.ForeignKeyHandler) func(*sql.Context, sql.Row) error {
	e, ok := h.Editor.Editor.(*fkEditor)
	if !ok {
		return h.Insert
	}
	e.parents = func(ctx *sql.Context, row sql.Row) error {
		for _, r := range h.Editor.References {
			if err := r.CheckReference(ctx, row); err != nil {
				return err
			}
		}
		return nil
	}
	return e.Insert
}

// Replacer implements sql.ReplaceableTable.
func (f *firingTable) Replacer(ctx *sql.Context) sql.RowReplacer {
	in := f.table.(sql.ReplaceableTable).Replacer(ctx)
	return &firingEditor{EditOpenerCloser: in, closer: in, f: f, insert: in.Insert, remove: in.Delete}
}

// Updater implements sql.UpdatableTable.
func (f *firingTable) Updater(ctx *sql.Context) sql.RowUpdater {
	up := f.table.(sql.UpdatableTable).Updater(ctx)
	return &firingEditor{EditOpenerCloser: up, closer: up, f: f, update: up.Update}
}

// firingEditor is an editor of the table's that fires triggers.
type firingEditor struct {
	sql.EditOpenerCloser
	closer sql.Closer
	f      *firingTable

	insert, remove func(*sql.Context, sql.Row) error
	update         func(ctx *sql.Context, old, row sql.Row) error
}

var _ sql.TableEditor = (*firingEditor)(nil)

// Close implements sql.Closer.
func (e *firingEditor) Close(ctx *sql.Context) error { return e.closer.Close(ctx) }

// Insert implements sql.RowInserter.
func (e *firingEditor) Insert(ctx *sql.Context, row sql.Row) error {
	if err := e.insert(ctx, row); err != nil {
		return err
	}
	e.f.more += max(0, e.f.deleted-1)
	e.f.deleted = 0
	return e.f.inserts.runAfter(ctx, e.f.own, nil, row)
}

// Delete implements sql.RowDeleter.
func (e *firingEditor) Delete(ctx *sql.Context, row sql.Row) error {
	if _, err := e.f.deletes.runBefore(ctx, e.f.own, row, nil); err != nil {
		return err
	}
	if err := e.remove(ctx, row); err != nil {
		return err
	}
	e.f.deleted++
	return e.f.deletes.runAfter(ctx, e.f.own, row, nil)
}

// Update implements sql.RowUpdater. What triggers make of the new row is written into it: the library counts by it.
func (e *firingEditor) Update(ctx *sql.Context, old, row sql.Row) error {
	if e.f.updates != nil && len(e.f.updates.before) > 0 {
		now, err := e.f.updates.runBefore(ctx, e.f.own, old, row)
		if err != nil {
			return err
		}
		copy(row, now)
		if err := e.f.own.compute(ctx, e.f.computed, row); err != nil {
			return err
		}
		if err := multitable.Violated(ctx, e.f.checks, row); err != nil {
			return err
		}
	}
	if err := e.update(ctx, old, row); err != nil {
		return err
	}
	return e.f.updates.runAfter(ctx, e.f.own, old, row)
}

// replaced is the iterator of a REPLACE: it adds rows that were in the way to those that the library has counted, which are one for each
// new row at most.
type replaced struct {
	sql.RowIter
	f *firingTable
}

var _ sql.MutableRowIter = (*replaced)(nil)

// Next implements sql.RowIter.
func (r *replaced) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := r.RowIter.Next(ctx)
	if err != nil || len(row) != 1 {
		return row, err
	}
	ok, is := row[0].(types.OkResult)
	if !is {
		return row, nil
	}
	ok.RowsAffected += uint64(r.f.more)
	ctx.GetLastQueryInfo().RowCount.Store(int64(ok.RowsAffected))
	return sql.NewRow(ok), nil
}

// GetChildIter implements sql.MutableRowIter.
func (r *replaced) GetChildIter() sql.RowIter { return r.RowIter }

// WithChildIter implements sql.MutableRowIter.
func (r *replaced) WithChildIter(child sql.RowIter) sql.RowIter { return &replaced{child, r.f} }
