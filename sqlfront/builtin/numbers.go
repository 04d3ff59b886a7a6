package builtin

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// numberFunction is a function of numbers, or of dates of zeros, of which the library's is wrong at the ends:
// ABS(-2147483648) of an INT stayed what it was, FORMAT of more than sixteen digits was 0, BIT_COUNT of 64
// bits 63.
func numberFunction(name string) (sql.Function, bool) {
	switch name {
	case "abs":
		return sql.Function1{Name: name, Fn: NewAbs}, true
	case "length", "octet_length", "to_base64":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return ofBytes[name](ctx, spell(ctx, e))
		}}, true
	case "bin", "oct", "hex":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return inBase(ctx, name, e)
		}}, true
	case "str_to_date":
		return sql.Function2{Name: name, Fn: func(ctx *sql.Context, s, f sql.Expression) sql.Expression {
			if t := resolvedType(ctx, s); t != nil && types.IsNumber(t) {
				s = expression.NewConvert(s, expression.ConvertToChar)
			}
			return newStrToDate(ctx, s, f)
		}}, true
	case "bit_count":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			if types.IsUnsigned(e.Type(ctx)) || types.IsDecimal(e.Type(ctx)) {
				e = &bits{expression.UnaryExpressionStub{Child: e}}
			}
			return function.NewBitCount(ctx, e)
		}}, true
	case "left", "right", "reverse", "substr", "substring", "mid":
		return ofNumbers(name)
	case "date_format":
		return sql.Function2{Name: name, Fn: newDateFormat}, true
	case "format":
		return sql.FunctionN{Name: name, Fn: newFormat}, true
	}
	return nil, false
}

// inBase is BIN, OCT or HEX, of a number by the 64 bits of the integer that it is, or, for HEX, is rounded
// to.
func inBase(ctx *sql.Context, name string, e sql.Expression) sql.Expression {
	t := resolvedType(ctx, e)
	if t == nil || types.IsBit(t) || !types.IsInteger(t) && (name != "hex" || !types.IsNumber(t)) {
		library := map[string]func(*sql.Context, sql.Expression) sql.Expression{
			"bin": function.NewBin, "oct": function.NewOct, "hex": function.NewHex,
		}
		if name == "hex" {
			e = spell(ctx, e)
		}
		return library[name](ctx, e)
	}
	base := map[string]int{"bin": 2, "oct": 8, "hex": 16}[name]
	if types.IsUnsigned(t) || types.IsDecimal(t) {
		e = &bits{expression.UnaryExpressionStub{Child: e}}
	}
	return Of(name, types.LongText, types.Int64, e, func(_ *sql.Context, args []any) (any, error) {
		return strings.ToUpper(strconv.FormatUint(uint64(args[0].(int64)), base)), nil
	})
}

// ofNumbers is the library's function of that name, of numbers as texts: it refuses them, or makes its result
// a number again.
func ofNumbers(name string) (sql.Function, bool) {
	library, ok := libraryFunction(name)
	if !ok {
		return nil, false
	}
	call := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) > 0 {
			if t := resolvedType(ctx, args[0]); t != nil && types.IsNumber(t) {
				args = slices.Clone(args)
				args[0] = expression.NewConvert(args[0], expression.ConvertToChar)
			}
		}
		if name != "reverse" {
			args = counted(args)
		}
		return library.NewInstance(ctx, args)
	}
	return sql.FunctionN{Name: name, Fn: call}, true
}

// resolvedType is the type of an operand, nil if it is not known yet. CONVERT(… USING …) is the library's
// when it is bound, and bytes are bytes to that.
func resolvedType(ctx *sql.Context, e sql.Expression) sql.Type {
	if !e.Resolved() {
		return nil
	}
	if c, ok := e.(*expression.ConvertUsing); ok && charset.Storable(c.TargetCharSet) {
		return convertUsing{c}.Type(ctx)
	}
	return e.Type(ctx)
}

// NewAbs is ABS, whose result for the least BIGINT is an error.
func NewAbs(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := resolvedType(ctx, e)
	if t == nil || !types.IsSigned(t) {
		return function.NewAbsVal(ctx, e)
	}
	return Of("abs", types.Int64, types.Int64, e, func(_ *sql.Context, args []any) (any, error) {
		n := args[0].(int64)
		if n == math.MinInt64 {
			return nil, sqlerr.New(sqlerr.DataOutOfRange, "BIGINT value is out of range in 'abs(%s)'", e)
		}
		return max(n, -n), nil
	})
}

// bits are an UNSIGNED, or a DECIMAL, as the signed integer of the same bits.
type bits struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*bits)(nil)
	_ sql.CollationCoercible = (*bits)(nil)
)

