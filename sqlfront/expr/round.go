package expr

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// roundFunctions are ROUND and TRUNCATE of a DECIMAL: the result has as many decimals as were asked for, if that is a constant, and no more than
// the argument. The library's keep the argument's. Of everything else they are the library's.
func roundFunctions() (fs []sql.Function) {
	for _, name := range []string{"round", "truncate"} {
		library, _ := libraryFunction(name)
		b := &builtin{name: name, min: 1, max: 2, typ: roundedType, eval: round}
		fs = append(fs, sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			if len(args) == 0 || len(args) > 2 || name == "truncate" && len(args) != 2 || !types.IsDecimal(args[0].Type(ctx)) {
				return library.NewInstance(ctx, args)
			}
			return &call{b, args}, nil
		}})
	}
	return fs
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
	n, err = integerOf(ctx, v)
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
	halfUp     = apd.Context{Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
	towardZero = apd.Context{Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundDown}
)

// round is ROUND and TRUNCATE.
func round(ctx *sql.Context, c *call, vs []any) (any, error) {
	n := int64(0)
	if len(vs) == 2 {
		var err error
		if n, err = integerOf(ctx, vs[1]); err != nil {
			return nil, err
		}
	}
	v, _, err := types.InternalDecimalType.Convert(ctx, vs[0])
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
