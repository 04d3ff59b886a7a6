package observer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// EXPLAIN OBSERVER says what a run does: how each statement of its body finds its rows, what it writes, and
// who hears of that. It is for the definer and who has SUPER: the plans tell of tables that nobody else may
// know. What its writes lead to are things of others: of these it tells what information_schema does.

// explain answers in rows of (part, of what, detail):
//
//	observer   its name         events, table, definer, status
//	statement  its number       its text
//	plan       its number       a row of EXPLAIN: the columns that are not NULL
//	writes     a table          "named in the body", or that runs of this server have written to it
//	trigger    a table written  a trigger that a write there may fire
//	wakes      a table written  an observer that a write there may notify
//	cascade    a table written  a table that a foreign key changes along with it
//	cycle      its name         the observers that lead back to it
func (r *Registry) explain(ctx *sql.Context, s parse.ExplainObserver) (sql.RowIter, error) {
	dbName, err := r.databaseOf(ctx, s.Observer)
	if err != nil {
		return nil, err
	}
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	x := &explaining{r: r, ctx: ctx}
	err = r.within(ctx, t, func() (err error) {
		if x.snap, err = r.eng.CatalogSnapshot(ctx); err != nil {
			return err
		}
		if x.o, err = findObserver(x.snap, dbName, s.Observer.Name); err != nil {
			return err
		}
		if !r.maySee(ctx, x.snap, x.o) {
			return hidden(ctx, x.o)
		}
		if c := ctx.Client(); x.o.Definer != c.User+"@"+c.Address &&
			!rights.Has(ctx, r.eng.Accounts(), sql.PrivilegeType_Super) {
			return sqlerr.New(sqlerr.ViewNoExplain, "EXPLAIN/SHOW can not be issued; lacking privileges for "+
				"underlying table: observer '%s' has another definer", x.o.Name)
		}
		x.add("observer", x.o.Name, fmt.Sprintf("AFTER %s ON %s.%s, definer %s, %s", eventNames(x.o.Events),
			databaseName(x.snap, x.o.DatabaseID), tableName(x.snap, x.o.TableID), x.o.Definer, status(x.o)))
		if x.o.View == 0 {
			if err := x.plans(); err != nil {
				return err
			}
		}
		x.effects()
		return nil
	})
	if err != nil {
		return nil, observerError(err)
	}
	return sql.RowsToRowIter(x.rows...), nil
}

type explaining struct {
	r    *Registry
	ctx  *sql.Context
	snap *catalog.Snapshot
	o    *catalog.Observer
	rows []sql.Row
}

func (x *explaining) add(part, of, detail string) {
	x.rows = append(x.rows, sql.NewRow(part, of, detail))
}

func (x *explaining) plans() error {
	if err := x.r.eng.ChargeBody(x.ctx, x.o, len(x.o.Body)); err != nil {
		return err
	}
	b, err := x.r.compile(x.ctx, x.snap, x.o)
	if err != nil {
		return err
	}
	names := []string{"id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len",
		"ref",
		"rows", "filtered", "Extra"}
	n := 0
	return b.plan.Explain(x.ctx, func(statement string, rows []sql.Row) {
		n++
		of := fmt.Sprint(n)
		x.add("statement", of, statement)
		for _, row := range rows {
			var said []string
			for i, v := range row {
				if v != nil && i < len(names) {
					said = append(said, fmt.Sprintf("%s=%v", names[i], v))
				}
			}
			x.add("plan", of, strings.Join(said, " "))
		}
	})
}

// effects are what a run's writes may lead to.
func (x *explaining) effects() {
	named := x.r.writtenTables(x.ctx, x.snap, x.o)
	x.r.mu.Lock()
	seen := slices.Clone(x.r.mu.writes[x.o.ID])
	x.r.mu.Unlock()
	all := slices.Concat(named, seen)
	slices.Sort(all)
	for _, id := range slices.Compact(all) {
		d, ok := x.snap.TableByID(id)
		if !ok {
			continue
		}
		db, ok := x.snap.DatabaseByID(d.DatabaseID)
		if !ok || !x.r.eng.MaySee(x.ctx, db.Name, d.Name) {
			continue
		}
		how := "runs of this server have written to it"
		if slices.Contains(named, id) {
			how = "named in the body"
		}
		name := db.Name + "." + d.Name
		x.add("writes", name, how)
		for _, trigger := range db.Triggers() {
			h := parse.ReadTriggerHead(trigger.CreateStatement, strings.Contains(trigger.SQLMode,
				"ANSI_QUOTES"))
			if h.On(db.Name, d.Name) && x.r.eng.MayTrigger(x.ctx, trigger.Definer, db.Name, d.Name) {
				x.add("trigger", name, fmt.Sprintf("%s %s %s", trigger.Name, strings.ToUpper(h.Time),
					strings.ToUpper(h.Event)))
			}
		}
		for _, o := range x.snap.Observers(id) {
			if o.Events != catalog.OnNotify && x.r.maySee(x.ctx, x.snap, o) {
				x.add("wakes", name, o.Name+" AFTER "+eventNames(o.Events))
			}
		}
		for _, ref := range x.snap.References(db.Name, d.Name) {
			if (changes(ref.Key.OnDelete) || changes(ref.Key.OnUpdate)) &&
				x.r.eng.MaySee(x.ctx, ref.Database.Name, ref.Table.Name) {
				x.add("cascade", name, fmt.Sprintf("%s.%s by %s: ON DELETE %s, ON UPDATE %s",
					ref.Database.Name,
					ref.Table.Name, ref.Key.Name, orDefault(ref.Key.OnDelete), orDefault(ref.Key.OnUpdate)))
			}
		}
	}
	if way := x.r.circle(x.ctx, x.snap, x.o); len(way) > 0 {
		var names []string
		for _, o := range append(way, x.o) {
			names = append(names, o.Name)
		}
		x.add("cycle", x.o.Name, strings.Join(names, " → "))
	}
}

// changes reports whether an action of a foreign key writes to its table.
func changes(action string) bool {
	return strings.EqualFold(action, "CASCADE") || strings.EqualFold(action, "SET NULL")
}

func orDefault(action string) string {
	if action == "" {
		return "NO ACTION"
	}
	return strings.ToUpper(action)
}
