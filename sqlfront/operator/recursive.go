package operator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// recursive is WITH RECURSIVE: the rows of the first query, and then, again and again, those that the second
// makes of the rows that were new the last time. All of them are rows of one table, whose columns are those
// of the first query; the library lets each row be what it is, tells them apart by a hash, and does not know
// cte_max_recursion_depth.
type recursive struct {
	b      *Builder
	n      *plan.RecursiveCte
	outer  sql.Row
	schema sql.Schema

	iter            sql.RowIter
	fresh           []sql.Row // of this round
	rounds          int
	most            int
	same            collatedRows
	seen            map[string]struct{} // nil for UNION ALL
	kept            *Charge             // what is in seen
	working, coming *Charge             // the rows of the last round, and of this one
}

func (b *Builder) recursive(ctx *sql.Context, n *plan.RecursiveCte, row sql.Row) (sql.RowIter, error) {
	schema := n.Schema(ctx)
	charge := func() *Charge { return b.Pool.Charge(ctx, "recursive query", sqlerr.CapacityExceeded) }
	r := &recursive{b: b, n: n, outer: row, schema: schema, most: recursionDepth(ctx), kept: charge(),
		working: charge(), coming: charge()}
	if n.Union().Distinct {
		r.seen, r.same = map[string]struct{}{}, newCollatedRows(schema, len(row))
	}
	var it sql.RowIter = r
	if by := n.Union().SortConditions; len(by) > 0 {
		sorted := make(sql.SortConditions, len(by))
		for i, s := range by {
			sorted[i] = s
			sorted[i].Expr = expr.ByCollation(ctx, s.Expr)
		}
		it = &sortIter{pool: b.Pool, by: sorted, child: it,
			charge: b.Pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory)}
	}
	if n.Union().Limit != nil {
		limit, err := iters.GetInt64Value(ctx, n.Union().Limit)
		if err != nil {
			return nil, err
		}
		it = &iters.LimitIter{Limit: limit, ChildIter: it}
	}
	return it, nil
}

// recursionDepth is how many rounds there may be.
func recursionDepth(ctx *sql.Context) int {
	v, err := ctx.GetSessionVariable(ctx, "cte_max_recursion_depth")
	if err != nil {
		return 1000
	}
	switch n := v.(type) {
	case int64:
		return int(n)
	case uint64:
		return int(n)
	}
	return 1000
}

// Next implements sql.RowIter.
func (r *recursive) Next(ctx *sql.Context) (sql.Row, error) {
	if r.iter == nil {
		var err error
		if r.iter, err = r.b.Base.Build(ctx, r.n.Left(), r.outer); err != nil {
			return nil, err
		}
	}
	for {
		row, err := r.iter.Next(ctx)
		if err == io.EOF && len(r.fresh) > 0 {
			if err = r.again(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if row, err = r.stored(ctx, row); err != nil {
			return nil, err
		}
		if r.seen != nil {
			key, err := r.same.keyOf(ctx, row)
			if err != nil {
				return nil, err
			}
			if _, ok := r.seen[string(key)]; ok {
				continue
			}
			r.seen[string(key)] = struct{}{}
			if err := r.kept.Add(distinctBytes); err != nil {
				return nil, err
			}
		}
		r.fresh = append(r.fresh, row)
		return row, r.coming.Add(RowBytes(row))
	}
}

// stored is a row as the table has it.
func (r *recursive) stored(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	if r.rounds == 0 || r.b.Store == nil || len(row) < len(r.schema) {
		return row, nil
	}
	columns := len(row) - len(r.schema) // behind what belongs to the query around
	stored, err := r.b.Store(ctx, r.schema, r.n.Right().Schema(ctx), row[columns:])
	if err != nil || columns == 0 {
		return stored, err
	}
	return append(row[:columns:columns], stored...), nil
}

// again begins the next round.
func (r *recursive) again(ctx *sql.Context) error {
	if ctx.Err() != nil {
		return sqlerr.From(context.Cause(ctx))
	}
	if r.rounds++; r.rounds > r.most {
		text := fmt.Sprintf("Recursive query aborted after %d iterations. Try increasing "+
			"@@cte_max_recursion_depth to a larger value.", r.rounds)
		return sql.ErrCteRecursionLimitExceeded.Wrap(errors.New(text))
	}
	r.working.Release()
	r.working, r.coming = r.coming, r.working
	r.n.Working.Buf, r.fresh = r.fresh, nil
	if err := r.iter.Close(ctx); err != nil {
		return err
	}
	var err error
	r.iter, err = r.b.Base.Build(ctx, r.n.Right(), r.outer)
	return err
}

// Close implements sql.RowIter.
func (r *recursive) Close(ctx *sql.Context) error {
	if r.n.Working != nil {
		r.n.Working.Buf = nil
	}
	r.fresh, r.seen = nil, nil
	r.kept.Release()
	r.working.Release()
	r.coming.Release()
	if r.iter == nil {
		return nil
	}
	return r.iter.Close(ctx)
}
