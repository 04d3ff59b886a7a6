package expr

import (
	"bytes"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// constantOperator is around a constant, or a parameter, that is compared: the library rounds a DECIMAL that
// is compared with a column to the column's decimals, as soon as it binds the two.
const constantOperator = "constant"

// constant puts the operator around what is compared with a column and may become a DECIMAL.
func (r rewriter) constant(n *ast.ComparisonExpr, at *ast.Expr, with ast.Expr) {
	switch n.Operator {
	case ast.EqualStr, ast.NullSafeEqualStr, ast.NotEqualStr, ast.LessThanStr, ast.LessEqualStr,
		ast.GreaterThanStr, ast.GreaterEqualStr:
	default:
		return
	}
	if _, ok := inner(with).(*ast.ColName); !ok {
		return
	}
	v, ok := inner(*at).(*ast.SQLVal)
	if ok && (v.Type == ast.ValArg || v.Type == ast.FloatVal && !bytes.ContainsAny(v.Val, "eE")) {
		*at = r.operator(constantOperator, v, v)
	}
}

// inner is what stands in parentheses.
func inner(e ast.Expr) ast.Expr {
	for p, ok := e.(*ast.ParenExpr); ok; p, ok = e.(*ast.ParenExpr) {
		e = p.Expr
	}
	return e
}

// constant is a DECIMAL that nobody has rounded.
type constant struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*constant)(nil)
	_ sql.CollationCoercible = (*constant)(nil)
)

func newConstant(ctx *sql.Context, e sql.Expression) sql.Expression {
	if l, ok := e.(*expression.Literal); ok && types.IsDecimal(l.Type(ctx)) {
		return &constant{expression.UnaryExpressionStub{Child: l}}
	}
	return e
}

func (c *constant) String() string                 { return c.Child.String() }
func (c *constant) Type(ctx *sql.Context) sql.Type { return c.Child.Type(ctx) }

// WithChildren implements sql.Expression.
func (c *constant) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(cs), 1)
	}
	return &constant{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*constant) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (c *constant) Eval(ctx *sql.Context, row sql.Row) (any, error) { return c.Child.Eval(ctx, row) }

// bare is a comparison of the constants themselves, nil if there are none.
func bare(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	operands, found := e.Children(), false
	for i, o := range operands {
		if c, ok := o.(*constant); ok {
			operands[i], found = c.Child, true
		}
	}
	if !found {
		return nil, nil
	}
	return e.WithChildren(ctx, operands...)
}

// roundsOthers reports whether a DECIMAL is the type of a column, to whose decimals the library rounds
// whatever it compares with the column: 1.251 was equal to a DECIMAL(6,2) of 1.25. A computed DECIMAL rounds
// nothing.
func roundsOthers(ctx *sql.Context, t sql.Type) (sql.DecimalType, bool) {
	d, ok := t.(sql.DecimalType)
	if !ok {
		return nil, false
	}
	n, err := d.Compare(ctx, apd.New(1, -int32(d.Scale())-1), apd.New(0, 0))
	return d, err == nil && n == 0
}

// exactDecimals are the operands of a comparison of which none is rounded to another's decimals: where one
// might be, the column is hidden behind a wider type, which also keeps it from being looked up in an index by
// a key that is rounded, or out of its range.
func exactDecimals(ctx *sql.Context, operands []sql.Expression) (out []sql.Expression, changed bool) {
	for i, o := range operands {
		t, ok := roundsOthers(ctx, o.Type(ctx))
		if !ok || holdsAll(ctx, t, operands) {
			continue
		}
		if out == nil {
			out = append(out, operands...)
		}
		wide := decimal(int(t.Precision()), int(t.Scale()))
		out[i] = &unrounded{expression.UnaryExpressionStub{Child: o}, wide}
	}
	return out, out != nil
}

// holdsAll reports whether each operand is a value that a column of that type has as it is.
func holdsAll(ctx *sql.Context, t sql.DecimalType, operands []sql.Expression) bool {
	for _, o := range operands {
		if !holds(ctx, t, o) {
			return false
		}
	}
	return true
}

