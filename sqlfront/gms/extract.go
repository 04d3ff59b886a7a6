package gms

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/moment"
)

// clockUnits are the units of EXTRACT whose value is read as a TIME, with the first and the last of the parts
// that they write one behind the other.
//
//	HOUR_SECOND FROM '10:11:12'                101112
//	DAY_MINUTE  FROM '2024-01-02 03:04:05'     20304      of a moment the day, too
//	HOUR_MINUTE FROM '-100:02'                 -10002
var clockUnits = map[string]struct{ first, last clockPlace }{
	"HOUR": {hourPlace, hourPlace}, "MINUTE": {minutePlace, minutePlace},
	"SECOND": {secondPlace, secondPlace}, "MICROSECOND": {microPlace, microPlace},
	"DAY_HOUR": {dayPlace, hourPlace}, "DAY_MINUTE": {dayPlace, minutePlace},
	"DAY_SECOND": {dayPlace, secondPlace}, "DAY_MICROSECOND": {dayPlace, microPlace},
	"HOUR_MINUTE": {hourPlace, minutePlace}, "HOUR_SECOND": {hourPlace, secondPlace},
	"HOUR_MICROSECOND": {hourPlace, microPlace}, "MINUTE_SECOND": {minutePlace, secondPlace},
	"MINUTE_MICROSECOND": {minutePlace, microPlace}, "SECOND_MICROSECOND": {secondPlace, microPlace},
}

// clockPlace is a part of a time, from the left.
type clockPlace int

const (
	dayPlace clockPlace = iota
	hourPlace
	minutePlace
	secondPlace
	microPlace
)

// extractClock is EXTRACT of a part of a time of day. The library's takes '10:11:12' for a date that is none,
// and knows neither signs nor more than a day's hours.
type extractClock struct {
	*function.Extract
	unit string
}

var (
	_ sql.FunctionExpression = (*extractClock)(nil)
	_ sql.CollationCoercible = (*extractClock)(nil)
)

// ExtractClock is the library's EXTRACT as ours, if its unit is one of a time of day.
func ExtractClock(e *function.Extract) (sql.Expression, bool) {
	l, ok := e.LeftChild.(*expression.Literal)
	if !ok {
		return e, false
	}
	unit, _ := l.Value().(string)
	unit = strings.ToUpper(unit)
	if _, ok = clockUnits[unit]; !ok {
		return e, false
	}
	return &extractClock{e, unit}, true
}

// Type implements sql.Expression: DAY_MICROSECOND wants fourteen digits.
func (e *extractClock) Type(*sql.Context) sql.Type { return types.Int64 }

// WithChildren implements sql.Expression.
func (e *extractClock) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	again, err := e.Extract.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &extractClock{again.(*function.Extract), e.unit}, nil
}

// longestClock is how much of a text is looked at: the library tries a long one in the square of its length.
const longestClock = 64

// Eval implements sql.Expression.
func (e *extractClock) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.RightChild.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if v, err = asClock(ctx, e.RightChild.Type(ctx), v); err != nil {
		return nil, err
	}
	if at, ok := v.(types.Timespan); ok {
		return e.of(int64(at), 0), nil
	}
	v, err = types.DatetimeMaxPrecision.ConvertWithoutRangeCheck(ctx, v)
	at, ok := v.(time.Time)
	if err != nil || !ok {
		return e.Extract.Eval(ctx, row) // NULL, and the library's warning
	}
	seconds := (at.Hour()*60+at.Minute())*60 + at.Second()
	return e.of(int64(seconds)*1e6+int64(at.Nanosecond())/1e3, int64(at.Day())), nil
}

// asClock is a text or a number as the TIME that it is; what is none stays.
func asClock(ctx *sql.Context, t sql.Type, v any) (any, error) {
	if types.IsNumber(t) {
		text, _, err := types.LongText.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		whole, fraction, _ := strings.Cut(text.(string), ".")
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			if text, ok := moment.TimeOf(n, fraction); ok {
				v = text
			}
		}
	}
	text, ok := v.(string)
	if !ok {
		return v, nil
	}
	text = moment.Cut(text, longestClock)
	if hours := moment.Time(text); clock.MatchString(hours) {
		if at, _, err := types.Time.Convert(ctx, hours); err == nil {
			return at, nil
		}
	}
	return text, nil
}

// of is the unit's number of a time in microseconds and a day.
func (e *extractClock) of(micros, day int64) int64 {
	sign := int64(1)
	if micros < 0 {
		sign, micros = -1, -micros
	}
	parts := [...]int64{
		dayPlace: day, hourPlace: micros / 3600e6, minutePlace: micros / 60e6 % 60,
		secondPlace: micros / 1e6 % 60, microPlace: micros % 1e6,
	}
	unit, out := clockUnits[e.unit], int64(0)
	for at := unit.first; at <= unit.last; at++ {
		digits := int64(100)
		if at == microPlace {
			digits = 1e6
		}
		out = out*digits + parts[at]
	}
	return sign * out
}
