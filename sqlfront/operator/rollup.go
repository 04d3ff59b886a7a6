package operator

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// rollup is GROUP BY … WITH ROLLUP: behind the groups of all columns those of all but the last, and so on to
// one of all rows. A column that a row is not grouped by is NULL in it. Rows come in the order of the groups,
// each sum behind what it sums up. All are kept in memory.
type rollup struct {
	by, weights []sql.Expression
	deps        []sql.Expression
	// from[i] is the column of by that dependency i hangs on, -1 for none; marks[i]: it is
	// GROUPING of that column.
	from   []int
	marks  []bool
	child  sql.RowIter
	charge *Charge

	schema sql.Schema
	keys   *collate.RowKeys
	found  []map[string]*rolled // by level
	rows   []*rolled
	read   bool
}

// rolled is one group: of the first columns of by, as many as level.
type rolled struct {
	level   int
	keys    []any // of weights
	buffers []sql.AggregationBuffer
}

// isRollup reports whether a GROUP BY is WITH ROLLUP.
func isRollup(n *plan.GroupBy) bool {
	if len(n.GroupByExprs) == 0 {
		return false
	}
	_, ok := n.GroupByExprs[len(n.GroupByExprs)-1].(*expr.Rollup)
	return ok
}

// maxRollup is how many columns may be summed up, as many as GROUPING knows in MySQL: each row is in as
// many groups, and each group's key is as long.
const maxRollup = 64

func newRollup(ctx *sql.Context, n *plan.GroupBy, child sql.RowIter, c *Charge) (*rollup, error) {
	if len(n.GroupByExprs)-1 > maxRollup {
		return nil, sqlerr.Unsupported("WITH ROLLUP of more than " + strconv.Itoa(maxRollup) + " columns; " +
			"sum up the groups of fewer in a derived table")
	}
	r := &rollup{by: n.GroupByExprs[:len(n.GroupByExprs)-1], deps: n.SelectDeps, child: child, charge: c,
		found: make([]map[string]*rolled, len(n.GroupByExprs))}
	for i := range r.found {
		r.found[i] = map[string]*rolled{}
	}
	for _, e := range r.by {
		if err := nullOfNull(ctx, e, len(n.Child.Schema(ctx))); err != nil {
			return nil, err
		}
		w := expr.ByCollation(ctx, e)
		r.weights = append(r.weights, w)
		r.schema = append(r.schema, &sql.Column{Type: w.Type(ctx)})
	}
	r.keys = collate.RowKeysOf(r.schema)
	for _, d := range r.deps {
		column, mark := -1, false
		if g := groupingOf(d); g != nil {
			if column, mark = r.column(ctx, g), true; column < 0 {
				return nil, sqlerr.New(sqlerr.WrongArguments,
					"Argument #0 of GROUPING function is not in GROUP BY")
			}
		} else if _, ok := d.(sql.Aggregation); !ok {
			column = r.column(ctx, d)
		}
		r.from, r.marks = append(r.from, column), append(r.marks, mark)
	}
	return r, nil
}

func groupingOf(d sql.Expression) sql.Expression {
	if a, ok := d.(*aggregation.BitOr); ok {
		if g, ok := a.Child.(*expr.Grouping); ok {
			return g.Child
		}
	}
	return nil
}

// column is the place of e in GROUP BY, or of the first expression there that looks at it.
func (r *rollup) column(ctx *sql.Context, e sql.Expression) int {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	same := func(b sql.Expression) bool {
		if a, ok := b.(*expression.Alias); ok {
			b = a.Child
		}
		return strings.EqualFold(b.String(), e.String())
	}
	if i := slices.IndexFunc(r.by, same); i >= 0 {
		return i
	}
	return slices.IndexFunc(r.by, func(b sql.Expression) bool {
		found := false
		sql.Inspect(ctx, b, func(_ *sql.Context, x sql.Expression) bool {
			found = found || x != nil && same(x)
			return !found
		})
		return found
	})
}

