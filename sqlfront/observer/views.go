package observer

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Of an incremental view, who may read it learns how it is kept: whether changes wait, and of what. The
// tables that it is made of, and which of their rows wait, take the right to see its observers.

// viewColumns are those of the tables that list incremental views: what waits for all observers of each.
func viewColumns(style func(string) string) sql.Schema {
	s := sql.Schema{
		system.Name("table_schema"), system.Name("table_name"), system.Name("state"),
		system.Number("waiting"), system.Number("parked"), system.Moment("oldest_change"),
		system.Number("lag_ms"), system.Number("rows_walked"), system.Number("rows_to_walk"),
		system.Text("definer"), system.Text("view_definition"),
	}
	for _, c := range s {
		c.Name = style(c.Name)
	}
	return s
}

// mayRead reports whether the user may read the incremental view that an observer keeps.
func (r *Registry) mayRead(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) bool {
	db, view := databaseName(snap, o.DatabaseID), tableName(snap, o.View)
	return o.View != 0 && rights.OnTable(ctx, r.eng.Accounts(), db, view,
		sql.PrivilegeType_Select) && !past.OfOthers(ctx, r.eng.Accounts(), db, view)
}

func (r *Registry) views(ctx *sql.Context) (rows []sql.Row, err error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	backlogs, err := r.backlogs(ctx)
	if err != nil {
		return nil, err
	}
	walks, err := r.walks(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range snap.AllObservers() {
		if o.View == 0 || o.Use > 0 || !r.mayRead(ctx, snap, o) {
			continue
		}
		v, ok := snap.TableByID(o.View)
		if !ok || v.Incremental == nil {
			continue
		}
		var waiting, parked, lag uint64
		var oldest kv.Timestamp
		var since, walked, of any // NULL where there is nothing
		paused := false
		for _, u := range v.Incremental.Uses {
			k, ok := snap.ObserverByID(u.Observer)
			if !ok {
				continue
			}
			paused = paused || k.Paused
			b := backlogs[k.ID]
			waiting, parked = waiting+b.Waiting, parked+b.Parked
			if b.Oldest != 0 && (oldest == 0 || b.Oldest < oldest) {
				oldest = b.Oldest
			}
			if w, ok := walks[k.ID]; ok {
				walked, of = w.Walked, max(w.Of, w.Walked)
			}
		}
		if oldest != 0 {
			since, lag = oldest.Time().UTC(), lagOf(oldest)
		}
		state := "current"
		switch {
		case parked > 0:
			state = "stopped"
		case paused:
			state = "paused"
		case walked != nil:
			state = "backfilling"
		case waiting > 0:
			state = "behind"
		}
		rows = append(rows, sql.NewRow(databaseName(snap, o.DatabaseID), v.Name, state, waiting, parked,
			since, lag, walked, of, v.Incremental.Definer, v.Incremental.CreateStatement))
	}
	return rows, nil
}

// denied reports whether an error says that the user may not read a table or a column.
func denied(err error) bool {
	switch sqlerr.Code(sqlerr.From(err)) {
	case sqlerr.TableAccessDenied, sqlerr.ColumnAccessDenied:
		return true
	}
	return false
}
