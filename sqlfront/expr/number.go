package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/cast"
	"moka/sqlfront/moment"
	"moka/sqlfront/numeral"
	"moka/sqlfront/sqlerr"
)

// A text where a number is asked for is the number that it begins with (package numeral). The library takes
// other texts for numbers ('0x1f', '1_000', 'inf'), panics at an exponent without digits, writes '1e3000000'
// out, and needs minutes for three million digits. So it is given numbers: Numbers wraps the operands,
// Convert is for whoever stores.

// Number is a text as a DOUBLE or a DECIMAL, or bytes as a text.
type Number struct {
	expression.UnaryExpressionStub
	typ sql.Type
}

var (
	_ sql.Expression         = (*Number)(nil)
	_ sql.CollationCoercible = (*Number)(nil)
)

// newNumber is e as a number. A constant becomes a constant, by which the planner finds an index.
func newNumber(ctx *sql.Context, e sql.Expression, typ sql.Type) sql.Expression {
	n := &Number{expression.UnaryExpressionStub{Child: e}, typ}
	if l, ok := e.(*expression.Literal); ok {
		if v, err := n.of(ctx, l.Value()); err == nil {
			return expression.NewLiteral(v, typ)
		}
	}
	return n
}

func (n *Number) String() string             { return n.Child.String() }
func (n *Number) Type(*sql.Context) sql.Type { return n.typ }
func (n *Number) CollationCoercibility(*sql.Context) (_ sql.CollationID, _ byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (n *Number) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return newNumber(ctx, children[0], n.typ), nil
}

// Eval implements sql.Expression.
func (n *Number) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := n.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return n.of(ctx, v)
}

func (n *Number) of(ctx *sql.Context, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if v == nil || err != nil {
		return nil, err
	}
	text, ok := numberText(v)
	switch f := v.(type) {
	case float64:
		text, ok = string(numeral.AppendDouble(nil, f)), types.IsText(n.typ)
	case float32:
		text, ok = string(numeral.AppendFloat(nil, float64(f), 32)), types.IsText(n.typ)
	}
	if !ok {
		v, _, err = n.typ.Convert(ctx, v)
		return v, err
	}
	if types.IsText(n.typ) {
		return text, nil
	}
	word, whole := "DOUBLE", true
	if types.IsDecimal(n.typ) {
		word = "DECIMAL"
		v, whole = numeral.Decimal(text)
	} else {
		v, whole = numeral.Double(text)
	}
	if !whole {
		truncatedNumber(ctx, word, text)
	}
	return v, nil
}

// truncatedNumber warns as MySQL does, who shows the first 128 bytes.
func truncatedNumber(ctx *sql.Context, word, text string) {
	ctx.Warn(mysql.ERTruncatedWrongValue, "Truncated incorrect %s value: '%s'", word, shortened(text))
}

func shortened(text string) string {
	if len(text) > 128 {
		return strings.ToValidUTF8(text[:128], "") + "..."
	}
	return text
}

func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// Convert is a value as one of the type, as the type's own Convert has it, and numbers as cast.Number. A text
// is the number that it begins with, with sql.ErrTruncatedIncorrect if there is more in it; what is too large
// for a number is the largest, and out of range.
func Convert(ctx *sql.Context, t sql.Type, v any) (any, sql.ConvertInRange, error) {
	d, ok := t.(sql.DecimalType)
	if !ok {
		if j, ok := v.(sql.JSONWrapper); ok && types.IsNumber(t) {
			in, err := j.ToInterface(ctx)
			if err != nil {
				return nil, sql.InRange, err
			}
			v = in
		}
		if out, in, err, ok := cast.Number(t, v); ok {
			return out, in, err
		}
		if IsEnum(t) {
			v = cast.Member(t, v)
		}
		return t.Convert(ctx, v)
	}
	text, ok := numberText(v)
	if !ok {
		out, in, err := t.Convert(ctx, v)
		if types.ErrConvertToDecimalLimit.Is(err) {
			out, err = largest(d, v), nil
			in = sql.Overflow
		}
		return out, in, err
	}
	n, whole := numeral.Decimal(text)
	out, fits, err := n, true, error(nil)
	if t != types.InternalDecimalType { // which has any digits
		out, fits, err = fitted(n, d)
	}
	switch {
	case err != nil:
		return nil, sql.InRange, err
	case !fits:
		return out, sql.Overflow, nil
	case !whole:
		return out, sql.InRange, sql.ErrTruncatedIncorrect.New(t, shortened(text))
	}
	return out, sql.InRange, nil
}

