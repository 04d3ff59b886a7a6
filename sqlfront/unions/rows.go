package unions

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// values prepares VALUES ROW(…), ROW(…) for the binder: its columns have the types that those of a union of
// its rows have. To the library a column's type is that of its first value, with a few exceptions, so that
// 18446744073709551615 below a 1 was 127, and a moment below a NULL was none.
//
// It was a union of its rows, a tree of them. Each level of one is planned by itself: 4,096 columns of two
// rows took 26 s, 9,000 rows 9 s. Now it stays one node, whose values are bound one after the other: who
// comes last in a column knows the types of all, and settles it before anybody has asked for one.
func values(t *ast.AliasedTableExpr) {
	v, ok := t.Expr.(*ast.ValuesStatement)
	if !ok || len(v.Rows) < 2 || len(v.Rows[0]) == 0 || prepared(v.Rows[0][0]) {
		return
	}
	rows := make(ast.Values, len(v.Rows))
	columns := make([]settling, len(v.Rows[0]))
	for i, row := range v.Rows {
		if len(row) != len(columns) {
			return // the library words it
		}
		rows[i] = make(ast.ValTuple, len(row))
		for j, e := range row {
			if _, ok := e.(*ast.Default); ok {
				return // that of an INSERT
			}
			rows[i][j] = ast.InjectedExpr{Auth: ignored, Children: ast.Exprs{e},
				Expression: rowValue{of: e, column: &columns[j], first: i == 0, last: i == len(rows)-1}}
		}
	}
	if t.As.IsEmpty() { // VALUES is the statement
		t.As = ast.NewTableIdent("values")
	}
	inner := &ast.AliasedTableExpr{Auth: ignored, Expr: &ast.ValuesStatement{Rows: rows}, As: t.As}
	t.Expr = &ast.Subquery{Columns: v.Columns, Select: &ast.Select{
		SelectExprs: ast.SelectExprs{&ast.StarExpr{}}, From: ast.TableExprs{inner}}}
}

func prepared(e ast.Expr) bool {
	i, ok := e.(ast.InjectedExpr)
	if !ok {
		return false
	}
	_, ok = i.Expression.(rowValue)
	return ok
}

// settling is a column of VALUES while its values are bound, from the first row to the last.
type settling struct{ values []*Value }

// rowValue stands in the syntax tree for a value of a column.
type rowValue struct {
	of          ast.Expr
	column      *settling
	first, last bool // of the column
}

// String is the text of the value.
func (r rowValue) String() string { return ast.String(r.of) }

// WithResolvedChildren implements ast.Injectable.
func (r rowValue) WithResolvedChildren(in context.Context, children []any) (any, error) {
	ctx, ok := in.(*sql.Context)
	if !ok || len(children) != 1 {
		return nil, fmt.Errorf("unions: %d values of a row in %T", len(children), in)
	}
	if ctx.Err() != nil { // a statement of megabytes may be told to end while it is bound
		return nil, context.Cause(ctx)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, fmt.Errorf("unions: a value that is %T", children[0])
	}
	v := &Value{expression.UnaryExpressionStub{Child: e}}
	if r.first { // an earlier binding of the same tree may have failed half way
		r.column.values = nil
	}
	r.column.values = append(r.column.values, v)
	if r.last {
		r.column.settle(ctx)
	}
	return v, nil
}

// settle gives all values of the column the type that they have in common.
func (s *settling) settle(ctx *sql.Context) {
	all := make([]column, len(s.values))
	nowhere := plan.NewValues(nil) // no value is that of a stored table's column
	for i, v := range s.values {
		all[i] = column{typ: v.Type(ctx), value: v.Child}
		all[i].settle(ctx, nowhere)
	}
	to, weight := common(ctx, all)
	for i, v := range s.values {
		if !all[i].fits(to) {
			v.Child = newConverted(ctx, v.Child, target{to, weight, all[i].fraction})
		}
	}
	s.values = nil
}

// Value is a value of VALUES. It is in the binder's tree before the type of its column is known; then a
// conversion is put below it.
type Value struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*Value)(nil)
	_ sql.CollationCoercible = (*Value)(nil)
)

// String implements sql.Expression.
func (v *Value) String() string { return v.Child.String() }

// Type implements sql.Expression.
func (v *Value) Type(ctx *sql.Context) sql.Type { return v.Child.Type(ctx) }

// CollationCoercibility implements sql.CollationCoercible.
func (v *Value) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, v.Child)
}

// WithChildren implements sql.Expression.
func (v *Value) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(children), 1)
	}
	return &Value{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval implements sql.Expression.
func (v *Value) Eval(ctx *sql.Context, row sql.Row) (any, error) { return v.Child.Eval(ctx, row) }
