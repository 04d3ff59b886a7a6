package gms

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ValuesRows are the rows of VALUES ROW(…), ROW(…), each value of its column's type. The library's makes the
// types of all columns again for each value, minutes for nine thousand, and panics at a NULL among decimals.
func ValuesRows(ctx *sql.Context, n *plan.ValueDerivedTable, row sql.Row) (sql.RowIter, error) {
	columns := n.Schema(ctx)
	rows := make([]sql.Row, len(n.ExpressionTuples))
	for i, tuple := range n.ExpressionTuples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows[i] = make(sql.Row, len(tuple))
		for j, e := range tuple {
			v, err := e.Eval(ctx, row)
			if err != nil {
				return nil, err
			}
			if rows[i][j] = v; !e.Type(ctx).Equals(columns[j].Type) {
				rows[i][j], err = ofColumn(ctx, columns[j].Type, v)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

// ofColumn is a value as one of that type. The type of a column of NULLs is the library's Null, which takes
// nothing else: what is there all the same stays what it is.
func ofColumn(ctx *sql.Context, t sql.Type, v any) (any, error) {
	if v == nil || t == types.Null {
		return v, nil
	}
	v, _, err := t.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	if d, ok := t.(sql.DecimalType); ok { // Convert leaves the digits alone
		if number, ok := v.(*apd.Decimal); ok && number != nil {
			return sql.DecimalRound(number, int32(d.Scale()))
		}
	}
	return v, nil
}
