package cast

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/numeral"
)

// Number is a value as a column of integers, FLOAT, DOUBLE, BIT or YEAR holds it; ok is false if the type is
// none of these, or the value of a kind of which the library knows what it is. What has no room is the
// nearest value there is, and out of range: the library goes round the other way (300 was 44 in a TINYINT, -5
// was 251 in one UNSIGNED), and knows no end of a DOUBLE. A text is the number that it begins with, with
// sql.ErrTruncatedIncorrect if there is more in it.
func Number(t sql.Type, v any) (out any, in sql.ConvertInRange, err error, ok bool) {
	switch base := t.Type(); {
	case base == sqltypes.Bit:
		out, in, ok = bit(t.(types.BitType_), v)
		return out, in, nil, ok
	case base == sqltypes.Float32 || base == sqltypes.Float64:
		f, whole, ok := double(v)
		if !ok {
			return nil, sql.InRange, nil, false
		}
		out, in = narrowDouble(base, f)
		return out, in, cut(t, v, whole || in != sql.InRange), true
	case base == sqltypes.Year:
		n, whole, ok := integer(v)
		if !ok {
			return nil, sql.InRange, nil, false
		}
		text, isText := v.(string)
		y, in := year(n, isText && whole && len(text) != len("0000"))
		return y, in, cut(t, v, whole || in != sql.InRange), true
	case sqltypes.IsIntegral(base):
		n, whole, ok := integer(v)
		if !ok {
			return nil, sql.InRange, nil, false
		}
		out, in = narrow(base, n)
		return out, in, cut(t, v, whole || in != sql.InRange), true
	}
	return nil, sql.InRange, nil, false
}

// cut is the error of a text that is more than the number that was taken of it.
func cut(t sql.Type, v any, whole bool) error {
	if whole {
		return nil
	}
	text, _ := v.(string)
	if len(text) > 128 {
		text = text[:128] + "..."
	}
	return sql.ErrTruncatedIncorrect.New(t, text)
}

// signed is an integer with a sign of its own: it has room for those of BIGINT and of BIGINT UNSIGNED.
type signed struct {
	abs      uint64
	negative bool
	large    bool // abs has no room for it
}

func of(n int64) signed {
	if n < 0 {
		return signed{abs: -uint64(n), negative: true}
	}
	return signed{abs: uint64(n)}
}

// integer is what a value is to a column of integers: a DOUBLE is rounded to the even neighbour, a DECIMAL
// and a text away from zero.
func integer(v any) (n signed, whole, ok bool) {
	switch v := v.(type) {
	case int8:
		return of(int64(v)), true, true
	case int16:
		return of(int64(v)), true, true
	case int32:
		return of(int64(v)), true, true
	case int64:
		return of(v), true, true
	case int:
		return of(int64(v)), true, true
	case uint8:
		return signed{abs: uint64(v)}, true, true
	case uint16:
		return signed{abs: uint64(v)}, true, true
	case uint32:
		return signed{abs: uint64(v)}, true, true
	case uint64:
		return signed{abs: v}, true, true
	case float32:
		return ofDouble(float64(v)), true, true
	case float64:
		return ofDouble(v), true, true
	case *apd.Decimal:
		n.abs, n.large = numeral.Rounded(v)
		n.negative = v.Negative && !v.IsZero() // -0.4 is below 0, as it is not to a DOUBLE or a text
		return n, true, true
	case bool:
		if v {
			n.abs = 1
		}
		return n, true, true
	case string:
		n.abs, n.negative, n.large, whole = numeral.Integer(v)
		return n, whole, true
	}
	return n, false, false
}

func ofDouble(f float64) signed {
	n := signed{negative: f < 0}
	if f = math.RoundToEven(math.Abs(f)); f >= 1<<64 || math.IsNaN(f) {
		n.abs, n.large = math.MaxUint64, true
	} else {
		n.abs = uint64(f)
	}
	n.negative = n.negative && n.abs > 0
	return n
}

