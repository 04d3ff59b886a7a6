package expr

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/numeral"
	"moka/sqlfront/sqlerr"
)

// integers is +, -, *, DIV or % of two integers. The library computes in the wrapping arithmetic of int64, in
// which 9223372036854775807 + 1 is negative, and adds an UNSIGNED as if it were signed. It is a kind of the
// library's expression, so that what looks for arithmetic in a plan finds it.
type integers struct {
	*expression.Arithmetic
	unsigned bool
}

var (
	_ sql.Expression              = (*integers)(nil)
	_ sql.CollationCoercible      = (*integers)(nil)
	_ expression.ArithmeticOp     = (*integers)(nil)
	_ expression.BinaryExpression = (*integers)(nil)
)

// newArithmetic is left op right: ours for two integers, the library's for everything else.
func newArithmetic(ctx *sql.Context, op string, left, right sql.Expression) sql.Expression {
	if !isInterval(left) && !isInterval(right) && isInteger(ctx, left) && isInteger(ctx, right) {
		l, r := left.Type(ctx), right.Type(ctx)
		unsigned := isUnsigned(left, l) || isUnsigned(right, r)
		if op == ast.ModStr {
			unsigned = isUnsigned(left, l)
		}
		if op == ast.MinusStr && unsigned && sql.LoadSqlMode(ctx).ModeEnabled("NO_UNSIGNED_SUBTRACTION") {
			unsigned = false
		}
		return &integers{expression.NewArithmetic(left, right, op), unsigned}
	}
	switch op {
	case ast.IntDivStr:
		return expression.NewIntDiv(left, right)
	case ast.ModStr:
		return &Modulo{expression.NewMod(left, right)}
	}
	return expression.NewArithmetic(left, right, op)
}

// Modulo is left % right. The library's fails if DECIMALs are more digits apart than one of them has.
type Modulo struct{ *expression.Mod }

// Type implements sql.Expression. The library takes the constant 1e-5 for a DECIMAL.
func (m *Modulo) Type(ctx *sql.Context) sql.Type {
	if types.IsFloat(m.LeftChild.Type(ctx)) || types.IsFloat(m.RightChild.Type(ctx)) {
		return types.Float64
	}
	return m.Mod.Type(ctx)
}

// WithChildren implements sql.Expression.
func (m *Modulo) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(ch), 2)
	}
	return &Modulo{expression.NewMod(ch[0], ch[1])}, nil
}

// doubles is the remainder of operands of which the library makes DECIMALs.
func (m *Modulo) doubles(ctx *sql.Context, l, r any) (any, error) {
	a, err := doubleOf(ctx, l)
	if err != nil {
		return nil, err
	}
	b, err := doubleOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if b == 0 {
		ctx.Warn(sqlerr.DivisionByZero, "Division by 0")
		return nil, nil
	}
	if f := math.Mod(a, b); f != 0 {
		return f, nil
	}
	return float64(0), nil // and not -0
}

// Eval implements sql.Expression.
func (m *Modulo) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if !types.IsDecimal(m.Type(ctx)) && !types.IsDecimal(m.Mod.Type(ctx)) {
		v, err := m.Mod.Eval(ctx, row)
		if f, ok := v.(float64); ok && f == 0 {
			v = float64(0) // and not -0
		}
		return v, err
	}
	l, err := m.LeftChild.Eval(ctx, row)
	if l == nil || err != nil {
		return nil, err
	}
	r, err := m.RightChild.Eval(ctx, row)
	if r == nil || err != nil {
		return nil, err
	}
	if !types.IsDecimal(m.Type(ctx)) {
		return m.doubles(ctx, l, r)
	}
	a, err := asDecimal(ctx, l)
	if err != nil {
		return nil, err
	}
	b, err := asDecimal(ctx, r)
	if err != nil {
		return nil, err
	}
	if b.IsZero() {
		ctx.Warn(sqlerr.DivisionByZero, "Division by 0")
		return nil, nil
	}
	return numeral.Remainder(a, b)
}

