package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation/window"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
)

// IsWindowFunction knows those of the library and ours; it is for planbuilder.IsWindowFunc.
func IsWindowFunction(ctx *sql.Context, name string) (bool, error) {
	if name == "cume_dist" {
		return true, nil
	}
	return planbuilder.IsMySQLWindowFuncName(ctx, name)
}

func windowFunctions() []sql.Function {
	return []sql.Function{sql.Function0{Name: "cume_dist", Fn: func(ctx *sql.Context) sql.Expression {
		return &cumeDist{window.NewPercentRank(ctx).(*window.PercentRank)}
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
func (f *cumeDistFunction) StartPartition(ctx *sql.Context, part sql.WindowInterval, buf sql.WindowBuffer) error {
	f.part = part
	return f.PercentRank.StartPartition(ctx, part, buf)
}

// Compute implements sql.WindowFunction.
func (f *cumeDistFunction) Compute(_ *sql.Context, peers sql.WindowInterval, _ sql.WindowBuffer) (any, error) {
	if peers.End <= peers.Start {
		return nil, nil
	}
	return float64(peers.End-f.part.Start) / float64(f.part.End-f.part.Start), nil
}
