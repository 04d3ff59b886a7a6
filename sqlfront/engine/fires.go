package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// triggerHead is what of a trigger's text says when it fires. A trigger is stored as text.
type triggerHead struct {
	time, event string // as the grammar has them, in small letters
	db, table   string // db is empty if the text does not name it
	bad         bool   // the grammar does not take the text: the rest is read off its words
	order       *ast.TriggerOrder
}

// triggerHeads remembers heads by descriptor, which versions of the catalog share.
type triggerHeads struct {
	mu    sync.Mutex
	heads map[*catalog.Trigger]*triggerHead
}

// maxTriggerHeads bounds what is remembered, for databases whose triggers change all day.
const maxTriggerHeads = 4096

func (e *Engine) triggerHead(t *catalog.Trigger) *triggerHead {
	h := &e.triggers
	h.mu.Lock()
	defer h.mu.Unlock()
	if head, ok := h.heads[t]; ok {
		return head
	}
	if h.heads == nil || len(h.heads) >= maxTriggerHeads {
		h.heads = map[*catalog.Trigger]*triggerHead{}
	}
	head := e.parseTrigger(t)
	h.heads[t] = head
	return head
}

func (e *Engine) parseTrigger(t *catalog.Trigger) *triggerHead {
	d, _, err := e.triggerTree(t.CreateStatement, t.SQLMode)
	if err != nil {
		h, _ := parse.ReadTriggerHead(t.CreateStatement, ansiQuotes(t.SQLMode))
		return &triggerHead{time: h.Time, event: h.Event, db: h.Database, table: h.Table, bad: true}
	}
	return &triggerHead{
		time: strings.ToLower(d.TriggerSpec.Time), event: strings.ToLower(d.TriggerSpec.Event),
		db: d.Table.DbQualifier.String(), table: d.Table.Name.String(), order: d.TriggerSpec.Order,
	}
}

// triggersOf lists the triggers of a table for an event ("insert", "update", "delete") in the order in which they
// run: that of their creation but for FOLLOWS and PRECEDES. ok is false if the text of one of them cannot be parsed.
func (e *Engine) triggersOf(d *catalog.Database, table, event string) (fires []*catalog.Trigger, ok bool) {
	for _, t := range d.Triggers() {
		h := e.triggerHead(t)
		if h.bad && h.table == "" {
			return nil, false // it may be this table's
		}
		if h.event != event || !strings.EqualFold(h.table, table) || h.db != "" && !strings.EqualFold(h.db, d.Name) {
			continue
		}
		if h.bad {
			return nil, false
		}
		at := len(fires)
		if o := h.order; o != nil {
			if i := slices.IndexFunc(fires, func(x *catalog.Trigger) bool { return strings.EqualFold(x.Name, o.OtherTriggerName) }); i >= 0 {
				at = i
				if o.PrecedesOrFollows == ast.FollowsStr {
					at++
				}
			}
		}
		fires = slices.Insert(fires, at, t)
	}
	return fires, true
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
		if e.triggerHead(t).time == ast.BeforeStr {
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
	row, err := r.firing.runBefore(r.ctx, old, row)
	if err != nil || row == nil {
		return nil, err
	}
	for i, c := range r.plan.table.pk.Schema {
		if row[i] == nil {
			if !c.Nullable {
				return nil, errFallback
			}
			continue
		}
		v, in, err := eval.ConvertStored(r.ctx, c.Type, row[i])
		if err != nil || in != sql.InRange || v == nil {
			return nil, errFallback
		}
		row[i] = v
	}
	return row, nil
}

// after runs the triggers AFTER the change of a row.
func (r *fastRun) after(old, row sql.Row) error { return r.firing.runAfter(r.ctx, old, row) }

// runBefore returns a row of its own.
func (f *firing) runBefore(ctx *sql.Context, old, row sql.Row) (sql.Row, error) {
	if f == nil {
		return row, nil
	}
	var err error
	for _, b := range f.before {
		if row, err = b.Run(ctx, old, row); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (f *firing) runAfter(ctx *sql.Context, old, row sql.Row) error {
	if f == nil {
		return nil
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
// which does what that trigger does: it fails. False if not even its table is known.
func (e *Engine) shownTrigger(t *catalog.Trigger) (text string, ok bool) {
	h := e.triggerHead(t)
	if h.bad {
		head := parse.TriggerHead{Time: h.time, Event: h.event, Database: h.db, Table: h.table}
		return parse.FailingTrigger(head, t.Name, definerName(t.Definer)), h.table != ""
	}
	if t.Definer == "" {
		return t.CreateStatement, true
	}
	return withDefiner(t.CreateStatement, t.SQLMode, definerName(t.Definer)), true
}

// badTrigger is the error of a change that would fire a trigger whose text cannot be parsed.
func badTrigger(d *catalog.Database, t *Table) error {
	return sqlerr.New(sqlerr.SyntaxError, "a trigger of table %s has a text that cannot be parsed; "+
		"DROP TRIGGER it: SHOW TRIGGERS FROM %s has its name", t.desc.Name, quoteIdentifier(d.Name))
}
