package builtin

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/sqlerr"
)

// Moved is a date that is moved by an interval of any length. The library multiplies what it is told to the
// nanoseconds of an int64, which are 292 years: '2020-02-29' + INTERVAL 9223372036854775807 SECOND was the
// second before, and 1,000,000,000 minutes were 147 years. What leaves the years of a date is NULL, with a
// warning.
//
// It stands above the library's function, which its rules want around an interval.
type Moved struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*Moved)(nil)
	_ sql.CollationCoercible = (*Moved)(nil)
)

// NewMoved makes one of the library's DATE_ADD or DATE_SUB; everything else is what it was.
func NewMoved(e sql.Expression) sql.Expression {
	switch e.(type) {
	case *function.DateAdd, *function.DateSub:
		return &Moved{expression.UnaryExpressionStub{Child: e}}
	}
	return e
}

// String implements sql.Expression.
func (m *Moved) String() string { return m.Child.String() }

// Type implements sql.Expression.
func (m *Moved) Type(ctx *sql.Context) sql.Type { return m.Child.Type(ctx) }

// WithChildren implements sql.Expression. A child that has been mended once more is what it is.
func (m *Moved) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	return NewMoved(children[0]), nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (m *Moved) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, m.Child)
}

// intervalUnits say of each unit how many of it no date can be moved by, and how many are a day, of those
// that the library counts in nanoseconds.
var intervalUnits = map[string]struct{ tooMany, aDay int64 }{
	"YEAR": {1e4, 0}, "QUARTER": {4e4, 0}, "MONTH": {12e4, 0}, "WEEK": {6e5, 0}, "DAY": {4e6, 0},
	"HOUR": {1e8, 24}, "MINUTE": {6e9, 24 * 60}, "SECOND": {4e11, secondsADay},
	"MICROSECOND": {4e17, secondsADay * 1e6},
}

// Eval implements sql.Expression.
func (m *Moved) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	moved := m.Child.Children()
	by, ok := moved[1].(*expression.Interval)
	if !ok {
		return m.Child.Eval(ctx, row)
	}
	unit, known := intervalUnits[strings.ToUpper(by.Unit)]
	if !known {
		return m.Child.Eval(ctx, row)
	}
	date, err := moved[0].Eval(ctx, row)
	if date == nil || err != nil {
		return nil, err
	}
	v, err := by.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	n, err := cast.Integer(ctx, v)
	if err != nil {
		return nil, err
	}
	if n > unit.tooMany || n < -unit.tooMany {
		return overflown(ctx)
	}
	if unit.aDay > 0 && (n > safeDays*unit.aDay || n < -safeDays*unit.aDay) {
		if date, ok = m.movedByDays(ctx, date, n/unit.aDay); !ok {
			return overflown(ctx)
		}
		n %= unit.aDay
	}
	return m.shift(ctx, date, expression.NewInterval(expression.NewLiteral(n, types.Int64), by.Unit))
}

// safeDays are how many days of nanoseconds an int64 holds for certain.
const safeDays = 100_000

// movedByDays moves a date by whole days; ok is false if it leaves the years.
func (m *Moved) movedByDays(ctx *sql.Context, date any, days int64) (any, bool) {
	if _, subtracts := m.Child.(*function.DateSub); subtracts {
		days = -days
	}
	v, _, err := types.DatetimeMaxRange.Convert(ctx, date)
	at, ok := v.(time.Time)
	if !ok || err != nil || at.Equal(types.ZeroTime) {
		return date, true // about which the library has a word
	}
	at = at.AddDate(0, 0, int(days))
	if at.Year() < 1 || at.Year() > 9999 {
		return nil, false
	}
	if _, ok := date.(string); ok {
		return at.Format("2006-01-02 15:04:05.999999"), true
	}
	return at, true
}

// shift is the library's function of values, and a warning if what it makes is no date any more.
func (m *Moved) shift(ctx *sql.Context, date any, by *expression.Interval) (any, error) {
	of := expression.NewLiteral(date, m.Child.Children()[0].Type(ctx))
	e, err := m.Child.WithChildren(ctx, of, by)
	if err != nil {
		return nil, err
	}
	warned := ctx.WarningCount()
	v, err := e.Eval(ctx, nil)
	if at, ok := v.(time.Time); ok && at.Year() < 1 {
		v = nil
	}
	if v == nil && err == nil && ctx.WarningCount() == warned {
		return overflown(ctx)
	}
	return v, err
}

func overflown(ctx *sql.Context) (any, error) {
	ctx.Warn(sqlerr.DatetimeOverflow, "Datetime function: datetime field overflow")
	return nil, nil
}
