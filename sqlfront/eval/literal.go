package eval

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/expr"
)

// LiteralKind is the type of a value as it was written. It decides which conversions are exact.
type LiteralKind uint8

const (
	LiteralNull    LiteralKind = iota
	LiteralInt                 // digits, with a sign when it came as a parameter
	LiteralDecimal             // digits and a point; a floating point parameter too, as the parser takes it
	LiteralFloat               // with an exponent
	LiteralString
	LiteralTime // a value of a temporal type, in the words of a string
)

// Literal is one value. text is what is in the quotes, or the digits.
type Literal struct {
	Kind LiteralKind
	Text string
	// collation is that of a text that has one of its own, which a literal has not.
	Collation sql.CollationID
}

// Integer is the value as an int64 or, above, as a uint64.
func (l Literal) Integer() (any, bool) {
	if l.Kind != LiteralInt {
		return nil, false
	}
	if i, err := strconv.ParseInt(l.Text, 10, 64); err == nil {
		return i, true
	}
	u, err := strconv.ParseUint(l.Text, 10, 64)
	return u, err == nil
}

// wholeNumber is a text that is a whole number as numbers are written, below 2^53. A number is compared with
// a text as two doubles, and for such a text that is the comparison of integers.
func (l Literal) wholeNumber() (any, bool) {
	i, err := strconv.ParseInt(l.Text, 10, 64)
	if err != nil || i >= ExactFloat || i <= -ExactFloat || strconv.FormatInt(i, 10) != l.Text {
		return nil, false
	}
	return i, true
}

// shortDecimal is wholeNumber for a DECIMAL column: up to 15 digits on both sides, two doubles compare as the
// decimals do.
func (l Literal) shortDecimal(t sql.Type) bool {
	column, ok := t.(sql.DecimalType)
	if !ok || column.Precision() > 15 {
		return false
	}
	digits, point := 0, false
	for i, c := range []byte(strings.TrimPrefix(l.Text, "-")) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && !point && i > 0:
			point = true
		default:
			return false
		}
	}
	return digits > 0 && digits <= 15 && !strings.HasSuffix(l.Text, ".")
}

// Key is the value as one of a column of that type with which the column is compared, in the column's order;
// false unless the comparison that the general way makes is the comparison of the column's type, without
// conversion of the column's side.
func (l Literal) Key(t sql.Type) (any, bool) {
	switch base := t.Type(); base {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int24, sqltypes.Int32, sqltypes.Int64,
		sqltypes.Uint8, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Uint32, sqltypes.Uint64:
		if l.Kind == LiteralString {
			return l.wholeNumber()
		}
		return l.Integer()
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
		if l.Kind != LiteralString || !utf8.ValidString(l.Text) {
			return nil, false
		}
		// The type's conversion may drop trailing spaces, or not; only the general way knows.
		if base == sqltypes.Char && strings.HasSuffix(l.Text, " ") {
			return nil, false
		}
		st, ok := t.(sql.StringType)
		if !ok || !PlainText(st) || int64(utf8.RuneCountInString(l.Text)) > st.MaxCharacterLength() {
			return nil, false
		}
		if l.Collation != sql.Collation_Unspecified && l.Collation != st.Collation() {
			return nil, false
		}
		return l.Text, true
	case sqltypes.VarBinary, sqltypes.Blob:
		if l.Kind != LiteralString {
			return nil, false
		}
		return []byte(l.Text), true
	case sqltypes.Decimal:
		number := l.Kind == LiteralInt || l.Kind == LiteralDecimal
		if !number && !(l.Kind == LiteralString && l.shortDecimal(t)) {
			return nil, false
		}
		d, _, err := apd.NewFromString(l.Text)
		dt, ok := t.(sql.DecimalType)
		if err != nil || !ok || !WholeAt(d, int32(dt.Scale())) {
			return nil, false // it is between two values of the column
		}
		return d, true
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		if l.Kind != LiteralString && l.Kind != LiteralTime {
			return nil, false
		}
		v, clock, ok := ParseTime(l.Text)
		if !ok || base == sqltypes.Date && clock {
			return nil, false
		}
		p, ok := t.(interface{ Precision() int })
		if ok && base != sqltypes.Date && v.Nanosecond()%fractionUnit(p.Precision()) != 0 {
			return nil, false // more digits than the column has
		}
		return v, true
	}
	return nil, false
}

// fractionUnit is how many nanoseconds the last of so many digits of a second stands for.
func fractionUnit(digits int) int {
	unit := 1_000_000_000
	for range min(digits, 9) {
		unit /= 10
	}
	return unit
}

// PlainText reports whether the column's text is stored and sent as it is.
func PlainText(t sql.StringType) bool {
	switch t.CharacterSet() {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3:
		return true
	}
	return false
}

