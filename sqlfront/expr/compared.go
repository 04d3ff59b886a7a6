package expr

import (
	"bytes"
	"math"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/numeral"
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
		kept, fits, err := fitted(d, t)
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
	c, out := apd.BaseContext.WithPrecision(2*numeral.MaxDigits), new(apd.Decimal)
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

// comparedNumbers is a comparison. Rows are compared column by column, and so is each item of a list with
// what is looked for in it.
func comparedNumbers(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	operands := e.Children()
	if list, ok := operands[len(operands)-1].(expression.Tuple); ok && len(operands) == 2 && isIn(e) {
		if apart := listsApart(ctx, e, list); apart != nil {
			return apart, nil
		}
		items, changed := alikeNumbers(ctx, append([]sql.Expression{operands[0]}, list...))
		if !changed {
			return nil, nil
		}
		return e.WithChildren(ctx, items[0], expression.NewTuple(items[1:]...))
	}
	mixed := false
	if b, ok := e.(*expression.Between); ok {
		operands, mixed = mixedBounds(ctx, b)
	}
	out, changed := alikeNumbers(ctx, operands)
	if mixed && !changed {
		out, changed = operands, true
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, out...)
}

func isIn(e sql.Expression) bool {
	switch e.(type) {
	case *expression.InTuple, *expression.HashInTuple:
		return true
	}
	return false
}

// listsApart is a text, or an ENUM, that is looked for among texts and numbers: it is compared as a text with
// those, as a number with these, so there are two lists. It is nil if one list does, or what is looked for
// may be another value the second time.
func listsApart(ctx *sql.Context, e sql.Expression, list expression.Tuple) sql.Expression {
	of, steady := e.Children()[0], false
	switch of.(type) {
	case *expression.GetField, *expression.Literal, *expression.ProcedureParam:
		steady = true
	}
	if !of.Resolved() || !isText(ctx, of) && !isEnumValue(ctx, of) {
		return nil
	}
	var texts, numbers expression.Tuple
	text, member := false, true
	for _, item := range list {
		switch {
		case !item.Resolved():
			return nil
		case types.IsNumber(item.Type(ctx)):
			numbers = append(numbers, item)
			continue
		case isText(ctx, item):
			text = true
		}
		texts = append(texts, item)
		member = member && !NotMember(ctx, of.Type(ctx), item)
	}
	if member && (len(numbers) == 0 || !text) || !steady && len(numbers) > 0 {
		return nil
	}
	left := of
	if !member {
		left = NewEnumLabel(of)
	}
	in := expression.NewInTuple(left, expression.NewTuple(texts...))
	if len(numbers) == 0 {
		return in
	}
	operands, _ := alikeNumbers(ctx, append([]sql.Expression{of}, numbers...))
	return expression.NewOr(in, expression.NewInTuple(operands[0], expression.NewTuple(operands[1:]...)))
}

// mixedRange reports whether the bounds of a BETWEEN are, or may become, the constants of a number and of a
// text. The library makes two comparisons of it, before anybody sees the types.
func mixedRange(e *ast.RangeCond) bool {
	from, to := boundOf(e.From), boundOf(e.To)
	return from != to && from != noBound && to != noBound || from == parameterBound || to == parameterBound
}

const (
	noBound = iota
	numberBound
	textBound
	parameterBound
)

func boundOf(e ast.Expr) int {
	e = inner(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Operator == ast.UMinusStr {
		e = inner(u.Expr)
	}
	v, ok := e.(*ast.SQLVal)
	switch {
	case !ok:
		return noBound
	case v.Type == ast.ValArg:
		return parameterBound
	case v.Type == ast.StrVal:
		return textBound
	}
	return numberBound
}

// newBetween is the operator of such a range.
func newBetween(ctx *sql.Context, e, from, to sql.Expression) sql.Expression {
	b := expression.NewBetween(e, from, to)
	if mixed, is := mixedBounds(ctx, b); is {
		return expression.NewBetween(mixed[0], mixed[1], mixed[2])
	}
	return b
}

// mixedBounds are the operands of BETWEEN. All three are compared alike: with a number among them, texts are
// DOUBLEs, while a < or > by itself would compare two texts as texts.
func mixedBounds(ctx *sql.Context, b *expression.Between) (operands []sql.Expression, mixed bool) {
	operands = b.Children()
	number, text := false, false
	for _, o := range operands {
		if !o.Resolved() || IsTemporal(ctx, o) {
			return operands, false
		}
		number = number || types.IsNumber(o.Type(ctx))
		text = text || isText(ctx, o)
	}
	if !number || !text {
		return operands, false
	}
	for i, o := range operands {
		if isText(ctx, o) || isEnumValue(ctx, o) {
			operands[i] = newNumber(ctx, o, types.Float64)
		}
	}
	return operands, true
}

// alikeNumbers makes texts DECIMALs if a DECIMAL is among the operands, DOUBLEs if a DOUBLE is, or an integer
// with a text that is no integer, and Moments if a date or time is. ENUMs and SETs become numbers where texts
// do: the library would make a value of theirs of the number.
func alikeNumbers(ctx *sql.Context, operands []sql.Expression) (out []sql.Expression, changed bool) {
	if first, ok := operands[0].(expression.Tuple); ok {
		return alikeRows(ctx, first, operands)
	}
	operands, changed = hexNumbers(ctx, operands)
	if times, is := alikeTimes(ctx, operands); is {
		operands, changed = times, true
	}
	as, moments, ok := comparedAs(ctx, operands)
	if !ok {
		return operands, changed
	}
	out = make([]sql.Expression, len(operands))
	for i, o := range operands {
		switch out[i] = o; {
		case as == nil && moments:
			short, is := asMoment(ctx, o, momentLength)
			out[i], changed = short, changed || is
		case as == nil:
		case isText(ctx, o), isEnumValue(ctx, o):
			out[i], changed = newNumber(ctx, o, as), true
		}
	}
	if as == nil && moments {
		return out, changed
	}
	if exact, is := exactDecimals(ctx, out); is {
		return exact, true
	}
	return out, changed
}

// comparedAs is the type of number that texts among the operands are compared as, nil for none, and whether
// there is a date or time among them. It is not known before all are resolved.
func comparedAs(ctx *sql.Context, operands []sql.Expression) (as sql.Type, moments, ok bool) {
	integer, between := false, false
	for _, o := range operands {
		if !o.Resolved() {
			return nil, false, false
		}
		switch t := o.Type(ctx); {
		case types.IsFloat(t):
			as = types.Float64
		case types.IsDecimal(t) && as == nil:
			as = types.InternalDecimalType
		}
		integer = integer || types.IsInteger(o.Type(ctx))
		between = between || betweenIntegers(ctx, o) || isBytes(ctx, o)
		moments = moments || IsTemporal(ctx, o)
	}
	if as == nil && integer && between && !moments {
		as = types.Float64
	}
	return as, moments, true
}

// betweenIntegers reports whether a constant is the text of a number that is no integer. The library looks an
// integer column up by the integer that it is rounded to: id <> '1.5' had no row of 2.
func betweenIntegers(ctx *sql.Context, e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok || !isText(ctx, e) {
		return false
	}
	text, ok := numberText(l.Value())
	if !ok {
		return false
	}
	f, _ := numeral.Double(text)
	return f != math.Trunc(f)
}

// isEnumValue reports whether an expression has the value of an ENUM or SET. The library gives a constant
// that is compared with one the type, which it has not.
func isEnumValue(ctx *sql.Context, e sql.Expression) bool {
	_, constant := e.(*expression.Literal)
	return !constant && IsEnum(e.Type(ctx))
}

// alikeRows is alikeNumbers of rows, column by column.
func alikeRows(
	ctx *sql.Context, first expression.Tuple, operands []sql.Expression,
) (out []sql.Expression, changed bool) {
	rows := make([]expression.Tuple, len(operands))
	for i, o := range operands {
		row, ok := o.(expression.Tuple)
		if !ok || len(row) != len(first) {
			return nil, false
		}
		rows[i] = append(expression.Tuple(nil), row...)
	}
	for c := range first {
		column := make([]sql.Expression, len(rows))
		for i, row := range rows {
			column[i] = row[c]
		}
		if column, is := alikeNumbers(ctx, column); is {
			changed = true
			for i := range rows {
				rows[i][c] = column[i]
			}
		}
	}
	for _, row := range rows {
		out = append(out, expression.NewTuple(row...))
	}
	return out, changed
}
