package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
)

// held is a row as triggers see it: what the columns will hold of it.
func (t *Table) held(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	if row == nil {
		return nil, nil
	}
	if row = t.fit(row); !t.digits {
		return row, nil
	}
	return t.roundDigits(ctx, row)
}

// roundDigits gives values of TIME(n), FLOAT(M,D) and DOUBLE(M,D) the digits that their columns have.
func (t *Table) roundDigits(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	copied := false
	for i, at := range t.ordinals {
		c := &t.desc.Columns[at]
		n, ok := c.Type.Digits()
		if !ok || i >= len(row) {
			continue
		}
		switch row[i].(type) {
		case types.Timespan, float32, float64:
		default: // nothing to round; a text, bytes or a document is no value of the column yet
			continue
		}
		v, err := expr.RoundDigits(ctx, int(c.Type.Precision), n, c.Name, row[i])
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
