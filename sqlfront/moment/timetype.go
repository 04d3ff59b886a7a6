package moment

import (
	"context"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// TimeType is TIME(n). The library has one TIME, which knows nothing of digits, so that nobody could
// tell which number a TIME(3) is: 10203.567, and 10203.600 where it is 01:02:03.6. Its values are the
// library's.
type TimeType struct {
	types.TimespanType_
	Digits int // of the fraction of a second
}

// IsTime reports whether a type is TIME, of the library or with digits.
func IsTime(t sql.Type) bool {
	_, digits := t.(TimeType)
	return digits || types.IsTimespan(t)
}

// TimeLength is what the column length of a TIME(0) of ours is above: the library has 17 for all, and no
// field for digits.
const TimeLength = 18

// Precision is how many digits there are behind the second, as the library's types of moments say it.
func (t TimeType) Precision() int { return t.Digits }

// MaxTextResponseByteLength implements sql.Type.
func (t TimeType) MaxTextResponseByteLength(*sql.Context) uint32 {
	return TimeLength + uint32(t.Digits)
}

// String implements sql.Type.
func (t TimeType) String() string {
	if t.Digits == 0 {
		return "time"
	}
	return "time(" + string(rune('0'+t.Digits)) + ")"
}

// SQL implements sql.Type.
func (t TimeType) SQL(ctx *sql.Context, dest []byte, v any) (sqltypes.Value, error) {
	out, err := t.TimespanType_.SQL(ctx, dest, v)
	if err != nil || out.IsNull() {
		return out, err
	}
	whole, fraction, _ := strings.Cut(string(out.Raw()), ".")
	if t.Digits > 0 {
		whole += "." + (fraction + "000000")[:t.Digits]
	}
	return sqltypes.MakeTrusted(sqltypes.Time, []byte(whole)), nil
}

// Equals implements sql.Type: whatever their digits, values of two TIMEs are compared as they are.
func (t TimeType) Equals(other sql.Type) bool { return IsTime(other) }

// Promote implements sql.Type.
func (t TimeType) Promote() sql.Type { return t }

// Convert implements sql.Type. The library knows fewer texts than MySQL, others than MySQL ('2024-1-5' was
// 23:58:55, and '--5' five seconds), and rounds a DECIMAL to whole seconds. What is too long is the longest
// TIME, and out of range.
func (t TimeType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	var d *apd.Decimal
	switch x := v.(type) {
	case []byte:
		return t.Convert(ctx, string(x))
	case string:
		span, in, whole, ok := clockOf(Cut(x, textLength))
		switch {
		case !ok:
			return types.Timespan(0), sql.InRange, types.ErrConvertingToTimeType.New(x)
		case !whole && in == sql.InRange:
			return span, in, types.ErrConvertingToTimeType.New(x)
		}
		return span, in, nil
	case *apd.Decimal:
		d = x
	case float64:
		d = new(apd.Decimal)
		if _, err := d.SetFloat64(x); err != nil {
			return nil, sql.InRange, err
		}
	case float32:
		return t.Convert(ctx, float64(x))
	case uint64:
		d = new(apd.Decimal)
		d.Coeff.SetUint64(x)
	default:
		n, ok := whole(v)
		if !ok {
			return t.TimespanType_.Convert(ctx, v)
		}
		d = apd.New(n, 0)
	}
	span, in, ok := clockOfNumber(d)
	if !ok {
		return types.Timespan(0), sql.InRange, types.ErrConvertingToTimeType.New(v)
	}
	return span, in, nil
}

// textLength is how much of a text may be a time.
const textLength = 128

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return int64(v), true
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	}
	return 0, false
}
