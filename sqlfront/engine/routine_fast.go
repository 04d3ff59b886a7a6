package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/builtin"
	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/routine"
)

// The plan cache in bodies of procedures and functions. A session has the tree of each statement of a body, with the variables in it, for
// as long as it has the compiled body; so a statement of a known shape is compiled once into a plan (fast_compile.go), in which
// variables, and expressions of nothing but variables and literals, are the parameters. The rules are those for statements of
// clients: a plan is used after the library has run the statement once, looks at the catalog and the privileges of the moment (those of
// the definer, if the body runs as he), and leaves the statement to the library when it is not sure. Conditions and assignments, which
// the library takes for SELECT without a table, are bound once and evaluated; that they keep nothing of a run is looked at node
// by node.

// keptStatement is a statement of a body as the session has compiled it.
type keptStatement struct {
	settings string
	version  catalog.Stamp // if there is no plan
	plan     *fastPlan
	params   []sql.Expression
	reason   string
	proved   bool
	schema   sql.Schema
	value    sql.Expression // SELECT of one value without a table; nil if it is not kept
	asked    asked          // of whom plan was allowed last; see may
	held     bool           // node has been looked for
	node     sql.Node       // of a body without a plan: bodystmt.go; nil if each run binds it
	bound    asked          // for whom node was looked for, be it in vain: it does not say what plan may
}

// maxKept bounds the statements that a session keeps.
const maxKept = 4096

func (h *routineHost) keep(stmt ast.Statement, k *keptStatement) {
	if h.body != nil {
		h.body.kept[stmt] = k
		return
	}
	s := h.session
	if s.kept == nil || len(s.kept) >= maxKept {
		s.kept = map[ast.Statement]*keptStatement{}
	}
	s.kept[stmt] = k
}

func (h *routineHost) known(stmt ast.Statement) *keptStatement {
	if h.body != nil {
		return h.body.kept[stmt]
	}
	return h.session.kept[stmt]
}

// Expression implements routine.Host.
func (h *routineHost) Expression(ctx *sql.Context, stmt ast.Statement) sql.Expression {
	s, e := h.session, h.eng
	set := s.settings(ctx)
	if set.off {
		return nil
	}
	k := h.known(stmt)
	if k == nil || k.settings != set.key {
		k = &keptStatement{settings: set.key}
		if sel, ok := stmt.(*ast.Select); ok {
			k.value = e.bindValue(ctx, sel)
		}
		h.keep(stmt, k)
		if k.value != nil {
			e.plans.misses.Add(1)
		}
	} else if k.value != nil {
		e.plans.hits.Add(1)
	}
	if k.value == nil {
		e.plans.fallback(reasonShape)
	} else if h.body == nil { // those of the statement that fires it stay
		s.ClearWarnings()
	}
	return k.value
}

// bindValue binds and analyses SELECT expression; nil if the expression cannot be evaluated again and again.
func (e *Engine) bindValue(ctx *sql.Context, sel *ast.Select) (value sql.Expression) {
	if len(sel.From) > 1 || sel.Where != nil || sel.Limit != nil || len(sel.SelectExprs) != 1 || sel.With != nil || sel.Having != nil {
		return nil
	}
	a := e.sql.Analyzer
	builder := planbuilder.New(ctx, a.Catalog, nil)
	node, flags, err := builder.BindOnly(sel, "", nil)
	if err != nil {
		return nil // the general way words it
	}
	if node, err = a.Analyze(ctx, node, nil, flags); err != nil {
		return nil
	}
	p, ok := node.(*plan.Project)
	if !ok || len(p.Projections) != 1 {
		return nil
	}
	if t, ok := p.Child.(*plan.ResolvedTable); !ok || !plan.IsDualTable(t.Table) {
		return nil
	}
	value = p.Projections[0]
	if alias, ok := value.(*expression.Alias); ok {
		value = alias.Child
	}
	if !repeats(ctx, value) {
		return nil
	}
	return value
}

// repeats reports whether an expression depends on nothing but variables of the routine and the session's settings, and keeps nothing.
func repeats(ctx *sql.Context, e sql.Expression) bool {
	ok := true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *routine.Variable, *expression.Literal, expression.ArithmeticOp, expression.Comparer,
			*expression.And, *expression.Or, *expression.Not, *expression.Xor, *expression.IsNull, *expression.IsTrue, *expression.Between,
			*expression.Case, expression.Tuple, *expression.InTuple, *expression.UnaryMinus, *expression.Convert, *expression.Interval, *expression.CollatedExpression:
		case sql.FunctionExpression:
			ok = ok && routine.Repeatable(e.FunctionName())
		case nil:
		default:
			ok = ok && ours(e)
		}
		return ok
	})
	return ok
}

// ours reports whether an expression is one that was put in the place of the library's, to compute what MySQL computes.
func ours(e sql.Expression) bool {
	switch e.(type) {
	case *gms.Apart, *shifted, *fitted, *builtin.Moved:
		return true
	}
	return expr.Stateless(e)
}

// statement runs a statement of a body by its plan; ok is false if it has to go the general way. What is known of it is k, and learn says
// that its plan wants to see what the general way answers.
func (h *routineHost) statement(ctx *sql.Context, stmt ast.Statement) (schema sql.Schema, rows sql.RowIter, ok bool, k *keptStatement, learn bool, err error) {
	if !held(stmt) {
		return nil, nil, false, nil, false, nil
	}
	s, e := h.session, h.eng
	set := s.settings(ctx)
	tx := s.tx()
	if set.off || s.temp.any() || s.tables != nil || tx == nil || tx.over() {
		e.plans.fallback(reasonSettings)
		return nil, nil, false, nil, false, nil
	}
	if len(s.using) == 0 {
		tx.hear()
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, nil, false, nil, false, nil
	}
	if k = h.known(stmt); k == nil || k.settings != set.key || k.plan == nil && k.version != v.snap.Stamp() ||
		k.plan != nil && !k.plan.current(v.snap) {
		k = &keptStatement{settings: set.key, version: v.snap.Stamp()}
		if k.plan, k.params, err = e.compileBody(ctx, v, s.GetCurrentDatabase(), stmt); err != nil {
			k.plan, k.reason = nil, err.Error()
		}
		h.keep(stmt, k)
		e.plans.misses.Add(1)
	}
	reason := ""
	switch {
	case k.plan == nil:
		reason = k.reason
	case !k.proved:
		return nil, nil, false, k, true, nil
	case !k.may(ctx, s):
		reason = reasonPrivilege
	}
	if reason != "" {
		e.plans.fallback(reason)
		return nil, nil, false, k, false, nil
	}
	run := &fastRun{
		eng: e, ctx: ctx, session: s, set: set, tx: tx, nested: true, inner: h.body != nil, plan: k.plan,
		found: s.Client().Capabilities&mysqlproto.ClientFoundRows != 0,
	}
	if run.values, ok = valuesOf(ctx, k.params); !ok {
		e.plans.fallback(reasonValue)
		return nil, nil, false, k, false, nil
	}
	schema, rows, err = run.nestedRows(k.schema)
	switch err {
	case errFallback, errTooLarge, errStalePlan:
		e.plans.fallback(reasonValue)
		return nil, nil, false, k, false, nil
	}
	e.plans.hits.Add(1)
	return schema, rows, true, k, false, err
}

// compileBody makes the plan of a statement of a body, and the expressions whose values are its parameters.
func (e *Engine) compileBody(ctx *sql.Context, v *view, db string, stmt ast.Statement) (*fastPlan, []sql.Expression, error) {
	c := &compiler{eng: e, snap: v.snap, db: db, plan: &fastPlan{}}
	c.bind = func(x ast.Expr) (sql.Expression, bool) {
		value := e.bindValue(ctx, &ast.Select{SelectExprs: ast.SelectExprs{&ast.AliasedExpr{Expr: x}}})
		return value, value != nil
	}
	err := c.statement(ctx, v, stmt)
	return c.plan, c.params, err
}