func holds(ctx *sql.Context, t sql.DecimalType, e sql.Expression) bool {
	of := e.Type(ctx)
	if of == types.Null {
		return true
	}
	if l, ok := e.(*expression.Literal); ok && l.Value() != nil && types.IsNumber(of) {
		d, _ := asDecimal(ctx, l.Value())
		kept, fits, err := inPrecision(d, t)
		return err == nil && fits && kept.Cmp(d) == 0
	}
	if d, ok := roundsOthers(ctx, of); ok {
		return d.Scale() <= t.Scale()
	}
	_, text := e.(*Number)
	return !text && types.IsNumber(of) && !types.IsFloat(of) && !types.IsDecimal(of)
}

// comparedDecimals is a comparison by whose constants no column is rounded, nil if it is the same.
func comparedDecimals(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	again, err := bare(ctx, e)
	if err != nil {
		return nil, err
	}
	if again != nil {
		e = again
	}
	if bounded, err := wholeBounds(ctx, e); bounded != nil || err != nil {
		return bounded, err
	}
	return again, nil
}

// wholeBounds is a comparison by order of a DECIMAL column with a constant between two of its values, with
// the one of the two that says the same: w < 1.504 is w < 1.51, for which an index serves. It is nil if there
// is nothing to do.
func wholeBounds(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	up, down := apd.RoundCeiling, apd.RoundFloor
	switch e.(type) {
	case *expression.LessThan, *expression.GreaterThanOrEqual:
		return withBounds(ctx, e, bound{1, 0, up}, bound{0, 1, down})
	case *expression.GreaterThan, *expression.LessThanOrEqual:
		return withBounds(ctx, e, bound{1, 0, down}, bound{0, 1, up})
	case *expression.Between:
		return withBounds(ctx, e, bound{1, 0, up}, bound{2, 0, down})
	}
	return nil, nil
}

// bound is a constant that is compared with a column, each by its place among the operands, and the direction
// in which it may be rounded.
type bound struct {
	constant, column int
	to               apd.Rounder
}

func withBounds(ctx *sql.Context, e sql.Expression, bounds ...bound) (sql.Expression, error) {
	operands := e.Children()
	changed := false
	for _, b := range bounds {
		if l := b.rounded(ctx, operands); l != nil {
			operands[b.constant], changed = l, true
		}
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, operands...)
}

// rounded is the constant, nil if it is none, or needs no rounding.
func (b bound) rounded(ctx *sql.Context, operands []sql.Expression) sql.Expression {
	column, ok := operands[b.column].(*expression.GetField)
	if !ok {
		return nil
	}
	t, ok := roundsOthers(ctx, column.Type(ctx))
	if !ok {
		return nil
	}
	l, ok := operands[b.constant].(*expression.Literal)
	if !ok || holds(ctx, t, l) {
		return nil
	}
	d, ok := l.Value().(*apd.Decimal)
	if !ok {
		return nil
	}
	c, out := apd.BaseContext.WithPrecision(2*maxDigits), new(apd.Decimal)
	c.Rounding = b.to
	if _, err := c.Quantize(out, d, -int32(t.Scale())); err != nil {
		return nil
	}
	return expression.NewLiteral(out, decimal(int(t.Precision()), int(t.Scale())))
}

// unrounded is a DECIMAL column of a type that rounds nothing that it is compared with.
type unrounded struct {
	expression.UnaryExpressionStub
	typ sql.Type
}

var (
	_ sql.Expression         = (*unrounded)(nil)
	_ sql.CollationCoercible = (*unrounded)(nil)
)

func (e *unrounded) String() string             { return e.Child.String() }
func (e *unrounded) Type(*sql.Context) sql.Type { return e.typ }

// WithChildren implements sql.Expression.
func (e *unrounded) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 1)
	}
	return &unrounded{expression.UnaryExpressionStub{Child: cs[0]}, e.typ}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (e *unrounded) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// Eval implements sql.Expression.
func (e *unrounded) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }
