package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/assign"
	"moka/sqlfront/catalog"
	"moka/sqlfront/multitable"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Statements that go the general way fire triggers by nodes in their plans. The library puts the analysed bodies there, for each
// statement anew; its rule is replaced by one that puts the names there, and the compiled bodies (body.go) are run.

// replaceWriteRules puts our rules for triggers and joined UPDATEs in the place of the library's, for the
// whole process.
func replaceWriteRules() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool { return r.Id.String() == "applyTriggers" })
	if at < 0 {
		return errors.New("engine: the library has no rule that applies triggers any more")
	}
	library := analyzer.OnceAfterAll[at].Apply
	joins := slices.IndexFunc(analyzer.OnceAfterDefault, func(r analyzer.Rule) bool { return r.Id.String() == "modifyUpdateExprsForJoin" })
	if joins < 0 {
		return errors.New("engine: the library has no rule for UPDATE of a join any more")
	}
	joined := analyzer.OnceAfterDefault[joins].Apply
	analyzer.OnceAfterDefault[joins].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if sessionOf(ctx) == nil {
			return joined(ctx, a, n, scope, sel, flags)
		}
		return multitable.Written(ctx, n)
	}
	analyzer.OnceAfterAll[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		s := sessionOf(ctx)
		if s == nil {
			return library(ctx, a, n, scope, sel, flags) // somebody else's engine in this process
		}
		return s.eng.applyTriggers(ctx, n, flags)
	}
	return nil
}

func (e *Engine) applyTriggers(ctx *sql.Context, n sql.Node, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if _, load := n.(*plan.InsertInto); !load && !flags.DmlIsSet() { // the library sets no flag for LOAD DATA
		return n, transform.SameTree, nil
	}
	if _, ok := n.(*plan.CreateTrigger); ok {
		return n, transform.SameTree, nil
	}
	uses := tablesOf(ctx, n)
	return transform.NodeWithCtx(ctx, n, outsideOfBodies, func(ctx *sql.Context, c transform.Context) (sql.Node, transform.TreeIdentity, error) {
		switch n := c.Node.(type) {
		case *plan.InsertInto:
			t, err := plan.GetInsertable(n.Destination)
			if err != nil {
				return n, transform.SameTree, nil
			}
			before, after, err := e.fires(ctx, ownTable(t), ast.InsertStr, uses)
			if err != nil || len(before)+len(after) == 0 {
				return n, transform.SameTree, err
			}
			flags.Set(sql.QFlagTrigger)
			out := sql.Node(n)
			if len(before) > 0 {
				out = n.WithSource(stack(n.Source, plan.InsertTrigger, before))
			}
			if len(after) == 0 || isUpsert(n) { // whose table fires: upsert.go
				return out, transform.NewTree, nil
			}
			insert := *out.(*plan.InsertInto)
			insert.HasAfterTrigger = true
			return stack(&insert, plan.InsertTrigger, after), transform.NewTree, nil
		case *plan.Update:
			if _, join := n.Child.(*plan.UpdateJoin); join {
				return n, transform.SameTree, e.flagTriggers(ctx, flags, ast.UpdateStr, n)
			}
			t, err := plan.GetUpdatable(n.Child)
			if err != nil {
				return n, transform.SameTree, nil // the library words it
			}
			before, after, err := e.fires(ctx, ownTable(t), ast.UpdateStr, uses)
			if err != nil || len(before)+len(after) == 0 {
				return n, transform.SameTree, err
			}
			flags.Set(sql.QFlagTrigger)
			out, err := n.WithChildren(ctx, stack(n.Child, plan.UpdateTrigger, before))
			if err != nil {
				return nil, transform.SameTree, err
			}
			return stack(out, plan.UpdateTrigger, after), transform.NewTree, nil
		case *plan.DeleteFrom:
			if n.HasExplicitTargets() {
				return n, transform.SameTree, e.flagTriggers(ctx, flags, ast.DeleteStr, n)
			}
			t, err := plan.GetDeletable(n.GetDeleteTargets()[0])
			if err != nil {
				return n, transform.SameTree, nil
			}
			before, after, err := e.fires(ctx, ownTable(t), ast.DeleteStr, uses)
			if err != nil || len(before)+len(after) == 0 {
				return n, transform.SameTree, err
			}
			flags.Set(sql.QFlagTrigger)
			out, err := n.WithChildren(ctx, stack(n.Child, plan.DeleteTrigger, before))
			if err != nil {
				return nil, transform.SameTree, err
			}
			return stack(out, plan.DeleteTrigger, after), transform.NewTree, nil
		}
		return c.Node, transform.SameTree, nil
	})
}

