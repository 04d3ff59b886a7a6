package expr

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// quantified is left op ANY (query) or left op ALL (query).
type quantified struct {
	left  sql.Expression
	query *plan.Subquery
	op    string
	all   bool
}

var (
	_ sql.Expression         = (*quantified)(nil)
	_ sql.CollationCoercible = (*quantified)(nil)
)

// NewIn is left IN (query) by comparing.
func NewIn(ctx *sql.Context, left sql.Expression, query *plan.Subquery) (sql.Expression, error) {
	return newQuantified(ctx, "=", false, left, query)
}

func newQuantified(ctx *sql.Context, op string, all bool, left,
	right sql.Expression) (sql.Expression, error) {
	query, ok := right.(*plan.Subquery)
	if !ok {
		return nil, sqlerr.New(sqlerr.SyntaxError, "ANY, SOME and ALL are followed by a query in parentheses")
	}
	if types.NumColumns(left.Type(ctx)) != 1 || types.NumColumns(query.Type(ctx)) != 1 {
		return nil, sqlerr.New(sqlerr.OperandColumns, "Operand should contain 1 column(s)")
	}
	return &quantified{left, query, op, all}, nil
}

// Eval implements sql.Expression. ANY is true if one comparison is, ALL is false if one is;
// else NULL if one was NULL.
func (q *quantified) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	left, err := q.left.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	values, err := q.query.EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	unknown := false
	l := q.operand(ctx, q.left, q.query, left)
	for _, v := range values {
		r, err := numbered(ctx, compare(ctx, q.op, l, q.operand(ctx, q.query, q.left, v))).Eval(ctx, nil)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			unknown = true
		case r.(bool) != q.all:
			return !q.all, nil
		}
	}
	if unknown {
		return nil, nil
	}
	return q.all, nil
}

// operand is a value of one side as it is compared with the other: of an ENUM or SET the text, but for a
// number.
func (q *quantified) operand(ctx *sql.Context, side, other sql.Expression, v any) sql.Expression {
	t := side.Type(ctx)
	if v == nil || !IsEnum(t) || types.IsNumber(other.Type(ctx)) {
		return like(ctx, side, v)
	}
	text, err := EnumText(t, v)
	own, ok := t.(sql.TypeWithCollation)
	if err != nil || !ok {
		return like(ctx, side, v)
	}
	const column = 2 // the coercibility of one
	return &value{expression.NewLiteral(text, types.CreateLongText(own.Collation())), own.Collation(), column}
}

// like is a value that compares as the expression that it came from.
func like(ctx *sql.Context, e sql.Expression, v any) sql.Expression {
	t := e.Type(ctx)
	if v == nil {
		t = types.Null
	}
	collation, coercibility := sql.GetCoercibility(ctx, e)
	return &value{expression.NewLiteral(v, t), collation, coercibility}
}

type value struct {
	*expression.Literal
	collation    sql.CollationID
	coercibility byte
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *value) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return v.collation, v.coercibility
}

// numbered is a comparison with numbers in the place of texts that are compared with some.
func numbered(ctx *sql.Context, e sql.Expression) sql.Expression {
	if not, ok := e.(*expression.Not); ok {
		return expression.NewNot(numbered(ctx, not.Child))
	}
	if numbers, err := Numbers(ctx, e); numbers != nil && err == nil {
		return numbers
	}
	return e
}

func compare(ctx *sql.Context, op string, l, r sql.Expression) sql.Expression {
	if weights, ok := Padded(ctx, l, r); ok {
		l, r = weights[0], weights[1]
	}
	switch op {
	case ast.NotEqualStr:
		return expression.NewNot(expression.NewEquals(l, r))
	case ast.LessThanStr:
		return expression.NewLessThan(l, r)
	case ast.LessEqualStr:
		return expression.NewLessThanOrEqual(l, r)
	case ast.GreaterThanStr:
		return expression.NewGreaterThan(l, r)
	case ast.GreaterEqualStr:
		return expression.NewGreaterThanOrEqual(l, r)
	}
	return expression.NewEquals(l, r)
}

func (q *quantified) Resolved() bool               { return q.left.Resolved() && q.query.Resolved() }
func (q *quantified) Type(*sql.Context) sql.Type   { return types.Boolean }
func (q *quantified) IsNullable(*sql.Context) bool { return true }
func (q *quantified) Children() []sql.Expression   { return []sql.Expression{q.left, q.query} }

// String implements sql.Expression.
func (q *quantified) String() string {
	word := "ANY"
	if q.all {
		word = "ALL"
	}
	return fmt.Sprintf("(%s %s %s %s)", q.left, strings.ToUpper(q.op), word, q.query)
}

// CollationCoercibility implements sql.CollationCoercible.
func (*quantified) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (q *quantified) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(q, len(ch), 2)
	}
	return newQuantified(ctx, q.op, q.all, ch[0], ch[1])
}