// nullOfNull refuses what is not NULL where its columns are: it is computed above, of columns
// that are NULL in a sum.
func nullOfNull(ctx *sql.Context, e sql.Expression, columns int) error {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	if _, ok := e.(*expression.GetField); ok {
		return nil
	}
	if v, err := e.Eval(ctx, make(sql.Row, columns+64)); err != nil || v != nil {
		return sqlerr.Unsupported("WITH ROLLUP over an expression that is not NULL where its columns are; " +
			"group by it in a derived table")
	}
	return nil
}

// Next implements sql.RowIter.
func (r *rollup) Next(ctx *sql.Context) (sql.Row, error) {
	if !r.read {
		if err := r.compute(ctx); err != nil {
			return nil, err
		}
		r.read = true
	}
	if len(r.rows) == 0 {
		return nil, io.EOF
	}
	g := r.rows[0]
	r.rows = r.rows[1:]
	row := make(sql.Row, len(r.deps))
	for i, b := range g.buffers {
		summed := r.from[i] >= g.level
		switch {
		case r.marks[i] && summed:
			row[i] = uint64(1)
		case r.marks[i]:
			row[i] = uint64(0)
		case summed:
		default:
			var err error
			if row[i], err = b.Eval(ctx); err != nil {
				return nil, err
			}
		}
	}
	return row, nil
}

func (r *rollup) compute(ctx *sql.Context) error {
	n := len(r.by)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, err := r.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		keys := make([]any, n)
		for i, w := range r.weights {
			if keys[i], err = w.Eval(ctx, row); err != nil {
				return err
			}
		}
		for level := n; level >= 0; level-- {
			key, err := r.keys.Of(ctx, keys[:level])
			if err != nil {
				return err
			}
			g := r.found[level][string(key)]
			if g == nil {
				id := string(key)
				if g, err = r.add(ctx, level, keys[:level], row); err != nil {
					return err
				}
				r.found[level][id] = g
			}
			for _, b := range g.buffers {
				if err := b.Update(ctx, row); err != nil {
					return err
				}
			}
		}
	}
	var failed error
	slices.SortStableFunc(r.rows, func(a, b *rolled) int {
		c, err := r.compare(ctx, a, b)
		if err != nil {
			failed = err
		}
		return c
	})
	return failed
}

func (r *rollup) add(ctx *sql.Context, level int, keys []any, row sql.Row) (*rolled, error) {
	if err := r.charge.Add(groupBytes*int64(1+len(r.deps)) + RowBytes(row)); err != nil {
		return nil, err
	}
	g := &rolled{level: level, keys: keys, buffers: make([]sql.AggregationBuffer, len(r.deps))}
	for i, d := range r.deps {
		var err error
		if a, ok := d.(sql.Aggregation); ok {
			g.buffers[i], err = a.NewBuffer(ctx)
		} else {
			g.buffers[i], err = aggregation.NewFirst(d).NewBuffer(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	r.rows = append(r.rows, g)
	return g, nil
}

// compare is the order of groups: NULL first, sums last.
func (r *rollup) compare(ctx *sql.Context, a, b *rolled) (int, error) {
	for i := range r.by {
		switch {
		case i >= a.level || i >= b.level:
			return cmp.Compare(b.level, a.level), nil
		case a.keys[i] == nil || b.keys[i] == nil:
			if a.keys[i] == nil && b.keys[i] == nil {
				continue
			}
			if a.keys[i] == nil {
				return -1, nil
			}
			return 1, nil
		}
		if c, err := r.schema[i].Type.Compare(ctx, a.keys[i], b.keys[i]); c != 0 || err != nil {
			return c, err
		}
	}
	return 0, nil
}

// Close implements sql.RowIter.
func (r *rollup) Close(ctx *sql.Context) error {
	for _, level := range r.found {
		for _, g := range level {
			for _, b := range g.buffers {
				b.Dispose(ctx)
			}
		}
	}
	r.found, r.rows = nil, nil
	r.charge.Release()
	return r.child.Close(ctx)
}
