package window

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// doubles is SUM or AVG of DOUBLEs over a window: sums up to each row of the partition, of which a frame
// takes two. NULLs are not counted, and nothing has no sum: the library's was 0, its average no number.
type doubles struct {
	*aggregation.SumAgg // frames
	expr                sql.Expression
	average             bool
	start               int
	upTo                []sum
}

type sum struct {
	rows  int64
	total float64
}

// Doubles is the SUM, or the average, of an expression.
func Doubles(ctx *sql.Context, e sql.Expression, w *sql.WindowDefinition,
	average bool) (sql.WindowFunction, error) {
	e, err := transform.Clone(ctx, e)
	if err != nil {
		return nil, err
	}
	d := &doubles{SumAgg: aggregation.NewSumAgg(e), expr: e, average: average}
	return d.WithWindow(ctx, w)
}

// WithWindow implements sql.WindowFunction.
func (d *doubles) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) (sql.WindowFunction, error) {
	frames, err := d.SumAgg.WithWindow(ctx, w)
	if err != nil {
		return nil, err
	}
	out := *d
	out.SumAgg = frames.(*aggregation.SumAgg)
	return &out, nil
}

// StartPartition implements sql.WindowFunction.
func (d *doubles) StartPartition(ctx *sql.Context, in sql.WindowInterval, buf sql.WindowBuffer) error {
	d.Dispose(ctx)
	d.start, d.upTo = in.Start, make([]sum, in.End-in.Start+1)
	for i := in.Start; i < in.End; i++ {
		s := d.upTo[i-in.Start]
		v, err := d.expr.Eval(ctx, buf[i])
		if err != nil {
			return err
		}
		n, _, err := types.Float64.Convert(ctx, v)
		if f, ok := n.(float64); ok && err == nil {
			s.rows++
			s.total += f
		}
		d.upTo[i-in.Start+1] = s
	}
	return nil
}

// Compute implements sql.WindowFunction.
func (d *doubles) Compute(_ *sql.Context, in sql.WindowInterval, _ sql.WindowBuffer) (any, error) {
	if in.End <= in.Start || in.Start < d.start || in.End-d.start >= len(d.upTo) {
		return nil, nil
	}
	from, to := d.upTo[in.Start-d.start], d.upTo[in.End-d.start]
	rows, total := to.rows-from.rows, to.total-from.total
	switch {
	case rows == 0:
		return nil, nil
	case d.average:
		total /= float64(rows)
	}
	return total, nil
}
