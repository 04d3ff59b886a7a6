package expr

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/inband"
	"moka/sqlfront/moment"
	"moka/sqlfront/sqlerr"
)

// What the parser makes of constants and intervals that the grammar does not know.
var (
	DateFunction      = inband.Function("date")      // DATE'…'
	TimeFunction      = inband.Function("time")      // TIME'…'
	TimestampFunction = inband.Function("timestamp") // TIMESTAMP'…'
	UnitsFunction     = inband.Function("units")     // INTERVAL … DAY_MINUTE
	IntervalFunction  = inband.Function("interval")  // INTERVAL(n, a, b)
)

func constantFunctions() (fs []sql.Function) {
	for _, name := range []string{DateFunction, TimeFunction, TimestampFunction} {
		fs = append(fs, sql.Function1{Name: name,
			Fn: func(_ *sql.Context, text sql.Expression) sql.Expression {
				return &temporalConstant{expression.UnaryExpressionStub{Child: text}, name}
			}})
	}
	integer := func(*sql.Context, []sql.Expression) sql.Type { return types.Int64 }
	for _, b := range []*builtin{
		{name: UnitsFunction, min: 2, max: 2, typ: integer, eval: units},
		{name: IntervalFunction, min: 2, max: 1 << 16, typ: integer, nulls: true, eval: intervalOf},
	} {
		fs = append(fs, b.function())
	}
	return fs
}

// temporalConstant is DATE'…', TIME'…' or TIMESTAMP'…', with the type that the word says.
type temporalConstant struct {
	expression.UnaryExpressionStub
	name string
}

var (
	_ sql.FunctionExpression = (*temporalConstant)(nil)
	_ sql.CollationCoercible = (*temporalConstant)(nil)
)

var temporalWords = map[string]string{DateFunction: "date", TimeFunction: "time",
	TimestampFunction: "timestamp"}

func (c *temporalConstant) word() string {
	return strings.ToUpper(temporalWords[c.name])
}

// FunctionName implements sql.FunctionExpression.
func (c *temporalConstant) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *temporalConstant) Description() string { return "is a constant date or time." }

func (c *temporalConstant) String() string { return c.word() + c.Child.String() }

// Type implements sql.Expression.
func (c *temporalConstant) Type(*sql.Context) sql.Type {
	digits := 0
	if _, fraction, ok := strings.Cut(constantText(c.Child), "."); ok {
		digits = min(6, len(strings.TrimSpace(fraction)))
	}
	switch c.name {
	case DateFunction:
		return types.Date
	case TimeFunction:
		return moment.TimeType{Digits: digits}
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
}

// CollationCoercibility implements sql.CollationCoercible.
func (*temporalConstant) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *temporalConstant) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &temporalConstant{expression.UnaryExpressionStub{Child: ch[0]}, c.name}, nil
}

var (
	dateText = regexp.MustCompile(`^\s*(\d{2,4}[^\d\s]\d{1,2}[^\d\s]\d{1,2}|\d{8}|\d{6})\s*$`)
	timeText = regexp.MustCompile(`^\s*-?(\d+ )?\d+(:\d+){0,2}(\.\d*)?\s*$`)
	span     = regexp.MustCompile(`^\s*-?(?:(\d+) )?(\d+):(\d+)(?::(\d+))?(\.\d*)?\s*$`)
)

// Eval implements sql.Expression.
func (c *temporalConstant) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	text, ok := v.(string)
	if err != nil || !ok {
		return nil, err
	}
	bad := sqlerr.New(sqlerr.WrongValue, "Incorrect %s value: '%s'",
		strings.Replace(c.word(), "TIMESTAMP", "DATETIME", 1), text)
	var t sql.Type
	switch c.name {
	case DateFunction:
		if !dateText.MatchString(text) {
			return nil, bad
		}
		t = types.Date
	case TimeFunction:
		if !timeText.MatchString(text) {
			return nil, bad
		}
		if m := span.FindStringSubmatch(text); m != nil {
			minutes, _ := strconv.Atoi(m[3])
			seconds, _ := strconv.Atoi(m[4])
			hours, _ := strconv.Atoi(m[2])
			if days, _ := strconv.Atoi(m[1]); minutes > 59 || seconds > 59 || hours+24*days > 838 {
				return nil, bad
			}
		}
		t = types.Time
	default:
		t = types.DatetimeMaxPrecision
	}
	out, _, err := t.Convert(ctx, text)
	if err != nil || out == nil {
		return nil, bad
	}
	return out, nil
}

// composite are the intervals of several units: how many of the smallest unit the parts of its text are, from
// the last one on, and that unit.
var composite = map[string]struct {
	unit  string
	parts []int64
}{
	"year_month":         {"month", []int64{1, 12}},
	"day_hour":           {"hour", []int64{1, 24}},
	"day_minute":         {"minute", []int64{1, 60, 24 * 60}},
	"day_second":         {"second", []int64{1, 60, 3600, 24 * 3600}},
	"hour_minute":        {"minute", []int64{1, 60}},
	"hour_second":        {"second", []int64{1, 60, 3600}},
	"minute_second":      {"second", []int64{1, 60}},
	"day_microsecond":    {"microsecond", []int64{1, 1e6, 60e6, 3600e6, 24 * 3600e6}},
	"hour_microsecond":   {"microsecond", []int64{1, 1e6, 60e6, 3600e6}},
	"minute_microsecond": {"microsecond", []int64{1, 1e6, 60e6}},
	"second_microsecond": {"microsecond", []int64{1, 1e6}},
}

// SmallestUnit is the smallest unit of an interval of several units.
func SmallestUnit(of string) (unit string, ok bool) {
	c, ok := composite[of]
	return c.unit, ok
}

var numbers = regexp.MustCompile(`\d+`)

// units is how many of the smallest unit an interval of several is. Fewer numbers than units are the
// last ones, as in MySQL.
func units(ctx *sql.Context, c *call, vs []any) (any, error) {
	text, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	unit, _ := vs[1].(string)
	of := composite[unit]
	found := numbers.FindAllString(text, -1)
	if len(found) > len(of.parts) {
		return nil, nil
	}
	var n int64
	for i, part := range found {
		if i == len(found)-1 && of.unit == "microsecond" && len(part) < 6 {
			part = (part + "000000")[:6] // the digits of a fraction, also without a point
		}
		v, _ := strconv.ParseInt(part, 10, 64) // the largest, if it is larger
		if by := of.parts[len(found)-1-i]; v > (math.MaxInt64-n)/by {
			n = math.MaxInt64
		} else {
			n += v * by
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		n = -n
	}
	return n, nil
}

// intervalOf is INTERVAL(n, a, b, …): how many of the numbers, which ascend, are not above n.
func intervalOf(ctx *sql.Context, _ *call, vs []any) (any, error) {
	if vs[0] == nil {
		return int64(-1), nil
	}
	n, err := asDecimal(ctx, vs[0])
	if err != nil {
		return nil, err
	}
	for i, v := range vs[1:] {
		if v == nil {
			continue
		}
		d, err := asDecimal(ctx, v)
		if err != nil {
			return nil, err
		}
		if n.Cmp(d) < 0 {
			return int64(i), nil
		}
	}
	return int64(len(vs) - 1), nil
}

func asDecimal(ctx *sql.Context, v any) (*apd.Decimal, error) {
	out, err := asVariable(ctx, types.InternalDecimalType, v)
	if d, ok := out.(*apd.Decimal); ok && err == nil {
		return d, nil
	}
	return new(apd.Decimal), err
}
