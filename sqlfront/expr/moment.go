package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// A text where a date or a time is asked for is the one that it begins with. The library tries the text with
// one digit less each time, and writes all of it into the error of each: 100,000 digits took minutes, which
// no KILL ended. So it is given as much of a text as a date may have.

// Moment is a text, or a number, that is taken for a date or a time.
type Moment struct {
	expression.UnaryExpressionStub
	most int
	as   momentKind
}

// momentKind is what an operand is read as.
type momentKind uint8

const (
	comparedMoment momentKind = iota // what a date is compared with: a text, cut
	dateMoment                       // what a function reads as a date, with or without a time
	wholeMoment                      // a date without zeros in it
	zeroMoment                       // a date, or that of zeros instead of what is none
	timeMoment                       // what a function reads as a time, with or without a date
	partMoment                       // a date of which a part is asked for: it may have zeros in it
)

var (
	_ sql.Expression         = (*Moment)(nil)
	_ sql.CollationCoercible = (*Moment)(nil)
)

// momentLength is more than any date or time has: 36 bytes with its zone, if no two spaces stand together;
// digits of a second beyond the ninth are not looked at.
const momentLength = 128

// formattedLength is how much of a text, and of its format, STR_TO_DATE looks at.
const formattedLength = 4096

// momentOperand is the argument of a function of dates or times: a text that is none is NULL, and so is a
// number; the library takes '2000-02-30' for the third of the month, and knows no numbers.
func momentOperand(
	ctx *sql.Context, e sql.Expression, most int, as momentKind,
) (_ sql.Expression, changed bool) {
	if e == nil || !e.Resolved() {
		return e, false
	}
	if m, done := e.(*Moment); done {
		if m.as != comparedMoment {
			return e, false
		}
		e = m.Child
	}
	switch e.(type) {
	case *Temporal, *expression.Interval, *expression.BindVar:
		return e, false
	}
	t := e.Type(ctx)
	if t == nil || t == types.Null || types.IsYear(t) || !types.IsText(t) && !types.IsNumber(t) {
		return e, false
	}
	m := &Moment{expression.UnaryExpressionStub{Child: e}, most, as}
	if l, ok := e.(*expression.Literal); ok {
		v := unwrapped(l.Value())
		if out, ok := m.of(v); ok && out == v {
			return e, false
		} else if ok {
			return expression.NewLiteral(out, m.Type(ctx)), true
		}
	}
	return m, true
}

// unwrapped is a text instead of bytes.
func unwrapped(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}

// asMoment is an operand with at most so many bytes of a text. What is no text stays what it
// is, and so do short ones.
func asMoment(ctx *sql.Context, e sql.Expression, most int) (_ sql.Expression, changed bool) {
	if e == nil || !e.Resolved() {
		return e, false
	}
	switch e := e.(type) {
	case *Moment, *Temporal, *expression.Interval, *expression.BindVar:
		return e, false
	case *expression.Literal:
		v := e.Value()
		if length(v) <= int64(most) {
			return e, false
		}
		if v = cutMoment(v, most); length(v) > int64(most) {
			return e, false
		}
		return expression.NewLiteral(v, e.Type(ctx)), true
	}
	t := e.Type(ctx)
	if !types.IsText(t) {
		return e, false
	}
	// a VARCHAR(255), by which tables may be joined
	if s, ok := t.(sql.StringType); ok && s.MaxByteLength() <= 8*momentLength {
		if _, column := e.(*expression.GetField); column {
			return e, false
		}
	}
	return &Moment{expression.UnaryExpressionStub{Child: e}, most, comparedMoment}, true
}

// momentArguments are the arguments of functions that are dates or times, by their places.
var momentArguments = func() map[string][]int {
	places := map[string][]int{"timestampdiff": {1, 2}, "extract": {1}}
	for _, name := range strings.Fields(`date day dayname dayofmonth dayofweek dayofyear month monthname year
		quarter week weekday weekofyear yearweek hour minute second microsecond to_days to_seconds time time_to_sec
		time_format date_format date_add date_sub adddate subdate
		datetime last_day unix_timestamp convert_tz`) {
		places[name] = []int{0}
	}
	for _, name := range []string{"timestamp", "datediff", "timediff", "addtime", "subtime"} {
		places[name] = []int{0, 1}
	}
	return places
}()

// timeArguments are the functions among them whose arguments are times; of TIMESTAMP the second is.
var timeArguments = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`hour minute second microsecond time time_to_sec time_format timediff
		addtime subtime`) {
		names[name] = true
	}
	return names
}()

// wholeArguments are the functions that do not know the dates with a month or day of zero, which others have
// parts of.
var wholeArguments = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`timestampdiff datediff to_days to_seconds dayofweek weekday dayofyear
		week weekofyear yearweek
		last_day date_add date_sub adddate subdate convert_tz`) {
		names[name] = true
	}
	return names
}()

// partArguments are the functions that have parts of dates with zeros.
var partArguments = map[string]bool{
	"year": true, "quarter": true, "month": true, "day": true, "dayofmonth": true,
}