// Held is a value as a column of the type holds it.
func Held(ctx *sql.Context, t sql.Type, v any) (any, sql.ConvertInRange, error) {
	out, in, err := Convert(ctx, t, v)
	if span, ok := out.(types.Timespan); ok && err == nil {
		if own, ok := t.(moment.TimeType); ok {
			out = cast.RoundTime(span, own.Digits)
		}
	}
	return out, in, err
}

// largest is what a DECIMAL holds of a number that is too large.
func largest(t sql.DecimalType, v any) *apd.Decimal {
	d := &apd.Decimal{Exponent: types.DecimalTypeMaxPrecision}
	d.Coeff.SetInt64(1)
	switch v := v.(type) {
	case *apd.Decimal:
		d.Negative = v.Negative
	case float64:
		d.Negative = v < 0
	case float32:
		d.Negative = v < 0
	case int64:
		d.Negative = v < 0
	}
	out, _, _ := fitted(d, t)
	return out
}

// isText reports whether an expression is a text, or bytes that are not a number by themselves, as X'31' is.
func isText(ctx *sql.Context, e sql.Expression) bool {
	if e == nil || !e.Resolved() {
		return false
	}
	if _, done := e.(*Number); done {
		return false
	}
	if l, ok := e.(*expression.Literal); ok {
		if _, hexadecimal := l.Value().([]byte); hexadecimal {
			return false
		}
	}
	return types.IsText(e.Type(ctx))
}

// isBytes is isText of bytes. To the library they are all hexadecimal literals, numbers by their bytes.
func isBytes(ctx *sql.Context, e sql.Expression) bool {
	return isText(ctx, e) && IsBytes(e.Type(ctx))
}

// IsBytes reports whether a type is one of bytes.
func IsBytes(t sql.Type) bool { return types.IsText(t) && !types.IsTextOnly(t) }

// Numbers is e with numbers in the place of texts that it takes for numbers, nil if there are none:
// those that are compared with a DECIMAL, and the operands of arithmetic. Texts that it takes for dates
// or times become Moments.
func Numbers(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	if short, err := withMoments(ctx, e); short != nil || err != nil {
		return short, err
	}
	switch e := e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.GreaterThan,
		*expression.GreaterThanOrEqual, *expression.Between, *expression.InTuple, *expression.HashInTuple:
		decimals, err := comparedDecimals(ctx, e)
		if err != nil {
			return nil, err
		}
		if decimals != nil {
			e = decimals
		}
		if numbers, err := comparedNumbers(ctx, e); numbers != nil || err != nil {
			return numbers, err
		}
		return decimals, nil
	case *expression.Arithmetic:
		return arithmeticNumbers(ctx, e, types.Float64)
	case *expression.Div, *Modulo:
		return arithmeticNumbers(ctx, e, types.Float64)
	case *expression.IntDiv:
		return arithmeticNumbers(ctx, e, types.InternalDecimalType)
	case *expression.UnaryMinus:
		if isText(ctx, e.Child) { // from 0, that there is no -0
			return expression.NewMinus(expression.NewLiteral(float64(0), types.Float64),
				newNumber(ctx, e.Child, types.Float64)), nil
		}
	case *expression.Case:
		if c, err := caseNumbers(ctx, e); c != nil || err != nil {
			return c, err
		}
	case *Case:
		if c, err := caseNumbers(ctx, e.Case); c != nil || err != nil {
			return &Case{c}, err
		}
	case *result:
		if _, ok := e.Expression.(*function.NullIf); !ok {
			return nil, nil
		}
		operands := e.Children()
		eq, err := comparedNumbers(ctx, expression.NewEquals(operands[0], operands[1]))
		if eq == nil || err != nil {
			return nil, err
		}
		return expression.NewCase(nil,
			[]expression.CaseBranch{{Cond: eq, Value: expression.NewLiteral(nil, types.Null)}},
			operands[0]), nil
	case *Sum, *Avg:
		if operand := e.Children()[0]; isText(ctx, operand) {
			return e.WithChildren(ctx, newNumber(ctx, operand, types.Float64))
		}
	}
	return nil, nil
}

// arithmeticNumbers is an operator of two numbers. What an INTERVAL is added to is a date.
func arithmeticNumbers(ctx *sql.Context, e sql.Expression, as sql.Type) (sql.Expression, error) {
	operands, changed := e.Children(), false
	date := slices.ContainsFunc(operands, isInterval)
	out := make([]sql.Expression, len(operands))
	for i, o := range operands {
		switch out[i] = o; {
		case date:
			short, is := asMoment(ctx, o, momentLength)
			out[i], changed = short, changed || is
		case isText(ctx, o):
			out[i], changed = newNumber(ctx, o, as), true
		}
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, out...)
}

