package engine

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/memo"
)

// coster replaces the cost of the joins whose default estimate is wrong for a store in which a lookup is cheap and a scan is
// a walk over tablets. The library's LookupJoin estimate takes the cardinality of the whole inner index as the join's
// output, so that "parent JOIN child ON child.fk = parent.pk WHERE parent.pk = ?" — the most common join there is — reads the
// whole child. The unit is a row read in a scan.
type coster struct{ memo.Coster }

const (
	lookupCost    = 3.0  // one lookup against one scanned row; batches make it no more than that
	lookupFanOut  = 0.01 // without histograms: the share of the inner table that one key of a non-unique index finds
	maxFanOut     = 20.0
	mergeScanCost = 2.0 // a merge join reads two whole indexes, and for a secondary index the rows behind it
)

func (c coster) EstimateCost(ctx *sql.Context, r memo.RelExpr, s sql.StatsProvider) (float64, error) {
	switch j := r.(type) {
	case *memo.LookupJoin:
		left := math.Max(1, float64(j.Left.RelProps.GetStats().RowCount()))
		fan := 1.0
		if !j.Injective {
			fan = math.Min(maxFanOut, math.Max(1, lookupFanOut*float64(j.Right.RelProps.GetStats().RowCount())))
		}
		return left * (lookupCost + fan), nil
	case *memo.MergeJoin:
		cost, err := c.Coster.EstimateCost(ctx, r, s)
		return mergeScanCost * cost, err
	}
	return c.Coster.EstimateCost(ctx, r, s)
}
