package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
)

// typed is a function of the library with the type that MySQL gives it: a driver chooses the language's type by it. CURDATE() was a text,
// and STD of integers was rounded to one.
type typed struct {
	sql.Expression
	typ sql.Type
}

var (
	_ sql.FunctionExpression         = (*typed)(nil)
	_ sql.CollationCoercible         = (*typed)(nil)
	_ sql.NonDeterministicExpression = (*typed)(nil)
)

// FunctionName implements sql.FunctionExpression: CHECK refuses functions of the time by their names.
func (t *typed) FunctionName() string {
	if f, ok := t.Expression.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return ""
}

// Description implements sql.FunctionExpression.
func (t *typed) Description() string { return "is the library's function with MySQL's type." }

// Type implements sql.Expression.
func (t *typed) Type(*sql.Context) sql.Type { return t.typ }

// WithChildren implements sql.Expression.
func (t *typed) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := t.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &typed{e, t.typ}, nil
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (t *typed) IsNonDeterministic() bool {
	n, ok := t.Expression.(sql.NonDeterministicExpression)
	return ok && n.IsNonDeterministic()
}

// CollationCoercibility implements sql.CollationCoercible.
func (t *typed) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, t.Expression)
}

// Eval implements sql.Expression.
func (t *typed) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := t.Expression.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if m, ok := v.(interface{ UnixMicro() int64 }); ok && t.typ.Type() == sqltypes.Datetime {
		v = builtin.CutFraction(m.UnixMicro(), t.typ.(sql.DatetimeType).Precision())
	}
	v, _, err = t.typ.Convert(ctx, v)
	return v, err
}

// typedFunction returns the library's function of that name with MySQL's type, if they differ.
func typedFunction(name string) (sql.Function, bool) {
	spread := func(make func(sql.Expression) sql.Expression) (sql.Function, bool) {
		return sql.Function1{Name: name, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return make(expression.NewConvert(e, expression.ConvertToDouble))
		}}, true
	}
	switch name {
	case "curdate", "current_date":
		return sql.NewFunction0(name, func(ctx *sql.Context) sql.Expression { return &typed{function.NewCurrDate(ctx), types.Date} }), true
	case expr.DefaultFunction:
		return sql.FunctionN{Name: name, Fn: newDefaultOf}, true
	case expr.CharFunction:
		return sql.FunctionN{Name: name, Fn: builtin.NewCharUsing}, true
	case "curtime", "current_time":
		return sql.FunctionN{Name: name, Fn: builtin.NewCurrentTime}, true
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
			return &typed{e, datetimeOf(fraction(ctx, at))}
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
			return &typed{e, datetimeOf(fraction(ctx, args[0]))}, nil
		}}, true
	case "user", "session_user", "system_user", currentRole:
		return loginUserFunction(name), true
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

func datetimeOf(digits int) sql.Type { return types.MustCreateDatetimeType(sqltypes.Datetime, digits) }

// fraction is how many digits a time made of e has behind its seconds.
func fraction(ctx *sql.Context, e sql.Expression) int {
	if l, ok := e.(*expression.Literal); ok {
		text, _ := l.Value().(string)
		_, digits, _ := strings.Cut(text, ".")
		return min(6, len(digits))
	}
	if types.IsInteger(e.Type(ctx)) {
		return 0
	}
	if t, ok := e.Type(ctx).(sql.DatetimeType); ok {
		if t.Type() == sqltypes.Date {
			return 0
		}
		return t.Precision()
	}
	return 6
}

// addTimeTo is TIMESTAMP(moment, time).
func addTimeTo(ctx *sql.Context, moment, by sql.Expression) sql.Expression {
	digits := fraction(ctx, moment)
	if types.IsText(moment.Type(ctx)) {
		moment = builtin.Of("timestamp", types.DatetimeMaxPrecision, types.DatetimeMaxPrecision, moment,
			func(_ *sql.Context, args []any) (any, error) { return args[0], nil })
	}
	if _, ok := by.(*expression.Literal); ok {
		digits = max(digits, fraction(ctx, by))
	} else {
		digits = 6
	}
	return &typed{expr.AddTime(moment, by), datetimeOf(digits)}
}