// Signed is a number that is written down as MySQL takes it: an integer has a sign, unless it is above that
// of 64 bits. The library's type of 200 is that of a byte without one: @a := 200 made @a - 300 an error.
func Signed(l *expression.Literal) *expression.Literal {
	switch v := l.Value().(type) {
	case uint8:
		return expression.NewLiteral(int64(v), types.Int64)
	case uint16:
		return expression.NewLiteral(int64(v), types.Int64)
	case uint32:
		return expression.NewLiteral(int64(v), types.Int64)
	}
	return l
}

// isUnsigned reports whether an operand makes the result unsigned. A number that is written down does only if
// it has to be, whether it is Signed yet or not.
func isUnsigned(e sql.Expression, t sql.Type) bool {
	if l, ok := e.(*expression.Literal); ok {
		switch l.Value().(type) {
		case uint8, uint16, uint32:
			return false
		}
	}
	return types.IsUnsigned(t)
}

func isInterval(e sql.Expression) bool {
	_, ok := e.(expression.TimeDeltaExpression)
	return ok
}

// isInteger reports whether the type is one of integers. Neither of a parameter that has no
// value yet, nor of NULL.
func isInteger(ctx *sql.Context, e sql.Expression) bool {
	t := e.Type(ctx)
	return !types.IsDeferredType(t) && types.IsInteger(t)
}

// Type implements sql.Expression.
func (e *integers) Type(*sql.Context) sql.Type {
	if e.unsigned {
		return types.Uint64
	}
	return types.Int64
}

// IsNullable implements sql.Expression.
func (e *integers) IsNullable(ctx *sql.Context) bool {
	return e.Op == ast.IntDivStr || e.Op == ast.ModStr || e.LeftChild.IsNullable(ctx) ||
		e.RightChild.IsNullable(ctx)
}

// String implements sql.Expression.
func (e *integers) String() string {
	return fmt.Sprintf("(%s %s %s)", e.LeftChild, e.Op, e.RightChild)
}

// WithChildren implements sql.Expression.
func (e *integers) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(ch), 2)
	}
	return &integers{expression.NewArithmetic(ch[0], ch[1], e.Op), e.unsigned}, nil
}

// Eval implements sql.Expression.
func (e *integers) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := e.LeftChild.Eval(ctx, row)
	if l == nil || err != nil {
		return nil, err
	}
	r, err := e.RightChild.Eval(ctx, row)
	if r == nil || err != nil {
		return nil, err
	}
	a, ok := wide(l)
	b, ok2 := wide(r)
	if !ok || !ok2 {
		// A value of another type than the expression says; the library has its ways with it.
		switch e.Op {
		case ast.IntDivStr:
			return expression.NewIntDiv(e.LeftChild, e.RightChild).Eval(ctx, row)
		case ast.ModStr:
			return expression.NewMod(e.LeftChild, e.RightChild).Eval(ctx, row)
		}
		return e.Arithmetic.Eval(ctx, row)
	}
	var sum number
	switch e.Op {
	case ast.PlusStr:
		sum, ok = a.add(b)
	case ast.MinusStr:
		sum, ok = a.add(b.neg())
	case ast.MultStr:
		sum, ok = a.mul(b)
	case ast.ModStr:
		if b.abs == 0 {
			ctx.Warn(sqlerr.DivisionByZero, "Division by 0")
			return nil, nil
		}
		m := a.abs % b.abs
		sum, ok = number{a.negative && m != 0, m}, true
	case ast.IntDivStr:
		if b.abs == 0 {
			ctx.Warn(sqlerr.DivisionByZero, "Division by 0")
			return nil, nil
		}
		q := a.abs / b.abs
		sum, ok = number{a.negative != b.negative && q != 0, q}, true
	default:
		return nil, fmt.Errorf("expr: no operator %s", e.Op)
	}
	if e.unsigned {
		if ok && !sum.negative {
			return sum.abs, nil
		}
		return nil, outOfRange("BIGINT UNSIGNED", e)
	}
	if n, in := sum.signed(); ok && in {
		return n, nil
	}
	return nil, outOfRange("BIGINT", e)
}

