package engine

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/eval"
	"moka/sqlfront/rights"
	"moka/sqlfront/syntax"
)

// rowValue is a value that UPDATE computes from the row, whose columns are followed by the parameters.
type rowValue struct {
	expr sql.Expression
	typ  sql.Type
}

// compute compiles the assignments of expressions, at these places of an UPDATE or an upsert of one table.
func (c *compiler) compute(ctx *sql.Context, at []int) error {
	values, err := c.values(ctx, len(at), func(stmt ast.Statement) (ast.TableExprs, []ast.Expr) {
		from, all := assignedIn(stmt)
		es := make([]ast.Expr, len(at))
		for n, i := range at {
			es[n] = all[i].Expr
		}
		return from, es
	})
	for n, x := range values {
		c.plan.set[at[n]].expr = x
	}
	return err
}

// assignedIn are the assignments of an UPDATE or an upsert, and their table.
func assignedIn(stmt ast.Statement) (ast.TableExprs, ast.AssignmentExprs) {
	switch s := stmt.(type) {
	case *ast.Update:
		return s.TableExprs, s.Exprs
	case *ast.Insert:
		return ast.TableExprs{&ast.AliasedTableExpr{Expr: s.Table, Auth: ast.AuthInformation{
			AuthType: ast.AuthType_SELECT, TargetType: ast.AuthTargetType_SingleTableIdentifier,
			TargetNames: []string{s.Table.DbQualifier.String(), s.Table.Name.String()},
		}}}, ast.AssignmentExprs(s.OnDup)
	}
	return nil, nil
}

// values compiles so many expressions of the statement: they are bound as what a SELECT of them would show,
// from the table that which says, or from none. It is given the statement parsed anew, since the binder
// changes what it gets.
func (c *compiler) values(
	ctx *sql.Context, n int, which func(ast.Statement) (ast.TableExprs, []ast.Expr),
) ([]*rowValue, error) {
	if n == 0 {
		return nil, nil
	}
	if c.text == "" { // the statement of a body
		return nil, unplanned(reasonShape)
	}
	stmt, _, _, err := c.eng.sql.Parser.ParseWithOptions(ctx, c.text, ';', false, c.opts)
	if err != nil {
		return nil, unplanned(reasonShape)
	}
	from, es := which(stmt)
	sel := &ast.Select{From: from}
	for _, e := range es {
		if !selectable(e) {
			return nil, unplanned(reasonShape)
		}
		sel.SelectExprs = append(sel.SelectExprs, &ast.AliasedExpr{Expr: e})
	}
	shown, err := c.shown(ctx, sel)
	if err != nil {
		return nil, err
	}
	c.typed = c.typed || len(c.kinds) > 0
	values := make([]*rowValue, len(shown))
	for i, e := range shown {
		if values[i], err = c.overRow(ctx, e); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// selectable reports whether the binder can take an assigned value for one that is selected.
func selectable(e ast.Expr) bool {
	ok := true
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n.(type) {
		case *ast.Default, *ast.Subquery, *ast.ValuesFuncExpr:
			ok = false
		}
		return ok, nil
	}, e)
	return ok
}

// shown binds and analyses what a SELECT from one table shows.
func (c *compiler) shown(ctx *sql.Context, sel *ast.Select) ([]sql.Expression, error) {
	s, a := sessionOf(ctx), c.eng.sql.Analyzer
	needs := s.needs
	s.needs = nil
	builder := planbuilder.New(ctx, a.Catalog, nil)
	builder.SetBindingsWithExpr(c.bindings())
	node, flags, err := builder.BindOnly(sel, "", nil)
	columns := len(s.needs) > 0 // rights on some columns only
	s.needs = needs
	switch {
	case rights.Refused(err) || columns:
		return nil, unplanned(reasonPrivilege)
	case err != nil:
		return nil, unplanned(reasonShape)
	}
	if node, err = a.Analyze(ctx, node, nil, flags); err != nil {
		return nil, unplanned(reasonShape)
	}
	p, ok := node.(*plan.Project)
	if !ok || len(p.Projections) != len(sel.SelectExprs) {
		return nil, unplanned(reasonShape)
	}
	return p.Projections, nil
}

// compute computes a value from a row. What fails or warns is left to the planner, which words it.
func (r *fastRun) compute(x *rowValue, row sql.Row) (eval.Literal, any, error) {
	if r.params == nil {
		r.params = make(sql.Row, len(r.values))
		for i := range r.values {
			var ok bool
			if r.params[i], ok = r.values[i].Native(); !ok {
				return eval.Literal{}, nil, errFallback
			}
		}
	}
	r.wide = append(append(r.wide[:0], row...), r.params...)
	v, err := x.expr.Eval(r.ctx, r.wide)
	if err == nil {
		v, err = sql.UnwrapAny(r.ctx, v)
	}
	if err != nil || r.session.WarningCount() > 0 {
		r.session.ClearWarnings()
		return eval.Literal{}, nil, errFallback
	}
	l, ok := eval.LiteralOf(v, x.typ)
	if !ok {
		return l, nil, errFallback
	}
	return l, v, nil
}

// assign computes the value of an expression for a column.
func (r *fastRun) assign(x *rowValue, row sql.Row, c *sql.Column) (any, error) {
	l, v, err := r.compute(x, row)
	if err != nil {
		return nil, err
	}
	d, isDecimal := v.(*apd.Decimal)
	to, ok := c.Type.(sql.DecimalType)
	switch {
	case isDecimal && (!ok || -d.Exponent > int32(to.Scale()) && !eval.WholeAt(d, int32(to.Scale()))):
		return nil, errFallback // rounded, which takes a note
	case c.Type.Type() == sqltypes.Timestamp:
		return nil, errFallback // of another time zone than the session's
	}
	out, ok := l.Stored(r.ctx, c.Type)
	if !ok || out == nil && !c.Nullable {
		return nil, errFallback
	}
	return out, nil
}
