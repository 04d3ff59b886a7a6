package expr

import (
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/cast"
	"moka/sqlfront/sqlerr"
)

// roundFunctions are ROUND and TRUNCATE of a DECIMAL: the result has as many decimals as were asked for, if
// that is a constant, and no more than the argument. The library's keep the argument's, and make BIGINTs of
// BIGINT UNSIGNEDs. Of what is no number they are the library's.
func roundFunctions() (fs []sql.Function) {
	for _, name := range []string{"round", "truncate"} {
		library, _ := libraryFunction(name)
		b := &builtin{name: name, min: 1, max: 2, typ: roundedType, eval: round}
		fs = append(fs, sql.FunctionN{Name: name,
			Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
				// 20200102030405.6, of which the library makes nothing
				if len(args) > 0 && (IsTemporal(ctx, args[0]) || isBytes(ctx, args[0]) ||
					HexNumber(ctx, args[0]) != nil) {
					args = append([]sql.Expression{Operand(ctx, args[0])}, args[1:]...)
				}
				if (len(args) == 2 || len(args) == 1 && name == "round") &&
					(types.IsFloat(args[0].Type(ctx)) || types.IsTextOnly(args[0].Type(ctx))) {
					return &call{&builtin{name: name, typ: doubleType, eval: roundDouble}, args}, nil
				}
				if (len(args) == 2 || len(args) == 1 && name == "round") &&
					types.IsInteger(args[0].Type(ctx)) {
					return &call{&builtin{name: name, typ: integralType, eval: roundInteger}, args}, nil
				}
				if len(args) == 0 || len(args) > 2 || name == "truncate" && len(args) != 2 {
					return library.NewInstance(ctx, args) // which says what is wrong
				}
				if t := args[0].Type(ctx); !types.IsDecimal(t) {
					if _, ok := t.(sql.SpatialColumnType); ok {
						return nil, sqlerr.New(sqlerr.WrongExecuteArguments,
							"Incorrect arguments to %s", name)
					}
					if types.IsJSON(t) { // of which the library's decimals are nil
						args[0] = expression.NewConvert(args[0], expression.ConvertToDouble)
						return &call{&builtin{name: name, typ: doubleType, eval: roundDouble}, args}, nil
					}
					return library.NewInstance(ctx, args)
				}
				return &call{b, args}, nil
			}})
	}
	return fs
}

// wholeFunctions are CEIL and FLOOR: BIGINTs of integers and of DECIMALs that are sure to fit,
// DECIMALs of larger ones, else DOUBLEs. The library's make BIGINTs of DOUBLEs, cut off at the end of
// the range, and 0 of CEIL(0.09).
func wholeFunctions() (fs []sql.Function) {
	for name, up := range map[string]bool{"ceil": true, "ceiling": true, "floor": false} {
		b := &builtin{name: name, min: 1, max: 1, typ: integralType,
			eval: func(ctx *sql.Context, _ *call, vs []any) (any, error) {
				return whole(ctx, vs[0], up)
			}}
		fs = append(fs, sql.FunctionN{Name: name,
			Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
				if len(args) == 1 {
					args = []sql.Expression{Operand(ctx, args[0])}
				}
				return b.function().NewInstance(ctx, args)
			}})
	}
	return fs
}

// bigintDigits is how many digits a number has that fits a BIGINT whatever they are.
const bigintDigits = 18

func integralType(ctx *sql.Context, args []sql.Expression) sql.Type {
	t := args[0].Type(ctx)
	if d, ok := t.(sql.DecimalType); ok {
		digits := int(d.Precision()) - int(d.Scale())
		if d.Scale() > 0 {
			digits++ // 9.9 becomes 10
		}
		if digits > bigintDigits {
			return decimal(digits, 0)
		}
		return types.Int64
	}
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t):
		return types.Int64
	}
	return types.Float64
}

// whole is the least integer that is not less than v, or the greatest that is not greater.
func whole(ctx *sql.Context, v any, up bool) (any, error) {
	switch v := v.(type) {
	case *apd.Decimal:
		if v.Form != apd.Finite {
			return v, nil
		}
		out := new(apd.Decimal) // apd's own Ceil and Floor make 0 of what is less than 0.1
		if _, err := towardZero.Quantize(out, v, 0); err != nil {
			return nil, err
		}
		var err error
		if c := out.Cmp(v); up && c < 0 {
			_, err = towardZero.Add(out, out, apd.New(1, 0))
		} else if !up && c > 0 {
			_, err = towardZero.Sub(out, out, apd.New(1, 0))
		}
		if err != nil {
			return nil, err
		}
		if out.Coeff.Sign() == 0 {
			out.Negative = false
		}
		if n, err := out.Int64(); err == nil {
			return n, nil
		}
		return out, nil
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64, uint:
		return v, nil
	}
	f, err := doubleOf(ctx, v)
	if _, _, cut := types.Float64.Convert(ctx, v); sql.ErrTruncatedIncorrect.Is(cut) {
		ctx.Warn(sqlerr.TruncatedWrongValue, "%s", cut)
	}
	if up {
		return math.Ceil(f), err
	}
	return math.Floor(f), err
}

