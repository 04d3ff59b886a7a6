package expr

import (
	"slices"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/window"
)

// Functions are functions that replace the library's of the same name.
func Functions() []sql.Function {
	return slices.Concat([]sql.Function{
		sql.Function1{Name: "sum", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return &Sum{aggregation.NewSum(AsNumber(ctx, e))}
		}},
		sql.Function1{Name: "avg", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return &Avg{aggregation.NewAvg(AsNumber(ctx, e))}
		}},
		sql.FunctionN{Name: operatorFunction, Fn: callOperator},
		sql.Function1{Name: "bit_or", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return aggregation.NewBitOr(bitsOfMoment(ctx, e))
		}},
		sql.Function1{Name: "bit_and", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return aggregation.NewBitAnd(bitsOfMoment(ctx, e))
		}},
		sql.Function1{Name: "bit_xor", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return aggregation.NewBitXor(bitsOfMoment(ctx, e))
		}},
	}, searchFunctions(), roundFunctions(), wholeFunctions(), timeFunctions(), rollupFunctions(),
		shiftFunctions(), variableFunctions(), volatileFunctions(), constantFunctions(),
		windowFunctions(), havingFunctions(), ownFunctions(), mathFunctions(), insertFunctions(),
		regexpFunctions(), jsonFunctions(), spaceFunctions())
}

// bitsOfMoment are the bits of a date, a time or a text as the number that it is; everything else stays.
func bitsOfMoment(ctx *sql.Context, e sql.Expression) sql.Expression {
	if IsTemporal(ctx, e) || isText(ctx, e) {
		zero := expression.NewLiteral(int64(0), types.Int64)
		return newBitwise(ast.BitOrStr, AsNumber(ctx, e), zero)
	}
	return e
}

// exact reports whether the sum of values of a type is a DECIMAL, with the digits of the argument.
func exact(t sql.Type) (precision, scale uint8, ok bool) {
	if d, ok := t.(sql.DecimalType); ok {
		return d.Precision(), d.Scale(), true
	}
	if types.IsDeferredType(t) || !types.IsInteger(t) {
		return 0, 0, false
	}
	switch t {
	case types.Int8, types.Uint8, types.Boolean:
		return 3, 0, true
	case types.Int16, types.Uint16:
		return 5, 0, true
	case types.Int24, types.Uint24:
		return 8, 0, true
	case types.Int32, types.Uint32:
		return 10, 0, true
	case types.Uint64:
		return 20, 0, true
	}
	return 19, 0, true
}

func decimal(precision, scale int) sql.Type {
	scale = min(scale, types.DecimalTypeMaxScale)
	return types.MustCreateDecimalType(uint8(max(min(precision, types.DecimalTypeMaxPrecision), scale)),
		uint8(scale))
}

// Sum is SUM: a DECIMAL of integers and decimals, a DOUBLE of everything else. The library's is always a
// DOUBLE: from 2^53 on it is not the sum.
type Sum struct{ *aggregation.Sum }

var (
	_ sql.FunctionExpression        = (*Sum)(nil)
	_ sql.Aggregation               = (*Sum)(nil)
	_ sql.WindowAdaptableExpression = (*Sum)(nil)
)

// Type implements sql.Expression. A sum has room for 10^22 of the longest values.
func (s *Sum) Type(ctx *sql.Context) sql.Type {
	if p, scale, ok := exact(s.Child.Type(ctx)); ok {
		return decimal(int(p)+22, int(scale))
	}
	return s.Sum.Type(ctx)
}

// IsNullable implements sql.Expression: the sum of nothing is NULL.
func (s *Sum) IsNullable(*sql.Context) bool { return true }

// WithWindow implements sql.WindowAdaptableExpression.
func (s *Sum) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &Sum{s.Sum.WithWindow(ctx, w).(*aggregation.Sum)}
}

// WithChildren implements sql.Expression.
func (s *Sum) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	inner, err := s.Sum.WithChildren(ctx, ch...)
	if err != nil {
		return nil, err
	}
	return &Sum{inner.(*aggregation.Sum)}, nil
}

// WithId implements sql.IdExpression.
func (s *Sum) WithId(id sql.ColumnId) sql.IdExpression {
	return &Sum{s.Sum.WithId(id).(*aggregation.Sum)}
}