// Stored is the value as the row of a column of that type has it, by the conversion that the general way
// uses; false if there is an error or a warning to give, which is the general way's business.
func (l Literal) Stored(ctx *sql.Context, t sql.Type) (any, bool) {
	var v any
	switch l.Kind {
	case LiteralNull:
		return nil, true
	case LiteralInt:
		i, ok := l.Integer()
		if !ok {
			return nil, false
		}
		if w, ok := Narrow(t.Type(), i); ok {
			return w, true
		}
		v = i
	case LiteralDecimal, LiteralFloat:
		switch t.Type() {
		case sqltypes.Float32, sqltypes.Float64:
			f, err := strconv.ParseFloat(l.Text, 64)
			if err != nil {
				return nil, false
			}
			v = f
		case sqltypes.Decimal:
			d, _, err := apd.NewFromString(l.Text)
			if err != nil || l.Kind == LiteralFloat {
				return nil, false
			}
			v = d
		default:
			return nil, false
		}
	case LiteralString, LiteralTime:
		base := t.Type()
		dated := base == sqltypes.Date || base == sqltypes.Datetime || base == sqltypes.Timestamp
		if l.Kind == LiteralTime && !dated {
			return nil, false
		}
		switch base {
		case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
			st, ok := t.(sql.StringType)
			if !ok || !PlainText(st) || !utf8.ValidString(l.Text) {
				return nil, false
			}
			if base == sqltypes.VarChar && int64(utf8.RuneCountInString(l.Text)) <= st.MaxCharacterLength() {
				return l.Text, true
			}
			v = l.Text
		case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
			v = []byte(l.Text)
		case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
			// What is not in the plain form, or has a part that would be cut off, may want a warning.
			at, clock, ok := ParseTime(l.Text)
			if !ok || base == sqltypes.Date && clock {
				return nil, false
			}
			v = l.Text
			if at.Nanosecond() == 0 && at.Year() >= 1971 && at.Year() < 2038 {
				return at, true
			}
		case sqltypes.Decimal:
			d, _, err := apd.NewFromString(l.Text)
			if err != nil || strings.ContainsAny(l.Text, "eE ") {
				return nil, false
			}
			v = d
		default:
			return nil, false
		}
	}
	out, in, err := expr.Held(ctx, t, v)
	at, isTime := out.(time.Time)
	if err != nil || in != sql.InRange || out == nil || isTime && at.Equal(types.ZeroTime) {
		return nil, false // the mode may have something against a date of zeros
	}
	return out, true
}

// ExactFloat is where integers end that a float64 holds exactly.
const ExactFloat = 1 << 53

// Narrow makes the engine's Go type of an integer column; false if the value does not fit or the column is
// none.
func Narrow(t querypb.Type, v any) (any, bool) {
	i, signed := v.(int64)
	if !signed {
		if u, ok := v.(uint64); ok && t == sqltypes.Uint64 {
			return u, true
		}
		return nil, false
	}
	switch t {
	case sqltypes.Int8:
		return int8(i), i == int64(int8(i))
	case sqltypes.Int16:
		return int16(i), i == int64(int16(i))
	case sqltypes.Int24:
		return int32(i), i >= -1<<23 && i < 1<<23
	case sqltypes.Int32:
		return int32(i), i == int64(int32(i))
	case sqltypes.Int64:
		return i, true
	case sqltypes.Uint8:
		return uint8(i), i == int64(uint8(i))
	case sqltypes.Uint16:
		return uint16(i), i == int64(uint16(i))
	case sqltypes.Uint24:
		return uint32(i), i >= 0 && i < 1<<24
	case sqltypes.Uint32:
		return uint32(i), i == int64(uint32(i))
	case sqltypes.Uint64:
		return uint64(i), i >= 0
	}
	return nil, false
}

// ParseTime reads YYYY-M-D[ H:M:S[.f]], the forms that clients and drivers send; clock says that there is a
// time of day other than midnight. Anything else is false.
func ParseTime(s string) (t time.Time, clock, ok bool) {
	var year, month, day, hour, minute, second, nanos int
	if year, s, ok = digits(s, 4, 4); !ok || year < 1 || !eat(&s, '-') {
		return t, false, false
	}
	if month, s, ok = digits(s, 1, 2); !ok || month < 1 || month > 12 || !eat(&s, '-') {
		return t, false, false
	}
	if day, s, ok = digits(s, 1, 2); !ok || day < 1 || day > 31 {
		return t, false, false
	}
	if s != "" {
		if !eat(&s, ' ') && !eat(&s, 'T') {
			return t, false, false
		}
		if hour, s, ok = digits(s, 1, 2); !ok || hour > 23 || !eat(&s, ':') {
			return t, false, false
		}
		if minute, s, ok = digits(s, 1, 2); !ok || minute > 59 || !eat(&s, ':') {
			return t, false, false
		}
		if second, s, ok = digits(s, 1, 2); !ok || second > 59 {
			return t, false, false
		}
		if s != "" {
			if !eat(&s, '.') || len(s) > 6 {
				return t, false, false
			}
			scale := len(s)
			if nanos, s, ok = digits(s, 1, 6); !ok || s != "" {
				return t, false, false
			}
			for ; scale < 9; scale++ {
				nanos *= 10
			}
		}
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if t.Day() != day { // 30 February
		return t, false, false
	}
	return t, hour|minute|second|nanos != 0, true
}

func digits(s string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < most && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i >= least
}

func eat(s *string, c byte) bool {
	if *s == "" || (*s)[0] != c {
		return false
	}
	*s = (*s)[1:]
	return true
}

// IsNull reports whether the literal is NULL.
func (l Literal) IsNull() bool { return l.Kind == LiteralNull }