// decimals is how many decimals were asked for; constant is false if that is another number for each row.
func decimals(ctx *sql.Context, args []sql.Expression) (n int64, constant bool) {
	if len(args) == 1 {
		return 0, true
	}
	constant = true
	sql.Inspect(ctx, args[1], func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case nil, *expression.Literal, *expression.UnaryMinus, *negation:
		default:
			constant = false
		}
		return constant
	})
	if !constant {
		return 0, false
	}
	v, err := args[1].Eval(ctx, nil)
	if err != nil || v == nil {
		return 0, err == nil
	}
	n, err = cast.Characters(ctx, v)
	return n, err == nil
}

func roundedType(ctx *sql.Context, args []sql.Expression) sql.Type {
	d, ok := args[0].Type(ctx).(sql.DecimalType)
	n, constant := decimals(ctx, args)
	if !ok {
		return args[0].Type(ctx)
	}
	if !constant {
		return d
	}
	whole, scale := int(d.Precision())-int(d.Scale()), int(max(0, min(n, int64(d.Scale()))))
	if scale < int(d.Scale()) {
		whole++ // 9.9 becomes 10
	}
	return decimal(whole+scale, scale)
}

var (
	halfUp = apd.Context{Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
		Rounding: apd.RoundHalfUp}
	towardZero = apd.Context{Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
		Rounding: apd.RoundDown}
)

