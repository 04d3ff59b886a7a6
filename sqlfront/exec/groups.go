package exec

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/collate"
	"moka/sqlfront/operator"
	"moka/sqlfront/plan"
)

// groups is GROUP BY, or the one group of a query with aggregates.
type groups struct {
	b     *block
	of    *plan.Group
	keys  *collate.RowKeys
	key   sql.Row
	found map[string]*group
	order []*group
}

// group is one group: the row that came first and the aggregates, by the places of the outputs.
type group struct {
	first   sql.Row
	buffers []sql.AggregationBuffer
}

// groupBytes is about what an aggregate takes.
const groupBytes = 160

func newGroups(b *block) *groups {
	g := &groups{b: b, of: b.q.Group, key: make(sql.Row, len(b.q.Group.By)), found: map[string]*group{}}
	ts := make([]sql.Type, len(g.of.By))
	for i, c := range g.of.By {
		ts[i] = c.Type
	}
	g.keys = collate.NewRowKeys(ts)
	return g
}

func (g *groups) add(ctx *sql.Context, rows []sql.Row) error {
	for _, row := range rows {
		for i := range g.of.By {
			var err error
			if g.key[i], err = g.b.column(ctx, &g.of.By[i], row); err != nil {
				return err
			}
		}
		k, err := g.keys.Of(ctx, g.key)
		if err != nil {
			return err
		}
		one := g.found[string(k)]
		if one == nil {
			if one, err = g.begin(ctx, row); err != nil {
				return err
			}
			g.found[string(k)] = one
		}
		for _, b := range one.buffers {
			if b == nil {
				continue
			}
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin begins a group with its first row.
func (g *groups) begin(ctx *sql.Context, row sql.Row) (*group, error) {
	if len(g.order) >= g.b.run.Limits.Rows {
		return nil, ErrTooLarge
	}
	if err := g.b.run.keep(operator.RowBytes(row) + groupBytes*int64(len(g.of.Outputs))); err != nil {
		return nil, err
	}
	one := &group{first: row, buffers: make([]sql.AggregationBuffer, len(g.of.Outputs))}
	for i := range g.of.Outputs {
		a := g.of.Outputs[i].Aggregate
		if a == nil {
			continue
		}
		var err error
		if one.buffers[i], err = a.NewBuffer(ctx); err != nil {
			return nil, err
		}
	}
	g.order = append(g.order, one)
	return one, nil
}

// flush sends the groups' rows on.
func (g *groups) flush(ctx *sql.Context) error {
	if len(g.order) == 0 && len(g.of.By) == 0 {
		if _, err := g.begin(ctx, nil); err != nil {
			return err
		}
	}
	for _, one := range g.order {
		row := make(sql.Row, len(g.of.Outputs))
		for i := range g.of.Outputs {
			var err error
			if b := one.buffers[i]; b != nil {
				row[i], err = b.Eval(ctx)
				b.Dispose(ctx)
			} else if one.first != nil {
				row[i], err = g.b.column(ctx, &g.of.Outputs[i].First, one.first)
			}
			if err != nil {
				return err
			}
		}
		ok, err := g.b.pass(ctx, g.b.q.Having, row)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := g.b.output(ctx, row); err != nil {
			return err
		}
	}
	return nil
}
