package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/account"
	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
)

// typedFunction returns the library's function of that name with MySQL's type, if they differ.
func typedFunction(name string) (sql.Function, bool) {
	spread := func(make func(sql.Expression) sql.Expression) (sql.Function, bool) {
		return sql.Function1{Name: name, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return make(expression.NewConvert(e, expression.ConvertToDouble))
		}}, true
	}
	switch name {
	case "curdate", "current_date":
		return sql.NewFunction0(name, func(ctx *sql.Context) sql.Expression { return builtin.As(function.NewCurrDate(ctx), types.Date) }), true
	case expr.DefaultFunction:
		return sql.FunctionN{Name: name, Fn: builtin.NewColumnDefault}, true
	case expr.CharFunction:
		return sql.FunctionN{Name: name, Fn: builtin.NewCharUsing}, true
	case "curtime", "current_time":
		return sql.FunctionN{Name: name, Fn: builtin.NewCurrentTime}, true
	case "json_extract":
		return sql.FunctionN{Name: name, Fn: gms.NewJSONExtract}, true
	case "json_contains_path":
		return sql.FunctionN{Name: name, Fn: gms.NewJSONContainsPath}, true
	case "json_value":
		return sql.FunctionN{Name: name, Fn: gms.NewJSONValue}, true
	case "json_unquote":
		return sql.Function1{Name: name, Fn: gms.NewJSONUnquote}, true
	case "from_unixtime":
		return sql.FunctionN{Name: name, Fn: newFromUnixTime}, true
	case "unix_timestamp":
		return sql.FunctionN{Name: name, Fn: newUnixTimestamp}, true
	case "convert_tz":
		return sql.Function3{Name: name, Fn: func(ctx *sql.Context, at, from, to sql.Expression) sql.Expression {
			var e sql.Expression = function.NewConvertTz(ctx, at, from, to)
			if c, ok := e.(*function.ConvertTz); ok {
				e = &converted{c}
			}
			return builtin.As(e, builtin.DatetimeOf(builtin.Fraction(ctx, at)))
		}}, true
	case "timestamp":
		return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			if len(args) == 2 { // a moment and a time to add
				return addTimeTo(ctx, args[0], args[1]), nil
			}
			e, err := function.NewDatetime(ctx, args...)
			if err != nil || len(args) != 1 || types.IsText(args[0].Type(ctx)) { // of a text the library makes a text, and its suite wants it
				return e, err
			}
			return builtin.As(e, builtin.DatetimeOf(builtin.Fraction(ctx, args[0]))), nil
		}}, true
	case "timediff":
		return sql.Function2{Name: name, Fn: func(ctx *sql.Context, a, b sql.Expression) sql.Expression {
			return builtin.As(function.NewTimeDiff(ctx, a, b), expr.SpanOf(ctx, a, b))
		}}, true
	case "abs":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return builtin.NewAbs(ctx, expr.Operand(ctx, e))
		}}, true
	case "user", "session_user", "system_user", account.CurrentRoleFunction:
		return account.LoginFunction(name), true
	case "std", "stddev", "stddev_pop":
		return spread(func(e sql.Expression) sql.Expression { return aggregation.NewStdDevPop(e) })
	case "stddev_samp":
		return spread(func(e sql.Expression) sql.Expression { return aggregation.NewStdDevSamp(e) })
	case "variance", "var_pop":
		return spread(func(e sql.Expression) sql.Expression { return aggregation.NewVarPop(e) })
	case "var_samp":
		return spread(func(e sql.Expression) sql.Expression { return aggregation.NewVarSamp(e) })
	}
	return nil, false
}

// addTimeTo is TIMESTAMP(moment, time).
func addTimeTo(ctx *sql.Context, moment, by sql.Expression) sql.Expression {
	digits := builtin.Fraction(ctx, moment)
	if types.IsText(moment.Type(ctx)) {
		moment = builtin.Of("timestamp", types.DatetimeMaxPrecision, types.DatetimeMaxPrecision, moment,
			func(_ *sql.Context, args []any) (any, error) { return args[0], nil })
	}
	if _, ok := by.(*expression.Literal); ok {
		digits = max(digits, builtin.Fraction(ctx, by))
	} else {
		digits = 6
	}
	return builtin.As(expr.AddTime(moment, by), builtin.DatetimeOf(digits))
}
