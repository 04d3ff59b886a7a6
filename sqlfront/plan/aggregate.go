package plan

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// aggregate is an aggregate over the rows of all sources. Of MIN and MAX only those that compare without a
// collation.
func (l *lowering) aggregate(a sql.Aggregation) (sql.Aggregation, error) {
	switch a := a.(type) {
	case *expr.Sum, *expr.Avg, *aggregation.Count:
	case *aggregation.Min, *aggregation.Max:
		if t := a.Type(l.ctx); !types.IsNumber(t) && !types.IsTime(t) {
			return nil, Unsupported("MIN or MAX of " + t.String())
		}
	default:
		return nil, Unsupported(fmt.Sprintf("%T", a))
	}
	if w, ok := a.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return nil, Unsupported("a window")
	}
	var children []sql.Expression
	for _, c := range a.Children() {
		if _, distinct := c.(*expression.DistinctExpression); distinct {
			return nil, Unsupported("DISTINCT in an aggregate")
		}
		if _, ok := c.(*expression.GetField); ok {
			x, _, err := transform.Expr(l.ctx, c, l.slotted)
			if err != nil {
				return nil, err
			}
			children = append(children, x)
			continue
		}
		x, err := l.expression(c)
		if err != nil {
			return nil, err
		}
		children = append(children, x)
	}
	out, err := a.WithChildren(l.ctx, children...)
	if err != nil {
		return nil, err
	}
	if out, err = l.opts.Mend(l.ctx, out); err != nil {
		return nil, err
	}
	agg, ok := out.(sql.Aggregation)
	if !ok {
		return nil, Unsupported(fmt.Sprintf("%T", out))
	}
	return agg, nil
}

// slotted gives a column its slot.
func (l *lowering) slotted(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	c, ok := e.(*expression.GetField)
	if !ok {
		return e, transform.SameTree, nil
	}
	s, ok := l.slot(c)
	if !ok {
		return nil, transform.SameTree, Unsupported("column " + c.String())
	}
	return c.WithIndex(s), transform.NewTree, nil
}
