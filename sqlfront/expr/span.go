package expr

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// IsSpan reports whether a type is TIME, of the library or with digits.
func IsSpan(t sql.Type) bool { return moment.IsTime(t) }

// SpanOf is the TIME with as many digits as the operands, or their texts, have.
func SpanOf(ctx *sql.Context, operands ...sql.Expression) sql.Type {
	most := 0
	for _, e := range operands {
		kind, digits := temporalOf(ctx, e)
		if l, ok := e.(*expression.Literal); ok {
			_, fraction, _ := strings.Cut(fmt.Sprint(l.Value()), ".")
			digits = min(6, len(fraction))
		} else if kind == 0 || digits < 0 {
			digits = 6
		}
		most = max(most, digits)
	}
	return moment.TimeType{Digits: most}
}

// IsTime reports whether an expression is a TIME.
func IsTime(ctx *sql.Context, e sql.Expression) bool {
	kind, _ := temporalOf(ctx, e)
	return kind == kindTime
}

// TimeAsNumber makes a number of a TIME, of bytes, and of a hexadecimal literal; everything else stays.
func TimeAsNumber(ctx *sql.Context, e sql.Expression) sql.Expression {
	if IsTime(ctx, e) || isBytes(ctx, e) || HexNumber(ctx, e) != nil {
		return Operand(ctx, e)
	}
	return e
}

// alikeTimes are operands of a comparison among which there are TIMEs. With a DATE or DATETIME they are
// moments of this day, with a number numbers; a constant that is a time becomes that time, so that an index
// serves. What is left are texts of columns, which the library knows how to compare with its own TIME.
func alikeTimes(ctx *sql.Context, operands []sql.Expression) (out []sql.Expression, changed bool) {
	spans, dates, numbers, texts := 0, 0, 0, 0
	out = make([]sql.Expression, len(operands))
	for i, o := range operands {
		if !o.Resolved() {
			return nil, false
		}
		out[i] = o
		kind, _ := temporalOf(ctx, o)
		t := o.Type(ctx)
		switch span := constantSpan(ctx, o); {
		case kind == kindTime:
			spans++
		case kind != 0:
			dates++
		case span != nil:
			out[i] = span
		case types.IsNumber(t):
			numbers++
		case t != types.Null:
			texts++
		}
	}
	switch {
	case spans == 0 || spans == len(operands):
		return nil, false
	case dates > 0:
		for i, o := range operands {
			if out[i] = o; IsTime(ctx, o) {
				out[i] = &today{expression.UnaryExpressionStub{Child: o}}
			}
		}
	case numbers > 0:
		for i, o := range out {
			if types.IsNumber(operands[i].Type(ctx)) {
				o = operands[i]
			}
			out[i] = TimeAsNumber(ctx, o)
		}
	case texts > 0:
		for i, o := range out {
			if IsTime(ctx, o) {
				out[i] = &plainTime{expression.UnaryExpressionStub{Child: o}}
			}
		}
	}
	return out, true
}

// constantSpan is the time that a constant is, nil if it is none.
func constantSpan(ctx *sql.Context, e sql.Expression) sql.Expression {
	if c, ok := e.(*constant); ok {
		e = c.Child
	}
	l, ok := e.(*expression.Literal)
	if !ok {
		return nil
	}
	v := l.Value()
	switch n := v.(type) {
	case *apd.Decimal:
		f, err := n.Float64()
		if err != nil || n.Exponent < -6 || math.Abs(f) > 8385959 {
			return nil
		}
		v = f
	case float64:
		if n*1e6 != math.Trunc(n*1e6) {
			return nil
		}
	case string:
		v = moment.Time(n)
	case nil:
		return nil
	}
	span, err := types.Time.ConvertToTimespan(v)
	if err != nil || span > maxSpan || span < -maxSpan {
		return nil
	}
	return expression.NewLiteral(span, types.Time)
}

// plainTime is a TIME(n) as the library knows it.
type plainTime struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*plainTime)(nil)
	_ sql.CollationCoercible = (*plainTime)(nil)
)

func (e *plainTime) String() string             { return e.Child.String() }
func (e *plainTime) Type(*sql.Context) sql.Type { return types.Time }

// WithChildren implements sql.Expression.
func (e *plainTime) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 1)
	}
	return &plainTime{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*plainTime) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (e *plainTime) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }

// today is a time as a moment of the day on which the statement runs.
type today struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*today)(nil)
	_ sql.CollationCoercible = (*today)(nil)
)

