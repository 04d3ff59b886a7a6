package builtin

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// strToDate is STR_TO_DATE(text, format). The library's made '0000-08-31' of the month 9, knew
// no weeks and took what is no date for one.
//
// What it makes depends on the format, if that is a constant: a DATE, a TIME or a DATETIME, with six digits
// behind the seconds if there is %f. A date that has zeros is NULL, but for 0000-00-00 where the SQL mode
// allows it: columns of dates have no other zeros.
type strToDate struct{ *function.StrToDate }

var (
	_ sql.FunctionExpression = (*strToDate)(nil)
	_ sql.CollationCoercible = (*strToDate)(nil)
)

func newStrToDate(ctx *sql.Context, text, format sql.Expression) sql.Expression {
	return &strToDate{function.NewStrToDate(ctx, text, format).(*function.StrToDate)}
}

// WithChildren implements sql.Expression.
func (s *strToDate) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(ch), 2)
	}
	return newStrToDate(ctx, ch[0], ch[1]), nil
}

// Type implements sql.Expression.
func (s *strToDate) Type(*sql.Context) sql.Type {
	l, ok := s.Format.(*expression.Literal)
	if !ok {
		return types.DatetimeMaxPrecision
	}
	format, _ := l.Value().(string)
	date, clock, digits := partsOfFormat(format)
	switch {
	case date && clock:
		return DatetimeOf(digits)
	case clock:
		return moment.TimeType{Digits: digits}
	}
	return types.Date
}

// partsOfFormat are those by which MySQL chooses the type; the day of the month is not among them.
func partsOfFormat(format string) (date, clock bool, digits int) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch c := format[i]; {
		case c == 'f':
			clock, digits = true, 6
		case strings.IndexByte("HISThiklrs", c) >= 0:
			clock = true
		case strings.IndexByte("MVUXYWabcjmvuxyw", c) >= 0:
			date = true
		}
	}
	return date, clock, digits
}

// Eval implements sql.Expression.
func (s *strToDate) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	var args [2]string
	for i, e := range s.Children() {
		v, err := e.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if v == nil || err != nil {
			return nil, err
		}
		if v, _, err = types.LongText.Convert(ctx, v); err != nil {
			return nil, err
		}
		args[i], _ = v.(string)
	}
	r := reader{text: args[0], week: -1, weekYear: -1}
	ok := r.read(args[1])
	ok = ok && r.finish()
	typ := s.Type(ctx)
	var out any
	if moment.IsTime(typ) {
		out = r.time()
	} else {
		var day time.Time
		if day, ok = r.date(ctx, ok); ok {
			out = day
		}
	}
	if !ok {
		kind := "datetime"
		if moment.IsTime(typ) {
			kind = "time"
		}
		ctx.Warn(sqlerr.WrongValueForType, "Incorrect %s value: '%s' for function str_to_date", kind,
			cast.Shown(args[0]))
		return nil, nil
	}
	if strings.TrimLeft(r.text, spaces) != "" {
		ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect %s value: '%s'", typ, cast.Shown(args[0]))
	}
	if typ == types.Date {
		if t, isTime := out.(time.Time); isTime {
			return t.Truncate(24 * time.Hour), nil
		}
	}
	return out, nil
}

const spaces = " \t\n\v\f\r"

// reader takes a text apart as a format says. What was read goes away from the front of text.
type reader struct {
	text                                   string
	year, month, day, hour, minute, second int
	micros, dayOfYear, weekday             int

	half       bool // hours of %h, %I, %l: from 1 to 12
	afternoon  bool
	week       int  // -1 where there is none
	sundays    bool // weeks begin with Sunday: %U, %V
	strict     bool // weeks of %V, %v, whose year is %X or %x
	weekYear   int  // -1 where there is none
	yearSunday bool // %X
}

// read reads the text to its end or to the format's: what is behind either does not count.
func (r *reader) read(format string) bool {
	for i := 0; i < len(format); i++ {
		if r.text = strings.TrimLeft(r.text, spaces); r.text == "" {
			return true
		}
		c := format[i]
		switch {
		case c == '%' && i+1 < len(format):
			i++
			if !r.part(format[i]) {
				return false
			}
		case strings.IndexByte(spaces, c) >= 0:
		case r.text[0] != c:
			return false
		default:
			r.text = r.text[1:]
		}
	}
	return true
}

// part reads what one letter of the format stands for.
func (r *reader) part(letter byte) (ok bool) {
	switch letter {
	case 'Y', 'y':
		before := len(r.text)
		if r.year, ok = r.number(map[byte]int{'Y': 4, 'y': 2}[letter]); ok && before-len(r.text) <= 2 {
			r.year = fullYear(r.year)
		}
	case 'm', 'c':
		r.month, ok = r.number(2)
	case 'M':
		r.month, ok = r.name(monthName, false)
	case 'b':
		r.month, ok = r.name(monthName, true)
	case 'd', 'e':
		r.day, ok = r.number(2)
	case 'D':
		r.day, ok = r.number(2)
		r.text = r.text[min(2, len(r.text)):] // st, nd, rd, th
	case 'j':
		r.dayOfYear, ok = r.number(3)
	case 'H', 'k':
		r.hour, ok = r.number(2)
	case 'h', 'I', 'l':
		r.half = true
		r.hour, ok = r.number(2)
	case 'i':
		r.minute, ok = r.number(2)
	case 's', 'S':
		r.second, ok = r.number(2)
	case 'f':
		before := len(r.text)
		r.micros, ok = r.number(6)
		for digits := before - len(r.text); ok && digits < 6; digits++ {
			r.micros *= 10
		}
	case 'p':
		return r.partOfDay()
	case 'r':
		return r.read("%I:%i:%S %p")
	case 'T':
		return r.read("%H:%i:%S")
	case '.', '@', '#':
		r.skip(letter)
		return true
	default:
		return r.partOfWeek(letter)
	}
	return ok
}

