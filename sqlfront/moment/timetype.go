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

// Convert implements sql.Type. The library rounds a DECIMAL to whole seconds.
func (t TimeType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if d, ok := v.(*apd.Decimal); ok {
		if f, err := d.Float64(); err == nil {
			v = f
		}
	}
	return t.TimespanType_.Convert(ctx, v)
}
