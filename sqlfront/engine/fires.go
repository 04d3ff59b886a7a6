package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/rights"
)

// triggerHead is what of a trigger's text says when it fires. A trigger is stored as text.
type triggerHead struct {
	time, event string // as the grammar has them, in small letters
	db, table   string // db is empty if the text does not name it
	session     bool   // the body looks at user variables or calls procedures: it is not compiled ahead
	bad         bool   // the text is not a trigger's
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
	stmt, _, _, err := e.sql.Parser.ParseWithOptions(context.Background(), t.CreateStatement, ';', false, sql.NewSqlModeFromString(t.SQLMode).ParserOptions())
	d, ok := stmt.(*ast.DDL)
	if err != nil || !ok || d.TriggerSpec == nil {
		return &triggerHead{bad: true}
	}
	h := &triggerHead{
		time: strings.ToLower(d.TriggerSpec.Time), event: strings.ToLower(d.TriggerSpec.Event),
		db: d.Table.DbQualifier.String(), table: d.Table.Name.String(),
	}
	body := strings.ToLower(t.CreateStatement)
	if i := strings.Index(body, "for each row"); i >= 0 {
		body = body[i:]
	}
	h.session = strings.Contains(body, "@") || callsProcedure.MatchString(body)
	return h
}

var callsProcedure = regexp.MustCompile(`\bcall\b`)

// triggersOf lists the triggers of a table for an event ("insert", "update", "delete") in the order of their creation. ok is false if the
// text of a trigger in the database cannot be read.
func (e *Engine) triggersOf(d *catalog.Database, table, event string) (fires []*catalog.Trigger, ok bool) {
	for _, t := range d.Triggers() {
		h := e.triggerHead(t)
		if h.bad {
			return nil, false
		}
		if h.event == event && strings.EqualFold(h.table, table) && (h.db == "" || strings.EqualFold(h.db, d.Name)) {
			fires = append(fires, t)
		}
	}
	return fires, true
}

// firing are the compiled triggers of a table for an event, in the order in which they run.
type firing struct {
	version       uint64 // of the catalog
	before, after []*Body
}

// firings are compiled triggers that nobody runs at the moment.
type firings struct {
	mu   sync.Mutex
	idle []*firing
}

// maxFirings bounds how many are kept for a plan: as many as there are sessions that run it at the same time.
const maxFirings = 32

func (f *firings) take(version uint64) *firing {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.idle) > 0 {
		n := len(f.idle) - 1
		x := f.idle[n]
		f.idle[n] = nil
		f.idle = f.idle[:n]
		if x.version == version {
			return x
		}
	}
	return nil
}

func (f *firings) put(x *firing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) < maxFirings {
		f.idle = append(f.idle, x)
	}
}

// compileTriggers compiles what fires on a table of db.
func (e *Engine) compileTriggers(ctx *sql.Context, db string, fires []*catalog.Trigger) (*firing, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	now := ctx.GetCurrentDatabase()
	ctx.SetCurrentDatabase(db) // whose tables the bodies mean
	defer ctx.SetCurrentDatabase(now)
	f := &firing{version: v.snap.Version}
	bodies := map[*plan.CreateTrigger]*Body{}
	var creates []*plan.CreateTrigger
	for _, t := range fires {
		var b *Body
		err := rights.As(ctx, e.accounts(), func() (err error) {
			b, err = e.CompileBody(ctx, t.CreateStatement, t.SQLMode, nil)
			return err
		})
		if err != nil {
			return nil, err
		}
		bodies[b.create] = b
		creates = append(creates, b.create)
	}
	before, after := orderTriggers(creates)
	for _, c := range before {
		f.before = append(f.before, bodies[c])
	}
	for _, c := range after {
		f.after = append(f.after, bodies[c])
	}
	return f, nil
}

// orderTriggers is MySQL's order: that of creation but for FOLLOWS and PRECEDES.
func orderTriggers(creates []*plan.CreateTrigger) (before, after []*plan.CreateTrigger) {
	var all []*plan.CreateTrigger
	for _, c := range creates {
		at := len(all)
		if o := c.TriggerOrder; o != nil {
			if i := slices.IndexFunc(all, func(x *plan.CreateTrigger) bool { return strings.EqualFold(x.TriggerName, o.OtherTriggerName) }); i >= 0 {
				at = i
				if o.PrecedesOrFollows == ast.FollowsStr {
					at++
				}
			}
		}
		all = slices.Insert(all, at, c)
	}
	for _, c := range all {
		if c.TriggerTime == ast.BeforeStr {
			before = append(before, c)
		} else {
			after = append(after, c)
		}
	}
	return before, after
}

// compileTriggers takes the compiled triggers of the plan's table, or compiles them. What cannot be compiled the general way words.
func (r *fastRun) compileTriggers() error {
	if r.plan.fires == nil {
		return nil
	}
	v, err := r.eng.viewOf(r.ctx)
	if err != nil {
		return err
	}
	if r.firing = r.plan.bodies.take(v.snap.Version); r.firing != nil {
		r.eng.plans.bodyHits.Add(1)
		return nil
	}
	r.eng.plans.bodyMisses.Add(1)
	if r.firing, err = r.eng.compileTriggers(r.ctx, r.plan.db, r.plan.fires); err != nil {
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
	row = slices.Clone(row)
	for i, c := range r.plan.table.pk.Schema {
		if row[i] == nil {
			if !c.Nullable {
				return nil, errFallback
			}
			continue
		}
		v, in, err := convertStored(r.ctx, c.Type, row[i])
		if err != nil || in != sql.InRange || v == nil {
			return nil, errFallback
		}
		row[i] = v
	}
	return row, nil
}

// after runs the triggers AFTER the change of a row.
func (r *fastRun) after(old, row sql.Row) error { return r.firing.runAfter(r.ctx, old, row) }

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
