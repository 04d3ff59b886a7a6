package expr

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsonsize"
	"moka/sqlfront/sqlerr"
)

// Charged is a session that answers for the memory of the values that its statement's functions make.
type Charged interface {
	// ChargeValue charges for n bytes that by has made or is about to make, in place of those
	// before; 0 gives them back.
	ChargeValue(ctx *sql.Context, by any, n int64) error
}

// large is from how many bytes on anybody is charged for a value. What is smaller is garbage by the next
// collection, and there are not enough places in a statement for it to add up.
const large = 64 << 10

// charge charges the statement for a value of n bytes made by an expression.
func charge(ctx *sql.Context, by sql.Expression, n int64) error {
	if s, ok := ctx.Session.(Charged); ok {
		return s.ChargeValue(ctx, by, n)
	}
	return nil
}

// uncharge gives back what the values of arguments were charged for: what was made of them is there, and
// nobody needs them any more.
func uncharge(ctx *sql.Context, args []sql.Expression) {
	for _, a := range args {
		if m := charger(a); m != nil {
			_ = charge(ctx, m, 0) // giving back does not fail
		}
	}
}

// charger is the expression under whose name the value of e was charged for, nil for none.
func charger(e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *made, *regexpCall:
		return e
	case *result:
		if m, ok := e.Expression.(*made); ok {
			return m
		}
		return e
	}
	return nil
}

// length is how long a value is as text, about; exactly for texts.
func length(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		return int64(len(v))
	case []byte:
		return int64(len(v))
	case sql.JSONWrapper:
		n, _ := jsonsize.Text(v, 1<<40)
		return n
	case types.GeometryValue:
		return geometrySize(v)
	}
	return scalarLength
}

// scalarLength is as long as numbers and dates are as text.
const scalarLength = 84

// overflow is what a function gives whose result would be longer than a packet: NULL, with a warning.
func overflow(ctx *sql.Context, name string, limit int64) (any, error) {
	ctx.Warn(sqlerr.PacketOverflowed, "Result of %s() was larger than max_allowed_packet (%d) - truncated",
		name, limit)
	return nil, nil
}
