package eval

import (
	"cmp"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/collate"
	"moka/sqlfront/rowenc"
)

// Compare compares two values of a column's type, neither of which is NULL, as an index of the column orders
// them.
func Compare(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	if types.IsInteger(t) { // the type's own comparison takes -1 for the greatest of all where it is UNSIGNED
		return compareIntegers(ctx, a, b)
	}
	if c, ok := collate.Pads(t); ok {
		return collate.Compare(ctx, c, a, b)
	}
	return t.Compare(ctx, a, b)
}

// comparable2 is how columns of two types are compared; nil if that takes a conversion.
func comparable2(a, b sql.Type) func(ctx *sql.Context, x, y any) (int, error) {
	switch {
	case types.IsInteger(a) && types.IsInteger(b):
		return compareIntegers
	case types.IsDecimal(a) && types.IsDecimal(b):
		return compareDecimals
	case SameKind(a, b):
		return func(ctx *sql.Context, x, y any) (int, error) { return Compare(ctx, a, x, y) }
	}
	return nil
}

// SameKind reports whether a value of a column of type b, which is not NULL, is one of type a in the same
// place of the order, so that it can be looked up in an index of a column of type a.
func SameKind(a, b sql.Type) bool {
	switch {
	case types.IsInteger(a) && types.IsInteger(b):
		return true
	case types.IsDecimal(a) && types.IsDecimal(b):
		x, y := a.(sql.DecimalType), b.(sql.DecimalType)
		return x.Scale() == y.Scale()
	case text(a) && text(b):
		return a.(sql.StringType).Collation() == b.(sql.StringType).Collation()
	}
	switch t := a.Type(); t {
	case sqltypes.Date, sqltypes.VarBinary, sqltypes.Float64:
		return b.Type() == t
	case sqltypes.Datetime, sqltypes.Timestamp:
		return a.Equals(b)
	}
	return false
}

// Looked reports whether the rows whose column of type a equals a value of type b are those that an index of
// the column has under what the value is converted to: another value is either the same as one of the
// column's, or out of its range.
func Looked(a, b sql.Type) bool {
	switch {
	case b == types.Null || a.Equals(b) || SameKind(a, b):
		return true
	case types.IsInteger(a) && types.IsDecimal(b):
		return b.(sql.DecimalType).Scale() == 0
	case types.IsDecimal(a) && types.IsInteger(b):
		d := a.(sql.DecimalType) // the key of one that has no room for a number is an error
		return int64(d.Precision()-d.Scale()) >= int64(b.MaxTextResponseByteLength(nil))
	case types.IsDecimal(a) && types.IsDecimal(b):
		x, y := a.(sql.DecimalType), b.(sql.DecimalType)
		return y.Scale() <= x.Scale() && y.Precision()-y.Scale() <= x.Precision()-x.Scale()
	case a.Type() == sqltypes.Float64:
		return types.IsInteger(b) || b.Type() == sqltypes.Float32
	case a.Type() == sqltypes.Datetime || a.Type() == sqltypes.Timestamp:
		return b.Type() == sqltypes.Date || types.IsTime(b) && fractionDigits(b) <= fractionDigits(a)
	}
	return false
}

// Hashed reports whether the library's hash joins find which values of two types are equal.
func Hashed(a, b sql.Type) bool {
	if a.Equals(b) || a == types.Null || b == types.Null {
		return true
	}
	for range 2 {
		switch {
		case types.IsEnum(a), types.IsSet(a), a.Type() == sqltypes.Time, types.IsJSON(a), types.IsGeometry(a),
			types.IsDecimal(a) && types.IsTime(b):
			return false
		}
		a, b = b, a
	}
	return true
}

// fractionDigits is how many digits behind the second a type has.
func fractionDigits(t sql.Type) int {
	if p, ok := t.(interface{ Precision() int }); ok {
		return p.Precision()
	}
	return 0
}

func text(t sql.Type) bool {
	switch t.Type() {
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
		_, ok := t.(sql.StringType)
		return ok
	}
	return false
}

func compareIntegers(_ *sql.Context, a, b any) (int, error) {
	x, ok1 := rowenc.Int64(a)
	y, ok2 := rowenc.Int64(b)
	switch {
	case ok1 && ok2:
		return cmp.Compare(x, y), nil
	case ok1:
		return -1, nil // the other is above all int64
	case ok2:
		return 1, nil
	}
	u, ok1 := a.(uint64)
	v, ok2 := b.(uint64)
	if !ok1 || !ok2 {
		return 0, ErrUnsure
	}
	return cmp.Compare(u, v), nil
}

func compareDecimals(_ *sql.Context, a, b any) (int, error) {
	x, ok1 := a.(*apd.Decimal)
	y, ok2 := b.(*apd.Decimal)
	if !ok1 || !ok2 {
		return 0, ErrUnsure
	}
	return x.Cmp(y), nil
}
