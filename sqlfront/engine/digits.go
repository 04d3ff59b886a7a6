package engine

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// roundDigits gives values of TIME(n), FLOAT(M,D) and DOUBLE(M,D) the digits that their columns have.
func (t *Table) roundDigits(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	copied := false
	for i, at := range t.ordinals {
		c := &t.desc.Columns[at]
		n, ok := c.Type.Digits()
		if !ok || i >= len(row) || row[i] == nil {
			continue
		}
		v, err := rounded(ctx, &c.Type, n, c.Name, row[i])
		if err != nil {
			return nil, err
		}
		if v == row[i] {
			continue
		}
		if !copied {
			row, copied = append(sql.Row(nil), row...), true
		}
		row[i] = v
	}
	return row, nil
}

func rounded(ctx *sql.Context, typ *catalog.Type, n int, name string, v any) (any, error) {
	switch v := v.(type) {
	case types.Timespan:
		return roundTime(v, n), nil
	case float32:
		f, err := roundFloat(ctx, typ, n, name, float64(v))
		return float32(f), err
	case float64:
		return roundFloat(ctx, typ, n, name, v)
	}
	return v, nil
}

func roundTime(v types.Timespan, digits int) types.Timespan {
	unit := types.Timespan(math.Pow10(6 - digits))
	if v < 0 {
		return -((-v + unit/2) / unit * unit)
	}
	return (v + unit/2) / unit * unit
}

func roundFloat(ctx *sql.Context, typ *catalog.Type, n int, name string, f float64) (float64, error) {
	scale := math.Pow10(n)
	r := math.Round(f*scale) / scale
	if math.IsInf(f*scale, 0) {
		r = f
	}
	if limit := math.Pow10(int(typ.Precision) - n); math.Abs(r) >= limit {
		if sql.LoadSqlMode(ctx).Strict() {
			return 0, sqlerr.New(sqlerr.OutOfRange, "Out of range value for column '%s' at row 1", name)
		}
		ctx.Warn(sqlerr.OutOfRange, "Out of range value for column '%s' at row 1", name)
		r = math.Copysign(limit-1/scale, f)
	}
	return r, nil
}

// fewerDigits reports whether values of a column have to be rounded to be those of another.
func fewerDigits(old, col *sql.Column) bool {
	digits := func(c *sql.Column) (d catalog.Type, n int, ok bool) {
		d, err := catalog.TypeOf(c.Type)
		if err != nil {
			return d, 0, false
		}
		catalog.TakeDigits(c.Comment, &d)
		n, ok = d.Digits()
		return d, n, ok
	}
	a, from, known := digits(old)
	b, to, ok := digits(col)
	return ok && (!known || to < from || b.Precision < a.Precision)
}

// digitsText is the type of a column in MySQL's words; ok is false if the engine's type says it as well.
func (t *Table) digitsText(column string) (text string, ok bool) {
	if !t.digits {
		return "", false
	}
	i := t.desc.Column(column)
	if i < 0 {
		return "", false
	}
	if _, ok = t.desc.Columns[i].Type.Digits(); ok {
		text = t.desc.Columns[i].Type.DigitsText()
	}
	return text, ok
}

// shownType is a column's type in MySQL's words.
func shownType(table sql.Table, c *sql.Column) string {
	if t := ownTable(table); t != nil {
		if text, ok := t.digitsText(c.Name); ok {
			return text
		}
	}
	return bareType(c.Type)
}

// showTimes gives the columns of a result that are CAST(x AS TIME(n)) their digits.
func showTimes(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Distinct:
		child, same, err := showTimes(ctx, n.Children()[0])
		if err != nil || same {
			return n, transform.SameTree, err
		}
		out, err := n.WithChildren(ctx, child)
		return out, transform.NewTree, err
	case *plan.Project:
		same := transform.SameTree
		all := make([]sql.Expression, len(n.Projections))
		for i, e := range n.Projections {
			all[i] = e
			switch e := e.(type) {
			case *expr.CastTime:
				if !e.IsShown() {
					all[i], same = e.Shown(), transform.NewTree
				}
			case *expression.Alias:
				if c, ok := e.Child.(*expr.CastTime); ok && !c.IsShown() {
					alias, err := e.WithChildren(ctx, c.Shown())
					if err != nil {
						return nil, same, err
					}
					all[i], same = alias, transform.NewTree
				}
			}
		}
		if same {
			return n, same, nil
		}
		out, err := n.WithExpressions(ctx, all...)
		return out, transform.NewTree, err
	}
	return n, transform.SameTree, nil
}