// round is ROUND and TRUNCATE.
func round(ctx *sql.Context, c *call, vs []any) (any, error) {
	n := int64(0)
	if len(vs) == 2 {
		var err error
		if n, err = cast.Characters(ctx, vs[1]); err != nil {
			return nil, err
		}
	}
	v, _, err := Convert(ctx, types.InternalDecimalType, vs[0])
	if err != nil {
		return nil, err
	}
	d, ok := v.(*apd.Decimal)
	if !ok || d.Form != apd.Finite {
		return vs[0], nil
	}
	scale := int64(max(0, -d.Exponent))
	if t, ok := c.args[0].Type(ctx).(sql.DecimalType); ok {
		scale = int64(t.Scale())
	}
	with := &halfUp
	if c.name == "truncate" {
		with = &towardZero
	}
	n = max(-types.DecimalTypeMaxPrecision-1, min(n, scale))
	out := new(apd.Decimal)
	if _, err := with.Quantize(out, d, int32(-n)); err != nil {
		return nil, err
	}
	if n < 0 {
		if _, err := with.Quantize(out, out, 0); err != nil {
			return nil, err
		}
	}
	if out.Coeff.Sign() == 0 {
		out.Negative = false
	}
	if _, constant := decimals(ctx, c.args); !constant {
		// The column has the argument's decimals; what was rounded away is 0.
		if _, err := with.Quantize(out, out, int32(-scale)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// roundInteger is ROUND and TRUNCATE of an integer, which only negative numbers of decimals change.
func roundInteger(ctx *sql.Context, c *call, vs []any) (any, error) {
	n := int64(0)
	if len(vs) == 2 {
		var err error
		if n, err = cast.Characters(ctx, vs[1]); err != nil {
			return nil, err
		}
	}
	if n >= 0 {
		return vs[0], nil
	}
	v, _, err := Convert(ctx, types.InternalDecimalType, vs[0])
	if err != nil {
		return nil, err
	}
	d, ok := v.(*apd.Decimal)
	if !ok {
		return vs[0], nil
	}
	with := &halfUp
	if c.name == "truncate" {
		with = &towardZero
	}
	out := new(apd.Decimal)
	if _, err := with.Quantize(out, d, int32(min(-n, types.DecimalTypeMaxPrecision))); err != nil {
		return nil, err
	}
	to := c.Type(ctx)
	rounded, in, err := to.Convert(ctx, out)
	if err == nil && in != sql.InRange {
		return nil, outOfRange(strings.ToUpper(to.String()), c)
	}
	return rounded, err
}

func doubleType(*sql.Context, []sql.Expression) sql.Type { return types.Float64 }

// roundDouble is ROUND and TRUNCATE of a DOUBLE: halfway between two values it is the even one,
// as the C library has it.
func roundDouble(ctx *sql.Context, c *call, vs []any) (any, error) {
	n := int64(0)
	if len(vs) == 2 {
		var err error
		if n, err = cast.Characters(ctx, vs[1]); err != nil {
			return nil, err
		}
	}
	f, err := doubleOf(ctx, vs[0])
	if err != nil {
		return nil, err
	}
	to := math.RoundToEven
	if c.name == "truncate" {
		to = math.Trunc
	}
	power := math.Pow10(int(min(400, max(n, -n))))
	switch {
	case n < 0 && math.IsInf(power, 0):
		return float64(0), nil
	case n < 0:
		return to(f/power) * power, nil
	case math.IsInf(f*power, 0):
		return f, nil
	}
	return to(f*power) / power, nil
}

func doubleOf(ctx *sql.Context, v any) (float64, error) {
	out, err := asVariable(ctx, types.Float64, v)
	f, _ := out.(float64)
	return f, err
}

// mathFunctions are functions whose result may be too large for a DOUBLE: the library has infinities.
func mathFunctions() (fs []sql.Function) {
	power := func(ctx *sql.Context, c *call, vs []any) (any, error) {
		x, err := doubleOf(ctx, vs[0])
		if err != nil {
			return nil, err
		}
		y, err := doubleOf(ctx, vs[1])
		if err != nil {
			return nil, err
		}
		return inRange(c, math.Pow(x, y))
	}
	for _, b := range []*builtin{
		{name: "exp", min: 1, max: 1, typ: doubleType,
			eval: func(ctx *sql.Context, c *call, vs []any) (any, error) {
				x, err := doubleOf(ctx, vs[0])
				if err != nil {
					return nil, err
				}
				return inRange(c, math.Exp(x))
			}},
		{name: "sign", min: 1, max: 1, typ: func(*sql.Context, []sql.Expression) sql.Type {
			return types.Int64
		}, eval: func(ctx *sql.Context, _ *call, vs []any) (any, error) {
			d, err := doubleOf(ctx, vs[0]) // the library cuts 0.5 off to 0
			switch {
			case d < 0:
				return int64(-1), err
			case d > 0:
				return int64(1), err
			}
			return int64(0), err
		}},
		{name: "week", min: 1, max: 2, typ: integerType, eval: week, nulls: true},
		{name: "pow", min: 2, max: 2, typ: doubleType, eval: power},
		{name: "power", min: 2, max: 2, typ: doubleType, eval: power},
	} {
		fs = append(fs, b.function())
	}
	return append(fs, sql.Function2{Name: "mod",
		Fn: func(ctx *sql.Context, a, b sql.Expression) sql.Expression {
			return newArithmetic(ctx, ast.ModStr, AsNumber(ctx, a), AsNumber(ctx, b))
		}})
}

func integerType(*sql.Context, []sql.Expression) sql.Type { return types.Int64 }

func inRange(e sql.Expression, f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, outOfRange("DOUBLE", e)
	}
	return f, nil
}

// Finite is an operation over DOUBLEs; the library's result may be infinite.
type Finite struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*Finite)(nil)
	_ sql.CollationCoercible = (*Finite)(nil)
)

func (f *Finite) String() string                 { return f.Child.String() }
func (f *Finite) Type(ctx *sql.Context) sql.Type { return f.Child.Type(ctx) }

// WithChildren implements sql.Expression.
func (f *Finite) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(ch), 1)
	}
	return &Finite{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*Finite) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (f *Finite) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.Child.Eval(ctx, row)
	d, ok := v.(float64)
	if ok && d == 0 {
		return float64(0), err // -0 is 0, whoever writes it
	}
	if err != nil || !ok || !math.IsInf(d, 0) && !math.IsNaN(d) {
		return v, err
	}
	operands := f.Child.Children()
	if len(operands) != 2 {
		return inRange(f, d)
	}
	// A text that says more than a DOUBLE holds is the largest DOUBLE.
	var vs [2]float64
	for i, o := range operands {
		if v, err = o.Eval(ctx, row); err == nil {
			vs[i], err = doubleOf(ctx, v)
		}
		if err != nil {
			return nil, err
		}
		vs[i] = max(-math.MaxFloat64, min(math.MaxFloat64, vs[i]))
	}
	switch op := f.Child.(interface{ Operator() string }); op.Operator() {
	case ast.PlusStr:
		d = vs[0] + vs[1]
	case ast.MinusStr:
		d = vs[0] - vs[1]
	case ast.MultStr:
		d = vs[0] * vs[1]
	case ast.DivStr:
		d = vs[0] / vs[1]
	}
	return inRange(f, d)
}
