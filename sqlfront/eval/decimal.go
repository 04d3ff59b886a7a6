package eval

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/expr"
)

var exactDecimal = apd.BaseContext.WithPrecision(100)

// AddDecimal adds to a decimal number a value with no more decimals than the column has, so that nothing is
// rounded.
func AddDecimal(ctx *sql.Context, t sql.Type, d *apd.Decimal, l Literal, minus bool) (any, bool) {
	column, ok := t.(sql.DecimalType)
	if !ok || t.Type() != sqltypes.Decimal || l.Kind != LiteralInt && l.Kind != LiteralDecimal {
		return nil, false
	}
	by, _, err := apd.NewFromString(l.Text)
	if err != nil || -by.Exponent > int32(column.Scale()) || -d.Exponent > int32(column.Scale()) {
		return nil, false
	}
	if minus {
		by.Neg(by)
	}
	sum := new(apd.Decimal)
	if cond, err := exactDecimal.Add(sum, d, by); err != nil || cond.Inexact() || cond.Rounded() {
		return nil, false
	}
	out, in, err := expr.Held(ctx, t, sum)
	return out, err == nil && in == sql.InRange && out != nil
}

// WholeAt reports whether a decimal has nothing behind so many digits.
func WholeAt(d *apd.Decimal, scale int32) bool {
	var cut apd.Decimal
	cond, err := exactDecimal.Quantize(&cut, d, -scale)
	return err == nil && !cond.Inexact()
}
