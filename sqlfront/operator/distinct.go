package operator

import (
	"context"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// distinctIter is DISTINCT, by the columns' collations: the library tells rows apart by their bytes, so that 'a' and 'A', which are
// equal, would both come. It remembers a hash of each row. When these are more than the statement may keep, rows that have not been
// seen go to disk, numbered, in partitions by their hash; what of them is distinct is put back into the order in which it came.
type distinctIter struct {
	pool   *Pool
	child  sql.RowIter
	same   collatedRows
	charge *Charge
	spills spiller
	seen   map[uint64]struct{}
	rows   uint64
	rest   *sortIter // of what was on disk
}

// distinctBytes is about what a hash takes.
const distinctBytes = 64

// distinct builds DISTINCT; nil for DISTINCT ON.
func (b *Builder) distinct(ctx *sql.Context, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	if len(n.DistinctOn()) > 0 {
		return nil, nil
	}
	it, err := b.Base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return &distinctIter{
		pool: b.Pool, child: it, same: newCollatedRows(n.Child.Schema(ctx), len(row)), seen: map[uint64]struct{}{},
		charge: b.Pool.Charge(ctx, "distinct", sqlerr.CapacityExceeded), spills: spiller{pool: b.Pool, what: "distinct", own: meterOf(ctx)},
	}, nil
}

// Next implements sql.RowIter.
func (d *distinctIter) Next(ctx *sql.Context) (sql.Row, error) {
	for d.rest == nil {
		row, err := d.child.Next(ctx)
		if err == io.EOF {
			if err = d.spills.finish(); err == nil && len(d.spills.queue) == 0 {
				err = io.EOF
			}
			if err != nil {
				return nil, err
			}
			number := sql.SortConditions{{Expr: expression.NewGetField(0, types.Uint64, "", false), Order: sql.Ascending}}
			d.rest = &sortIter{
				pool: d.pool, by: number, child: &spilledDistinct{d: d}, charge: d.pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory), meter: d.spills.own,
			}
			break
		}
		if err != nil {
			return nil, err
		}
		d.rows++
		h, err := d.same.HashOf(ctx, row)
		if err != nil {
			return nil, err
		}
		if fresh, err := d.take(ctx, h, row, d.rows); fresh || err != nil {
			return row, err
		}
	}
	row, err := d.rest.Next(ctx)
	if err != nil {
		return nil, err
	}
	return row[1:], nil
}

// collatedRows hashes rows so that equal ones have equal hashes.
type collatedRows struct {
	schema sql.Schema
	outer  int // values of an outer scope in front of each row
	// texts are the columns that are padded; schema has bytes in their places, for their keys.
	texts map[int]sql.CollationID
}

func newCollatedRows(schema sql.Schema, outer int) collatedRows {
	c := collatedRows{schema: schema, outer: outer}
	for i, col := range schema {
		collation, ok := collate.Pads(col.Type)
		if !ok {
			continue
		}
		if c.texts == nil {
			c.texts, c.schema = map[int]sql.CollationID{}, slices.Clone(schema)
		}
		c.texts[i] = collation
		c.schema[i] = &sql.Column{Type: types.LongBlob}
	}
	return c
}

// HashOf implements iters.DistinctHasher.
func (c collatedRows) HashOf(ctx *sql.Context, row sql.Row) (uint64, error) {
	if len(row) == len(c.schema)+c.outer {
		row = row[c.outer:]
	}
	if c.texts != nil {
		row = slices.Clone(row)
		for i, collation := range c.texts {
			if i >= len(row) || row[i] == nil {
				continue
			}
			var err error
			if row[i], err = expr.WeightOf(ctx, collation, row[i]); err != nil {
				return 0, err
			}
		}
	}
	return hash.HashOf(ctx, c.schema, row)
}

// take reports whether the row is the first of its kind; it is not, for now, if it has been put on disk.
func (d *distinctIter) take(ctx *sql.Context, h uint64, row sql.Row, number uint64) (bool, error) {
	if _, ok := d.seen[h]; ok {
		return false, nil
	}
	if int64(len(d.seen))*distinctBytes >= d.pool.spillsAt(d.charge) && d.spills.can(row) {
		return false, d.spills.add(ctx, h, append(sql.Row{number}, row...))
	}
	d.seen[h] = struct{}{}
	return true, d.charge.Add(distinctBytes)
}

// Close implements sql.RowIter.
func (d *distinctIter) Close(ctx *sql.Context) (err error) {
	if d.rest != nil {
		err = d.rest.Close(ctx)
	}
	d.spills.close()
	d.seen = nil
	d.charge.Release()
	if closing := d.child.Close(ctx); err == nil {
		err = closing
	}
	return err
}

// spilledDistinct gives the distinct ones of the rows on disk, behind their numbers.
type spilledDistinct struct {
	d    *distinctIter
	next func() (sql.Row, error)
}

func (s *spilledDistinct) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		if s.next == nil {
			if ctx.Err() != nil {
				return nil, sqlerr.From(context.Cause(ctx))
			}
			var err error
			if s.next, err = s.d.spills.next(); err != nil {
				return nil, err
			}
			clear(s.d.seen)
			s.d.charge.Release()
		}
		row, err := s.next()
		if err == io.EOF {
			s.next = nil
			if err = s.d.spills.finish(); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		h, err := s.d.same.HashOf(ctx, row[1:])
		if err != nil {
			return nil, err
		}
		if fresh, err := s.d.take(ctx, h, row[1:], row[0].(uint64)); fresh || err != nil {
			return row, err
		}
	}
}

func (s *spilledDistinct) Close(*sql.Context) error { return nil }
