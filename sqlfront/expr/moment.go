package expr

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// A text where a date or a time is asked for is the one that it begins with. The library tries the text with
// one digit less each time, and writes all of it into the error of each: 100,000 digits took minutes, which
// no KILL ended. So it is given as much of a text as a date may have.

// Moment is a text that is taken for a date or a time.
type Moment struct {
	expression.UnaryExpressionStub
	most int
}

var (
	_ sql.Expression         = (*Moment)(nil)
	_ sql.CollationCoercible = (*Moment)(nil)
)

// momentLength is more than any date or time has: 36 bytes with its zone, if no two spaces stand together;
// digits of a second beyond the ninth are not looked at.
const momentLength = 128

// formattedLength is how much of a text, and of its format, STR_TO_DATE looks at.
const formattedLength = 4096

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
	return &Moment{expression.UnaryExpressionStub{Child: e}, most}, true
}

// momentArguments are the arguments of functions that are dates or times, by their places.
var momentArguments = func() map[string][]int {
	places := map[string][]int{"timestampdiff": {1, 2}, "extract": {1}}
	for _, name := range strings.Fields(`date day dayname dayofmonth dayofweek dayofyear month monthname year quarter week weekday weekofyear yearweek
		hour minute second microsecond to_days to_seconds time time_to_sec time_format date_format date_add date_sub adddate subdate
		datetime last_day unix_timestamp convert_tz`) {
		places[name] = []int{0}
	}
	for _, name := range []string{"timestamp", "datediff", "timediff", "addtime", "subtime"} {
		places[name] = []int{0, 1}
	}
	return places
}()

// withMoments is a function, or a CAST, of dates and times with what is left of its texts; nil if there are
// none.
func withMoments(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	var places []int
	most := momentLength
	switch e := e.(type) {
	case *expression.Convert:
		if !types.IsTime(e.Type(ctx)) {
			return nil, nil
		}
		places = []int{0}
	case sql.FunctionExpression:
		name := strings.ToLower(e.FunctionName())
		if places = momentArguments[name]; name == "str_to_date" {
			places, most = []int{0, 1}, formattedLength
		}
	}
	if places == nil {
		return nil, nil
	}
	args, changed := slices.Clone(e.Children()), false
	for _, i := range places {
		if i < len(args) {
			short, is := asMoment(ctx, args[i], most)
			args[i], changed = short, changed || is
		}
	}
	if !changed {
		return nil, nil
	}
	return e.WithChildren(ctx, args...)
}

func (m *Moment) String() string                 { return m.Child.String() }
func (m *Moment) Type(ctx *sql.Context) sql.Type { return m.Child.Type(ctx) }

// CollationCoercibility implements sql.CollationCoercible.
func (m *Moment) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, m.Child)
}

// WithChildren implements sql.Expression.
func (m *Moment) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
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
	if err != nil {
		return nil, err
	}
	return cutMoment(v, m.most), nil
}

// MomentText is what is left of a value for a column of dates or times.
func MomentText(v any) any { return cutMoment(v, momentLength) }

func cutMoment(v any, most int) any {
	switch v := v.(type) {
	case string:
		if len(v) > most {
			return momentOf(v, most)
		}
	case []byte:
		if len(v) > most {
			return []byte(momentOf(string(v), most))
		}
	}
	return v
}

// momentOf is the beginning of a text, of which several spaces are one. What was cut off is missed by nobody
// but by the warning that there was more, if all of what is left is a date: then its last byte is no digit.
func momentOf(s string, most int) string {
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
