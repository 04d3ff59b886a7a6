package observer

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
)

// compile plans the body. Names and types are checked here, so that CREATE OBSERVER refuses what could never
// run.
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
	b := &body{observer: o, table: table, database: db.Name}
	if o.View != 0 {
		return b, r.compileIncremental(ctx, snap, b)
	}
	value, _ := ctx.GetSessionVariable(ctx, "sql_mode")
	session, _ := value.(string)
	if err := ctx.SetSessionVariable(ctx, "sql_mode", o.Mode(session)); err != nil {
		return nil, err
	}
	defer func() { _ = ctx.SetSessionVariable(ctx, "sql_mode", session) }()
	ctx.SetCurrentDatabase(db.Name)
	b.plan, err = r.eng.CompileBody(ctx, db.Name, triggerText(o, db.Name, desc.Name),
		sql.LoadSqlMode(ctx).String(),
		engine.BodyOf{Observer: true, Says: says, Definer: o.Definer, Spoken: o.Spoken})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// says are the words for what has happened to the row, in the order of saysOf.
var says = []string{"INSERTING", "UPDATING", "DELETING"}

func saysOf(ev event) []bool { return []bool{ev == inserted, ev == updated, ev == deleted} }

// triggerText writes the body in a trigger's clothes, in the form that has NEW and OLD.
func triggerText(o *catalog.Observer, database, table string) string {
	return "CREATE TRIGGER " + quote(o.Name) + " AFTER UPDATE ON " + quote(database) + "." + quote(table) +
		" FOR EACH ROW " + o.Body
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