// narrow is the nearest integer of the type, in the Go type that the engine has for it.
func narrow(t querypb.Type, n signed) (any, sql.ConvertInRange) {
	bits, unsigned := uint(64), sqltypes.IsUnsigned(t)
	switch t {
	case sqltypes.Int8, sqltypes.Uint8:
		bits = 8
	case sqltypes.Int16, sqltypes.Uint16:
		bits = 16
	case sqltypes.Int24, sqltypes.Uint24:
		bits = 24
	case sqltypes.Int32, sqltypes.Uint32:
		bits = 32
	}
	most, least := uint64(math.MaxUint64)>>(64-bits), uint64(0) // least without its sign
	if !unsigned {
		most, least = most>>1, most>>1+1
	}
	in := sql.InRange
	switch {
	case n.negative && (n.abs > least || n.large || unsigned):
		n.abs, in = least, sql.Underflow
	case !n.negative && (n.abs > most || n.large):
		n.abs, in = most, sql.Overflow
	}
	i := int64(n.abs)
	if n.negative {
		i = -i
	}
	switch t {
	case sqltypes.Int8:
		return int8(i), in
	case sqltypes.Int16:
		return int16(i), in
	case sqltypes.Int24, sqltypes.Int32:
		return int32(i), in
	case sqltypes.Uint8:
		return uint8(i), in
	case sqltypes.Uint16:
		return uint16(i), in
	case sqltypes.Uint24, sqltypes.Uint32:
		return uint32(i), in
	case sqltypes.Uint64:
		return n.abs, in
	}
	return i, in
}

// year is the year that a number is: 1 to 69 are of this century and 70 to 99 of the last one. 0 is the year
// 0000, but as a text of other than four characters 2000; a text that is no number is 0000.
func year(n signed, short bool) (int16, sql.ConvertInRange) {
	switch {
	case n.negative:
		return 0, sql.Underflow
	case n.large || n.abs >= 100 && n.abs <= 1900 || n.abs > 2155:
		return 0, sql.Overflow
	case n.abs == 0 && !short:
		return 0, sql.InRange
	case n.abs < 70:
		return int16(n.abs) + 2000, sql.InRange
	case n.abs < 100:
		return int16(n.abs) + 1900, sql.InRange
	}
	return int16(n.abs), sql.InRange
}

// double is what a value is to a column of DOUBLEs.
func double(v any) (f float64, whole, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true, true
	case float32:
		return float64(v), true, true
	case string:
		f, whole = numeral.Unbounded(v)
		return f, whole, true
	}
	return 0, false, false
}

// narrowDouble is the nearest number that a FLOAT, or a DOUBLE, holds.
func narrowDouble(t querypb.Type, f float64) (any, sql.ConvertInRange) {
	most := math.MaxFloat64
	if t == sqltypes.Float32 {
		most = math.MaxFloat32
	}
	in := sql.InRange
	switch {
	case math.IsNaN(f):
		f, in = 0, sql.Overflow
	case f > most:
		f, in = most, sql.Overflow
	case f < -most:
		f, in = -most, sql.Underflow
	}
	if t == sqltypes.Float32 {
		return float32(f), in
	}
	return f, in
}

// Member is a value as the library's ENUM and SET take it: of a number they have no fraction, and a text has
// no spaces at its end to an ENUM.
func Member(t sql.Type, v any) any {
	switch x := v.(type) {
	case bool:
		if x {
			return int64(1)
		}
		return int64(0)
	case float32:
		return Member(t, float64(x))
	case float64:
		if n := int64(x); math.Abs(x) < 1<<62 {
			return n
		}
	case *apd.Decimal:
		whole, _, _ := strings.Cut(x.Text('f'), ".")
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n
		}
	case string:
		if types.IsEnum(t) {
			return strings.TrimRight(x, " ")
		}
	}
	return v
}

// bit is what a value is to a column of bits: bytes and texts are bits by themselves. What has no room is all
// ones.
func bit(t types.BitType_, v any) (out any, in sql.ConvertInRange, ok bool) {
	var n uint64
	large := false
	switch x := v.(type) {
	case string:
		n, large = ofBytes([]byte(x))
	case []byte:
		n, large = ofBytes(x)
	default:
		i, _, known := integer(v)
		if !known {
			return nil, sql.InRange, false
		}
		n, large = i.abs, i.large || i.negative && i.abs > 1<<63
		if i.negative {
			n = -n
		}
	}
	most := uint64(math.MaxUint64) >> (64 - uint(t.NumberOfBits()))
	if large || n > most {
		return most, sql.Overflow, true
	}
	return n, sql.InRange, true
}

func ofBytes(b []byte) (n uint64, large bool) {
	for len(b) > 8 {
		if b[0] != 0 {
			return math.MaxUint64, true
		}
		b = b[1:]
	}
	return binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...)), false
}
