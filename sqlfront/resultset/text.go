package resultset

import (
	"bytes"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/numeral"
)

// mended is a value's text as MySQL writes it. The engine's differs in: the zero date, which it formats
// from a time of the year 0 as "-0001-11-30", and years before 1000; decimals, whose trailing zeros an
// aggregate loses on its way (SUM of DECIMAL(10,2) is 10.00, not 10); the exponents of doubles; and
// fractions of TIME, which it has whatever was declared.
func mended(f *querypb.Field, text []byte) []byte {
	switch f.Type {
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return dateText(f.Type, text)
	case sqltypes.Time:
		if f.Decimals > 0 {
			return timeText(text, int(f.Decimals))
		}
		return bytes.TrimSuffix(text, noFraction)
	case sqltypes.Float32, sqltypes.Float64:
		if f.Decimals < floatDecimals {
			return floatText(text, int(f.Decimals))
		}
		if bytes.IndexByte(text, 'e') > 0 {
			return doubleText(f.Type, text)
		}
	case sqltypes.Decimal:
		return decimalText(text, int(f.Decimals))
	}
	return text
}

func dateText(t querypb.Type, text []byte) []byte {
	if len(text) > 0 && text[0] == '-' {
		if t == sqltypes.Date {
			return []byte("0000-00-00")
		}
		return []byte("0000-00-00 00:00:00")
	}
	if short := 4 - bytes.IndexByte(text, '-'); short > 0 && short < 4 { // of a year before 1000
		return append([]byte("000"[:short]), text...)
	}
	return text
}

// unknownScale is the engine's scale for "unknown".
const unknownScale = 30

func decimalText(text []byte, scale int) []byte {
	if scale == 0 || scale >= unknownScale {
		return text
	}
	if bytes.IndexByte(text, 'e') > 0 {
		text = doubleText(sqltypes.Float64, text)
	}
	if fixed, ok := padScale(text, scale); ok {
		return fixed
	}
	return text
}

// isZero reports whether there is nothing but zeros in a date.
func isZero(text []byte) bool { return len(bytes.Trim(text, "0-: .")) == 0 }

// doubleText writes the text of a FLOAT or DOUBLE as MySQL does; see numeral.AppendFloat.
func doubleText(t querypb.Type, text []byte) []byte {
	bits := 64
	if t == sqltypes.Float32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		return text
	}
	return numeral.AppendFloat(nil, f, bits)
}

// timeText gives a time as many digits of a fraction as its column has.
func timeText(text []byte, digits int) []byte {
	point := bytes.IndexByte(text, '.')
	if point < 0 {
		text = append(append(make([]byte, 0, len(text)+7), text...), '.')
		point = len(text) - 1
	}
	if want := point + 1 + digits; len(text) > want {
		text = text[:want]
	} else {
		text = append(text[:len(text):len(text)], bytes.Repeat([]byte{'0'}, want-len(text))...)
	}
	return text
}

// floatText writes a number with so many digits behind the point.
func floatText(text []byte, digits int) []byte {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return text
	}
	return strconv.AppendFloat(nil, f, 'f', digits, 64)
}

var noFraction = []byte(".000000")

// padScale gives a decimal number its scale.
func padScale(text []byte, scale int) ([]byte, bool) {
	point := bytes.IndexByte(text, '.')
	have := 0
	if point >= 0 {
		have = len(text) - point - 1
	}
	if have >= scale || len(text) == 0 || bytes.ContainsAny(text, "eE") {
		return nil, false
	}
	out := make([]byte, 0, len(text)+1+scale)
	out = append(out, text...)
	if point < 0 {
		out = append(out, '.')
	}
	for ; have < scale; have++ {
		out = append(out, '0')
	}
	return out, true
}
