package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// groups is GROUP BY with columns. The library's own reads its child in a goroutine that nobody waits for any more once an aggregate
// has failed, and hangs; and it does not say how many groups it holds.
type groups struct {
	by, deps []sql.Expression
	child    sql.RowIter
	charge   *charge

	schema sql.Schema // of the key
	key    sql.Row
	found  map[uint64][]sql.AggregationBuffer
	order  []uint64
	read   bool
}

// groupBytes is about what an empty aggregate takes.
const groupBytes = 160

func newGroups(ctx *sql.Context, n *plan.GroupBy, child sql.RowIter, c *charge) *groups {
	g := &groups{
		by: n.GroupByExprs, deps: n.SelectDeps, child: child, charge: c,
		key: make(sql.Row, len(n.GroupByExprs)), found: map[uint64][]sql.AggregationBuffer{},
	}
	for _, e := range n.GroupByExprs {
		g.schema = append(g.schema, &sql.Column{Type: e.Type(ctx)})
	}
	return g
}

// Next implements sql.RowIter.
func (g *groups) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.read {
		if err := g.compute(ctx); err != nil {
			return nil, err
		}
		g.read = true
	}
	if len(g.order) == 0 {
		return nil, io.EOF
	}
	buffers := g.found[g.order[0]]
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

func (g *groups) compute(ctx *sql.Context) error {
	for {
		row, err := g.child.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, e := range g.by {
			if g.key[i], err = e.Eval(ctx, row); err != nil {
				return err
			}
		}
		h, err := hash.HashOf(ctx, g.schema, g.key)
		if err != nil {
			return err
		}
		buffers, ok := g.found[h]
		if !ok {
			if buffers, err = g.add(ctx, h, row); err != nil {
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
func (g *groups) add(ctx *sql.Context, h uint64, row sql.Row) ([]sql.AggregationBuffer, error) {
	if err := g.charge.add(groupBytes*int64(1+len(g.deps)) + rowBytes(row)); err != nil {
		return nil, err
	}
	buffers := make([]sql.AggregationBuffer, len(g.deps))
	for i, d := range g.deps {
		var err error
		if a, ok := d.(sql.Aggregation); ok {
			buffers[i], err = a.NewBuffer(ctx)
		} else {
			buffers[i], err = aggregation.NewFirst(d).NewBuffer(ctx) // of columns that are not aggregated, the first row's
		}
		if err != nil {
			return nil, err
		}
	}
	g.found[h] = buffers
	g.order = append(g.order, h)
	return buffers, nil
}

// Close implements sql.RowIter.
func (g *groups) Close(ctx *sql.Context) error {
	for _, buffers := range g.found {
		for _, b := range buffers {
			b.Dispose(ctx)
		}
	}
	g.found, g.order = nil, nil
	g.charge.release()
	return g.child.Close(ctx)
}