func (e *today) String() string             { return e.Child.String() }
func (e *today) Type(*sql.Context) sql.Type { return types.DatetimeMaxPrecision }

// WithChildren implements sql.Expression.
func (e *today) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 1)
	}
	return &today{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*today) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (e *today) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	span, ok := v.(types.Timespan)
	if !ok || err != nil {
		return v, err
	}
	y, m, d := ctx.QueryTime().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Add(time.Duration(span) * time.Microsecond), nil
}

// shiftFunctions are those by which a TIME and an INTERVAL come together.
func shiftFunctions() (fs []sql.Function) {
	for _, name := range []string{"date_add", "adddate", "date_sub", "subdate"} {
		library, _ := libraryFunction(name)
		minus := strings.HasSuffix(name, "sub") || strings.HasPrefix(name, "sub")
		fs = append(fs, sql.FunctionN{Name: name,
			Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
				if len(args) == 2 {
					if by, ok := args[1].(*expression.Interval); ok {
						if e := shiftedSpan(ctx, args[0], by, minus); e != nil {
							return e, nil
						}
					}
				}
				return library.NewInstance(ctx, args)
			}})
	}
	return fs
}

// shiftedSpan is TIME + INTERVAL of hours and less, which is a TIME: the library takes a negative one for
// a moment of a day, and has six digits for all. It is nil for everything else.
func shiftedSpan(
	ctx *sql.Context, at sql.Expression, by *expression.Interval, minus bool,
) sql.Expression {
	if !at.Resolved() || !IsSpan(at.Type(ctx)) {
		return nil
	}
	if spanUnits[by.Unit] == 0 {
		return nil
	}
	digits, whole := 6, by.Unit != "MICROSECOND"
	if t := by.Child.Type(ctx); by.Unit == "SECOND" {
		whole = types.IsInteger(t)
		if d, ok := t.(sql.DecimalType); ok {
			digits, whole = min(6, int(d.Scale())), true
		} else if whole {
			digits = 0
		}
	} else if whole {
		digits = 0
	}
	if _, n := temporalOf(ctx, at); n < 0 || !whole {
		digits = 6
	} else {
		digits = max(digits, n)
	}
	both := expression.BinaryExpressionStub{LeftChild: at, RightChild: by.Child}
	return &spanShift{both, by.Unit, minus, digits}
}

// spanShift is a TIME and an INTERVAL.
type spanShift struct {
	expression.BinaryExpressionStub
	unit   string
	minus  bool
	digits int
}

var (
	_ sql.Expression         = (*spanShift)(nil)
	_ sql.CollationCoercible = (*spanShift)(nil)
)

// String implements sql.Expression.
func (e *spanShift) String() string {
	op := "+"
	if e.minus {
		op = "-"
	}
	return fmt.Sprintf("(%s %s INTERVAL %s %s)", e.LeftChild, op, e.RightChild, e.unit)
}

// Type implements sql.Expression.
func (e *spanShift) Type(*sql.Context) sql.Type { return moment.TimeType{Digits: e.digits} }

// IsNullable implements sql.Expression: what leaves the range is NULL.
func (e *spanShift) IsNullable(*sql.Context) bool { return true }

// WithChildren implements sql.Expression.
func (e *spanShift) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 2)
	}
	again := *e
	again.LeftChild, again.RightChild = cs[0], cs[1]
	return &again, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*spanShift) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (e *spanShift) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.LeftChild.Eval(ctx, row)
	span, ok := v.(types.Timespan)
	if !ok || err != nil {
		return nil, err
	}
	n, err := e.RightChild.Eval(ctx, row)
	if n == nil || err != nil {
		return nil, err
	}
	f, err := doubleOf(ctx, n)
	if err != nil {
		return nil, err
	}
	if e.unit != "SECOND" {
		f = math.RoundToEven(f)
	}
	if f = math.Round(f * spanUnits[e.unit]); e.minus {
		f = -f
	}
	if math.Abs(float64(span)+f) > float64(maxSpan) {
		ctx.Warn(sqlerr.DatetimeOverflow, "Datetime function: time field overflow")
		return nil, nil
	}
	return span + types.Timespan(f), nil
}

// spanUnits are the units of intervals that a TIME is moved by, in microseconds; those of several units
// have been made of one of these.
var spanUnits = map[string]float64{"HOUR": 3600e6, "MINUTE": 60e6, "SECOND": 1e6, "MICROSECOND": 1}
