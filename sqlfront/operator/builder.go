package operator

import (
	"context"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/sqlerr"
)

// Charged is a node whose rows somebody above keeps.
type Charged struct {
	sql.Node
	charge *Charge
	most   int64 // rows that are kept, 0 for all
	each   int64 // bytes of a row, 0 for what it takes
	held   bool  // beyond the end of the iterator
}

// Keep is a node whose rows are kept until the statement ends.
func Keep(n sql.Node, c *Charge) *Charged { return &Charged{Node: n, charge: c, held: true} }

// chargedIter charges for the rows that pass.
type chargedIter struct {
	sql.RowIter
	n    *Charged
	rows int64
}

func (it *chargedIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return row, err
	}
	if it.rows++; it.n.most > 0 && it.rows > it.n.most {
		return row, nil
	}
	size := it.n.each
	if size == 0 {
		size = RowBytes(row)
	}
	return row, it.n.charge.Add(size)
}

func (it *chargedIter) Close(ctx *sql.Context) error {
	if !it.n.held {
		it.n.charge.Release()
	}
	return it.RowIter.Close(ctx)
}

type chargedKey struct{}

// once reports whether the node is being built already by the one who asks, and returns the
// context to build it in.
func once(ctx *sql.Context, n sql.Node) (inner *sql.Context, again bool) {
	if ctx.Value(chargedKey{}) == n {
		return nil, true
	}
	return ctx.WithContext(context.WithValue(ctx, chargedKey{}, n)), false
}

// Builder builds the operators of a plan that keep rows; Base builds what is below them.
type Builder struct {
	Pool *Pool
	Base *rowexec.BaseBuilder
	// Store makes of a row with the columns from one of a table with these columns; nil leaves it as it is.
	Store func(ctx *sql.Context, columns, from sql.Schema, row sql.Row) (sql.Row, error)
}

// Build returns nil for nodes that keep nothing, or that the library's own iterator is good enough for.
func (b *Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.Distinct:
		if it, err := b.distinct(ctx, n, row); it != nil || err != nil {
			return it, err
		}
	case *plan.SetOp:
		if it, err := b.setOperation(ctx, n, row); it != nil || err != nil {
			return it, err
		}
	case *plan.RecursiveCte:
		return b.recursive(ctx, n, row)
	case *plan.JoinNode:
		return b.buildHashJoin(ctx, n, row)
	}
	return b.limited(ctx, n, row)
}

// limited charges for what the library's nodes keep.
func (b *Builder) limited(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *Charged:
		it, err := b.Base.Build(ctx, n.Node, row)
		if err != nil {
			return nil, err
		}
		return &chargedIter{RowIter: it, n: n}, nil
	case *plan.Sort:
		c := b.Pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory)
		it, err := b.Base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &sortIter{pool: b.Pool, by: n.SortConditions, child: it, charge: c, meter: meterOf(ctx)}, nil
	case *plan.TopN:
		if most := topRows(ctx, n); most > maxTopRows && !n.CalcFoundRows {
			// The library keeps all of them in memory; a sort goes to disk.
			it, err := b.Base.Build(ctx, n.Child, row)
			if err != nil {
				return nil, err
			}
			c := b.Pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory)
			return &iters.LimitIter{Limit: most,
				ChildIter: &sortIter{pool: b.Pool, by: n.SortConditions, child: it, charge: c,
					meter: meterOf(ctx)}}, nil
		}
		return b.overCharged(ctx, n, n.Child, row,
			&Charged{charge: b.Pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory), most: topRows(ctx, n)})
	case *plan.Window:
		c := b.Pool.Charge(ctx, "window", sqlerr.CapacityExceeded)
		exprs, _, err := chargeKept(ctx, n.SelectExprs, c, leastOfFrames)
		if err != nil {
			return nil, err
		}
		again := *n
		again.SelectExprs = frame(exprs, c)
		n = &again
		return b.overCharged(ctx, n, n.Child, row, &Charged{charge: c})
	case *plan.GroupBy:
		return b.limitedGroups(ctx, n, row)
	case *plan.HashLookup:
		if n.Lookup != nil {
			return lookup(ctx, n, row)
		}
		return b.inPlace(ctx, n, &n.Child, row, "hash join")
	case *plan.CachedResults:
		if n.IsFinalized() {
			return &keptRows{n.GetCachedResults()}, nil
		}
		return b.inPlace(ctx, n, &n.Child, row, "subquery")
	case *plan.Distinct: // ON
		inner, again := once(ctx, n)
		if again {
			return nil, nil
		}
		it, err := b.Base.Build(inner, n, row)
		if err != nil {
			return nil, err
		}
		return &chargedIter{RowIter: it,
			n: &Charged{charge: b.Pool.Charge(ctx, "distinct", sqlerr.CapacityExceeded), each: 64}}, nil
	}
	return nil, nil
}

