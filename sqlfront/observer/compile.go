package observer

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
)

// compile plans the body once for each event that the observer asked for. Names and types are checked here,
// so that CREATE OBSERVER refuses what could never run.
func (r *Registry) compile(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) (*body, error) {
	db, ok := snap.DatabaseByID(o.DatabaseID)
	if !ok {
		return nil, fmt.Errorf("its database is gone")
	}
	desc, ok := snap.TableByID(o.TableID)
	if !ok {
		return nil, fmt.Errorf("its table is gone")
	}
	table, err := r.eng.TableOf(ctx, desc)
	if err != nil {
		return nil, err
	}
	b := &body{observer: o, table: table, database: db.Name, plans: map[event]*engine.Body{}}
	mode, _ := ctx.GetSessionVariable(ctx, "sql_mode")
	if o.SQLMode != "" {
		if err := ctx.SetSessionVariable(ctx, "sql_mode", o.SQLMode); err != nil {
			return nil, err
		}
		defer func() { _ = ctx.SetSessionVariable(ctx, "sql_mode", mode) }()
	}
	ctx.SetCurrentDatabase(db.Name)
	for _, ev := range eventsOf(o.Events) {
		b.plans[ev], err = r.eng.CompileBody(ctx, db.Name, triggerText(o, ev, db.Name, desc.Name),
			sql.LoadSqlMode(ctx).String(),
			engine.BodyOf{Observer: true, Event: string(ev), Definer: o.Definer, Spoken: o.Spoken})
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// triggerText writes the body in a trigger's clothes, the form that the planner binds NEW and OLD in.
func triggerText(o *catalog.Observer, ev event, database, table string) string {
	if ev == notified {
		ev = inserted // has NEW and no OLD
	}
	return "CREATE TRIGGER " + quote(o.Name) + " AFTER " + string(ev) + " ON " + quote(database) + "." +
		quote(table) + " FOR EACH ROW " + o.Body
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