// NewBuffer implements sql.Aggregation.
func (s *Sum) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	if _, _, ok := exact(s.Child.Type(ctx)); !ok {
		return s.Sum.NewBuffer(ctx)
	}
	return newTotals(ctx, s.Child, false)
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (s *Sum) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	if s.Window() == nil {
		return s.Sum.NewWindowFunction(ctx)
	}
	if _, _, ok := exact(s.Child.Type(ctx)); !ok {
		return window.Doubles(ctx, s.Child, s.Window(), false)
	}
	return newRunning(ctx, s.Child, s.Window(), false)
}

// Avg is AVG: of integers and decimals a DECIMAL with four digits more than the argument has.
type Avg struct{ *aggregation.Avg }

var (
	_ sql.FunctionExpression        = (*Avg)(nil)
	_ sql.Aggregation               = (*Avg)(nil)
	_ sql.WindowAdaptableExpression = (*Avg)(nil)
)

// Type implements sql.Expression.
func (a *Avg) Type(ctx *sql.Context) sql.Type {
	if p, scale, ok := exact(a.Child.Type(ctx)); ok {
		return decimal(int(p)+4, int(scale)+4)
	}
	return a.Avg.Type(ctx)
}

// WithWindow implements sql.WindowAdaptableExpression.
func (a *Avg) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &Avg{a.Avg.WithWindow(ctx, w).(*aggregation.Avg)}
}

// WithChildren implements sql.Expression.
func (a *Avg) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	inner, err := a.Avg.WithChildren(ctx, ch...)
	if err != nil {
		return nil, err
	}
	return &Avg{inner.(*aggregation.Avg)}, nil
}

// WithId implements sql.IdExpression.
func (a *Avg) WithId(id sql.ColumnId) sql.IdExpression {
	return &Avg{a.Avg.WithId(id).(*aggregation.Avg)}
}

// NewBuffer implements sql.Aggregation.
func (a *Avg) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	if _, _, ok := exact(a.Child.Type(ctx)); !ok {
		return a.Avg.NewBuffer(ctx)
	}
	return newTotals(ctx, a.Child, true)
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (a *Avg) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	if a.Window() == nil {
		return a.Avg.NewWindowFunction(ctx)
	}
	if _, _, ok := exact(a.Child.Type(ctx)); !ok {
		return window.Doubles(ctx, a.Child, a.Window(), true)
	}
	return newRunning(ctx, a.Child, a.Window(), true)
}

// total is an exact sum: of integers in a machine word as long as they fit, of everything else in a decimal.
type total struct {
	rows  int64
	small int64
	big   *apd.Decimal // nil until needed
}

// add counts a value; NULL is not counted.
func (t *total) add(ctx *sql.Context, v any) error {
	if v == nil {
		return nil
	}
	if n, ok := wide(v); ok {
		if s, ok := n.signed(); ok {
			t.rows++
			if sum := t.small + s; (sum > t.small) == (s > 0) {
				t.small = sum
				return nil
			}
			if err := t.carry(); err != nil {
				return err
			}
			t.small = s
			return nil
		}
	}
	d, ok := v.(*apd.Decimal)
	if !ok {
		c, _, err := Convert(ctx, types.InternalDecimalType, v)
		if err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
			return err
		}
		if d, ok = c.(*apd.Decimal); !ok {
			return nil
		}
	}
	t.rows++
	if t.big == nil {
		t.big = new(apd.Decimal)
	}
	_, err := exactly.Add(t.big, t.big, d)
	return err
}

// exactly is arithmetic in more digits than a sum of MySQL's has.
var exactly = apd.BaseContext.WithPrecision(200)

// carry moves the machine word into the decimal.
func (t *total) carry() error {
	if t.big == nil {
		t.big = new(apd.Decimal)
	}
	_, err := exactly.Add(t.big, t.big, apd.New(t.small, 0))
	t.small = 0
	return err
}

// less is the total without an earlier one.
func (t *total) less(before *total) (*total, error) {
	out := total{rows: t.rows - before.rows}
	sum, err := t.value(false)
	if err != nil {
		return nil, err
	}
	first, err := before.value(false)
	if err != nil {
		return nil, err
	}
	if out.big, _ = sum.(*apd.Decimal); out.big == nil {
		return &out, nil
	}
	if f, ok := first.(*apd.Decimal); ok {
		d := new(apd.Decimal)
		if _, err := exactly.Sub(d, out.big, f); err != nil {
			return nil, err
		}
		out.big = d
	}
	return &out, nil
}

