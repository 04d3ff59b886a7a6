package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Body is the body of a trigger or an observer, bound and analysed once and run for any number of rows. The library does that work anew
// for each statement that fires a trigger. A body keeps state in the nodes of its plan: one run at a time, and after a run that
// failed it is thrown away. It is right for the catalog and the settings that it was compiled under.
type Body struct {
	eng    *Engine
	logic  sql.Node
	event  plan.TriggerEvent
	time   plan.TriggerTime
	schema sql.Schema // of the rows that it runs over: NEW, OLD, or OLD and NEW
	def    sql.TriggerDefinition
	create *plan.CreateTrigger
}

// CompileBody compiles the body of a CREATE TRIGGER. This is the library's own treatment of triggers (analyzer/triggers.go), without a
// statement around it and with the lookup of rows by NEW and OLD, which it lacks. check, if it is not nil, may refuse the bound body.
func (e *Engine) CompileBody(ctx *sql.Context, text, mode string, check func(*sql.Context, sql.Node) error) (*Body, error) {
	a := e.sql.Analyzer
	builder := planbuilder.New(ctx, a.Catalog, nil)
	builder.DisableAuth()
	builder.SetParserOptions(sql.NewSqlModeFromString(mode).ParserOptions())
	builder.TriggerCtx().Call = true
	bound, _, _, _, err := builder.Parse(text, nil, false)
	if err != nil {
		return nil, err
	}
	create, ok := bound.(*plan.CreateTrigger)
	if !ok {
		return nil, sqlerr.Unsupported("this body of a trigger")
	}
	logic := create.Body
	if block, ok := logic.(*plan.BeginEndBlock); ok {
		logic = plan.NewTriggerBeginEndBlock(block)
	}
	if check != nil {
		if err := check(ctx, logic); err != nil {
			return nil, err
		}
	}
	b := &Body{
		eng: e, event: plan.InsertTrigger, time: plan.TriggerTime(create.TriggerTime), schema: create.Table.Schema(ctx), create: create,
		def: sql.TriggerDefinition{Name: create.TriggerName, CreateStatement: text},
	}
	var row sql.Node = plan.NewTableAlias("new", create.Table)
	switch create.TriggerEvent {
	case ast.UpdateStr:
		b.event = plan.UpdateTrigger
		row = plan.NewCrossJoin(ctx, plan.NewTableAlias("old", create.Table), plan.NewTableAlias("new", create.Table))
		b.schema = append(b.schema[:len(b.schema):len(b.schema)], b.schema...)
	case ast.DeleteStr:
		b.event = plan.DeleteTrigger
		row = plan.NewTableAlias("old", create.Table)
	}
	scope := (*plan.Scope)(nil).NewScope(plan.NewProject(ctx, []sql.Expression{expression.NewStar()}, row))
	logic, err = a.Analyze(ctx, logic, scope, nil)
	if err != nil {
		return nil, err
	}
	if _, ok := logic.(*plan.TriggerBeginEndBlock); ok {
		if logic, err = tieVariables(ctx, logic); err != nil {
			return nil, err
		}
	}
	b.logic, err = PushOuterKeys(ctx, logic, b.schema)
	return b, err
}

// KeepsBodies reports whether a compiled body of an observer may be run again: the global moka_plan_cache is on. It counts which is the
// case; known says that there is a body.
func (e *Engine) KeepsBodies(known bool) bool {
	_, v, _ := sql.SystemVariables.GetGlobal(VarPlanCache)
	keeps, err := sql.ConvertToBool(nil, v)
	keeps = keeps || err != nil
	if known && keeps {
		e.plans.bodyHits.Add(1)
	} else {
		e.plans.bodyMisses.Add(1)
	}
	return keeps
}

// Run runs the body for one row, in the transaction of ctx, and returns the row that NEW has become. old and now are nil where the
// event has no such row.
func (b *Body) Run(ctx *sql.Context, old, now sql.Row) (sql.Row, error) {
	row := now
	switch b.event {
	case plan.UpdateTrigger:
		row = append(append(make(sql.Row, 0, len(b.schema)), old...), now...)
	case plan.DeleteTrigger:
		row = old
	}
	if tx, err := txOf(ctx); err == nil {
		live := tx.live
		tx.live = true // what the statement has written so far is there
		defer func() { tx.live = live }()
	}
	info := ctx.GetLastQueryInfo()
	id := info.LastInsertId.Load()
	defer func() { info.LastInsertId.Store(id) }()
	n := plan.NewTriggerExecutor(&bodyRow{schema: b.schema, row: row}, b.logic, b.event, b.time, b.def)
	it, err := b.eng.sql.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil {
		return nil, err
	}
	row = nil
	for {
		r, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = it.Close(ctx)
			return nil, err
		}
		row = r
	}
	if err := it.Close(ctx); err != nil {
		return nil, err
	}
	if now == nil {
		return nil, nil
	}
	return row[len(row)-len(now):], nil
}

