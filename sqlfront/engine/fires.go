package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

func (e *Engine) triggerHead(t *catalog.Trigger) *parse.TriggerHead {
	return e.triggers.Of(t, e.parseTrigger)
}

func (e *Engine) parseTrigger(t *catalog.Trigger) *parse.TriggerHead {
	d, _, err := e.triggerTree(t.CreateStatement, t.SQLMode)
	if err != nil {
		return parse.ReadTriggerHead(t.CreateStatement, ansiQuotes(t.SQLMode))
	}
	return parse.HeadOf(d)
}

// triggersOf lists the triggers of a table for an event ("insert", "update", "delete") in the order in which they
// run: that of their creation but for FOLLOWS and PRECEDES. ok is false if the text of one of them cannot be parsed.
func (e *Engine) triggersOf(d *catalog.Database, table, event string) (fires []*catalog.Trigger, ok bool) {
	for _, t := range d.Triggers() {
		h := e.triggerHead(t)
		if h.Bad && h.Table == "" {
			return nil, false // it may be this table's
		}
		if h.Event != event || !h.On(d.Name, table) {
			continue
		}
		if h.Bad {
			return nil, false
		}
		fires = parse.InsertTrigger(fires, t, e.triggerHead)
	}
	return fires, true
}

// keepOrder gives the triggers that name one that goes clauses that keep them where they are.
func (e *Engine) keepOrder(ctx *sql.Context, tx *Tx, d *catalog.Database, gone string) error {
	var list []*catalog.Trigger
	for _, t := range d.Triggers() {
		list = parse.InsertTrigger(list, t, e.triggerHead)
		h := e.triggerHead(t)
		if h.Order == nil || !strings.EqualFold(h.Order.OtherTriggerName, gone) {
			continue
		}
		kept := *t
		kept.CreateStatement = parse.WithTriggerOrder(t.CreateStatement, ansiQuotes(t.SQLMode),
			parse.OrderWithout(list, h, gone, e.triggerHead))
		if err := e.catalog.UpdateTrigger(ctx, tx.store(), d.Name, kept); err != nil {
			return err
		}
	}
	return nil
}

// bodyKey is what a compiled body of a trigger is of that nobody runs at the moment: it has tables of a time
// zone in it.
type bodyKey struct {
	trigger *catalog.Trigger
	zone    *rowenc.Zone
	of      uint64 // the version of the triggers, if it is not that of the catalog
}

// maxIdleBodies bounds how many are kept of a trigger: as many as there are sessions that fire it at the same
// time.
const maxIdleBodies = 32

// BodyBytes is what a body of n bytes of text takes when it is compiled: trees of one statement for each nine
// bytes (SET @a=1;) were measured.
func BodyBytes(n int) int64 { return int64(n) * 100 }

// SpareBodies is how much memory compiled bodies may take that nobody runs.
func (e *Engine) SpareBodies() int64 { return min(max(e.memory.Total()/8, 16<<20), 128<<20) }

// ChargeBody charges the statement for a large body, of n bytes of text, that it compiles or runs.
func (e *Engine) ChargeBody(ctx *sql.Context, by any, n int) error {
	const large = 16 << 10
	s := sessionOf(ctx)
	if s == nil || n < large {
		return nil
	}
	return s.ChargeValue(ctx, by, BodyBytes(n))
}

// firing are the compiled triggers of a table for an event, in the order in which they run.
type firing struct {
	version       catalog.Stamp
	zone          *rowenc.Zone
	before, after []firedBody
}

type firedBody struct {
	*Body
	trigger *catalog.Trigger
}

// firing takes the bodies of triggers of db, or compiles them.
func (e *Engine) firing(ctx *sql.Context, db string, fires []*catalog.Trigger) (*firing, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	f := &firing{version: v.snap.Stamp(), zone: v.zone}
	known := true
	s := sessionOf(ctx)
	keeps := s != nil && !s.settings(ctx).off
	for _, t := range fires {
		var b *Body
		if keeps {
			b, _ = e.bodies.Take(bodyKey{t, f.zone, f.version.Triggers}, f.version.Version)
		}
		if err := e.ChargeBody(ctx, t, len(t.CreateStatement)); err != nil {
			return nil, err
		}
		if b == nil {
			known = false
			of := BodyOf{Definer: t.Definer, Spoken: t.Spoken}
			if b, err = e.CompileBody(ctx, db, t.CreateStatement, t.SQLMode, of); err != nil {
				return nil, newerThan(ctx, err)
			}
		}
		if e.triggerHead(t).Time == ast.BeforeStr {
			f.before = append(f.before, firedBody{b, t})
		} else {
			f.after = append(f.after, firedBody{b, t})
		}
	}
	if known {
		e.plans.bodyHits.Add(1)
	} else {
		e.plans.bodyMisses.Add(1)
	}
	return f, nil
}