func outsideOfBodies(_ *sql.Context, c transform.Context) bool {
	_, in := c.Parent.(*plan.TriggerExecutor)
	return !in || c.ChildNum != 1
}

// TriggerBody stands for the body of a trigger in CREATE TRIGGER.
func TriggerBody() ast.Statement {
	auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE}
	return ast.InjectedStatement{Auth: auth, Statement: system.NewReport("body of a trigger", nil, func(*sql.Context) ([]sql.Row, error) { return nil, nil })}
}

// stack puts triggers around a node, so that they run in their order.
func stack(n sql.Node, event plan.TriggerEvent, all []*fires) sql.Node {
	for _, f := range all {
		time := plan.AfterTrigger
		if f.before {
			time = plan.BeforeTrigger
		}
		// EXPLAIN writes the statement: who may fire a trigger may not see what it does.
		shown := sql.TriggerDefinition{Name: f.trigger.Name, CreateStatement: f.trigger.Name}
		n = plan.NewTriggerExecutor(n, f, event, time, shown)
	}
	return n
}

// tablesOf are the tables that a statement reads and writes: what it fires must not write to them.
func tablesOf(ctx *sql.Context, n sql.Node) (ids []uint32) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		switch n := n.(type) {
		case sql.TableNode:
			if t := ownTable(n.UnderlyingTable()); t != nil && !t.temporary && !slices.Contains(ids, t.desc.ID) {
				ids = append(ids, t.desc.ID)
			}
		case *plan.InsertInto:
			for _, id := range tablesOf(ctx, n.Source) {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
		return true
	})
	return ids
}

// fires returns the triggers of a table for an event.
func (e *Engine) fires(ctx *sql.Context, t *Table, event string, uses []uint32) (before, after []*fires, err error) {
	if t == nil || t.temporary {
		return nil, nil, nil
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, ok := v.snap.Database(t.db)
	if !ok {
		return nil, nil, nil
	}
	all, ok := e.triggersOf(d, t.desc.Name, event)
	if !ok {
		return nil, nil, badTrigger(d, t)
	}
	for _, x := range all {
		f := &fires{eng: e, db: d.Name, trigger: x, event: event, uses: uses, before: e.triggerHead(x).Time == ast.BeforeStr, table: t}
		if f.before {
			if event != ast.DeleteStr {
				if f.computed, err = t.generated(ctx); err != nil {
					return nil, nil, err
				}
			}
			before = append(before, f)
		} else {
			after = append(after, f)
		}
	}
	return before, after, nil
}

// flagTriggers says that a statement on several tables fires triggers; its executor finds them.
func (e *Engine) flagTriggers(ctx *sql.Context, flags *sql.QueryFlags, event string, n sql.Node) error {
	for _, target := range multitable.WrittenBy(n) {
		t, err := plan.GetDeletable(target)
		if err != nil {
			continue // the library words it
		}
		before, after, err := e.fires(ctx, ownTable(t), event, nil)
		if err != nil {
			return err
		}
		if len(before)+len(after) > 0 {
			flags.Set(sql.QFlagTrigger)
		}
	}
	return nil
}

// fires is a trigger in a plan. It runs for each row that it is executed over.
type fires struct {
	eng     *Engine
	db      string
	trigger *catalog.Trigger
	event   string
	before  bool
	uses    []uint32
	// computed are the generated columns, which a trigger BEFORE the change has yet to be seen by.
	computed []computedColumn
	table    *Table
}

var _ sql.ExecSourceRel = (*fires)(nil)

func (f *fires) Resolved() bool                 { return true }
func (f *fires) Children() []sql.Node           { return nil }
func (f *fires) String() string                 { return "trigger " + f.trigger.Name }
func (f *fires) Schema(*sql.Context) sql.Schema { return nil }
func (f *fires) IsReadOnly() bool               { return false }

// WithChildren implements sql.Node.
func (f *fires) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(ch), 0)
	}
	return f, nil
}