func outOfRange(what string, e sql.Expression) error {
	return sqlerr.New(sqlerr.DataOutOfRange, "%s value is out of range in '%s'", what, e)
}

// number is an integer of 65 bits: a sign and an absolute value. Zero is not negative.
type number struct {
	negative bool
	abs      uint64
}

func wide(v any) (number, bool) {
	switch v := v.(type) {
	case int8:
		return fromSigned(int64(v)), true
	case int16:
		return fromSigned(int64(v)), true
	case int32:
		return fromSigned(int64(v)), true
	case int64:
		return fromSigned(v), true
	case int:
		return fromSigned(int64(v)), true
	case uint8:
		return number{abs: uint64(v)}, true
	case uint16:
		return number{abs: uint64(v)}, true
	case uint32:
		return number{abs: uint64(v)}, true
	case uint64:
		return number{abs: v}, true
	case uint:
		return number{abs: uint64(v)}, true
	case bool:
		if v {
			return number{abs: 1}, true
		}
		return number{}, true
	}
	return number{}, false
}

func fromSigned(n int64) number {
	if n < 0 {
		return number{true, -uint64(n)}
	}
	return number{abs: uint64(n)}
}

func (n number) neg() number { return number{!n.negative && n.abs != 0, n.abs} }

// add says ok unless the absolute value has more than 64 bits.
func (n number) add(m number) (number, bool) {
	if n.negative == m.negative {
		sum, carry := bits.Add64(n.abs, m.abs, 0)
		return number{n.negative && sum != 0, sum}, carry == 0
	}
	if n.abs >= m.abs {
		d := n.abs - m.abs
		return number{n.negative && d != 0, d}, true
	}
	return number{m.negative, m.abs - n.abs}, true
}

func (n number) mul(m number) (number, bool) {
	hi, lo := bits.Mul64(n.abs, m.abs)
	return number{n.negative != m.negative && lo != 0, lo}, hi == 0
}

// signed is the number as an int64, if it is one.
func (n number) signed() (int64, bool) {
	if n.negative {
		return -int64(n.abs), n.abs <= 1<<63
	}
	return int64(n.abs), n.abs <= math.MaxInt64
}

// negation is - of an integer; the library's gives the number back in the type of the operand, or wraps.
type negation struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*negation)(nil)
	_ sql.CollationCoercible = (*negation)(nil)
)

func newNegation(ctx *sql.Context, child sql.Expression) sql.Expression {
	if _, literal := child.(*expression.Literal); literal || !isInteger(ctx, child) {
		return expression.NewUnaryMinus(child)
	}
	return &negation{expression.UnaryExpressionStub{Child: child}}
}

// Type implements sql.Expression.
func (*negation) Type(*sql.Context) sql.Type { return types.Int64 }

// CollationCoercibility implements sql.CollationCoercible.
func (*negation) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (e *negation) String() string { return fmt.Sprintf("-%s", e.Child) }

// WithChildren implements sql.Expression.
func (e *negation) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(ch), 1)
	}
	return &negation{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// Eval implements sql.Expression.
func (e *negation) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	n, ok := wide(v)
	if !ok {
		return expression.NewUnaryMinus(e.Child).Eval(ctx, row)
	}
	if out, in := n.neg().signed(); in {
		return out, nil
	}
	return nil, outOfRange("BIGINT", e)
}

// inversion is ~, which the library does not have: the 64 bits of an integer, inverted.
type inversion struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*inversion)(nil)
	_ sql.CollationCoercible = (*inversion)(nil)
)

// Type implements sql.Expression.
func (*inversion) Type(*sql.Context) sql.Type { return types.Uint64 }

// CollationCoercibility implements sql.CollationCoercible.
func (*inversion) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (e *inversion) String() string { return fmt.Sprintf("~%s", e.Child) }

// WithChildren implements sql.Expression.
func (e *inversion) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(ch), 1)
	}
	return &inversion{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// Eval implements sql.Expression.
func (e *inversion) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	n, null, err := bitsOf(ctx, e.Child, row)
	if null || err != nil {
		return nil, err
	}
	return ^n, nil
}
