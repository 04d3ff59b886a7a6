package parse

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// AsOfUnbound is what AS OF ? comes to while a statement is being prepared: the planner evaluates it although
// there is no value yet.
var AsOfUnbound = LockPrefix + "unbound"

// wrapTimes makes expressions of AS OF such as the planner takes: it knows literals, variables
// and calls of functions.
func wrapTimes(stmt ast.Statement) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if t, ok := n.(*ast.AliasedTableExpr); ok && t.AsOf != nil {
			t.AsOf.Time = wrapTime(t.AsOf.Time)
		}
		return true, nil
	}, stmt)
}

func wrapTime(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case nil, *ast.ColName, *ast.FuncExpr:
		return e
	case *ast.SQLVal:
		if x.Type != ast.ValArg {
			return e
		}
	}
	return ast.InjectedExpr{Expression: asOfTime{}, Children: ast.Exprs{e},
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}}
}

// asOfTime is the value of its child.
type asOfTime struct{ child sql.Expression }

var _ sql.Expression = asOfTime{}

// WithResolvedChildren implements ast.Injectable.
func (asOfTime) WithResolvedChildren(_ context.Context, children []any) (any, error) {
	if len(children) == 1 {
		if e, ok := children[0].(sql.Expression); ok {
			return asOfTime{e}, nil
		}
	}
	return nil, fmt.Errorf("AS OF with %d expressions", len(children))
}

func (e asOfTime) Resolved() bool                   { return e.child.Resolved() }
func (e asOfTime) String() string                   { return e.child.String() }
func (e asOfTime) Type(ctx *sql.Context) sql.Type   { return e.child.Type(ctx) }
func (e asOfTime) IsNullable(ctx *sql.Context) bool { return e.child.IsNullable(ctx) }
func (e asOfTime) Children() []sql.Expression       { return []sql.Expression{e.child} }
func (e asOfTime) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.child.Eval(ctx, row)
	if sql.ErrUnboundPreparedStatementVariable.Is(err) {
		return AsOfUnbound, nil
	}
	return v, err
}

func (e asOfTime) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return asOfTime{children[0]}, nil
}