// bodyRow feeds one row to the library's machinery of triggers.
type bodyRow struct {
	schema sql.Schema
	row    sql.Row
}

var _ sql.ExecSourceRel = (*bodyRow)(nil)

func (r *bodyRow) Resolved() bool                 { return true }
func (r *bodyRow) Children() []sql.Node           { return nil }
func (r *bodyRow) String() string                 { return "changed row" }
func (r *bodyRow) Schema(*sql.Context) sql.Schema { return r.schema }
func (r *bodyRow) IsReadOnly() bool               { return true }

// WithChildren implements sql.Node.
func (r *bodyRow) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(r, len(ch), 0)
	}
	return r, nil
}

// RowIter implements sql.ExecSourceRel.
func (r *bodyRow) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(r.row), nil
}

// keepInsertID makes a body that inserts leave LAST_INSERT_ID() as it was: in MySQL what a trigger inserts is forgotten when it ends.
func keepInsertID(ctx *sql.Context, body sql.Node) (sql.Node, error) {
	found := false
	transform.InspectWithOpaque(ctx, body, func(_ *sql.Context, n sql.Node) bool {
		_, ok := n.(*plan.InsertInto)
		found = found || ok
		return !found
	})
	if !found {
		return body, nil
	}
	id := new(int64)
	save, restore := &insertID{id: id}, &insertID{id: id, restore: true}
	block, ok := body.(*plan.TriggerBeginEndBlock)
	if !ok {
		return plan.NewTriggerBeginEndBlock(plan.NewBeginEndBlock("", plan.NewBlock([]sql.Node{save, body, restore}))), nil
	}
	statements := block.Children()
	if len(statements) > 0 {
		if _, done := statements[0].(*insertID); done {
			return body, nil
		}
	}
	return block.WithChildren(ctx, slices.Concat([]sql.Node{save}, statements, []sql.Node{restore})...)
}

// insertID is a statement of a body that saves or restores LAST_INSERT_ID().
type insertID struct {
	id      *int64
	restore bool
}

var _ sql.ExecSourceRel = (*insertID)(nil)

func (n *insertID) Resolved() bool                 { return true }
func (n *insertID) Children() []sql.Node           { return nil }
func (n *insertID) String() string                 { return "LAST_INSERT_ID()" }
func (n *insertID) Schema(*sql.Context) sql.Schema { return nil }
func (n *insertID) IsReadOnly() bool               { return true }

// WithChildren implements sql.Node.
func (n *insertID) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(ch), 0)
	}
	return n, nil
}

// RowIter implements sql.ExecSourceRel.
func (n *insertID) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	if last := &ctx.GetLastQueryInfo().LastInsertId; n.restore {
		last.Store(*n.id)
	} else {
		*n.id = last.Load()
	}
	return sql.RowsToRowIter(), nil
}

// tieVariables gives all DECLAREd variables of a block one place to live in; the SQL engine does this step in a function of
// its own that it does not export.
func tieVariables(ctx *sql.Context, block sql.Node) (sql.Node, error) {
	ref := expression.NewProcedureReference()
	inExpr := func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if p, ok := e.(*expression.ProcedureParam); ok {
			return p.WithParamReference(ref), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	}
	inNode := func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		x, ok := n.(sql.Expressioner)
		if !ok {
			return n, transform.SameTree, nil
		}
		exprs, same, err := transform.Exprs(ctx, x.Expressions(), inExpr)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		out, err := x.WithExpressions(ctx, exprs...)
		return out, transform.NewTree, err
	}
	out, _, err := transform.NodeWithOpaque(ctx, block, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.InsertInto:
			src, same, err := transform.NodeWithOpaque(ctx, n.Source, inNode)
			if err != nil || same {
				return n, transform.SameTree, err
			}
			return n.WithSource(src), transform.NewTree, nil
		case expression.ProcedureReferencable:
			out, _, err := transform.NodeWithOpaque(ctx, n.WithParamReference(ref), inNode)
			return out, transform.NewTree, err
		}
		return inNode(ctx, n)
	})
	return out, err
}