// value is the sum or the average, nil of no rows. It leaves the total as it is.
func (t *total) value(average bool) (any, error) {
	if t.rows == 0 {
		return nil, nil
	}
	sum := apd.New(t.small, 0)
	if t.big != nil {
		if _, err := exactly.Add(sum, sum, t.big); err != nil {
			return nil, err
		}
	}
	if average {
		return Average(sum, t.rows)
	}
	return sum, nil
}

// Average is a sum, divided by the rows that it is of, with four decimals more. It is rounded once: of digits
// that are rounded already, 82/11 = 7.45455, the last but one would be rounded up.
func Average(sum *apd.Decimal, rows int64) (*apd.Decimal, error) {
	scale := min(max(-sum.Exponent, 0)+4, types.DecimalTypeMaxScale)
	digits := sum.NumDigits() + int64(max(sum.Exponent, 0)+scale)
	cut := apd.BaseContext.WithPrecision(uint32(digits) + 1)
	cut.Rounding = apd.RoundDown
	out := new(apd.Decimal)
	if _, err := cut.Quo(out, sum, apd.New(rows, 0)); err != nil {
		return nil, err
	}
	if _, err := halfUp.Quantize(out, out, -scale); err != nil {
		return nil, err
	}
	if out.IsZero() {
		out.Negative = false
	}
	return out, nil
}

// totals is a total as an aggregation buffer.
type totals struct {
	total
	expr    sql.Expression
	average bool
}

func newTotals(ctx *sql.Context, e sql.Expression, average bool) (sql.AggregationBuffer, error) {
	e, err := transform.Clone(ctx, e)
	return &totals{expr: e, average: average}, err
}

// Update implements sql.AggregationBuffer.
func (t *totals) Update(ctx *sql.Context, row sql.Row) error {
	v, err := t.expr.Eval(ctx, row)
	if err != nil {
		return err
	}
	return t.add(ctx, v)
}

// Eval implements sql.AggregationBuffer.
func (t *totals) Eval(*sql.Context) (any, error) { return t.value(t.average) }

// Dispose implements sql.Disposable.
func (t *totals) Dispose(ctx *sql.Context) { expression.Dispose(ctx, t.expr) }

// running is a sum or an average over a window: totals up to each row of the partition, of
// which a frame takes two.
type running struct {
	*aggregation.SumAgg // frames
	expr                sql.Expression
	average             bool
	start               int
	upTo                []total
}

func newRunning(ctx *sql.Context, e sql.Expression, w *sql.WindowDefinition,
	average bool) (sql.WindowFunction, error) {
	e, err := transform.Clone(ctx, e)
	if err != nil {
		return nil, err
	}
	r := &running{SumAgg: aggregation.NewSumAgg(e), expr: e, average: average}
	return r.WithWindow(ctx, w)
}

// WithWindow implements sql.WindowFunction.
func (r *running) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) (sql.WindowFunction, error) {
	frames, err := r.SumAgg.WithWindow(ctx, w)
	if err != nil {
		return nil, err
	}
	out := *r
	out.SumAgg = frames.(*aggregation.SumAgg)
	return &out, nil
}

// StartPartition implements sql.WindowFunction.
func (r *running) StartPartition(ctx *sql.Context, in sql.WindowInterval, buf sql.WindowBuffer) error {
	r.Dispose(ctx)
	r.start, r.upTo = in.Start, make([]total, in.End-in.Start+1)
	for i := in.Start; i < in.End; i++ {
		sum := r.upTo[i-in.Start]
		if sum.big != nil {
			sum.big = new(apd.Decimal).Set(sum.big)
		}
		v, err := r.expr.Eval(ctx, buf[i])
		if err != nil {
			return err
		}
		if err := sum.add(ctx, v); err != nil {
			return err
		}
		r.upTo[i-in.Start+1] = sum
	}
	return nil
}

// Compute implements sql.WindowFunction.
func (r *running) Compute(_ *sql.Context, in sql.WindowInterval, _ sql.WindowBuffer) (any, error) {
	if in.End <= in.Start || in.Start < r.start || in.End-r.start >= len(r.upTo) {
		return nil, nil
	}
	sum, err := r.upTo[in.End-r.start].less(&r.upTo[in.Start-r.start])
	if err != nil {
		return nil, err
	}
	return sum.value(r.average)
}