func (b *bits) String() string             { return b.Child.String() }
func (b *bits) Type(*sql.Context) sql.Type { return types.Int64 }

// CollationCoercibility implements sql.CollationCoercible.
func (*bits) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (b *bits) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(ch), 1)
	}
	return &bits{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// Eval implements sql.Expression.
func (b *bits) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if d, ok := v.(*apd.Decimal); ok && d.Negative {
		n, _, err := types.Int64.Convert(ctx, d)
		return n, err
	}
	n, _, err := types.Uint64.Convert(ctx, v)
	if u, ok := n.(uint64); ok && err == nil {
		return int64(u), nil
	}
	return n, err
}

// newFormat is FORMAT(n, digits); other locales are the library's.
func newFormat(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 2 {
		return function.NewFormat(ctx, args...)
	}
	f := &computed{
		NaryExpression: expression.NaryExpression{ChildExpressions: args},
		name:           "format", typ: types.CreateLongText(ctx.GetCollation()),
		takes: []sql.Type{types.InternalDecimalType, types.Float64}, compute: format,
	}
	t, digits := resolvedType(ctx, args[0]), resolvedType(ctx, args[1])
	switch {
	case t == nil || digits == nil || !types.IsNumber(digits):
	case types.IsInteger(t) || types.IsDecimal(t):
		return f, nil
	case types.IsFloat(t):
		f.takes, f.compute = []sql.Type{types.Float64, types.Float64}, formatFloat
		return f, nil
	}
	return function.NewFormat(ctx, args...)
}

// formatFloat is FORMAT of a floating point number. The library's goes through an int64, which does not hold
// those from 2^63 on: they have no digits behind the point.
func formatFloat(ctx *sql.Context, args []any) (any, error) {
	n, digits := args[0].(float64), args[1].(float64)
	if math.Abs(n) >= 1<<62 {
		d, _, err := apd.NewFromString(strconv.FormatFloat(n, 'f', -1, 64))
		if err != nil {
			return nil, err
		}
		return format(ctx, []any{d, digits})
	}
	f, err := function.NewFormat(ctx, expression.NewLiteral(n, types.Float64),
		expression.NewLiteral(digits, types.Float64))
	if err != nil {
		return nil, err
	}
	return f.Eval(ctx, nil)
}

// mostDigits is how many FORMAT writes behind the point.
const mostDigits = 30

func format(_ *sql.Context, args []any) (any, error) {
	digits := int32(max(0, min(mostDigits, math.Round(args[1].(float64)))))
	context := apd.BaseContext.WithPrecision(400) // the largest DOUBLE has 309 before the point
	context.Rounding = apd.RoundHalfUp
	d := new(apd.Decimal)
	if _, err := context.Quantize(d, args[0].(*apd.Decimal), -digits); err != nil {
		return nil, err
	}
	sign := ""
	if d.Negative && d.Coeff.Sign() != 0 {
		sign = "-"
	}
	d.Negative = false
	whole, fraction, point := strings.Cut(d.Text('f'), ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if point {
		b.WriteString("." + fraction)
	}
	return b.String(), nil
}

// dateDiff is DATEDIFF. The library's is a duration, which has no more than 292 years.
func dateDiff(_ *sql.Context, args []any) (any, error) {
	day := func(t time.Time) int64 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / secondsADay
	}
	return day(args[0].(time.Time)) - day(args[1].(time.Time)), nil
}

// inetNtoa is INET_NTOA, NULL of what is no address.
func inetNtoa(_ *sql.Context, args []any) (any, error) {
	n := args[0].(int64)
	if n < 0 || n > math.MaxUint32 {
		return nil, nil
	}
	return fmt.Sprintf("%d.%d.%d.%d", n>>24, n>>16&255, n>>8&255, n&255), nil
}

// inetAton is INET_ATON. Of fewer than four parts the last is the address's end: '1.2' is '1.0.0.2'.
func inetAton(_ *sql.Context, args []any) (any, error) {
	parts := strings.Split(args[0].(string), ".")
	if len(parts) > 4 {
		return nil, nil
	}
	var address uint32
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return nil, nil
		}
		if i == len(parts)-1 {
			address <<= 8 * (4 - len(parts))
		}
		address = address<<8 | uint32(n)
	}
	return address, nil
}

// fromBase64 is FROM_BASE64, NULL of what is none. White space does not count.
func fromBase64(_ *sql.Context, args []any) (any, error) {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\v\f", r) {
			return -1
		}
		return r
	}, args[0].(string))
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, nil
	}
	return out, nil
}
