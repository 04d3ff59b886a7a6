package gms

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/memo"

	"moka/sqlfront/routine"
)

// Coster replaces the cost of the joins whose default estimate is wrong for a store in which a lookup is
// cheap and a scan is a walk over tablets. The library's LookupJoin estimate takes the cardinality of the
// whole inner index as the join's output, so that "parent JOIN child ON child.fk = parent.pk WHERE
// parent.pk = ?" — the most common join there is — reads the whole child. The unit is a row read in a
// scan.
type Coster struct {
	memo.Coster
	Indexes
}

var _ memo.Coster = Coster{}

// Indexes know more of indexes than the library asks for.
type Indexes interface {
	// Folded reports whether entries do not lie in the order of the values.
	Folded(sql.Index) bool
	// Values is about how many values the first columns of an index have, and in how many rows: from
	// histograms if ok, else of the parents that a foreign key of these columns refers to, 0 if there are
	// none.
	Values(ctx *sql.Context, x sql.Index, columns int) (values, rows float64, ok bool)
}

// What reading costs, and finds.
const (
	lookupCost = 3.0 // one lookup against one scanned row; batches make it no more than that
	// LookupFanOut is the share of the inner table that one key of a non-unique index finds, as far as that
	// is known without histograms; at most MaxFanOut rows.
	LookupFanOut  = 0.01
	MaxFanOut     = 20.0
	fewRows       = 100.0 // of a table whose size does not matter
	mergeScanCost = 2.0   // a merge join reads two whole indexes, of secondary ones the rows, too
)

func (c Coster) estimate(ctx *sql.Context, r memo.RelExpr, s sql.StatsProvider) (float64, error) {
	if o, ok := ctx.Value(OrdersKey{}).(*Orders); ok && o.Loses(r) || losesNulls(ctx, r) {
		return math.Inf(1), nil
	}
	switch j := r.(type) {
	case *memo.LookupJoin:
		left := math.Max(1, float64(j.Left.RelProps.GetStats().RowCount()))
		if heldToOne(ctx, j.Left) {
			left = math.Min(MaxFanOut, math.Max(1, LookupFanOut*left))
		}
		fan := 1.0
		if !j.Injective {
			fan = c.fanOut(ctx, j)
		}
		return left * (lookupCost + fan), nil
	case *memo.RangeHeapJoin: // conditions on its tables alone get lost (cmd/itest TestBreadth found it)
		return math.Inf(1), nil
	case *memo.MergeJoin:
		if c.foldedScan(j.InnerScan) || c.foldedScan(j.OuterScan) {
			return math.Inf(1), nil // its sides are not in the order that it compares by
		}
		cost, err := c.Coster.EstimateCost(ctx, r, s)
		return mergeScanCost * cost, err
	}
	return c.Coster.EstimateCost(ctx, r, s)
}

func (c Coster) foldedScan(s *memo.IndexScan) bool {
	return s != nil && s.Index != nil && c.Folded(s.Index.SqlIdx())
}

// heldToOne reports whether a column has the value of a variable, in a body that is planned before there
// are values.
func heldToOne(ctx *sql.Context, g *memo.ExprGroup) bool {
	for e := range g.Iter() {
		f, ok := e.(*memo.Filter)
		if ok && slices.ContainsFunc(f.Filters, func(cond sql.Expression) bool {
			eq, ok := cond.(*expression.Equals)
			if !ok {
				return false
			}
			column, value := eq.Left(), eq.Right()
			if _, swapped := value.(*expression.GetField); swapped {
				column, value = value, column
			}
			_, plain := column.(*expression.GetField)
			return plain && isHeld(ctx, value)
		}) {
			return true
		}
	}
	return false
}

// isHeld reports whether an expression is of variables, and of no columns.
func isHeld(ctx *sql.Context, e sql.Expression) bool {
	held, columns := false, false
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *routine.Held:
			held = true
		case *expression.GetField, sql.ExpressionWithNodes:
			columns = true
		}
		return !columns
	})
	return held && !columns
}

// losesNulls reports a join that stands for NOT IN (SELECT …) and finds its rows by an index. The library
// makes an ordinary outer join of it on the way: a NULL on the left, which is in no set and not in none
// but the empty one, finds no row and passes.
func losesNulls(ctx *sql.Context, r memo.RelExpr) bool {
	switch r.(type) {
	case *memo.LookupJoin, *memo.ConcatJoin, *memo.MergeJoin, *memo.RangeHeapJoin:
	default:
		return false
	}
	for e := range r.Group().Iter() {
		if j, ok := e.(*memo.LeftJoin); ok && j.Op.IsExcludeNulls() {
			return slices.ContainsFunc(j.Filter, func(f sql.Expression) bool { return f.IsNullable(ctx) })
		}
	}
	return false
}

// fanOut is how many rows a lookup finds.
func (c Coster) fanOut(ctx *sql.Context, j *memo.LookupJoin) float64 {
	all := float64(j.Right.RelProps.GetStats().RowCount())
	if j.Lookup != nil && j.Lookup.Index != nil && j.Lookup.Table != nil {
		values, rows, ok := c.Values(ctx, j.Lookup.Index.SqlIdx(), len(j.Lookup.Table.Expressions()))
		switch {
		case ok && values > 0:
			return math.Max(1, rows/values)
		case !ok && all >= fewRows && values > 0:
			return math.Max(1, all/values)
		}
	}
	return math.Min(MaxFanOut, math.Max(1, LookupFanOut*all))
}

// EstimateCost implements memo.Coster.
func (c Coster) EstimateCost(ctx *sql.Context, r memo.RelExpr, s sql.StatsProvider) (float64, error) {
	if err := ctx.Err(); err != nil {
		return math.Inf(1), err
	}
	return c.estimate(ctx, r, s)
}