// RowIter implements sql.ExecSourceRel.
func (f *fires) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	_, err := f.run(ctx, row)
	return sql.RowsToRowIter(), err
}

// run fires the trigger for a row, and returns what the row has become. Of an UPDATE the new row follows the
// old one.
func (f *fires) run(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	var old, now sql.Row
	switch width := len(f.table.pk.Schema); f.event {
	case ast.InsertStr:
		now = row[:width]
	case ast.DeleteStr:
		old = row[:width]
	default:
		old, now = row[:width], row[width:2*width]
	}
	set, err := f.eng.firing(ctx, f.db, []*catalog.Trigger{f.trigger})
	if err != nil {
		return nil, err
	}
	if s := sessionOf(ctx); s != nil {
		defer s.uses(f.uses)()
	}
	if f.before {
		was := now
		if now, err = set.runBefore(ctx, f.table, old, now); err == nil && now != nil {
			err = f.table.compute(ctx, f.computed, now)
		}
		if err == nil && f.event == ast.InsertStr {
			err = f.table.fired(ctx, was, now)
		}
	} else {
		err = set.runAfter(ctx, f.table, old, now)
	}
	if err != nil {
		return nil, err
	}
	set.leave(f.eng)
	if !f.before || f.event == ast.DeleteStr {
		return row, nil
	}
	row = slices.Clone(row)
	copy(row[len(row)-len(now):], now)
	return row, nil
}

// fired is what a trigger BEFORE INSERT leads to. An AUTO_INCREMENT number that it has chosen is one that
// is taken; what it has written stays if IGNORE leaves its row out, as in MySQL: it may be an audit's word
// of the attempt.
func (t *Table) fired(ctx *sql.Context, was, now sql.Row) error {
	if tx, ok := ctx.GetTransaction().(*Tx); ok {
		tx.keepFired(t.desc.ID)
	}
	if t.auto < 0 || now == nil || now[t.auto] == nil {
		return nil
	}
	n, in, err := sqlUint64(ctx, now[t.auto])
	if err != nil || in != sql.InRange || n == 0 {
		return nil // the insert words it
	}
	if before, _, err := sqlUint64(ctx, was[t.auto]); was[t.auto] != nil && err == nil && before == n {
		return nil
	}
	_, err = t.GetNextAutoIncrementValue(ctx, n)
	return err
}

// fireBefore are the rows of a statement with what a trigger BEFORE the change has made of them.
func (b *execBuilder) fireBefore(ctx *sql.Context, n *plan.TriggerExecutor, row sql.Row) (sql.RowIter, error) {
	f, ok := n.Right().(*fires)
	if !ok || !f.before {
		return nil, nil
	}
	it, err := b.base.Build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	return &fireIter{it, f}, nil
}

type fireIter struct {
	sql.RowIter
	f *fires
}

// Next implements sql.RowIter.
func (it *fireIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	return it.f.run(ctx, row)
}

// keepTriggers is a DROP of temporary tables that leaves the triggers of tables of the same names alone; nil if there is nothing to change.
func (e *Engine) keepTriggers(ctx *sql.Context, n *plan.DropTable) *plan.DropTable {
	if len(n.TriggerNames) == 0 {
		return nil
	}
	dropped := map[string]bool{} // those with triggers, in small letters
	temporary := false
	db := ctx.GetCurrentDatabase()
	for _, x := range n.Tables {
		r, ok := x.(*plan.ResolvedTable)
		if !ok {
			continue
		}
		if t := ownTable(r.UnderlyingTable()); t != nil && t.temporary {
			temporary = true
			continue
		}
		dropped[strings.ToLower(r.Name())] = true
		db = r.Database().Name()
	}
	if !temporary {
		return nil
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return nil
	}
	kept := *n
	kept.TriggerNames = slices.DeleteFunc(slices.Clone(n.TriggerNames), func(name string) bool {
		t, ok := d.Trigger(name)
		return !ok || !dropped[strings.ToLower(e.triggerHead(t).Table)]
	})
	return &kept
}

