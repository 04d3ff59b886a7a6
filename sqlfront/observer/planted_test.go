package observer

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/engine"
	"moka/sqlfront/incview"
	"moka/triggers"
	"moka/txn"
)

// Mistakes are ways to keep an incremental view that look right and are wrong, by name.
var Mistakes = map[string]func(*Registry, *engine.Tx, *body, triggers.Event) incview.Planted{
	// A joined row that changes tells nobody.
	"deaf": func(*Registry, *engine.Tx, *body, triggers.Event) incview.Planted {
		return incview.Planted{Skips: func(*sql.Context) (bool, error) { return true, nil }}
	},
	// A joined row that is again what it was when it was acknowledged tells nobody: but a row of the anchor
	// may have run meanwhile.
	"judged": func(_ *Registry, tx *engine.Tx, _ *body, e triggers.Event) incview.Planted {
		return incview.Planted{Skips: func(ctx *sql.Context) (bool, error) {
			was, had, err := e.Previous(ctx)
			if err != nil {
				return false, err
			}
			is, has, err := tx.Txn().Get(ctx, e.Column)
			return had == has && string(was) == string(is), err
		}}
	},
	// A row that runs begins anew, as where REPLAY clears acknowledgements.
	"forget": func(*Registry, *engine.Tx, *body, triggers.Event) incview.Planted {
		return incview.Planted{Was: func(*sql.Context, bool) (sql.Row, bool, error) { return nil, true, nil }}
	},
	// Nothing is stored: what a row had contributed is computed from what it was when it was acknowledged,
	// and of one that never was, from before its oldest change, though no walk has counted it yet.
	"oldest": func(r *Registry, _ *engine.Tx, b *body, e triggers.Event) incview.Planted {
		return incview.Planted{Was: func(ctx *sql.Context, stored bool) (parts sql.Row, _ bool, err error) {
			if stored {
				return nil, false, nil
			}
			t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: e.PreviousTS})
			defer t.Rollback()
			v, ok, err := t.Get(ctx, e.Column)
			if err != nil || !ok {
				return nil, false, err
			}
			row, err := b.table.DecodeRow(v)
			if err != nil {
				return nil, false, err
			}
			err = r.within(ctx, t, func() error {
				ctx.SetCurrentDatabase(b.database)
				_, err := b.plan.Run(ctx, nil, row)
				if rows := b.plan.Rows(); len(rows) == 1 {
					parts = rows[0]
				}
				return err
			})
			return parts, true, err
		}}
	},
	// MIN and MAX are looked for in the anchor: it has values that no run has added yet.
	"base": func(r *Registry, tx *engine.Tx, b *body, _ triggers.Event) incview.Planted {
		return incview.Planted{Rows: func(ctx *sql.Context) (rows []sql.Row, err error) {
			ctx.SetCurrentDatabase(b.database)
			_, iter, _, err := r.eng.SQL().Query(ctx, b.view.Shape.Query(false))
			if err != nil {
				return nil, err
			}
			return sql.RowIterToRows(ctx, iter)
		}}
	},
	// A group that stays as it is is not written: two runs that each saw the other's old value do not meet.
	"lazy": func(*Registry, *engine.Tx, *body, triggers.Event) incview.Planted {
		return incview.Planted{LazyGroups: true}
	},
}

// Plant plants a mistake by its name; none for the empty one.
func (r *Registry) Plant(mistake string) {
	if plant := Mistakes[mistake]; plant != nil {
		r.plant = func(tx *engine.Tx, b *body, e triggers.Event) incview.Planted {
			return plant(r, tx, b, e)
		}
	}
}
