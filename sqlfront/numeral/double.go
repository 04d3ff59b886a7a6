package numeral

import (
	"bytes"
	"math"
	"strconv"
)

// AppendDouble writes a double as MySQL does; see AppendFloat.
func AppendDouble(b []byte, f float64) []byte { return AppendFloat(b, f, 64) }

// AppendFloat writes a number of so many bits as MySQL does: without an exponent between 1e-15 and 1e15, else
// with one that has neither plus nor leading zeros.
func AppendFloat(b []byte, f float64, bits int) []byte {
	if a := math.Abs(f); a >= 1e-15 && a < 1e15 || a == 0 {
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.AppendFloat(b, f, 'g', -1, bits)
	}
	at := len(b)
	b = strconv.AppendFloat(b, f, 'e', -1, bits)
	e := at + bytes.IndexByte(b[at:], 'e') + 1
	digits := bytes.TrimLeft(b[e:], "+-0")
	if b[e] == '-' {
		e++
	}
	return append(b[:e], digits...)
}
