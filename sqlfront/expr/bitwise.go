package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// bitwise is an operator on 64 bits. The library takes both sides for BIGINT and cuts off what
// is larger: ~3 & 7 was 0.
type bitwise struct {
	expression.BinaryExpressionStub
	op string
}

var (
	_ sql.Expression              = (*bitwise)(nil)
	_ sql.CollationCoercible      = (*bitwise)(nil)
	_ expression.BinaryExpression = (*bitwise)(nil)
)

func newBitwise(op string, left, right sql.Expression) *bitwise {
	return &bitwise{expression.BinaryExpressionStub{LeftChild: left, RightChild: right}, op}
}

// Type implements sql.Expression.
func (*bitwise) Type(*sql.Context) sql.Type { return types.Uint64 }

// CollationCoercibility implements sql.CollationCoercible.
func (*bitwise) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// String implements sql.Expression.
func (b *bitwise) String() string { return fmt.Sprintf("(%s %s %s)", b.LeftChild, b.op, b.RightChild) }

// WithChildren implements sql.Expression.
func (b *bitwise) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(ch), 2)
	}
	return newBitwise(b.op, ch[0], ch[1]), nil
}

// Eval implements sql.Expression.
func (b *bitwise) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, null, err := bitsOf(ctx, b.LeftChild, row)
	if null || err != nil {
		return nil, err
	}
	r, null, err := bitsOf(ctx, b.RightChild, row)
	if null || err != nil {
		return nil, err
	}
	switch b.op {
	case ast.BitAndStr:
		return l & r, nil
	case ast.BitOrStr:
		return l | r, nil
	case ast.BitXorStr:
		return l ^ r, nil
	case ast.ShiftLeftStr: // by 64 and more, and by what is negative, leaves nothing
		return l << r, nil
	case ast.ShiftRightStr:
		return l >> r, nil
	}
	return nil, fmt.Errorf("expr: no operator %s", b.op)
}

// bitsOf is the value of an operand as 64 bits.
func bitsOf(ctx *sql.Context, e sql.Expression, row sql.Row) (n uint64, null bool, err error) {
	v, err := e.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return 0, true, err
	}
	if n, ok := wide(v); ok {
		return n.bits(), false, nil
	}
	switch v := v.(type) {
	case float64:
		return bitsOfFloat(v), false, nil
	case float32:
		return bitsOfFloat(float64(v)), false, nil
	case *apd.Decimal:
		return bitsOfDecimal(v), false, nil
	case string:
		return bitsOfText(ctx, v), false, nil
	case []byte:
		return bitsOfText(ctx, string(v)), false, nil
	}
	c, _, err := types.Float64.Convert(ctx, v)
	if f, ok := c.(float64); ok && err == nil {
		return bitsOfFloat(f), false, nil
	}
	return 0, false, nil // as MySQL: what is no number is 0
}

// bits are those of the two's complement.
func (n number) bits() uint64 {
	if n.negative {
		return -n.abs
	}
	return n.abs
}

func bitsOfFloat(f float64) uint64 {
	switch f = math.RoundToEven(f); {
	case f >= 1<<64:
		return math.MaxUint64
	case f >= 0:
		return uint64(f)
	case f > math.MinInt64:
		return uint64(int64(f))
	}
	return 1 << 63
}

func bitsOfDecimal(d *apd.Decimal) uint64 {
	whole := new(apd.Decimal)
	if _, err := halfUp.Quantize(whole, d, 0); err != nil {
		f, _ := d.Float64() // it has too many digits, and ends at an end
		return bitsOfFloat(f)
	}
	text := whole.Text('f')
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !whole.Negative {
		return math.MaxUint64
	}
	return uint64(n) // at the lower end if it is beyond
}

func bitsOfText(ctx *sql.Context, s string) uint64 {
	text, cut := types.TruncateStringToDouble(s)
	if cut || strings.TrimSpace(s) == "" {
		ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect INTEGER value: '%s'", s)
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return uint64(n)
	}
	f, err := strconv.ParseFloat(strings.TrimRight(text, "eE+-"), 64)
	if err != nil && f == 0 {
		return 0
	}
	return bitsOfFloat(f)
}