// refuseInUse is the error of a body that writes to a table of the statement that fires it.
func refuseInUse(ctx *sql.Context, n sql.Node) error {
	s := sessionOf(ctx)
	if s == nil || len(s.using) == 0 {
		return nil
	}
	for _, target := range multitable.WrittenBy(n) {
		x, err := plan.GetDeletable(target)
		if err != nil {
			return nil // the library words it
		}
		if t := ownTable(x); t != nil && s.inUse(t) {
			return sql.ErrTriggerTableInUse.New(t.desc.Name)
		}
	}
	return nil
}

// updateTables runs an UPDATE over a join.
func (b *execBuilder) updateTables(ctx *sql.Context, n *plan.Update, join *plan.UpdateJoin, row sql.Row) (sql.RowIter, error) {
	src, ok := join.Child.(*plan.UpdateSource)
	if !ok {
		return nil, plan.ErrUpdateNotSupported.New()
	}
	if err := mustHaveDefaults(ctx, src.Child.Schema(ctx), src.UpdateExprs.AllExpressions(), n.Ignore); err != nil {
		return nil, err
	}
	if again, err := lenientUpdate(ctx, src); err != nil {
		return nil, err
	} else if again != nil {
		src = again.(*plan.UpdateSource)
	}
	places, err := multitable.Updated(ctx, join, src.Child, src.UpdateExprs.AllExpressions())
	if err != nil {
		return nil, err
	}
	return b.writeTables(ctx, n, src.Child, row, places, &multitable.Statement{Ignore: n.Ignore, InTurn: !n.IsJoin,
		CountsFound: ctx.Client().Capabilities&mysqlproto.ClientFoundRows != 0})
}

// deleteTables runs a DELETE that names its tables.
func (b *execBuilder) deleteTables(ctx *sql.Context, n *plan.DeleteFrom, row sql.Row) (sql.RowIter, error) {
	places, err := multitable.Deleted(ctx, n)
	if err != nil {
		return nil, err
	}
	return b.writeTables(ctx, n, n.Child, row, places, &multitable.Statement{Deletes: true})
}

// writeTables makes the tables of a statement, before its rows: editors of tables without a key lay trails
// for what is read.
func (b *execBuilder) writeTables(ctx *sql.Context, n, from sql.Node, row sql.Row, places []*multitable.Place, st *multitable.Statement) (_ sql.RowIter, err error) {
	uses, stale := tablesOf(ctx, n), false
	owns := make([]*Table, len(places))
	for i, p := range places {
		dest, err := plan.GetDeletable(p.Node)
		if err != nil {
			return nil, err
		}
		if h, ok := dest.(*plan.ForeignKeyHandler); ok && len(h.Editor.RefActions) > 0 {
			stale = true
		}
		if owns[i] = ownTable(dest); owns[i] == nil || len(owns[i].pk.Schema) != p.Width() {
			return nil, plan.ErrUpdateForTableNotSupported.New(p.Name())
		}
		p.Table, p.PrimaryKey = owns[i].desc.ID, owns[i].pk.PkOrdinals
	}
	shared, err := multitable.Shared(places)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		w := &tableWriter{eng: b.eng, t: owns[i].base(), uses: uses, stale: stale || shared, lenient: st.Ignore || !strict(ctx)}
		t, err := w.table(ctx, p.Node, st)
		if err != nil {
			return nil, err
		}
		st.Targets = append(st.Targets, p.Target(t, from))
	}
	st.Width, st.Charge = len(from.Schema(ctx)), b.eng.memory.Charge(ctx, "rows to be written", sqlerr.CapacityExceeded)
	if st.Shape, err = b.base.Build(ctx, plan.NewDeleteFrom(plan.NewEmptyTableWithSchema(nil), nil, false), nil); err != nil {
		return nil, err
	}
	if st.Rows, err = b.base.Build(ctx, from, row); err != nil {
		return nil, err
	}
	return st, nil
}

// tableWriter is a table of ours as package multitable writes to it.
type tableWriter struct {
	eng     *Engine
	t       *Table
	uses    []uint32
	firing  *firing
	write   func(ctx *sql.Context, old, row sql.Row) error
	stale   bool // rows may be others by the time that they are written
	lenient bool
}