// partOfWeek reads a part by which weeks are counted; other letters are no part at all.
func (r *reader) partOfWeek(letter byte) (ok bool) {
	switch letter {
	case 'W':
		r.weekday, ok = r.name(weekdayName, false)
	case 'a':
		r.weekday, ok = r.name(weekdayName, true)
	case 'w':
		if r.weekday, ok = r.number(1); r.weekday == 0 {
			r.weekday = 7
		}
		ok = ok && r.weekday <= 7
	case 'U', 'u', 'V', 'v':
		r.sundays, r.strict = letter == 'U' || letter == 'V', letter == 'V' || letter == 'v'
		r.week, ok = r.number(2)
		ok = ok && r.week <= 53 && (r.week > 0 || !r.strict)
	case 'X', 'x':
		r.yearSunday = letter == 'X'
		r.weekYear, ok = r.number(4)
	}
	return ok
}

// number reads at most so many digits, at least one.
func (r *reader) number(most int) (int, bool) {
	end := 0
	for end < min(most, len(r.text)) && r.text[end] >= '0' && r.text[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(r.text[:end])
	r.text = r.text[end:]
	return n, err == nil
}

func fullYear(year int) int {
	if year < 70 {
		return year + 2000
	}
	return year + 1900
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// skip skips punctuation, letters or digits.
func (r *reader) skip(letter byte) {
	is := map[byte]func(c byte) bool{
		'.': func(c byte) bool { return c > ' ' && c < 0x7f && !isLetter(c) && (c < '0' || c > '9') },
		'@': isLetter,
		'#': func(c byte) bool { return c >= '0' && c <= '9' },
	}[letter]
	for r.text != "" && is(r.text[0]) {
		r.text = r.text[1:]
	}
}

// name reads a name, counted from 1.
func (r *reader) name(nameOf func(int) string, short bool) (int, bool) {
	end := 0
	for end < len(r.text) && isLetter(r.text[end]) {
		end++
	}
	word := r.text[:end]
	r.text = r.text[end:]
	for i := 1; nameOf(i) != ""; i++ {
		name := nameOf(i)
		if short {
			name = name[:3]
		}
		if strings.EqualFold(name, word) {
			return i, true
		}
	}
	return 0, false
}

func monthName(i int) string {
	if i > 12 {
		return ""
	}
	return time.Month(i).String()
}

// weekdayName has Monday first.
func weekdayName(i int) string {
	if i > 7 {
		return ""
	}
	return time.Weekday(i % 7).String()
}

// partOfDay reads AM or PM.
func (r *reader) partOfDay() bool {
	if len(r.text) < 2 || !r.half {
		return false
	}
	word := strings.ToUpper(r.text[:2])
	r.text, r.afternoon = r.text[2:], word == "PM"
	return r.afternoon || word == "AM"
}

// finish computes the date and the hour of what was read.
func (r *reader) finish() bool {
	if r.half {
		if r.hour < 1 || r.hour > 12 {
			return false
		}
		if r.hour %= 12; r.afternoon {
			r.hour += 12
		}
	}
	if r.dayOfYear > 0 && !r.setDay(r.year, r.dayOfYear-1) {
		return false
	}
	if r.week >= 0 && r.weekday > 0 && !r.finishWeek() {
		return false
	}
	return r.month <= 12 && r.day <= 31 && r.hour <= 23 && r.minute <= 59 && r.second <= 59
}

// finishWeek computes the date of a week and a day of it.
func (r *reader) finishWeek() bool {
	if r.strict && (r.weekYear < 0 || r.yearSunday != r.sundays) || !r.strict && r.weekYear >= 0 {
		return false // %V and %v want %X and %x, %U and %u want %Y
	}
	year := r.year
	if r.strict {
		year = r.weekYear
	}
	first := int(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Weekday())
	if r.sundays {
		days := (r.week-1)*7 - first + r.weekday%7
		if first != 0 {
			days += 7
		}
		return r.setDay(year, days)
	}
	first = (first + 6) % 7 // of Monday
	days := (r.week-1)*7 - first + r.weekday - 1
	if first > 3 {
		days += 7
	}
	return r.setDay(year, days)
}

// setDay is the day so many days after the first of a year.
func (r *reader) setDay(year, days int) bool {
	day := time.Date(year, 1, 1+days, 0, 0, 0, 0, time.UTC)
	if day.Year() < 0 || day.Year() > 9999 {
		return false
	}
	r.year, r.month, r.day = day.Year(), int(day.Month()), day.Day()
	return true
}

// time is what was read as a TIME, the days as hours.
func (r *reader) time() any {
	seconds := ((r.day*24+r.hour)*60+r.minute)*60 + r.second
	return types.Timespan(min(seconds*1_000_000+r.micros, maxTime))
}

// date is what was read as a DATETIME, if there is such a day and the SQL mode lets it be.
func (r *reader) date(ctx *sql.Context, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	if r.year+r.month+r.day+r.hour+r.minute+r.second+r.micros == 0 {
		return types.ZeroTime, !sql.LoadSqlMode(ctx).ModeEnabled("NO_ZERO_DATE")
	}
	day := time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, r.micros*1000, time.UTC)
	return day, r.month > 0 && r.day > 0 && int(day.Month()) == r.month
}