// caseNumbers spells out CASE v WHEN w: each comparison has types of its own.
func caseNumbers(ctx *sql.Context, c *expression.Case) (*expression.Case, error) {
	if c.Expr == nil {
		return nil, nil
	}
	branches, changed := make([]expression.CaseBranch, len(c.Branches)), false
	for i, b := range c.Branches {
		eq := expression.NewEquals(c.Expr, b.Cond)
		branches[i] = expression.CaseBranch{Cond: eq, Value: b.Value}
		if again, err := comparedNumbers(ctx, eq); err != nil {
			return nil, err
		} else if again != nil {
			branches[i].Cond, changed = again, true
		}
	}
	if !changed {
		return nil, nil
	}
	return expression.NewCase(nil, branches, c.Else), nil
}

// decimalCast is CAST(x AS DECIMAL(p, s)).
type decimalCast struct {
	expression.UnaryExpressionStub
	typ sql.DecimalType
}

var (
	_ sql.Expression         = (*decimalCast)(nil)
	_ sql.CollationCoercible = (*decimalCast)(nil)
)

func (c *decimalCast) Type(*sql.Context) sql.Type { return c.typ }

// String implements sql.Expression.
func (c *decimalCast) String() string { return fmt.Sprintf("cast(%s as %s)", c.Child, c.typ) }

// CollationCoercibility implements sql.CollationCoercible.
func (*decimalCast) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *decimalCast) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &decimalCast{expression.UnaryExpressionStub{Child: AsNumber(ctx, children[0])}, c.typ}, nil
}

// newDecimalCast is the operator "decimal p s"; without s it is 0, without p 10.
func newDecimalCast(ctx *sql.Context, spec string, e sql.Expression) (sql.Expression, error) {
	precision, scale := 10, 0
	if p, s, ok := strings.Cut(spec, " "); p != "" {
		var err error
		if precision, err = strconv.Atoi(p); err == nil && ok && s != "" {
			scale, err = strconv.Atoi(s)
		}
		if err != nil {
			precision = types.DecimalTypeMaxPrecision + 1
		}
	}
	switch {
	case scale > types.DecimalTypeMaxScale:
		return nil, sqlerr.New(sqlerr.TooBigScale, "Too big scale %d specified for '%s'. Maximum is %d.",
			scale, e, types.DecimalTypeMaxScale)
	case precision > types.DecimalTypeMaxPrecision:
		return nil, sqlerr.New(sqlerr.TooBigPrecision,
			"Too big precision %d specified for '%s'. Maximum is %d.", precision, e,
			types.DecimalTypeMaxPrecision)
	case precision == 0:
		precision = 10
	}
	if scale > precision {
		return nil, sqlerr.New(sqlerr.ScaleOverPrecision,
			"For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", e)
	}
	typ, err := types.CreateColumnDecimalType(uint8(precision), uint8(scale))
	if err != nil {
		return nil, err
	}
	return &decimalCast{expression.UnaryExpressionStub{Child: AsNumber(ctx, e)}, typ}, nil
}

// Eval implements sql.Expression.
func (c *decimalCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	d, err := c.of(ctx, v)
	if d == nil || err != nil {
		return nil, err
	}
	out, in, err := fitted(d, c.typ)
	if err == nil && !in {
		ctx.Warn(mysql.ERWarnDataOutOfRange, "Out of range value for column '%s' at row 1", c)
	}
	return out, err
}

func (c *decimalCast) of(ctx *sql.Context, v any) (*apd.Decimal, error) {
	if j, ok := v.(sql.JSONWrapper); ok {
		in, err := j.ToInterface(ctx)
		if err != nil {
			return nil, err
		}
		v = in
	}
	switch x := v.(type) {
	case *apd.Decimal:
		return x, nil
	case float64:
		d, _ := numeral.Decimal(strconv.FormatFloat(x, 'g', -1, 64))
		return d, nil
	case float32:
		d, _ := numeral.Decimal(strconv.FormatFloat(float64(x), 'g', -1, 32))
		return d, nil
	}
	if text, ok := numberText(v); ok {
		d, whole := numeral.Decimal(text)
		if !whole {
			truncatedNumber(ctx, "DECIMAL", text)
		}
		return d, nil
	}
	out, _, err := types.InternalDecimalType.Convert(ctx, v)
	d, ok := out.(*apd.Decimal)
	if !ok || err != nil {
		return new(apd.Decimal), nil
	}
	return d, nil
}

// fitted is a DECIMAL as one of the type; see numeral.Fit.
func fitted(d *apd.Decimal, t sql.DecimalType) (out *apd.Decimal, in bool, err error) {
	return numeral.Fit(d, int(t.Precision()), int(t.Scale()))
}
