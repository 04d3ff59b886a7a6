package exec

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/collate"
	"moka/sqlfront/eval"
	"moka/sqlfront/operator"
	"moka/sqlfront/plan"
)

// output computes the columns of a row and keeps them.
func (b *block) output(ctx *sql.Context, row sql.Row) error {
	if len(b.rows) >= b.run.Limits.Rows {
		return ErrTooLarge
	}
	out := make(sql.Row, len(b.q.Columns))
	for i := range b.q.Columns {
		var err error
		if out[i], err = b.column(ctx, &b.q.Columns[i], row); err != nil {
			return err
		}
	}
	b.rows = append(b.rows, out)
	return b.run.keep(operator.RowBytes(out))
}

// column is the value of a column for a row.
func (b *block) column(ctx *sql.Context, c *plan.Column, row sql.Row) (any, error) {
	switch {
	case c.Slot >= 0:
		return row[c.Slot], nil
	case c.Truth != nil:
		t, err := c.Truth.Eval(ctx, b.frame, row)
		if t == eval.True {
			return int64(1), err
		}
		return int64(0), err
	case c.Expr == nil:
		return b.frame.Results[c.Result].Value(), nil
	}
	v, err := c.Expr.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return sql.UnwrapAny(ctx, v)
}

// arrange does DISTINCT and ORDER BY. Of equal rows the first stays, and equal keys leave rows in the order
// in which they came.
func (b *block) arrange(ctx *sql.Context) ([]sql.Row, error) {
	rows := b.rows
	if b.q.Distinct && len(rows) > 1 {
		ts := make([]sql.Type, b.q.Result)
		for i := range ts {
			ts[i] = b.q.Columns[i].Type
		}
		keys, seen := collate.NewRowKeys(ts), map[string]bool{}
		var once []sql.Row
		for _, row := range rows {
			k, err := keys.Of(ctx, row[:b.q.Result])
			if err != nil {
				return nil, err
			}
			if !seen[string(k)] {
				seen[string(k)] = true
				once = append(once, row)
			}
		}
		rows = once
	}
	if len(b.q.Order) == 0 || len(rows) < 2 {
		return rows, nil
	}
	all := make([]sorted, len(rows))
	for i, row := range rows {
		s := sorted{row: row, at: i, keys: make([][]byte, len(b.q.Order))}
		for j := range b.q.Order {
			o := &b.q.Order[j]
			k, err := o.Codec.Encode(ctx, nil, row[o.Column])
			if err != nil {
				return nil, eval.ErrUnsure
			}
			s.keys[j] = k
		}
		all[i] = s
	}
	slices.SortFunc(all, func(x, y sorted) int {
		for j := range b.q.Order {
			if n := bytes.Compare(x.keys[j], y.keys[j]); n != 0 {
				if b.q.Order[j].Descending {
					return -n
				}
				return n
			}
		}
		return cmp.Compare(x.at, y.at)
	})
	for i := range all {
		rows[i] = all[i].row
	}
	return rows, nil
}

// sorted is a row with its sort keys.
type sorted struct {
	row  sql.Row
	at   int
	keys [][]byte
}