// valuesOf evaluates the parameters.
func valuesOf(ctx *sql.Context, params []sql.Expression) ([]eval.Literal, bool) {
	values := make([]eval.Literal, len(params))
	for i, p := range params {
		v, err := p.Eval(ctx, nil)
		if err != nil {
			return nil, false // the general way meets it, too
		}
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, false
		}
		l, ok := eval.LiteralOf(v, p.Type(ctx))
		if !ok {
			return nil, false
		}
		values[i] = l
	}
	return values, true
}

// nestedRows runs a plan in the transaction of the routine, and answers as the library does.
func (r *fastRun) nestedRows(schema sql.Schema) (sql.Schema, sql.RowIter, error) {
	if !r.inner {
		r.session.ClearWarnings()
	}
	if r.plan.kind != planSelect {
		result, err := r.change()
		if err != nil {
			return nil, nil, err
		}
		ok := types.OkResult{RowsAffected: result.Affected, InsertID: result.InsertID}
		return types.OkResultSchema, sql.RowsToRowIter(sql.NewRow(ok)), nil
	}
	limit, offset, err := r.limits()
	if err != nil {
		return nil, nil, err
	}
	rows, err := r.readRows(limit, offset)
	if err != nil {
		return nil, nil, err
	}
	sel := r.plan.sel
	if len(sel.aggregates) > 0 {
		if rows, err = r.nestedAggregate(rows, schema); err != nil {
			return nil, nil, err
		}
	} else {
		if rows, err = r.arrange(rows); err != nil {
			return nil, nil, err
		}
		rows = rows[min(offset, int64(len(rows))):]
		rows = rows[:min(limit, int64(len(rows)))]
		for i := range rows {
			rows[i] = rows[i][:sel.width:sel.width]
		}
	}
	info := r.session.GetLastQueryInfo()
	info.RowCount.Store(-1)
	info.FoundRows.Store(int64(len(rows)))
	return schema, sql.RowsToRowIter(rows...), nil
}

// nestedAggregate adds up rows into values of the types that the library gives them.
func (r *fastRun) nestedAggregate(rows []sql.Row, schema sql.Schema) ([]sql.Row, error) {
	line := make(sql.Row, len(r.plan.sel.aggregates))
	for i, a := range r.plan.sel.aggregates {
		sum, none := int64(len(rows)), false
		if !a.count {
			var ok bool
			if sum, none, ok = sumOf(rows, a.column); !ok {
				return nil, errFallback
			}
		}
		if none {
			continue
		}
		v, in, err := schema[i].Type.Convert(r.ctx, sum)
		if err != nil || in != sql.InRange {
			return nil, errFallback
		}
		line[i] = v
	}
	return []sql.Row{line}, nil
}

// learning proves a plan when the general way has succeeded.
type learning struct {
	sql.RowIter
	kept   *keptStatement
	schema sql.Schema
}

// Next implements sql.RowIter.
func (l *learning) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := l.RowIter.Next(ctx)
	if err == io.EOF {
		l.kept.learn(l.schema)
	}
	return row, err
}

func (k *keptStatement) learn(schema sql.Schema) {
	p := k.plan
	if p.kind != planSelect {
		k.proved = types.IsOkResultSchema(schema)
		return
	}
	if n := len(p.sel.aggregates); n > 0 {
		k.proved = len(schema) == n
	} else {
		k.proved = len(schema) == p.sel.width
		for i := range schema {
			k.proved = k.proved && schema[i].Type.Type() == p.sel.types[i].Type()
		}
	}
	k.schema = schema
}
