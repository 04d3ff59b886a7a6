package observer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
)

// compile plans the body once for each event that the observer asked for. Names and types are checked here, so that CREATE
// OBSERVER refuses what could never run.
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
		if b.plans[ev], err = r.plan(ctx, ev, table.Schema(ctx), triggerText(o, ev, db.Name, desc.Name)); err != nil {
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
	return "CREATE TRIGGER " + quote(o.Name) + " AFTER " + string(ev) + " ON " + quote(database) + "." + quote(table) + " FOR EACH ROW " + o.Body
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// plan compiles a body for one event.
func (r *Registry) plan(ctx *sql.Context, ev event, columns sql.Schema, text string) (*engine.Body, error) {
	b, err := r.eng.CompileBody(ctx, text, sql.LoadSqlMode(ctx).String(), refuseAssignments)
	if err != nil {
		return nil, unknownColumn(err, ev, columns, text)
	}
	return b, nil
}

var fieldOf = map[string]*regexp.Regexp{
	"new": regexp.MustCompile("(?i)\\bnew\\s*\\.\\s*`?([\\w$]+)"),
	"old": regexp.MustCompile("(?i)\\bold\\s*\\.\\s*`?([\\w$]+)"),
}

// unknownColumn words what the SQL engine says of NEW.c and OLD.c that do not exist: for it, a table is missing.
func unknownColumn(err error, ev event, columns sql.Schema, text string) error {
	if !sql.ErrTableNotFound.Is(err) {
		return err
	}
	for _, row := range []string{"new", "old"} {
		if !strings.HasSuffix(err.Error(), ": "+row) {
			continue
		}
		if row == "new" && ev == deleted || row == "old" && (ev == inserted || ev == notified) {
			return sqlerr.New(sqlerr.NoSuchTriggerRow, "There is no %s row in on %s observer", strings.ToUpper(row), ev)
		}
		for _, m := range fieldOf[row].FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(columns, func(c *sql.Column) bool { return strings.EqualFold(c.Name, m[1]) }) {
				return sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", m[1], strings.ToUpper(row))
			}
		}
	}
	return err
}

// refuseAssignments refuses SET NEW.c = …: the change is committed, there is nothing left to change.
func refuseAssignments(ctx *sql.Context, n sql.Node) (err error) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		set, ok := n.(*plan.Set)
		if !ok {
			return true
		}
		for _, e := range set.Exprs {
			if f, ok := e.(*expression.SetField); ok {
				if c, ok := f.LeftChild.(*expression.GetField); ok {
					err = sqlerr.Unsupported(fmt.Sprintf("SET %s.%s in an observer (the change is committed already)", strings.ToUpper(c.Table()), c.Name()))
				}
			}
		}
		return err == nil
	})
	return err
}
