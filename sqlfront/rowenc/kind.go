package rowenc

import (
	"context"
	"math"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// kind is how values of a type are laid out. Keys and rows share the classification and nothing else: keys
// are ordered, rows are compact.
type kind uint8

const (
	kindInt8 kind = iota
	kindInt16
	kindInt32 // MEDIUMINT, INT
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindYear // int16 whose two-digit forms mean something else: never taken from another Go type unconverted
	kindEnum // uint16
	kindBits // BIT, SET: uint64
	kindFloat32
	kindFloat64
	kindDecimal
	kindDate     // days since 1970-01-01
	kindDatetime // microseconds since 1970-01-01 00:00:00 UTC
	kindTime     // microseconds
	kindText     // string
	kindBytes    // []byte
	kindVector   // []byte
	kindJSON
	kindGeometry // types.GeometryValue
)

func kindOf(t sql.Type) (kind, bool) {
	switch t.Type() {
	case sqltypes.Int8:
		return kindInt8, true
	case sqltypes.Int16:
		return kindInt16, true
	case sqltypes.Int24, sqltypes.Int32:
		return kindInt32, true
	case sqltypes.Int64:
		return kindInt64, true
	case sqltypes.Uint8:
		return kindUint8, true
	case sqltypes.Uint16:
		return kindUint16, true
	case sqltypes.Uint24, sqltypes.Uint32:
		return kindUint32, true
	case sqltypes.Uint64:
		return kindUint64, true
	case sqltypes.Year:
		return kindYear, true
	case sqltypes.Enum:
		return kindEnum, true
	case sqltypes.Set, sqltypes.Bit:
		return kindBits, true
	case sqltypes.Float32:
		return kindFloat32, true
	case sqltypes.Float64:
		return kindFloat64, true
	case sqltypes.Decimal:
		return kindDecimal, true
	case sqltypes.Date:
		return kindDate, true
	case sqltypes.Datetime, sqltypes.Timestamp:
		return kindDatetime, true
	case sqltypes.Time:
		return kindTime, true
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
		return kindText, true
	case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
		return kindBytes, true
	case sqltypes.Vector:
		return kindVector, true
	case sqltypes.TypeJSON:
		return kindJSON, true
	case sqltypes.Geometry:
		return kindGeometry, true
	}
	return 0, false
}

// keyed reports whether values of the kind have keys.
func (k kind) keyed() bool { return k != kindJSON && k != kindVector && k != kindGeometry }

// canonical brings a value of any Go type to the one that the engine uses for the column's type; wrappers are
// unwrapped. Values that have it already never get here: the encoders try them first.
func canonical(ctx context.Context, t sql.Type, v any) (any, sql.ConvertInRange, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, sql.InRange, err
	}
	c, in, err := t.Convert(ctx, v)
	if err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
		return nil, in, err
	}
	// the engine's string types may hand a wrapper back, to save the load; here the bytes are needed
	c, err = sql.UnwrapAny(ctx, c)
	return c, in, err
}

// Int64 returns the value of any Go integer that fits an int64.
func Int64(v any) (int64, bool) {
	switch x := v.(type) {
	case int8:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case int:
		return int64(x), true
	case uint8:
		return int64(x), true
	case uint16:
		return int64(x), true
	case uint32:
		return int64(x), true
	case uint64:
		return int64(x), x <= math.MaxInt64
	case uint:
		return int64(x), uint64(x) <= math.MaxInt64
	}
	return 0, false
}

// number makes the engine's Go value from a stored integer; ok is false when it does not fit the kind.
func number(k kind, v int64) (any, bool) {
	switch k {
	case kindInt8:
		return int8(v), v == int64(int8(v))
	case kindInt16, kindYear:
		return int16(v), v == int64(int16(v))
	case kindInt32:
		return int32(v), v == int64(int32(v))
	case kindInt64:
		return v, true
	case kindUint8:
		return uint8(v), v == int64(uint8(v))
	case kindUint16, kindEnum:
		return uint16(v), v == int64(uint16(v))
	case kindUint32:
		return uint32(v), v == int64(uint32(v))
	case kindUint64, kindBits:
		return uint64(v), v >= 0
	case kindDate:
		return dateOf(v)
	case kindDatetime:
		return time.UnixMicro(v).UTC(), true
	case kindTime:
		return types.Timespan(v), true
	}
	return nil, false
}

const secondsPerDay = 24 * 60 * 60

// daysOf floors to whole days; exact is false if there was a time of day.
func daysOf(t time.Time) (days int64, exact bool) {
	s := t.Unix()
	days = s / secondsPerDay
	rest := s % secondsPerDay
	if rest < 0 {
		days, rest = days-1, rest+secondsPerDay
	}
	return days, rest == 0 && t.Nanosecond() == 0
}

func dateOf(days int64) (any, bool) {
	if days > math.MaxInt32 || days < math.MinInt32 {
		return nil, false
	}
	return time.Unix(days*secondsPerDay, 0).UTC(), true
}

// microsOf floors to whole microseconds, the finest that MySQL has.
func microsOf(t time.Time) (micros int64, exact bool) { return t.UnixMicro(), t.Nanosecond()%1000 == 0 }

// maxDecimalShift bounds the powers of ten that scaling multiplies by: DECIMAL has 65 digits and 30 decimals
// at most, and a value such as 1E+1000000 must not cost a gigabyte before it is refused.
const maxDecimalShift = 128

// coefficient returns the value of d in units of 10^-scale, rounded towards minus infinity. ok is false for
// what is not a number or has more digits than any DECIMAL.
func coefficient(d *apd.Decimal, scale int32) (c *apd.BigInt, negative, exact, ok bool) {
	if d.Form != apd.Finite {
		return nil, false, false, false
	}
	shift := int64(d.Exponent) + int64(scale)
	switch {
	case shift == 0 || d.Coeff.Sign() == 0:
		return &d.Coeff, d.Negative && d.Coeff.Sign() != 0, true, true
	case shift > maxDecimalShift || shift < -maxDecimalShift:
		return nil, false, false, false
	case shift > 0:
		c = new(apd.BigInt).Mul(&d.Coeff, pow10(shift))
		return c, d.Negative, true, true
	default:
		c, rest := new(apd.BigInt).QuoRem(&d.Coeff, pow10(-shift), new(apd.BigInt))
		exact = rest.Sign() == 0
		if !exact && d.Negative {
			c.Add(c, apd.NewBigInt(1))
		}
		return c, d.Negative && c.Sign() != 0, exact, true
	}
}

func pow10(n int64) *apd.BigInt {
	return new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(n), nil)
}
