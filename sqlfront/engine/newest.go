package engine

import (
	"maps"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// A transaction sees the catalog of its snapshot, but a trigger guards or audits what is written from now on:
// statements fire the triggers that the tables have when they begin, as far as this process knows, which
// looks for changes of other SQL nodes all the time (Engine.Look). What it does not know yet is found when
// the transaction commits: CREATE and DROP TRIGGER give the table a new version, and a transaction that has
// written it by the old one follows (ddl.go) only if all triggers of now were there for all that it has
// written. Else it fails with 1213, as behind ALTER TABLE.

// triggered is the catalog of the transaction's snapshot with the newest triggers.
func (tx *Tx) triggered(snap *catalog.Snapshot) *catalog.Snapshot {
	now := tx.eng.newest.See(snap)
	tx.heard = now.Version
	if now.Version <= snap.Version || tx.readOnly || tx.session == nil {
		return snap
	}
	return tx.eng.newest.WithTriggers(snap, now)
}

// hear is called when a statement begins: if triggers may have come or gone it asks for them anew.
func (tx *Tx) hear() {
	if tx.view == nil || tx.over() || tx.ddl || tx.readOnly || tx.session == nil {
		return
	}
	if now := tx.eng.newest.Load(); now != nil && now.Version > max(tx.heard, tx.view.snap.Version) {
		tx.view = nil
		clear(tx.fenced) // what is written from now on knows other triggers: see wrote
	}
}

// writes takes note that the transaction writes a table whose triggers the snapshot tells. It keeps the first
// snapshot alone: of those with newer triggers, of which whoever may create one makes as many as she likes,
// what the two have in common is kept.
func (tx *Tx) writes(t *catalog.Table, snap *catalog.Snapshot) {
	i := slices.IndexFunc(tx.wrote, func(w *wroteTable) bool {
		return w.table.ID == t.ID && w.table.Version == t.Version
	})
	if i < 0 {
		tx.wrote = append(tx.wrote, &wroteTable{table: t, snap: snap})
		return
	}
	w := tx.wrote[i]
	if w.snap == snap {
		return
	}
	then, _ := tx.firedFor(w)
	now, _ := tx.triggersIn(snap, t)
	w.fired = map[*catalog.Trigger]bool{}
	for tr := range then {
		for same := range now {
			if tr.SameAs(same) {
				w.fired[tr] = true
			}
		}
	}
}

// firedFor are the triggers that were there whenever the table was written; ok is false if they are not
// known.
func (tx *Tx) firedFor(w *wroteTable) (fired map[*catalog.Trigger]bool, ok bool) {
	if w.fired != nil {
		return w.fired, true
	}
	return tx.triggersIn(w.snap, w.table)
}

// triggersIn are a table's triggers; ok is false if there is one that nobody understands.
func (tx *Tx) triggersIn(snap *catalog.Snapshot, t *catalog.Table) (all map[*catalog.Trigger]bool, ok bool) {
	d, ok := snap.DatabaseByID(t.DatabaseID)
	if !ok {
		return nil, false
	}
	all = map[*catalog.Trigger]bool{}
	for _, event := range []string{ast.InsertStr, ast.UpdateStr, ast.DeleteStr} {
		of, ok := tx.eng.triggersOf(d, t.Name, event)
		if !ok {
			return nil, false
		}
		for _, tr := range of {
			all[tr] = true
		}
	}
	return all, true
}

// fired reports whether all triggers that the table has were there for all that the transaction has written
// to it. What others have done that are gone is done.
func (tx *Tx) fired(is *catalog.Table, snap *catalog.Snapshot) bool {
	now, ok := tx.triggersIn(snap, is)
	if !ok {
		return false
	}
	for _, w := range tx.wrote {
		if w.table.ID != is.ID || w.snap == snap && w.fired == nil {
			continue
		}
		then, ok := tx.firedFor(w)
		if !ok {
			return false
		}
		for tr := range now {
			if !then[tr] && !slices.ContainsFunc(slices.Collect(maps.Keys(then)), tr.SameAs) {
				return false
			}
		}
	}
	return true
}

// insistOn is insist for the table of that name, if there is one.
func (tx *Tx) insistOn(ctx *sql.Context, d *Database, name string) error {
	t, err := d.table(ctx, name)
	if err != nil || t == nil {
		return err
	}
	return tx.insist(ctx, t)
}

// newerThan is the error of a body: what is not there in the snapshot of a transaction may be newer, as the
// trigger is.
func newerThan(ctx *sql.Context, err error) error {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || tx.view == nil || tx.view.snap.Stamp().Triggers == 0 {
		return err
	}
	switch sqlerr.Code(err) {
	case sqlerr.NoSuchTable, sqlerr.BadField, sqlerr.NoSuchProcedure:
		return sqlerr.SchemaChanged()
	}
	return err
}