// keptRows are in memory. A join may read nothing else, so it has to hear there that it is to end.
type keptRows struct{ rows []sql.Row }

// Next implements sql.RowIter.
func (k *keptRows) Next(ctx *sql.Context) (sql.Row, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(k.rows) == 0 {
		return nil, io.EOF
	}
	row := k.rows[0]
	k.rows = k.rows[1:]
	return row.Copy(), nil
}

// Close implements sql.RowIter.
func (k *keptRows) Close(*sql.Context) error { return nil }

// lookup are the rows of a table that the library has hashed, by the key of row.
func lookup(ctx *sql.Context, n *plan.HashLookup, row sql.Row) (sql.RowIter, error) {
	key, _, err := n.GetHashKey(ctx, n.LeftProbeKey, row)
	if err != nil {
		return nil, err
	}
	rows := (*n.Lookup)[key]
	if len(rows) == 0 && n.JoinType.IsExcludeNulls() {
		// NOT IN asks whether there are rows at all.
		for _, rows = range *n.Lookup {
			if len(rows) > 0 {
				break
			}
		}
	}
	return &keptRows{rows}, nil
}

// maxTopRows is how many rows a TopN may keep before it is a sort.
const maxTopRows = 1000

func topRows(ctx *sql.Context, n *plan.TopN) int64 {
	v, err := n.Limit.Eval(ctx, nil)
	if err != nil {
		return 0
	}
	i, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return 0
	}
	most, _ := i.(int64)
	return max(1, most)
}

// overCharged builds a node over a charged child.
func (b *Builder) overCharged(ctx *sql.Context, n, child sql.Node, row sql.Row,
	c *Charged) (sql.RowIter, error) {
	if _, done := child.(*Charged); done || c.charge == nil {
		return nil, nil
	}
	c.Node = child
	over, err := n.WithChildren(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.Base.Build(ctx, over, row)
}

// inPlace builds a node that keeps its child's rows in itself, until the statement is over.
func (b *Builder) inPlace(ctx *sql.Context, n sql.Node, child *sql.Node, row sql.Row,
	what string) (sql.RowIter, error) {
	was := *child
	if _, done := was.(*Charged); done {
		return nil, nil
	}
	c := b.Pool.Charge(ctx, what, sqlerr.CapacityExceeded)
	if c == nil {
		return nil, nil
	}
	*child = &Charged{Node: was, charge: c, held: true}
	defer func() { *child = was }()
	return b.Base.Build(ctx, n, row)
}

// limitedGroups charges a GROUP BY for its groups; one that keeps all values, for the rows.
func (b *Builder) limitedGroups(ctx *sql.Context, n *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	c := b.Pool.Charge(ctx, "group by", sqlerr.CapacityExceeded)
	if deps, changed, err := chargeKept(ctx, n.SelectDeps, c, 0); err != nil {
		return nil, err
	} else if changed {
		again := *n
		again.SelectDeps = deps
		n = &again
	}
	if len(n.GroupByExprs) == 0 {
		if keepsValues(ctx, n.SelectDeps) {
			return b.overCharged(ctx, n, n.Child, row, &Charged{charge: c})
		}
		return nil, nil
	}
	it, err := b.Base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	if isRollup(n) {
		r, err := newRollup(ctx, n, it, c)
		if err != nil {
			_ = it.Close(ctx)
			return nil, err
		}
		return r, nil
	}
	return b.Pool.newGroups(ctx, n, it, c), nil
}

func keepsValues(ctx *sql.Context, deps []sql.Expression) (keeps bool) {
	for _, d := range deps {
		sql.Inspect(ctx, d, func(_ *sql.Context, e sql.Expression) bool {
			switch collate.Library(e).(type) {
			case *aggregation.GroupConcat, *aggregation.CountDistinct, *aggregation.JsonArray,
				*aggregation.JSONObjectAgg:
				keeps = true
			}
			return !keeps
		})
	}
	return keeps
}
