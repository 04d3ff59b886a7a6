// Package moment reads dates and times as MySQL's functions do, from texts and from numbers, and writes them
// as texts that leave nothing to guess.
//
//	'2024-1-2', '24/1/2', 20240102, 240102     2024-01-02
//	20240102030405, 240102030405.5             2024-01-02 03:04:05, with .5
//	'2024-02-30', '2024-13-01', 20240231       no date: the value is NULL, and there is a warning
//	'1 10:00', 123456                          34:00, 12:34:56, where a time is asked for
//
// A month or day of zero is left to who asked: some functions have parts of such dates, others do not.
package moment

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Date is the date, with its time if it has one, that a text is. What is behind it, as a zone, or what is too
// much, stays. ok is false if there is no such date.
func Date(s string) (out string, ok bool) {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	year, rest := digits(s)
	switch {
	case year == "":
		return "", false
	case rest == "" || !isPunctuation(rest[0]) || rest[0] == '.' && len(year) > 4:
		return compact(s, year, rest)
	}
	month, rest := digits(strings.TrimLeft(rest, punctuation))
	if rest == "" || !isPunctuation(rest[0]) {
		return "", false
	}
	day, rest := digits(strings.TrimLeft(rest, punctuation))
	if month == "" || day == "" || len(year) > 4 || len(month) > 2 || len(day) > 2 {
		return "", false
	}
	y, m, d := number(year), number(month), number(day)
	if len(year) <= 2 && y+m+d > 0 {
		y = century(y)
	}
	if !exists(y, m, d) || !isClock(rest) {
		return "", false
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d) + rest, true
}

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

func isPunctuation(b byte) bool { return strings.IndexByte(punctuation, b) >= 0 }

// digits are those at the beginning, and what follows.
func digits(s string) (number, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// number is at most four digits.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// century is a year of two digits: 70 to 99 are of the last century.
func century(year int) int {
	if year < 70 {
		return year + 2000
	}
	return year + 1900
}

func exists(y, m, d int) bool {
	return m <= 12 && (m == 0 && d <= 31 || d <= time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// isClock reports whether what follows a date is nothing, or too much, or a time of day: hours below 24,
// minutes and seconds below 60.
func isClock(s string) bool {
	if s == "" || s[0] != 'T' && s[0] != ' ' {
		return true
	}
	part, rest := digits(strings.TrimLeft(s[1:], " "))
	for _, below := range []int{24, 60, 60} {
		if part == "" {
			return true
		}
		if len(part) > 2 || number(part) >= below {
			return false
		}
		if rest == "" || rest[0] != ':' {
			return true
		}
		part, rest = digits(rest[1:])
	}
	return true
}

// compact is a text of digits without anything between: YYMMDD, YYYYMMDD, and with hhmmss behind. A YYYYMMDD
// stays as it is, as who reads it understands it.
func compact(s, run, rest string) (string, bool) {
	y, m, d, clock := 0, "", "", ""
	switch len(run) {
	case 6, 12:
		y, m, d, clock = century(number(run[:2])), run[2:4], run[4:6], run[6:]
		if run[:6] == "000000" {
			return s, true
		}
	case 8, 14:
		y, m, d, clock = number(run[:4]), run[4:6], run[6:8], run[8:]
	default:
		return s, true
	}
	if !exists(y, number(m), number(d)) {
		return "", false
	}
	if clock != "" && (number(clock[:2]) > 23 || number(clock[2:4]) > 59 || number(clock[4:]) > 59) {
		return "", false
	}
	switch {
	case clock != "" && (rest == "" || rest[0] == '.'):
		return fmt.Sprintf("%04d-%s-%s %s:%s:%s%s", y, m, d, clock[:2], clock[2:4], clock[4:], rest), true
	case clock == "" && len(run) == len("YYMMDD") && strings.Trim(rest, " ") == "":
		return fmt.Sprintf("%04d-%s-%s", y, m, d), true
	}
	return s, true
}

// IsWhole reports whether neither month nor day of a date that Date or DateOf wrote is zero.
func IsWhole(date string) bool {
	if len(date) < len("2024-01-02") || date[4] != '-' {
		return true // digits without anything between
	}
	return date[5:7] != "00" && date[8:10] != "00"
}

// DateOf is the date that a number is, and its time if it has one; fraction are the digits of the number
// behind the point.
func DateOf(n int64, fraction string) (string, bool) {
	const clock = 1_000_000 // what hhmmss takes
	date, time := n, int64(-1)
	if n > 99991231 {
		date, time = n/clock, n%clock
	}
	switch {
	case n == 0:
		return "0000-00-00", true
	case n < 101 || date > 99991231:
		return "", false
	case time >= 0 && date < 101:
		return "", false
	case date <= 691231:
		date += 20000000
	case date < 700101:
		return "", false
	case date <= 991231:
		date += 19000000
	case date < 10000101:
		return "", false
	}
	y, m, d := int(date/10000), int(date/100%100), int(date%100)
	if !exists(y, m, d) {
		return "", false
	}
	text := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
	if time < 0 {
		return text, true
	}
	if time/10000 > 23 || time/100%100 > 59 || time%100 > 59 {
		return "", false
	}
	return text + fmt.Sprintf(" %02d:%02d:%02d", time/10000, time/100%100, time%100) + point(fraction), true
}

func point(fraction string) string {
	if fraction == "" {
		return ""
	}
	return "." + fraction
}

// TimeOf is the time that a number is, hhmmss, or the date with its time that a long one is.
func TimeOf(n int64, fraction string) (string, bool) {
	sign, abs := "", n
	if n < 0 {
		sign, abs = "-", -n
	}
	switch {
	case n >= 10000000000:
		return DateOf(n, fraction)
	case abs < 0 || abs > 8385959 || abs/100%100 > 59 || abs%100 > 59:
		return "", false
	}
	return sign + fmt.Sprintf("%02d:%02d:%02d", abs/10000, abs/100%100, abs%100) + point(fraction), true
}

// Time makes days of a time hours: '1 10:00' is 34:00. What is none stays.
func Time(s string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(strings.TrimLeft(s, " "), "-"); negative {
		sign, s = "-", rest
	}
	days, rest, ok := strings.Cut(s, " ")
	if !ok || strings.ContainsAny(days, ":-.") {
		return sign + s
	}
	n, hours := 0, 0
	for _, d := range days {
		if d < '0' || d > '9' || n > 99 {
			return sign + s
		}
		n = n*10 + int(d-'0')
	}
	h, minutes, found := strings.Cut(rest, ":")
	for _, d := range h {
		if d < '0' || d > '9' || hours > 999 {
			return sign + s
		}
		hours = hours*10 + int(d-'0')
	}
	if !found {
		minutes = "0"
	}
	return sign + strconv.Itoa(n*24+hours) + ":" + minutes
}

// Cut is the beginning of a text, of which several spaces are one, at most so many bytes. What was cut off is
// missed by nobody but by the warning that there was more, if all of what is left is a date: then its last
// byte is no digit.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	var b strings.Builder
	i := 0
	for ; i < len(s) && b.Len() < most-1; i++ {
		if s[i] != ' ' || i == 0 || s[i-1] != ' ' {
			b.WriteByte(s[i])
		}
	}
	if strings.Trim(s[i:], "0123456789") != "" {
		b.WriteByte('-')
	}
	return strings.ToValidUTF8(b.String(), "")
}
