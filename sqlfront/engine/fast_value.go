package engine

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
)

// operand is where a plan takes a value from: the n-th parameter, or a literal that was in the text of a prepared statement.
type operand struct {
	param    int // -1: fixed
	negative bool
	fixed    literal
}

func (o *operand) value(values []literal) (literal, bool) {
	l := o.fixed
	if o.param >= 0 {
		if o.param >= len(values) {
			return literal{}, false
		}
		l = values[o.param]
	}
	if !o.negative || l.kind == literalNull {
		return l, true
	}
	if l.kind == literalString || l.kind == literalTime || strings.HasPrefix(l.text, "-") {
		return literal{}, false
	}
	l.text = "-" + l.text
	return l, true
}

// integer is the value as an int64 or, above, as a uint64.
func (l literal) integer() (any, bool) {
	if l.kind != literalInt {
		return nil, false
	}
	if i, err := strconv.ParseInt(l.text, 10, 64); err == nil {
		return i, true
	}
	u, err := strconv.ParseUint(l.text, 10, 64)
	return u, err == nil
}

// key is the value as one of a column of that type with which the column is compared, in the column's order; false unless the
// comparison that the general way makes is the comparison of the column's type, without conversion of the column's side.
func (l literal) key(t sql.Type) (any, bool) {
	switch base := t.Type(); base {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int24, sqltypes.Int32, sqltypes.Int64,
		sqltypes.Uint8, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Uint32, sqltypes.Uint64:
		return l.integer()
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
		if l.kind != literalString || !utf8.ValidString(l.text) {
			return nil, false
		}
		// The type's conversion may drop trailing spaces, or not; only the general way knows.
		if base == sqltypes.Char && strings.HasSuffix(l.text, " ") {
			return nil, false
		}
		if st, ok := t.(sql.StringType); !ok || !plainText(st) || l.collation != sql.Collation_Unspecified && l.collation != st.Collation() || int64(utf8.RuneCountInString(l.text)) > st.MaxCharacterLength() {
			return nil, false
		}
		return l.text, true
	case sqltypes.VarBinary, sqltypes.Blob:
		if l.kind != literalString {
			return nil, false
		}
		return []byte(l.text), true
	case sqltypes.Decimal:
		if l.kind != literalInt && l.kind != literalDecimal {
			return nil, false
		}
		d, _, err := apd.NewFromString(l.text)
		return d, err == nil
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		if l.kind != literalString && l.kind != literalTime {
			return nil, false
		}
		v, clock, ok := parseTime(l.text)
		if !ok || base == sqltypes.Date && clock {
			return nil, false
		}
		return v, true
	}
	return nil, false
}

// plainText reports whether the column's text is stored and sent as it is.
func plainText(t sql.StringType) bool {
	switch t.CharacterSet() {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3:
		return true
	}
	return false
}

// stored is the value as the row of a column of that type has it, by the conversion that the general way uses; false if there
// is an error or a warning to give, which is the general way's business.
func (l literal) stored(ctx *sql.Context, t sql.Type) (any, bool) {
	var v any
	switch l.kind {
	case literalNull:
		return nil, true
	case literalInt:
		i, ok := l.integer()
		if !ok {
			return nil, false
		}
		if w, ok := narrow(t.Type(), i); ok {
			return w, true
		}
		v = i
	case literalDecimal, literalFloat:
		switch t.Type() {
		case sqltypes.Float32, sqltypes.Float64:
			f, err := strconv.ParseFloat(l.text, 64)
			if err != nil {
				return nil, false
			}
			v = f
		case sqltypes.Decimal:
			d, _, err := apd.NewFromString(l.text)
			if err != nil || l.kind == literalFloat {
				return nil, false
			}
			v = d
		default:
			return nil, false
		}
	case literalString, literalTime:
		base := t.Type()
		if l.kind == literalTime && base != sqltypes.Date && base != sqltypes.Datetime && base != sqltypes.Timestamp {
			return nil, false
		}
		switch base {
		case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
			st, ok := t.(sql.StringType)
			if !ok || !plainText(st) || !utf8.ValidString(l.text) {
				return nil, false
			}
			if base == sqltypes.VarChar && int64(utf8.RuneCountInString(l.text)) <= st.MaxCharacterLength() {
				return l.text, true
			}
			v = l.text
		case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
			v = []byte(l.text)
		case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
			// What is not in the plain form, or has a part that would be cut off, may want a warning.
			at, clock, ok := parseTime(l.text)
			if !ok || base == sqltypes.Date && clock {
				return nil, false
			}
			v = l.text
			if at.Nanosecond() == 0 && at.Year() >= 1971 && at.Year() < 2038 {
				return at, true
			}
		case sqltypes.Decimal:
			d, _, err := apd.NewFromString(l.text)
			if err != nil || strings.ContainsAny(l.text, "eE ") {
				return nil, false
			}
			v = d
		default:
			return nil, false
		}
	}
	out, in, err := convertStored(ctx, t, v)
	if at, ok := out.(time.Time); err != nil || in != sql.InRange || out == nil || ok && at.Equal(types.ZeroTime) {
		return nil, false // the mode may have something against a date of zeros
	}
	return out, true
}

// convertStored is the conversion of INSERT.
func convertStored(ctx *sql.Context, t sql.Type, v any) (any, sql.ConvertInRange, error) {
	if r, ok := t.(sql.RoundingNumberType); ok {
		return r.ConvertRound(ctx, v)
	}
	return t.Convert(ctx, v)
}

// narrow makes the engine's Go type of an integer column; false if the value does not fit or the column is none.
func narrow(t querypb.Type, v any) (any, bool) {
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

// parseTime reads YYYY-M-D[ H:M:S[.f]], the forms that clients and drivers send; clock says that there is a time of day other
// than midnight. Anything else is false.
func parseTime(s string) (t time.Time, clock, ok bool) {
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