func (w *tableWriter) table(ctx *sql.Context, node sql.Node, st *multitable.Statement) (*multitable.Table, error) {
	m := &multitable.Table{Schema: w.t.pk.Schema, Key: w.key, Rows: w.rows, Fit: w.fit,
		Before: w.before, After: w.after, Write: w.writeRow, Ended: w.ended}
	m.Same = func(ctx *sql.Context, old, row sql.Row) (bool, error) { return sameRow(ctx, old, row, m.Schema) }
	event := ast.UpdateStr
	if st.Deletes {
		event = ast.DeleteStr
		dest, err := plan.GetDeletable(node)
		if err != nil {
			return nil, err
		}
		d := dest.Deleter(ctx)
		m.Editor, w.write = d, func(ctx *sql.Context, old, _ sql.Row) error { return d.Delete(ctx, old) }
	} else {
		dest, err := plan.GetUpdatable(node)
		if err != nil {
			return nil, err
		}
		u := dest.Updater(ctx)
		if m.Editor, w.write = u, u.Update; st.Ignore {
			m.Missing = func(ctx *sql.Context, c *sql.Column) (any, error) { return implicitDefault(ctx, c.Type) }
		}
		defs, err := w.t.GetChecks(ctx)
		if err != nil {
			return nil, err
		}
		schema, checks, err := w.t.resolved(ctx, defs)
		if err != nil {
			return nil, err
		}
		m.Computes(schema, checks)
	}
	before, after, err := w.eng.fires(ctx, w.t, event, w.uses)
	if err != nil || len(before)+len(after) == 0 {
		return m, err
	}
	var triggers []*catalog.Trigger
	for _, f := range slices.Concat(before, after) {
		triggers = append(triggers, f.trigger)
	}
	w.firing, err = w.eng.firing(ctx, slices.Concat(before, after)[0].db, triggers)
	return m, err
}

func (w *tableWriter) key(ctx *sql.Context, row sql.Row) ([]byte, error) {
	if w.t.primary == nil {
		return w.t.rows.Encode(ctx, nil, row)
	}
	return w.t.primary.rowKey(row)
}

// rows implements multitable.Table's Rows. Of a table without a key they are all that were equal to this one.
func (w *tableWriter) rows(ctx *sql.Context, key []byte, row sql.Row) (rows []multitable.Stored, err error) {
	keys := []kv.RowKey{key}
	tx, err := txOf(ctx)
	if err == nil && w.t.primary == nil {
		keys, err = tx.rowsLike(ctx, w.t, key)
	}
	for _, k := range keys {
		now := row
		if w.stale {
			v, ok, err := tx.store().Get(ctx, cell(k))
			if err != nil {
				return nil, tx.fail(ctx, err)
			}
			if !ok {
				continue
			}
			if now, err = w.t.decode.Decode(v); err != nil {
				return nil, err
			}
		}
		rows = append(rows, multitable.Stored{Key: k, Row: now})
	}
	return rows, err
}

func (w *tableWriter) writeRow(ctx *sql.Context, old multitable.Stored, row sql.Row) error {
	if tx, err := txOf(ctx); err == nil && w.t.primary == nil {
		tx.trails[w.t.desc.ID].Next(rowIDOf(old.Key))
	}
	return w.write(ctx, old.Row, row)
}

func (w *tableWriter) fit(ctx *sql.Context, c *sql.Column, v any) (any, error) {
	if w.lenient && !c.Virtual {
		return assign.Fit(ctx, c, v, 1)
	}
	v, _, err := c.Type.Convert(ctx, v)
	return v, err
}

func (w *tableWriter) before(ctx *sql.Context, old, row sql.Row) (sql.Row, error) {
	defer sessionOf(ctx).uses(w.uses)()
	row, err := w.firing.runBefore(ctx, w.t, old, row)
	if err != nil {
		return nil, err
	}
	return w.t.held(ctx, row)
}

func (w *tableWriter) after(ctx *sql.Context, old, row sql.Row) error {
	defer sessionOf(ctx).uses(w.uses)()
	return w.firing.runAfter(ctx, w.t, old, row)
}

func (w *tableWriter) ended(failed bool) {
	if !failed {
		w.firing.leave(w.eng)
	}
}
