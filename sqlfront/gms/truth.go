package gms

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/expr"
)

// truth is a date or a time as a condition: it is true unless all of it is zero. The library asks for the
// nanoseconds since 1970, so that DATE'1970-01-01' was false, and knows nothing of TIME.
type truth struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*truth)(nil)
	_ sql.CollationCoercible = (*truth)(nil)
)

// String implements sql.Expression.
func (t *truth) String() string { return t.Child.String() }

// Type implements sql.Expression.
func (*truth) Type(*sql.Context) sql.Type { return types.Boolean }

// CollationCoercibility implements sql.CollationCoercible.
func (*truth) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (t *truth) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(t, len(children), 1)
	}
	return &truth{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval implements sql.Expression.
func (t *truth) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := t.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case time.Time:
		return !v.Equal(types.ZeroTime), nil
	case types.Timespan:
		return v != 0, nil
	}
	return sql.ConvertToBool(ctx, v)
}

// asTruth is e where a condition is asked for, which of a hexadecimal literal is its number: the library
// takes its bytes for the text of one, so that x'30' was false and x'61', too. ok is false if that is e
// itself.
func asTruth(ctx *sql.Context, e sql.Expression) (_ sql.Expression, ok bool) {
	if e == nil || !e.Resolved() {
		return e, false
	}
	if n := expr.HexNumber(ctx, e); n != nil {
		return n, true
	}
	switch e.Type(ctx).Type() {
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp, sqltypes.Time:
		return &truth{expression.UnaryExpressionStub{Child: e}}, true
	}
	return e, false
}

// Truths is an expression with truth values in the place of dates, times and hexadecimal literals that it
// takes for conditions, nil if there are none.
func Truths(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	n := 0 // of the operands, how many are conditions
	switch e := e.(type) {
	case *expression.And, *expression.Or, *expression.Xor:
		n = 2
	case *expression.Not, *expression.IsTrue:
		n = 1
	case *expression.Case:
		return truthsOfCase(ctx, e)
	case sql.FunctionExpression:
		if e.FunctionName() == "if" {
			n = 1
		}
	}
	if n == 0 {
		return nil, nil
	}
	operands, changed := e.Children(), false
	out := append([]sql.Expression(nil), operands...)
	for i := range min(n, len(out)) {
		truth, ok := asTruth(ctx, out[i])
		out[i], changed = truth, changed || ok
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, out...)
}

func truthsOfCase(ctx *sql.Context, c *expression.Case) (sql.Expression, error) {
	if c.Expr != nil {
		return nil, nil
	}
	branches, changed := make([]expression.CaseBranch, len(c.Branches)), false
	for i, b := range c.Branches {
		cond, ok := asTruth(ctx, b.Cond)
		branches[i], changed = expression.CaseBranch{Cond: cond, Value: b.Value}, changed || ok
	}
	if !changed {
		return nil, nil
	}
	return expression.NewCase(nil, branches, c.Else), nil
}

// TrueRows does the same with the conditions by which nodes choose rows.
func TrueRows(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
		transform.TreeIdentity, error) {
		var condition sql.Expression
		switch n := n.(type) {
		case *plan.Filter:
			condition = n.Expression
		case *plan.Having:
			condition = n.Cond
		case *plan.JoinNode:
			condition = n.Filter
		default:
			return n, transform.SameTree, nil
		}
		truth, ok := asTruth(ctx, condition)
		if !ok {
			return n, transform.SameTree, nil
		}
		n, err := n.(sql.Expressioner).WithExpressions(ctx, truth)
		return n, transform.NewTree, err
	})
}
