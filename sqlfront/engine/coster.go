package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/memo"

	"moka/sqlfront/gms"
	"moka/sqlfront/routine"
	"moka/sqlfront/stats"
)

// coster replaces the cost of the joins whose default estimate is wrong for a store in which a lookup is cheap and a scan is
// a walk over tablets. The library's LookupJoin estimate takes the cardinality of the whole inner index as the join's
// output, so that "parent JOIN child ON child.fk = parent.pk WHERE parent.pk = ?" — the most common join there is — reads the
// whole child. The unit is a row read in a scan.
type coster struct {
	memo.Coster
	stats *stats.Store
}

const (
	lookupCost    = 3.0  // one lookup against one scanned row; batches make it no more than that
	lookupFanOut  = 0.01 // without histograms: the share of the inner table that one key of a non-unique index finds
	maxFanOut     = 20.0
	fewRows       = 100.0 // of a table whose size does not matter
	mergeScanCost = 2.0   // a merge join reads two whole indexes, and for a secondary index the rows behind it
)

func (c coster) estimate(ctx *sql.Context, r memo.RelExpr, s sql.StatsProvider) (float64, error) {
	if o, ok := ctx.Value(gms.OrdersKey{}).(*gms.Orders); ok && o.Loses(r) || losesNulls(ctx, r) {
		return math.Inf(1), nil
	}
	switch j := r.(type) {
	case *memo.LookupJoin:
		left := math.Max(1, float64(j.Left.RelProps.GetStats().RowCount()))
		if heldToOne(ctx, j.Left) {
			left = math.Min(maxFanOut, math.Max(1, lookupFanOut*left))
		}
		fan := 1.0
		if !j.Injective {
			fan = c.fanOut(ctx, j)
		}
		return left * (lookupCost + fan), nil
	case *memo.RangeHeapJoin: // conditions on its tables alone get lost (cmd/itest TestBreadth found it)
		return math.Inf(1), nil
	case *memo.MergeJoin:
		if foldedScan(j.InnerScan) || foldedScan(j.OuterScan) {
			return math.Inf(1), nil // its sides are not in the order that it compares by
		}
		cost, err := c.Coster.EstimateCost(ctx, r, s)
		return mergeScanCost * cost, err
	}
	return c.Coster.EstimateCost(ctx, r, s)
}

func foldedScan(s *memo.IndexScan) bool {
	if s == nil || s.Index == nil {
		return false
	}
	x, ok := s.Index.SqlIdx().(*index)
	return ok && x.folded
}

// heldToOne reports whether a column has the value of a variable, in a body that is planned before there are values.
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

// losesNulls reports a join that stands for NOT IN (SELECT …) and finds its rows by an index. The library makes an ordinary outer
// join of it on the way: a NULL on the left, which is in no set and not in none but the empty one, finds no row and passes.
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
func (c coster) fanOut(ctx *sql.Context, j *memo.LookupJoin) float64 {
	all := float64(j.Right.RelProps.GetStats().RowCount())
	if j.Lookup != nil && j.Lookup.Index != nil && j.Lookup.Table != nil && c.stats != nil {
		if x, ok := j.Lookup.Index.SqlIdx().(*index); ok {
			columns := len(j.Lookup.Table.Expressions())
			if n, rows, ok := c.stats.Distinct(x.table.desc.ID, x, columns); ok && n > 0 {
				return math.Max(1, float64(rows)/float64(n))
			}
			if all >= fewRows {
				if parents := c.parents(ctx, x, columns); parents > 0 {
					return math.Max(1, all/parents)
				}
			}
		}
	}
	return math.Min(maxFanOut, math.Max(1, lookupFanOut*all))
}

// parents is how many rows the table has that a foreign key of the index's first columns refers to, 0 if there is none: without
// histograms that is how many values the columns have. There are few rows for an order, and very many for a kind of order.
func (c coster) parents(ctx *sql.Context, x *index, columns int) float64 {
	for _, fk := range x.table.desc.ForeignKeys {
		if columns > len(x.cols) || len(fk.Columns) != columns {
			continue
		}
		same := true
		for i, name := range fk.Columns {
			same = same && strings.EqualFold(x.table.pk.Schema[x.cols[i]].Name, name)
		}
		if !same {
			continue
		}
		v, err := x.table.eng.viewOf(ctx)
		if err != nil {
			return 0
		}
		db, ok := v.snap.Database(cmp.Or(fk.ParentDatabase, x.table.db))
		if !ok {
			return 0
		}
		desc, ok := db.Table(fk.ParentTable)
		if !ok {
			return 0
		}
		t, err := v.table(x.table.eng, db, desc)
		if err != nil {
			return 0
		}
		rows, _ := c.stats.Estimate(ctx, counted{t})
		return math.Max(1, float64(rows))
	}
	return 0
}

// EstimateCost implements memo.Coster.
func (c coster) EstimateCost(ctx *sql.Context, r memo.RelExpr, s sql.StatsProvider) (float64, error) {
	if err := ctx.Err(); err != nil {
		return math.Inf(1), err
	}
	return c.estimate(ctx, r, s)
}
