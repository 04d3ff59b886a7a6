package operator

import (
	"context"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// groups is GROUP BY with columns. The library's own reads its child in a goroutine that nobody waits for any
// more once an aggregate has failed, and hangs; and it does not say how many groups it holds. If these are
// more than the statement may keep, the rows of further groups go to disk, in partitions by a hash of what is
// grouped by, and come up when the groups at hand have been given.
type groups struct {
	pool     *Pool
	by, deps []sql.Expression
	child    sql.RowIter
	charge   *Charge
	keeps    bool // an aggregate keeps its values

	spills spiller
	size   int64

	keys  *collate.RowKeys
	key   sql.Row
	found map[string][]sql.AggregationBuffer
	order [][]sql.AggregationBuffer
	read  bool
}

// groupBytes is about what an empty aggregate takes.
const groupBytes = 160

func (p *Pool) newGroups(ctx *sql.Context, n *plan.GroupBy, child sql.RowIter, c *Charge) *groups {
	g := &groups{
		pool: p, keeps: keepsValues(ctx, n.SelectDeps),
		spills: spiller{pool: p, what: "group by", own: meterOf(ctx)},
		by:     make([]sql.Expression, len(n.GroupByExprs)), deps: n.SelectDeps, child: child, charge: c,
		key: make(sql.Row, len(n.GroupByExprs)), found: map[string][]sql.AggregationBuffer{},
	}
	ts := make([]sql.Type, len(g.by))
	for i, e := range n.GroupByExprs {
		g.by[i] = expr.ByCollation(ctx, e)
		ts[i] = g.by[i].Type(ctx)
	}
	g.keys = collate.NewRowKeys(ts)
	return g
}

// Next implements sql.RowIter.
func (g *groups) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.read {
		if err := g.compute(ctx, func() (sql.Row, error) { return g.child.Next(ctx) }); err != nil {
			return nil, err
		}
		g.read = true
	}
	for len(g.order) == 0 {
		more, err := g.spills.next()
		if err != nil {
			return nil, err
		}
		g.forget(ctx)
		if err := g.compute(ctx, more); err != nil {
			return nil, err
		}
	}
	buffers := g.order[0]
	g.order = g.order[1:]
	row := make(sql.Row, len(buffers))
	for i, b := range buffers {
		var err error
		if row[i], err = b.Eval(ctx); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (g *groups) compute(ctx *sql.Context, next func() (sql.Row, error)) error {
	most := g.pool.spillsAt(g.charge)
	for n := 0; ; n++ {
		row, err := next()
		if err == io.EOF {
			return g.spills.finish()
		}
		if err != nil {
			return err
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return sqlerr.From(context.Cause(ctx))
		}
		for i, e := range g.by {
			if g.key[i], err = e.Eval(ctx, row); err != nil {
				return err
			}
		}
		key, err := g.keys.Of(ctx, g.key)
		if err != nil {
			return err
		}
		buffers, ok := g.found[string(key)]
		if !ok {
			if g.size >= most && g.spills.can(row) {
				if err := g.spills.add(ctx, key, row); err != nil {
					return err
				}
				continue
			}
			if buffers, err = g.add(ctx, string(key), row); err != nil {
				return err
			}
		}
		if g.keeps {
			n := RowBytes(row)
			g.size += n
			if err := g.charge.Add(n); err != nil {
				return err
			}
		}
		for _, b := range buffers {
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
}

// add makes a group of which row is the first.
func (g *groups) add(ctx *sql.Context, key string, row sql.Row) ([]sql.AggregationBuffer, error) {
	n := groupBytes*int64(1+len(g.deps)) + int64(len(key)) + RowBytes(row)
	g.size += n
	if err := g.charge.Add(n); err != nil {
		return nil, err
	}
	buffers := make([]sql.AggregationBuffer, len(g.deps))
	for i, d := range g.deps {
		var err error
		if a, ok := d.(sql.Aggregation); ok {
			buffers[i], err = a.NewBuffer(ctx)
		} else {
			// of columns that are not aggregated, the first row's
			buffers[i], err = aggregation.NewFirst(d).NewBuffer(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	g.found[key] = buffers
	g.order = append(g.order, buffers)
	return buffers, nil
}

// forget gives back what the groups at hand have taken.
func (g *groups) forget(ctx *sql.Context) {
	for _, buffers := range g.found {
		for _, b := range buffers {
			b.Dispose(ctx)
		}
	}
	g.found, g.order, g.size = map[string][]sql.AggregationBuffer{}, nil, 0
	g.charge.Release()
}

// Close implements sql.RowIter.
func (g *groups) Close(ctx *sql.Context) error {
	g.forget(ctx)
	g.spills.close()
	return g.child.Close(ctx)
}
