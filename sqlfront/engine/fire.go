package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Statements that go the general way fire triggers by nodes in their plans. The library puts the analysed bodies there, for each
// statement anew; its rule is replaced by one that puts the names there, and the compiled bodies (body.go) are run.

// replaceTriggerRule puts our rule in the place of the library's, for the whole process.
func replaceTriggerRule() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool { return r.Id.String() == "applyTriggers" })
	if at < 0 {
		return errors.New("engine: the library has no rule that applies triggers any more")
	}
	library := analyzer.OnceAfterAll[at].Apply
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
			before, after, err := e.firesOfUpdate(ctx, n, uses)
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
			var before, after []*fires
			for _, target := range n.GetDeleteTargets() {
				t, err := plan.GetDeletable(target)
				if err != nil {
					return n, transform.SameTree, nil
				}
				b, a, err := e.fires(ctx, ownTable(t), ast.DeleteStr, uses)
				if err != nil {
					return nil, transform.SameTree, err
				}
				before, after = append(before, b...), append(after, a...)
			}
			if len(before)+len(after) == 0 {
				return n, transform.SameTree, nil
			}
			if n.HasExplicitTargets() {
				return nil, transform.SameTree, errors.New("delete from with explicit target tables does not support triggers; retry with single table deletes")
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
		var body sql.Node = f
		if f.before && f.width < f.total {
			body = plan.NewTriggerBeginEndBlock(plan.NewBeginEndBlock("", plan.NewBlock([]sql.Node{&joinFires{f}})))
		}
		// EXPLAIN writes the statement: who may fire a trigger may not see what it does.
		shown := sql.TriggerDefinition{Name: f.trigger.Name, CreateStatement: f.trigger.Name}
		n = plan.NewTriggerExecutor(n, body, event, time, shown)
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
	width := len(t.Schema(ctx))
	for _, x := range all {
		f := &fires{eng: e, db: d.Name, trigger: x, event: event, uses: uses, width: width, total: width, before: e.triggerHead(x).Time == ast.BeforeStr, table: t}
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

// firesOfUpdate returns the triggers of the tables of an UPDATE. The rows of one over a join have the columns of all its tables.
func (e *Engine) firesOfUpdate(ctx *sql.Context, n *plan.Update, uses []uint32) (before, after []*fires, err error) {
	err = updatedTables(ctx, n, func(t *Table, first, width, total int) error {
		b, a, err := e.fires(ctx, t, ast.UpdateStr, uses)
		if err != nil {
			return err
		}
		for _, f := range slices.Concat(b, a) {
			if total == 0 {
				continue
			}
			if f.first, f.total = first, total; f.width != width {
				return sqlerr.Unsupported("UPDATE of this join with a trigger")
			}
		}
		before, after = append(before, b...), append(after, a...)
		return nil
	})
	return before, after, err
}

// updatedTables calls f for each table that an UPDATE writes to, with the place of its columns among those of a row; total is 0 if there are no others.
func updatedTables(ctx *sql.Context, n *plan.Update, f func(t *Table, first, width, total int) error) error {
	var join *plan.UpdateJoin
	transform.Inspect(n.Child, func(n sql.Node) bool {
		if j, ok := n.(*plan.UpdateJoin); ok && join == nil {
			join = j
		}
		return join == nil
	})
	if join == nil {
		t, err := plan.GetUpdatable(n.Child)
		if err != nil {
			return nil // the library words it
		}
		return f(ownTable(t), 0, 0, 0)
	}
	source, ok := join.Child.(*plan.UpdateSource)
	if !ok {
		return nil
	}
	columns := source.Child.Schema(ctx)
	for at := 0; at < len(columns); {
		name := columns[at].Source
		first := at
		for at < len(columns) && columns[at].Source == name {
			at++
		}
		for alias, target := range join.UpdateTargets {
			if !strings.EqualFold(alias, name) {
				continue
			}
			t, err := plan.GetUpdatable(target)
			if err != nil {
				continue
			}
			if err := f(ownTable(t), first, at-first, len(columns)); err != nil {
				return err
			}
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
	// Rows have total columns, those of the table begin at first; of an UPDATE the new row follows the old one.
	first, width, total int
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

// run fires the trigger for a row, and returns what the row has become.
func (f *fires) run(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	var old, now sql.Row
	last := f.first + f.width
	switch {
	case f.event == ast.InsertStr:
		now = row[f.first:last]
	case f.event == ast.DeleteStr:
		old = row[f.first:last]
	default:
		old, now = row[f.first:last], row[f.total+f.first:f.total+last]
	}
	set, err := f.eng.firing(ctx, f.db, []*catalog.Trigger{f.trigger})
	if err != nil {
		return nil, err
	}
	if s := sessionOf(ctx); s != nil {
		n := len(s.using)
		s.using = append(s.using, f.uses...)
		defer func() { s.using = s.using[:n] }()
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
	copy(row[len(row)-f.total+f.first:], now)
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

// joinFires is a trigger BEFORE UPDATE of a table in a join. The library has to see its own iterator over the join, which knows how to
// count, so the trigger goes about as a SET NEW.c in a block of its own.
type joinFires struct{ *fires }

// Children implements sql.Node.
func (f *joinFires) Children() []sql.Node {
	column := expression.NewGetField(0, types.Null, "new", true)
	return []sql.Node{plan.NewSet([]sql.Expression{expression.NewSetField(column, column)})}
}

// WithChildren implements sql.Node.
func (f *joinFires) WithChildren(*sql.Context, ...sql.Node) (sql.Node, error) { return f, nil }

// RowIter implements sql.ExecSourceRel: the row and what it has become.
func (f *joinFires) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	now, err := f.run(ctx, row)
	return sql.RowsToRowIter(slices.Concat(row, now)), err
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
	refuse := func(x sql.Table, err error) error {
		if err != nil {
			return nil // the library words it
		}
		if t := ownTable(x); t != nil && s.inUse(t) {
			return sql.ErrTriggerTableInUse.New(t.desc.Name)
		}
		return nil
	}
	switch n := n.(type) {
	case *plan.InsertInto:
		return refuse(plan.GetInsertable(n.Destination))
	case *plan.Update:
		if join, ok := n.Child.(*plan.UpdateJoin); ok {
			for _, target := range join.UpdateTargets {
				if err := refuse(plan.GetUpdatable(target)); err != nil {
					return err
				}
			}
			return nil
		}
		return refuse(plan.GetUpdatable(n.Child))
	case *plan.DeleteFrom:
		for _, target := range n.GetDeleteTargets() {
			if err := refuse(plan.GetDeletable(target)); err != nil {
				return err
			}
		}
	}
	return nil
}
