package operator

import (
	"context"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/sqlerr"
)

// distinctIter is DISTINCT, by the columns' collations: the library tells rows apart by their bytes, so that
// 'a' and 'A', which are equal, would both come. It remembers a key of each row. When these are more than the
// statement may keep, rows that have not been seen go to disk, numbered, in partitions by their key; what of
// them is distinct is put back into the order in which it came.
type distinctIter struct {
	pool   *Pool
	child  sql.RowIter
	same   collatedRows
	charge *Charge
	spills spiller
	seen   map[string]struct{}
	rows   uint64
	rest   *sortIter // of what was on disk
}

// distinctBytes is about what a key takes.
const distinctBytes = 96

// distinct builds DISTINCT; nil for DISTINCT ON.
func (b *Builder) distinct(ctx *sql.Context, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	if len(n.DistinctOn()) > 0 {
		return nil, nil
	}
	it, err := b.Base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return b.distinctRows(ctx, it, newCollatedRows(n.Child.Schema(ctx), len(row))), nil
}

func (b *Builder) distinctRows(ctx *sql.Context, child sql.RowIter, same collatedRows) *distinctIter {
	return &distinctIter{
		pool: b.Pool, child: child, same: same, seen: map[string]struct{}{},
		charge: b.Pool.Charge(ctx, "distinct", sqlerr.CapacityExceeded),
		spills: spiller{pool: b.Pool, what: "distinct", own: meterOf(ctx)},
	}
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
			number := sql.SortConditions{{Expr: expression.NewGetField(0, types.Uint64, "", false),
				Order: sql.Ascending}}
			d.rest = &sortIter{
				pool: d.pool, by: number, child: &spilledDistinct{d: d},
				charge: d.pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory), meter: d.spills.own,
			}
			break
		}
		if err != nil {
			return nil, err
		}
		d.rows++
		key, err := d.same.keyOf(ctx, row)
		if err != nil {
			return nil, err
		}
		if fresh, err := d.take(ctx, key, row, d.rows); fresh || err != nil {
			return row, err
		}
	}
	row, err := d.rest.Next(ctx)
	if err != nil {
		return nil, err
	}
	return row[1:], nil
}

// collatedRows makes keys of rows, as RowKeys does.
type collatedRows struct {
	keys  *collate.RowKeys
	width int
	outer int // values of an outer scope in front of each row
}

func newCollatedRows(schema sql.Schema, outer int) collatedRows {
	return collatedRows{keys: collate.RowKeysOf(schema), width: len(schema), outer: outer}
}

func (c collatedRows) keyOf(ctx *sql.Context, row sql.Row) ([]byte, error) {
	if len(row) == c.width+c.outer {
		row = row[c.outer:]
	}
	return c.keys.Of(ctx, row)
}

// take reports whether the row is the first of its kind; it is not, for now, if it has been put on disk.
func (d *distinctIter) take(ctx *sql.Context, key []byte, row sql.Row, number uint64) (bool, error) {
	if _, ok := d.seen[string(key)]; ok {
		return false, nil
	}
	if int64(len(d.seen))*distinctBytes >= d.pool.spillsAt(d.charge) && d.spills.can(row) {
		return false, d.spills.add(ctx, key, append(sql.Row{number}, row...))
	}
	d.seen[string(key)] = struct{}{}
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
		key, err := s.d.same.keyOf(ctx, row[1:])
		if err != nil {
			return nil, err
		}
		if fresh, err := s.d.take(ctx, key, row[1:], row[0].(uint64)); fresh || err != nil {
			return row, err
		}
	}
}

func (s *spilledDistinct) Close(*sql.Context) error { return nil }