// leave keeps the bodies of a statement that has succeeded.
func (f *firing) leave(e *Engine) {
	if f == nil {
		return
	}
	for _, list := range [][]firedBody{f.before, f.after} {
		for _, b := range list {
			b.host.session = nil
			n := BodyBytes(len(b.trigger.CreateStatement))
			e.bodies.Put(bodyKey{b.trigger, f.zone, f.version.Triggers}, f.version.Version, b.Body, n)
		}
	}
}

// takeBodies takes the bodies that the plan sets off. What cannot be compiled the general way words.
func (r *fastRun) takeBodies() (err error) {
	if r.plan.fires == nil {
		return nil
	}
	if r.firing, err = r.eng.firing(r.ctx, r.plan.db, r.plan.fires); err != nil {
		return errFallback
	}
	return nil
}

// before runs the triggers BEFORE the change of a row, and returns the row that is to be written. What they have made of it is
// converted and looked at as the general way does it; if there is anything to say about that, the general way says it: all that has been
// done so far is undone.
func (r *fastRun) before(old, row sql.Row) (sql.Row, error) {
	if r.firing == nil || len(r.firing.before) == 0 {
		return row, nil
	}
	was := row
	row, err := r.firing.runBefore(r.ctx, r.plan.table, old, row)
	if err != nil || row == nil {
		return nil, err
	}
	if old == nil {
		if err := r.plan.table.fired(r.ctx, was, row); err != nil {
			return nil, err
		}
	}
	for i, c := range r.plan.table.pk.Schema {
		if row[i] == nil {
			if !c.Nullable {
				return nil, errFallback
			}
			continue
		}
		v, in, err := expr.Held(r.ctx, c.Type, row[i])
		if err != nil || in != sql.InRange || v == nil {
			return nil, errFallback
		}
		row[i] = v
	}
	return row, nil
}

// after runs the triggers AFTER the change of a row.
func (r *fastRun) after(old, row sql.Row) error {
	return r.firing.runAfter(r.ctx, r.plan.table, old, row)
}

// runBefore returns a row of its own. Each trigger sees what the columns will hold of what the statement, and the triggers before it, have
// given them: a guard that looks for 'root' meets it in 'root ', of which a CHAR keeps no space.
func (f *firing) runBefore(ctx *sql.Context, t *Table, old, row sql.Row) (sql.Row, error) {
	if f == nil {
		return row, nil
	}
	var err error
	for _, b := range f.before {
		if row, err = t.held(ctx, row); err != nil {
			return nil, err
		}
		if row, err = b.Run(ctx, old, row); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (f *firing) runAfter(ctx *sql.Context, t *Table, old, row sql.Row) error {
	if f == nil {
		return nil
	}
	row, err := t.held(ctx, row)
	if err != nil {
		return err
	}
	for _, b := range f.after {
		if _, err := b.Run(ctx, old, row); err != nil {
			return err
		}
	}
	return nil
}

// shownTrigger is a trigger's text with its definer. The library parses it for each list of triggers, and the
// list fails with the first text that it does not take; so for one that cannot be parsed another stands in,
// which does what that trigger does: it fails. False if not even its table is known. As in MySQL there is no
// clause FOLLOWS or PRECEDES: lists of triggers are in their order, a dump is restored in it, and the library
// would not drop the trigger that one names.
func (e *Engine) shownTrigger(t *catalog.Trigger) (text string, ok bool) {
	h := e.triggerHead(t)
	if h.Bad {
		return parse.FailingTrigger(h, t.Name, definerName(t.Definer)), h.Table != ""
	}
	text = t.CreateStatement
	if h.Order != nil {
		text = parse.WithTriggerOrder(text, ansiQuotes(t.SQLMode), nil)
	}
	if t.Definer != "" {
		text = withDefiner(text, t.SQLMode, definerName(t.Definer))
	}
	return text, true
}

// badTrigger is the error of a change that would fire a trigger whose text cannot be parsed.
func badTrigger(d *catalog.Database, t *Table) error {
	return sqlerr.New(sqlerr.SyntaxError, "a trigger of table %s has a text that cannot be parsed; "+
		"DROP TRIGGER it: SHOW TRIGGERS FROM %s has its name", t.desc.Name, quoteIdentifier(d.Name))
}
