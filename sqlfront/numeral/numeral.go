// Package numeral reads numbers as MySQL does: a text where a number is asked for is the number that it
// begins with. '12e' is 12, '1e999' as much as fits, 'abc' 0. The time is in proportion to the text, however
// many digits it has.
package numeral

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// maxPrecision is how many digits a DECIMAL has at most.
const maxPrecision = 65

var halfUp = apd.Context{Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
	Rounding: apd.RoundHalfUp}

// parts are the number at the beginning of a text, taken apart.
type parts struct {
	negative        bool
	whole, fraction string // digits
	exponent        int64
	text            string // all of it, without spaces; empty if there is no digit
	alone           bool   // nothing but spaces stands behind it
}

const spaces = " \t\n\v\f\r"

// maxExponent is an exponent beyond which all numbers are too large or too small.
const maxExponent = 1_000_000_000

func parse(s string) (n parts) {
	s = strings.TrimLeft(s, spaces)
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		n.negative = s[i] == '-'
		i++
	}
	digits := func() string {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return s[from:i]
	}
	n.whole = digits()
	if i < len(s) && s[i] == '.' {
		i++
		n.fraction = digits()
	}
	if n.whole == "" && n.fraction == "" {
		return parts{alone: false}
	}
	if end := i; i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		sign := int64(1)
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			if s[i] == '-' {
				sign = -1
			}
			i++
		}
		if e := digits(); e == "" {
			i = end
		} else {
			for _, d := range []byte(e) {
				n.exponent = min(maxExponent, 10*n.exponent+int64(d-'0'))
			}
			n.exponent *= sign
		}
	}
	n.text, n.alone = s[:i], strings.TrimLeft(s[i:], spaces) == ""
	return n
}

// Double is the DOUBLE at the beginning of a text; whole is false if it is not all of the text.
func Double(s string) (f float64, whole bool) {
	f, whole = Unbounded(s)
	if math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f), false
	}
	return f, whole
}

// Unbounded is Double where one that is too large is infinite.
func Unbounded(s string) (f float64, whole bool) {
	n := parse(s)
	if n.text == "" {
		return 0, false
	}
	f, _ = strconv.ParseFloat(n.text, 64)
	if f == 0 {
		f = 0 // -0
	}
	return f, n.alone
}

// MaxDigits are the digits of a DECIMAL that MySQL computes with; 65 of them may stand before the point.
const MaxDigits = 81

// Decimal is the DECIMAL at the beginning of a text. One that is too large becomes the largest; digits
// that are too many are cut off.
func Decimal(s string) (d *apd.Decimal, whole bool) {
	n := parse(s)
	if n.text == "" {
		return new(apd.Decimal), false
	}
	digits := strings.TrimLeft(n.whole, "0")
	point := int64(len(digits)) // how many digits stand before it
	if digits == "" {
		digits = strings.TrimLeft(n.fraction, "0")
		point = int64(len(digits) - len(n.fraction))
	} else if room := MaxDigits + 1 - len(digits); room > 0 {
		// longer texts are not put together for what is cut off anyway
		digits += n.fraction[:min(room, len(n.fraction))]
	}
	point += n.exponent
	switch {
	case digits == "":
		return new(apd.Decimal), n.alone
	case point > maxPrecision:
		digits, point, n.alone = strings.Repeat("9", maxPrecision),
			maxPrecision, false
	case point < -MaxDigits:
		return new(apd.Decimal), n.alone
	}
	if kept := min(int64(len(digits)), MaxDigits, point+MaxDigits); kept < int64(len(digits)) {
		digits = digits[:max(0, kept)]
	}
	d = new(apd.Decimal)
	if digits == "" {
		return d, n.alone
	}
	d.Coeff.SetString(digits, 10)
	d.Exponent = int32(point - int64(len(digits)))
	d.Negative = n.negative
	if d.Exponent > 0 {
		_, _ = halfUp.Quantize(d, d, 0) // at most 65 digits
	}
	return d, n.alone
}

// Fit is a DECIMAL with the digits of the type DECIMAL(precision, scale), and whether there was room for
// those before the point; if not, it is the type's largest value.
func Fit(d *apd.Decimal, precision, scale int) (out *apd.Decimal, in bool, err error) {
	out = new(apd.Decimal)
	if d.Form != apd.Finite {
		return out, false, nil
	}
	whole := int64(precision - scale)
	if before := d.NumDigits() + int64(d.Exponent); before <= whole {
		if _, err := halfUp.Quantize(out, d, -int32(scale)); err != nil {
			return nil, false, err
		}
		if out.Coeff.Sign() == 0 {
			out.Negative = false
		}
		if out.NumDigits()+int64(out.Exponent) <= whole || out.Coeff.Sign() == 0 {
			return out, true, nil
		}
	} else if d.Coeff.Sign() == 0 {
		out.Exponent = -int32(scale)
		return out, true, nil
	}
	out.Coeff.SetString(strings.Repeat("9", precision), 10)
	out.Exponent, out.Negative = -int32(scale), d.Negative
	return out, false, nil
}

// Remainder is a - b*n for the whole number n next to zero, of two numbers of which b is not 0, however many
// digits lie between them.
func Remainder(a, b *apd.Decimal) (*apd.Decimal, error) {
	whole := max(a.NumDigits()+int64(a.Exponent), 0)
	digits := whole + int64(max(-b.Exponent, 0)) + int64(max(-a.Exponent, 0))
	out := new(apd.Decimal)
	_, err := apd.BaseContext.WithPrecision(uint32(digits+b.NumDigits())+1).Rem(out, a, b)
	if out.IsZero() {
		out.Negative = false
	}
	return out, err
}

// Integer is a text as an integer column reads it: the number at its beginning, with fraction and exponent,
// rounded half away from zero. The number is -abs if it is negative; what has no room in abs is too large.
// whole is false if there is something else behind it, or no number at all.
func Integer(s string) (abs uint64, negative, large, whole bool) {
	n := parse(s)
	if n.text == "" {
		return 0, false, false, false
	}
	d, _ := Decimal(n.text)
	abs, large = Rounded(d)
	return abs, n.negative && (abs > 0 || large), large, n.alone
}

// Rounded is a DECIMAL without its sign as an integer, rounded half away from zero; large is true if there is
// no room for it, and then it is the largest.
func Rounded(d *apd.Decimal) (abs uint64, large bool) {
	out := new(apd.Decimal)
	if d.Form != apd.Finite {
		return math.MaxUint64, true
	}
	if _, err := halfUp.Quantize(out, d, 0); err != nil || !out.Coeff.IsUint64() {
		return math.MaxUint64, true
	}
	return out.Coeff.Uint64(), false
}
