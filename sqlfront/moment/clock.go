package moment

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// longest is the greatest TIME there is, 838:59:59, of which the least is the negative.
const longest = types.Timespan((838*3600 + 59*60 + 59) * 1_000_000)

// clock is a TIME of its parts, or as near to it as there is one.
func clock(negative bool, hours, minutes, seconds uint64, micros types.Timespan) (types.Timespan,
	sql.ConvertInRange) {
	t, in := longest, sql.InRange
	if hours <= 838 {
		t = types.Timespan((hours*3600+minutes*60+seconds)*1_000_000) + micros
	}
	if hours > 838 || t > longest {
		t, in = longest, sql.Overflow
	}
	if negative {
		t = -t
	}
	return t, in
}

// clockOf is the TIME that a text begins with, as a column of such stores it:
//
//	'10:11', '1 10:11', '2 03'    10:11:00, 34:11:00, 51:00:00
//	'101112.5', '12', '2024-1-5'  10:11:12.5, 00:00:12, 00:20:24 and something behind it
//	'2024-01-05 10:11:12'         10:11:12
//	'1:60', '1e3', '--5', ''      no TIME
//
// whole is false if there is something behind it but spaces, ok if there is none.
func clockOf(s string) (t types.Timespan, in sql.ConvertInRange, whole, ok bool) {
	s = strings.TrimLeft(s, white)
	if len(s) >= len("YYMMDDhhmmss") {
		switch date, dated, exists := clockOfDate(s); {
		case exists:
			return clockOf(date)
		case dated:
			return 0, sql.InRange, false, false
		}
	}
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	first, rest := digits(s)
	n, err := strconv.ParseUint("0"+first, 10, 32)
	if err != nil || s == "" {
		return 0, sql.InRange, false, false
	}
	var parts [3]uint64 // hours, minutes and seconds
	days, after := uint64(0), strings.TrimLeft(rest, white)
	switch {
	case len(after) > 1 && len(after) < len(rest) && isDigit(after[0]):
		days = n
		rest = clockParts(after, parts[:])
	case len(after) > 1 && after[0] == ':' && isDigit(after[1]):
		parts[0] = n
		rest = clockParts(after[1:], parts[1:])
	default:
		parts = [3]uint64{n / 10000, n / 100 % 100, n % 100}
	}
	micros := types.Timespan(0)
	if len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		var fraction string
		fraction, rest = digits(rest[1:])
		micros = microseconds(fraction)
	} else {
		rest = strings.TrimPrefix(rest, ".")
	}
	if isExponent(rest) || parts[1] > 59 || parts[2] > 59 || rest == s && s != "" {
		return 0, sql.InRange, false, false
	}
	t, in = clock(negative, min(days, 100)*24+parts[0], parts[1], parts[2], micros)
	return t, in, strings.Trim(rest, white) == "", true
}

const white = " \t\n\v\f\r"

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// clockParts are numbers with colons between them, as many as there is room for, and what follows.
func clockParts(s string, parts []uint64) (rest string) {
	for i := range parts {
		n, after := digits(s)
		v, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			v = math.MaxUint32
		}
		parts[i], s = v, after
		if i == len(parts)-1 || len(s) < 2 || s[0] != ':' || !isDigit(s[1]) {
			break
		}
		s = s[1:]
	}
	return s
}

// clockOfDate is the time of day of a text that is a date with one; exists is false if there is no such date.
func clockOfDate(s string) (clock string, dated, exists bool) {
	date, exists := Date(s)
	if !exists {
		date = s
	}
	day, clock, dated := strings.Cut(date, " ")
	if !dated {
		day, clock, dated = strings.Cut(date, "T")
	}
	dated = dated && strings.Count(day, "-") == 2 && day[0] != '-' && clock != ""
	return clock, dated, dated && exists
}

// isExponent reports whether a number goes on as a DOUBLE does, which is no TIME.
func isExponent(s string) bool {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return s != "" && isDigit(s[0])
}

// microseconds are the digits of a fraction of a second, rounded.
func microseconds(fraction string) types.Timespan {
	digits := fraction
	if len(digits) > 6 {
		digits = digits[:6]
	}
	n, _ := strconv.Atoi((digits + "000000")[:6])
	if len(fraction) > 6 && fraction[6] >= '5' {
		n++
	}
	return types.Timespan(n)
}

// clockOfNumber is the TIME that a number is, hhmmss, or the time of day of a long one.
func clockOfNumber(d *apd.Decimal) (t types.Timespan, in sql.ConvertInRange, ok bool) {
	text := d.Text('f')
	negative := strings.HasPrefix(text, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	switch {
	case err != nil || n > 8385959:
		if date, ok := DateOf(int64(n), fraction); ok && err == nil && !negative && n >= 10_000_000_000 {
			_, clock, _ := strings.Cut(date, " ")
			t, in, _, ok = clockOf(clock)
			return t, in, ok
		}
		t, in = clock(negative, math.MaxInt32, 0, 0, 0)
		return t, in, true
	case n/100%100 > 59 || n%100 > 59:
		return 0, sql.InRange, false
	}
	t, in = clock(negative, n/10000, n/100%100, n%100, microseconds(fraction))
	return t, in, true
}
