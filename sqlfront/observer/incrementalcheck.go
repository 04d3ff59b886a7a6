package observer

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/incview"
	"moka/sqlfront/parse"
	"moka/txn"
)

// differences is how many a CHECK INCREMENTAL VIEW tells.
const differences = 100

// checkIncremental compares a view with what it is of, all in one snapshot, and answers as CHECK TABLE does.
// It reads the tables as who asks: of who may not, the view is compared with the contributions alone.
func (r *Registry) checkIncremental(ctx *sql.Context, n parse.Name) (sql.RowIter, error) {
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	var rows []sql.Row
	err := r.within(ctx, t, func() error {
		snap, err := r.eng.CatalogSnapshot(ctx)
		if err != nil {
			return err
		}
		db, v, err := r.incremental(ctx, snap, n)
		if err != nil {
			return err
		}
		name := db.Name + "." + v.Name
		said, all, err := r.compareIncremental(ctx, t, snap, db, v)
		if err != nil {
			return err
		}
		for _, text := range said {
			rows = append(rows, sql.NewRow(name, "check", "error", text))
		}
		waits, err := r.waits(ctx, snap, v)
		if err != nil {
			return err
		}
		if waits && len(said) > 0 {
			rows = append(rows, sql.NewRow(name, "check", "note",
				"Changes wait for the view: WAIT FOR OBSERVERS "+quote(v.Name)+" and check again"))
		}
		if !all {
			rows = append(rows, sql.NewRow(name, "check", "note", "The view was compared with the "+
				"contributions of rows alone: to compare it with its query takes SELECT on its tables"))
		}
		last := "OK"
		if len(said) > 0 {
			last = "The view differs"
		}
		rows = append(rows, sql.NewRow(name, "check", "status", last))
		return nil
	})
	if err != nil {
		return nil, observerError(err)
	}
	return sql.RowsToRowIter(rows...), nil
}

// compareIncremental says what differs; all is set if the query was one of what was compared.
func (r *Registry) compareIncremental(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot,
	db *catalog.Database, v *catalog.Table) (said []string, all bool, err error) {
	is := v.Incremental
	ctx.SetCurrentDatabase(db.Name)
	for name, value := range map[string]string{"sql_mode": is.SQLMode, "time_zone": is.TimeZone} {
		had, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return nil, false, err
		}
		if err := ctx.SetSessionVariable(ctx, name, value); err != nil {
			return nil, false, err
		}
		defer func() { _ = ctx.SetSessionVariable(ctx, name, had) }()
	}
	shape, err := shapeOf(ctx, db, is.Query, is.SQLMode)
	if err != nil {
		return nil, false, err
	}
	view, err := incview.Compile(ctx, r.eng, snap, v, shape)
	if err != nil {
		return nil, false, err
	}
	c := &incview.Checker{View: view, Txn: t, Most: differences, Hold: func(n int64) error {
		if s, ok := ctx.Session.(*engine.Session); ok {
			return s.Holds(t, n)
		}
		return nil
	}}
	node, refused := r.eng.SQL().AnalyzeQuery(ctx, is.Query)
	if refused != nil && !denied(refused) {
		return nil, false, refused
	}
	if err := c.Sums(ctx); err != nil || refused != nil {
		return c.Said(), false, err
	}
	query, err := r.eng.SQL().Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, false, err
	}
	err = c.Query(ctx, query)
	return c.Said(), true, err
}

// waits reports whether there are changes that a view has still to see.
func (r *Registry) waits(ctx *sql.Context, snap *catalog.Snapshot, v *catalog.Table) (bool, error) {
	backlogs, err := r.backlogs(ctx)
	if err != nil {
		return false, err
	}
	walks, err := r.walks(ctx)
	if err != nil {
		return false, err
	}
	for _, o := range observersOf(snap, v) {
		b := backlogs[o.ID]
		if _, walked := walks[o.ID]; walked || b.Waiting+b.Parked > 0 {
			return true, nil
		}
	}
	return false, nil
}

// observersOf are those that keep an incremental view, and those that keep views that it is made of.
func observersOf(snap *catalog.Snapshot, v *catalog.Table) (all []*catalog.Observer) {
	for _, u := range v.Incremental.Uses {
		if o, ok := snap.ObserverByID(u.Observer); ok {
			all = append(all, o)
		}
		if below, ok := snap.TableByID(u.Table); ok && below.Incremental != nil {
			all = append(all, observersOf(snap, below)...)
		}
	}
	return all
}

// withView is an observer with all others that keep the same view.
func withView(snap *catalog.Snapshot, o *catalog.Observer) []*catalog.Observer {
	if v, ok := snap.TableByID(o.View); ok && v.Incremental != nil {
		return observersOf(snap, v)
	}
	return []*catalog.Observer{o}
}
