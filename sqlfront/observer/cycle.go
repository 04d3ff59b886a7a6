package observer

import (
	"cmp"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/txn"
)

// warnCycle says so when observers notify each other in a circle. The paper leaves that to its users; so do
// we, but not without a word.
func (r *Registry) warnCycle(ctx *sql.Context, t *txn.Txn, declared *catalog.Observer) {
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return
	}
	if declared.Events == catalog.OnNotify {
		return // no write wakes it
	}
	if len(r.circle(ctx, snap, declared)) > 0 {
		ctx.Warn(sqlerr.Unknown, "Observer '%s' is part of a cycle: what it writes can notify it "+
			"again, without end", declared.Name)
	}
}

// circle is a shortest way from an observer, by what bodies write, back to itself: the observers on it, or
// none. It goes by observers that the user may see: that there is a way tells of those that are on it.
func (r *Registry) circle(ctx *sql.Context, snap *catalog.Snapshot,
	from *catalog.Observer) []*catalog.Observer {
	by := map[uint32][]*catalog.Observer{} // the observers of each table
	for _, o := range snap.AllObservers() {
		if o.Events != catalog.OnNotify && r.maySee(ctx, snap, o) {
			by[o.TableID] = append(by[o.TableID], o)
		}
	}
	type step struct {
		is   *catalog.Observer
		back *step
	}
	seen := map[uint32]bool{from.ID: true}
	for todo := []*step{{is: from}}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		for _, id := range r.writtenTables(ctx, snap, at.is) {
			if id == from.TableID {
				var way []*catalog.Observer
				for s := at; s != nil; s = s.back {
					way = append(way, s.is)
				}
				slices.Reverse(way)
				return way
			}
			for _, o := range by[id] {
				if !seen[o.ID] {
					seen[o.ID] = true
					todo = append(todo, &step{o, at})
				}
			}
		}
	}
	return nil
}

// writtenTables are the tables that the statements of a body name to write to them. A body that cannot be
// parsed, or is too large to be, writes to none: it does not run either.
func (r *Registry) writtenTables(ctx *sql.Context, snap *catalog.Snapshot,
	o *catalog.Observer) (ids []uint32) {
	if o.View != 0 {
		return []uint32{o.View}
	}
	db, ok := snap.DatabaseByID(o.DatabaseID)
	if !ok || r.eng.ChargeBody(ctx, o, len(o.Body)) != nil {
		return nil
	}
	body, err := r.eng.BodyTree(triggerText(o, db.Name, tableName(snap, o.TableID)),
		o.Mode(sql.LoadSqlMode(ctx).String()))
	if err != nil {
		return nil
	}
	for _, name := range syntax.Written(body) {
		in, ok := snap.Database(cmp.Or(name.DbQualifier.String(), db.Name))
		if !ok {
			continue
		}
		if t, ok := in.Table(name.Name.String()); ok {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
