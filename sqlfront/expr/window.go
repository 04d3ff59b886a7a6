package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation/window"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// IsWindowFunction knows those of the library and ours; it is for planbuilder.IsWindowFunc.
func IsWindowFunction(ctx *sql.Context, name string) (bool, error) {
	switch name {
	case "cume_dist", "nth_value", "bit_and", "bit_or", "bit_xor":
		return true, nil
	}
	return planbuilder.IsMySQLWindowFuncName(ctx, name)
}

func windowFunctions() []sql.Function {
	return []sql.Function{sql.Function0{Name: "cume_dist", Fn: func(ctx *sql.Context) sql.Expression {
		return &cumeDist{window.NewPercentRank(ctx).(*window.PercentRank)}
	}}, sql.Function2{Name: "nth_value", Fn: func(ctx *sql.Context, e, n sql.Expression) sql.Expression {
		return &nthValue{window.NewFirstValue(ctx, e).(*window.FirstValue), n}
	}}}
}

// cumeDist is CUME_DIST: how many of the partition's rows are not behind the peers of this one.
type cumeDist struct{ *window.PercentRank }

var (
	_ sql.FunctionExpression        = (*cumeDist)(nil)
	_ sql.WindowAdaptableExpression = (*cumeDist)(nil)
	_ sql.CollationCoercible        = (*cumeDist)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (*cumeDist) FunctionName() string { return "CUME_DIST" }

// String implements sql.Expression.
func (c *cumeDist) String() string {
	return strings.Replace(c.PercentRank.String(), "percent_rank", "cume_dist", 1)
}

// DebugString implements sql.DebugStringer.
func (c *cumeDist) DebugString(ctx *sql.Context) string {
	return strings.Replace(c.PercentRank.DebugString(ctx), "percent_rank", "cume_dist", 1)
}

// WithId implements sql.IdExpression.
func (c *cumeDist) WithId(id sql.ColumnId) sql.IdExpression {
	return &cumeDist{c.PercentRank.WithId(id).(*window.PercentRank)}
}

// WithChildren implements sql.Expression.
func (c *cumeDist) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.PercentRank.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &cumeDist{e.(*window.PercentRank)}, nil
}

// WithWindow implements sql.WindowAdaptableExpression.
func (c *cumeDist) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &cumeDist{c.PercentRank.WithWindow(ctx, w).(*window.PercentRank)}
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (c *cumeDist) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return &cumeDistFunction{PercentRank: aggregation.NewPercentRank(c.Window().OrderBy.ToExpressions())}, nil
}

// cumeDistFunction has the framer of PERCENT_RANK, whose frames are the peers of a row.
type cumeDistFunction struct {
	*aggregation.PercentRank
	part sql.WindowInterval
}

// StartPartition implements sql.WindowFunction.
func (f *cumeDistFunction) StartPartition(ctx *sql.Context, part sql.WindowInterval,
	buf sql.WindowBuffer) error {
	f.part = part
	return f.PercentRank.StartPartition(ctx, part, buf)
}

// Compute implements sql.WindowFunction.
func (f *cumeDistFunction) Compute(_ *sql.Context, peers sql.WindowInterval,
	_ sql.WindowBuffer) (any, error) {
	if peers.End <= peers.Start {
		return nil, nil
	}
	return float64(peers.End-f.part.Start) / float64(f.part.End-f.part.Start), nil
}

// nthValue is NTH_VALUE: of the nth row of the frame, where FIRST_VALUE is of the first.
type nthValue struct {
	*window.FirstValue
	n sql.Expression
}

var (
	_ sql.FunctionExpression        = (*nthValue)(nil)
	_ sql.WindowAdaptableExpression = (*nthValue)(nil)
	_ sql.CollationCoercible        = (*nthValue)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (*nthValue) FunctionName() string { return "NTH_VALUE" }

// String implements sql.Expression.
func (v *nthValue) String() string { return v.named(v.FirstValue.String()) }

// DebugString implements sql.DebugStringer.
func (v *nthValue) DebugString(ctx *sql.Context) string {
	return v.named(v.FirstValue.DebugString(ctx))
}

func (v *nthValue) named(first string) string {
	child := v.Child.String()
	return strings.Replace(first, "first_value("+child, "nth_value("+child+", "+v.n.String(), 1)
}

// IsNullable implements sql.Expression.
func (*nthValue) IsNullable(*sql.Context) bool { return true }

// WithId implements sql.IdExpression.
func (v *nthValue) WithId(id sql.ColumnId) sql.IdExpression {
	return &nthValue{v.FirstValue.WithId(id).(*window.FirstValue), v.n}
}

// WithChildren implements sql.Expression.
func (v *nthValue) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := v.FirstValue.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &nthValue{e.(*window.FirstValue), v.n}, nil
}

// WithWindow implements sql.WindowAdaptableExpression.
func (v *nthValue) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &nthValue{v.FirstValue.WithWindow(ctx, w).(*window.FirstValue), v.n}
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (v *nthValue) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	l, ok := v.n.(*expression.Literal)
	if !ok || !types.IsInteger(l.Type(ctx)) {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to nth_value")
	}
	at, in, err := types.Int64.Convert(ctx, l.Value())
	n, ok := at.(int64)
	if err != nil || in != sql.InRange || !ok || n < 1 {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to nth_value")
	}
	first, err := v.FirstValue.NewWindowFunction(ctx)
	if err != nil {
		return nil, err
	}
	return &nthFunction{first.(*aggregation.FirstAgg), int(n)}, nil
}

// nthFunction is the first of the frame's rows, from the nth on.
type nthFunction struct {
	*aggregation.FirstAgg
	n int
}

// Compute implements sql.WindowFunction.
func (f *nthFunction) Compute(ctx *sql.Context, frame sql.WindowInterval,
	rows sql.WindowBuffer) (any, error) {
	if frame.End-frame.Start < f.n {
		return nil, nil
	}
	frame.Start += f.n - 1
	return f.FirstAgg.Compute(ctx, frame, rows)
}