// dateUnits are the units of EXTRACT that are parts of a date.
var dateUnits = map[string]bool{
	"day": true, "week": true, "month": true, "quarter": true, "year": true, "year_month": true,
}

// readAs is what a function reads an argument as.
func readAs(name string, place int) momentKind {
	switch {
	case timeArguments[name], name == "timestamp" && place == 1:
		return timeMoment
	case name == "unix_timestamp":
		return zeroMoment
	case wholeArguments[name]:
		return wholeMoment
	case partArguments[name]:
		return partMoment
	}
	return dateMoment
}

// withMoments is a function, or a CAST, of dates and times with what is left of its texts; nil if there are
// none.
func withMoments(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	var places []int
	name := ""
	switch e := e.(type) {
	case *function.Extract:
		unit, ok := e.LeftChild.(*expression.Literal)
		if !ok || !dateUnits[strings.ToLower(fmt.Sprint(unit.Value()))] {
			// The library tries a long text in the square of its length, without a look at KILL.
			short, is := asMoment(ctx, e.RightChild, momentLength)
			if !is {
				return nil, nil
			}
			return e.WithChildren(ctx, e.LeftChild, short)
		}
		if strings.EqualFold(fmt.Sprint(unit.Value()), "week") {
			// by default_week_format, and not ISO's
			date, _ := momentOperand(ctx, e.RightChild, momentLength, wholeMoment)
			b := &builtin{name: "week", typ: integerType, eval: week, nulls: true}
			return &call{b, []sql.Expression{date}}, nil
		}
		name, places = "extract", momentArguments["extract"]
	case *expression.Convert:
		if !types.IsTime(e.Type(ctx)) {
			return nil, nil
		}
		places = []int{0}
	case sql.FunctionExpression:
		if name = strings.ToLower(e.FunctionName()); name == "str_to_date" {
			places = []int{0, 1}
		} else {
			places = momentArguments[name]
		}
	}
	if places == nil {
		return nil, nil
	}
	args, changed := slices.Clone(e.Children()), false
	for _, i := range places {
		if i >= len(args) {
			continue
		}
		var short sql.Expression
		var is bool
		if name == "str_to_date" {
			short, is = asMoment(ctx, args[i], formattedLength)
		} else {
			short, is = momentOperand(ctx, args[i], momentLength, readAs(name, i))
		}
		args[i], changed = short, changed || is
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, args...)
}

func (m *Moment) String() string { return m.Child.String() }

// Type implements sql.Expression.
func (m *Moment) Type(ctx *sql.Context) sql.Type {
	if t := m.Child.Type(ctx); types.IsText(t) {
		return t
	}
	return types.LongText
}

// CollationCoercibility implements sql.CollationCoercible.
func (m *Moment) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, m.Child)
}

// WithChildren implements sql.Expression.
func (m *Moment) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	if m.as != comparedMoment {
		again, _ := momentOperand(ctx, children[0], m.most, m.as)
		return again, nil
	}
	short, _ := asMoment(ctx, children[0], m.most)
	return short, nil
}

// Eval implements sql.Expression.
func (m *Moment) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if m.as == comparedMoment {
		return cutMoment(v, m.most), nil
	}
	out, ok := m.of(unwrapped(v))
	if !ok {
		ctx.Warn(sqlerr.TruncatedWrongValue, "Incorrect datetime value: '%v'", cutMoment(v, m.most))
		if m.as == zeroMoment {
			return "0000-00-00", nil
		}
		return nil, nil
	}
	return out, nil
}

// takes reports whether the functions know such a date: of those with zeros the library has the one that is
// nothing else.
func (m *Moment) takes(date string) bool {
	return m.as == partMoment || moment.IsWhole(date) ||
		m.as != wholeMoment && strings.HasPrefix(date, "0000-00-00")
}

// of is a value as the text of a date or time; ok is false if it is none.
func (m *Moment) of(v any) (out any, ok bool) {
	text, isText := v.(string)
	switch {
	case isText && m.as == timeMoment:
		return moment.Time(moment.Cut(text, m.most)), true
	case isText:
		date, ok := moment.Date(moment.Cut(text, m.most))
		return date, ok && m.takes(date)
	}
	d, err := asDecimal(sql.NewEmptyContext(), v)
	if err != nil || d.Form != apd.Finite {
		return nil, false
	}
	whole, fraction, _ := strings.Cut(d.Text('f'), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return nil, false
	}
	if fraction = strings.TrimRight(fraction[:min(6, len(fraction))], "0"); m.as == timeMoment {
		return moment.TimeOf(n, fraction)
	}
	date, ok := moment.DateOf(n, fraction)
	return date, ok && m.takes(date)
}

// MomentText is what is left of a value for a column of dates or times.
func MomentText(v any) any { return cutMoment(v, momentLength) }

func cutMoment(v any, most int) any {
	switch v := v.(type) {
	case string:
		return moment.Cut(v, most)
	case []byte:
		if len(v) > most {
			return []byte(moment.Cut(string(v), most))
		}
	}
	return v
}
